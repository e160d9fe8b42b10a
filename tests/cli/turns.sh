#!/usr/bin/env bash
# turns.sh -- two runs on one device take turns, and the one that waits says so.
set -eu -o pipefail
. "$(dirname "$0")/lib.sh"

mkdir first second
now_ms() {
    echo $(($(date +%s%N) / 1000000))
}

# The first holds the device for as long as its hanging kernel is waited for.
(
    cd first
    "$kgate" run --module "$broken" process/plain/s0/hang process/plain/s0/good --case-timeout 3 >out 2>err || true
    now_ms >ended
) &
for ((i = 0; i < 1200; i++)); do
    ! compgen -G 'first/results/*/workers.log' >/dev/null || break # it has the device
    sleep 0.05
done
expect 'the first runs' "$([ -e first/ended ] && echo over || echo yes)" yes
status=0
(cd second && "$kgate" run --module "$broken" output/plain/s0/good >out 2>err) || status=$?
ended=$(now_ms)
wait
expect 'the second: status' "$status" 0
expect 'the second says that it waits, and for whom' "$(grep -c -E \
    '^kgate: another run \(pid [0-9]+: kgate run .*\) has this device; waiting$' second/err)" 1
expect 'the second ended after the first' "$([ "$ended" -ge "$(cat first/ended)" ] && echo yes)" yes
expect_in 'the second did what it was to do' second/out '1 passed'
expect_in 'so did the first' first/out '1 error'

# Listing needs no device, and waits for none.
(
    cd first && rm -f ended
    "$kgate" run --module "$broken" process/plain/s0/hang --case-timeout 2 >out 2>err || true
    : >ended
) &
sleep 0.5
gate list --module "$broken"
expect 'kgate list does not wait' "$([ -e first/ended ] && echo waited || echo no)" no
wait

# A run that was killed leaves nothing that would hold up the next.
"$kgate" run --module "$broken" process/plain/s0/hang --case-timeout 100 >/dev/null 2>&1 &
run=$!
for ((i = 0; i < 1200; i++)); do
    ! compgen -G 'results/*/workers.log' >/dev/null || break
    sleep 0.05
done
kill -KILL "$run"
{ wait "$run" || true; } 2>/dev/null
started=$(now_ms)
gate run --module "$broken" output/plain/s0/good
expect 'after a killed run: status' "$status" 0
expect 'after a killed run: is not held up for its time limit' "$([ $(($(now_ms) - started)) -lt 60000 ] && echo yes)" yes
finish
