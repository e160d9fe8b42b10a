#!/usr/bin/env bash
# order.sh -- which of two builds is prepared and launched first: a coin's choice in every block, and nothing lies between
# their first launches. Whose fault it is where one cannot be launched. The builds are made of tests/modules/order.c.
set -eu -o pipefail
. "$(dirname "$0")/lib.sh"

# By this seed the first three rounds have both orders of each row, and the first round one order of each.
seed=(--shuffle=1 --rounds 3 --threshold 1000)

against() { # against BUILD CANDIDATE -- what both told is then in `blocks`, a line for each block with a baseline
    gate run --format json --module "$modules/order_$2.so" --against "$modules/order_$1.so" "${seed[@]}"
    awk '$1 == "order:" { if (!(($2, $3) in told)) { block[++n] = $2 SUBSEP $3; told[$2, $3] = $3 ":" }
                          told[$2, $3] = told[$2, $3] " " $4 " " $5 "," }
         END { for (i = 1; i <= n; i++) print told[block[i]] }' results/latest/workers.log |
        grep 'base.*other\|other.*base' >blocks || true
}
others() { # others PATTERN -- blocks that are otherwise
    grep -v -c -E -e "^[a-z]+: $1" blocks || true
}
orders() { # orders ROW -- which builds are first in some block of it
    sed -n "s/^$1: \([a-z]*\) prepares.*/\1/p" blocks | sort -u | paste -s -d ' '
}

# ---- two builds that work ----

against base other
expect 'every block has told' "$(wc -l <blocks)" "$(results '[.results[].block_list | length] | add')"
expect 'three blocks of each row' "$([ "$(wc -l <blocks)" -ge 6 ] && echo yes)" yes
expect 'both are prepared before either is launched' "$(others '(base prepares, other|other prepares, base) prepares, ')" 0
expect 'the one prepared first is launched first, the other next' \
    "$(others '([a-z]+) prepares, ([a-z]+) prepares, \1 launches, \2 launches,')" 0
expect 'then the case is checked' "$(others '.*(base launches, other|other launches, base) launches, other launches,')" 0
expect 'both orders occur' "$(orders one), $(orders two)" 'base other, base other'
expect 'each row has a coin of its own' "$(head -n 2 blocks | sed 's/^[a-z]*: //' | sort -u | wc -l)" 2

# ---- one that cannot be launched, whether it is first or second ----

at_fault() { # at_fault BASELINE CANDIDATE REASON
    against "$1" "$2"
    expect "$2 against $1: status" "$status" 1
    expect "$2 against $1: both orders" "$(cut -d ' ' -f 2 blocks | sort | paste -s -d ' ')" 'base other'
    for row in one two; do
        expect "$2 against $1, $row" "$(verdict order/$row/s0/kernel)" ERROR
        expect "$2 against $1, $row: why" "$(reason order/$row/s0/kernel)" "$3"
    done
}
at_fault fails base 'the baseline: the launch was refused'
at_fault base fails 'the launch was refused'
at_fault base crashes 'the worker died: signal 11 (Segmentation fault) during correctness'
at_fault crashes base "the worker died: signal 11 (Segmentation fault) during the baseline's launch"
finish
