#!/usr/bin/env bash
# fp8.sh -- attention on 8-bit codes on a GPU: every variant of the stage-C kernel is right on whole and cut tiles, and so
# is cuDNN's, debug_print tells the log, planted defects fail. Skipped (77) where there is no GPU.
#
#     fp8.sh KGATE BROKEN_FP8.so [OPTION of kgate run, such as --library-path DIR...]
set -eu -o pipefail

kgate=$1 broken=$2
shift 2
options=("$@")
. "$(dirname "$0")/lib.sh"

run=("$kgate" run --output "$work/results" --expectations "$work/goldens" "${options[@]}")
need_gpu

status 0 "${run[@]}" --no-time fp8_sdpa fp8_sdpa_e4m3
grep -q 'stage_c_debug_print, mission: head 0, query 0, 16 tiles of keys' "$work/results/latest/workers.log" ||
    fail "debug_print says nothing of mission"
# What matching codecs give is 0.001; the suite's own limit is wider.
for variant in stage_c stage_c_lut stage_c_nocp stage_c_lut_nocp; do
    for seed in 0 1 2; do
        mean=$(column mean_abs "fp8_sdpa/mission/s$seed/$variant")
        awk -v mean="$mean" 'BEGIN { exit !(mean > 0 && mean <= 0.002) }' || fail "mission/s$seed/$variant: mean error ${mean:-none}"
    done
done
status 0 "${run[@]}" --no-time fp8_sdpa --set S=1,31,33,77 --set Skv=1,33,77 # a cut last tile of either kind
status 0 "${run[@]}" --no-time fp8_cudnn
[ "$(column verdict fp8_cudnn/odd/s0/cudnn_fp8)" != SKIP ] || fail "cudnn_fp8 was skipped"

status 1 "${run[@]}" --module "$broken" --no-time codes
expect PASS codes/small/s0/cuda_right codes/mission/s0/cuda_right codes/s16384/s0/cuda_right
for shape in small mission s16384; do
    expect FAIL "codes/$shape/s0/"{cuda_mismatched,cuda_half_table,cuda_last_early,cuda_zero}
done

# Right, and told by stage when a call is alone.
status 1 "${run[@]}" --module "$broken" codes/mission --backend cuda_right,cuda_told
expect UNGATED codes/mission/s0/cuda_right
expect ERROR codes/mission/s0/cuda_told
grep -q '^codes/mission/s0/cuda_told,.* us where nothing was staged since the last' "$work/results/latest/comparison.csv" ||
    fail "cuda_told has another reason"
finish
