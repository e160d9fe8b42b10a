/* flex_attention.c -- attention with modifiers, eager against compiled: the FlexAttention harness's workload.
 *
 * --set block_size=128, doc_span, window and softcap sweep without an edit.
 */
#include "flex_rows.h"
#include "suites.h"

/* Blocks of 64 of each kind, and a cut last one. */
#define SMALL .B = 2, .H = 2, .Hkv = 1, .S = 200, .D = 64, .dtype = KG_BF16
#define SMALL_NUMBERS (.doc_span = 60, .window = 40, .prefix_keys = 50, .reach = 20)

static const struct flex cpu_shapes[] = {
    FLEX_ROWS("_small", SMALL_NUMBERS, SMALL),
    FLEX_BOTTOM_RIGHT("_small", SMALL_NUMBERS, SMALL, .Skv = 333),
};

static const kg_suite_regime regimes[] = {
    ALL_REGIMES("lab_small"),
    ALL_REGIMES("softcap_window_causal_small"),
    ALL_REGIMES("alibi_document_small"),
    { "hidden", "*causal_small" },
    { "hidden", "document_small" },
    { "hidden", "bottom_right_small" },
    { "hidden", "prefix_small" },
    { "hidden", "sliding_small" },
};

static const uint64_t seeds[] = { 42 };

static const kg_backend *const backends[] = { &cpu_flex_math, &cpu_flex };

const kg_suite flex_attention = {
    .name = "flex_attention",
    .help = "attention with score modifiers and masks, eager against compiled",
    .op = &flex_attention_op,
    .cpu_shapes = KG_TABLE(cpu_shapes),
    .seeds = KG_LIST(seeds),
    .backends = KG_LIST(backends),
    .regimes = KG_LIST(regimes),
    .cpu_anchor = &cpu_flex_math,
    .gates = { .max_abs = 0.03,
               .mean_abs = 0.001,
               .bad_abs = 0.01,
               .bad_rel = 0.01,
               .bad_pct = 0,
               .rel_l2 = 0.01,
               .scaled = 4,
               .slope = 0.005 },
    .time = { .regress_pct = 3.0 },
};
