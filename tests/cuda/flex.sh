#!/usr/bin/env bash
# flex.sh -- flex_compiled beside PyTorch's compiled FlexAttention, on this machine's GPU: the same rows, one after the other;
# fails where ours is slower than it may be (flex_peer.py).
# Needs PyTorch and Triton in python3.
#
#     flex.sh KGATE FOLDER [OPTION of kgate run...]       FOLDER gets flex.csv, flex.md and the run's report
set -eu -o pipefail

kgate=$(realpath "$1") folder=$(realpath "$2") here=$(realpath "$(dirname "$0")")
shift 2
. "$here/lib.sh"
need_gpu
python3 -c 'import torch, triton; assert torch.cuda.is_available()' 2>/dev/null || exit 77
rows=('flex_attention/*_seed/*' 'flex_attention/*_d64/*' 'flex_attention/*_d128/*')
status=0 slow=0
"$kgate" list "${rows[@]}" --backend flex_compiled --regime normal --format json >"$folder/rows.json"
python3 "$here/flex_peer.py" compile "$folder/rows.json"
python3 "$here/flex_peer.py" time "$folder/rows.json" >"$folder/before.csv"
"$kgate" run "${rows[@]}" --regime normal --backend flex_compiled,flex_eager --expectations "$folder/none" \
    --output "$folder/run" "$@" >"$folder/run.log" 2>&1 || status=$?
python3 "$here/flex_peer.py" time "$folder/rows.json" >"$folder/after.csv"
python3 "$here/flex_peer.py" table "$folder/before.csv" "$folder/after.csv" "$folder"/run/latest/comparison.csv \
    >"$folder/flex.md" || slow=1
cat "$folder/flex.md"
# 4: rows without goldens are undecided
[ "$slow" = 0 ] && { [ "$status" = 0 ] || [ "$status" = 4 ]; }
