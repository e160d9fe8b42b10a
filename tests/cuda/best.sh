#!/usr/bin/env bash
# best.sh -- a p50 over the best ever blessed is SLOW by the suite's own budget: 4% over it, 2% in fa_s512 and 5% in
# cudnn_sdpa. The best is made 4% faster by hand, the golden stays. Skipped (77) where there is no GPU.
#
#     best.sh KGATE [OPTION of kgate run, such as --library-path DIR...]
set -eu -o pipefail

kgate=$1
shift
options=("$@")
. "$(dirname "$0")/lib.sh"

cases=(fa_s512/b8h16 cudnn_sdpa/s2048 --backend flash)
run=("$kgate" run "${cases[@]}" --output "$work/results" --expectations "$work/goldens" "${options[@]}")
need_gpu

status 0 "${run[@]}" --bless --reason 'what it is' --allow-dirty
status 0 "${run[@]}"
expect PASS {fa_s512/b8h16,cudnn_sdpa/s2048}/s42/flash

for file in "$work"/goldens/*.json; do
    awk '{ if (match($0, /"best":[{]"p50_us":[0-9.]+/)) {
               head = substr($0, 1, RSTART - 1) "\"best\":{\"p50_us\":"
               best = substr($0, RSTART + 17, RLENGTH - 17)
               $0 = head sprintf("%.6g", best / 1.04) substr($0, RSTART + RLENGTH) }
           print }' "$file" >"$work/edited"
    cat "$work/edited" >"$file"
done
before=$(sha256sum "$work"/goldens/*.json)
status 3 "${run[@]}"
expect SLOW fa_s512/b8h16/s42/flash
expect PASS cudnn_sdpa/s2048/s42/flash
grep -q '^fa_s512/.* over the best, .* of 20[0-9-]*, creep budget 2%' "$work/results/latest/comparison.csv" ||
    fail "the reason does not name the best"
[ "$(sha256sum "$work"/goldens/*.json)" = "$before" ] || fail "a run changed the goldens"
status 0 "$kgate" leaderboard "${cases[@]}" --expectations "$work/goldens"
[ "$(grep -c '+4.0%' "$work/out")" = 2 ] || fail "the leaderboard does not say +4.0%: $(cat "$work/out")"
finish
