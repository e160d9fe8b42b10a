#!/usr/bin/env bash
# sanitize.sh -- our kernels under compute-sanitizer: a small and an odd shape of each, by every tool. Skipped (77) where
# there is no GPU. A new kernel is a line in `ours`.
#
#     sanitize.sh KGATE BROKEN_CUDA.so TOOLS FOLDER [OPTION of kgate run, such as --library-path DIR...]
#
# TOOLS is all, or some of memcheck,racecheck,synccheck,initcheck. FOLDER gets a log of each tool.
set -eu -o pipefail

kgate=$(realpath "$1") broken=$(realpath "$2") tools=$3 folder=$(realpath "$4")
shift 4
options=("$@")
[ "$tools" != all ] || tools=memcheck,racecheck,synccheck,initcheck
. "$(dirname "$0")/lib.sh"
need_gpu

# What is given to `kgate run`, a line a run. Whole tiles, then cut ones of queries and of keys, heads that share keys.
# kns=TEXT: kernels whose name has it, as a library's are not ours to judge. initcheck must see all that writes, so it runs
# whole, and what it says of kernels with another name is left out.
ours() {
    local tile
    for tile in 32_split4 64_split2 64 128; do
        echo "sdpa_parity/*_b1_causal_gqa_s17 sdpa_parity/*_b1_full_gqa_s77 --backend flash --knob tile=$tile"
        # Three steps of 128 keys, the last one cut: the copies run ahead only where there is a next step.
        echo "sdpa_parity/*_b1_causal_gqa_s17 --set H=2 --set Hkv=1 --set S=300 --backend flash --knob tile=$tile"
        # Whole blocks whose rows see no key.
        echo "sdpa_parity/*_b2_bottom_right_s300_k40 --set B=1 --backend flash --knob tile=$tile"
        # Several steps, hidden and cut blocks, groups of which one has no keys.
        [ "$tile" = 32_split4 ] ||
            echo "flex_parity/document_bf16_d64_s77 flex_parity/alibi_document_f16_d128_s300 flex_parity/sliding_bf16_d64_s300 --set block_size=128 --backend flex_compiled,flex_static --knob tile=$tile"
    done
    echo 'sdpa_parity/*_b1_causal_gqa_s17 sdpa_parity/*_b1_full_gqa_s77 --backend fa1'
    echo 'kns=softmax sdpa_parity/*_d64_b1_causal_gqa_s17 sdpa_parity/*_d64_b1_full_gqa_s77 --backend math'
    echo 'kns=softmax sdpa_parity/*_d64_b1_full_gqa_s77 --set H=2 --set Hkv=1 --set Skv=1100 --backend math'
    echo 'fa_s512/b1h8 fa_s512/b1h8_causal --set H=2 --set S=64,77 --set Skv=33 --backend fa_v3_32x64,fa_v3_32x32,fa_v3_48x64,fa_v3_repaired'
    echo 'fp8_sdpa/small fp8_sdpa_e4m3/small --seed 0 --exclude */math --exclude */cudnn'
    echo 'fp8_sdpa/small fp8_sdpa_e4m3/small --seed 0 --set S=77 --set Skv=45 --exclude */math --exclude */cudnn'
    echo 'kns=fp8_tensor fp8_cudnn/odd --seed 0 --set S=17,77'
    echo 'pathology/b1h8s2048 --set B=2 --set H=2 --set S=64,77 --exclude */cudnn'
}

# is_clean OUTPUT [TEXT]: there is a summary, and each is of nothing; with TEXT, of no kernel that has it in its name, and
# of nothing the host does. Complaints beyond the tool's limit would hide: there must be none.
is_clean() {
    grep 'ERROR SUMMARY\|RACECHECK SUMMARY' "$1" >"$work/summaries" || return 1
    if [ -n "${2:-}" ]; then
        grep -q "^=========     at .*$2\|Host API\|were not printed" "$1" && return 1
    else
        grep -v -q ' 0 \(errors\|hazards\)' "$work/summaries" && return 1
    fi
    return 0
}

sanitize() { # TOOL
    local line bad=0 n=0 words filter name
    : >"$folder/$1.log"
    while IFS= read -r line; do
        read -r -a words <<<"$line"
        filter=(--error-exitcode 99) name=
        [ "$1" != memcheck ] || filter+=(--report-api-errors no) # kgate asks for a kernel's arguments until there are no more
        if [[ ${words[0]} = kns=* ]]; then
            if [ "$1" = initcheck ]; then
                filter=(--print-limit 20000) name=${words[0]#kns=}
            else
                filter+=(--kernel-name "${words[0]}")
            fi
            words=("${words[@]:1}")
        fi
        n=$((n + 1))
        compute-sanitizer --tool "$1" --target-processes all "${filter[@]}" "$kgate" run "${words[@]}" --no-time --regime none \
            --case-timeout 600 --output "$work/$1" "${options[@]}" >"$work/$1.$n" 2>&1 || bad=$((bad + 1))
        { echo "== $line"; cat "$work/$1.$n"; } >>"$folder/$1.log"
        grep -q '^kgate: .* passed' "$work/$1.$n" || bad=$((bad + 1))
        is_clean "$work/$1.$n" "$name" || bad=$((bad + 1))
    done < <(ours)
    echo "sanitize: $1: $n runs, $bad complaints, $(grep -h -o '[0-9]* passed' "$folder/$1.log" | awk '{ n += $1 } END { print n }') cases passed"
    [ "$bad" = 0 ]
}

# The tools do see what a worker launches.
compute-sanitizer --tool memcheck --target-processes all "$kgate" run --module "$broken" process/plain/s0/crash --no-time \
    --output "$work/crash" "${options[@]}" >"$work/crash.log" 2>&1 || true
grep -q 'ERROR SUMMARY: [1-9]' "$work/crash.log" || fail "a planted bad access is not seen"

for tool in ${tools//,/ }; do
    sanitize "$tool" || fail "see $folder/$tool.log"
done
finish
