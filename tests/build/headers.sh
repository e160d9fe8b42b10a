#!/bin/sh
# headers.sh -- every header compiles alone, without warnings; those that kernels include do so as C++ too.
#
#     headers.sh SOURCE_FOLDER CUDA_INCLUDE COMPILER...     CUDA_INCLUDE: '' leaves out headers that need CUDA
set -eu

folder=$1 cuda=$2
shift 2
[ $# -gt 0 ]
includes="-I$folder -I$folder/include -I$folder/runner -I$folder/kernels ${cuda:+-isystem $cuda}"

# shellcheck disable=SC2086 # the options are words
compiles() { # compiles HEADER LANGUAGE-OPTIONS COMPILER...
    header=$1 options=$2
    shift 2
    "$@" $options -Wall -Wextra -Werror -fopenmp-simd -D_GNU_SOURCE $includes -fsyntax-only "$header"
}

count=0 status=0
for header in "$folder"/include/*.h "$folder"/runner/*/*.h "$folder"/reports/*.h "$folder"/selfcheck/*.h \
    "$folder"/kernels/*/*.h; do
    if grep -q -E '#include [<"](cuda|cudnn|device_cuda|device_kernels)' "$header" && [ -z "$cuda" ]; then
        continue
    fi
    count=$((count + 1))
    echo "#include \"$header\"" | compiles - '-x c -std=c11 -Wpedantic' "$@" || status=1
done
echo '#include "kgate.h"' | compiles - '-x c++ -std=c++17' "$@" || status=1
echo "$count headers"
[ "$count" -gt 5 ] && exit "$status"
