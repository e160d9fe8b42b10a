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
. "$(dirname "$0")/lib.sh"

# shellcheck disable=SC2154 # gpus is on_all_gpus'
record() { # GPU OPTION...; one that its --timeout ended has written what it has
    local gpu=$1
    shift
    "$kgate" selfcheck --device cuda:0 --record "$folder/$start-$gpu.jsonl" "--shuffle=$((start * gpus + gpu))" \
        --output "$work/results$gpu" "$@" >"$folder/$start-$gpu.log" 2>&1 || echo "$gpu" >>"$work/failed"
}

on_all_gpus record "$@"
touch "$work/failed"
logs=("$folder/$start"-*.log)
echo "record: ${#logs[@]} GPUs, $(wc -l <"$work/failed") ended with another status than 0; lines of each file:"
wc -l "$folder/$start"-*.jsonl
