#!/usr/bin/env bash
# parity.sh -- sdpa_parity without a GPU: the grid of cases is whole for every backend of the GPU, its CPU cases pass, and
# none is timed. A dimension, length or batch that must be there goes into the grid below.
set -eu -o pipefail
. "$(dirname "$0")/lib.sh"

# ---- the grid ----

gate list sdpa_parity --device cuda --format json
jq -r '.[] | [.backend, .problem.dtype, .problem.D, .problem.B, .problem.S, .problem.causal, .problem.Hkv] | join(" ")' \
    out | sort -u >listed

# whole BATCHES MASKS HEADS -- what must be there: all combinations, for each backend and dtype
whole() {
    local backend dtype dimension batch length mask heads
    for backend in cudnn fa1 flash math; do
        for dtype in f16 bf16; do
            for dimension in 64 80 96 128; do
                for batch in $1; do
                    for length in 1 17 77 448 512 640 1000; do
                        for mask in $2; do
                            for heads in $3; do
                                echo "$backend $dtype $dimension $batch $length $mask $heads"
                            done
                        done
                    done
                done
            done
        done
    done
}
{ whole '1 3' 'false true' '2 4' && whole 8 true 2; } | sort >wanted
expect 'grid: combinations that are missing' "$(comm -13 listed wanted | head -n 3)" ''
expect 'grid: heads' "$(jq -r '[.[].problem.H] | unique | join(" ")' out)" 4
expect 'grid: none is timed' "$(jq -r '[.[].timed] | unique | join(" ")' out)" false
rectangles=$(jq -r '[.[] | select(.backend == "flash" and .problem.Skv > 0) | .problem
    | "\(.dtype)_\(.D)_\(if .Skv > .S then "long" else "short" end)"] | sort | join(" ")' out)
expect 'grid: more keys than queries, and fewer' "$rectangles" \
    "$(printf '%s\n' {bf16,f16}_{64,80,96,128}_{long,short} | LC_ALL=C sort | paste -s -d ' ')"

# ---- on the CPU ----

gate run sdpa_parity --device cpu --format json
expect 'CPU: status' "$status" 0
expect 'CPU: all pass' "$(results '[.results[].verdict] | unique | join(" ")')" PASS
expect 'CPU: nothing is timed' "$(results '[.results[].reason] | unique | join(" ")')" 'right; not timed'
expect 'CPU: dimensions' "$(results '[.results[].D] | unique | join(" ")')" '64 80 96 128'

finish
