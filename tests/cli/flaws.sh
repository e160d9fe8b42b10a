#!/usr/bin/env bash
# flaws.sh -- every kernel of broken.c gets its verdict, its reason and its status, and the cases beside it still run.
set -eu -o pipefail
. "$(dirname "$0")/lib.sh"

counts() { # VERDICT=N of the last run, without those that are none
    results '[.counts | to_entries[] | select(.value > 0) | "\(.key)=\(.value)"] | sort | join(" ")'
}

# ---- wrong output ----

gate run --module "$broken" 'output/*' --format json
expect 'wrong output: status' "$status" 1
expect 'wrong output: the others pass' "$(counts)" 'FAIL=16 PASS=4'
caught output/plain/s0/nan_one FAIL '1 of 65536 elements not finite'
caught output/plain/s0/inf_one FAIL '1 of 65536 elements not finite'
caught output/plain/s0/nothing FAIL '65536 elements never written'
caught output/plain/s0/half FAIL '32768 elements never written'
caught output/plain/s0/zero FAIL 'max_abs'
caught output/plain/s0/one_off FAIL 'max_abs 0.2 over 0.1'
caught output/plain/s0/bias FAIL 'mean_abs'
caught output/plain/s0/some_off FAIL 'bad_pct'
caught output/faint/s0/zero FAIL 'rel_l2'
expect 'right' "$(verdict output/plain/s0/good)" PASS
expect 'right, and prints' "$(verdict output/plain/s0/prints)" PASS
expect 'what a kernel prints is not on stdout' "$(grep -c 'prints what it likes' out || true)" 0
expect_in 'what a kernel prints is in the log' results/latest/workers.log 'a kernel of 65536 prints what it likes'

# ---- a process that ends, hangs or spoils what is not its own ----

gate run --module "$broken" 'process/*' --case-timeout 2 --format json
expect 'processes: status' "$status" 1
expect 'processes: the others pass' "$(counts)" 'ERROR=16 PASS=4 SKIP=2'
for seed in 0 1; do
    caught "process/plain/s$seed/overrun" ERROR 'wrote outside y: 0 bytes changed before it, 4 after it'
    caught "process/plain/s$seed/underrun" ERROR 'wrote outside y: 4 bytes changed before it, 0 after it'
    caught "process/plain/s$seed/input" ERROR 'wrote into its inputs'
    caught "process/plain/s$seed/borrows" ERROR 'wrote into its inputs, and put back'
    caught "process/plain/s$seed/crash" ERROR 'signal 11 (Segmentation fault) during correctness'
    caught "process/plain/s$seed/hang" ERROR 'hangs: no progress in 2 s during correctness'
    caught "process/plain/s$seed/exits" ERROR 'exited with status 0 during correctness'
    caught "process/plain/s$seed/error" ERROR 'the launch was refused'
    caught "process/plain/s$seed/refuses" SKIP 'refuses every problem'
done
for flaw in overrun crash exits error; do
    gate run --module "$broken" "process/plain/s0/$flaw"
    expect "$flaw alone: status" "$status" 1
done

# ---- larger than the memory ----

# Three tensors of 4 * 2^44 bytes, x, y and the reference's, each with guard bands.
gate run --module "$many" many/r000/s0/here --set n=17592186044416,64 --no-time --format json
expect 'larger than the memory: the other passes' "$status $(counts)" '0 PASS=1 SKIP=1'
caught many/r000@n=17592186044416/s0/here SKIP 'needs 211106232631296 bytes of device memory, '
gate run --module "$many" many/r000/s0/here --set n=17592186044416 --no-time
expect 'larger than the memory alone: status' "$status" 77

# ---- what a first call leaves behind, and what it finds ----

# meson too has malloc spoil what it gives.
unset MALLOC_PERTURB_
gate run --module "$broken" 'state/*' --exclude 'state/*/clips' --exclude 'state/*/keeps' --exclude 'state/*/goes_on' \
    --exclude 'state/*/scales' --format json
expect 'state: status' "$status" 1
caught state/plain/s0/after_free ERROR 'during correctness'
caught state/plain/s0/dirty_heap FAIL 'max_abs'
caught state/plain/s0/dirty_stack FAIL 'elements not finite'
expect 'state: an honest one' "$(verdict state/plain/s0/good) $(verdict state/plain/s0-outliers/good)" 'PASS PASS'
# What declines a call that came before leaves the inputs to the next as they were.
for case in s0 s0-outliers s1-outliers; do
    gate run --module "$broken" --seed 0,1 "state/plain/$case/declines" "state/plain/$case/good" --format json
    caught "state/plain/$case/declines" SKIP 'declines every call'
    expect "state: after it was declined" "$(verdict "state/plain/$case/good")" PASS
done
# By themselves: a case before them is a call before them.
while read -r case why; do
    gate run --module "$broken" --seed 0,1 "state/plain/$case" --format json
    caught "state/plain/$case" FAIL "$why"
    gate run --module "$broken" "state/plain/s0/${case#*/}" --regime none --format json
    caught "state/plain/s0/${case#*/}" PASS 'right'
done <<'END'
s1-outliers/clips max_abs
s0-outliers/keeps elements not finite
s0-outliers/goes_on elements not finite
s0-outliers/scales max_abs
END
cp "$broken" beside.so
gate run --module "$broken" state/plain/s0/dirty_heap --against beside.so --no-time --format json
caught state/plain/s0/dirty_heap FAIL 'max_abs'

# ---- failures that a table announces ----

gate run --module "$broken" 'expected/*' --format json
expect 'announced: status' "$status" 1
caught expected/plain/s0/zero XFAIL 'writes zeros on purpose'
caught expected/plain/s0/crash XFAIL 'crashes on purpose'
caught expected/plain/s1/good XPASS 'is said to fail, and does not'
gate run --module "$broken" 'expected/*' --exclude expected/plain/s1/good
expect 'announced, all come true: status' "$status" 0

# ---- nothing wrong, and nothing done ----

gate run --module "$broken" 'output/*/good'
expect 'good: status' "$status" 0
gate run --module "$broken" 'skipped/*'
expect 'all skipped: status' "$status" 77
gate run --module "$broken" 'skipped/*' 'output/*/good'
expect 'one of three skipped: status' "$status" 0

# ---- a run that is killed takes its workers along ----

expect 'no worker outlives its run' "$(workers)" ''
"$kgate" run --module "$broken" process/plain/s0/hang --case-timeout 100 >/dev/null 2>&1 &
run=$!
for ((i = 0; i < 1200; i++)); do
    [ -z "$(workers)" ] || break # after the run that may hold the device
    sleep 0.05
done
sleep 0.2
expect 'a hanging worker is there, and the process that it asks apart' "$(workers | wc -l)" 2
kill -KILL "$run"
wait "$run" 2>/dev/null || true
for ((i = 0; i < 100; i++)); do
    [ -n "$(workers)" ] || break
    sleep 0.05
done
expect 'it is gone with its parent' "$(workers)" ''
finish
