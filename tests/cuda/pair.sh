#!/usr/bin/env bash
# pair.sh -- a real pair of builds: flash made 1% slower is SLOW by --against with a threshold of 0.5%, and a copy of the
# same build is not, every time. Both are built in a tree of their own, from flash_slower.patch; `like.so` with its PART at
# 1u << 30, so that what nvcc makes of the rest is the same:
#
#     build/kgate checkout HEAD TREE && git -C TREE apply …/tests/cuda/flash_slower.patch, then TREE/ci/build
#     pair.sh KGATE PAIR TIMES [OPTION of kgate run, such as --library-path DIR...]     PAIR/slower.so and PAIR/like.so
set -eu -o pipefail

kgate=$(realpath "$1") base=$(realpath "$2")/like.so slower=$(realpath "$2")/slower.so times=$3
shift 3
. "$(dirname "$0")/lib.sh"
cp "$base" "$work/copy.so"
cases=(cudnn_sdpa/s512/s42/flash cudnn_sdpa/s2048/s42/flash) # 16 us and 210 us

# judge MODULE WANTED-VERDICT WANTED-STATUS
judge() {
    local got=0 id verdict line=
    "$kgate" run "${cases[@]}" --module "$1" --against "$base" --threshold 0.5 --output "$work/results" "${@:4}" \
        >"$work/out" 2>&1 || got=$?
    for id in "${cases[@]}"; do
        verdict=$(column verdict "$id")
        line+=" ${id%/s42/*}: $verdict $(column change_pct "$id")% (p50 $(column p50_us "$id") us, $(column blocks "$id") blocks)"
        [ "$verdict" = "$2" ] || fail "$id: ${verdict:-nothing}, not $2"
    done
    echo "$(basename "$1") status $got:$line"
    if [ "$got" != "$3" ]; then
        cat "$work/out"
        fail "status $got, not $3"
    fi
}

for ((i = 0; i < times; i++)); do
    judge "$slower" SLOW 3 "$@"
    judge "$work/copy.so" PASS 0 "$@"
done
echo "pair: $times times each"
finish
