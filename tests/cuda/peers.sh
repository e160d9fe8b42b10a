#!/usr/bin/env bash
# peers.sh -- honest kernels that are not ours are not refused: PyTorch's and Triton's attention on the inputs of the
# shipped suites, all regimes, by the suites' gates. Needs PyTorch and Triton in python3.
#
#     peers.sh KGATE PEERS.so FOLDER [PATTERN...]       FOLDER gets the inputs, the outputs, and the report
set -eu -o pipefail

kgate=$(realpath "$1") module=$(realpath "$2") folder=$(realpath "$3") here=$(realpath "$(dirname "$0")")
shift 3
python3 -c 'import torch, triton; assert torch.cuda.is_available()' 2>/dev/null || exit 77
patterns=("$@")
[ $# -gt 0 ] || patterns=('sdpa_parity/*_gqa_s77' 'sdpa_parity/f16_d64_b3_*_gqa_s640' 'sdpa_parity/bf16_d128_b3_*_gqa_s640'
    'sdpa_parity/*_bottom_right_s77_*' 'sdpa_parity/*_d80_b2_*_k*' 'sdpa_parity/*_rect_d128_*'
    'sdpa_parity/scale_*' 'sdpa_parity/three_1*' 'cudnn_sdpa/lab*' 'attention_matrix/b8h4s128*' 'fa_s512/b1h8*')
export PEERS=$folder/cases
mkdir -p "$PEERS"
run=("$kgate" run --module "$module" --device cpu --no-time --expectations "$folder/none")
"${run[@]}" --backend record --output "$folder/record" --quiet "${patterns[@]}" >"$folder/record.log" 2>&1
python3 "$here/peers.py" "$PEERS"
status=0
"${run[@]}" --backend torch_flash,torch_efficient,torch_cudnn,torch_flex,triton --output "$folder/run" "${patterns[@]}" \
    >"$folder/run.log" 2>&1 || status=$?
cp "$folder"/run/latest/comparison.csv "$folder/peers.csv" 2>/dev/null || true
tail -60 "$folder/run.log"
exit $status
