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
. "$(dirname "$0")/lib.sh"

# The longest first.
groups=(fa_s512 'cudnn_sdpa attention_matrix' 'fp8_sdpa fp8_sdpa_e4m3 fp8_cudnn' pathology)

run() { # NAME WHAT SUITES OPTION...
    local log="$folder/$1_$2.log" started=$SECONDS status=0
    "$kgate" run "${@:4}" --expectations "$expectations" --output "$folder/$1_$2" >"$log" 2>&1 || status=$?
    echo "$1_$2 $status" >>"$work/ended"
    echo "$1: $2: status $status in $((SECONDS - started)) s on GPU $3: $(tail -n 2 "$log" | paste -s -d ' ')"
    return "$status"
}

work_on() { # GPU OPTION...
    local i name gpu=$1 suites
    shift
    for i in "${!groups[@]}"; do
        take "group$i" || continue
        read -r -a suites <<<"${groups[i]}"
        name=${suites[0]}
        if run "$name" bless "$gpu" "${suites[@]}" --bless --reason "$reason" "$@"; then
            run "$name" run "$gpu" "${suites[@]}" "$@" || true
        fi
    done
}

on_all_gpus work_on "$@"
awk '{ n[$2 == 0]++ } END { printf "%d passed, %d failed\n", n[1], n[0]; exit n[0] > 0 || n[1] == 0 }' "$work/ended"
