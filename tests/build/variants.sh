#!/bin/sh
# variants.sh -- kernels that are compiled from one source by switches are different machine code on every architecture.
#
#     variants.sh KG_KERNELS.C NAME...     NAME_kernel are the kernels
set -eu

table=$1
shift
scratch=$(mktemp)
trap 'rm -f "$scratch"' EXIT
tr '\n' ' ' <"$table" | sed 's/{ \.name/\n&/g' | sed -n 's/.*\.name = "\([^"]*\)".*\.arch = "\([^"]*\)".*\.code_hash = "\([^"]*\)".*/\1 \2 \3/p' >"$scratch"

status=0
archs=$(awk '{ print $2 }' "$scratch" | sort -u)
[ -n "$archs" ]
for arch in $archs; do
    hashes=''
    for name in "$@"; do
        hash=$(awk -v kernel="${name}_kernel" -v arch="$arch" '$1 == kernel && $2 == arch { print $3 }' "$scratch")
        case " $hashes " in
        '  ') ;;
        *" ${hash:-none} "*)
            echo "FAILED: $name on $arch is the code of another variant: $hash"
            status=1
            ;;
        esac
        if [ -z "$hash" ]; then
            echo "FAILED: no ${name}_kernel for $arch"
            status=1
        fi
        hashes="$hashes $hash"
    done
    echo "$arch: $# variants,$hashes"
done
exit "$status"
