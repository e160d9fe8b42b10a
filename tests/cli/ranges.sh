#!/usr/bin/env bash
# ranges.sh -- what a profiler is told of a case: NVTX ranges of its phases, written down by tests/modules/nvtx_recorder.c.
# They are there for cases that fail, are skipped or end their worker, and without a tool nothing is made.
set -eu -o pipefail
. "$(dirname "$0")/lib.sh"

[ -f "$modules/nvtx_recorder.so" ] || { echo 'this build has no NVTX: its header was not found'; exit 77; }
export NVTX_RECORD=$scratch/record

# watched ARGUMENT... -- gate with the recorder as a tool. Leaves `recorded`: "CASE NAME" of each range in the order in
# which they were closed, "NAME > NAME" where one lies in another, with "open" behind what never was.
watched() {
    rm -f "$NVTX_RECORD" wrong
    NVTX_INJECTION64_PATH=$modules/nvtx_recorder.so gate "$@"
    awk '
        $4 != "kgate" { print "of another domain: " $0 >"wrong" }
        $2 == "push" {
            id[$1, $3] = $NF
            name[$1, $3] = $3 > 1 ? name[$1, $3 - 1] " >" : ""
            for (i = 5; i < NF; i++)
                name[$1, $3] = name[$1, $3] " " $i
            depth[$1] = $3
            if (id[$1, 1] != $NF)
                print "in the range of another case: " $0 >"wrong"
        }
        $2 == "pop" && $3 == 0 { print "pops nothing: " $0 >"wrong" }
        $2 == "pop" && $3 > 0 {
            print id[$1, $3] name[$1, $3]
            depth[$1] = $3 - 1
        }
        END {
            for (thread in depth)
                for (; depth[thread] > 0; depth[thread]--)
                    print id[thread, depth[thread]] name[thread, depth[thread]] " open"
        }' "$NVTX_RECORD" >recorded
    expect "$1 $2: what ranges must not do" "$(cat wrong 2>/dev/null)" ''
}
ranges() { # ranges CASE -- joined by commas
    sed -n "s,^$1 ,,p" recorded | paste -s -d , | sed 's/,/, /g'
}
kinds() { # those that are there, whatever the case and how often
    sed 's/^[^ ]* //' recorded | sort -u | paste -s -d , | sed 's/,/, /g'
}
found() { # verdicts, and reasons but of what was timed and right
    echo "$status"
    results '.results[] | .id + " " + .verdict + " " + if .verdict == "UNGATED" then "" else .reason end' |
        sed 's/a call takes .* us on/a call takes longer on/; s/before, .*/before/'
}

# ---- cases that are right, wrong, refused, die or are wrong when they are timed ----

mixed=(run 'output/plain/*' 'process/plain/s0/*' 'late/*' --exclude '*/knows_*' --module "$broken" --case-timeout 2 --format json "${hasty[@]}")
gate "${mixed[@]}"
found >alone
expect 'without a tool nothing is recorded' "$(ls "$NVTX_RECORD" 2>/dev/null)" ''
watched "${mixed[@]}"
found >beside
expect 'a tool changes no result' "$(diff alone beside)" ''
expect 'there are results' "$(grep -c ' FAIL ' beside) $(grep -c ' SKIP ' beside) $(grep -c ' UNGATED ' beside)" '8 1 1'

# What is right and not timed is called once more, on inputs with a reference of their own.
checked='prepare, correctness > the reference, correctness'
again='prepare, correctness > the reference, correctness > the reference, correctness'
for id in $(results '.results[] | select(.id | startswith("output/")) | .id'); do
    wanted=$checked
    [ "$(verdict "$id")" != PASS ] || wanted=$again
    expect "$id" "$(ranges "$id")" "$wanted"
done
for flaw in overrun underrun input error; do
    expect "$flaw" "$(ranges "process/plain/s0/$flaw")" 'prepare, correctness'
done
expect 'refused' "$(ranges process/plain/s0/refuses)" 'prepare'
for flaw in crash hang exits; do
    expect "$flaw" "$(ranges "process/plain/s0/$flaw")" 'prepare, correctness open'
done
expect 'nothing else is left open' "$(grep -c ' open$' recorded)" 3

# The first round has a reference of other inputs; after it nothing is compared that has the same bits.
timed='prepare, correctness, timing > the reference, timing > the reference, timing' # of other inputs, and of inputs of this run
for flaw in good remembers leaves marks first_only; do
    expect "late, $flaw" "$(ranges "late/plain/s0/$flaw")" "$checked, $timed"
done
# ---- what a backend says of itself ----

watched run 'compiled/*' --module "$modules/compiled.so" --no-time
expect 'a part of preparing' "$(ranges compiled/row/s0/made)" 'prepare > compile, '"$again"
rm -rf "${XDG_CACHE_HOME:-$HOME/.cache}/kgate"
PART_STAYS_OPEN=1 watched run 'compiled/*' --module "$modules/compiled.so" --no-time
expect 'a part ends with its phase' "$(ranges compiled/row/s0/made)" \
    'prepare > compile, prepare > link, '"$again"

# ---- what is done besides ----

watched run output/plain/s0/good --module "$broken" --repeat 3
expect '--repeat' "$(ranges output/plain/s0/good)" \
    'prepare, correctness > the reference, correctness > the repeated launches, correctness > the reference, correctness'
watched selfcheck --gates --module "$broken" 'some_calls/*'
expect 'selfcheck --gates' "$(kinds)" 'correctness, correctness > the reference, prepare'

# By these seeds the baseline is first in one run, and second in the other.
for seed in 1 2; do
    watched run order/one/s0/kernel --module "$modules/order_other.so" --against "$modules/order_base.so" \
        --shuffle="$seed" --rounds 3 --threshold 1000 --format json
    expect "--against, seed $seed" "$(kinds)" "correctness, correctness > the baseline's launch, \
correctness > the reference, prepare, prepare > the baseline's prepare, timing, timing > the baseline's launch, \
timing > the reference"
    expect "--against, seed $seed: a range a block" "$(grep -c ' timing$' recorded)" "$(results '.results[].blocks | length')"
done
watched run order/one/s0/kernel --module "$modules/order_base.so" --against "$modules/order_fails.so" --rounds 3
expect 'a baseline that fails' "$(ranges order/one/s0/kernel)" \
    "$checked, prepare > the baseline's prepare, prepare, correctness > the baseline's launch, correctness"
finish
