#!/usr/bin/env bash
# lost.sh -- what cannot be judged does not pass: a golden whose case is skipped or gone, one of another contract, none.
set -eu -o pipefail
. "$(dirname "$0")/lib.sh"

on=(--module "$broken" --seed 0 --expectations goldens "${quick[@]}" --threshold 1000)
bless "${on[@]}" speed --reason 'to be lost'
file=$(echo goldens/expectations_cpu_*.json)
cp "$file" good.json

# keyed KEY -- the golden of speed/plain/knobbed, which is the last, gets another key.
keyed() {
    sed "s|\"speed/plain/knobbed\"|\"$1\"|" good.json >"$file"
}

# ---- the case is skipped ----

keyed speed/plain/refuses # in the order of keys; no case of the suite has it
sed -i 's|speed/plain/good|skipped/plain/refuses|; s|speed/plain/refuses|speed/plain/knobbed|' "$file"
gate run "${on[@]}" skipped --format json --junit junit.xml
expect 'skipped: status' "$status" 4
expect 'skipped' "$(verdict skipped/plain/s0/refuses)" LOST
expect 'skipped: reason' "$(reason skipped/plain/s0/refuses)" \
    'golden exists, but the case was skipped: refuses every problem'
expect_in 'skipped: an error in JUnit' junit.xml '<error '
gate run "${on[@]}" skipped --allow-undecided
expect 'skipped, allowed: status' "$status" 0
gate run "${on[@]}" skipped --no-time
expect 'skipped, without timing: status' "$status" 4

# ---- its launch refuses ----

bless --module "$modules/order_base.so" order/one --expectations refused "${quick[@]}" --threshold 1000 --reason 'to be refused'
gate run --module "$modules/order_refuses.so" order/one --expectations refused --no-time --format json
expect 'launch refused: status' "$status" 4
expect 'launch refused' "$(verdict order/one/s0/kernel)" LOST
expect 'launch refused: reason' "$(reason order/one/s0/kernel)" \
    'golden exists, but the case was skipped: takes no problem any more'

# ---- the row is gone ----

keyed speed/vanished/good
gate run "${on[@]}" speed --format json
expect 'row gone: status' "$status" 4
expect 'row gone' "$(verdict speed/vanished/good)" LOST
expect 'row gone: the case beside it' "$(verdict speed/plain/s0/good)" PASS
gate run "${on[@]}" speed --allow-undecided --exclude '*/knobbed'
expect 'row gone, allowed: status' "$status" 0
gate run "${on[@]}" speed/plain/s0/good
expect 'row gone, not selected: status' "$status" 0
gate run "${on[@]}" speed --exclude '*/knobbed' --exclude 'speed/vanished/*'
expect 'row gone, excluded: status' "$status" 0
gate run "${on[@]}" speed --backend knobbed --allow-undecided --format json
expect 'row gone, another backend: no result' "$(verdict speed/vanished/good)" ''

keyed vanished/plain/good
gate run "${on[@]}" --format json --exclude 'process/*' --exclude 'expected/*' --no-time
expect 'suite gone' "$(verdict vanished/plain/good)" LOST
gate run "${on[@]:0:2}" --expectations goldens --format json 'output/*' '*/s1/*' --exclude 'process/*' --no-time
expect 'suite gone, another seed than 0' "$(verdict vanished/plain/good)" LOST
gate run "${on[@]:0:2}" --expectations goldens --format json speed --exclude '*/s0/*' --no-time
expect 'suite gone, not selected' "$(verdict vanished/plain/good)" ''
keyed speed/plain/vanished
gate run "${on[@]}" speed --format json
expect 'backend gone' "$(verdict speed/plain/vanished)" LOST

# ---- pruning is a bless ----

keyed speed/vanished/good
gate run "${on[@]}" speed --bless --reason 'without pruning' --allow-dirty
expect 'blessed without --prune: the lost one stays' "$(jq '[.cases[].key] | index("speed/vanished/good") != null' "$file")" true
expect 'blessed without --prune: status' "$status" 4
for try in 1 2 3 4 5 6 7 8; do
    gate run "${on[@]}" speed --bless --prune --reason 'the row was dropped' --allow-dirty
    [ "$status" = 4 ] || break
    echo "try $try: too unsteady to bless"
done
expect 'pruned: status' "$status" 0
expect 'pruned: goldens' "$(jq -r '[.cases[].key] | join(" ")' "$file")" 'speed/plain/good speed/plain/knobbed'
gate run "${on[@]}" speed
expect 'pruned, gated: status' "$status" 0

# ---- the table times it no longer, or expects it to fail ----

bless --module "$modules/pull_base.so" pull/plain --expectations pulled "${quick[@]}" --threshold 1000 --reason 'to be disowned'
pulled=(pull/plain/s0 --expectations pulled "${quick[@]}" --threshold 1000 --format json)
for change in untimed:off excused:failure pardoned:failure; do
    gate run --module "$modules/pull_${change%:*}.so" "${pulled[@]}"
    expect "$change: status" "$status" 4
    expect "$change" "$(verdict pull/plain/s0/kernel)" LOST
    expect "$change: reason" "$(reason pull/plain/s0/kernel | grep -c "^golden exists, but the table .* ${change#*:}" || true)" 1
    gate run --module "$modules/pull_${change%:*}.so" "${pulled[@]}" --no-time
    expect "$change, nothing timed" "$(verdict pull/plain/s0/kernel)" LOST
done
for device in cpu auto; do # the second finds no GPU, and says so of the case itself
    CUDA_VISIBLE_DEVICES='' gate run --module "$modules/pull_moved.so" "${pulled[@]}" --no-time --device $device
    expect "for a GPU, --device $device: status" "$status" 4
    expect "for a GPU, --device $device" "$(results '[.results[] | select(.verdict == "LOST")] | length')" 1
done
gate run --module "$modules/pull_base.so" "${pulled[@]}" --no-time
expect 'as it was' "$(verdict pull/plain/s0/kernel)" PASS
gate run --module "$modules/pull_untimed.so" pull/plain --expectations pulled --bless --allow-dirty --reason 'not timed any more'
expect 'untimed, not pruned: status' "$status" 4
gate run --module "$modules/pull_untimed.so" pull/plain --expectations pulled --bless --allow-dirty --prune --reason 'not timed any more'
expect 'untimed, pruned: status' "$status" 0
gate run --module "$modules/pull_untimed.so" pull/plain --expectations pulled
expect 'untimed, without a golden: status' "$status" 0

# ---- another contract, or none ----

cp good.json "$file"
stale() { # stale WHAT REASON OPTION...
    local what=$1 text=$2
    shift 2
    gate run --module "$broken" --seed 0 --expectations goldens speed/plain/s0/good --format json "$@"
    expect "$what: status" "$status" 4
    expect "$what" "$(verdict speed/plain/s0/good)" UNGATED
    expect "$what: reason" "$(reason speed/plain/s0/good | grep -c -F "$text" || true)" 1
    gate run --module "$broken" --seed 0 --expectations goldens speed/plain/s0/good "$@" --allow-undecided
    expect "$what, allowed: status" "$status" 0
    expect "$what: said on the terminal" "$(grep -c '^1) .*stale: the golden' "$scratch/out" || true)" \
        "$([ -f "$file" ] && echo 1 || echo 0)" # where no golden is there, one line at the end says it of all
}
stale 'golden by windows, run by events' 'stale: the golden was timed by loop of calls, warm L2, windows of ' "${hasty[@]}"
stale 'golden of warm caches, run cold' 'this run by event, cold L2' "${hasty[@]}" --l2 cold
rm "$file"
stale 'no golden' 'no golden on this architecture' "${quick[@]}"
gate run "${on[@]}" speed --no-time
expect 'no golden, nothing timed: status' "$status" 0
finish
