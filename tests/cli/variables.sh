#!/usr/bin/env bash
# variables.sh -- environment variables that a suite declares set fields as --set does: in ids, in what workers compute, and
# in what the files say of it; where they say what a row says anyway, its golden judges.
set -eu -o pipefail
. "$(dirname "$0")/lib.sh"
unset BLOCK_SIZE DOC_SPAN TORCH_COMPILE_MODE

on=(--module "$modules/variables.so" --expectations goldens "${quick[@]}" --threshold 1000)

# lists WHAT "SHAPE..." ARGUMENT...
lists() {
    local what=$1 wanted=$2
    shift 2
    gate list --module "$modules/variables.so" "$@"
    expect "$what" "$(sed 's|^sums/||; s|/s0/kernel$||' out | paste -s -d ' ')" "$wanted"
}
# computed -- what kernels of the last run were given, by the log.
computed() {
    sed -n 's/.*sums of //p' results/latest/workers.log | sort -u | paste -s -d ';'
}

# ---- ids ----

lists 'none is set' 'long short'
BLOCK_SIZE='' lists 'an empty one' 'long short'
BLOCK_SIZE=32 lists 'a number' 'long@block_size=32 short@block_size=32'
TORCH_COMPILE_MODE=max-autotune lists 'a choice' 'long@compile_mode=max-autotune short@compile_mode=max-autotune'
TORCH_COMPILE_MODE=default lists 'the choice that rows have' 'long short'
DOC_SPAN=32 lists 'the value of one row' 'long@doc_span=32 short'
DOC_SPAN=0 lists 'a zero' 'long short@doc_span=0'
DOC_SPAN=16 BLOCK_SIZE=128 lists 'two, in the order of the table' 'long@block_size=128,doc_span=16 short@doc_span=16'
BLOCK_SIZE=64,128 lists 'a sweep' 'long long@block_size=128 short@block_size=64 short'
BLOCK_SIZE=32 lists '--set wins' 'long@block_size=64 short@block_size=64' --set block_size=64
BLOCK_SIZE=32 lists 'beside --set' 'long@block_size=32,doc_span=8' sums/long --set doc_span=8
BLOCK_SIZE=256 lists 'what does not fit another row' 'long@block_size=256' sums/long

# ---- what is refused ----

BLOCK_SIZE=abc refused 'kgate: BLOCK_SIZE=abc: block_size=abc is not an integer' run "${on[@]}"
BLOCK_SIZE=8 refused 'kgate: BLOCK_SIZE=8: block_size=8 is outside 16 to 256' run "${on[@]}"
BLOCK_SIZE=64,64 refused 'kgate: BLOCK_SIZE=64,64: block_size=64 stands twice' run "${on[@]}"
BLOCK_SIZE=256 refused 'kgate: BLOCK_SIZE=256: suite sums, row short@block_size=256: block_size does not divide n' run "${on[@]}"
TORCH_COMPILE_MODE=fast refused 'kgate: TORCH_COMPILE_MODE=fast: compile_mode=fast is none of default, ' list --module "$modules/variables.so"
DOC_SPAN=-1 refused 'kgate: DOC_SPAN=-1: doc_span=-1 is outside' selfcheck sums --module "$modules/variables.so"

# ---- what is computed, and what is said of it ----

gate run "${on[@]}" --no-time --format json
expect 'none is set: nothing is said' "$(results '[.environment, (.results[].environment | values)] | tojson')" '[{}]'
expect 'none is set: computed' "$(computed)" 'long: 64 0 default;short: 128 32 default'
BLOCK_SIZE=32 DOC_SPAN=32 TORCH_COMPILE_MODE=reduce-overhead gate run "${on[@]}" --no-time --format json
expect 'all three: status' "$status" 0
expect 'all three: computed' "$(computed)" 'long: 32 32 reduce-overhead;short: 32 32 reduce-overhead'
expect 'all three: what changed' "$(results '[.results[].environment] | join(" ")')" \
    'BLOCK_SIZE=32,DOC_SPAN=32,TORCH_COMPILE_MODE=reduce-overhead BLOCK_SIZE=32,TORCH_COMPILE_MODE=reduce-overhead'
expect 'all three: fields' "$(results '[.results[].compile_mode] | unique | join(" ")')" reduce-overhead
expect 'build_meta.json' "$(jq -c .environment results/latest/build_meta.json)" \
    '{"BLOCK_SIZE":"32","DOC_SPAN":"32","TORCH_COMPILE_MODE":"reduce-overhead"}'
expect 'correctness_summary.json' "$(jq -r '.results[1].environment' results/latest/correctness_summary.json)" \
    'BLOCK_SIZE=32,TORCH_COMPILE_MODE=reduce-overhead'
BLOCK_SIZE=32 DOC_SPAN=16,32 gate run "${on[@]}" sums/long --set block_size=16 --no-time --format json
expect '--set wins: computed' "$(computed)" 'long: 16 16 default;long: 16 32 default'
expect '--set wins: what changed' "$(results '[.results[].environment] | join(" ")')" 'DOC_SPAN=16 DOC_SPAN=32'
expect '--set wins: the run' "$(jq -c .environment results/latest/build_meta.json)" '{"DOC_SPAN":"16,32"}'
DOC_SPAN=16 gate list --module "$modules/variables.so" sums/short --format json
expect 'list says which field each sets' "$(jq -c '.[0] | [.variables, .environment]' out)" \
    '[{"BLOCK_SIZE":"block_size","DOC_SPAN":"doc_span","TORCH_COMPILE_MODE":"compile_mode"},"DOC_SPAN=16"]'
DOC_SPAN=16 gate run --module "$modules/variables.so" --against "$modules/variables.so" --no-time --format json
expect 'against: status' "$status" 0
expect 'against: both builds' "$(results '[.results[].shape] | join(" ")')" 'long@doc_span=16 short@doc_span=16'

# ---- goldens ----

bless "${on[@]}" --reason 'rows as they are'
DOC_SPAN=32 gate run "${on[@]}" --no-time --format json
expect 'rows that a variable changes are not LOST: status' "$status" 0
expect 'rows that a variable changes are not LOST' "$(results .counts.LOST)" 0
sed -i 's|"sums/short/kernel"|"sums/vanished/kernel"|' goldens/expectations_*.json
DOC_SPAN=32 gate run "${on[@]}" --no-time --format json
expect 'a row that is gone is' "$(verdict sums/vanished/kernel)" LOST
sed -i 's|"sums/vanished/kernel"|"sums/short/kernel"|' goldens/expectations_*.json
DOC_SPAN=32 decide sums/short/s0/kernel "${on[@]}"
expect 'the value of a row: its golden judges' "$(verdict sums/short/s0/kernel)" PASS
expect 'another value: no golden' "$(verdict sums/long@doc_span=32/s0/kernel)" UNGATED
DOC_SPAN=32 gate run "${on[@]}"
expect_in 'another value: the line that blesses sets it' out 'to make them: DOC_SPAN=32 '
DOC_SPAN=32 bless "${on[@]}" sums/long --reason 'and with a span'
DOC_SPAN=32 decide sums/long@doc_span=32/s0/kernel "${on[@]}"
expect 'another value, blessed' "$(verdict sums/long@doc_span=32/s0/kernel)" PASS
DOC_SPAN=32 gate leaderboard --module "$modules/variables.so" --expectations goldens --format json
expect 'the leaderboard has it' "$(jq -r '[.boards[].shape] | join(" ")' out)" 'long@doc_span=32 short'
gate run "${on[@]}" --no-time --format json
expect 'and nobody expects it back' "$(results '[.results[].id] | join(" ")')" 'sums/long/s0/kernel sums/short/s0/kernel'
finish
