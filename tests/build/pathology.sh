#!/bin/sh
# pathology.sh -- which planted pathologies kgate resources tells from the clean kernel, without a GPU: what is blessed of
# the clean one is made an expectation of each.
#
#     pathology.sh KGATE ATTENTION.so
set -eu

kgate=$1 module=$2
. "$(dirname "$0")/lib.sh"

# judge NAME STATUS: with what is blessed of the clean one as expectations of NAME.
judge() {
    planted=$1
    cp -r "$scratch/clean" "$scratch/$planted"
    sed -i "s/pathology_clean_kernel/pathology_${planted}_kernel/" "$scratch/$planted"/*.json
    resources "$module" "$scratch/$planted" "*/pathology_${planted}_kernel"
    expect "$planted: status" "$status" "$2"
}

# says VERDICT COUNT FIGURE...: as many lines as COUNT say of it VERDICT and each FIGURE, a pattern.
says() {
    verdict=$1 count=$2
    shift 2
    for figure in "$@"; do
        expect "$planted: $verdict: $figure" \
            "$(grep -c "^$verdict sm_[0-9a-f]*/pathology_${planted}_kernel: .*$figure" "$scratch/out")" "$count"
    done
}

resources "$module" "$scratch/clean" '*/pathology_clean_kernel' --bless --allow-dirty --reason 'nothing is planted'
expect 'clean: bless: status' "$status" 0
archs=$(find "$scratch/clean" -name 'resources_*.json' | wc -l)
expect 'architectures' "$((archs > 0))" 1
resources "$module" "$scratch/clean" '*/pathology_clean_kernel'
expect 'clean: status' "$status" 0

judge over_unrolled 1
says FAIL "$archs" 'spill stores, bytes 0 -> [1-9]' 'spill loads, bytes 0 -> [1-9]' 'stack, bytes 0 -> [1-9]' \
    'ptxas notes: Registers are spilled'

# A warp that loads a tile by itself needs more registers, which cost blocks where shared memory would leave room for more
# than two.
roomy=$(find "$scratch/clean" -name 'resources_sm_8[07].json' -o -name 'resources_sm_9*' -o -name 'resources_sm_10*' | wc -l)
judge tiny_blocks $((roomy > 0))
says FAIL "$roomy" 'registers 1[0-9]* -> 2[0-9]*' 'threads of a block 128 -> 32' '[34] -> 2 blocks of 128 threads'
says PASS $((archs - roomy)) 'threads of a block 128 -> 32'

# Said, and passed: fewer bytes and fewer barriers are no defect by themselves.
judge no_staging 0
says PASS "$archs" 'static shared memory, bytes 41984 -> 31744' 'barriers 1 -> 0'

# Not seen: how far apart loads are, how often a barrier is met, who waits for whom is in no figure.
for name in strided_loads extra_barriers divergence serial_batch; do
    judge "$name" 0
done
finish
