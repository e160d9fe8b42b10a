#!/usr/bin/env bash
# blame.sh -- whose fault it is under --against where a build cannot be prepared or launched, writes where it must not, or
# refuses. The builds are made of tests/modules/order.c; a faulty baseline's row two is said to fail, which excuses none.
# Those whose reference fails are made of pull.c.
set -eu -o pipefail
. "$(dirname "$0")/lib.sh"

against() { # against BASELINE CANDIDATE OPTION...
    local baseline=$1 candidate=$2
    shift 2
    rm -f ./*.prepared
    gate run --format json --module "$modules/order_$candidate.so" --against "$modules/order_$baseline.so" \
        --rounds 3 --threshold 1000 "$@"
}
both() { # both WHAT STATUS VERDICT REASON -- of both rows
    expect "$1: status" "$status" "$2"
    for row in one two; do
        expect "$1, $row" "$(verdict order/$row/s0/kernel)" "$3"
        expect "$1, $row: why" "$(reason order/$row/s0/kernel)" "$4"
    done
}
at_fault() { # at_fault BASELINE CANDIDATE REASON OPTION...
    local baseline=$1 candidate=$2 why=$3
    shift 3
    against "$baseline" "$candidate" "$@"
    both "$candidate against $baseline" 1 ERROR "$why"
}

# ---- a baseline that fails ----

died='the worker died: signal 11 (Segmentation fault) during'
at_fault unprepared base 'the baseline: cannot be prepared'
at_fault unprepared_crashes base "$died the baseline's prepare"
at_fault unprepared_hangs base "hangs: no progress in 3 s during the baseline's prepare" --case-timeout 3
at_fault unprepared_overruns base 'the baseline: wrote outside y: 0 bytes changed before it, 4 after it'
at_fault fails base 'the baseline: the launch was refused'
at_fault crashes base "$died the baseline's launch"
at_fault crashes_next base "$died the baseline's launch"
at_fault overruns base 'the baseline: wrote outside y: 0 bytes changed before it, 4 after it'
at_fault spoils base 'the baseline: wrote into its inputs'
at_fault workspace base 'the baseline: wrote outside the workspace: 0 bytes changed before it, 1 after it'
at_fault unreleased base "$died the baseline's release"
at_fault once base 'the baseline: takes no problem any more'
for name in unprepared_crashes crashes overruns fails; do
    against $name base --no-time
    expect "$name, not timed: status" "$status" 1
    for row in one two; do
        expect "$name, $row, not timed" "$(verdict order/$row/s0/kernel)" ERROR
        expect "$name, $row, not timed: whose" "$(reason order/$row/s0/kernel | grep -c 'the baseline' || true)" 1
    done
done
at_fault late_fails base 'the baseline: the launch was refused late'
at_fault late_refuses base 'the baseline: takes no problem any more'
at_fault late_overruns base 'the baseline: wrote outside y: 0 bytes changed before it, 4 after it'
at_fault late_spoils base 'the baseline: the timed calls wrote into their inputs'

# ---- its reference ----

reference() { # reference BASELINE STATUS VERDICT REASON -- all rows of a baseline of this reference
    gate run --format json --no-time --module "$modules/pull_base.so" --against "$modules/pull_$1.so" pull/plain
    expect "$1: status" "$status" "$2"
    expect "$1" "$(results '[.results[] | .verdict + ": " + .reason] | unique | join(", ")')" "$3: $4"
}
reference reference_fails 1 ERROR 'the baseline: the reference was refused'
reference reference_crashes 1 ERROR "$died the reference"
reference unreferenced 77 SKIP 'no reference for this'

# ---- the other build ----

at_fault base overruns 'wrote outside y: 0 bytes changed before it, 4 after it'
at_fault base spoils 'wrote into its inputs'
at_fault base unreleased "$died release"
at_fault base late_fails 'the launch was refused late'
at_fault base late_overruns 'wrote outside y: 0 bytes changed before it, 4 after it'

# ---- a build that refuses a launch ----

against base refuses
both 'refuses' 4 LOST 'the baseline runs here, this build does not: takes no problem any more'
against base refuses --no-time
both 'refuses, not timed' 4 LOST 'the baseline runs here, this build does not: takes no problem any more'
against other declines --no-time
expect "refuses, a regime" "$(verdict order/one/s0-outliers/kernel): $(reason order/one/s0-outliers/kernel)" \
    'LOST: the baseline runs here, this build does not: takes no problem any more'
against refuses refuses
both 'both refuse' 77 SKIP 'takes no problem any more'
against refuses base
expect 'runs again: status' "$status" 1
expect 'runs again' "$(verdict order/one/s0/kernel)" PASS
expect 'runs again: why' "$(reason order/one/s0/kernel)" \
    'right; new, the baseline does not run here: takes no problem any more'
expect 'runs again, said to fail' "$(verdict order/two/s0/kernel)" XPASS
at_fault unprepared refuses 'the baseline: cannot be prepared'
at_fault unprepared_crashes refuses "$died the baseline's prepare"
at_fault base tires 'it ran when it was checked, now: takes no problem any more'
gate run --format json --module "$modules/order_refuses.so"
both 'refuses, alone' 77 SKIP 'takes no problem any more'
gate run --format json --module "$modules/order_tires.so"
expect 'tires, alone' "$(verdict order/one/s0/kernel)" ERROR
finish
