#!/usr/bin/env bash
# pair.sh -- a real pair of builds: flash made 1% slower is SLOW by --against with a threshold of 0.5%, and a copy of the
# same build is not, every time. The slower module is built in a tree of its own, from flash_slower.patch:
#
#     build/kgate checkout HEAD TREE && git -C TREE apply …/tests/cuda/flash_slower.patch, then TREE/ci/build
#     pair.sh KGATE ATTENTION.so SLOWER.so TIMES [OPTION of kgate run, such as --library-path DIR...]
set -eu -o pipefail

kgate=$(realpath "$1") base=$(realpath "$2") slower=$(realpath "$3") times=$4
shift 4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$base" "$work/copy.so"
cases=(cudnn_sdpa/s512/s42/flash cudnn_sdpa/s2048/s42/flash) # 16 us and 210 us
failed=0

# column NAME ID: of the newest run.
column() {
    awk -F, -v name="$1" -v id="$2" 'NR == 1 { for (i = 1; i <= NF; i++) { sub("\r", "", $i); if ($i == name) at = i } }
        $1 == id { print $at }' "$work/results/latest/comparison.csv"
}

# judge MODULE WANTED-VERDICT WANTED-STATUS
judge() {
    local got=0 id verdict line=
    "$kgate" run "${cases[@]}" --module "$1" --against "$base" --threshold 0.5 --output "$work/results" "${@:4}" \
        >"$work/out" 2>&1 || got=$?
    for id in "${cases[@]}"; do
        verdict=$(column verdict "$id")
        line+=" ${id%/s42/*}: $verdict $(column change_pct "$id")% (p50 $(column p50_us "$id") us, $(column blocks "$id") blocks)"
        [ "$verdict" = "$2" ] || failed=$((failed + 1))
    done
    echo "$(basename "$1") status $got:$line"
    if [ "$got" != "$3" ]; then
        cat "$work/out"
        failed=$((failed + 1))
    fi
}

for ((i = 0; i < times; i++)); do
    judge "$slower" SLOW 3 "$@"
    judge "$work/copy.so" PASS 0 "$@"
done
echo "pair: $times times each, $failed not as they must be"
[ "$failed" = 0 ]
