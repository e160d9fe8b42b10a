#!/usr/bin/env bash
# parity.sh -- sdpa_parity without a GPU: the grid of cases is whole for every backend of the GPU, its CPU cases pass, and
# none is timed. A dimension, length or batch that must be there goes into the grid below.
set -eu -o pipefail
. "$(dirname "$0")/lib.sh"

# ---- the grid ----

gate list sdpa_parity --device cuda --format json
jq -r '.[] | [.backend, .problem.dtype, .problem.D, .problem.B, .problem.S, .problem.causal, .problem.Hkv] | join(" ")' \
    out | sort -u >listed

# whole BATCHES MASKS HEADS -- what must be there: all combinations, for each backend and dtype
whole() {
    local backend dtype dimension batch length mask heads
    for backend in cudnn fa1 flash math; do
        for dtype in f16 bf16; do
            for dimension in 64 80 96 128; do
                for batch in $1; do
                    for length in 1 17 77 448 512 640 1000; do
                        for mask in $2; do
                            for heads in $3; do
                                echo "$backend $dtype $dimension $batch $length $mask $heads"
                            done
                        done
                    done
                done
            done
        done
    done
}
{ whole '1 3' 'false true' '2 4' && whole 8 true 2; } | sort >wanted
expect 'grid: combinations that are missing' "$(comm -13 listed wanted | head -n 3)" ''
expect 'grid: none is timed' "$(jq -r '[.[].timed] | unique | join(" ")' out)" false
rectangles=$(jq -r '[.[] | select(.backend == "flash" and .problem.Skv > 0) | .problem
    | "\(.dtype)_\(.D)_\(if .Skv > .S then "long" else "short" end)"] | unique | .[]' out)
expect 'grid: more keys than queries, and fewer' \
    "$(printf '%s\n' {bf16,f16}_{64,80,96,128}_{long,short} | LC_ALL=C sort | LC_ALL=C comm -13 <(echo "$rectangles") -)" ''

# ---- rows that break limits ----

# limits DEVICE BACKENDS... -- what must be there for each backend: lengths round every tile's edge; both alignments of a
# mask over fewer and more keys than queries, one query, and 128 queries or more that see no key; groups of 3, 4, 7 and 8
# query heads in more than one batch; head dimensions that are no multiple of 16; heads past 65535.
limits() {
    local backend
    gate list sdpa_parity --device "$1" --format json
    shift
    for backend in "$@"; do
        jq -r --arg backend "$backend" '[.[] | select(.backend == $backend) | .problem
            | .Skv = (if .Skv == 0 then .S else .Skv end) | .Hkv = (if .Hkv == 0 then .H else .Hkv end)
            | .mask = (if .bottom_right then "bottom_right" elif .causal then "causal" else "full" end)
            | (if .Skv == .S then "length \(.S) \(if .causal then "causal" else "full" end)"
               else "\(.mask) \(if .Skv > .S then "long" else "short" end)" end),
              (if .S == 1 and .Skv > 128 then "one query, \(.mask)" else empty end),
              (if .bottom_right and .S >= .Skv + 128 then "tiles without a key" else empty end),
              (if .B > 1 then "group \(.H / .Hkv) \(.causal)" else empty end),
              (if .D % 16 != 0 then "dimension \(.D)" else empty end),
              (if .B * .H > 65535 then "heads" else empty end),
              (if .B * .Hkv * .Skv * .D > 2147483648 then "offsets of keys" else empty end),
              (if .B * .H * .S * .D > 2147483648 then "offsets of queries" else empty end)] | unique | .[]' out >has
        expect "limits of $backend: missing" "$(LC_ALL=C comm -13 has limits_wanted)" ''
    done
}
{
    printf 'length %s\n' {63,64,65,127,128,129,192,1025}' '{full,causal}
    printf '%s\n' {causal,bottom_right,full}' long' {causal,bottom_right}' short' 'one query, '{causal,bottom_right}
    printf 'group %s\n' {3,4,7,8}' '{false,true}
    printf '%s\n' 'tiles without a key' 'dimension '{8,40,72,100} heads
} | LC_ALL=C sort >limits_wanted
limits cpu cpu_math cpu_flash
{ cat limits_wanted && printf 'offsets of %s\n' keys queries; } | LC_ALL=C sort >with_offsets
mv with_offsets limits_wanted
limits cuda cudnn flash fa1 math

# ---- rows of pairs, and of threes ----

# meet SUITE DEVICE BACKEND ROWS [REGIME] -- among its rows ROWS_*, any value of a thing that changes meets any value of
# every other, in rows `three` any of any two others, but for those of a REGIME. In rows `ladder` the masks are one thing,
# and so are the score modifiers.
meet() {
    gate list "$1/$4_[0-9]*" --device "$2" --backend "$3" --regime "${5:-normal}" --format json
    expect "$1 on $2, $4 ${5:-}: rows are listed, status" "$status" 0
    jq -r --arg of "$4" --arg regime "${5:-normal}" 'def said(has; value): if has then value else null end;
        [.[].problem
        | { B, H: [.H, .Hkv], S, Skv, D, dtype, mask: [.causal, .bottom_right], scale, o_scale, block_size, alibi, decay, uneven: said($of == "three"; .uneven),
            cap: said(.cap; .softcap), relative: said(.relative; .reach), sliding: said(.sliding; .window),
            prefix: said(.prefix; .prefix_keys), document: said(.document; .doc_span) }
        | if $of == "ladder" then { B, H, S, Skv, D, dtype, scale, o_scale, block_size,
            hides: [.mask, .sliding, .prefix, .document], adds: [.alibi, .decay, .cap, .relative] }
          else .scale |= (. > 0) | .relative |= (. != null) | .sliding |= (. != null) | .prefix |= (. != null) | .document |= (. != null) end] as $rows
        | [$rows[0] | keys[] | . as $key | { $key, values: [$rows[][$key]] | unique } | select(.values | length > 1)] as $things
        | ($things[] as $a | $things[] as $b | select($a.key < $b.key) | $a.values[] as $x | $b.values[] as $y
            | [$rows[] | select(.[$a.key] == $x and .[$b.key] == $y)] as $both
            | if ($both | length) == 0 then "\($a.key) \($x), \($b.key) \($y)"
              elif $of == "three" and $regime == "normal" then $things[] as $c | select($b.key < $c.key) | $c.values[] as $z
                | select(any($both[]; .[$c.key] == $z) | not) | "\($a.key) \($x), \($b.key) \($y), \($c.key) \($z)"
              else empty end)' out >never
    expect "$1 on $2, $4 ${5:-}: what never meets" "$(head -n 3 never)" ''
}
meet fp8_cudnn cpu cpu_fp8 meet
meet sdpa_parity cpu cpu_flash ladder
meet sdpa_parity cuda flash ladder
meet flex_parity cpu cpu_flex ladder
meet flex_parity cuda flex_compiled ladder
meet fp8_cudnn cpu cpu_fp8 ladder
meet sdpa_parity cpu cpu_flash three
meet flex_parity cpu cpu_flex three
meet fp8_cudnn cpu cpu_fp8 three
meet sdpa_parity cuda flash three
meet flex_parity cuda flex_compiled three
meet fp8_cudnn_parity cuda cudnn_fp8 three

# cross SUITE DEVICE BACKEND COUNT STEPS [REGIME ROWS] -- any COUNT classes of CROSSED (suites/suites.h) meet in a row, but
# those of which the smallest row would take over STEPS multiplications; or, alone, in each of the REGIMEs.
cross() {
    gate list "$1${7:+/$7}" --device "$2" --backend "$3" --regime "${6:-normal}" --format json
    jq -r --argjson count "$4" --argjson steps "$5" 'def keys_of: if .Skv == 0 then .S else .Skv end;
        def long($n): [2048, 1024, 256][] as $least | select($n >= $least) | "\($least)";
        def combinations_of($n): if $n == 0 then [] else range(length - $n + 1) as $i | [.[$i]] + (.[$i + 1:] | combinations_of($n - 1)) end;
        def told_apart: (any(.[]; startswith("more")) and any(.[]; test("^(queries|keys) "))) | not; # lengths say which are more
        [.[].problem | select(.dtype != "e4m3" or .o_scale != null) | keys_of as $keys | (if .Hkv == 0 then 1 else .H / .Hkv end) as $group
        | { sizes: [.B, .H, .S, $keys, .D], classes: [
            "queries " + (first(long(.S)) // if .S == 1 then "1" elif .S <= 16 then "few" elif .S % 32 == 0 then "whole" else "cut" end),
            "keys " + (if $keys >= 4096 then "4096" else null end // first(long($keys)) // if $keys % 64 == 0 then "whole" elif $keys < 64 then "few" else "cut" end),
            "more " + (if $keys > .S then "keys" elif $keys < .S then "queries" else "neither" end),
            "batches " + (if .B == 1 then "1" elif .B <= 4 then "few" else "many" end),
            "shared by " + (if $group == 1 then "none" elif .Hkv == 1 then "all" elif $group < 4 then "few"
                elif [4, 8, 16, 32, 64] | index($group) then "many" else "odd" end),
            "heads " + (if .H < 16 then "few" elif .H < 64 then "many" else "most" end),
            "D " + (if .D < 64 then "below" elif .D == 64 then "64" elif .D < 128 then "between" elif .D == 128 then "128" elif .D < 192 then "above" else "192" end),
            "mask " + (if .bottom_right then "bottom" elif .causal then "causal" else "full" end),
            "type \(.dtype)", "scale \(.scale > 0)", (if .o_scale then "o_scale \(.o_scale > 0)" else empty end),
            (["cap", "alibi", "relative", "decay", "prefix", "sliding", "document", "uneven"][] as $which | if .[$which] == null then empty else "\($which) \(.[$which])" end),
            if .block_size then "block " + (if .block_size <= 64 then "64" elif .block_size >= 512 then "512" else "128" end) else empty end] }] as $rows
        | [$rows[].classes[]] | unique as $all
        | ($all | map({ (.): ([. as $class | $rows[] | select(.classes | index([$class])) | .sizes] | transpose | map(min)) }) | add) as $least
        | [$rows[].classes | sort | combinations_of($count) | join(", ")] | unique | map({ (.): true }) | add as $met
        | $all | combinations_of($count) | select((map(split(" ")[:-1] | join(" ")) | unique | length) == $count) | select(told_apart)
        | select((map($least[.]) | transpose | map(max) | reduce .[] as $size (1; . * $size)) <= $steps)
        | join(", ") | select($met[.] | not)' out >never
    expect "$1 on $2, any $4 classes ${6:-}: what never meets" "$(head -n 3 never)" ''
}
cross sdpa_parity cpu cpu_flash 2 100000000
cross sdpa_parity cpu cpu_flash 3 60000
cross sdpa_parity cuda flash 2 100000000
cross flex_parity cpu cpu_flex 2 4000000
cross fp8_cudnn cpu cpu_fp8 2 4000000
for regime in lowest falling rising climbing rising_huge huge_v k32 winner sink_far bottom sixty_four sink_last; do
    cross sdpa_parity cpu cpu_flash 1 100000000 "$regime" 'cross_*'
done
for regime in alternating ascending bottom climbing coded constant descending end_v falling head_scales high huge_sums huge_v \
    k32 large large_k large_q low lowest ones outlier_v outliers poison rising rising_huge sink sink_far sink_far_last sink_last sink_mid \
    sink_small sink_small_last sixty_four sparse ties tiny tiny_sums tiny_v winner zero_heads zero_tiles; do
    cross sdpa_parity cpu cpu_flash 1 100000000 "$regime" 'classes_*'
done
for regime in lowest falling rising winner; do
    cross flex_parity cpu cpu_flex 1 4000000 "$regime" 'cross_*'
    meet sdpa_parity cpu cpu_flash three "$regime"
    meet flex_parity cpu cpu_flex three "$regime"
    meet fp8_cudnn cpu cpu_fp8 three "$regime"
done
for regime in sink_far rising_huge; do
    meet sdpa_parity cuda flash three "$regime"
    meet flex_parity cuda flex_compiled three "$regime"
done

# ---- rows of whole tiles, and modifiers alone ----

# wholes SUITE DEVICE BACKEND DIMENSIONS -- each of them, in each dtype under each mask, has a row of several whole tiles
# of either, and one of one query, shared keys and several batches over whole tiles.
wholes() {
    local mask='if .bottom_right then "bottom" elif .causal then "causal" else "full" end'
    gate list "$1" --device "$2" --backend "$3" --regime none --format json
    jq -r '.[].problem | .Hkv = (if .Hkv == 0 then .H else .Hkv end) | .Skv = (if .Skv == 0 then .S else .Skv end)
        | "\(.D) \(.dtype) \('"$mask"') " as $of | select(.Skv % 64 == 0 and .Skv > 64)
        | if .S == 1 and .B > 1 and .H / .Hkv >= 4 then $of + "one query"
          elif .S % 32 == 0 and .S > 32 then $of + "whole" else empty end' out | sort -u >has
    for dimension in $4; do
        printf '%s\n' "$dimension "{f16,bf16}' '{full,causal,bottom}' '{whole,'one query'}
    done | sort >wanted
    expect "$1 on $2, whole tiles: missing" "$(comm -13 has wanted | head -n 3)" ''
}
wholes sdpa_parity cpu cpu_flash '16 32 48 64 80 96 112 128 160 192 224 256'
wholes sdpa_parity cuda flash '32 64 80 96 112 128 160 192 256'
wholes flex_parity cpu cpu_flex '64 128 256'
wholes flex_parity cuda flex_static '64 128'

# served SUITE DEVICE BACKEND REGIME NUMBERS -- rows served_* in it are of each number, mask and either dimension.
served() {
    gate list "$1/served_*" --device "$2" --backend "$3" --regime "$4" --format json
    expect "$1 on $2, served $4: missing" "$(comm -13 <(jq -r '.[].shape | split("_") | "\(.[1]) \(.[3]) \(.[4])"' out | sort -u) \
        <(for number in $5; do printf "%s $number\n" {64,128}' '{full,causal,bottom}; done | sort) | head -n 3)" ''
}
for suite in 'sdpa_parity cpu cpu_flash' 'flex_parity cpu cpu_flex'; do
    # shellcheck disable=SC2086 # three words
    served $suite normal '1 2 3 4 5'
done
for regime in lowest falling rising winner rising_huge; do
    served sdpa_parity cpu cpu_flash "$regime" '1 2 3 4'
done
served flex_parity cpu cpu_flex lowest '1 2 3 4'

gate list flex_parity --device cpu --backend cpu_flex --regime none --format json
expect 'flex_parity: modifiers alone, and two, under each mask: missing' "$(jq -r '
    ["cap", "alibi", "relative", "decay", "prefix", "sliding", "document"] as $modifiers
    | [.[].problem | . as $p | [.causal, .bottom_right, [$modifiers[] | select($p[.])]]] as $has
    | [$modifiers[] | [.]] + [$modifiers[] as $a | $modifiers[] as $b | select($a < $b) | [$a, $b]] | .[] as $with
    | [[false, false], [true, false], [true, true]][] as $mask
    | select([$has[] | select(.[:2] == $mask and (.[2] | sort) == ($with | sort))] == []) | "\($with) \($mask)"' out | head -n 3)" ''
expect 'flex_parity: every multiple of 8' "$(jq -c '[range(8; 257; 8)] - map(.problem.D)' out)" '[]'
gate list fp8_cudnn --device cpu --regime none --format json
expect 'fp8_cudnn: dimensions under each mask' "$(jq -c '[.[].problem | [.D, .causal, .bottom_right]] as $has
    | [[32, 64, 80, 96, 128, 160, 192, 256][] as $d | [[false, false], [true, false], [true, true]][] | [$d] + .] - $has' out)" '[]'

# ---- on the CPU ----

gate run sdpa_parity --device cpu --format json
expect 'CPU: status' "$status" 0
expect 'CPU: all pass but what a backend does not take' \
    "$(results '[.results[] | select(.verdict != "PASS") | "\(.verdict) \(.backend) \(.D)"] | unique | join(", ")')" \
    "$(printf 'SKIP cpu_flash %s, ' 100 193 {33..39} 4 77 | sed 's/, $//')"
expect 'CPU: nothing is timed' \
    "$(results '[.results[] | select(.verdict == "PASS") | .reason] | unique | join(" ")')" 'right; not timed'
expect 'CPU: dimensions' "$(results '[.results[] | select(.verdict == "PASS") | .D] | unique | join(" ")')" \
    "$(printf '%s\n' 4 {8..256..8} {33..39} 77 100 193 | sort -n | paste -sd ' ')"
expect 'CPU: what a kernel may take for granted' \
    "$(results '[.results[] | select(.backend == "cpu_flash" and .regime == "normal") | .shape] | map(select(test("_d[0-9]+_|rect|limit_|three_|cross_|ladder_|length_|together_|dims_|whole_|served_|classes_|model_") | not)) | sort | join(" ")')" \
    'batches_3 causal_3000 causal_keys_70001 causal_queries_66001 chunk_2305 decode_20000 decode_4097 decode_8192 decode_8200 decode_8200_f16 decode_8207 decode_9000 decode_9003 deep_1 deep_2 deep_3 even_70001 f16_as_e4m3 f16_as_e4m3_causal groups_of_41 groups_of_5 groups_of_7 groups_of_71 heads_300 heads_5 key_heads_300 keys_140000 keys_1m keys_530001 keys_70001_d24 narrow_1030 narrow_520 one_key_head one_tile prompt_1060 prompt_2100 prompt_2100_f16 prompt_700 queries_2304 queries_530001 queries_66001 scale_1024 scale_f16 scale_half scale_one scale_small scales_1 scales_2 square_1100 wide_1100 wide_2049 wide_bf16'

# exact SUITE LEAST -- its rows have each power of two and its neighbours, of queries and of keys (from LEAST on).
exact() {
    gate list "$1" --regime none --device cpu --format json
    expect "$1: powers of two, and one more or less" "$(jq -c --argjson least "$2" \
        '[map(.problem.S), map(.problem | if .Skv == 0 then .S else .Skv end)] as [$queries, $keys]
        | [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024] | map(., . - 1, . + 1) | map(select(. > 0 and . < 1025)) | unique
        | [. - $queries, map(select(. >= $least)) - $keys]' out)" "$3"
}
exact sdpa_parity 1 '[[],[]]'
exact flex_parity 1 '[[],[]]'
exact fp8_cudnn 1 '[[],[257,1023]]'
exact 'fp8_[ps]*' 32 '[[],[]]'
for suite in sdpa_parity flex_parity fp8_cudnn; do
    gate list "$suite" --regime none --device cpu --format json
    expect "$suite: heads that share a key head" "$(jq -c '[range(1; 9), 10, 12, 16, 32] - map(.problem | select(.S > 1) | .H / (if .Hkv == 0 then .H else .Hkv end))' out)" '[]'
done

for suite in sdpa_parity fp8_parity fp8_parity_e4m3 fp8_cudnn; do
    gate list "$suite/length_*" --regime none --device cpu --format json
    expect "$suite: each rest of a division by 16, of queries and of keys" \
        "$(jq -c '[map(.problem.S % 16), map(.problem.Skv % 16)] | map(unique == [range(16)])' out)" '[true,true]'
done
for suite in sdpa_parity fp8_sdpa fp8_sdpa_e4m3 fp8_cudnn; do
    gate list "$suite" --regime none --device cpu --format json
    expect "$suite: whole tiles, more keys than queries and fewer" \
        "$(jq -c '[.[].problem | select(.S % 64 == 0 and .Skv % 64 == 0 and .S != .Skv) | .S < .Skv] | unique' out)" '[false,true]'
done
finish
