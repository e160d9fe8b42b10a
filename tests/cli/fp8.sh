#!/usr/bin/env bash
# fp8.sh -- 8-bit codes without a GPU: the codecs that ship pass, the defects that stage-C kernels once had fail, and
# neither was timed.
set -eu -o pipefail
. "$(dirname "$0")/lib.sh"
flaws=$modules/broken_fp8.so

# ---- the codecs that ship ----

gate run 'fp8_sdpa*' 'fp8_parity*' --device cpu --format json
expect 'codecs: status' "$status" 0
expect 'codecs: all pass' "$(results '[.results[].verdict] | unique | join(" ")')" PASS
expect 'codecs: rows' "$(results '[.results[] | select(.regime == "normal")] | length')" 244
expect 'codecs: regimes' "$(results '[.results[] | select(.regime != "normal")] | length > 0')" true
expect 'codecs: nothing is timed' "$(results '[.results[].reason] | unique | join(" ")')" 'right; not timed'
worst=$(results '[.results[] | select(.suite == "fp8_sdpa" and .shape == "mission" and .regime == "normal") | .mean_abs_err] | max')
expect "linear, mission: mean error $worst is at most 0.003" "$(jq -n "$worst > 0 and $worst <= 0.003")" true
toggles=results/latest/build_meta.json
expect 'toggles are in build_meta.json' \
    "$(jq -r '.build.toggles | [.cpu_stage_c.code, .cpu_stage_c_e4m3.code] | join(" ")' "$toggles")" 'linear e4m3'
gate run fp8_sdpa --device cpu --set S=1 --set Skv=1,33
expect 'one query, one key, one more than a tile: status' "$status" 0

# ---- every variant is a case, and debug_print is never timed ----

gate list fp8_sdpa fp8_sdpa_e4m3 --format json
timed() { # backends of CUDA rows that are timed on normal inputs, or not
    jq -r --argjson timed "$1" '[.[] | select(.device == "cuda" and .regime == "normal" and .timed == $timed) | .backend] | unique | join(" ")' out
}
expect 'timed' "$(timed true)" "cudnn math stage_c stage_c_e4m3 stage_c_e4m3_lut stage_c_e4m3_lut_nocp stage_c_e4m3_nocp$(
    ) stage_c_lut stage_c_lut_nocp stage_c_nocp"
expect 'not timed' "$(timed false)" stage_c_debug_print

# ---- the defects ----

gate run --module "$flaws" --device cpu --no-time --format json
expect 'defects: status' "$status" 1
while read -r id wanted reason; do
    caught "$id" "$wanted" "$reason"
done <<'END'
codes/small/s0/cpu_right PASS right
codes/mission/s0/cpu_right PASS right
codes/s16384/s0/cpu_right PASS right
codes/small/s0/cpu_mismatched FAIL bad_pct
codes/mission/s0/cpu_mismatched FAIL rel_l2
codes/s16384/s0/cpu_mismatched FAIL rel_l2
codes/small/s0/cpu_half_table FAIL max_abs
codes/mission/s0/cpu_half_table FAIL max_abs
codes/s16384/s0/cpu_zero FAIL rel_l2
task_gates/mission/s0/cpu_mismatched PASS right
task_gates/s16384/s0/cpu_zero PASS right
codes/small/s0/cpu_spoiling ERROR the workspace does not hold what was staged
codes/small/s0/cpu_ahead ERROR of 11008 bytes of several inputs
codes/small/s0/cpu_past_the_end ERROR wrote outside the workspace: 0 bytes changed before it, 1 after it
END
finish
