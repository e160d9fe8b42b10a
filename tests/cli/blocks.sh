#!/usr/bin/env bash
# blocks.sh -- the error rates of docs/results/error-rates.md, from blocks recorded on an H200: every cell of what must be reached.
set -eu -o pipefail
. "$(dirname "$0")/lib.sh"
blocks=$here/../blocks/h200.jsonl

# cells STATE -- what is in that state, a line each.
cells() {
    results ".goals[] | select(.state == \"$1\") | \"\(.what), \(.judged)\""
}

SECONDS=0
gate selfcheck --judge "$blocks" --format json
expect 'judged: status' "$status" 0
expect 'judged: quickly' "$((SECONDS < 60))" 1
expect 'six starts of the machine' "$(results '.starts >= 6')" true
expect 'missed' "$(cells missed)" ''
expect 'too few gates' "$(cells 'too few gates')" ''
expect 'all cells are reached' "$(cells reached | wc -l)" 12

goal() {
    results "[.goals[] | select(.what == \"$1\" and .judged == \"$2\" and .threshold_pct == $3)][0] | $4"
}
expect 'nothing changed: golden' "$(goal 'false SLOW' 'golden, same card' 2 '.slow == 0 and .independent >= 1000')" true
expect 'nothing changed: against' "$(goal 'false SLOW' against 2 '.slow == 0 and .independent >= 3000')" true
expect 'nothing changed: against, 0.5%' "$(goal 'false SLOW' against 0.5 '.slow == 0 and .gates >= 1000')" true
expect 'nothing changed: against, 0.25%' "$(goal 'false SLOW' against 0.25 '.slow == 0 and .gates >= 1000')" true
expect '+0.5%: found of kernels' "$(goal '+0.5% found' 'kernels, 20 us, no power cap' 0.25 '.slow == .gates and .gates >= 100')" true
expect '+0.5%: launches of several nodes are told' \
    "$(goal '+0.5% found' 'several nodes, 20 us, no cap' 0.25 '.gates >= 50')" true
expect 'whole runs: red' "$(results '.runs | .runs == 10000 and .cases == 277 and .red <= .runs / 100')" true
expect 'whole runs: +3% missed' "$(results '.runs | .changed >= 5000 and .found >= .changed * 0.99')" true

# ---- as text ----

gate selfcheck --judge "$blocks"
expect 'text: status' "$status" 0
expect_in 'text: what must be reached' out 'what must be reached'
expect_in 'text: the other rules' out 'to compare, on the same samples'
expect 'text: the table of the docs' \
    "$(sed -n '/what must be reached/,/^$/p; /^Whole runs/,/^ *nothing changed/p; /, other card /p' out | sed 's/^ *//' | grep -v -x -F -f <(sed 's/^ *//' "$here/../../docs/results/error-rates.md"))" ''
expect 'text: all rates when asked for' "$(grep -c 'false SLOW (95% bound)' out || true)" 0
gate selfcheck --judge "$blocks" --verbose
expect 'verbose: all rates, and by class' "$(grep -c 'false SLOW (95% bound)' out)" 2
gate selfcheck --judge "$blocks" --threshold 4
expect 'another threshold: no cells' "$(grep -c 'what must be reached' out || true)" 0
refused 'tap: kgate selfcheck knows text and json' selfcheck --judge "$blocks" --format tap
finish
