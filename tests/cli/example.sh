#!/usr/bin/env bash
# example.sh -- README's walk: the example's own module is gated, blessed, slowed down by a knob, and gated again.
set -eu -o pipefail
. "$(dirname "$0")/lib.sh"

on=(--module "$(dirname "$modules")/../examples/saxpy.so" --expectations goldens)
case=saxpy/in_cache/s1/plain

gate list "${on[@]:0:2}"
cases=
for seed in s1 s1-poison s1-outliers s1-sparse; do
    cases+="saxpy/in_cache/$seed/plain saxpy/in_cache/$seed/reference_loop "
done
expect 'its cases' "$(tr '\n' ' ' <"$scratch/out")" "$cases"
expect 'under 60 lines' "$(($(wc -l <"$here/../../examples/saxpy.c") < 60))" 1
decide $case "${on[@]}"
expect 'no golden yet: status' "$status" 4
expect 'no golden yet' "$(verdict $case)" UNGATED
bless "${on[@]}" --reason 'first times'
decide $case "${on[@]}" --knob repeat=2
expect 'slowed down: status' "$status" 3
expect 'slowed down' "$(verdict $case)" SLOW
decide $case "${on[@]}"
expect 'as it was: status' "$status" 0
expect 'as it was' "$(verdict $case)" PASS
finish
