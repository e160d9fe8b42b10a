#!/usr/bin/env bash
# against.sh -- a build judged against another: what a pull request may do to its own gate, and what is said of it. The
# modules are made of tests/modules/pull.c, the first of them being what the others change.
set -eu -o pipefail
. "$(dirname "$0")/lib.sh"

base=$modules/pull_base.so plain=pull/plain/s0/kernel other=pull/other/s0/kernel

pull() { # pull NAME OPTION... -- pull_NAME.so against the first, until the machine lets it be decided
    local name=$1
    shift
    decide $plain --module "$modules/pull_$name.so" --against "$base" "$@"
}
quickly() { # the same where time does not matter
    local name=$1
    shift
    gate run --format json --module "$modules/pull_$name.so" --against "$base" --no-time "$@"
}
said() { # said WHAT ID VERDICT [TEXT] -- TEXT stands in the reason
    expect "$1" "$(verdict "$2")" "$3"
    [ -z "${4:-}" ] || expect "$1: reason" "$(reason "$2" | grep -c -F -e "$4" || true)" 1
}

# ---- nothing changed: the same file, by another name, and a copy ----

pull base
expect 'itself: status' "$status" 0
said 'itself' $plain PASS
said 'itself, further seed' pull/plain/s1/kernel PASS
expect 'itself: judged by the baseline' "$(results '.results[0].judge')" against
expect 'itself: nothing is left of a second instance' "$(find results -name '*.so')" ''
ln -s "$base" link.so
gate run --format json --module ./link.so --against "$base" pull/plain
said 'a link to itself' $plain "$([ "$status" = 4 ] && echo UNSURE || echo PASS)"
cp "$base" copy.so
quickly base --against ./copy.so
expect 'a copy: status' "$status" 0

# ---- slower, whatever the change says of time ----

for name in slower lenient untimed meddler; do
    pull $name pull/plain
    expect "$name: status" "$status" 3
    said "$name" $plain SLOW "code differs from the baseline's"
    expect "$name: 15 to 45%" "$(results '.results[0] | .change_pct > 15 and .change_pct < 45')" true
done
pull slower pull/plain --threshold 300
expect 'slower, 300% allowed: status' "$status" 0
decide $plain --module "$base" --against "$modules/pull_slower.so" pull/plain
expect 'faster: status' "$status" 0
said 'faster' $plain FAST

# ---- wrong, whatever the change says of right ----

for name in loose excused doctored; do
    quickly $name
    expect "$name: status" "$status" 1
    said "$name" $plain FAIL 'max_abs 0.05 over 0.02'
    gate run --format json --module "$modules/pull_$name.so" --no-time
    case $name in loose) own=4 ;; *) own=0 ;; esac # gates that let this pass are WEAK
    expect "$name, by its own table: status" "$status" $own
done

# ---- a baseline that is wrong, by gates that hold for both ----

gate run --format json --module "$base" --against "$modules/pull_excused.so" pull/plain/s0
expect 'wrong baseline, said to fail: status' "$status" 1
said 'wrong baseline, said to fail' $plain ERROR 'the baseline: its output is wrong by its own gates'

for name in loose excused; do
    gate run --format json --module "$base" --against "$modules/pull_$name.so" pull/plain/s1 --no-time
    expect "wrong baseline, $name, not timed: status" "$status" "$([ $name = loose ] && echo 0 || echo 1)"
done
said 'wrong baseline, not timed' pull/plain/s1/kernel ERROR 'the baseline: its output is wrong by its own gates: max |err| 0.0'

# ---- knobs are set in both builds, where they have them ----

decide $plain --module "$modules/pull_knobbed.so" --against "$modules/pull_knobbed.so" pull/plain --knob extra_pct=30
expect 'a knob of both: status' "$status" 0
said 'a knob of both' $plain PASS
expect 'a knob of both: recorded' "$(results '.results[0].knobs')" extra_pct=30
pull knobbed pull/plain --knob extra_pct=30
expect 'a knob of one: status' "$status" 3
said 'a knob of one' $plain SLOW
refused '--knob tile: no selected backend has it' run --module "$base" --against "$base" pull/plain --knob tile=1

# ---- cases that are gone, renamed, changed or new ----

pull dropped
expect 'dropped: status' "$status" 4
said 'dropped' $other LOST 'the baseline has this case, the candidate does not'
said 'dropped: what is left' $plain PASS
gate run --format tap --module "$modules/pull_dropped.so" --against "$base" --no-time --allow-undecided --junit junit.xml
expect 'dropped, allowed as undecided: status' "$status" 0
expect 'dropped, allowed as undecided: TAP says so' "$(grep -c '^not ok' out || true)" 0
expect_in 'dropped, allowed as undecided: TAP says what it is' out '#   verdict: LOST'
expect 'dropped, allowed as undecided: JUnit says so' "$(grep -c '<error \|<failure ' junit.xml || true)" 0
expect_in 'dropped, allowed as undecided: JUnit says what it is' junit.xml 'name="verdict" value="LOST"'
quickly dropped --allow-removed
expect 'dropped, allowed: status' "$status" 0
said 'dropped, allowed' $other SKIP '(--allow-removed)'
quickly dropped pull/plain
expect 'dropped, not selected: status' "$status" 0
quickly dropped pull/other
expect 'dropped, nothing else selected: status' "$status" 4

# A seed that may go does not take the time of the others along.
decide pull/plain/s1/kernel --module "$modules/pull_seedless.so" --against "$base" pull/plain --allow-removed
expect 'without its first seed: status' "$status" 3
said 'without its first seed' $plain SKIP '(--allow-removed)'
said 'without its first seed: slower' pull/plain/s1/kernel SLOW

quickly renamed
expect 'renamed: status' "$status" 4
said 'renamed: the old name' $other LOST
said 'renamed: the new name' pull/another/s0/kernel PASS 'new'
quickly renamed --allow-removed
expect 'renamed, allowed: status' "$status" 0

quickly smaller
expect 'changed row: status' "$status" 4
said 'changed row' $other LOST 'the row was changed: n=4096 -> n=512'
quickly smaller --allow-removed
expect 'changed row, allowed: status' "$status" 0
said 'changed row, allowed: a new one' $other PASS 'new'
expect 'changed row, allowed: the new problem' "$(results ".results[] | select(.id == \"$other\") | .n")" 512

said 'changed row, allowed: why' $other PASS 'right; new, the row was changed: n=4096 -> n=512'

quickly refuses
expect 'refuses: status' "$status" 4
said 'refuses' $plain LOST 'the baseline runs here, this build does not: takes no problem any more'
quickly refuses --allow-removed
expect 'refuses, which is not removed: status' "$status" 4
gate run --module "$base" --against "$modules/pull_refuses.so" --format json
expect 'runs again: status' "$status" 0
said 'runs again' $plain PASS 'right; new, the baseline does not run here: takes no problem any more'

pull added
expect 'new row: status' "$status" 0
said 'new row' pull/added/s0/kernel PASS 'new'
expect 'new row: not timed' "$(results '.results[] | select(.id == "pull/added/s0/kernel") | .p50_us')" null
quickly added pull/added
expect 'new row alone: status' "$status" 0
expect 'new row alone: results' "$(results '.results | length')" 2
quickly faulty
expect 'new backend, wrong: status' "$status" 1
said 'new backend, wrong' pull/plain/s0/faulty FAIL
said 'new backend, wrong: the one beside it' $plain PASS

quickly forgiven
expect 'new backend, wrong and said to fail: status' "$status" 1
said 'new backend, wrong and said to fail' pull/plain/s0/faulty FAIL 'max_abs 0.05 over 0.02'
gate run --format json --module "$modules/pull_forgiven.so" --no-time
expect 'new backend, wrong and said to fail, by its own table: status' "$status" 0
quickly widened --allow-removed
expect 'changed row, wrong under wider gates: status' "$status" 1
said 'changed row, wrong under wider gates' $other FAIL 'max_abs 0.05 over 0.02'

# ---- goldens do not judge here, but are read ----

mkdir goldens
quickly base --expectations goldens
expect 'no golden: status' "$status" 0
echo '{' >goldens/expectations_h200.json
refused 'expectations_h200.json' run --module "$base" --against "$base" --expectations goldens

# ---- what cannot be judged against ----

refused 'rebuild the module, or judge by goldens: run without --against' \
    run --module "$base" --against "$modules/bad_old.so"
refused 'or judge by goldens: run without --against' run --module "$base" --against "$modules/bad_size.so"
refused '--against: no module at ./nosuch.so' run --module "$base" --against ./nosuch.so
refused 'suite copies, row one: stands twice' run --module "$base" --against "$modules/bad_row_twice.so"
refused 'no case matches pull/nosuch' run --module "$base" --against "$modules/pull_added.so" pull/nosuch
refused 'no case matches pull/added' run --module "$base" --against "$base" pull/added
refused '--bless does not go with --against' run --module "$base" --against "$base" --bless --reason x
finish
