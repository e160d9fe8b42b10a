/* pathology.c -- what the usual mistakes of a kernel cost: one plain attention kernel, and the same with one mistake
 * planted in each backend. summary.md ranks them by cost over `clean`.
 *
 * Run it to see what a mistake is worth on a device; another shape is a row more. What is planted: pathology.h.
 */
#include "op/sdpa.h"
#include "suites.h"

static const struct sdpa shapes[] = {
    { "b4h16s512", .B = 4, .H = 16, .S = 512, .D = 64, .dtype = KG_F16 }, /* four blocks a multiprocessor of an H200 */
    { "b1h8s2048", .B = 1, .H = 8, .S = 2048, .D = 64, .dtype = KG_F16 }, /* two, and long loops */
};

static const kg_suite_regime regimes[] = { ALL_REGIMES("b1h8s2048") };

static const uint64_t seeds[] = { 0 };

static const kg_backend *const backends[] = {
    &pathology_clean,          &pathology_strided_loads, &pathology_no_staging,
    &pathology_extra_barriers, &pathology_divergence,    &pathology_over_unrolled,
    &pathology_tiny_blocks,    &pathology_serial_batch,  &sdpa_cudnn, /* what the clean one itself is far from */
};

const kg_suite pathology = {
    .name = "pathology",
    .help = "a plain kernel, and what each planted mistake costs it",
    .op = &sdpa_forward,
    .shapes = KG_TABLE(shapes),
    .seeds = KG_LIST(seeds),
    .backends = KG_LIST(backends),
    .regimes = KG_LIST(regimes),
    .anchor = &pathology_clean,
    .anchor_case = STEADY_CASE,
    .clean = &pathology_clean,
    /* All compute the same. Emulated on a CPU with standard normal inputs: max 0.001 and mean 0.0001 at 5 keys,
     * 0.00015 and 0.000016 at 512. Weights and output are rounded to FP16 once each, at most 2^-11 of either, so rel_l2
     * stays under 0.001; one key lost of 2048 gives 0.022. Over the error scale: see sdpa_parity.c; slopes are off by
     * 0.0006 at most. */
    .gates = { .max_abs = 0.004,
               .mean_abs = 0.0003,
               .bad_abs = 0.002,
               .bad_rel = 0.004,
               .bad_pct = 0,
               .rel_l2 = 0.003,
               .scaled = 4,
               .slope = 0.002 },
};
