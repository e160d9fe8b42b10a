#!/usr/bin/env bash
# selfcheck.sh -- kgate selfcheck on a CPU: blocks are recorded, added to, judged; broken files are refused; floors are
# kept, and a threshold under one is refused by a run.
set -eu -o pipefail
. "$(dirname "$0")/lib.sh"

on=(--module "$broken" speed/plain --seed 0 --backend good)
key=speed/plain/good

# ---- recorded ----

gate selfcheck "${on[@]}" --rounds 3 --shuffle=8 --record blocks.jsonl
expect 'record: status' "$status" 0
expect_in 'record: says so' out 'recorded 3 blocks of 1 cases, 3 rounds'
expect 'record: one line a case' "$(wc -l <blocks.jsonl)" 1
expect 'record: the case' "$(jq -r .key blocks.jsonl)" $key
expect 'record: blocks' "$(jq '.p50 | length' blocks.jsonl)" 3
expect 'record: a planted arm' "$(jq .planted_pct blocks.jsonl)" 50
expect 'record: an anchor' "$(jq 'has("ratio")' blocks.jsonl)" true
expect 'record: eight windows a block' "$(jq '.samples | length' blocks.jsonl)" 24
expect 'record: judges nothing' "$(grep -c SLOW out || true)" 0
expect 'record: no floors' "$(ls cache/kgate/floors.json 2>/dev/null)" ''

gate selfcheck "${on[@]}" --rounds 6 --record blocks.jsonl
expect 'record again: status' "$status" 0
expect 'record again: appended' "$(wc -l <blocks.jsonl)" 2
expect 'record again: another start' "$(jq -r .start blocks.jsonl | sort -u | wc -l)" 2

expect 'record: what a launch is of, on a CPU' "$(jq -s 'map(has("nodes")) | any' blocks.jsonl)" false

gate selfcheck "${on[@]}" --rounds 3 --plant 3 --record planted.jsonl
expect 'record with --plant: the size' "$(jq .planted_pct planted.jsonl)" 300
refused '--plant 4: 0.5, 1, 2, 3 or 5 wanted' selfcheck "${on[@]}" --plant 4 --record planted.jsonl
refused '--plant goes with --record' selfcheck "${on[@]}" --plant 3

gate selfcheck "${on[@]}" --rounds 900 --timeout 5 --record late.jsonl
expect 'record with a timeout: status' "$status" 0
expect_in 'record with a timeout: says so' out 'stopped early'
expect 'record with a timeout: what was measured is there' "$(jq '.blocks > 0' late.jsonl)" true

gate selfcheck --module "$broken" output/plain/s0/zero late/plain/s0/good late/plain/s0/first_only --rounds 3 --record wrong.jsonl
expect 'a wrong case: status' "$status" 1
expect_in 'a wrong case: is left out' err 'kgate: output/plain/s0/zero is left out: its output is wrong'
expect 'a wrong case: the others are recorded' "$(jq -r .key wrong.jsonl)" late/plain/good

# ---- judged ----

gate selfcheck --judge blocks.jsonl
expect 'judge: status' "$status" 0
expect_in 'judge: what it is of' out '9 blocks of 1 cases on 1 card'
expect_in 'judge: two starts' out '2 starts'
expect_in 'judge: the table' out 'false SLOW (95% bound)'
expect_in 'judge: the case' out $key
sed 's/"start":"/&again-/' blocks.jsonl >more.jsonl
gate selfcheck --judge blocks.jsonl --judge more.jsonl
expect_in 'two files add up' out '18 blocks of 1 cases'
cp blocks.jsonl copy.jsonl
refused 'copy.jsonl: line 1: '"$key"' of ' selfcheck --judge blocks.jsonl --judge copy.jsonl

for flaw in 's/"schema":1/"schema":9/' 's/"kind":/"nodes":1.5,&/' 's/"against":/"agianst":/' 's/,"calls".*//'; do
    { cat blocks.jsonl && sed -n 1p blocks.jsonl | sed -e "$flaw"; } >bad.jsonl
    refused 'bad.jsonl: line 3: ' selfcheck --judge bad.jsonl
done
refused 'nowhere.jsonl: No such file' selfcheck --judge nowhere.jsonl
refused 'it does not go with --format json' selfcheck "${on[@]}" --record x.jsonl --format json
refused 'do not go together' selfcheck --judge blocks.jsonl --record more.jsonl
printf '{"schema"' >cut.jsonl
refused 'cut.jsonl: its last line is cut' selfcheck "${on[@]}" --record cut.jsonl
expect 'a cut file is left as it was' "$(cat cut.jsonl)" '{"schema"'

# ---- measured, judged and kept ----

# What would not be measured is refused before the classes are.
refused 'no case matches nix' selfcheck --module "$broken" nix
refused 'no case selected' selfcheck --device cpu '*/*/*/cudnn'
(unset HOME XDG_CACHE_HOME && gate selfcheck "${on[@]}" --timeout 15 && echo "$status" >homeless)
expect 'no folder for floors: status' "$(cat homeless)" 0
expect_in 'no folder for floors: says so' out 'floors are not kept: no folder'

# Others' work on half of the threads and more, of which none of kgate's own is.
work() { while :; do :; done; }
for ((i = 0; i < $(nproc); i++)); do work & done
gate selfcheck "${on[@]}" --rounds 6 # so many leave a floor
expect 'a busy machine: status' "$status" 0
expect_in 'a busy machine: no floors' out 'floors are not kept: load, '
for job in $(jobs -p); do
    kill "$job"
    { wait "$job" || true; } 2>/dev/null
done
expect 'a busy machine: no file' "$(ls cache/kgate/floors.json 2>/dev/null)" ''

for _ in 1 2 3; do # until nobody else is at work
    gate selfcheck "${on[@]}" --rounds 7 # a busy machine may lose a block
    grep -q 'floors are not kept: load' out || break
done
expect 'selfcheck: status' "$status" 0
expect_in 'selfcheck: the classes too' out 'classes/launch/fma_cpu'
expect_in 'selfcheck: the case' out $key
expect_in 'selfcheck: floors are kept' out 'cases kept in'
floors=cache/kgate/floors.json
expect 'floors: of a class, and of the case' \
    "$(jq -r '.floors[].key' $floors | grep -x -e classes/compute/fma_cpu -e $key | tr '\n' ' ')" \
    "classes/compute/fma_cpu $key "
expect 'floors: two standard deviations, or 1%' \
    "$(jq ".floors[] | select(.key == \"$key\") | .floor_pct.against >= 1 and .floor_pct.against >= 199 * .sd.against" \
        $floors)" true

expect 'floors: under what they were found' "$(jq -r ".floors[0].under" $floors | grep -c '^0\.[0-9]* threads of others')" 1
refused "under the noise floor of speed/plain/s0/good" run "${on[@]}" --against "$broken" --threshold 0.5
jq -c . $floors | sed 's/"schema":2/"schema":3/' >changed && cp changed $floors
gate run "${on[@]}"
expect 'floors that cannot be read: status' "$status" 2
expect_in 'floors that cannot be read: named' err 'floors.json: schema 3'
finish
