#!/usr/bin/env bash
# duel.sh -- what a golden of another machine cannot settle is judged beside the build that the golden is of. The modules
# are made of tests/modules/pull.c.
set -eu -o pipefail
. "$(dirname "$0")/lib.sh"

sha=0123456789012345678901234567890123456789 plain=pull/plain/s0/kernel
build() { # build NAME -- pull.so is that one
    cp "$modules/pull_$1.so" pull.so
}
against() { # against WHAT STATUS VERDICT REASON OPTION... -- of `plain`, by the golden
    decide $plain --module ./pull.so --expectations goldens pull/plain "${@:5}"
    expect "$1: status" "$status" "$2"
    expect "$1: verdict" "$(verdict $plain)" "$3"
    expect "$1: reason" "$(reason $plain | grep -c -e "$4" || true)" 1
}

build base
bless --module ./pull.so --expectations goldens --git-sha $sha --reason test pull/plain
mkdir -p kept/$sha-1
cp pull.so kept/$sha-1
build slower
against 'on the machine of its golden' 3 SLOW '^p50 .* code changed since the golden\|^duel with .*, code differs' --duel kept
sed -i 's/"uuid": *"[^"]*"/"uuid": "another"/' goldens/expectations_*.json
build base
against 'nothing changed' 0 PASS 'nothing that is launched has changed since the golden$' --duel kept
build knobbed
against 'as fast, in other code' 0 PASS "^duel with ${sha:0:12}: p50 .*, baseline " --duel kept
expect 'judged beside it' "$(results '.results[0].judge')" against
expect 'its other seeds' "$(verdict pull/plain/s1/kernel) $(reason pull/plain/s1/kernel)" "PASS right; time: see $plain"
build slower
against 'slower' 3 SLOW "^duel with ${sha:0:12}: .*, code differs from the baseline's" --duel kept --junit junit.xml
expect_in 'slower: JUnit' junit.xml "message=\"duel with ${sha:0:12}: "
mkdir kept/$sha-0
cp "$modules/pull_knobbed.so" kept/$sha-0/pull.so
against 'beside a build of that commit by other flags' 3 SLOW "^duel with ${sha:0:12}: .*, code differs from the baseline's" --duel kept
rm -r kept/$sha-0
against 'no such place' 4 UNGATED "not duelled: no build of ${sha:0:12}" --duel none
against 'not asked for' 4 UNGATED 'can be compared by ratio only, and the golden has no anchor$'
against 'no time for it' 4 UNGATED 'not duelled: the time for it is spent' --duel kept --budget 0.1

# ---- where the build is found ----

mkdir -p squashed/fedcba9
mv kept/$sha-1/pull.so squashed/fedcba9
against 'a build of its hash' 3 SLOW "^duel with ${sha:0:12}: " --duel kept --duel squashed
cat >find.sh <<'EOF'
#!/bin/sh
echo building "$1"
echo "$1" >asked
echo squashed/fedcba9/pull.so
EOF
chmod +x find.sh
against 'a program that builds it' 3 SLOW "^duel with ${sha:0:12}: " --duel kept --duel ./find.sh
expect 'is asked for the commit' "$(cat asked)" $sha
printf '#!/bin/sh\nexit 1\n' >find.sh
against 'a program that fails' 4 UNGATED 'not duelled: no build of' --duel ./find.sh
printf '#!/bin/sh\nsleep 300\n' >find.sh
SECONDS=0
gate run --format json --module ./pull.so --expectations goldens pull/plain --duel ./find.sh --timeout 5
expect 'a program that hangs: the run ends in time' "$status $((SECONDS < 60))" '4 1'
cat >find.sh <<'EOF'
#!/bin/sh
exec >&-
sleep 300
EOF
SECONDS=0
gate run --format json --module ./pull.so --expectations goldens pull/plain --duel ./find.sh --timeout 5
expect 'a program that says nothing more and hangs: the run ends in time' "$status $((SECONDS < 60))" '4 1'
cat >find.sh <<'EOF'
#!/bin/sh
sleep 300 &
echo $! >left
setsid sh -c 'echo $$ >served; exec sleep 300' &
until [ -s served ]; do sleep 0.01; done
echo squashed/fedcba9/pull.so
EOF
against 'a program that leaves one running' 3 SLOW "^duel with ${sha:0:12}: " --duel ./find.sh --timeout 120
expect 'which ends too' "$(kill -0 "$(cat left)" 2>&1 | grep -c 'No such process')" 1
expect 'but not what left its session, as the server of a cache does' "$(kill "$(cat served)" && echo lives)" lives
mkdir -p kept/$sha-2
echo 'no module' >kept/$sha-2/pull.so
against 'a build that cannot be loaded' 4 UNGATED 'not duelled: --against' --duel kept

# ---- rounds that a duel makes needless ----

held=held/plain/s0/kernel
on=(--module ./held.so --expectations held 'held/*')
cp "$modules/anchor.so" held.so
bless "${on[@]}" --git-sha $sha --reason test
sed -i 's/"uuid": *"[^"]*"/"uuid": "another"/' held/expectations_*.json
mkdir kept_held
cp held.so kept_held
cp "$modules/anchor_10_30.so" held.so
cat >find.sh <<'EOF'
#!/bin/sh
wc -c <loads >loaded
echo kept_held/held.so
EOF
export ANCHOR_LOADS=$PWD/loads
rm -f loads
gate run "${on[@]}" --no-time
without=$(wc -c <loads)
rm -f loads
decide $held "${on[@]}" --duel ./find.sh
expect 'one round, then the duel' "$(verdict $held) $(($(cat loaded) - without))" 'SLOW 1'
expect 'which judges' "$(reason $held | grep -c "^duel with ${sha:0:12}: ")" 1
rm -f loads
decide $held "${on[@]}" --duel none
expect 'without one the golden has its rounds' "$(($(wc -c <loads) - without >= 3))" 1
expect 'and says so' "$(reason $held | grep -c 'code changed since the golden.*; not duelled: no build of')" 1

refused '--duel is of goldens' run --module ./pull.so --duel kept --no-time
finish
