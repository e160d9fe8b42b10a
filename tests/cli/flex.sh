#!/usr/bin/env bash
# flex.sh -- the harness's variables change rows of the FlexAttention suites; bad ones are refused by name.
set -eu -o pipefail
. "$(dirname "$0")/lib.sh"

unset BLOCK_SIZE DOC_SPAN TORCH_COMPILE_MODE
shapes() { # those of the suite's cases, with what was set
    gate list "${1:-flex_attention/lab_small}" --backend cpu_flex --regime normal
    sed 's,[^/]*/\([^/]*\)/.*,\1,' out | sort -u | paste -s -d ' '
}
expect 'without a variable' "$(shapes)" lab_small
expect 'BLOCK_SIZE is read' "$(BLOCK_SIZE=128 shapes)" 'lab_small@block_size=128'
expect 'DOC_SPAN is read' "$(DOC_SPAN=128 shapes)" 'lab_small@doc_span=128'
expect 'TORCH_COMPILE_MODE is read' "$(TORCH_COMPILE_MODE=max-autotune shapes)" 'lab_small@compile_mode=max-autotune'
expect 'both, and the default is none' "$(BLOCK_SIZE=64 DOC_SPAN=128 shapes)" 'lab_small@doc_span=128'
expect 'a sweep' "$(DOC_SPAN=60,100 shapes)" 'lab_small lab_small@doc_span=100'
expect '--set wins' "$(gate list flex_attention/lab_small --backend cpu_flex --regime normal --set doc_span=50 && cut -d / -f 2 out)" \
    'lab_small@doc_span=50'
expect 'by the static suite too' "$(DOC_SPAN=128 shapes flex_attention_static/lab_small)" 'lab_small@doc_span=128'

# Tiles by the block mask's line of the log, work by the FLOPs.
work() {
    gate run flex_attention/lab_small --backend cpu_flex --regime none --format json
    sed -n 's/.*: blocks of/blocks of/p' results/latest/workers.log | sort -u
    jq -r '.results[0] | "\(.gflops * .p50_us / 1000 | round) MFLOP"' out
}
expect 'work' "$(work | paste -s -d ' ')" 'blocks of 64: 24 hidden, 36 in part, 4 whole 11 MFLOP'
expect 'work of other blocks' "$(BLOCK_SIZE=128 work | paste -s -d ' ')" \
    'blocks of 128: 0 hidden, 16 in part, 0 whole 11 MFLOP'
expect 'work of longer documents' "$(DOC_SPAN=128 work | paste -s -d ' ')" \
    'blocks of 64: 24 hidden, 14 in part, 26 whole 21 MFLOP'

refused() { # TEXT -- by the last run
    expect "refused: $1" "$status" 2
    expect_in "by name: $1" err "$1"
}
BLOCK_SIZE=100 gate list 'flex_attention/*' && refused 'BLOCK_SIZE=100: '
expect_in 'with the tile' err 'no multiple of the tile, 64'
BLOCK_SIZE=0 gate list 'flex_attention/*' && refused 'BLOCK_SIZE=0: '
DOC_SPAN=0 gate list 'flex_attention/*' && refused 'DOC_SPAN=0: '
DOC_SPAN=abc gate list 'flex_attention/*' && refused 'DOC_SPAN=abc: '
TORCH_COMPILE_MODE=fast gate list 'flex_attention/*' && refused 'TORCH_COMPILE_MODE=fast: '
finish
