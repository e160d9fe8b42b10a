#!/usr/bin/env bash
# repeat.sh -- kernels that a plain run finds right go wrong at a later launch of --repeat, which says at which; those that
# say of themselves that their bits vary are held to the gates instead.
set -eu -o pipefail
. "$(dirname "$0")/lib.sh"
module=$modules/repeats.so

# caught BACKEND VERDICT REASON -- REASON: a pattern for its start.
caught() {
    local id=repeats/plain/s0/$1
    expect "$1" "$(verdict "$id")" "$2"
    expect "$1: its reason" "$(reason "$id" | grep -c -x -e "$3")" 1
}

# repeats BACKEND -- the launches, and how many gave other bits.
repeats() {
    results ".results[] | select(.id == \"repeats/plain/s0/$1\") | .repeats | \"\(.launches) \(.other_bits)\""
}

gate run --module "$module" --no-time --format json
expect 'a plain run: status' "$status" 0
expect 'a plain run: all pass' "$(results .counts.PASS)" 10
expect 'a plain run: nothing of repeats' "$(results '[.results[] | .repeats // empty, .gates.repeats_pass // empty] | length')" 0

gate run --module "$module" --no-time --repeat 100 --case-timeout 4 --format json
expect '--repeat: status' "$status" 1
expect '--repeat: the honest pass' "$(results .counts.PASS)" 4
for backend in good staged patient; do # patient takes more than the time limit of a case, but is not silent
    expect "$backend" "$(verdict "repeats/plain/s0/$backend") $(repeats $backend)" 'PASS 100 0'
done
expect varies "$(verdict repeats/plain/s0/varies) $(repeats varies)" 'PASS 100 100'
# The checked launch is the first of the process.
caught seldom FAIL 'launch 49 of 100, alone, gave other bits: 1 of 4096 elements differ, max |difference| 3; by the gates it is wrong, max_abs 3'
expect 'seldom: the last launch was the wrong one' "$(repeats seldom)" '49 1'
caught other_bits FAIL 'launch 1 of 100, alone, gave other bits: 58[56] of 4096 elements differ, max |difference| [0-9.e-]*; by the gates it is right, max_abs [0-9.e-]*'
caught varies_wrong FAIL 'launch 49 of 100, alone, gave other bits: .* by the gates it is wrong, max_abs [0-9.]*'
caught overruns ERROR 'wrote outside y: 0 bytes changed before it, 4 after it'
caught crashes ERROR '.*signal 11 (Segmentation fault) during the repeated launches'
caught hangs ERROR 'hangs: no progress in 4 s during the repeated launches'
expect 'the gates are told of too' \
    "$(results '.results[] | select(.id == "repeats/plain/s0/seldom") | "\(.gates.max_abs_err_pass) \(.gates.repeats_pass)"')" 'true false'

# A launch beside busy threads, and one on inputs written anew.
for at in 'launch 50 of 60, beside busy threads,' 'launch 51 of 60, on inputs written anew,'; do
    export REPEATS_LATER=$((${REPEATS_LATER:-0} + 1))
    gate run --module "$module" --no-time --repeat 60 'repeats/*/seldom' --format json
    expect_in "$at" "$scratch/out" "$at"
done
unset REPEATS_LATER

# As people and their tools see it.
gate run --module "$module" --no-time --repeat 60 'repeats/*/seldom' 'repeats/*/good' --verbose --junit "$scratch/junit.xml"
expect 'terminal: status' "$status" 1
expect_in 'terminal' "$scratch/out" 'launch 49 of 60, alone, gave other bits'
expect_in 'terminal: the run that shows it again' "$scratch/out" "--repeat 60"
expect_in 'terminal: what was repeated' "$scratch/out" '60 further launches, of which 0 gave other bits'
expect_in 'JUnit' "$scratch/junit.xml" '<failure'
expect_in 'JUnit: why' "$scratch/junit.xml" 'launch 49 of 60, alone, gave other bits'
expect 'the correctness report' "$(jq -r '[.results[] | "\(.backend) \(.pass)"] | join(" ")' results/latest/correctness_summary.json)" 'good true seldom false'

refused '--repeat 0: ' run --module "$module" --repeat 0
refused '--repeat 1000001: ' run --module "$module" --repeat 1000001
refused '--repeat' list --module "$module" --repeat 5
finish
