#!/usr/bin/env bash
# gates.sh -- each gate fires alone: a kernel for each is wrong in a way that no other gate sees.
set -eu -o pipefail
. "$(dirname "$0")/lib.sh"

gate run --module "$broken" 'output/*' --format json
fired() { # the gates of a case that did not hold
    jq -r --arg id "$2" '.results[] | select(.id == $id) | .gates | to_entries | map(select(.value | not).key) | join(" ")' "$1"
}
summary=results/latest/correctness_summary.json
while read -r case marks; do
    expect "$case: gates that fire" "$(fired out "$case")" "$marks"
    expect "$case: gates that fire, in the summary" "$(fired $summary "$case")" "$marks"
    expect "$case: pass" "$(jq -r --arg id "$case" '.results[] | select(.id == $id) | .pass' $summary)" \
        "$([ -z "$marks" ] && echo true || echo false)"
done <<'END'
output/plain/s0/one_off max_abs_err_pass
output/plain/s0/bias mean_abs_err_pass
output/plain/s0/some_off pct_bad_pass
output/faint/s0/zero rel_l2_err_pass
output/plain/s0/nan_one finite_pass
output/plain/s0/inf_one finite_pass
output/plain/s0/good
output/faint/s0/good
END
expect 'all_pass with failures' "$(jq .all_pass $summary)" false

# Each is enough to fail a run.
for case in plain/s0/one_off plain/s0/bias plain/s0/some_off faint/s0/zero plain/s0/nan_one; do
    gate run --module "$broken" "output/$case"
    expect "$case alone: status" "$status" 1
done
gate run --module "$broken" 'output/*/good'
expect 'all_pass without failures' "$(jq .all_pass $summary)" true
finish
