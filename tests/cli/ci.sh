#!/usr/bin/env bash
# ci.sh -- ci/gate, ci/test and .ci/run end as what they call does: nothing that fails in them is lost on the way, also
# where their output goes into a pipe. Meson, the build and kgate are stand-ins that end as they are told.
set -eu -o pipefail
. "$(dirname "$0")/lib.sh"

sources=$here/../..
mkdir -p project/ci project/.ci project/build project/bin && cd project
cp "$sources"/ci/{gate,baseline,test} ci
cp "$sources/.ci/run" .ci

stub() { # stub FILE BODY
    printf '#!/bin/sh\n%s\n' "$2" >"$1"
    chmod +x "$1"
}
# shellcheck disable=SC2016 # the stand-ins' own variables
{
    stub ci/build 'exit "$BUILD"'
    stub ci/sanitize 'echo sanitized; exit "$SANITIZE"'
    stub build/kgate 'echo "a table"; exit "$KGATE"'
    # A log of a line a result, as meson's, or none.
    stub bin/meson '[ -z "$LOG" ] || { mkdir -p build/meson-logs
        for result in $LOG; do echo "{\"name\": \"a\", \"result\": \"$result\"}"; done >build/meson-logs/testlog.json; }
        exit "$MESON"'
}
export PATH=$PWD/bin:$PATH BUILD=0 SANITIZE=0 KGATE=0 MESON=0 LOG=OK

ends() { # ends WHAT WANTED COMMAND... -- with that status, alone and before a pipe
    local what=$1 wanted=$2
    shift 2
    status=0
    "$@" >"$scratch/out" 2>"$scratch/err" || status=$?
    expect "$what: status" "$status" "$wanted"
    status=0
    "$@" 2>&1 | cat >"$scratch/piped" || status=$?
    expect "$what: status, piped" "$status" "$wanted"
}

# ---- ci/gate: kgate's own status ----

for KGATE in 0 1 2 3 4 77; do
    ends "gate, kgate ends with $KGATE" "$KGATE" ci/gate --device cpu
    ends "gate --against a file, kgate ends with $KGATE" "$KGATE" ci/gate --device cpu --against build/kgate
done
KGATE=0
BUILD=1
ends 'gate, the build fails' 125 ci/gate --device cpu
BUILD=0

# ---- ci/test: anything that failed ----

says() { # says WHAT LAST-LINE
    expect "$1: last line" "$(tail -n 1 "$scratch/out")" "$2"
}
LOG='OK SKIP OK EXPECTEDFAIL'
ends 'test, all well' 0 ci/test
says 'test, all well' '3 passed, 0 failed, 1 skipped'
for result in FAIL ERROR TIMEOUT INTERRUPT UNEXPECTEDPASS; do
    LOG="OK $result OK" MESON=1
    ends "test, one $result" 1 ci/test
    says "test, one $result" '2 passed, 1 failed, 0 skipped'
done
MESON=0
ends 'test, a failure that meson did not say' 1 ci/test
LOG=OK MESON=2
ends 'test, meson itself fails' 1 ci/test
says 'test, meson itself fails' '1 passed, 1 failed, 0 skipped'
LOG='' MESON=2
ends 'test, and leaves no log' 1 ci/test
says 'test, and leaves no log' '0 passed, 1 failed, 0 skipped'
LOG=OK MESON=0 BUILD=1
ends 'test, the build fails' 1 ci/test
says 'test, the build fails' '0 passed, 1 failed, 0 skipped'
BUILD=0 SANITIZE=1
ends 'test --full, the sanitizers find something' 1 ci/test --full
ends 'run, the sanitizers find something' 1 .ci/run
SANITIZE=0
ends 'test --full' 0 ci/test --full
expect 'test --full: the sanitizers ran' "$(grep -c '^sanitized' "$scratch/out")" 1
ends 'run' 0 .ci/run
LOG='OK FAIL' MESON=1
ends 'run, one FAIL' 1 .ci/run
finish
