#!/usr/bin/env bash
# fp8.sh -- stage-C kernels on a GPU: every variant is right on whole and cut tiles, debug_print tells the log, planted
# defects fail. Skipped (77) where there is no GPU.
#
#     fp8.sh KGATE BROKEN_FP8.so [OPTION of kgate run, such as --library-path DIR...]
set -eu -o pipefail

kgate=$1 broken=$2
shift 2
options=("$@")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

fail() {
    echo "FAIL: $*"
    failed=1
}

# status WANTED COMMAND...: runs it and compares the exit status.
status() {
    local wanted=$1 got=0
    shift
    "$@" >"$work/out" 2>&1 || got=$?
    if [ "$got" != "$wanted" ]; then
        cat "$work/out"
        fail "status $got, not $wanted: $*"
    fi
}

# verdict ID: of the newest run. Ids and verdicts hold no commas.
verdict() {
    awk -F, -v id="$1" '$1 == id { print $7 }' "$work/results/latest/comparison.csv"
}

expect() { # VERDICT ID...
    local wanted=$1 id got
    shift
    for id in "$@"; do
        got=$(verdict "$id")
        [ "$got" = "$wanted" ] || fail "$id: ${got:-nothing}, not $wanted"
    done
}

run=("$kgate" run --output "$work/results" --expectations "$work/goldens" "${options[@]}")

"$kgate" doctor "${options[@]}" >"$work/doctor"
if ! grep -q '^device: cuda:0' "$work/doctor"; then
    echo "no GPU here"
    exit 77
fi

status 0 "${run[@]}" --no-time fp8_sdpa fp8_sdpa_e4m3
grep -q 'stage_c_debug_print, mission: head 0, query 0, 16 tiles of keys' "$work/results/latest/workers.log" ||
    fail "debug_print says nothing of mission"
status 0 "${run[@]}" --no-time fp8_sdpa --set S=1,31,33,77 --set Skv=1,33,77 # a cut last tile of either kind

status 1 "${run[@]}" --module "$broken" codes
expect PASS codes/small/s0/cuda_right codes/mission/s0/cuda_right codes/s16384/s0/cuda_right
for shape in small mission s16384; do
    expect FAIL "codes/$shape/s0/"{cuda_mismatched,cuda_half_table,cuda_last_early,cuda_zero}
done
exit "$failed"
