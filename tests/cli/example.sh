#!/usr/bin/env bash
# example.sh -- README's walk: the example's own module is gated, blessed, slowed down by a knob, and gated again.
set -eu -o pipefail
. "$(dirname "$0")/lib.sh"

on=(--module "$(dirname "$modules")/../examples/saxpy.so" --expectations goldens)
case=saxpy/in_cache/s1/plain

# A machine may be too busy to decide, which is UNSURE and never another verdict: asked again, then.
walk() {
    local try
    for try in 1 2 3 4 5; do
        gate run "${on[@]}" --format json "$@"
        [ "$status" = 4 ] || break
        [ "$(verdict $case)" = UNSURE ] || break
        echo "try $try: $(reason $case)"
    done
}

gate list "${on[@]:0:2}"
expect 'its cases' "$(tr '\n' ' ' <"$scratch/out")" "$case saxpy/in_cache/s1/reference_loop "
expect 'at most 60 lines' "$(($(wc -l <"$here/../../examples/saxpy.c") <= 60))" 1
walk
expect 'no golden yet: status' "$status" 4
expect 'no golden yet' "$(verdict $case)" UNGATED
bless "${on[@]}" --reason 'first times'
walk --knob repeat=2
expect 'slowed down: status' "$status" 3
expect 'slowed down' "$(verdict $case)" SLOW
walk
expect 'as it was: status' "$status" 0
expect 'as it was' "$(verdict $case)" PASS
finish
