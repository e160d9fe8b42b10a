#!/usr/bin/env bash
# bless.sh -- when a bless is refused, and that one which fails, is killed or meets another loses nothing.
set -eu -o pipefail
. "$(dirname "$0")/lib.sh"

# A repository with one commit, whose name is always the same: many.so says that it was built from it.
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@localhost GIT_AUTHOR_DATE='1000000000 +0000'
export GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@localhost GIT_COMMITTER_DATE='1000000000 +0000'
mkdir repository && cd repository
git init -q -b main .
echo 'a source' >source && git add source && git commit -q -m first
built=$(git rev-parse HEAD)

# A copy of 1,000 numbers takes less than a microsecond; beside the same copy as anchor its ratio is steady anywhere.
one=(--module "$many" many/r999 --seed 0 --backend here "${quick[@]}")

# ---- refused, and nothing written ----

not_blessed() { # not_blessed TEXT ARGUMENT...
    local text=$1
    shift
    rm -rf results
    gate run "${one[@]}" --bless "$@"
    expect "not blessed: $text: status" "$status" 2
    expect_in "not blessed: $text" "$scratch/err" "kgate: $text"
    expect "not blessed: $text: lines on stderr" "$(wc -l <"$scratch/err")" 1
    expect "not blessed: $text: no goldens" "$(ls expectations 2>/dev/null)" ''
}
not_blessed '--bless needs --reason TEXT'
not_blessed '--bless needs --reason TEXT' --reason ''
not_blessed '--reason: at most 200 characters' --reason "$(printf '%0201d' 1)"
not_blessed '--bless needs times' --reason x --no-time
echo 'changed' >source
not_blessed 'cannot bless: the tree at ' --reason x
expect_in 'a modified tree: how to go on' "$scratch/err" 'is modified (commit, or --allow-dirty)'
git checkout -q source
git commit -q --allow-empty -m second
not_blessed "cannot bless: module many was built from ${built:0:12}, not from" --reason x
git reset -q --hard "$built"
not_blessed 'cannot bless: module many was built from' --reason x --git-sha 0123456789
rm -rf .git
not_blessed 'cannot bless: no git repository here' --reason x
git init -q -b main .
not_blessed 'cannot bless: the repository has no commit yet' --reason x
git add source && git commit -q -m first
expect 'the commit is the one of before' "$(git rev-parse HEAD)" "$built"
for option in '--reason x' --prune --reset-best --allow-dirty; do
    # shellcheck disable=SC2086 # words
    refused 'go with --bless' run "${one[@]}" $option
done

# ---- blessed, from a clean tree ----

for try in 1 2 3 4 5 6 7 8; do
    gate run "${one[@]}" --bless --reason 'first: "quotes" \ and é' --format json
    [ "$status" = 4 ] || break
    echo "try $try: too unsteady to bless"
done
expect 'a clean tree: status' "$status" 0
expect_in 'a clean tree: says so' "$scratch/err" 'blessed many/r999/here: '
file=$(echo expectations/expectations_cpu_*.json)
provenance() { # provenance MEMBER -- of the first case
    jq -r ".provenances[.cases[0].provenance].$1" "$file"
}
expect 'a clean tree: commit' "$(provenance git_sha)" "$built"
expect 'a clean tree: dirty' "$(provenance dirty)" false
expect 'a clean tree: branch' "$(provenance branch)" main
expect 'a clean tree: reason' "$(provenance reason)" 'first: "quotes" \ and é'
expect 'a clean tree: the run says that it blessed' "$(jq .blessed "$scratch/out")" true

# ---- a best that is not this card's: it stays where it cannot be compared, and is not forgotten in silence ----

best_is() { # best_is WHAT UUID TEXT -- after a bless that said TEXT of the best, or nothing
    expect "$1: whose best it is" "$(jq -r '.bests[.cases[0].best].uuid' "$file")" "$2"
    expect "$1: what is said" "$(grep "^  the best, " "$scratch/err" | sed 's/.* of [-0-9]* on //')" "$3"
}
edit() { # edit JQ-FILTER -- of the file, which has one golden, and so one entry a table
    jq "$1" "$file" >edited && cat edited >"$file"
}
host=$(jq -r '.cards[].uuid' "$file")
edit '.anchors = {"0": {name: .anchors[].name, identity: "an older one"}} + .anchors
    | .bests[] += {uuid: "elsewhere", anchor: "0"} | .cards[].uuid = "elsewhere"'
bless "${one[@]}" --reason second
best_is 'an anchor that changed' elsewhere 'elsewhere, stays, and cannot be compared with what is blessed here; --reset-best begins anew'
bless "${one[@]}" --reason third --reset-best
best_is '--reset-best' "$host" 'elsewhere, is forgotten: --reset-best'
edit '.bests[] |= . + {uuid: "elsewhere", ratio: (.ratio / 100)} | .cards[].uuid = "elsewhere"'
bless "${one[@]}" --reason fourth
best_is 'a smaller ratio' elsewhere ''
edit '.bests[].ratio *= 10000 | .cases[0].blocks_ratio |= map(. * 10000)'
bless "${one[@]}" --reason fifth
best_is 'a larger ratio' "$host" ''
edit '.bests[].uuid = "elsewhere" | .cards[].uuid = "elsewhere" | .contracts[].window_us = 1'
bless "${one[@]}" --reason sixth
best_is 'another contract' "$host" 'elsewhere, is forgotten: it was timed by another contract'
edit '.bests[].uuid = "elsewhere" | .cards[].uuid = "elsewhere" | .problems[].flops *= 2'
bless "${one[@]}" --reason seventh
best_is 'other work' "$host" 'elsewhere, is forgotten: it was of another problem'
expect 'nothing of what was edited is left' "$(grep -c -e elsewhere -e 'an older one' "$file" || true)" 0
cd "$scratch"

# ---- a failing case: nothing is blessed, nor anything beside it ----

quickly=(--module "$broken" --seed 0 --expectations goldens "${quick[@]}")
hastily=(--module "$broken" --seed 0 --expectations goldens "${hasty[@]}") # may find nothing steady; writes all the same
bless "${quickly[@]}" speed --reason before
before=$(sum goldens)
gate run "${quickly[@]}" speed output/plain/s0/zero --bless --reason after --allow-dirty
expect 'with a failing case: status' "$status" 1
expect_in 'with a failing case' err 'kgate: not blessed: 1 case is wrong, first output/plain/s0/zero'
expect_in 'with a failing case: the command that repeats it blesses' out ' --bless --reason after --allow-dirty output/plain/s0/zero'
expect 'with a failing case: goldens' "$(sum goldens)" "$before"
gate run "${quickly[@]}" speed 'expected/plain/s0/*' --bless --reason 'announced failures' --allow-dirty
expect 'with an announced failure: not refused' "$(grep -c 'not blessed: [0-9]* case' err || true)" 0
gate run --module "$broken" 'expected/plain/s0/*' --bless --reason 'nothing to bless' --allow-dirty --expectations none
expect 'nothing to bless: no file' "$(ls none)" ''
expect 'nothing to bless: does not say that it blessed' "$(grep -c '^blessed' "$scratch/out" || true)" 0

# A reason is kept as it was given, or refused; the file can be read in any case.
for reason in $'two\nlines' $'\ttab' $'\xff not UTF-8' '"' '</script>'; do
    gate run "${quickly[@]}" "speed/*/good" --bless --reason "$reason" --allow-dirty
    expect "reason ${reason@Q}: status" "$([ "$status" = 4 ] && echo 0 || echo "$status")" 0
    gate run "${quickly[@]}" speed --no-time
    expect "reason ${reason@Q}: the file can be read" "$status" 0
done

# ---- a disk that is full ----

# So many goldens that the file is larger than the limit, and takes a while to write.
file=$(echo goldens/expectations_cpu_*.json)
stuff() { # adds goldens of cases that no table has
    jq -c '.cases[0]' "$1" >one.json
    {
        sed -n '1,/^"cases"/p' "$1"
        for ((i = 0; i < 800; i++)); do
            sed "s|\"key\":\"[^\"]*\"|\"key\":\"gone/r$((1000 + i))/good\"|; s|\$|,|" one.json
        done
        sed '1,/^"cases"/d' "$1"
    } >stuffed.json
    mv stuffed.json "$1"
}
stuff "$file"
expect 'many goldens' "$(jq '.cases | length' "$file")" 802
before=$(sum goldens)
(
    trap '' XFSZ # a write past the limit fails, as on a full disk, and does not kill
    ulimit -f 100
    gate run "${hastily[@]}" speed --bless --reason 'on a full disk' --allow-dirty
    expect 'a full disk: status' "$status" 2
    expect 'a full disk: lines on stderr' "$(wc -l <err)" 1
    expect_in 'a full disk' err "kgate: $file cannot be written: File too large"
    exit "$failures"
) || failures=$((failures + 1))
expect 'a full disk: goldens' "$(sum goldens)" "$before"

# ---- killed at any moment ----

# whole WHAT -- nothing of the file is lost, and kgate reads it.
whole() {
    local count
    count=$(jq -r '.cases | length' "$file" 2>&1) || true
    [ "$count" = 802 ] || expect "$1: goldens" "$count" 802
    gate doctor --module "$broken" --expectations goldens
    [ "$status" = 0 ] || expect "$1: status of what reads it" "$status" 0
}
started=$(date +%s%N)
gate run "${hastily[@]}" speed --bless --reason 'how long it takes' --allow-dirty
took_ms=$((($(date +%s%N) - started) / 1000000 + 1))
temporary=$(dirname "$file")/.$(basename "$file" .json).new
caught=0
for ((i = 0; i < 12; i++)); do
    "$kgate" run "${hastily[@]}" speed --bless --reason "killed $i" --allow-dirty >/dev/null 2>&1 &
    run=$!
    if ((i % 2)); then # while it writes
        while [ ! -e "$temporary" ] && kill -0 "$run" 2>/dev/null; do :; done
    else
        sleep "$(printf '0.%03d' $((RANDOM % (took_ms < 999 ? took_ms : 999))))"
    fi
    kill -KILL "$run" 2>/dev/null || true
    wait "$run" 2>/dev/null || true
    [ ! -e "$temporary" ] || caught=$((caught + 1))
    whole "killed, run $i"
    rm -f "$temporary"
done
echo "$caught of 12 were killed while they wrote"
expect 'some were' "$([ $caught -gt 0 ] && echo yes || echo no)" yes
: >"$temporary" # left by one that was killed
bless "${quickly[@]}" speed --reason 'after those'
whole 'after those'
expect 'after those: no temporary file' "$(find goldens -name '*.new')" ''

# ---- two at once ----

for backend in good knobbed; do
    (
        cd "$scratch" && mkdir "of_$backend" && bless "${quickly[@]}" --expectations "$scratch/goldens" \
            --output "of_$backend" "speed/*/$backend" --reason "by $backend" >"of_$backend/log"
        exit "$failures"
    ) &
done
wait -n || failures=$((failures + 1))
wait -n || failures=$((failures + 1))
for backend in good knobbed; do
    expect "two at once: $backend" \
        "$(jq -r ".provenances[.cases[] | select(.key == \"speed/plain/$backend\") | .provenance].reason" "$file")" "by $backend"
done
expect 'two at once: nothing is lost' "$(jq '.cases | length' "$file")" 802
finish
