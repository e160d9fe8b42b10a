#!/usr/bin/env bash
# bless.sh -- blesses every suite anew on all GPUs of this machine at once, then runs it against what was blessed, on the
# same GPU. One suite's goldens are of one card, since a shape's backends are compared there.
#
#     bless.sh KGATE EXPECTATIONS FOLDER REASON [OPTION of kgate run, such as --library-path DIR or --git-sha SHA...]
#
# EXPECTATIONS, a folder, is written. FOLDER gets a log of each run and its results. The last line is `N passed, N failed`.
set -eu -o pipefail

kgate=$(realpath "$1") expectations=$(realpath "$2") folder=$(realpath "$3") reason=$4
shift 4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The longest first.
groups=(fa_s512 'cudnn_sdpa attention_matrix' 'fp8_sdpa fp8_sdpa_e4m3 fp8_cudnn' pathology)

run() { # NAME WHAT SUITES OPTION...
    local log="$folder/$1_$2.log" started=$SECONDS status=0
    "$kgate" run "${@:4}" --expectations "$expectations" --output "$folder/$1_$2" >"$log" 2>&1 || status=$?
    echo "$1_$2 $status" >>"$work/ended"
    echo "$1: $2: status $status in $((SECONDS - started)) s on GPU $3: $(tail -n 2 "$log" | paste -s -d ' ')"
    return "$status"
}

# Numbers are handed out by taking a folder: only one can make it.
work_on() { # GPU OPTION...
    local i name gpu=$1 suites
    shift
    export HOME=$work/home$gpu CUDA_VISIBLE_DEVICES=$gpu
    for i in "${!groups[@]}"; do
        mkdir "$work/group$i" 2>/dev/null || continue
        read -r -a suites <<<"${groups[i]}"
        name=${suites[0]}
        if run "$name" bless "$gpu" "${suites[@]}" --bless --reason "$reason" "$@"; then
            run "$name" run "$gpu" "${suites[@]}" "$@" || true
        fi
    done
}

gpus=$(nvidia-smi --list-gpus 2>/dev/null | wc -l) || { echo "no GPU here" && exit 77; }
for ((gpu = 0; gpu < gpus; gpu++)); do
    mkdir "$work/home$gpu"
    work_on "$gpu" "$@" &
done
wait
awk '{ n[$2 == 0]++ } END { printf "%d passed, %d failed\n", n[1], n[0]; exit n[0] > 0 || n[1] == 0 }' "$work/ended"
