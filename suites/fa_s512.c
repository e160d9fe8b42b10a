/* fa_s512.c -- the canonical shapes of a family of kernels for S = 512, and the slow kernel that it began with.
 *
 * fa_v3_32x64, fa_v3_32x32 and fa_v3_48x64 are slow on purpose (kernels/fused/fa_v3.cu), tens of milliseconds a call on
 * a small GPU. They run on rows of 512 alone, and are still most of what the suite takes: --exclude '*_v3_[0-9]*'
 * leaves them out. Another kernel of the family is a line in `backends`.
 */
#include "op/sdpa.h"
#include "suites.h"

static const struct sdpa shapes[] = {
    { "b1h8", .B = 1, .H = 8, .S = 512, .D = 64, .dtype = KG_F16 },                        /* few tiles: latency */
    { "b1h8_causal", .B = 1, .H = 8, .S = 512, .D = 64, .dtype = KG_F16, .causal = true }, /* and unequal ones */
    { "b4h16", .B = 4, .H = 16, .S = 512, .D = 64, .dtype = KG_F16 },                      /* a few waves of blocks */
    { "b4h16_causal", .B = 4, .H = 16, .S = 512, .D = 64, .dtype = KG_F16, .causal = true },
    { "b8h16", .B = 8, .H = 16, .S = 512, .D = 64, .dtype = KG_F16 }, /* the device is full: throughput */
    { "b8h16_causal", .B = 8, .H = 16, .S = 512, .D = 64, .dtype = KG_F16, .causal = true },
    /* Does what helps at 512 cost elsewhere? Twice the length; more, with twice the dimension; few heads. */
    { "s1024", .B = 8, .H = 16, .S = 1024, .D = 64, .dtype = KG_F16 },
    { "s2048_d128_causal", .B = 4, .H = 16, .S = 2048, .D = 128, .dtype = KG_F16, .causal = true },
    { "s4096_d128_causal", .B = 1, .H = 8, .S = 4096, .D = 128, .dtype = KG_F16, .causal = true },
};

/* A quarter of the length: the plain backend is quadratic. */
static const struct sdpa cpu_shapes[] = {
    { "b1h2s128", .B = 1, .H = 2, .S = 128, .D = 64, .dtype = KG_F16 },
    { "b1h2s128_causal", .B = 1, .H = 2, .S = 128, .D = 64, .dtype = KG_F16, .causal = true },
    { "s128_d128_causal", .B = 1, .H = 1, .S = 128, .D = 128, .dtype = KG_F16, .causal = true }, /* the other D */
};

/* For the kernels that stand in this suite alone. */
static const kg_suite_regime regimes[] = {
    ALL_REGIMES("b1h8*"),
    ALL_REGIMES("b1h2*"),
    { "hidden", "b1h8_causal" },
    { "hidden", "b1h2s128_causal" },
};

static const uint64_t seeds[] = { 42 };

static const kg_backend *const backends[] = {
    &sdpa_cudnn,  &sdpa_cudnn_best, &sdpa_flash, &sdpa_fa1, &fa_v3_32x64, &fa_v3_32x32,
    &fa_v3_48x64, &fa_v3_repaired,  &sdpa_math,  &cpu_math, &cpu_flash,
};

const kg_suite fa_s512 = {
    .name = "fa_s512",
    .help = "S = 512: cuDNN, flash, fa1, and a slow kernel and its repair",
    .op = &sdpa_forward,
    SUITE_TABLES,
    .anchor = &sdpa_math,
    .cpu_anchor = &cpu_math,
    .anchor_case = STEADY_CASE,
    /* At least twice what an honest kernel shows. Simulated with standard normal inputs, weights and output rounded to
     * FP16, D 64 and 128, S 64 to 4096: causal max 0.0012, mean 0.00006, worst element 0.22 of 0.002 + 0.002 |ref|,
     * rel_l2 0.00029; not causal less than half of max. Zeros give rel_l2 1, one key lost of n 1/sqrt(n): 0.016 at
     * S = 4096. Over the error scale: see sdpa_parity.c; slopes are off by 0.0006 at most. */
    .gates = { .max_abs = 0.004,
               .mean_abs = 0.0003, /* of two keys */
               .bad_abs = 0.002,
               .bad_rel = 0.002,
               .bad_pct = 0,
               .rel_l2 = 0.001,
               .scaled = 4,
               .slope = 0.002 },
    /* Single calls: 700 of the slow kernel would take over a minute on a small GPU, which is a hang. */
    .time = { .warmup = 20, .samples = 100, .creep_pct = 2.0 },
    .contest = { .ours = &sdpa_flash, .baseline = &sdpa_cudnn },
};
