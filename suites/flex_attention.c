/* flex_attention.c -- attention with modifiers, eager against compiled, and eager against the kernels that were
 * compiled before: the two targets of the FlexAttention harness.
 *
 * BLOCK_SIZE, DOC_SPAN and TORCH_COMPILE_MODE from the environment, or --set block_size=128, doc_span, window, softcap
 * and the like, sweep without an edit.
 */
#include "flex_rows.h"
#include "suites.h"

#define SEED .B = 2, .H = 8, .S = 1024, .D = 64, .dtype = KG_BF16 /* the harness's workload */
#define SEED_NUMBERS (.doc_span = 256, .block_size = 64)
#define LONG_NUMBERS (.doc_span = 1024, .window = 512, .block_size = 128)

#define SEED_ROWS FLEX_ROWS("_seed", SEED_NUMBERS, SEED), FLEX_BOTTOM_RIGHT("_seed", SEED_NUMBERS, SEED, .Skv = 1536)

static const struct flex static_shapes[] = { SEED_ROWS };
static const struct flex shapes[] = {
    SEED_ROWS,
    FLEX_ROWS("_d128", LONG_NUMBERS, .B = 4, .H = 16, .S = 4096, .D = 128, .dtype = KG_BF16),
    FLEX_ROWS("_d64", LONG_NUMBERS, .B = 4, .H = 32, .S = 4096, .D = 64, .dtype = KG_BF16),
};

/* Blocks of 64 of each kind, and a cut last one. */
#define SMALL .B = 2, .H = 2, .Hkv = 1, .S = 200, .D = 64, .dtype = KG_BF16
#define SMALL_NUMBERS (.doc_span = 60, .window = 40, .prefix_keys = 50, .reach = 20)

static const struct flex cpu_shapes[] = {
    FLEX_ROWS("_small", SMALL_NUMBERS, SMALL),
    FLEX_BOTTOM_RIGHT("_small", SMALL_NUMBERS, SMALL, .Skv = 333),
};

/* All regimes on all rows: flex_parity. */
static const kg_suite_regime regimes[] = {
    ALL_REGIMES("lab_seed"),    ALL_REGIMES("lab_small"),  { "hidden", "*causal_*" },      { "hidden", "document_s*" },
    { "hidden", "sliding_s*" }, { "hidden", "prefix_s*" }, { "hidden", "bottom_right_*" },
};

static const uint64_t seeds[] = { 42 };

static const kg_variable environment[] = {
    { "BLOCK_SIZE", "block_size" },
    { "DOC_SPAN", "doc_span" },
    { "TORCH_COMPILE_MODE", "compile_mode" },
};

static const kg_backend *const backends[] = { &flex_compiled, &flex_eager, &flex_cudnn, &cpu_flex_math, &cpu_flex };
static const kg_backend *const static_backends[] = { &flex_static, &flex_eager, &flex_cudnn, &cpu_flex_math,
                                                     &cpu_flex };

/* Those of cudnn_sdpa, whose note says why. Modifiers add no error that shows: E counts what they round. */
#define GATES                                                                                                          \
    .gates = { .max_abs = 0.03,                                                                                        \
               .mean_abs = 0.001,                                                                                      \
               .bad_abs = 0.01,                                                                                        \
               .bad_rel = 0.01,                                                                                        \
               .bad_pct = 0,                                                                                           \
               .rel_l2 = 0.01,                                                                                         \
               .scaled = 4,                                                                                            \
               .slope = 0.005 }
#define BOTH_SUITES                                                                                                    \
    .op = &flex_attention_op, .cpu_shapes = KG_TABLE(cpu_shapes), .seeds = KG_LIST(seeds),                             \
    .regimes = KG_LIST(regimes), .environment = KG_LIST(environment), .anchor = &flex_eager,                           \
    .cpu_anchor = &cpu_flex_math, GATES

const kg_suite flex_attention = {
    .name = "flex_attention",
    .help = "attention with score modifiers and masks, eager against compiled",
    .shapes = KG_TABLE(shapes),
    .backends = KG_LIST(backends),
    .contest = { &flex_compiled, &flex_eager },
    BOTH_SUITES,
};

const kg_suite flex_attention_static = {
    .name = "flex_attention_static",
    .help = "the same with kernels compiled before",
    .shapes = KG_TABLE(static_shapes),
    .backends = KG_LIST(static_backends),
    .contest = { &flex_static, &flex_eager },
    BOTH_SUITES,
};

/* ---- lengths ---------------------------------------------------------------------------------------------------- */

/* Modifiers whose edges lie within a row of 77. */
#define EDGES (.doc_span = 30, .window = 20, .prefix_keys = 40, .reach = 12, .block_size = 128)

#define HEADS .B = 2, .H = 4, .Hkv = 2
#define CPU_HEADS .B = 2, .H = 2, .Hkv = 1
#define LENGTH(suffix, heads, type, d, s) FLEX_ROWS(suffix, EDGES, heads, .S = s, .D = d, .dtype = type)
#define LENGTHS(suffix, type, d)                                                                                       \
    LENGTH(suffix "_s1", HEADS, type, d, 1), LENGTH(suffix "_s77", HEADS, type, d, 77),                                \
        LENGTH(suffix "_s1000", HEADS, type, d, 1000)

/* Rows, and whole tiles of rows, that see no key; one query; scores that a small cap levels. */
#define OTHERS(suffix, heads, type, d, s)                                                                              \
    FLEX_BOTTOM_RIGHT(suffix "_k40", EDGES, heads, .S = s, .Skv = 40, .D = d, .dtype = type),                          \
        FLEX_BOTTOM_RIGHT(suffix "_k1000", EDGES, heads, .S = 1, .Skv = 1000, .D = d, .dtype = type),                  \
        FLEX_ROW("cap_1" suffix, (.cap = true, .softcap = 1), EDGES, heads, .S = s, .D = d, .dtype = type)

/* Those of all regimes: several blocks, and steps within them. */
#define REGIME_ROWS(suffix, type, d)                                                                                   \
    FLEX_ROWS(suffix "_s300", (.doc_span = 90, .window = 50, .prefix_keys = 100, .reach = 30), HEADS, .S = 300,        \
              .D = d, .dtype = type)

/* Two modifiers that meet; edges that lie beside those of tiles and of bytes; a scale; slopes that are no powers of
 * two; more documents than a byte counts; a steep scale, as sdpa_parity.c has it. */
#define MEETING(type, d, steep)                                                                                        \
    FLEX_ROW("alibi_bottom_right", (.alibi = true), WIDE, HEADS, .S = 77, .Skv = 150, .D = d, .dtype = type,           \
             .causal = true, .bottom_right = true),                                                                    \
        FLEX_ROW("relative_bottom_right", (.relative = true), WIDE, HEADS, .S = 150, .Skv = 77, .D = d, .dtype = type, \
                 .causal = true, .bottom_right = true),                                                                \
        FLEX_ROW("cap_alibi", (.cap = true, .alibi = true), (.softcap = 1), HEADS, .S = 77, .D = d, .dtype = type),    \
        FLEX_ROW("cap_relative", (.cap = true, .relative = true), (.softcap = 1), HEADS, .S = 77, .D = d,              \
                 .dtype = type),                                                                                       \
        FLEX_ROW("window_1", (.sliding = true), (.window = 1), HEADS, .S = 77, .D = d, .dtype = type),                 \
        FLEX_ROW("window_65", (.sliding = true), (.window = 65), HEADS, .S = 200, .D = d, .dtype = type),              \
        FLEX_ROW("scale_half", (.decay = true), (.doc_span = 30), HEADS, .S = 77, .D = d, .dtype = type,               \
                 .scale = 0.5),                                                                                        \
        FLEX_ROW("documents_350", (.document = true), (.doc_span = 2), HEADS, .S = 700, .D = d, .dtype = KG_F16),      \
        FLEX_ROW("slopes_6", (.alibi = true), (.window = 20), .B = 1, .H = 6, .S = 1500, .D = d, .dtype = KG_F16),     \
        FLEX_ROW("scale_" #steep, (.document = true), (.doc_span = 30), HEADS, .S = 77, .D = d, .dtype = type,         \
                 .causal = true, .scale = steep),                                                                      \
        FLEX_ROW("prefix_block_128", (.prefix = true), (.prefix_keys = 50, .block_size = 128), HEADS, .S = 300,        \
                 .D = d, .dtype = type),                                                                               \
        FLEX_ROW("cap_1e6", (.cap = true), (.softcap = 1e6), HEADS, .S = 77, .D = d, .dtype = type)

/* Each modifier under a causal mask aligned bottom-right, and pairs that no row of the suites has. */
#define PAIRS(type, d)                                                                                                 \
    PAIR("sliding_bottom_right", (.sliding = true), type, d, .causal = true, .bottom_right = true),                    \
        PAIR("document_bottom_right", (.document = true), type, d, .causal = true, .bottom_right = true),              \
        PAIR("prefix_bottom_right", (.prefix = true), type, d, .causal = true, .bottom_right = true),                  \
        PAIR("decay_bottom_right", (.decay = true), type, d, .causal = true, .bottom_right = true),                    \
        PAIR("cap_bottom_right", (.cap = true), type, d, .causal = true, .bottom_right = true),                        \
        PAIR("cap_decay", (.cap = true, .decay = true), type, d, .causal = false),                                     \
        PAIR("alibi_decay", (.alibi = true, .decay = true), type, d, .causal = false),                                 \
        PAIR("alibi_relative", (.alibi = true, .relative = true), type, d, .causal = false),                           \
        PAIR("prefix_sliding", (.prefix = true, .sliding = true), type, d, .causal = false),                           \
        PAIR("prefix_document", (.prefix = true, .document = true), type, d, .causal = false),                         \
        PAIR("sliding_document", (.sliding = true, .document = true), type, d, .causal = false)
#define PAIR(name, with, type, d, ...)                                                                                 \
    FLEX_ROW(name, with, (.softcap = 2, .doc_span = 30, .window = 20, .prefix_keys = 40, .reach = 12), HEADS, .S = 77, \
             .Skv = 150, .D = d, .dtype = type, __VA_ARGS__)

#define WIDE (.doc_span = 64, .window = 66, .prefix_keys = 190, .reach = 140)

static const struct flex lengths[] = {
    LENGTHS("_bf16_d64", KG_BF16, 64),
    LENGTHS("_f16_d128", KG_F16, 128),
    LENGTHS("_f16_d64", KG_F16, 64),
    LENGTHS("_bf16_d128", KG_BF16, 128),
    FLEX_ROWS("_bf16_d64_k300", WIDE, HEADS, .S = 200, .Skv = 300, .D = 64, .dtype = KG_BF16),
    FLEX_ROWS("_f16_d128_k77", WIDE, HEADS, .S = 200, .Skv = 77, .D = 128, .dtype = KG_F16),
    MEETING(KG_BF16, 64, 16),
    PAIRS(KG_BF16, 64),
    OTHERS("_bf16_d64", HEADS, KG_BF16, 64, 300),
    OTHERS("_f16_d128", HEADS, KG_F16, 128, 300),
    REGIME_ROWS("_bf16_d64", KG_BF16, 64),
    REGIME_ROWS("_f16_d128", KG_F16, 128),
};

static const struct flex cpu_lengths[] = {
    LENGTH("_bf16_d64_s1", CPU_HEADS, KG_BF16, 64, 1),
    LENGTH("_f16_d40_s77", HEADS, KG_F16, 40, 77),
    FLEX_ROWS("_bf16_d16_k300", WIDE, HEADS, .S = 200, .Skv = 300, .D = 16, .dtype = KG_BF16),
    FLEX_ROWS("_f16_d16_k77", WIDE, CPU_HEADS, .S = 200, .Skv = 77, .D = 16, .dtype = KG_F16),
    MEETING(KG_BF16, 16, 1024),
    PAIRS(KG_F16, 16),
    OTHERS("_bf16_d64", CPU_HEADS, KG_BF16, 64, 130),
};

static const kg_suite_regime length_regimes[] = {
    ALL_REGIMES("*_s300"),         { "hidden", "*_s300" },      ALL_REGIMES("*_f16_d40_s77"),
    { "hidden", "*_f16_d40_s77" }, ALL_REGIMES("cap_1_*"),      ALL_REGIMES("bottom_right_*_k40"),
    { "winner", "*d64_s1000" },    { "hidden", "*d128_s1000" }, { "large", "scale_1*" },
};

static const kg_backend *const length_backends[] = { &flex_compiled, &flex_static,   &flex_eager,
                                                     &flex_cudnn,    &cpu_flex_math, &cpu_flex };

const kg_suite flex_parity = {
    .name = "flex_parity",
    .help = "correctness of modifiers on odd lengths, in both dtypes",
    .op = &flex_attention_op,
    .shapes = KG_TABLE(lengths),
    .cpu_shapes = KG_TABLE(cpu_lengths),
    .seeds = KG_LIST(seeds),
    .backends = KG_LIST(length_backends),
    .regimes = KG_LIST(length_regimes),
    .anchor = &flex_eager,
    .cpu_anchor = &cpu_flex_math,
    GATES,
    .time = { .off = true },
};
