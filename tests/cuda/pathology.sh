#!/usr/bin/env bash
# pathology.sh -- on a GPU: every planted pathology is right, and SLOW against the clean kernel, which is not; summary.md
# ranks them. Skipped (77) where there is no GPU.
#
#     pathology.sh KGATE ATTENTION.so PATHOLOGY_CLEAN.so [OPTION of kgate run, such as --library-path DIR...]
set -eu -o pipefail

kgate=$1 planted=$2 clean=$3
shift 3
options=("$@")
. "$(dirname "$0")/lib.sh"
pathologies=(strided_loads no_staging extra_barriers divergence over_unrolled tiny_blocks serial_batch)

run=("$kgate" run 'pathology/*' --module "$planted" --output "$work/results" --expectations "$work/goldens" "${options[@]}")
need_gpu

# Right on cut tiles of either kind too.
status 0 "${run[@]}" --no-time --set B=2 --set S=1,17,77 --set Skv=1,5,64,133

# Each is SLOW, and nothing else is.
status 3 "${run[@]}" --against "$clean"
for shape in b4h16s512 b1h8s2048; do
    expect PASS "pathology/$shape/s0/clean"
    expect SLOW "${pathologies[@]/#/pathology/$shape/s0/}"
done

# All seven have a place in the ranking.
sed -n '/^## Cost/,/^## Times/p' "$work/results/latest/summary.md" >"$work/ranking"
cat "$work/ranking"
for name in "${pathologies[@]}"; do
    grep -q "^| [1-7] | $name | [1-9]" "$work/ranking" || fail "summary.md does not rank $name"
done
finish
