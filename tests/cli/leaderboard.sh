#!/usr/bin/env bash
# leaderboard.sh -- kgate leaderboard on goldens made by hand, and the contest of a run's summary.md.
set -eu -o pipefail
. "$(dirname "$0")/lib.sh"

on=(--module "$modules/board.so" --expectations goldens)
mkdir goldens

# golden KEY P50 BEST SHA DATE UUID [L2] -- a line of a golden file.
golden() {
    jq -n -c --arg key "$1" --argjson p50 "$2" --argjson best "$3" --arg sha "$4" --arg date "$5" --arg uuid "$6" \
        --arg l2 "${7:-warm}" '{$key, p50_us: $p50, floor_pct: 0.2, identity: "code 1", pin: "", judge: "raw",
        blocks_us: [$p50, $p50, $p50], best: {p50_us: $best, git_sha: $sha, $date},
        contract: {timer: "graph", $l2, window_us: 200, data: "irwin-hall-8"},
        provenance: {git_sha: "feedfacefeedface", branch: "main", dirty: false, date: "2026-03-04T05:06:07Z",
            reason: "by hand", device: "NVIDIA H200", $uuid, driver: "580.1", cuda: "13.0"}}'
}

# file ARCH -- of the lines on standard input, which are sorted by key.
file() {
    jq -s "{schema: 1, arch: \"$1\", cases: sort_by(.key)}" >"goldens/expectations_$1.json"
}

# stand SHAPE [ARCH] -- rank, backend, golden, own best and per cent over the shape's best, a line a standing.
stand() {
    results ".boards[] | select(.shape == \"$1\" and .arch == \"${2:-h200}\" and .suite == \"board\") | .standings[] |
        \"\(.rank) \(.backend) \(.golden_us) \(.best_us) \(.over_best_pct * 10 | round / 10)\""
}

# ---- nothing to show ----

refused 'no golden file in goldens' leaderboard "${on[@]}"
refused 'no golden file in nowhere' leaderboard "${on[@]}" --expectations nowhere
refused '--arch h200: no golden file of it in goldens' leaderboard "${on[@]}" --arch h200

# ---- by hand: quick was best once and has got slower; middling leads; two's third is on another card and contract ----

{
    golden board/one/quick 30 20 aaaaaaaaaaaaaaaa 2026-01-02T00:00:00Z GPU-1
    golden board/one/middling 25 24 bbbbbbbbbbbbbbbb 2026-01-03T00:00:00Z GPU-1
    golden board/one/heavy 200 150 cccccccccccccccc 2026-01-04T00:00:00Z GPU-1
    golden board/two/quick 10 10 aaaaaaaaaaaaaaaa 2026-01-02T00:00:00Z GPU-1
    golden board/two/middling 12.5 11 bbbbbbbbbbbbbbbb 2026-01-03T00:00:00Z GPU-2
    golden board/two/heavy 5 5 cccccccccccccccc 2026-01-03T00:00:00Z GPU-1 cold
    golden board/gone/quick 1 1 aaaaaaaaaaaaaaaa 2026-01-02T00:00:00Z GPU-1
    golden board/one@n=4/quick 1 1 aaaaaaaaaaaaaaaa 2026-01-02T00:00:00Z GPU-1
    golden other/one/quick 1 1 aaaaaaaaaaaaaaaa 2026-01-02T00:00:00Z GPU-1
} | file h200
golden board/one/quick 90 80 dddddddddddddddd 2026-01-02T00:00:00Z GPU-9 | file l4
# The same, its best of another card.
jq '.schema = 2 | .cases[0].best += {uuid: "GPU-7", ratio: 0, anchor: "", anchor_identity: ""}' \
    goldens/expectations_l4.json >l4.json
mv l4.json goldens/expectations_l4.json

gate leaderboard "${on[@]}" --format json
expect 'status' "$status" 0
expect 'boards: by architecture, shape and contract' \
    "$(results '.boards[] | "\(.arch) \(.shape) \(.contract.l2)"' | tr '\n' ,)" \
    'h200 one warm,h200 two cold,h200 two warm,l4 one warm,'
expect 'one: standings' "$(stand one)" "$(printf '%s\n' '1 middling 25 24 25' '2 quick 30 20 50' '3 heavy 200 150 900')"
expect 'one: the best ever, by whom, when, where' \
    "$(results '.boards[0].best | [.backend, .best_us, .best_git_sha, .best_date, .device, .uuid] | @csv')" \
    '"quick",20,"aaaaaaaaaaaaaaaa","2026-01-02T00:00:00Z","NVIDIA H200","GPU-1"'
expect 'two: contracts are not compared' "$(stand two | tr '\n' ,)" '1 heavy 5 5 0,1 quick 10 10 0,2 middling 12.5 11 25,'
expect 'two: several cards' "$(results '[.boards[] | .several_cards] | @csv')" 'false,false,true,true'
expect 'l4: whose best it is' "$(results '.boards[3].best.uuid')" GPU-7
expect 'l4: without a golden' "$(results '.boards[3].no_golden | sort | @csv')" '"heavy","middling"'

gate leaderboard "${on[@]}" --arch l4 --format json
expect '--arch' "$(results '[.boards[].arch] | @csv')" '"l4"'
gate leaderboard "${on[@]}" --arch l4,h200 --format json
expect '--arch: two, in that order' "$(results '[.boards[].arch] | unique_by(.) | length, .[0]' | head -n 1)" 2
gate leaderboard "${on[@]}" --backend heavy --arch h200 'board/one' --format json
expect 'a selection keeps ranks and the best' "$(stand one)" '3 heavy 200 150 900'
expect 'a selection keeps the best' "$(results '.boards[0].best.backend')" quick
gate leaderboard "${on[@]}" --top 1 --arch h200 'board/one' --format json
expect '--top 1' "$(stand one)" '1 middling 25 24 25'
refused 'no case matches board/four' leaderboard "${on[@]}" board/four
refused 'no golden of a selected case' leaderboard "${on[@]}" board/three
refused '--arch b200: no golden file of it in goldens' leaderboard "${on[@]}" --arch b200
refused '--arch h200: named twice' leaderboard "${on[@]}" --arch h200,h200
refused '--arch nope: no golden file of it in goldens' leaderboard "${on[@]}" --arch h200,nope

gate leaderboard "${on[@]}" --arch h200 --top 2 board/one board/two
cat >wanted <<'END'
h200: goldens/expectations_h200.json
board/one (graph, L2 warm): best 20.0 us by quick, aaaaaaaaaaaa of 2026-01-02, NVIDIA H200
  rank  backend     golden  own best    behind  commit        date        card
     1  middling   25.0 us   24.0 us    +25.0%  bbbbbbbbbbbb  2026-01-03  GPU-1
     2  quick      30.0 us   20.0 us    +50.0%  aaaaaaaaaaaa  2026-01-02  GPU-1
  1 more
board/two (graph, L2 cold): best 5.00 us by heavy, cccccccccccc of 2026-01-03, NVIDIA H200
  rank  backend    golden  own best    behind  commit        date        card
     1  heavy     5.00 us   5.00 us     +0.0%  cccccccccccc  2026-01-03  GPU-1
board/two (graph, L2 warm): best 10.0 us by quick, aaaaaaaaaaaa of 2026-01-02, NVIDIA H200
  rank  backend     golden  own best    behind  commit        date        card
     1  quick      10.0 us   10.0 us     +0.0%  aaaaaaaaaaaa  2026-01-02  GPU-1
     2  middling   12.5 us   11.0 us    +25.0%  bbbbbbbbbbbb  2026-01-03  GPU-2
  times of several cards: some per cent between them say nothing, and a best of another card is one by its ratio
END
expect 'as text' "$(cat out)" "$(cat wanted)"

# Columns are as wide as their longest figure.
{
    golden board/one/quick 0.9 0.1 aaaaaaaaaaaaaaaa 2026-01-02T00:00:00Z GPU-1
    golden board/one/middling 1234567 999994 bbbbbbbbbbbbbbbb 2026-01-03T00:00:00Z GPU-1
    golden board/one/heavy 98765432100 98765432100 cccccccccccccccc 2026-01-04T00:00:00Z GPU-1
} | file b200
gate leaderboard "${on[@]}" --arch b200 board/one
cat >wanted <<'END'
b200: goldens/expectations_b200.json
board/one (graph, L2 warm): best 100 ns by quick, aaaaaaaaaaaa of 2026-01-02, NVIDIA H200
  rank  backend       golden    own best              behind  commit        date        card
     1  quick         900 ns      100 ns             +800.0%  aaaaaaaaaaaa  2026-01-02  GPU-1
     2  middling      1.23 s   999.99 ms      +1234566900.0%  bbbbbbbbbbbb  2026-01-03  GPU-1
     3  heavy     98765.43 s  98765.43 s  +98765432099900.0%  cccccccccccc  2026-01-04  GPU-1
END
expect 'as text: large figures' "$(cat out)" "$(cat wanted)"
rm goldens/expectations_b200.json

sed -i 's/"arch": "l4"/"arch": "b200"/' goldens/expectations_l4.json
refused "expectations_l4.json: holds arch 'b200'" leaderboard "${on[@]}" --arch h200
rm goldens/*

# ---- a run that is a hundred times as fast as the best moves nothing: a bless does ----

gate run "${on[@]}" "${quick[@]}" --format json --allow-undecided board/one --backend quick --seed 0
p50=$(results '.results[0].p50_us * 100') arch=$(results .device.arch)
contract=$(results .contract)
golden board/one/quick "$p50" "$p50" aaaaaaaaaaaaaaaa 2026-01-02T00:00:00Z "$(results .device.uuid)" |
    jq -c --argjson contract "$contract" '.contract = $contract' | file "$arch"
before=$(sum goldens)
decide board/one/s0/quick "${on[@]}" "${quick[@]}" board/one --backend quick
expect 'faster than the best' "$(verdict board/one/s0/quick)" FAST
expect 'faster than the best: the golden file is what it was' "$(sum goldens)" "$before"
gate leaderboard "${on[@]}" --format json
expect 'faster than the best: so is the leaderboard' "$(results '.boards[0].best | [.backend, .best_git_sha] | @csv')" \
    '"quick","aaaaaaaaaaaaaaaa"'
rm goldens/*

# ---- the contest of a run ----

table() { grep -A 8 '^## Contest' results/latest/summary.md || true; }
summary=results/latest/summary.md
gate run "${on[@]}" "${hasty[@]}" --allow-undecided board
expect 'contest: status' "$status" 0
for shape in one two three; do
    expect "contest: $shape is faster, and reads so" "$(awk -F ' *\\| *' -v shape=$shape \
        '$2 == shape && NF == 8 { print ($7 + 0 > 1.5 && $7 ~ /x$/) }' $summary)" 1
done
expect_in 'contest: sides' $summary "Ours: \`quick\`. Baseline: \`heavy\`"
expect_in 'contest: two shapes' $summary "| p50 at least 10% under the baseline's on two shapes | 3 | met |"
expect_in 'contest: a third' $summary '| p50 at least 5% under it on a third | 3 with the two | met |'
expect_in 'contest: spills of a CPU' $summary '| no spills | - | not measured |'
expect 'contest: in the CSV' "$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
    $(at["contest_baseline"]) == "heavy" && $(at["speedup_vs_contest_baseline"]) > 1.5 { print $(at["backend"]) }' \
    results/latest/comparison.csv | sort | uniq -c | awk '{ print $1, $2 }')" '3 quick'
gate run "${on[@]}" "${hasty[@]}" --allow-undecided board/one
expect_in 'contest of one shape' $summary '1 of 3 shapes are compared.'
expect_in 'contest of one shape: is open' $summary \
    "| p50 at least 10% under the baseline's on two shapes | 1 | not measured |"
for without in 'plain' 'board --backend quick,middling' 'board --no-time'; do
    # shellcheck disable=SC2086 # words
    gate run "${on[@]}" "${hasty[@]}" --allow-undecided $without
    expect "$without: status" "$status" 0
    expect "$without: no contest" "$(table)" ''
done
finish
