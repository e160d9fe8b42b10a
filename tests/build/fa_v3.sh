#!/bin/sh
# fa_v3.sh -- the kernel that is slow on purpose has its stack on every architecture, its repaired form and fa1 have none,
# and kgate resources would not have let the one pass for the other.
#
#     fa_v3.sh KGATE ATTENTION.so
set -eu

kgate=$1 module=$2
. "$(dirname "$0")/lib.sh"

none() { # none KERNELS COUNT: they have no stack and no spills
    folder=$scratch/none
    rm -rf "$folder"
    resources "$module" "$folder" "*/$1" --bless --allow-dirty --reason 'as they are'
    expect "$1: bless: status" "$status" 0
    figures='"stack_bytes":0,"spill_store_bytes":0,"spill_load_bytes":0'
    expect "$1: without stack and spills" "$(cat "$folder"/*.json | grep -c "$figures")" $((archs * $2))
}

repaired=$scratch/repaired
resources "$module" "$repaired" '*/fa_v3_repaired_kernel' --bless --allow-dirty --reason 'repaired'
expect 'repaired: bless: status' "$status" 0
archs=$(find "$repaired" -name 'resources_*.json' | wc -l)
expect 'architectures' "$((archs > 0))" 1
none fa_v3_repaired_kernel 1
none 'fa1_kernel<*' 4 # f16 and bf16, D 64 and 128

while read -r tile stack; do
    kernel=fa_v3_${tile}_kernel
    cp -r "$repaired" "$scratch/$tile"
    sed -i "s/fa_v3_repaired_kernel/$kernel/" "$scratch/$tile"/*.json
    resources "$module" "$scratch/$tile" "*/$kernel"
    expect "$tile for the repaired one: status" "$status" 1
    expect "$tile for the repaired one: why" \
        "$(grep -c "^FAIL sm_[0-9a-f]*/$kernel: stack, bytes 0 -> $stack; .*wmma in the PTX 16 -> 0" "$scratch/out")" "$archs"
    resources "$module" "$scratch/own_$tile" "*/$kernel" --bless --allow-dirty --reason 'slow on purpose'
    resources "$module" "$scratch/own_$tile" "*/$kernel"
    expect "$tile as it is blessed: status" "$status" 0
done <<'END'
32x32 800
32x64 1088
48x64 1344
END
finish
