#!/usr/bin/env bash
# compiled.sh -- a kernel that was compiled when it was prepared is known by its code in identity and golden, its
# resources are in the reports, and spills that its golden does not have are FAIL.
set -eu -o pipefail
. "$(dirname "$0")/lib.sh"

on=(--module "$modules/compiled.so" --expectations goldens --threshold 1000)
id=compiled/row/s0/made
figures() { # figures FILE
    jq -c ".launches[] | select(.id == \"$id\") | .compiled[0] |
        [.name, .code_hash, .compiler, .registers, .spill_store_bytes, .compile_ms, .cache_hit]" "$1"
}

gate run "${on[@]}" --no-time --format json
expect 'status' "$status" 0
expect 'compiled now' "$(figures out)" '["made","00000000000000c0","none 1.0",40,0,12.5,false]'
expect 'in build_meta.json too' "$(figures results/latest/build_meta.json)" "$(figures out)"
expect 'its code is in the identity' \
    "$(grep -c '^compiled/row/s0/made,.*,module code [0-9a-f]*; made:00000000000000c0,' results/latest/comparison.csv)" 1
gate run "${on[@]}" --no-time --format json
expect 'from the cache' "$(figures out)" '["made","00000000000000c0","none 1.0",40,0,0,true]'

bless "${on[@]}" "${quick[@]}" --reason 'to be held against'
code=$(jq -c '.codes[]' goldens/expectations_cpu_*.json)
expect_in 'the golden has compiler and resources' <(echo "$code") \
    '"pin":"","compiler":"none 1.0","registers":40,"spill_bytes":0}'
expect 'and no time of compiling' "$(grep -c -e compile_ms -e cache_hit goldens/expectations_cpu_*.json)" 0

rm -rf cache
gate run "${on[@]}" "${quick[@]}" --format json
expect 'after several processes' "$(figures out)" '["made","00000000000000c0","none 1.0",40,0,12.5,false]'
expect 'the same code' "$(results '.results[0].same_code')" true
CODE=00000000000000c1 gate run "${on[@]}" "${quick[@]}" --format json
expect 'changed code' "$(results '.results[0].same_code')" false

SPILLS=64 gate run "${on[@]}" --no-time --format json
expect 'more spills: status' "$status" 1
expect 'more spills' "$(verdict "$id"): $(reason "$id")" 'FAIL: spills of compiled kernels, bytes 0 -> 64'
SPILLS=64 bless "${on[@]}" "${quick[@]}" --reason 'it must be'
SPILLS=64 gate run "${on[@]}" --no-time
expect 'blessed: status' "$status" 0
SPILLS=63 gate run "${on[@]}" --no-time
expect 'fewer: status' "$status" 0
finish
