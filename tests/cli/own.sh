#!/usr/bin/env bash
# own.sh -- the gate before a merge, in a repository of a user's own: a module of one C file and a command that builds it.
# Against another commit, by goldens and duels, and in a bisect. The lines are those of .github/workflows/gate.yml, for a CPU.
set -eu -o pipefail
. "$(dirname "$0")/lib.sh"
command -v "${CC:-cc}" >/dev/null || exit 77
sources=$(realpath "$here/../..")

# kgate as it is installed: the scripts beside it.
mkdir -p installed/bin installed/share/kgate/ci repository
cp "$sources"/ci/{gate,baseline,bisect} installed/share/kgate/ci
ln -s "$kgate" installed/bin/kgate
ci=$PWD/installed/share/kgate/ci
cd repository
cp "$sources/tests/modules/pull.c" "$sources/include/kgate.h" .
echo 'mine.so
results/
kgate.xml' >.gitignore
cat >build.sh <<END
#!/bin/sh -e
${CC:-cc} -shared -fPIC -O2 -DPULL=\$(cat change) pull.c -o mine.so -lm
END
mkdir below && touch below/kept
git init -q -b main
git config user.name A && git config user.email a@example.org
commit() { # commit MESSAGE CHANGE -- as PULL_CHANGE of pull.c
    echo "PULL_$2" >change
    git add . && git commit -q -m "$1"
}
commit base BASE

# The workflow's own lines, but that this runner has no GPU and one case is enough.
line() { # line JOB
    sed -n "/^  $1:/,/^  [a-z]/s/^ *- run: ci\/gate //p" "$sources/.github/workflows/gate.yml" |
        sed 's/--require-device cuda/--device cpu/'
}
run() { # run JOB OPTION... -- until it is decided
    local try job=$1
    shift
    for try in 1 2 3 4 5; do
        status=0
        eval "$(printf '%q ' "$ci/gate" --module mine.so --build 'sh build.sh' "$@") $(line "$job") pull/plain" >"$scratch/out" 2>"$scratch/err" || status=$?
        [ "$status" = 4 ] || break
        grep -q UNSURE "$scratch/out" || break
        echo "try $try: undecided"
    done
}
export GITHUB_BASE_REF=main GITHUB_STEP_SUMMARY=$scratch/summary.md
git update-ref refs/remotes/origin/main main

git checkout -q -b fine
commit 'as fast' KNOBBED
run against-base
expect 'as fast: status' "$status" 0
git checkout -q -b slow main
commit '30% slower' SLOWER
run against-base
expect '30% slower: status' "$status" 3
expect_in '30% slower: the case' "$scratch/out" 'pull/plain/s0/kernel: p50'
expect_in '30% slower: JUnit' kgate.xml 'type="SLOW"'
expect_in '30% slower: for the reviewer' "$GITHUB_STEP_SUMMARY" 'pull/plain/s0/kernel'
git checkout -q -b wrong main
commit wrong LOOSE
run against-base
expect 'wrong: status' "$status" 1
expect 'baselines: one commit' "$(find "$XDG_CACHE_HOME/kgate/baselines" -name mine.so | wc -l)" 1

# ---- a command that builds something else ----

own() { # own COMMAND -- status and message of the gate with it
    status=0
    "$ci/gate" --module mine.so --build "$1" --device cpu --no-time pull/plain >"$scratch/out" 2>"$scratch/err" "${@:2}" || status=$?
}
own 'mkdir -p elsewhere'
expect 'an old module is left: status' "$status" 125
expect_in 'an old module is left: why' "$scratch/err" "left no mine.so"
rm -rf "$XDG_CACHE_HOME/kgate/baselines"
own "${CC:-cc} -shared -fPIC -O2 -DPULL=\$(cat $PWD/change) -I$PWD $PWD/pull.c -o mine.so -lm" --against main
expect 'sources of this tree: status' "$status" 2
expect_in 'sources of this tree: why' "$scratch/err" 'makes mine.so where no sources are'
own "cd $PWD && sh build.sh" --against main
expect 'this tree in the place of the other: status' "$status" 2
expect_in 'this tree in the place of the other: why' "$scratch/err" 'makes mine.so of this tree'
expect 'the module is there again' "$(echo mine.so*)" mine.so
for bad in '--against' '--build' '--module'; do
    status=0
    "$ci/gate" "$bad" >"$scratch/out" 2>"$scratch/err" || status=$?
    expect "$bad without a value: status" "$status" 2
done
status=0
env -u HOME -u XDG_CACHE_HOME "$ci/gate" --module mine.so --build 'sh build.sh' --against main >"$scratch/out" 2>"$scratch/err" || status=$?
expect 'no place for builds: status' "$status" 2
expect_in 'no place for builds: why' "$scratch/err" 'neither is set'
KGATE_SUMMARY=$scratch/nowhere/summary.md own 'sh build.sh'
expect 'a summary that cannot be written: the verdict stands' "$status" 4
own 'sh build.sh' --against main --duel
expect 'by goldens and by a build: status' "$status" 2
own 'sh build.sh' --against main # kept
cd below
echo 'cd .. && sh build.sh && mv mine.so below' >build.sh # which main has not
own 'sh build.sh' --against main
expect "in a folder of the repository: what is kept is another's" "$status" 2
rm build.sh
own 'cd .. && sh build.sh && mv mine.so below' --against main
expect 'in a folder of the repository: a wrong kernel' "$status" 1
cd ..

# ---- by goldens of another machine, whose commit was squashed ----

git checkout -q -b blessed main
sha=$(git rev-parse HEAD)
sh build.sh
bless --module ./mine.so pull/plain --git-sha "$sha" --reason test
sed -i 's/"uuid": *"[^"]*"/"uuid": "another"/' expectations/*.json
rm -rf "$XDG_CACHE_HOME/kgate/baselines"
commit goldens KNOBBED
run goldens
expect 'goldens, as fast: status' "$status" 0
expect_in 'goldens, as fast: a duel' results/latest/correctness_summary.json "duel with ${sha:0:12}: "
commit slower SLOWER
run goldens
expect 'goldens, 30% slower: status' "$status" 3
expect_in 'goldens, 30% slower: the case' "$scratch/out" "pull/plain/s0/kernel: duel with ${sha:0:12}: p50"
gone=ffffffffffffffffffffffffffffffffffffffff
sed -i "s/$sha/$gone/" expectations/*.json
commit squashed SLOWER
rm -rf "$XDG_CACHE_HOME/kgate/baselines"
status=0
KGATE_BUILD='sh build.sh' KGATE_MODULE=mine.so "$ci/baseline" $gone >"$scratch/out" 2>"$scratch/err" || status=$?
expect 'a commit that is gone: the one that brought its goldens' "$(sed 's|.*/\([0-9a-f]*\)-.*|\1|' "$scratch/out")" "$(git rev-parse HEAD)"

# ---- bisect ----

status=0
"$ci/bisect" main --module mine.so --build 'sh build.sh' --devise cpu pull/plain >"$scratch/out" 2>&1 || status=$?
expect 'bisect: an option that is none: git stops' "$status" 128
git checkout -q -B history main
for i in 1 2 3; do git commit -q --allow-empty -m "as fast $i"; done
echo 'not C' >>pull.c && git commit -qam 'does not build'
git checkout -q main pull.c && git commit -qm 'builds again'
commit culprit SLOWER
culprit=$(git rev-parse HEAD)
for i in 4 5; do git commit -q --allow-empty -m "as slow $i"; done
for try in 1 2 3; do # a step that is not decided is skipped
    git bisect reset >/dev/null 2>&1
    git bisect start history main >/dev/null 2>&1
    git bisect run "$ci/bisect" main --module mine.so --build 'sh build.sh' --device cpu pull/plain >"$scratch/out" 2>&1 || true
    [ "$(git rev-parse refs/bisect/bad)" != "$culprit" ] || break
    echo "try $try: $(git rev-parse refs/bisect/bad)"
done
expect 'bisect: the commit' "$(git rev-parse refs/bisect/bad)" "$culprit"
finish
