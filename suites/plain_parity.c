/* plain_parity.c -- what the plain kernels of pathology.c and fa_s512.c take and those suites' timed rows do not ask
 * for: cut tiles, grouped heads. Correctness only; another problem is a row more. */
#include "op/sdpa.h"
#include "suites.h"

static const struct sdpa shapes[] = {
    { "s77", .B = 2, .H = 4, .S = 77, .D = 64, .dtype = KG_F16 },
    { "s64_k33", .B = 1, .H = 6, .Hkv = 2, .S = 64, .Skv = 33, .D = 64, .dtype = KG_F16, .scale = 0.3 },
    { "s200_k130", .B = 3, .H = 8, .Hkv = 2, .S = 200, .Skv = 130, .D = 64, .dtype = KG_F16 },
    { "s5_k500", .B = 1, .H = 4, .Hkv = 1, .S = 5, .Skv = 500, .D = 64, .dtype = KG_F16 },
    { "s77_causal", .B = 2, .H = 8, .Hkv = 2, .S = 77, .D = 64, .dtype = KG_F16, .causal = true },
    { "s100_k33_causal", .B = 2, .H = 2, .S = 100, .Skv = 33, .D = 64, .dtype = KG_F16, .causal = true },
    { "s50_k211_causal", .B = 1, .H = 3, .Hkv = 1, .S = 50, .Skv = 211, .D = 64, .dtype = KG_F16, .causal = true },
};

static const kg_suite_regime regimes[] = { ALL_REGIMES("s77*"), { "winner", "s[1256]*" }, { "coded", "s[1256]*" } };

static const uint64_t seeds[] = { 0 };

static const kg_backend *const backends[] = {
    &pathology_clean,       &pathology_strided_loads,
    &pathology_no_staging,  &pathology_extra_barriers,
    &pathology_divergence,  &pathology_over_unrolled,
    &pathology_tiny_blocks, &pathology_serial_batch,
    &fa_v3_32x64,           &fa_v3_32x32,
    &fa_v3_48x64,           &fa_v3_repaired,
};

const kg_suite plain_parity = {
    .name = "plain_parity",
    .help = "correctness of pathology's and fa_s512's plain kernels on odd lengths and grouped heads",
    .op = &sdpa_forward,
    .shapes = KG_TABLE(shapes),
    .seeds = KG_LIST(seeds),
    .backends = KG_LIST(backends),
    .regimes = KG_LIST(regimes),
    .time = { .off = true },
    /* sdpa_parity's for FP16, which holds rows as short. */
    .gates = PARITY_GATES,
};
