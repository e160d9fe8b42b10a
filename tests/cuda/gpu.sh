#!/usr/bin/env bash
# gpu.sh -- what only a GPU can show: planted CUDA flaws get their verdicts, a slower kernel its status, cuDNN's refusals
# their reason. Skipped (77) where there is no GPU.
#
#     gpu.sh KGATE BROKEN_CUDA.so [OPTION of kgate run, such as --library-path DIR...]
set -eu -o pipefail

kgate=$1 broken=$2
shift 2
options=("$@")
. "$(dirname "$0")/lib.sh"

run=("$kgate" run --output "$work/results" --expectations "$work/goldens" "${options[@]}")
need_gpu

status 1 "${run[@]}" --module "$broken" output process --case-timeout 4
flaws=(nan_one inf_one nothing half zero one_off bias some_off)
expect FAIL "${flaws[@]/#/output/plain/s0/}" "${flaws[@]/#/output/faint/s0/}"
expect ERROR process/plain/s0/{overrun,underrun,input,crash,hang,exits,error}
expect SKIP process/plain/s0/refuses
expect PASS output/plain/s0/good output/faint/s0/good process/plain/s0/good

# Right when checked, wrong when timed: on other inputs, in the very windows that were timed.
status 1 "${run[@]}" --module "$broken" late
expect ERROR late/plain/s0/{remembers,leaves,alternates,same_place,lazy,knows_last}
expect UNGATED late/plain/s0/good
[ "$(grep -c 'on other inputs the timed calls gave a wrong output' "$work/results/latest/comparison.csv")" = 2 ] ||
    fail "late: another reason than the other inputs"
[ "$(grep -c 'called alone on other inputs it gave a wrong output' "$work/results/latest/comparison.csv")" = 1 ] ||
    fail "late: alternates has another reason"
[ "$(grep -c 'the launch put nothing on its stream' "$work/results/latest/comparison.csv")" = 1 ] ||
    fail "late: same_place has another reason"
grep -q '^late/plain/s0/lazy,.*called right behind others, on other inputs' "$work/results/latest/comparison.csv" ||
    fail "late: lazy has another reason"
grep -q '^late/plain/s0/knows_last,.* us on inputs that were seen before, ' "$work/results/latest/comparison.csv" ||
    fail "late: knows_last has another reason"

# What it finds in shared memory, and where it enqueues.
status 1 "${run[@]}" --module "$broken" state
expect FAIL state/plain/s0/dirty_shared
expect ERROR state/plain/s0/old_stream
expect PASS state/plain/s0/good
grep -q 'launched on another stream than it was prepared with' "$work/results/latest/comparison.csv" ||
    fail "state: old_stream has another reason"

status 0 "${run[@]}" --module "$broken" speed --bless --reason "the right kernel" --allow-dirty
status 0 "${run[@]}" --module "$broken" speed
expect PASS speed/big/s0/good speed/big/s0/knobbed
status 3 "${run[@]}" --module "$broken" speed --knob slow=true
expect PASS speed/big/s0/good
expect SLOW speed/big/s0/knobbed

# cuDNN refuses a head dimension of 68, in its own words; math takes it; a golden of it makes the skip a loss.
status 0 "${run[@]}" cudnn_sdpa/lab --set D=68 --backend cudnn,math,auto --no-time
expect SKIP cudnn_sdpa/lab@D=68/s42/cudnn
expect PASS cudnn_sdpa/lab@D=68/s42/{math,auto}
grep -q 'cuDNN 9[0-9.]* .*[Ee]mbedding' "$work/results/latest/comparison.csv" || fail "the skip lacks cuDNN's reason"
grep -q '^cudnn_sdpa/lab@D=68/s42/auto,.*,auto,math,' "$work/results/latest/comparison.csv" || fail "auto is not math"
status 0 "${run[@]}" cudnn_sdpa/lab --backend cudnn --bless --reason "to be lost" --allow-dirty
sed -i 's#"cudnn_sdpa/lab/cudnn"#"cudnn_sdpa/lab@D=68/cudnn"#; /speed\//d' "$work"/goldens/*.json
sed -i -z 's#},\n\]#}\n]#' "$work"/goldens/*.json
status 4 "${run[@]}" cudnn_sdpa/lab --set D=68 --backend cudnn
expect LOST cudnn_sdpa/lab@D=68/s42/cudnn

# What was measured is named: cuDNN's version, engine and kernel; our kernels by the hash of their code.
status 0 "${run[@]}" cudnn_sdpa/lab --no-time
csv=$work/results/latest/comparison.csv
grep -q '^cudnn_sdpa/lab/s42/cudnn,.*cuDNN 9[0-9.]* engine [0-9]*.*cudnn_[a-z_0-9]*' "$csv" || fail "cudnn has no identity"
grep -q '^cudnn_sdpa/lab/s42/flash,.*flash[A-Za-z0-9_]*:[0-9a-f]\{16\}' "$csv" || fail "flash has no code hash"
grep '^cudnn_sdpa/lab/s42/cudnn,' "$csv" | grep -q flash_kernel && fail "cudnn ran our flash"
# One launch, captured: flash is one kernel, math three, cuDNN one and at most a memset of its workspace.
meta=$work/results/latest/build_meta.json
nodes() { # BACKEND: its kernel nodes and memory nodes
    grep -A 4 "\"id\":[[:space:]]*\"cudnn_sdpa/lab/s42/$1\"" "$meta" |
        sed -n 's/.*"\(kernel\|memory\)_nodes":[[:space:]]*\([0-9]*\),.*/\2/p' | tr '\n' ' '
}
[ "$(nodes flash)" = "1 0 " ] || fail "flash launches $(nodes flash)"
[ "$(nodes math)" = "3 0 " ] || fail "math launches $(nodes math)"
case $(nodes cudnn) in
"1 0 " | "1 1 ") ;;
*) fail "cudnn launches $(nodes cudnn)" ;;
esac

# TORCH_COMPILE_MODE=max-autotune times tiles, which nothing else does.
tiles_timed() {
    grep -c 'tile [0-9a-z_]*: [0-9.]* us' "$work/results/latest/workers.log" || true
}
flex=("${run[@]}" flex_attention/full_seed --backend flex_compiled --regime none --no-time)
status 0 "${flex[@]}"
[ "$(tiles_timed)" = 0 ] || fail "default: times $(tiles_timed) tiles"
status 0 env TORCH_COMPILE_MODE=max-autotune "${flex[@]}"
[ "$(tiles_timed)" -ge 2 ] || fail "max-autotune: times $(tiles_timed) tiles"
expect PASS flex_attention/full_seed@compile_mode=max-autotune/s42/flex_compiled
finish
