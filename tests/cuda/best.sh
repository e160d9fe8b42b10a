#!/usr/bin/env bash
# best.sh -- a p50 over the best ever blessed is SLOW by the suite's own budget: 4% over it, 2% in fa_s512 and 5% in
# cudnn_sdpa. The best is made 4% faster by hand, the golden stays; once more with a best of another card, by ratio.
# Skipped (77) where there is no GPU.
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

# lower MEMBER -- of every best, by 4%.
lower() {
    for file in "$work"/goldens/*.json; do
        awk -v member="\"$1\":" '
            /^"bests"/ { inside = 1 }
            /^}/ { inside = 0 }
            {
            at = inside ? index($0, member) : 0
            if (at) {
                at += length(member)
                value = substr($0, at)
                sub(/[,}].*/, "", value)
                $0 = substr($0, 1, at - 1) sprintf("%.6g", value / 1.04) substr($0, at + length(value))
            }
            print }' "$file" >"$work/edited"
        cat "$work/edited" >"$file"
    done
}
only_one_is_slow() { # fa_s512
    before=$(sha256sum "$work"/goldens/*.json)
    status 3 "${run[@]}"
    expect SLOW fa_s512/b8h16/s42/flash
    expect PASS cudnn_sdpa/s2048/s42/flash
    grep -q "^fa_s512/.* over the best, .* of 20[0-9-]*, creep budget 2%" "$work/results/latest/comparison.csv" ||
        fail "the reason does not name the best"
    [ "$(sha256sum "$work"/goldens/*.json)" = "$before" ] || fail "a run changed the goldens"
}
lower p50_us
only_one_is_slow
status 0 "$kgate" leaderboard "${cases[@]}" --expectations "$work/goldens"
[ "$(grep -c '+4.0%' "$work/out")" = 2 ] || fail "the leaderboard does not say +4.0%: $(cat "$work/out")"

# On another card the budget is 5% for both.
lower ratio
lower ratio
sed -i '/^"bests"/,/^}/s/"uuid":"[^"]*/"uuid":"GPU-of-another-card/' "$work"/goldens/*.json
status 3 "${run[@]}"
expect SLOW {fa_s512/b8h16,cudnn_sdpa/s2048}/s42/flash
[ "$(grep -c ' over the best, a ratio of .* on another card, creep budget 5%' "$work/results/latest/comparison.csv")" = 2 ] ||
    fail "the reasons do not name the best on another card"
finish
