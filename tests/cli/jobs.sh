#!/usr/bin/env bash
# jobs.sh -- correctness by several workers at once comes to what one of them finds, whatever becomes of the others.
set -eu -o pipefail
. "$(dirname "$0")/lib.sh"

# Of `trails` what is found depends on how soon its thread is done.
cases=(--module "$broken" output process expected some_calls --exclude '*/hang' --exclude '*/trails' --no-time --format json)
facts='.results[] | "\(.id) \(.verdict) \(.reason) \(.output_digest)"'
gate run "${cases[@]}" --jobs 1
one=$(results "$facts") one_status=$status
gate run "${cases[@]}" --jobs 3
expect 'three workers: status' "$status" "$one_status"
expect 'three workers: every case as with one' "$(results "$facts")" "$one"
expect 'one crashes, and its shape goes on' "$(verdict process/plain/s0/crash) $(verdict process/plain/s1/good)" 'ERROR PASS'

# While one hangs, another goes on.
hang=(--no-time --module "$broken" process/plain/s0/hang output/plain/s0/good --set n=4000000)
setsid env --default-signal=INT "$kgate" run "${hang[@]}" --jobs 2 --case-timeout 300 >out 2>err &
run=$!
most=0
now=0
for ((i = 0; i < 2000 && (most < 2 || now > 1); i++)); do
    now=0
    for child in $(cat "/proc/$run"/task/*/children 2>/dev/null || true); do # not those that look for devices, or tell tables
        ! grep -q -a -z -x run "/proc/$child/cmdline" 2>/dev/null || now=$((now + 1))
    done
    most=$((now > most ? now : most))
    sleep 0.005
done
expect 'two at once' "$most" 2
expect 'the one that hangs is left, and the process that it asks apart' "$(workers | wc -l)" 2
kill -INT -- "-$run"
status=0
{ wait "$run" || status=$?; } 2>/dev/null
expect 'Ctrl-C: status' "$status" 4
expect 'Ctrl-C: no worker is left' "$(workers)" ''
expect 'Ctrl-C: the other has passed' "$(jq -r '.results[] | select(.id == "output/plain@n=4000000/s0/good") | .verdict' \
    results/latest/correctness_summary.json)" PASS
gate run "${hang[@]}" --jobs 2 --case-timeout 6 --format json
expect 'a hang among two: status' "$status" 1
expect 'a hang among two: its case alone' "$(verdict "process/plain@n=4000000/s0/hang") $(verdict output/plain@n=4000000/s0/good)" 'ERROR PASS'

gate run "${hang[@]:0:3}" output/plain/s0/good expected/plain/s0/zero --jobs 2 --fail-fast
expect 'an expected failure stops none of them' "$status" 0
finish
