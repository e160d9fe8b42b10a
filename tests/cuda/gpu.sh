#!/usr/bin/env bash
# gpu.sh -- what only a GPU can show: planted CUDA flaws get their verdicts, a slower kernel its status, cuDNN's refusals
# their reason. Skipped (77) where there is no GPU.
#
#     gpu.sh KGATE BROKEN_CUDA.so [OPTION of kgate run, such as --library-path DIR...]
set -eu -o pipefail

kgate=$1 broken=$2
shift 2
options=("$@")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

fail() {
    echo "FAIL: $*"
    failed=1
}

# status WANTED COMMAND...: runs it and compares the exit status.
status() {
    local wanted=$1 got=0
    shift
    "$@" >"$work/out" 2>&1 || got=$?
    if [ "$got" != "$wanted" ]; then
        cat "$work/out"
        fail "status $got, not $wanted: $*"
    fi
}

# verdict ID: of the newest run. Ids and verdicts hold no commas.
verdict() {
    awk -F, -v id="$1" '$1 == id { print $7 }' "$work/results/latest/comparison.csv"
}

expect() { # VERDICT ID...
    local wanted=$1 id got
    shift
    for id in "$@"; do
        got=$(verdict "$id")
        [ "$got" = "$wanted" ] || fail "$id: ${got:-nothing}, not $wanted"
    done
}

run=("$kgate" run --output "$work/results" --expectations "$work/goldens" "${options[@]}")

"$kgate" doctor "${options[@]}" >"$work/doctor"
if ! grep -q '^device: cuda:0' "$work/doctor"; then
    echo "no GPU here"
    exit 77
fi

status 1 "${run[@]}" --module "$broken" output process --case-timeout 4
flaws=(nan_one inf_one nothing half zero one_off bias some_off)
expect FAIL "${flaws[@]/#/output/plain/s0/}" "${flaws[@]/#/output/faint/s0/}"
expect ERROR process/plain/s0/{overrun,underrun,input,crash,hang,exits,error}
expect SKIP process/plain/s0/refuses
expect PASS output/plain/s0/good output/faint/s0/good process/plain/s0/good

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
[ "$failed" = 0 ] && echo "all as it must be"
exit "$failed"
