#!/usr/bin/env bash
# fail_fast.sh -- --fail-fast ends a run at the first case that is finally wrong or slow, in whatever round and however
# it fails; what its table expects to fail is none of these.
set -eu -o pipefail
. "$(dirname "$0")/lib.sh"

# stopped_after WHAT VERDICT ARGUMENT... -- status 1, one case of this verdict, and the others are left. Of several workers
# another may have met a second one.
stopped_after() {
    local what=$1 verdict=$2
    shift 2
    gate run --module "$broken" "$@" --fail-fast --jobs 1 --format json
    expect "$what: status" "$status" 1
    expect "$what: one case" "$(results "[.results[] | select(.verdict == \"$verdict\")] | length")" 1
    expect "$what: no other red one" "$(results '[.counts.ERROR, .counts.FAIL, .counts.XPASS] | add')" 1
    expect "$what: the rest is left" \
        "$(results '[.results[] | select(.verdict == "SKIP") | .reason | test("--fail-fast stopped the run$")] | all and length > 0')" true
}

stopped_after 'a wrong output' FAIL output
stopped_after 'a crash' ERROR process/plain/s0/crash process/plain/s1/good
stopped_after 'a hang' ERROR process/plain/s0/hang process/plain/s1/good --case-timeout 2
stopped_after 'a worker that exits' ERROR process/plain/s0/exits process/plain/s1/good

# An expected failure is no reason to stop: what is said to fail, and does not, comes after it.
gate run --module "$broken" expected --format json
expect 'an XPASS further on: status without it' "$status" 1
gate run --module "$broken" expected --fail-fast --format json
expect 'an XPASS further on: status' "$status" 1
expect 'an XPASS further on: is reached' "$(verdict expected/plain/s1/good)" XPASS
expect 'an XPASS further on: past what was expected' "$(verdict expected/plain/s0/zero)" XFAIL
gate run --module "$broken" 'expected/plain/s0/*' --fail-fast --format json
expect 'expected failures alone: status' "$status" 0
expect 'expected failures alone: nothing is left' "$(results '.counts.SKIP')" 0

# In a suite that is timed nothing of what is known of a case before its time makes less of a failure.
timed=("${hasty[@]}" --expectations none --format json)
gate run --module "$modules/pull_faulty.so" "${timed[@]}" --fail-fast --jobs 1
expect 'wrong, in a suite that is timed: status' "$status" 1
expect 'wrong, in a suite that is timed: one failed' "$(results .counts.FAIL)" 1
gate run --module "$modules/pull_pardoned.so" "${timed[@]}"
expect 'right though said to fail: status without it' "$status" 1
gate run --module "$modules/pull_pardoned.so" "${timed[@]}" --fail-fast
expect 'right though said to fail: status' "$status" 1
expect 'right though said to fail: it is said' "$(results '.counts.XPASS > 0')" true

# Right when it is checked, wrong in a round of timing, of which it is the first case with this seed.
late=(late/plain/s0/first_only late/plain/s0/good speed "${hasty[@]}" --shuffle=6 --format json)
gate run --module "$broken" "${late[@]}"
expect 'in a round of timing: without it others are timed' "$(results '.counts.UNGATED')" 3
gate run --module "$broken" "${late[@]}" --fail-fast
expect 'in a round of timing: status' "$status" 1
expect 'in a round of timing: it is wrong' "$(verdict late/plain/s0/first_only)" ERROR
expect 'in a round of timing: and others are not timed' "$(reason speed/plain/s0/good)" \
    'right; not timed: --fail-fast stopped the run'
finish
