#!/usr/bin/env bash
# stop.sh -- Ctrl-C, SIGTERM and --timeout end a run cleanly: what was measured so far is judged and written, and marked
# partial; a second Ctrl-C ends it at once.
set -eu -o pipefail
. "$(dirname "$0")/lib.sh"

files=(build_meta.json correctness_summary.json perf_baseline.json samples.jsonl junit.xml comparison.csv comparison.md
    summary.md)
# A right case, one that hangs, and one that is not reached for it.
three=(--module "$broken" process/plain/s0/good process/plain/s0/hang process/plain/s0/exits --case-timeout 300)

used() { # PROCESS... -- clock ticks that each has used
    local process
    for process in "$@"; do
        cut -d ' ' -f 14 "/proc/$process/stat" 2>/dev/null || true
    done
}

# Waits until the worker waits in its hanging kernel: it and the process that it asks apart are there, and use no more
# time.
hanging() {
    local i before=
    for ((i = 0; i < 600; i++)); do
        sleep 0.2
        local processes now
        mapfile -t processes < <(workers)
        now=$(used "${processes[@]}")
        [ "${#processes[@]}" != 2 ] || [ -z "$now" ] || [ "$now" != "$before" ] || return 0
        before=$now
    done
    expect 'a worker that waits in its kernel' 'none in 120 s' one
}

# start ARGUMENT... -- gate in the background, as a terminal starts it: a process group of its own, to all of which the
# signals go, and Ctrl-C not ignored. It hangs.
start() {
    rm -rf results out err
    setsid env --default-signal=INT,HUP "$kgate" "$@" >out 2>err &
    run=$!
    hanging
}

# ended -- waits for it; leaves $status.
ended() {
    status=0
    { wait "$run" || status=$?; } 2>/dev/null
}

# partial WHY -- every file is there and says so.
partial() {
    local file
    for file in "${files[@]}"; do
        expect "$1: $file is there" "$([ -e "results/latest/$file" ] && echo yes)" yes
    done
    for file in build_meta.json correctness_summary.json perf_baseline.json; do
        expect "$1: $file says it" "$(jq -r .partial "results/latest/$file")" "$1"
    done
    expect_in "$1: the JUnit file says it" results/latest/junit.xml "<property name=\"partial\" value=\"$1\" />"
    expect_in "$1: the summary says it" results/latest/summary.md "**Partial: $1; "
    expect "$1: no worker is left" "$(workers)" ''
}

# ---- Ctrl-C ----

start run "${three[@]}"
kill -INT -- "-$run"
ended
expect 'Ctrl-C: status' "$status" 4
partial interrupted
expect_in 'Ctrl-C: the terminal says it' out 'partial: interrupted; 2 of 3 cases have no decision'
expect 'Ctrl-C: and last' "$(tail -n 1 out | grep -c ', partial: interrupted$')" 1
expect_in 'Ctrl-C: what was not reached' out '2 not reached: interrupted'
expect_in 'Ctrl-C: what was measured' out '1 passed'

start run "${three[@]}" --format json --allow-undecided
kill -TERM -- "-$run"
ended
expect 'SIGTERM: status, whatever is allowed' "$status" 4
partial interrupted
expect 'SIGTERM: what was right' "$(verdict process/plain/s0/good)" PASS
expect 'SIGTERM: what ran' "$(verdict process/plain/s0/hang)" UNSURE
expect 'SIGTERM: and why' "$(reason process/plain/s0/hang)" \
    'the run was stopped (interrupted) before its output was compared'
expect 'SIGTERM: what did not run is not skipped' "$(verdict process/plain/s0/exits)" UNSURE
expect 'SIGTERM: not all passed' "$(jq .all_pass results/latest/correctness_summary.json)" false

start run "${three[@]}"
kill -HUP -- "-$run"
ended
expect 'SIGHUP: status' "$status" 4
partial interrupted

# A report that nobody reads holds the run up.
mkfifo unread
start run "${three[@]}" --junit unread
kill -INT -- "-$run"
for ((i = 0; i < 600; i++)); do
    [ ! -e results/latest/summary.md ] || break
    sleep 0.05
done
sleep 0.5
expect 'the first Ctrl-C: its report is still to be read' "$(kill -0 "$run" && echo yes)" yes
kill -INT -- "-$run"
ended
expect 'the second Ctrl-C ends it at once' "$status" 130
rm unread

# ---- --timeout ----

gate run "${three[@]}" process/plain/s0/crash --timeout 2 --format json
expect '--timeout: status is that of what was found' "$status" 1
expect '--timeout: what was found' "$(verdict process/plain/s0/crash)" ERROR
expect '--timeout: what ran' "$(verdict process/plain/s0/hang)" UNSURE
partial 'timeout of 2 s'

gate run "${three[@]}" --timeout 1.5 --format tap
expect '--timeout: TAP says it' "$(tail -n 1 out)" '# partial: timeout of 1.5 s'

gate run --module "$broken" process/plain/s0/good --timeout 300
expect '--timeout that is long enough: status' "$status" 0
expect '--timeout that is long enough: nothing is partial' "$(grep -c partial out || true)" 0
expect '--timeout that is long enough: nor in the files' "$(jq -r .partial results/latest/build_meta.json)" ''

# More blocks than fit into the time.
gate run --module "$broken" speed told late/plain/s0/good --timeout 1 --format json
expect 'times: status' "$status" 4
expect 'times: some have no decision' "$(results '[.results[] | select(.stopped)] | length > 0')" true
expect 'times: they are UNSURE' "$(results '[.results[] | select(.stopped) | .verdict] | unique | join(" ")')" UNSURE
expect 'times: and say why' \
    "$(results '[.results[] | select(.stopped) | select(.reason | startswith("the run was stopped (timeout of 1 s) before its ") | not)] | length')" 0

# ---- a bless ----

gate run --bless --allow-dirty --reason test --module "$broken" speed --timeout 2
expect 'bless: status' "$status" 4
expect_in 'bless: says that it did not' err 'kgate: not blessed: the run was stopped (timeout of 2 s)'
expect 'bless: wrote nothing' "$(ls expectations 2>/dev/null)" ''
finish
