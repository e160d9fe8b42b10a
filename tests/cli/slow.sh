#!/usr/bin/env bash
# slow.sh -- a kernel that is right and 30% slower than its golden is SLOW, status 3; as it was, it passes again; smaller, it is not judged.
set -eu -o pipefail
. "$(dirname "$0")/lib.sh"

# 0.1 ms a call: short, so that most calls are not interrupted on a machine that does other things too.
on=(--module "$broken" 'speed/*/s0/knobbed' --set n=8192 --expectations goldens)
case=speed/plain@n=8192/s0/knobbed

decide $case "${on[@]}"
expect 'no golden yet: status' "$status" 4
expect 'no golden yet' "$(verdict $case)" UNGATED
bless "${on[@]}" --reason 'as it should be'
expect 'bless: one golden' "$(jq -r '.cases[].key' goldens/expectations_cpu_*.json)" speed/plain@n=8192/knobbed
before=$(sum goldens)

decide $case "${on[@]}"
expect 'unchanged: status' "$status" 0
expect 'unchanged' "$(verdict $case)" PASS
decide $case "${on[@]}" --knob extra_pct=30
expect '30% slower: status' "$status" 3
expect '30% slower' "$(verdict $case)" SLOW
expect '30% slower: 15 to 45% by the ratio to the anchor' \
    "$(results '.results[0] | .judge == "ratio" and .change_pct > 15 and .change_pct < 45')" true
expect '30% slower: says what changed' "$(reason $case | sed 's/.*), //')" "knobs differ from the golden's: extra_pct=30"
expect '30% slower: the knob is recorded' "$(results '.results[0].knobs')" extra_pct=30
decide $case "${on[@]}" --knob extra_pct=30 --threshold 300
expect '30% slower, 300% allowed: status' "$status" 0
decide $case "${on[@]}"
expect 'as it was: status' "$status" 0
expect 'as it was' "$(verdict $case)" PASS
expect 'goldens are what they were' "$(sum goldens)" "$before"

# The threshold of a golden: that of its table, which a milder one does not replace, or the one that its bless was given.
pulled=(pull/plain/s0 --expectations pulled)
from() { # whose threshold held
    results ".results[] | select(.id == \"$case\") | .threshold_from"
}
case=pull/plain/s0/kernel
bless --module "$modules/pull_base.so" "${pulled[@]}" --reason 'as it should be'
decide $case --module "$modules/pull_lenient.so" "${pulled[@]}"
expect 'slower, milder table' "$(verdict $case)" SLOW
expect 'slower, milder table: in JSON' "$(from)" golden
expect 'slower, milder table: whose threshold' "$(reason $case | grep -c 'threshold 10% of the golden' || true)" 1
bless --module "$modules/pull_base.so" "${pulled[@]}" --threshold 300 --reason 'a noisy machine'
bless --module "$modules/pull_base.so" "${pulled[@]}" --reason 'once more'
expect 'given: it stays' "$(jq -r '.thresholds[] | "\(.pct) \(.reason)"' pulled/expectations_cpu_*.json)" '300 a noisy machine'
decide $case --module "$modules/pull_slower.so" "${pulled[@]}"
expect 'slower, given' "$(verdict $case)" PASS
expect 'slower, given: whose threshold' "$(reason $case | grep -c 'threshold 300% of the golden' || true)" 1
gate run --module "$modules/pull_slower.so" "${pulled[@]}"
expect_in 'the terminal counts them' "$scratch/out" ' by a threshold of the golden'
decide $case --module "$modules/pull_slower.so" "${pulled[@]}" --threshold 10
expect 'slower, given, but asked otherwise' "$(verdict $case)" SLOW
expect 'slower, given, but asked otherwise: in JSON' "$(from)" command

# Its golden of an op that computed more, of the same FLOPs.
sed -i.was 's/ rms [0-9.]*"/ rms 1"/' goldens/expectations_cpu_*.json
gate run --format json --module "$broken" 'speed/*/s0/knobbed' --set n=8192 --expectations goldens "${hasty[@]}"
expect 'another answer' "$(verdict speed/plain@n=8192/s0/knobbed)" UNGATED
expect 'another answer: says what changed' "$(reason speed/plain@n=8192/s0/knobbed | sed 's/ rms.*//')" \
    "the golden is of other work: the reference's output:"
for file in goldens/*.was; do mv "$file" "${file%.was}"; done

# Its golden under the name of a smaller row.
sed -i 's/@n=8192/@n=4096/' goldens/expectations_cpu_*.json
gate run --format json --module "$broken" 'speed/*/s0/knobbed' --set n=4096 --expectations goldens "${hasty[@]}"
expect 'a smaller row: status' "$status" 4
expect 'a smaller row' "$(verdict speed/plain@n=4096/s0/knobbed)" UNGATED
expect 'a smaller row: says what changed' "$(reason speed/plain@n=4096/s0/knobbed | sed 's/; flops.*//')" \
    'the golden is of other work: problem: n=8192 -> n=4096'
finish
