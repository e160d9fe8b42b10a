#!/usr/bin/env bash
# chosen.sh -- `auto` says which backend it became, is that backend's case, and has no golden of its own: one kernel is
# never measured under two names as if they were two.
set -eu -o pipefail
. "$(dirname "$0")/lib.sh"

on=(--module "$modules/chosen.so" --expectations goldens --threshold 1000)
became() { # became SHAPE BACKEND
    results ".results[] | select(.id == \"chosen/$1/s0/$2\") | .resolved_backend"
}
golden_us() { # golden_us BACKEND -- what its long row was judged by
    results ".results[] | select(.id == \"chosen/long/s0/$1\") | .golden_us"
}

# ---- what it became ----

gate run "${on[@]}" --no-time --format json
expect 'status' "$status" 0
expect 'auto, a long row' "$(became long auto)" picky
expect 'auto, a short row' "$(became short auto)" plain
expect 'others are themselves' "$(became long plain)" plain
expect 'auto, in comparison.csv' "$(grep -c '^chosen/short/s0/auto,.*,auto,plain,' results/latest/comparison.csv)" 1
expect 'no candidate takes it' "$(verdict chosen/long/s0/nothing)" SKIP
expect 'no candidate takes it: why' "$(reason chosen/long/s0/nothing)" 'no candidate runs here: refuses: takes nothing'
gate run "${on[@]}" --no-time
expect_in 'the terminal names both' out 'auto (picky)'
expect_in 'the terminal names both, a short row' out 'auto (plain)'

# ---- whose golden judges it ----

bless "${on[@]}" chosen/long --backend auto,picky,plain "${quick[@]}" --reason 'to be looked up'
file=$(echo goldens/expectations_cpu_*.json)
expect 'none is of auto' "$(jq -r '[.cases[].key] | join(" ")' "$file")" 'chosen/long/picky chosen/long/plain'
gate run "${on[@]}" chosen/long --backend auto,picky,plain "${quick[@]}" --format json
expect 'judged: status' "$status" 0
expect 'judged: auto by the golden of what it became' "$(golden_us auto)" "$(golden_us picky)"
expect 'judged: which is not the other' "$([ "$(golden_us picky)" != "$(golden_us plain)" ] && echo differ)" differ

# ---- what it was runs no more ----

PICKY_TAKES=9000 gate run "${on[@]}" chosen/long/s0/auto "${quick[@]}" --format json
expect 'passed over: status' "$status" 4
expect 'passed over' "$(verdict chosen/long/s0/auto)" LOST
reason chosen/long/s0/auto >why
expect_in 'passed over: why' why 'became plain; picky, which stands before it and has a golden'

# ---- what it became has no golden ----

sed -i '/"chosen\/long\/picky"/d' "$file"
gate run "${on[@]}" chosen/long/s0/auto "${quick[@]}" --format json
expect 'without one: status' "$status" 4
expect 'without one' "$(verdict chosen/long/s0/auto)" UNGATED
finish
