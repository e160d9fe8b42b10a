#!/usr/bin/env bash
# output.sh -- what a run leaves and prints, as other tools read it: files, JUnit, TAP, JSON, the log, the link.
set -eu -o pipefail
. "$(dirname "$0")/lib.sh"

sources=$here/../..
one=output/plain/s0/good
skips=() # what could not be looked at, for want of a tool

junit() { # junit FILE -- holds to the schema, and names are unique
    local rc=0
    sh "$sources/tests/reports/check_junit.sh" "$1" >log 2>&1 || rc=$?
    if [ $rc = 77 ]; then
        skips+=(xmllint)
        return 0
    fi
    expect "$1 holds to the schema: $(paste -s -d ' ' log)" "$rc" 0
    local names
    names=$(xmllint --xpath '//testcase/@classname | //testcase/@name' "$1" | paste -d ' ' - - | sort)
    expect "$1: names are unique" "$(uniq -d <<<"$names")" ''
    expect "$1: testcases" "$(wc -l <<<"$names")" "$2"
}

# ---- the files of a run with every kind of verdict that a CPU can have ----

gate run --module "$broken" 'output/*' 'late/*' 'skipped/*' 'expected/*' elsewhere --device auto "${hasty[@]}" \
    --junit junit.xml --format json --case-timeout 20
expect 'all kinds: status' "$status" 1
expect 'all kinds: verdicts' "$(results '[.counts | to_entries[] | select(.value > 0) | .key] | sort | join(" ")')" \
    'ERROR FAIL PASS SKIP UNGATED XFAIL XPASS'
cases=$(results '.results | length')
run=$(echo results/2*)
for file in build_meta.json correctness_summary.json perf_baseline.json samples.jsonl junit.xml comparison.csv \
    comparison.md summary.md workers.log; do
    expect "$file is there" "$([ -s "$run/$file" ] && echo yes)" yes
done
expect 'no temporary files' "$(find results -name '.*.new' -o -name 'latest.*')" ''
expect 'results/latest' "$(readlink results/latest)" "$(basename "$run")"
expect 'the run id' "$(results .run_id)" "$(basename "$run")"
cp out all.json
for file in build_meta correctness_summary perf_baseline; do
    expect "$file.json is JSON" "$(jq -e 'type' "$run/$file.json")" '"object"'
done
expect 'samples.jsonl is a value a line' "$(jq -c '[.id, .us] | length' "$run/samples.jsonl" | sort -u)" 2
expect 'samples.jsonl has every sample' "$(wc -l <"$run/samples.jsonl")" \
    "$(jq '[.results[].block_list[]? | (.samples_us | length) + (.anchor_samples_us | length)] | add' all.json)"
expect 'comparison.csv has a line a case, and a head' "$(wc -l <"$run/comparison.csv")" $((cases + 1))
expect_in 'summary.md: single calls have no windows' "$run/summary.md" '| timer | event, L2 warm |'
junit "$run/junit.xml" "$cases"
junit junit.xml "$cases"

# ---- fields that others read ----

has() { # has FILE FILTER FIELD... -- every object of FILTER has all fields
    local file=$1 filter=$2
    shift 2
    expect "$(basename "$file"), $filter: $*" \
        "$(jq -r --args "[$filter | . as \$o | \$ARGS.positional[] | select(. as \$name | \$o | has(\$name) | not)] | join(\" \")" "$@" <"$file")" ''
    expect "$(basename "$file"), $filter: there is one" "$(jq "[$filter] | length > 0" "$file")" true
}
has "$run/build_meta.json" . timestamp build git device ptxas
has "$run/build_meta.json" .build toggles arch flags
has "$run/build_meta.json" .git sha branch dirty
has "$run/build_meta.json" .device name cuda_version sm_version
has "$run/correctness_summary.json" . results all_pass
has "$run/correctness_summary.json" '.results[] | select(.compared)' shape seed max_abs_err mean_abs_err max_rel_err \
    pct_bad gates pass n
has "$run/correctness_summary.json" '.results[] | select(.compared) | .gates' max_abs_err_pass mean_abs_err_pass \
    pct_bad_pass
has "$run/perf_baseline.json" '.results[]' shape seed warmup_iters timed_iters p50_us p90_us mean_us std_us iters_per_sec

# ---- a run that passes ----

gate run --module "$broken" 'output/*/good' elsewhere --format tap
expect 'TAP, all pass: status' "$status" 0
cp out good.tap
gate run --module "$broken" 'output/*' 'process/plain/s0/error' 'expected/plain/s0/*' --format tap
expect 'TAP, failures: status' "$status" 1
cp out bad.tap
for tap in 'good.tap 0' 'bad.tap 17'; do
    rc=0
    # shellcheck disable=SC2086 # two words
    sh "$sources/tests/reports/check_tap.sh" $tap >log 2>&1 || rc=$?
    if [ $rc = 77 ]; then
        skips+=(prove)
    else
        expect "prove agrees with ${tap% *} about its failures" "$rc" 0
    fi
done
rm -rf results
gate run --module "$broken" $one --output elsewhere_altogether
expect '--output' "$(ls elsewhere_altogether/latest/junit.xml)" elsewhere_altogether/latest/junit.xml
expect '--output: and nothing else' "$([ -e results ] && echo there)" ''
mkdir there
for folder in not/yet/there there/not/yet/ "$scratch//not/now/."; do
    gate run --module "$broken" $one --output "$folder"
    expect "--output $folder: status" "$status" 0
    expect "--output $folder" "$(ls "$folder/latest/junit.xml" || true)" "$folder/latest/junit.xml"
done
expect '--output: mode of the folders above it' "$(stat -c %a not not/yet not/yet/there | uniq)" "$(stat -c %a there)"
junit elsewhere_altogether/latest/junit.xml 1
expect_in 'text: the case' out 'plain/s0  good'
expect_in 'text: the sum' out '1 passed, 0 skipped of 1'
expect 'text: no colour in a file' "$(grep -c $'\033' out || true)" 0
gate run --module "$broken" $one --color always
expect 'text: colour when asked for' "$([ "$(grep -c $'\033' out || true)" -gt 0 ] && echo yes)" yes
expect 'stderr of a run that passes' "$(cat err)" ''

# ---- a failure ends in the command that repeats it ----

gate run --module "$broken" output/plain/s0/one_off
again=$(sed -n "s#^ *again: $kgate ##p" out | head -n 1)
expect 'a failure says how to see it again' "$([ -n "$again" ] && echo yes)" yes
status=0
bash -c "\"\$0\" $again" "$kgate" >out 2>err || status=$?
expect 'and that does' "$status" 1
expect_in 'with the worst element' out 'y[32768]: got 2.14506, expected 1.94506'

# ---- stopping early, order ----

gate run --module "$broken" 'process/*' --case-timeout 2 --fail-fast --format json
expect '--fail-fast: status' "$status" 1
expect '--fail-fast: one failed' "$(results '[.counts.ERROR, .counts.FAIL] | add')" 1
expect '--fail-fast: the rest did not pass' "$(results '.counts.PASS < 2 and .counts.SKIP > 10')" true
expect '--fail-fast: and says so' "$(results '[.results[] | select(.reason | test("fail-fast"))] | length > 10')" true
order() { # the order in which a run took its cases, those of another length each: they print as they are called
    gate run --module "$broken" told --set n=100,200,300,400,500,600,700,800 "${hasty[@]}" --shuffle="$1" --jobs 1
    expect "--shuffle=$1: recorded" "$(jq .shuffle_seed results/latest/build_meta.json)" "$1"
    sed -n 's/a kernel of \([0-9]*\) prints.*/\1/p' results/latest/workers.log | uniq | paste -s -d ' ' >"order$2"
}
order 7 1
order 7 2
order 8 3
table='100 200 300 400 500 600 700 800'
expect 'correctness goes by the table' "$(cut -d ' ' -f 1-8 order1)" "$table"
expect 'rounds do not' "$([ "$(cut -d ' ' -f 9-16 order1)" != "$table" ] && echo yes)" yes
expect 'rounds are all cases' "$(cut -d ' ' -f 9-16 order1 | tr ' ' '\n' | sort | paste -s -d ' ')" "$table"
expect 'the same seed, the same order' "$(cat order2)" "$(cat order1)"
expect 'another seed, another order' "$(cmp -s order1 order3 && echo same || echo other)" other
gate run --module "$broken" $one --format json
expect 'a seed is recorded when none is given' "$(results '.shuffle_seed > 0')" true

# ---- two runs within a second get a folder each; a link that cannot be made is no failure ----

rm -rf results
for _ in 1 2 3; do
    gate run --module "$broken" $one
done
expect 'three runs, three folders' "$(find results -mindepth 1 -type d | wc -l)" 3
rm results/latest && mkdir results/latest
gate run --module "$broken" $one
expect 'a folder called latest: status' "$status" 0
expect 'a folder called latest: is left alone' "$(find results/latest* | wc -l)" 1

# ---- OpenMP's threads sleep where nothing is timed, unless the user has it otherwise ----

waits() { # waits ARGUMENT... -- each worker's, as its backend tells the log
    rm -rf results
    gate run --module "$modules/compiled.so" "$@"
    sed -n 's/^threads wait: //p' results/latest/workers.log | paste -s -d ,
}
unset OMP_WAIT_POLICY
expect 'untimed' "$(waits --no-time)" passive
expect 'as the user wants it' "$(OMP_WAIT_POLICY=active waits --no-time)" active
expect 'timed in later workers' "$(waits "${hasty[@]}" | cut -d , -f 1-2)" 'passive,as they are'

if [ ${#skips[@]} -gt 0 ] && [ "$failures" = 0 ]; then
    echo "not looked at, as these are not installed: ${skips[*]}"
    exit 77
fi
finish
