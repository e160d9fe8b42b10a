#!/usr/bin/env bash
# repeat.sh -- `kgate run --repeat` on a GPU: a barrier left out, a launch on another stream and sums in no order are found
# beside a competing kernel or behind a slow producer; shipped kernels give the same bits. Skipped (77) where there is no
# GPU.
#
#     repeat.sh KGATE REPEATS_CUDA.so [OPTION of kgate run, such as --library-path DIR...]
set -eu -o pipefail

kgate=$1 module=$2
shift 2
options=("$@")
. "$(dirname "$0")/lib.sh"

run=("$kgate" run --no-time --output "$work/results" --expectations "$work/goldens" "${options[@]}")
need_gpu

# One launch on inputs that lie ready: all but the race are right every time.
status 0 "${run[@]}" --module "$module" 'repeats/*/good' 'repeats/*/own_stream' 'repeats/*/atomics*'
"${run[@]}" --module "$module" 'repeats/*/unsynchronised' >"$work/out" 2>&1 || true
echo "a plain run finds the one without a barrier $(column verdict repeats/waves/s0/unsynchronised)"

status 1 "${run[@]}" --module "$module" --repeat 500 --verbose
grep -F 'launch ' "$work/out" || true
expect PASS repeats/waves/s0/{good,atomics}
expect FAIL repeats/waves/s0/{unsynchronised,default_stream,own_stream,atomics_unsaid}
for backend in default_stream own_stream; do
    grep "^repeats/waves/s0/$backend," "$work/results/latest/comparison.csv" |
        grep -q 'behind a slow producer of its inputs, gave other bits' || fail "$backend: another reason"
done

# What ships repeats its bits.
status 0 "${run[@]}" --repeat 200 'cudnn_sdpa/*/s42/*' --backend flash,math,cudnn
for backend in flash math cudnn; do
    expect PASS "cudnn_sdpa/lab/s42/$backend"
done
status 0 "${run[@]}" --repeat 60 'fp8_sdpa/mission/s0/stage_c' # staged anew each time
expect PASS fp8_sdpa/mission/s0/stage_c
finish
