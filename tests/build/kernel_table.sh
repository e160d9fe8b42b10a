#!/bin/sh
# kernel_table.sh -- the kernel table must depend on the machine code alone, and see every change of it.
#
#     kernel_table.sh NVCC NVCC_OBJECT KERNEL_TABLE SOURCE.cu TENSOR.cu CALLED.cu
#
# SOURCE has the lines `scale_by = 2.0f` and `lut[4] = { 1`, which are changed here, and kernels named as below.
set -eu

nvcc=$1 nvcc_object=$2 kernel_table=$3 source=$4 tensor=$5 called=$6
archs=80,90a
. "$(dirname "$0")/lib.sh"

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

# What else is recorded: launch bounds, barriers, tensor-core instructions in the PTX, notes. A note that names no kernel
# is of all of its architecture.
recorded() { # recorded NAME ARCH TEXT: 1 where the row of the kernel holds TEXT
    tr '\n' ' ' <"$scratch/t.c" | sed 's/{ \.name/\n&/g' | grep "\"$1\"" | grep "\"$2\"" | grep -c -F -e "$3" || true
}
stem=$scratch/tensor
"$nvcc_object" "$nvcc" "$archs" "$tensor" "$stem.o" "$stem.d" 2>"$scratch/said"
"$kernel_table" "$scratch/t.c" "$scratch/t.h" "$stem.o" "$stem.ptxas" "$stem.sm_80.cubin" "$stem.sm_90a.cubin"
expect 'mma.sync and launch bounds' "$(recorded two_mma sm_80 '.block_threads = 96, .tensor = { 2, 0, 0, 0 }')" 1
expect 'wmma without launch bounds' "$(recorded one_wmma sm_90a '.block_threads = 0, .tensor = { 0, 1, 0, 0 }')" 1
expect 'no tensor cores' "$(recorded spills sm_90a '.block_threads = 1024, .tensor = { 0, 0, 0, 0 }')" 1
expect 'one barrier' "$(recorded spills sm_80 '.barriers = 1,')" 1
expect 'no barrier' "$(recorded two_mma sm_80 '.barriers = 0,')" 1
expect "nvcc's version" "$(recorded two_mma sm_80 ".compiler = \"$("$nvcc" --version | sed -n 's/.*, V//p')\"")" 1
expect 'a note of one kernel' "$(recorded spills sm_80 '.notes = "Registers are spilled to local memory"')" 1
expect 'and not of another' "$(recorded two_mma sm_80 '.notes = ""')" 1
expect 'a note of a file' "$(recorded two_mma sm_90a "Potential Performance Loss: 'setmaxnreg' ignored")" 1
expect 'beside one of a kernel' "$(recorded spills sm_90a "spilled to local memory | (C7508) Potential Performance Loss")" 1
expect 'notes are shown while building' "$(grep -c 'Potential Performance Loss' "$scratch/said")" 1
expect 'no disassembler' "$(PATH=/usr/bin:/bin command -v nvdisasm || recorded two_mma sm_80 '.tensor_sass = -1')" 1

# What a called function spills ptxas says after each kernel that calls it.
stem=$scratch/called
"$nvcc_object" "$nvcc" "$archs" "$called" "$stem.o" "$stem.d" 2>/dev/null
"$kernel_table" "$scratch/t.c" "$scratch/t.h" "$stem.o" "$stem.ptxas" "$stem.sm_80.cubin" "$stem.sm_90a.cubin"
summed() { # summed KERNEL ARCH: what ptxas said of the kernel and of what it calls, as the row has it
    awk -v kernel="'$1'" -v arch="'$2'" '
        /Compiling entry function/ { ours = index($0, kernel) && index($0, arch) }
        ours && /bytes stack frame/ { stack += $1; stores += $5; loads += $9 }
        END { printf ".stack_bytes = %d, .spill_store_bytes = %d, .spill_load_bytes = %d,", stack, stores, loads }
    ' "$stem.ptxas"
}
expect 'ptxas tells of a called function once a kernel and architecture' \
    "$(grep -c 'Function properties for .*calling$' "$stem.ptxas")" 4
for arch in sm_80 sm_90a; do
    expect "$arch: called functions spill" \
        "$(summed calls $arch | grep -c 'store_bytes = [1-9][0-9]*, .spill_load_bytes = [1-9]')" 1
    expect "$arch: what they spill is their kernel's" "$(recorded calls $arch "$(summed calls $arch)")" 1
    expect "$arch: and not another's" \
        "$(recorded calls_with_room $arch '.spill_store_bytes = 0, .spill_load_bytes = 0')" 1
done

# nvdisasm is no part of every toolkit, so one that prints as it does.
stem=$scratch/tensor
mkdir "$scratch/bin"
cat >"$scratch/bin/nvdisasm" <<'END'
#!/bin/sh
cat <<'CODE'
	.section	.text.two_mma,"ax",@progbits
two_mma:
.text.two_mma:
        /*0000*/                   LDC R1, c[0x0][0x28] ;
        /*0010*/                   HMMA.16816.F32 R4, R8, R2, R4 ;
        /*0020*/              @!P0 HMMA.16816.F32 R4, R8, R2, R4 ;
        /*0030*/                   FFMA R4, R8, R2, R4 ;
.text.one_wmma:
        /*0000*/                   HGMMA.64x8x16.F32 R24, gdesc[UR4], RZ ;
        /*0010*/                   UTCHMMA gdesc[UR4], gdesc[UR6], tmem[UR8] ;
        /*0020*/                   WARPGROUP.ARRIVE ;
.text.spills:
        /*0000*/                   EXIT ;
CODE
END
chmod +x "$scratch/bin/nvdisasm"
PATH=$scratch/bin:$PATH "$nvcc_object" "$nvcc" 80 "$tensor" "$stem.o" "$stem.d" 2>/dev/null
"$kernel_table" "$scratch/t.c" "$scratch/t.h" "$stem.o" "$stem.ptxas" "$stem.sm_80.cubin"
if [ -x "$(dirname "$(readlink -f "$nvcc")")/nvdisasm" ]; then
    echo "passed over: this toolkit has its own nvdisasm"
else
    expect 'HMMA' "$(recorded two_mma sm_80 '.tensor_sass = 2')" 1
    expect 'HGMMA and UTCHMMA' "$(recorded one_wmma sm_80 '.tensor_sass = 2')" 1
    expect 'none' "$(recorded spills sm_80 '.tensor_sass = 0')" 1
fi
finish
