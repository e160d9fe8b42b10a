#!/usr/bin/env bash
# patience.sh -- what --case-timeout counts: a reference has one of its own. The launch of tests/modules/pull.c's
# `patient` takes 10 ms, so that timing takes 2 s; a reference takes 3 s, the one on other inputs too.
set -eu -o pipefail
. "$(dirname "$0")/lib.sh"

patient() { # patient SECONDS
    gate run --format json --module "$modules/pull_patient.so" pull/plain/s0 --timer event --warmup 50 --samples 150 \
        --case-timeout "$1"
}
patient 4.2
expect 'each by itself is in time' "$(verdict pull/plain/s0/kernel): $(reason pull/plain/s0/kernel)" \
    'UNGATED: right; no golden on this architecture'
patient 2.5
expect 'a reference is not: status' "$status" 1
expect 'a reference is not' "$(reason pull/plain/s0/kernel)" 'hangs: no progress in 2.5 s during the reference'
finish
