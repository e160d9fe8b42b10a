#!/usr/bin/env bash
# record.sh -- records series for `kgate selfcheck --judge` on every GPU of this machine at once, one process a GPU, each
# with an order of its own. Files add up: what several starts of a machine gave is judged together.
#
#     record.sh KGATE FOLDER START [OPTION or PATTERN of kgate selfcheck, such as --rounds 22 --timeout 300...]
#
# START numbers this start of the machine; it seeds the orders. FOLDER gets START-GPU.jsonl and a log of each.
set -eu -o pipefail

kgate=$(realpath "$1") folder=$(realpath "$2") start=$3
shift 3
gpus=$(nvidia-smi --list-gpus 2>/dev/null | wc -l) || { echo "no GPU here" && exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for ((gpu = 0; gpu < gpus; gpu++)); do
    mkdir "$work/$gpu"
    HOME=$work/$gpu CUDA_VISIBLE_DEVICES=$gpu "$kgate" selfcheck --device cuda:0 --record "$folder/$start-$gpu.jsonl" \
        "--shuffle=$((start * gpus + gpu))" --output "$work/$gpu/results" "$@" >"$folder/$start-$gpu.log" 2>&1 &
done
failed=0
for ((gpu = 0; gpu < gpus; gpu++)); do
    wait -n || failed=$((failed + 1)) # a run that its --timeout ended has written what it has
done
echo "record: $gpus GPUs, $failed ended with another status than 0; lines of each file:"
wc -l "$folder/$start"-*.jsonl
