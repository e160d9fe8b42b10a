#!/usr/bin/env bash
# anchor.sh -- an anchor that got slower does not make a slower kernel pass. The builds have one machine code, so nothing
# but their times tells them apart.
set -eu -o pipefail
. "$(dirname "$0")/lib.sh"

on=('held/*' --expectations goldens --case-timeout 120)
case=held/plain/s0/kernel

# As fast as its golden, by p50 too? Else the machine is busier now than it was, or less so, and p50s say nothing.
steady() {
    gate run --format json "${on[@]}" "${quick[@]}" --module "$modules/anchor.so"
    [ "$(results '.results[0] | .verdict == "PASS" and (.p50_us / .golden_us - 1 | fabs) < 0.05')" = true ]
}

for try in 1 2 3 4 5 6; do
    bless "${on[@]}" --module "$modules/anchor.so" --reason 'as it should be'
    steady || { echo "try $try: busy"; continue; }
    gate run --format json "${on[@]}" "${quick[@]}" --module "$modules/anchor_30_30.so"
    echo "try $try: $(reason $case)"
    [ "$(verdict $case)" != UNSURE ] || break
done
expect 'both 30% slower: not PASS' "$(verdict $case)" UNSURE
expect 'both 30% slower: status' "$status" 4
expect 'both 30% slower: the ratio alone would pass it' \
    "$(results '.results[0] | .judge == "ratio" and .change_pct < 10')" true
expect_in 'both 30% slower: says why' "$scratch/out" \
    'this machine is slower, or both are; --against tells'

decide $case "${on[@]}" --module "$modules/anchor_10_30.so"
expect 'kernel 30%, anchor 10% slower' "$(verdict $case)" SLOW
expect 'kernel 30%, anchor 10% slower: the same code' \
    "$(reason $case | grep -c 'same code as the golden: environment' || true)" 1
finish
