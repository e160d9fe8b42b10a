#!/usr/bin/env bash
# gate.sh -- ci/gate --against REF in a small repository of its own: a baseline is built once a commit, from the commit.
# The module is pull.c; what a commit makes of it stands in its meson.build.
set -eu -o pipefail
. "$(dirname "$0")/lib.sh"
command -v meson >/dev/null || { echo "meson is not installed"; exit 77; }

sources=$here/../..
mkdir -p repository/ci repository/include && cd repository
cp "$sources"/ci/{gate,baseline} ci
cp "$sources/include/kgate.h" include
cp "$sources/tests/modules/pull.c" .
cat >ci/build <<END
#!/bin/sh -e
exec >&2
[ -f build/build.ninja ] || meson setup build
meson compile -C build
mkdir -p build/tools
echo '#define KG_BUILD_FLAGS "some"' >build/tools/kg_build.h
cp "$kgate" build/kgate
END
chmod +x ci/build
cat >meson_options.txt <<'END'
option('git_sha', type: 'string', value: '')
option('archs', type: 'array', value: ['80', '90a'])
END
printf 'build/\nresults/\n' >.gitignore
is() { # is CHANGE -- the work tree becomes pull.c with that change
    cat >meson.build <<END
project('pull', 'c', default_options: ['optimization=2'])
shared_module('attention', 'pull.c', name_prefix: '', include_directories: 'include',
  dependencies: meson.get_compiler('c').find_library('m', required: false), c_args: '-DPULL=PULL_$1')
END
}
git init -q -b trunk
git config user.name A
git config user.email a@example.org
is BASE
git add . && git commit -q -m base
git tag base

against() { # against REF OPTION... -- leaves $status, and what was said in $scratch/err
    status=0
    ci/gate --device cpu --no-time --against "$@" >"$scratch/out" 2>"$scratch/err" || status=$?
}
built() { # built WHAT COUNT -- baselines made by the last call
    expect "$1: baselines built" "$(grep -c '^baseline: building' "$scratch/err" || true)" "$2"
}
baselines=$XDG_CACHE_HOME/kgate/baselines

against HEAD
expect 'the commit itself: status' "$status" 0
built 'the commit itself' 1
expect 'kept by its SHA, and nothing else' "$(cd "$baselines" && find . -type f | sed 's|-.*/|/|')" \
    "./$(git rev-parse HEAD)/attention.so"
against base
expect 'again, by another name: status' "$status" 0
built 'again' 0

is LOOSE
against HEAD
expect 'not committed, wrong: status' "$status" 1
built 'not committed' 0
is DROPPED
git commit -q -a -m dropped
against HEAD~1
expect 'a case dropped: status' "$status" 4
built 'a case dropped' 0
expect_in 'a case dropped: said' "$scratch/out" 'the baseline has this case, the candidate does not'
against "$(git rev-parse base)" --allow-removed pull
expect 'allowed, by SHA: status' "$status" 0
against HEAD
expect 'the new commit: status' "$status" 0
built 'the new commit' 1
status=0
ci/gate --device cpu --no-time --against=./build/attention.so >"$scratch/out" 2>"$scratch/err" || status=$?
expect 'a module file: status' "$status" 0

echo '#error broken' >>pull.c
git commit -q -a -m broken
git checkout -q base -- pull.c
against HEAD
expect 'a commit that does not build: status' "$status" 2
expect_in 'a commit that does not build: said' "$scratch/err" 'baseline: HEAD does not build here'
expect 'nothing else is kept' "$(find "$baselines" -mindepth 1 -maxdepth 1 | wc -l)" 2
against nosuch
expect 'no such commit: status' "$status" 2
expect_in 'no such commit: said' "$scratch/err" 'baseline: no commit nosuch here'
against HEAD --module build/attention.so
expect 'another module: status' "$status" 2
finish
