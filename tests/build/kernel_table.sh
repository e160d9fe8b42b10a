#!/bin/sh
# kernel_table.sh -- the kernel table must depend on the machine code alone, and see every change of it.
#
#     kernel_table.sh NVCC NVCC_OBJECT KERNEL_TABLE SOURCE.cu
#
# SOURCE has the lines `scale_by = 2.0f` and `lut[4] = { 1`, which are changed here, and kernels named as below.
set -eu

nvcc=$1 nvcc_object=$2 kernel_table=$3 source=$4
archs=80,90a
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

table() { # table FOLDER STEM EDIT: compiles SOURCE after a sed edit, and prints "name arch hash resources" lines
    mkdir -p "$scratch/$1"
    sed "$3" "$source" >"$scratch/$1/$2.cu"
    stem=$scratch/$1/$2
    "$nvcc_object" "$nvcc" "$archs" "$stem.cu" "$stem.o" "$stem.d"
    "$kernel_table" "$scratch/$1/k.c" "$scratch/$1/k.h" "$stem.o" "$stem.ptxas" "$stem.sm_80.cubin" "$stem.sm_90a.cubin"
    tr '\n' ' ' <"$scratch/$1/k.c" | sed 's/{ \.name/\n&/g' | grep '_Z\|"plain"' >"$scratch/$1.rows"
}

changed() { # names of the kernels whose rows differ between two tables
    cat "$scratch/$1.rows" "$scratch/$2.rows" | sort | uniq -u |
        sed 's/.*\.name = "\([^"]*\)".*/\1/' | sort -u | tr '\n' ' '
}

failures=0
expect() { # expect WHAT GOT WANTED
    if [ "$2" = "$3" ]; then
        echo "ok: $1"
    else
        echo "FAILED: $1: got '$2', wanted '$3'"
        failures=$((failures + 1))
    fi
}

table one kernels ''
table elsewhere_altogether other_name ''
table constant kernels 's/scale_by = 2\.0f/scale_by = 3.0f/'
table lut kernels 's/lut\[4\] = { 1/lut[4] = { 5/'

expect 'rows' "$(wc -l <"$scratch/one.rows" | tr -d ' ')" 4
expect 'another folder and file name change nothing' "$(changed one elsewhere_altogether)" ''
expect 'a changed constant changes its kernel alone' "$(changed one constant)" 'plain '
expect 'a changed table of constants is seen' "$(changed one lut | grep -c looked_up)" 1
expect 'static shared memory' "$(grep -c '"plain".*shared_bytes = 512' "$scratch/one.rows")" 2

# A kernel whose name would change with its file's path has no stable identity.
sed 's/^static __global__/namespace { __global__/; s/^} \/\* looked up \*\//} }/' "$source" >"$scratch/anonymous.cu"
"$nvcc_object" "$nvcc" 80 "$scratch/anonymous.cu" "$scratch/anonymous.o" "$scratch/anonymous.d"
stem=$scratch/anonymous
why=$("$kernel_table" "$scratch/k.c" "$scratch/k.h" "$stem.ptxas" "$stem.sm_80.cubin" 2>&1) || true
expect 'a kernel in an anonymous namespace is refused' "$(echo "$why" | grep -c 'anonymous namespace')" 1

# What ptxas reported and what lies in the cubin must be the same kernels.
why=$("$kernel_table" "$scratch/k.c" "$scratch/k.h" "$scratch/one/kernels.sm_80.cubin" 2>&1) || true
expect 'a cubin without its report is refused' "$(echo "$why" | grep -c 'reported no resources')" 1
exit "$failures"
