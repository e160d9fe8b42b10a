#!/usr/bin/env bash
# workflows.sh -- the workflows of this repository are what tests/house/workflows.py wants, and it sees what they must not be.
set -eu -o pipefail
. "$(dirname "$0")/lib.sh"
python3 -c 'import yaml' 2>/dev/null || { echo "python3 has no yaml"; exit 77; }

root=$here/../..
check() { # check WHAT WANTED -- complaints of this copy
    expect "$1" "$(python3 "$root/tests/house/workflows.py" . "$kgate" | sed '/^$/d; s/^[^:]*: //' | sed '$d' | sort -u)" "$2"
}
fresh() {
    rm -rf .github .gitlab-ci.yml ci
    cp -r "$root/.github" "$root/.gitlab-ci.yml" "$root/ci" .
}
broken() { # broken WANTED FILE SED -- a change, and what is said of it
    fresh
    sed -i "$3" "$2"
    check "$1" "$1"
}
fresh
check 'as they are' ''
gate=.github/workflows/gate.yml
broken "a fork's pull request would run on a machine of ours" $gate '/head.repo.full_name/d; s/pull_request. &&/pull_request'"'/"
broken 'a runner that lost its GPU would pass: --require-device cuda' $gate 's/--duel --require-device cuda/--duel/'
broken 'ci/gate knows no --dual' $gate 's/--duel/--dual/'
broken 'ci/gates is no script of ci/' .gitlab-ci.yml 's|ci/gate --no-time|ci/gates --no-time|'
broken 'history is wanted: fetch-depth: 0' .github/workflows/bless.yml '/fetch-depth/d'
broken 'history is wanted: GIT_DEPTH: 0' .gitlab-ci.yml 's/GIT_DEPTH: 0/GIT_DEPTH: 20/'
broken 'two gates of one branch: no concurrency' .github/workflows/nightly.yml '/concurrency/d'
broken 'no timeout-minutes' .github/workflows/nightly.yml '/timeout-minutes/d'
broken 'no key is called continue-on-error' $gate 's/^\( *\)timeout-minutes: 60/&\n\1continue-on-error: true/'
broken 'no key is called allow_failure' .gitlab-ci.yml 's/^  resource_group/  allow_failure: true\n&/'
broken 'no key is called branch' $gate 's/branches: \[main\]/branch: [main]/'
broken 'permissions are read, write or none, not content: read' $gate 's/contents: read/content: read/; s/^permissions:$/permissions: "content: read"/; /^  content: read$/d'
broken 'no function is called alwys' $gate 's/if: always()/if: alwys()/'
broken 'no context is called git' $gate '/if: >-/{n;s/github/git/}'
broken 'sixty is no number of minutes' $gate 's/timeout-minutes: 60/timeout-minutes: sixty/'
broken 'when is not allways' .gitlab-ci.yml 's/when: always/when: allways/'
broken 'what is undecided would pass' $gate 's/--duel --require-device cuda/--allow-undecided &/'
# shellcheck disable=SC2016 # GitLab's variables
broken "a fork's merge request would run on a machine of ours" .gitlab-ci.yml 's/ && $CI_MERGE_REQUEST_SOURCE_PROJECT_ID == $CI_PROJECT_ID//'
finish
