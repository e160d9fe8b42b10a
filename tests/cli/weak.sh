#!/usr/bin/env bash
# weak.sh -- gates that would pass a wrong answer: WEAK, status 4, with the limit that would see it; what the table
# excuses; kgate selfcheck --gates; and that the suites that ship have none.
set -eu -o pipefail
. "$(dirname "$0")/lib.sh"
wide=$modules/weak_wide.so excused=$modules/weak_excused.so case=wide/faint/s0/right

# Its gates pass zeros, as a backend of zeros shows; whoever is right by them is WEAK too.
gate run --module "$wide" --no-time --format json
expect 'wide gates: status' "$status" 4
expect 'right, by gates that say little' "$(verdict $case)" WEAK
expect 'wrong, by the same gates' "$(verdict wide/faint/s0/zeros)" WEAK
expect 'every case of every seed' "$(results '.counts.WEAK')" 4
expect 'the limit and a number that sees it' "$(reason $case | grep -o 'zeros ([^)]*)')" \
    'zeros (rel_l2 0.99 would see it; suite has 10)'
expect 'all that pass are named' "$(reason $case | grep -o -E '[a-z_]+ \(' | tr -d ' (\n')" \
    zerosnoisefactorbiasdropped_rowswapped_rowsstale_tilelargest_zeroedcut_tail
expect 'its report' "$(jq -r --arg id $case '.results[] | select(.id == $id) | .strength |
    "\(.applicable) \(.caught) \(.accepted | length)"' results/latest/correctness_summary.json)" '10 1 9'
gate run --module "$wide" --no-time --junit junit.xml
expect_in 'JUnit: a failure' junit.xml 'type="WEAK"'
expect_in 'the last line' out '4 weak, 0 passed'

# Undecided cases may be allowed, but not because an architecture has no goldens yet.
gate run --module "$wide" --no-time --allow-undecided
expect 'allowed: status' "$status" 0
gate run --module "$wide" --no-time --allow-undecided=new
expect 'allowed as new: status' "$status" 4

gate run --module "$excused" --no-time --format json
expect 'excused: status' "$status" 0
expect 'excused: verdict' "$(verdict $case)" PASS
refused 'excuses: there is no wrong answer ones' run --module "$modules/weak_unknown.so"

# No golden is made of it.
gate run --bless --reason first --allow-dirty --module "$wide" "${hasty[@]}" --rounds 3
expect 'bless: status' "$status" 4
expect_in 'bless: says why' err "not blessed: $case: weak: its gates pass zeros"
expect 'bless: no file' "$(find expectations -name '*.json' 2>/dev/null)" ''

# Another build's gates are no fault of this one's.
gate run --module "$wide" --against "$wide" --no-time --format json
expect 'against: verdict' "$(verdict $case)" PASS

gate selfcheck --gates --module "$wide"
expect 'selfcheck --gates: status' "$status" 4
expect_in 'selfcheck --gates: a line for inputs' out 'wide   faint  s1                 10       1  WEAK'
expect_in 'selfcheck --gates: a line for what passes' out \
    'wide/faint/s1 passes zeros: rel_l2 0.99 would see it; suite has 10'
expect_in 'selfcheck --gates: counts' out 'kgate: gates of 2 sets of inputs judged, 2 weak'
gate selfcheck --gates --module "$excused" --format json
expect 'excused, selfcheck --gates: status' "$status" 0
expect 'excused, selfcheck --gates: each is told' \
    "$(results '.inputs[0] | "\(.id) \(.applicable) \(.caught) \(.accepted[0].wrong): \(.accepted[0].excuse)"')" \
    'wide/faint/s0 10 1 zeros: zeros are as good here'
expect 'no kernel runs' "$(find results -name workers.log -size +0)" ''
gate selfcheck --gates --module "$broken" 'elsewhere/*' --device cpu --backend good
expect 'honest gates: status' "$status" 0
gate selfcheck --gates --module "$broken" 'expected/*/crash' --device cpu
expect 'a kernel that would crash is not run: status' "$status" 0

gate selfcheck --gates --device cpu
expect 'the suites that ship: status' "$status" 0
cat out
finish
