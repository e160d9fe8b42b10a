#!/usr/bin/env bash
# rude.sh -- kernels that are right and misbehave otherwise: when they are released or closed, by children, by what they
# write where. They are made of rude.c.
set -eu -o pipefail
. "$(dirname "$0")/lib.sh"
limit=60 # seconds of a kgate that hangs with its module

rude() { # rude PATTERN... -- with little patience
    gate run --format json --module "$modules/rude.so" --case-timeout 3 "$@" # of two, the last holds
}
caught() { # caught ID REASON -- ERROR, status 1
    expect "$1" "$status $(verdict "$1")" '1 ERROR'
    case $(reason "$1") in
    *"$2"*) echo "ok: $1 says '$2'" ;;
    *) expect "$1: its reason" "$(reason "$1")" "$2" ;;
    esac
}

# ---- after the output was right ----

rude 'release_of/*'
caught release_of/plain/s0/crashes 'the worker died: signal 11 (Segmentation fault) during release'
caught release_of/plain/s0/exits 'the worker died: exited with status 0 during release'
caught release_of/plain/s0/hangs 'hangs: no progress in 3 s during release'
expect 'release: the case beside them' "$(verdict release_of/plain/s0/good)" PASS

rude close_of/plain/s0/crashes
caught close_of/plain/s0/crashes 'the worker died: signal 11 (Segmentation fault) during close'
rude close_of/plain/s0/exits
caught close_of/plain/s0/exits 'the worker died: exited with status 0 during close'
rude close_of/plain/s0/hangs
caught close_of/plain/s0/hangs 'hangs: no progress in 3 s during close'
for seed in 1 2 3 4; do # whoever is last
    rude close_of/plain/s0/good close_of/plain/s0/exits --shuffle="$seed"
    expect "close, order $seed" "$status $(results '[.results[].verdict] | sort | join(" ")')" '1 ERROR PASS'
done

# ---- what stands in the worker's pipe ----

for flaw in forges scribbles; do
    rude "manner/plain/s0/$flaw" # alone it is case 0, as which it forges
    caught "manner/plain/s0/$flaw" "the worker's pipe holds what kgate did not write there during correctness"
done
rude manner/plain/s0/scribbles manner/plain/s0/good
expect 'the case beside it' "$(verdict manner/plain/s0/good)" PASS

# ---- tensors that cannot be ----

rude 'claim/*'
expect 'claim/sound' "$(verdict claim/sound/s0/good)" PASS
caught claim/zero/s0/good 'op claim: dimension 1 of tensor y is 0'
caught claim/negative/s0/good 'op claim: dimension 1 of tensor y is -64'
caught claim/overflows/s0/good 'op claim: tensor y is too large to count'
caught claim/flat/s0/good 'op claim: tensor y has no name, no role, or a rank that is not 0 to 5'
caught claim/deep/s0/good 'op claim: tensor y has no name, no role, or a rank that is not 0 to 5'
caught claim/nameless/s0/good 'op claim: tensor ? has no name'
caught claim/no_output/s0/good 'op claim has no output'
caught claim/no_tensor/s0/good 'op claim cannot describe its tensors'
caught claim/smaller/s0/good 'op claim described other tensors when the case was planned'

# ---- files without end ----

rude manner/plain/s0/prints
expect 'prints 60 MB' "$status $(verdict manner/plain/s0/prints)" '0 PASS'
expect 'the log is cut' "$(($(wc -c <results/latest/workers.log) >> 20))" 16
expect 'and says so' "$(tail -n 1 results/latest/workers.log)" 'kgate: the rest is cut'

(
    ulimit -f 1
    rude manner/plain/s0/good
    expect 'files of a kilobyte: status' "$status" 2
    expect 'files of a kilobyte: lines on stderr' "$(wc -l <err)" 1
    expect_in 'files of a kilobyte: why' err 'File too large'
    exit "$failures"
) || failures=$((failures + $?))

# ---- wherever the module's own code runs ----

RUDE='' rude claim/sound
expect 'a module that is not rude: status' "$status" 0
for place in constructor work check; do
    for deed in crashes exits hangs scribbles; do
        started=$SECONDS
        RUDE="$place $deed" rude claim/sound
        expect "$place $deed: status" "$status" 2
        expect "$place $deed: one line on stderr" "$(wc -l <err)" 1
        expect "$place $deed: nothing on stdout" "$(wc -c <out)" 0
        [ $((SECONDS - started)) -lt 20 ] || expect "$place $deed: ends in time" $((SECONDS - started)) 'less than 20 s'
    done
done
RUDE='work exits' rude claim/sound
expect 'it says who, where and how' "$(cat err)" \
    "kgate: module $modules/rude.so: its process died while its op counts the work of a problem: exited with status 0"
RUDE='constructor hangs' gate run --module "$modules/rude.so" claim/sound --timeout 1
expect 'no longer than --timeout: status' "$status" 2
expect_in 'no longer than --timeout' err "the run's time is over while its tables are read"
for deed in crashes exits hangs; do # a worker's, which has said all by then
    RUDE="destructor $deed" rude claim/sound
    wanted='1 ERROR'
    [ "$deed" != exits ] || wanted='0 PASS' # as it would have
    expect "destructor $deed: status" "$status $(verdict claim/sound/s0/good)" "$wanted"
    RUDE="destructor $deed" rude claim/zero
    expect "destructor $deed, of a wrong case: status" "$status $(verdict claim/zero/s0/good)" '1 ERROR'
done
setsid "$kgate" run --module "$modules/rude.so" release_of/plain/s0/hangs --case-timeout 60 >/dev/null 2>&1 &
run=$!
for ((i = 0; i < 600 && $(workers | wc -l) == 0; i++)); do sleep 0.1; done
expect 'maps: the parent has not loaded it' "$(grep -c rude.so "/proc/$run/maps")" 0
expect 'maps: a worker has' "$(grep -q rude.so "/proc/$(workers | head -n 1)/maps" && echo yes)" yes
kill -KILL "$run"
{ wait "$run" || true; } 2>/dev/null
for ((i = 0; i < 100 && $(workers | wc -l) > 0; i++)); do sleep 0.1; done
expect 'maps: nothing is left of a parent that was killed' "$(workers)" ''
start=$SECONDS
RUDE='work crawls' rude claim --no-time --timeout 5
expect 'an op that crawls: within --timeout' "$status $((SECONDS - start < 15))" '2 1'
expect_in 'an op that crawls: why' "$scratch/err" "the run's time is over while its op counts the work of a problem"
for command in list leaderboard resources; do
    RUDE='constructor exits' gate "$command" --module "$modules/rude.so"
    expect "$command: status" "$status" 2
done

# ---- children ----

for whose in child session; do # the second's have left the worker's group
    rm -f child
    start=$SECONDS
    rude "manner/plain/s0/leaves_a_$whose" manner/plain/s0/good claim/sound --jobs 2 --case-timeout 60
    expect "a child that holds the pipe, $whose" "$status $(results '[.results[].verdict] | unique[]')" '0 PASS'
    [ $((SECONDS - start)) -lt 50 ] || expect 'it is not waited for' $((SECONDS - start)) 'less than 50 s'
    expect 'it was there, one a call' "$(wc -l <child)" 2
    expect "it is gone, $whose" "$(workers)" ''
    workers | xargs -r kill -KILL
done
# shellcheck disable=SC2016 # the inner shell's
bash -c 'sleep 300 & echo $! >child; exec "$@"' - "$kgate" run --module "$modules/rude.so" claim/sound --no-time >/dev/null
expect 'a child that kgate had from before is let be' "$(kill "$(cat child)" 2>&1)" ''
finish
