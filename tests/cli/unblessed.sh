#!/usr/bin/env bash
# unblessed.sh -- goldens move by a bless and by nothing else: no run makes one where there is none, none lowers one
# where it was faster, and a new commit puts none out of force.
set -eu -o pipefail
. "$(dirname "$0")/lib.sh"

# Two builds far apart, so that a busy machine is no question: the kernel of the second takes 1.6 times as long.
on=('held/*' --expectations goldens --threshold 20 --case-timeout 120)
one=("${on[@]}" --set n=8192) case=held/plain@n=8192/s0/kernel
fast=(--module "$modules/anchor.so") slow=(--module "$modules/anchor_0_60.so")
first=(--git-sha 1111111111111111111111111111111111111111)
second=(--git-sha 2222222222222222222222222222222222222222)
before=''

unmoved() { # unmoved WHAT -- the goldens are what they were
    expect "$1: goldens" "$(sum goldens)" "$before"
}

# ---- a golden that is missing ----

mkdir goldens
for allowed in '' --allow-undecided=new --allow-undecided ''; do
    # shellcheck disable=SC2086 # none, or one
    gate run --format json "${one[@]}" "${fast[@]}" "${quick[@]}" $allowed
    expect "no golden, ${allowed:-nothing allowed}: status" "$status" "$([ -n "$allowed" ] && echo 0 || echo 4)"
    expect "no golden, ${allowed:-nothing allowed}" "$(verdict $case)" UNGATED
    expect "no golden, ${allowed:-nothing allowed}: none is made" "$(ls -A goldens)" ''
done

gate run "${one[@]}" "${fast[@]}" "${quick[@]}" --expectations mistyped --allow-undecided=new
expect 'a folder that is not there is not new: status' "$status" 4

# ---- a run that is faster ----

bless "${one[@]}" "${slow[@]}" "${first[@]}" --reason 'slow on purpose'
before=$(sum goldens)
decide $case "${one[@]}" "${fast[@]}" "${second[@]}"
expect 'faster: status' "$status" 0
expect 'faster' "$(verdict $case)" FAST
expect 'faster: by less than nothing' "$(results '.results[0].change_pct < -20')" true
unmoved 'faster'
decide $case "${one[@]}" "${slow[@]}" "${second[@]}"
expect 'as slow as was blessed, after a faster run' "$(verdict $case)" PASS
unmoved 'as slow as was blessed'

# ---- another commit ----

bless "${one[@]}" "${fast[@]}" "${first[@]}" --reason 'fast again'
before=$(sum goldens)
expect 'the golden names its commit' "$(jq -r '.provenances[.cases[].provenance].git_sha' goldens/expectations_cpu_*.json)" "${first[1]}"
decide $case "${one[@]}" "${fast[@]}" "${second[@]}"
expect 'another commit: status' "$status" 0
expect 'another commit, as fast' "$(verdict $case)" PASS
expect 'another commit: the run is of it' "$(jq -r .git.sha results/latest/build_meta.json)" "${second[1]}"
decide $case "${one[@]}" "${slow[@]}" "${second[@]}"
expect 'another commit, slower: status' "$status" 3
expect 'another commit, slower' "$(verdict $case)" SLOW
expect 'another commit, slower: by how much' "$(results '.results[0].change_pct > 30')" true
unmoved 'another commit'

# ---- a shape beside the blessed one ----

gate run --format json "${on[@]}" "${fast[@]}" --set n=8192,4096 --allow-undecided=new
expect 'an unknown shape: status' "$status" 4
expect 'an unknown shape' "$(verdict held/plain@n=4096/s0/kernel)" UNGATED
expect 'an unknown shape: the one beside it is judged' "$(results ".results[] | select(.id == \"$case\") | .judge")" ratio
unmoved 'an unknown shape'
finish
