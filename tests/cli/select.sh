#!/usr/bin/env bash
# select.sh -- what is selected: patterns, backends, seeds, sweeps, shards, devices; and list says so without a driver.
set -eu -o pipefail
. "$(dirname "$0")/lib.sh"

# selects WHAT "ID..." ARGUMENT... -- list says these ids, in this order; and with --format json the same.
selects() {
    local what=$1 wanted=$2
    shift 2
    gate list --module "$broken" "$@"
    expect "$what" "$(paste -s -d ' ' out)" "$wanted"
    gate list --module "$broken" "$@" --format json
    expect "$what, as JSON" "$(jq -r '[.[].id] | join(" ")' out)" "$wanted"
}

speed='speed/plain/s0/good speed/plain/s0/knobbed speed/plain/s1/good speed/plain/s1/knobbed'
selects 'an id' speed/plain/s0/good speed/plain/s0/good
selects 'a suite by its name' "$speed" speed
selects 'a leading part' 'speed/plain/s1/good speed/plain/s1/knobbed' speed/plain/s1
selects 'a leading part with a star' 'speed/plain/s1/good speed/plain/s1/knobbed' 'speed/*/s1'
selects 'no leading part, only the start of one' 'late/plain/s0/good late/plain/s0/first_only late/plain/s0/remembers late/plain/s0/leaves late/plain/s0/knows late/plain/s0/knows_last late/plain/s0/knows_two late/plain/s0/knows_often late/plain/s0/knows_soon late/plain/s0/knows_half late/plain/s0/knows_place late/plain/s0/knows_past late/plain/s0/marks' late
selects 'a star' "$speed" 'speed/*'
selects 'a bracket' 'speed/plain/s1/good' 'speed/plain/s[!0]/good'
selects 'a question mark' 'speed/plain/s0/good speed/plain/s1/good' 'speed/plain/s?/good'
selects 'two patterns' 'speed/plain/s0/good late/plain/s0/good' 'late/*/good' speed/plain/s0/good
selects 'excluded' 'speed/plain/s0/good speed/plain/s0/knobbed' speed --exclude '*/s1/*'
selects 'excluded twice' 'speed/plain/s0/good' speed --exclude speed/plain/s1 --exclude '*/knobbed'
selects 'a backend' 'speed/plain/s0/knobbed speed/plain/s1/knobbed' --backend knobbed
selects 'two backends' "$speed" speed --backend knobbed,good
selects 'a seed that the suite lacks' 'speed/plain/s77/good speed/plain/s77/knobbed' speed --seed 77
selects 'two seeds' 'late/plain/s5/good late/plain/s3/good' 'late/*/good' --seed 5,3
selects 'the largest seed' late/plain/s18446744073709551615/good 'late/*/good' --seed 18446744073709551615
selects 'a field' 'speed/plain@n=1024/s0/good' 'speed/*/s0/good' --set n=1024
selects 'a sweep' 'speed/plain@n=1024/s0/good speed/plain@n=2048/s0/good' 'speed/*/s0/good' --set n=1024,2048
selects 'a sweep of two' \
    'speed/plain@n=1,std=0.5/s0/good speed/plain@n=1,std=2/s0/good speed/plain@n=2,std=0.5/s0/good speed/plain@n=2,std=2/s0/good' \
    'speed/*/s0/good' --set n=1,2 --set std=.5,2.0
selects 'one of a sweep' 'speed/plain@n=2048/s0/good' 'speed/plain@n=2048/s0/good' --set n=1024,2048
selects 'the GPU' elsewhere/plain/s0/on_gpu --device cuda
selects 'the CPU' elsewhere/plain/s0/good elsewhere --device cpu
selects 'both' 'elsewhere/plain/s0/on_gpu elsewhere/plain/s0/good' elsewhere

# ---- what there is to choose from ----

gate list --module "$broken" 'speed/*' 'late/*/good' --verbose
expect 'of which suites' "$(grep -v '^ ' out)" 'speed
late'
expect_in 'their op' out '  op         series   y = x + x/2 + x/4 + ...'
expect 'a field, its range and meaning' "$(grep -c -e '^  --set      n=1...67108864   elements$' out)" 2
expect_in 'a backend' out '  --backend  knobbed'
expect_in 'its knob' out '    --knob   extra_pct=0...1000   more work, in per cent'
gate list 'flex_attention/*' --verbose
expect_in 'words, and what they mean' out '  --set      dtype=f32|f16|bf16|e4m3   of q, k, v and o: f16 or bf16'
expect_in 'a variable' out '  variable   DOC_SPAN=doc_span'
expect 'each regime once' "$(grep -e '--regime' out | sort | uniq -d)$(grep -c -e '  --regime   k32   K is 32 times normal' out)" 1

# ---- what JSON says of a case ----

gate list --module "$broken" 'speed/*/s1/good' elsewhere --set n=1024 --format json
expect 'a case as JSON' "$(jq -c '.[0]' out)" "$(jq -c . <<'END'
{ "id": "speed/plain@n=1024/s1/good", "suite": "speed", "shape": "plain@n=1024", "seed": 1, "regime": "normal", "backend": "good",
  "device": "cpu", "timed": true, "problem": { "n": 1024, "std": 1 } }
END
)"
gate list --module "$broken" 'late/plain/*/good' --seed 18446744073709551615 --format json
expect 'the largest seed as JSON, which jq would round' "$(grep -c '"seed":[[:space:]]*18446744073709551615,' out)" 1

# ---- a run runs what list says ----

ran() { # ran WHAT ARGUMENT...
    local what=$1
    shift
    gate list --module "$broken" "$@" && cp out listed
    gate run --module "$broken" --no-time --case-timeout 20 "$@" --format json
    expect "$what" "$(results '.results[].id')" "$(cat listed)"
}
ran 'run: a suite' speed
ran 'run: a sweep' 'output/*/good' --set n=1000,77
ran 'run: seeds' 'late/*/good' --seed 5,3
ran 'run: a device' elsewhere --device cpu
gate run --module "$broken" 'output/*/s0/good' --set n=77 --no-time --format json
expect 'run: the field that was swept' "$(results '[.results[].n] | unique | join(" ")')" 77
gate run --module "$broken" elsewhere --format json
expect 'a case for a GPU is skipped: status' "$status" 0
expect 'a case for a GPU is skipped' "$(verdict elsewhere/plain/s0/on_gpu)" SKIP
expect 'and it says why' "$([ -n "$(reason elsewhere/plain/s0/on_gpu)" ] && echo yes)" yes

# ---- shards ----

gate list --module "$broken" && sort out >all
for count in 2 3 7; do
    : >parts
    for ((shard = 1; shard <= count; shard++)); do
        gate list --module "$broken" --shard "$shard/$count"
        sed 's|/s[0-9]*/[a-z_]*$||' out | sort -u >"shapes$shard"
        cat out >>parts
        [ "$status" = 0 ] || expect "shard $shard of $count: status" "$status" 0
    done
    expect "$count shards are all cases, each once" "$(sort parts | cmp - all && echo yes)" yes
    # A suite's rows for the GPU and for the CPU share a name, but no fixture.
    sort shapes[1-"$count"] | uniq -d | grep -v '^elsewhere/' >'split' || true
    expect "$count shards split no shape" "$(cat 'split')" ''
    rm shapes*
done
# A shard of rows for the CPU alone chooses no other device than the whole run, whose rows for the GPU are numbered too.
on=(--module "$broken" elsewhere 'output/*/good' 'speed/*/s0/good' --no-time --format json)
gate run "${on[@]}"
results '.results[].id' | sort >all
for count in 2 3 4; do
    : >parts
    for ((shard = 1; shard <= count; shard++)); do
        gate run "${on[@]}" --shard "$shard/$count"
        [ "$status" = 2 ] || results '.results[].id' >>parts # empty, where a GPU leaves few
    done
    expect "$count shards run what a whole run does, each once" "$(sort parts | cmp - all && echo yes)" yes
done
gate run --module "$broken" 'output/*/good' --shard 2/2 --format json
expect 'a shard runs' "$(results '[.results[].id] | join(" ")')" output/faint/s0/good
gate run --module "$broken" output/plain/s0/good --shard 2/2
expect 'an empty shard: status' "$status" 2
expect 'an empty shard: a line says why' "$(wc -l <err)" 1

# ---- without a driver ----

expect 'kgate is linked with nothing of CUDA' "$(ldd "$kgate" | grep -c -i -E 'cuda|cudnn|cublas|nvidia|nvrtc' || true)" 0
for command in --version --help "list --module $broken" doctor; do
    [ "$command" != doctor ] || command="doctor --module $broken"
    # shellcheck disable=SC2086 # words
    CUDA_VISIBLE_DEVICES='' LD_LIBRARY_PATH='' gate $command
    expect "${command%% *}: status" "$status" 0
    expect "${command%% *}: stderr" "$(cat err)" ''
    expect "${command%% *}: says something" "$([ -s out ] && echo yes)" yes
done
gate --version
expect 'version' "$(grep -c -E '^kgate [0-9]+\.[0-9]+\.[0-9]+' out)" 1
finish
