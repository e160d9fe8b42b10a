#!/usr/bin/env bash
# all.sh -- everything that only a GPU can show, from a bundle (ci/bundle), on all GPUs of this machine at once: each takes
# the next of the jobs below. What is timed has its GPU to itself.
#
#     all.sh BUNDLE FOLDER [PAIR [OPTION of kgate run, such as --library-path DIR...]]
#
# FOLDER gets a log of each job. PAIR is pair.sh's folder; '' leaves it out. The last line is `N passed, N failed, N skipped`.
set -eu -o pipefail

bundle=$(realpath "$1") folder=$(realpath "$2") pair=${3:-}
shift $(($# < 3 ? $# : 3))
here=$(realpath "$(dirname "$0")") # the scripts
modules=$bundle/tests/modules kgate=$bundle/bin/kgate attention=$bundle/lib/kgate/attention.so
. "$(dirname "$0")/lib.sh"

mkdir "$work/peers" "$work/flex"
# The longest first: NAME, and the words of its command.
jobs=("flex $here/flex.sh $kgate $work/flex"
    "peers $here/peers.sh $kgate $modules/peers.so $work/peers"
    "right $kgate run --no-time --output $work/right"
    "gates $kgate selfcheck --gates"
    "sanitize_racecheck $here/sanitize.sh $kgate $modules/broken_cuda.so racecheck $folder"
    "pathology $here/pathology.sh $kgate $attention $modules/pathology_clean.so"
    "sanitize_initcheck $here/sanitize.sh $kgate $modules/broken_cuda.so initcheck $folder"
    "sanitize_memcheck $here/sanitize.sh $kgate $modules/broken_cuda.so memcheck $folder"
    "sanitize_synccheck $here/sanitize.sh $kgate $modules/broken_cuda.so synccheck $folder"
    "turns $here/turns.sh $kgate"
    "best $here/best.sh $kgate"
    "gpu $here/gpu.sh $kgate $modules/broken_cuda.so"
    "repeat $here/repeat.sh $kgate $modules/repeats_cuda.so"
    "fp8 $here/fp8.sh $kgate $modules/broken_fp8.so"
    "device $bundle/tests/cuda/test_device_cuda"
    "reference $bundle/tests/cuda/test_reference $attention"
    "rtc $bundle/tests/cuda/test_rtc /usr/local/cuda/lib64")
[ -z "$pair" ] || jobs=("pair $here/pair.sh $kgate $(realpath "$pair") slower 10" "${jobs[@]}")

work_on() { # GPU [OPTION...]
    local gpu=$1 i name command started status
    shift
    for i in "${!jobs[@]}"; do
        take "job$i" || continue
        read -r name command <<<"${jobs[i]}"
        read -r -a command <<<"$command"
        case ${command[0]} in
        *peers.sh) ;;
        *.sh | "$kgate") command+=("$@") ;; # the programs take no options
        esac
        started=$SECONDS status=0
        "${command[@]}" >"$folder/$name.log" 2>&1 || status=$?
        echo "$name $status" >>"$work/ended$gpu"
        echo "$name: status $status in $((SECONDS - started)) s on GPU $gpu: $(tail -n 1 "$folder/$name.log")"
    done
}

on_all_gpus work_on "$@"
cat "$work"/ended* | awk '{ n[$2 == 0 ? "passed" : $2 == 77 ? "skipped" : "failed"]++ }
    END { printf "%d passed, %d failed, %d skipped\n", n["passed"], n["failed"], n["skipped"]; exit n["failed"] > 0 }'
