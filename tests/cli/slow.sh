#!/usr/bin/env bash
# slow.sh -- a kernel that is right and 30% slower than its golden is SLOW, status 3; as it was, it passes again.
set -eu -o pipefail
. "$(dirname "$0")/lib.sh"

case=speed/plain/s0/knobbed
speed() { # speed ARGUMENT... -- gates the case
    gate run --module "$broken" "$case" --expectations goldens --format json "$@"
}

speed
expect 'no golden yet: status' "$status" 4
expect 'no golden yet' "$(verdict $case)" UNGATED

bless --module "$broken" "$case" --expectations goldens --reason 'as it should be'
expect 'bless: one golden' "$(jq -r '.cases[].key' goldens/expectations_cpu_*.json)" speed/plain/knobbed
before=$(sum goldens)

speed
expect 'unchanged: status' "$status" 0
expect 'unchanged' "$(verdict $case)" PASS
speed --knob extra_pct=30
expect '30% slower: status' "$status" 3
expect '30% slower' "$(verdict $case)" SLOW
expect '30% slower: 20 to 40% by its own figure' \
    "$(results '.results[0] | .judge == "ratio" and .change_pct > 20 and .change_pct < 40')" true
case $(reason $case) in
*'same code as the golden: environment') echo 'ok: the code is the same, and that is said' ;;
*) expect 'its reason' "$(reason $case)" 'same code as the golden: environment' ;;
esac
speed --knob extra_pct=30 --threshold 50
expect '30% slower, 50% allowed: status' "$status" 0
speed
expect 'as it was: status' "$status" 0
expect 'as it was' "$(verdict $case)" PASS
expect 'goldens are what they were' "$(sum goldens)" "$before"
finish
