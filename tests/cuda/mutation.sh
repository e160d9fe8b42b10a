#!/usr/bin/env bash
# mutation.sh -- the mutation score of the CUDA sources, on all GPUs of this machine at once.
#
#     mutation.sh KGATE KIT FOLDER [OPTION of mutate.py run, such as --count 40 --deadline 420...]
#
# KIT is what `tests/mutation/mutate.py pack KIT --build BUILD` took from a build for the architecture of these GPUs alone;
# changed sources are compiled here, by nvcc. FOLDER gets results.json, results.md and survivors.txt; where it has a
# results.json, from an earlier call that met its deadline, this one goes on with it. Rows that take much of a GPU's memory
# are left out, since eight runs share it. Status 1: some change lives.
set -eu -o pipefail

kgate=$(realpath "$1") kit=$(realpath "$2") folder=$(realpath "$3")
shift 3
. "$(dirname "$0")/lib.sh"
need_gpu

[ ! -e "$folder/results.json" ] || cp "$folder/results.json" "$work"
failed=0
python3 "$(dirname "$0")/../mutation/mutate.py" run kernels/fused/flash.cu kernels/fused/flash_tile.cuh \
    kernels/math/softmax.cu kernels/fp8/fp8_stage_c.cu \
    --kgate "$kgate" --build "$kit" --work "$work" --device cuda:0 --gpus "$(nvidia-smi --list-gpus | wc -l)" --judges 8 \
    --case-timeout 10 --compile-timeout 60 --run-timeout 240 --options '--exclude sdpa_parity/limit_2g_* --exclude fp8_parity/past_int' --rules "$@" || failed=$?
cp "$work"/results.* "$work/survivors.txt" "$folder"
exit "$failed"
