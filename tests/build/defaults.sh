#!/bin/sh
# defaults.sh -- what a user and an author of a suite read of the default thresholds is what the program has, and no
# other page says it again.
#
#     defaults.sh SOURCE_FOLDER
set -eu

. "$(dirname "$0")/lib.sh"
cd "$1"

default() { # default NAME -- as documents write it: 2 for 2.0
    sed -n "s/^#define KG_$1_PCT \([0-9.]*\).*/\1/p" runner/plan/policy.h | sed 's/\.0*$//'
}
gpu=$(default GPU_THRESHOLD) cpu=$(default CPU_THRESHOLD) creep=$(default CREEP)

pattern='\([0-9.]*\)% on a GPU and \([0-9.]*\)% on a CPU, unless'
expect 'docs/measuring.md: the default thresholds' \
    "$(tr '\n' ' ' <docs/measuring.md | sed -n "s/.*threshold is $pattern.*/\1 \2/p")" "$gpu $cpu"
expect 'docs/deciding.md: the creep budget' "$(tr '\n' ' ' <docs/deciding.md | sed -n 's/.*over it by more than the budget, \([0-9.]*\)% or.*/\1/p')" "$creep"
for member in "regress_pct $gpu" "cpu_regress_pct $cpu" "creep_pct $creep"; do
    expect "include/kgate.h: ${member% *} of 0" \
        "$(sed -n "s,^ *double ${member% *};.* 0: \([0-9.]*\) \*/,\1,p" include/kgate.h)" "${member#* }"
done
expect 'thresholds of a GPU elsewhere' \
    "$(grep -l 'threshold.* [0-9.]*% on a GPU\|by [0-9.]*% on a GPU' README.md docs/*.md docs/kgate.1 | grep -v measuring.md)" ''
finish
