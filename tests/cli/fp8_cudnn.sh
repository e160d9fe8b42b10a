#!/usr/bin/env bash
# fp8_cudnn.sh -- attention in e4m3 with a scale a tensor, without a GPU: the CPU's backend passes the suite's gates,
# wrong scales, zeros and outputs in other formats fail them.
set -eu -o pipefail
. "$(dirname "$0")/lib.sh"
flaws=$modules/broken_fp8_tensor.so
limits=results/latest/correctness_summary.json

gate run fp8_cudnn --device cpu --format json
expect 'cpu_fp8: status' "$status" 0
expect 'cpu_fp8: all pass' "$(results '[.results[].verdict] | unique | join(" ")')" PASS
expect 'cpu_fp8: rows' "$(results '[.results[] | select(.regime == "normal")] | length')" 319
expect 'cpu_fp8: nothing is timed' "$(results '[.results[].reason] | unique | join(" ")')" 'right; not timed'
shipped=$(jq -c '.results[0].limits' "$limits")
# Twice what is seen is let through; ten times would let anything through.
for figure in max_abs mean_abs rel_l2; do
    expect "cpu_fp8: $figure is at least a quarter of its gate" \
        "$(jq "([.results[] | select(.regime == \"normal\") | .${figure}_err] | max) > .results[0].limits.$figure / 4" "$limits")" true
done
gate run fp8_cudnn --device cpu --exclude 'fp8_cudnn/odd_*' --exclude 'fp8_cudnn/o_cut@*' --exclude 'fp8_cudnn/scale_up@*' \
    --exclude 'fp8_cudnn/values_123@*' --exclude 'fp8_cudnn/ladder_*' --exclude 'fp8_cudnn/cross_*' --exclude 'fp8_cudnn/batches_300@*' --set S=1,2 --set Skv=1,33
expect 'few queries, few keys: status' "$status" 0

gate list fp8_cudnn --regime none --format json
timed=$(jq -r '[.[] | select(.device == "cuda") | "\(.backend) \(.timed)"] | unique | join(",")' out)
expect 'timed on a GPU' "$timed" 'cudnn_fp8 true'
expect 'rows on a GPU' "$(jq '[.[] | select(.device == "cuda")] | length' out)" 6

gate run --module "$flaws" --device cpu --format json
expect 'flaws: status' "$status" 1
expect 'flaws: the gates are the shipped ones' "$(jq -c '.results[0].limits' "$limits")" "$shipped"
for shape in mission causal s16384; do
    expect "$shape, right" "$(verdict "tensor_scales/$shape/s0/right")" PASS
    for flaw in k_doubled v_doubled v_halved exchanged zero e5m2 linear unscaled f16; do
        expect "$shape, $flaw" "$(verdict "tensor_scales/$shape/s0/$flaw")" FAIL
    done
done
# Where outputs are small, errors are too: of limits in the output's unit none sees these.
for flaw in v_doubled v_halved exchanged zero unscaled; do
    case $(reason "tensor_scales/s16384/s0/$flaw") in
    rel_l2*scale*) echo "ok: s16384, $flaw: rel_l2 and the error scale" ;;
    *) expect "s16384, $flaw: its reason" "$(reason "tensor_scales/s16384/s0/$flaw")" 'rel_l2, error over its scale' ;;
    esac
done
finish
