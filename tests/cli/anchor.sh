#!/usr/bin/env bash
# anchor.sh -- an anchor that got slower does not make a slower kernel pass. The builds have one machine code, and differ in
# a table.
set -eu -o pipefail
. "$(dirname "$0")/lib.sh"

on=('held/*' --expectations goldens --case-timeout 120)
case=held/plain/s0/kernel

bless "${on[@]}" --module "$modules/anchor.so" --reason 'as it should be'
gate run --format json "${on[@]}" --module "$modules/anchor_200_200.so"
expect 'both three times slower: not PASS' "$(verdict $case)" UNSURE
expect 'both three times slower: status' "$status" 4
expect 'both three times slower: the ratio alone would pass it' \
    "$(results '.results[0] | .judge == "ratio" and .change_pct < 10')" true
expect_in 'both three times slower: says why' "$scratch/out" \
    'this machine is slower, or both are; --against tells'

gate run --format json "${on[@]}" --module "$modules/anchor_often.so"
expect 'three times slower in seven processes of ten' "$(verdict $case)" UNSURE

# Beside the unchanged anchor this would be 10% over a threshold of 5; the ratio reads nothing.
gate run --format json "${on[@]}" --threshold 5 --module "$modules/anchor_10_10.so"
expect 'both 10% slower: not PASS' "$(verdict $case)" UNSURE
expect 'both 10% slower: status' "$status" 4
expect 'both 10% slower: the ratio alone would pass it' \
    "$(results '.results[0] | .judge == "ratio" and .change_pct < 3')" true
expect_in 'both 10% slower: says why' "$scratch/out" 'this machine is slower, or both are; --against tells'

decide $case "${on[@]}" --module "$modules/anchor_10_30.so"
expect 'kernel 30%, anchor 10% slower' "$(verdict $case)" SLOW
expect 'kernel 30%, anchor 10% slower: says that the build is another' \
    "$(reason $case | grep -c 'code changed since the golden' || true)" 1

# An anchor that is another suite's case.
on=('apart/*' --expectations apart --case-timeout 120)
bless "${on[@]}" --module "$modules/anchor.so" --reason 'as it should be'
gate run --format json "${on[@]}" --module "$modules/anchor_0_60.so"
expect 'the case beside it 60% slower: so much faster beside it' \
    "$(results '.results[0] | .anchor == "held/plain/kernel" and .judge == "ratio" and .change_pct < -35 and .change_pct > -40')" true
expect 'it says nothing of how fast it is' "$(results '.results[0].speedup_vs_anchor')" null
finish
