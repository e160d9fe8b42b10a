#!/bin/sh
# resources.sh -- a kernel that is made to spill fails kgate resources, by its name, without a GPU.
#
#     resources.sh NVCC NVCC_OBJECT KERNEL_TABLE KGATE SOURCE_FOLDER
#
# Copies of kernels/math/softmax.cu are compiled, as it is and with a planted spill, and their tables put into modules.
set -eu

nvcc=$1 nvcc_object=$2 kernel_table=$3 kgate=$4 folder=$5
. "$(dirname "$0")/lib.sh"

module() { # module NAME EDIT: softmax.cu after a sed edit, as a module called attention
    mkdir "$scratch/$1"
    stem=$scratch/$1/softmax
    sed "$2" "$folder/kernels/math/softmax.cu" >"$stem.cu"
    "$nvcc_object" "$nvcc" 90a "$stem.cu" "$stem.o" "$stem.d" "-I$folder/include" "-I$folder/kernels" 2>/dev/null
    "$kernel_table" "$scratch/$1/kg_kernels.c" "$scratch/$1/kg_kernels.h" "$stem.o" "$stem.ptxas" "$stem.sm_90a.cubin"
    "${CC:-cc}" -shared -fPIC -DMADE=MADE_BUILT "-I$scratch/$1" "-I$folder/include" "$folder/tests/modules/made.c" \
        "$scratch/$1/kg_kernels.c" -o "$scratch/$1.so"
}

judge() { # judge EXPECTATIONS WHOSE
    resources "$scratch/plain.so" "$1" '*/softmax_kernel<*'
    expect "$2: as it is: status" "$status" 0
    resources "$scratch/spilled.so" "$1" '*/softmax_kernel<*'
    expect "$2: spilled: status" "$status" 1
    expect "$2: spilled: by name" "$(grep -c '^FAIL sm_90a/softmax_kernel<float,256,1>: spill stores, bytes 0 -> [1-9]' "$scratch/out")" 1
    expect "$2: spilled: as it is mangled" "$(grep -c '^    _Z14softmax_kernelIfLi256ELi1EEv12softmax_args$' "$scratch/out")" 1
    expect "$2: spilled: ptxas's note" "$(grep -c 'ptxas notes: Registers are spilled to local memory' "$scratch/out" | sed 's/[1-9].*/some/')" some
}

# 64 values that live across the reduction, in 32 registers.
bounds='__launch_bounds__(THREADS \*ROWS)'
reduction='row = reduce<THREADS>(row);'
load='float kept[64]; for (int i = 0; i < 64; i++) kept[i] = ((const volatile float *)scores)[i];'
use='for (int i = 0; i < 64; i++) row.row_sum += kept[i];'
module plain ''
module spilled "s/$bounds/__launch_bounds__(THREADS *ROWS, 8)/; s/$reduction/$load $reduction $use/"
expect 'lines edited' "$(diff "$scratch/plain/softmax.cu" "$scratch/spilled/softmax.cu" | grep -c '^>')" 2

resources "$scratch/plain.so" "$scratch/blessed" '*/softmax_kernel<*' --bless --allow-dirty --reason 'the kernel as it is'
expect 'bless: status' "$status" 0
judge "$scratch/blessed" 'blessed here'

version=$("$nvcc" --version | sed -n 's/.*, V//p')
shipped=$folder/expectations/resources_sm_90a.json
if grep '_Z14softmax_kernelIfLi256ELi1E' "$shipped" | grep -q -F "\"compiler\":\"$version\""; then
    judge "$folder/expectations" 'as shipped'
else
    echo "passed over: $shipped is not of nvcc $version"
fi
finish
