#!/usr/bin/env bash
# pair.sh -- a real slowdown of flash, judged at twice what it is, at 1/1.1 and at half of it: PASS, SLOW, SLOW, every time,
# by --against and by a golden of this card; and a copy of the unchanged build at half of it: PASS. What it is, is the
# median of three readings by --against.
#
#     pair.sh KGATE PAIR NAME TIMES [OPTION of kgate run, such as --library-path DIR...]      PAIR/NAME.so and PAIR/like.so
#
# Both are built with flash_slower.patch put in, `like` with its PART at 1u << 30, so that what nvcc makes of the rest is
# the same; a NAME is a PART. Fewer: BY=against or golden, ROWS=s512 or s2048.
set -eu -o pipefail

kgate=$(realpath "$1") base=$(realpath "$2")/like.so slower=$(realpath "$2")/$3.so times=$4
shift 4
options=("$@")
. "$(dirname "$0")/lib.sh"
need_gpu
cp "$base" "$work/copy.so"

# run MODULE CASE OPTION...
run() {
    "$kgate" run "$2" --module "$1" --output "$work/results" "${options[@]}" "${@:3}" >"$work/out" 2>&1
}

# judge WHAT WANTED MODULE CASE OPTION...
judge() {
    local what=$1 wanted=$2 got
    shift 2
    run "$@" --regime none || [ $? != 2 ] || cat "$work/out"
    got=$(column verdict "$2")
    [ "$got" = "$wanted" ] || fail "$what: $got, not $wanted: $(sed -n "/^1)/p" "$work/out")"
    seen[$what]+=" $got $(column change_pct "$2")% ($(column blocks "$2"))"
}

# of NUMBER FACTOR
of() {
    awk -v a="$1" -v b="$2" 'BEGIN { printf "%.3f", a / b }'
}

# at_all_three NAME HOW...: the slower build where twice, 1/1.1 and half of what it is are allowed
at_all_three() {
    judge "$1, half" PASS "$slower" "$id" --threshold "$(of "$change" 0.5)" "${@:2}"
    judge "$1, 1.1 times" SLOW "$slower" "$id" --threshold "$(of "$change" 1.1)" "${@:2}"
    judge "$1, twice" SLOW "$slower" "$id" --threshold "$(of "$change" 2)" "${@:2}"
    judge "$1, a copy" PASS "$work/copy.so" "$id" --threshold "$(of "$change" 2)" "${@:2}"
}

for row in ${ROWS:-s512 s2048}; do # 16 us and 210 us
    id=cudnn_sdpa/$row/s42/flash
    declare -A seen=()
    change=$(for _ in 1 2 3; do
        run "$slower" "$id" --regime none --against "$base" --threshold 0.25 || true
        column change_pct "$id"
    done | sort -g | sed -n 2p)
    [ "${BY:-golden}" != golden ] ||
        run "$base" "$id" --expectations "$work/goldens" --bless --reason 'as it was' --allow-dirty || cat "$work/out"
    for ((i = 0; i < times; i++)); do
        [ "${BY:-against}" != against ] || at_all_three against --against "$base"
        [ "${BY:-golden}" != golden ] || at_all_three golden --expectations "$work/goldens"
    done
    echo "$id, $(basename "$slower") $change% slower:"
    for what in "${!seen[@]}"; do
        echo "  $what:${seen[$what]}"
    done | sort
    unset seen
done
finish
