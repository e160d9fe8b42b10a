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

/* All regimes are in flex_parity. */
/* clang-format off */
#define REGIMES                                                                                                        \
    ALL_REGIMES("lab_seed"), { "hidden", "*causal_s*" }, { "hidden", "document_s*" }, { "hidden", "sliding_s*" },      \
    { "hidden", "prefix_s*" }, { "hidden", "bottom_right_*" }
/* clang-format on */
static const kg_suite_regime regimes[] = { REGIMES, ALL_REGIMES("lab_small") };
static const kg_suite_regime static_regimes[] = { REGIMES }; /* on a CPU its kernels are the other suite's */

static const uint64_t seeds[] = { 42 };

static const kg_variable environment[] = {
    { "BLOCK_SIZE", "block_size" },
    { "DOC_SPAN", "doc_span" },
    { "TORCH_COMPILE_MODE", "compile_mode" },
};

static const kg_backend *const backends[] = { &flex_compiled, &flex_eager, &flex_cudnn, &cpu_flex_math, &cpu_flex };
static const kg_backend *const static_backends[] = { &flex_static, &flex_eager, &flex_cudnn, &cpu_flex_math,
                                                     &cpu_flex };

/* Those of cudnn_sdpa, whose note says why, or of sdpa_parity where rows are short. Modifiers add no error that shows:
 * E counts what they round. */
#define GATES(max, mean)                                                                                               \
    .gates = { .max_abs = max,                                                                                         \
               .mean_abs = mean,                                                                                       \
               .bad_abs = 0.01,                                                                                        \
               .bad_rel = 0.01,                                                                                        \
               .bad_pct = 0,                                                                                           \
               .rel_l2 = 0.01,                                                                                         \
               .scaled = 4,                                                                                            \
               .slope = 0.005 }
#define BOTH_SUITES                                                                                                    \
    .op = &flex_attention_op, .cpu_shapes = KG_TABLE(cpu_shapes), .seeds = KG_LIST(seeds),                             \
    .environment = KG_LIST(environment), .anchor = &flex_eager, .cpu_anchor = &cpu_flex_math,                          \
    .anchor_case = STEADY_CASE, GATES(0.03, 0.002)

const kg_suite flex_attention = {
    .name = "flex_attention",
    .help = "attention with score modifiers and masks, eager against compiled",
    .shapes = KG_TABLE(shapes),
    .backends = KG_LIST(backends),
    .contest = { &flex_compiled, &flex_eager },
    .regimes = KG_LIST(regimes),
    BOTH_SUITES,
};

const kg_suite flex_attention_static = {
    .name = "flex_attention_static",
    .help = "the same with kernels compiled before",
    .shapes = KG_TABLE(static_shapes),
    .backends = KG_LIST(static_backends),
    .contest = { &flex_static, &flex_eager },
    .regimes = KG_LIST(static_regimes),
    BOTH_SUITES,
};

/* ---- lengths ---------------------------------------------------------------------------------------------------- */

/* Modifiers whose edges lie within a row of 77. */
#define EDGES (.doc_span = 30, .window = 20, .prefix_keys = 40, .reach = 12, .block_size = 128)

#define HEADS .B = 2, .H = 4, .Hkv = 2
#define CPU_HEADS .B = 2, .H = 2, .Hkv = 1
#define ONE .B = 1, .H = 2, .Hkv = 1
#define ALONE .B = 1, .H = 1
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
        FLEX_ROW("bottom_right_whole", (), WIDE, HEADS, .S = 256, .Skv = 128, .D = d, .dtype = type, .causal = true,   \
                 .bottom_right = true),                                                                                \
        FLEX_ROW("relative_bottom_right", (.relative = true), WIDE, HEADS, .S = 150, .Skv = 77, .D = d, .dtype = type, \
                 .causal = true, .bottom_right = true),                                                                \
        FLEX_ROW("cap_alibi", (.cap = true, .alibi = true), (.softcap = 1), HEADS, .S = 77, .D = d, .dtype = type),    \
        FLEX_ROW("cap_relative", (.cap = true, .relative = true), (.softcap = 1), HEADS, .S = 77, .D = d,              \
                 .dtype = type),                                                                                       \
        FLEX_ROW("window_65", (.sliding = true), (.window = 65), HEADS, .S = 200, .D = d, .dtype = type),              \
        FLEX_ROW("documents_350", (.document = true), (.doc_span = 2), HEADS, .S = 700, .D = d, .dtype = KG_F16),      \
        FLEX_ROW("slopes_6", (.alibi = true), (.window = 20), .B = 1, .H = 6, .S = 100, .Skv = 900, .D = d,            \
                 .dtype = KG_F16),                                                                                     \
        FLEX_ROW("scale_" #steep, (.document = true), (.doc_span = 30), HEADS, .S = 77, .D = d, .dtype = type,         \
                 .causal = true, .scale = steep),                                                                      \
        FLEX_ROW("relative_k40000", (.relative = true), (.reach = 300), .B = 1, .H = 2, .S = 3, .Skv = 40000, .D = d,  \
                 .dtype = type),                                                                                       \
        FLEX_ROW("window_200", (.sliding = true), (.window = 200), HEADS, .S = 400, .D = d, .dtype = type),            \
        FLEX_ROW("cap_1e6", (.cap = true), (.softcap = 1e6), HEADS, .S = 77, .D = d, .dtype = type)

#define CAP(x) .cap = true, .softcap = x
#define ALIBI .alibi = true
#define RELATIVE(x) .relative = true, .reach = x
#define DECAY .decay = true
#define PREFIX(x) .prefix = true, .prefix_keys = x
#define SLIDING(x) .sliding = true, .window = x
#define DOCUMENT(x) .document = true, .doc_span = x
#define BLOCK(x) .block_size = x
#define UNEVEN .uneven = true
/* clang-format off */
/* Where three things meet; edges lie elsewhere in each row. */
#define THREE(n, b, h, keys, s, skv, d, type, mask, factor, has_cap, has_alibi, has_relative, has_decay, has_prefix,   \
              has_sliding, has_document, is_uneven, block)                                                             \
    { { MEET_SIZES("three_" #n, b, h, keys, s, skv, d, mask, factor), .dtype = (enum kg_dtype)dtype_##type },          \
      .cap = has_cap, .alibi = has_alibi, .relative = has_relative, .decay = has_decay, .prefix = has_prefix,          \
      .sliding = has_sliding, .document = has_document, .uneven = is_uneven, .softcap = 1.7,                           \
      .reach = n * 13 % 100 + 1, .prefix_keys = n * 29 % 128 + 1, .window = n * 17 % 64 + 1,                           \
      .doc_span = n * 11 % 60 + 2, BLOCK(block) }
#define THREES(d0, d1, d2)                                                                                             \
    THREE(1, 3, 16, 2, 150, 66, d0, bf16, bottom, 0, 1, 1, 0, 1, 0, 1, 0, 1, 192),                                     \
    THREE(2, 3, 3, 3, 150, 300, d0, f16, full, 0.5, 0, 0, 1, 0, 1, 0, 1, 0, 64),                                       \
    THREE(3, 1, 16, 2, 150, 66, d1, f16, causal, 0, 0, 0, 0, 0, 0, 0, 1, 1, 64),                                       \
    THREE(4, 3, 3, 3, 150, 66, d2, bf16, causal, 0.5, 1, 1, 1, 1, 1, 1, 0, 0, 64),                                     \
    THREE(5, 1, 3, 3, 150, 300, d1, bf16, full, 0, 0, 1, 0, 1, 1, 1, 1, 0, 192),                                       \
    THREE(6, 3, 4, 2, 150, 66, d1, f16, bottom, 0.5, 1, 0, 1, 0, 1, 0, 0, 1, 192),                                     \
    THREE(7, 1, 4, 2, 150, 300, d0, f16, bottom, 0.5, 1, 0, 0, 1, 0, 1, 1, 0, 64),                                     \
    THREE(8, 1, 4, 2, 150, 66, d2, bf16, full, 0, 0, 1, 1, 0, 0, 0, 0, 0, 192),                                        \
    THREE(9, 1, 16, 2, 150, 66, d0, f16, causal, 0.5, 1, 1, 1, 1, 1, 0, 1, 0, 192),                                    \
    THREE(10, 1, 3, 3, 150, 300, d0, f16, causal, 0, 1, 0, 1, 0, 0, 1, 0, 1, 192),                                     \
    THREE(11, 1, 3, 3, 150, 66, d2, bf16, bottom, 0.5, 0, 0, 0, 1, 0, 0, 1, 1, 192),                                   \
    THREE(12, 1, 4, 2, 150, 66, d2, f16, full, 0, 1, 1, 0, 0, 1, 1, 1, 1, 64),                                         \
    THREE(13, 1, 16, 2, 9, 300, d0, bf16, bottom, 0, 0, 1, 1, 1, 1, 0, 0, 1, 64),                                      \
    THREE(14, 3, 4, 2, 150, 66, d0, bf16, causal, 0, 0, 0, 0, 1, 1, 0, 1, 0, 192),                                     \
    THREE(15, 1, 16, 2, 9, 66, d2, f16, full, 0.5, 1, 0, 1, 1, 0, 1, 0, 0, 192),                                       \
    THREE(16, 1, 3, 3, 9, 300, d2, bf16, causal, 0.5, 1, 1, 0, 0, 0, 0, 1, 1, 64),                                     \
    THREE(17, 3, 16, 2, 9, 66, d1, f16, bottom, 0, 0, 1, 1, 0, 0, 1, 1, 0, 64),                                        \
    THREE(18, 3, 4, 2, 9, 300, d1, bf16, full, 0.5, 1, 0, 0, 1, 0, 1, 0, 1, 64),                                       \
    THREE(19, 3, 3, 3, 9, 66, d2, f16, causal, 0, 0, 0, 0, 0, 1, 0, 0, 1, 192),                                        \
    THREE(20, 1, 16, 2, 1, 300, d2, bf16, bottom, 0, 1, 0, 0, 0, 1, 0, 1, 0, 192),                                     \
    THREE(21, 3, 16, 2, 1, 300, d1, f16, causal, 0.5, 0, 1, 1, 1, 0, 1, 0, 1, 192),                                    \
    THREE(22, 3, 16, 2, 1, 66, d2, bf16, full, 0, 1, 1, 1, 1, 0, 0, 1, 1, 64),                                         \
    THREE(23, 3, 4, 2, 1, 300, d2, f16, causal, 0.5, 0, 0, 0, 0, 1, 1, 0, 0, 64),                                      \
    THREE(24, 1, 4, 2, 9, 66, d2, bf16, bottom, 0.5, 0, 1, 1, 1, 1, 1, 1, 0, 192),                                     \
    THREE(25, 1, 16, 2, 9, 66, d1, bf16, causal, 0, 1, 1, 1, 1, 1, 0, 0, 0, 64),                                       \
    THREE(26, 3, 16, 2, 9, 66, d0, bf16, full, 0, 1, 0, 0, 0, 0, 0, 1, 0, 192),                                        \
    THREE(27, 1, 3, 3, 9, 300, d1, f16, bottom, 0.5, 1, 0, 1, 1, 0, 1, 0, 0, 192),                                     \
    THREE(28, 1, 16, 2, 1, 300, d0, f16, full, 0.5, 0, 1, 0, 0, 0, 0, 1, 1, 192),                                      \
    THREE(29, 1, 16, 2, 1, 66, d2, f16, bottom, 0, 0, 0, 1, 1, 0, 1, 0, 0, 64),                                        \
    THREE(30, 1, 16, 2, 1, 66, d2, bf16, causal, 0.5, 1, 0, 1, 0, 1, 1, 1, 1, 192),                                    \
    THREE(31, 3, 3, 3, 1, 300, d2, f16, bottom, 0, 1, 1, 1, 1, 1, 0, 0, 0, 64),                                        \
    THREE(32, 1, 3, 3, 1, 300, d2, bf16, full, 0.5, 0, 0, 0, 1, 0, 1, 0, 1, 192),                                      \
    THREE(33, 3, 16, 2, 1, 66, d1, bf16, full, 0.5, 1, 0, 0, 0, 1, 0, 1, 0, 64),                                       \
    THREE(34, 1, 4, 2, 9, 300, d0, f16, causal, 0, 0, 1, 1, 0, 0, 0, 0, 1, 64),                                        \
    THREE(35, 1, 4, 2, 1, 300, d1, bf16, bottom, 0, 0, 1, 0, 1, 0, 0, 1, 1, 192),                                      \
    THREE(36, 3, 3, 3, 1, 300, d1, f16, causal, 0, 1, 1, 1, 0, 0, 0, 1, 1, 64),                                        \
    THREE(37, 1, 3, 3, 9, 66, d0, bf16, full, 0.5, 0, 1, 0, 1, 1, 1, 0, 0, 64),                                        \
    THREE(38, 1, 4, 2, 9, 66, d1, bf16, causal, 0, 1, 0, 1, 0, 0, 1, 1, 0, 64),                                        \
    THREE(39, 1, 3, 3, 9, 66, d0, bf16, bottom, 0.5, 1, 0, 0, 0, 0, 0, 1, 1, 192),                                     \
    THREE(40, 3, 16, 2, 1, 66, d0, bf16, bottom, 0.5, 1, 0, 1, 1, 1, 1, 0, 0, 64),                                     \
    THREE(41, 3, 4, 2, 1, 66, d0, f16, full, 0, 1, 1, 1, 0, 0, 0, 1, 0, 64),                                           \
    THREE(42, 1, 3, 3, 1, 66, d1, f16, full, 0.5, 1, 1, 1, 1, 0, 1, 1, 0, 192),                                        \
    THREE(43, 1, 3, 3, 1, 66, d0, bf16, causal, 0, 1, 1, 1, 1, 1, 0, 0, 1, 192),                                       \
    THREE(44, 1, 3, 3, 150, 300, d2, bf16, bottom, 0.5, 1, 1, 1, 0, 1, 1, 0, 0, 192),                                  \
    THREE(45, 1, 16, 2, 150, 66, d2, bf16, full, 0.5, 0, 0, 1, 0, 1, 0, 0, 0, 192),                                    \
    THREE(49, 1, 16, 2, 150, 300, d0, bf16, causal, 0, 1, 1, 1, 0, 0, 1, 1, 0, 192)

/* Each with one modifier or none, which a GPU compiles once for many rows; on a CPU with more. Edges lie within a row. */
#define CROSS(n, b, h, keys, s, skv, d, type, mask, factor)                                                            \
    { { MEET_SIZES("cross_" #n, b, h, keys, s, skv, d, mask, factor), .dtype = (enum kg_dtype)dtype_##type },          \
      .cap = n % 4 == 1, .softcap = n % 4 == 1 ? 30 : 0, .alibi = n % 4 == 2, .relative = n % 4 == 3,                  \
      .reach = n % 4 == 3 ? 100 : 0, BLOCK(n % 3 ? 64 : 128) }
#define CPU_CROSS(n, b, h, keys, s, skv, d, type, mask, factor)                                                        \
    { { MEET_SIZES("cross_" #n, b, h, keys, s, skv, d, mask, factor), .dtype = (enum kg_dtype)dtype_##type },          \
      .cap = n * 3 / 11 % 5 < 2, .alibi = n * 2 / 11 % 5 < 2, .relative = n * 2 % 5 < 2, .decay = n / 2 % 5 < 2,       \
      .prefix = n % 5 < 2, .sliding = n * 2 / 5 % 5 < 2, .document = n / 7 % 5 < 2, .uneven = n * 3 / 7 % 5 < 2,       \
      .softcap = 2, .reach = s / 2 + 3, .prefix_keys = skv / 2 + 1, .window = (s > skv ? s : skv + 9) - skv / 2,        \
      .doc_span = s > skv ? s - skv / 3 : skv / 3 + 5,                                                                 \
      BLOCK(n / 3 % 4 == 0 ? 64 : n / 3 % 4 == 1 ? 128 : n / 3 % 4 == 2 ? 512 : 1024) }

/* Between any two neighbouring powers of two a number of keys, for few queries and for many, under each mask and each
 * modifier, whose edges lie as far. */
#define LADDER(n, b, h, keys, s, skv, d, type, mask, factor, ...)                                                      \
    { { MEET_SIZES("ladder_" #n, b, h, keys, s, skv, d, mask, factor), .dtype = (enum kg_dtype)dtype_##type },         \
      __VA_ARGS__ }
#define LADDERS(d0, d1)                                                                                                \
    LADDER(1, 1, 1, 1, 1, 701, d0, bf16, bottom, 0.5, ALIBI, BLOCK(512)),                                              \
    LADDER(2, 1, 1, 1, 6, 701, d1, bf16, full, 0, DECAY, .doc_span = 1000, SLIDING(1500), BLOCK(512)),                 \
    LADDER(3, 1, 4, 2, 70, 701, d0, f16, full, 0, RELATIVE(600), DOCUMENT(1000), BLOCK(512)),                          \
    LADDER(4, 1, 4, 2, 130, 701, d1, bf16, full, 0.5, RELATIVE(600), DOCUMENT(5000), UNEVEN, BLOCK(64)),               \
    LADDER(5, 1, 2, 1, 130, 701, d0, bf16, full, 0, BLOCK(512)),                                                       \
    LADDER(6, 1, 1, 1, 130, 701, d0, bf16, full, 0.5, ALIBI, PREFIX(1400), BLOCK(512)),                                \
    LADDER(7, 1, 2, 1, 130, 701, d1, bf16, full, 0.5, CAP(30), SLIDING(1500), BLOCK(512)),                             \
    LADDER(8, 1, 4, 2, 1, 1501, d0, f16, full, 0.5, SLIDING(1500), BLOCK(64)),                                         \
    LADDER(9, 1, 4, 2, 6, 1501, d0, f16, bottom, 0.5, RELATIVE(600), BLOCK(512)),                                      \
    LADDER(10, 1, 1, 1, 6, 1501, d1, f16, full, 0, PREFIX(1400), BLOCK(512)),                                          \
    LADDER(11, 1, 1, 1, 70, 1501, d1, f16, full, 0.5, CAP(30), BLOCK(64)),                                             \
    LADDER(12, 1, 2, 1, 70, 1501, d0, bf16, full, 0, ALIBI, DOCUMENT(5000), UNEVEN, BLOCK(512)),                       \
    LADDER(13, 1, 1, 1, 130, 1501, d0, bf16, full, 0.5, DECAY, DOCUMENT(1000), BLOCK(512)),                            \
    LADDER(14, 1, 4, 2, 1, 3001, d1, f16, full, 0.5, RELATIVE(600), SLIDING(1500), BLOCK(64)),                         \
    LADDER(15, 1, 4, 2, 1, 3001, d1, bf16, full, 0.5, CAP(30), DOCUMENT(5000), UNEVEN, BLOCK(64)),                     \
    LADDER(16, 1, 4, 2, 1, 3001, d0, bf16, full, 0.5, DOCUMENT(1000), BLOCK(64)),                                      \
    LADDER(17, 1, 4, 2, 6, 3001, d1, bf16, full, 0, ALIBI, BLOCK(64)),                                                 \
    LADDER(18, 1, 2, 1, 70, 3001, d1, f16, full, 0.5, DECAY, .doc_span = 1000, PREFIX(1400), BLOCK(64)),               \
    LADDER(19, 1, 1, 1, 130, 3001, d0, f16, bottom, 0, CAP(30), BLOCK(512)),                                           \
    LADDER(20, 1, 4, 2, 1, 6001, d0, f16, full, 0.5, SLIDING(1500), BLOCK(512)),                                       \
    LADDER(21, 1, 4, 2, 1, 6001, d0, f16, full, 0, DECAY, .doc_span = 1000, BLOCK(512)),                               \
    LADDER(22, 1, 2, 1, 1, 6001, d1, f16, bottom, 0, DECAY, .doc_span = 1000, BLOCK(512)),                             \
    LADDER(23, 1, 4, 2, 1, 6001, d0, bf16, full, 0.5, DOCUMENT(5000), UNEVEN, BLOCK(64)),                              \
    LADDER(24, 1, 2, 1, 6, 6001, d1, bf16, full, 0.5, CAP(30), DOCUMENT(1000), BLOCK(64)),                             \
    LADDER(25, 1, 1, 1, 6, 6001, d0, bf16, full, 0.5, RELATIVE(600), PREFIX(1400), BLOCK(64)),                         \
    LADDER(26, 1, 1, 1, 70, 6001, d1, f16, full, 0, ALIBI, SLIDING(1500), BLOCK(64)),                                  \
    LADDER(27, 1, 1, 1, 130, 6001, d1, f16, full, 0, DECAY, .doc_span = 1000, BLOCK(64)),                              \
    LADDER(28, 1, 4, 2, 1, 12001, d0, bf16, full, 0, CAP(30), PREFIX(1400), BLOCK(64)),                                \
    LADDER(29, 1, 2, 1, 1, 12001, d1, bf16, full, 0, RELATIVE(600), BLOCK(64)),                                        \
    LADDER(30, 1, 4, 2, 1, 12001, d0, bf16, full, 0.5, ALIBI, DOCUMENT(1000), BLOCK(64)),                              \
    LADDER(31, 1, 1, 1, 6, 12001, d0, f16, full, 0, DECAY, DOCUMENT(5000), UNEVEN, BLOCK(512)),                        \
    LADDER(32, 1, 1, 1, 70, 12001, d1, bf16, bottom, 0.5, BLOCK(64)),                                                  \
    LADDER(33, 1, 1, 1, 130, 12001, d0, f16, full, 0, RELATIVE(600), SLIDING(1500), BLOCK(512))

/* Two modifiers and nothing else, but for a causal mask; on a CPU all of them under each mask, and each one alone. */
#define ONLY(label, n, type, d, mask, ...)                                                                             \
    { { label #n, HEADS, .S = 77, .Skv = 150, .D = d, .dtype = type, .causal = mask_##mask,                            \
        .bottom_right = align_##mask },                                                                                \
      .block_size = 64, __VA_ARGS__ }
#define TWO_ALONE(label, type, d, mask)                                                                                \
    ONLY(label, 1, type, d, mask, ALIBI, DECAY, UNEVEN), ONLY(label, 2, type, d, mask, ALIBI, RELATIVE(12)),           \
    ONLY(label, 3, type, d, mask, ALIBI, PREFIX(40)), ONLY(label, 4, type, d, mask, ALIBI, SLIDING(20), UNEVEN),       \
    ONLY(label, 5, type, d, mask, RELATIVE(12), PREFIX(40)), ONLY(label, 6, type, d, mask, RELATIVE(12), SLIDING(20)), \
    ONLY(label, 7, type, d, mask, RELATIVE(12), DOCUMENT(30), UNEVEN),                                                 \
    ONLY(label, 8, type, d, mask, RELATIVE(12), DECAY), ONLY(label, 9, type, d, mask, DECAY, PREFIX(40)),              \
    ONLY(label, 10, type, d, mask, DECAY, SLIDING(20)), ONLY(label, 11, type, d, mask, CAP(2), DECAY),                 \
    ONLY(label, 12, type, d, mask, CAP(2), PREFIX(40)), ONLY(label, 13, type, d, mask, CAP(2), DOCUMENT(30)),          \
    ONLY(label, 14, type, d, mask, PREFIX(40), SLIDING(20)),                                                           \
    ONLY(label, 15, type, d, mask, PREFIX(40), DOCUMENT(30), UNEVEN),                                                  \
    ONLY(label, 16, type, d, mask, SLIDING(20), DOCUMENT(30))
#define ALL_ALONE(label, type, d, mask)                                                                                \
    TWO_ALONE(label, type, d, mask), ONLY(label, 17, type, d, mask, CAP(2), ALIBI),                                    \
    ONLY(label, 18, type, d, mask, CAP(2), RELATIVE(12)), ONLY(label, 19, type, d, mask, CAP(2), SLIDING(20)),         \
    ONLY(label, 20, type, d, mask, ALIBI, DOCUMENT(30)), ONLY(label, 21, type, d, mask, DECAY, DOCUMENT(30)),          \
    ONLY(label, 22, type, d, mask, CAP(2)), ONLY(label, 23, type, d, mask, ALIBI),                                     \
    ONLY(label, 24, type, d, mask, RELATIVE(12)), ONLY(label, 25, type, d, mask, DECAY, .doc_span = 30),               \
    ONLY(label, 26, type, d, mask, PREFIX(40)), ONLY(label, 27, type, d, mask, SLIDING(20)),                           \
    ONLY(label, 28, type, d, mask, DOCUMENT(30))

/* Whole tiles of either, and one query of groups of 4: in each dtype, under each mask. */
#define WHOLE(d, type, mask)                                                                                           \
    { { MEET_SIZES("whole_" #d "_" #type "_" #mask "_1", 1, 2, 1, 64, 192, d, mask, 0),                                \
        .dtype = (enum kg_dtype)dtype_##type },                                                                        \
      BLOCK(64) },                                                                                                     \
    { { MEET_SIZES("whole_" #d "_" #type "_" #mask "_2", 2, 8, 2, 1, 128, d, mask, 0),                                 \
        .dtype = (enum kg_dtype)dtype_##type },                                                                        \
      ALIBI, BLOCK(64) }
#define WHOLES(d) EACH_MASK(WHOLE, d)

/* clang-format on */

#define WIDE (.doc_span = 64, .window = 66, .prefix_keys = 190, .reach = 140)

/* Far from where short rows end: more blocks of keys than a byte counts, weights that ALiBi takes to 0, a decay past
 * FP32's range, more queries than a short counts, more documents than 16 bits do, a common soft cap; and work enough
 * for threads under the modifiers that have no other such row. */
#define FAR(d)                                                                                                         \
    FLEX_ROW("far_prefix", (), (PREFIX(100), BLOCK(64)), ONE, .S = 3, .Skv = 20000, .D = d, .dtype = KG_F16),          \
        FLEX_ROW("far_document", (), (DOCUMENT(200), BLOCK(64)), ONE, .S = 3, .Skv = 20000, .D = d, .dtype = KG_BF16), \
        FLEX_ROW("far_documents", (), (DOCUMENT(1), BLOCK(512)), ONE, .S = 3, .Skv = 70001, .D = d, .dtype = KG_F16),  \
        FLEX_ROW("far_sliding", (), (SLIDING(69990)), ALONE, .S = 70001, .Skv = 9, .D = d, .dtype = KG_F16),           \
        FLEX_ROW("far_decay", (), (DECAY, .doc_span = 1), ONE, .S = 200, .D = d, .dtype = KG_F16),                     \
        FLEX_ROW("far_alibi", (), (ALIBI), .B = 1, .H = 4, .Hkv = 2, .S = 200, .Skv = 1000, .D = d, .dtype = KG_F16),  \
        FLEX_ROW("far_alibi_k70001", (), (ALIBI), ONE, .S = 3, .Skv = 70001, .D = d, .dtype = KG_BF16),                \
        FLEX_ROW("far_decay_k70001", (), (DECAY, .doc_span = 5000), ONE, .S = 3, .Skv = 70001, .D = d,                 \
                 .dtype = KG_F16),                                                                                     \
        FLEX_ROW("cap_half", (), (CAP(0.5)), HEADS, .S = 77, .D = d, .dtype = KG_F16),                                 \
        FLEX_ROW("cap_steep", (), (CAP(2)), HEADS, .S = 77, .D = d, .dtype = KG_F16, .scale = 2),                      \
        FLEX_ROW("cap_far", (), (CAP(1)), ONE, .S = 10, .Skv = 6000, .D = d, .dtype = KG_BF16),                        \
        FLEX_ROW("reach_far", (), (RELATIVE(6000)), ONE, .S = 3, .Skv = 8000, .D = d, .dtype = KG_BF16),               \
        FLEX_ROW("causal_17000", (), (BLOCK(64)), ALONE, .S = 17000, .Skv = 200, .D = d, .dtype = KG_F16,              \
                 .causal = true),                                                                                      \
        FLEX_ROW("cap_50", (), (CAP(50)), HEADS, .S = 77, .D = d, .dtype = KG_F16),                                    \
        FLEX_ROW("threads", (), (CAP(30), RELATIVE(140), PREFIX(33)), .B = 1, .H = 1, .S = 801, .D = 2 * d,            \
                 .dtype = KG_F16)

/* Edges far from each other in rows of many queries too. */
#define FAR_EDGES(d, wide)                                                                                             \
    FLEX_ROW("edges_window", (), (SLIDING(1000)), ALONE, .S = 1500, .D = wide, .dtype = KG_F16),                       \
        FLEX_ROW("edges_documents", (), (DECAY, DOCUMENT(700), BLOCK(512)), .B = 2, .H = 1, .S = 1500, .D = d,         \
                 .dtype = KG_BF16),                                                                                    \
        FLEX_ROW("edges_document", (), (DOCUMENT(5000), UNEVEN), ALONE, .S = 1700, .D = d, .dtype = KG_BF16),          \
        FLEX_ROW("edges_prefix", (), (PREFIX(1400), BLOCK(512)), ALONE, .S = 1500, .D = d, .dtype = KG_F16),           \
        FLEX_ROW("edges_reach", (), (RELATIVE(600)), ALONE, .S = 1300, .D = d, .dtype = KG_F16),                       \
        FLEX_ROW("edges_causal", (), (SLIDING(300)), ONE, .S = 400, .D = d, .dtype = KG_F16, .causal = true),          \
        FLEX_ROW("edges_blocks", (), (SLIDING(128), BLOCK(64)), ONE, .S = 600, .D = d, .dtype = KG_BF16),              \
        FLEX_ROW("edges_both", (), (DOCUMENT(200), BLOCK(128)), .B = 2, .H = 1, .S = 700, .D = d, .dtype = KG_F16,     \
                 .causal = true),                                                                                      \
        FLEX_ROW("edges_slopes", (), (ALIBI), .B = 1, .H = 8, .S = 1100, .Skv = 20, .D = d, .dtype = KG_BF16),         \
        FLEX_ROW("edges_many", (), (ALIBI, DOCUMENT(70)), .B = 2, .H = 16, .Hkv = 2, .S = 256, .Skv = 320, .D = d,     \
                 .dtype = KG_F16),                                                                                     \
        FLEX_ROW("edges_bottom", (), (CAP(2), SLIDING(300)), ALONE, .S = 1030, .Skv = 1100, .D = d, .dtype = KG_BF16,  \
                 .causal = true, .bottom_right = true, .scale = 0.5),                                                  \
        FLEX_ROW("edges_prefix_bottom", (), (PREFIX(190)), HEADS, .S = 256, .Skv = 300, .D = d, .dtype = KG_F16,       \
                 .causal = true, .bottom_right = true),                                                                \
        FLEX_ROW("edges_uneven", (), (DOCUMENT(100), UNEVEN, BLOCK(1024)), ALONE, .S = 1700, .D = d, .dtype = KG_F16), \
        FLEX_ROW("edges_counted", (), (DOCUMENT(256), BLOCK(512)), ALONE, .S = 1024, .D = d, .dtype = KG_F16),         \
        FLEX_ROW("edges_capped", (), (CAP(1)), ONE, .S = 1100, .Skv = 100, .D = d, .dtype = KG_BF16),                  \
        FLEX_ROW("few_causal", (), (BLOCK(64)), HEADS, .S = 9, .Skv = 600, .D = d, .dtype = KG_BF16, .causal = true,   \
                 .bottom_right = true),                                                                                \
        FLEX_ROW("few_full", (), (BLOCK(128)), HEADS, .S = 70, .Skv = 600, .D = d, .dtype = KG_BF16),                  \
        FLEX_ROW("far_alibi_causal", (), (ALIBI), .B = 1, .H = 4, .Hkv = 2, .S = 500, .D = d, .dtype = KG_F16,         \
                 .causal = true),                                                                                      \
        FLEX_ROW("far_alibi_document", (), (ALIBI, DOCUMENT(450)), .B = 1, .H = 4, .Hkv = 2, .S = 500, .D = d,         \
                 .dtype = KG_F16)

/* Lengths of whole tiles whose last block is cut, and nothing that hides what is behind it; by each tile of a GPU's. */
#define CUT_BLOCKS(d)                                                                                                  \
    FLEX_ROW("cut_block_d" #d "_1", (), (ALIBI, BLOCK(128)), HEADS, .S = 128, .Skv = 192, .D = d, .dtype = KG_F16),    \
        FLEX_ROW("cut_block_d" #d "_2", (), (CAP(2), BLOCK(192)), HEADS, .S = 64, .Skv = 320, .D = d,                  \
                 .dtype = KG_BF16),                                                                                    \
        FLEX_ROW("cut_block_d" #d "_3", (), (PREFIX(300), BLOCK(128)), .B = 40, .H = 4, .Hkv = 2, .S = 256, .Skv = 64, \
                 .D = d, .dtype = KG_F16),                                                                             \
        FLEX_ROW("cut_block_d" #d "_4", (), (RELATIVE(12), BLOCK(128)), .B = 80, .H = 4, .Hkv = 2, .S = 128,           \
                 .Skv = 192, .D = d, .dtype = KG_BF16),                                                                \
        FLEX_ROW("cut_block_d" #d "_5", (), (BLOCK(192)), HEADS, .S = 128, .Skv = 256, .D = d, .dtype = KG_BF16),      \
        FLEX_ROW("cut_block_d" #d "_6", (), (DOCUMENT(100), BLOCK(384)), HEADS, .S = 1024, .D = d, .dtype = KG_F16)

#define SERVE(n, b, h, keys, s, skv, d, type, mask)                                                                    \
    { { MEET_SIZES("served_" #d "_" #type "_" #mask "_" #n, b, h, keys, s, skv, d, mask, 0),                           \
        .dtype = (enum kg_dtype)dtype_##type },                                                                        \
      .alibi = n % 2 == 0, BLOCK(128) }
#define SERVED_OF(d, type, mask) SERVED(SERVE, d, type, mask)

/* Sizes of served models in which three or four classes of suites.h meet, each under one modifier. */
#define MODELS(wide)                                                                                                   \
    FLEX_ROW("model_packed", (), (DOCUMENT(300)), ALONE, .S = 1030, .D = 64, .dtype = KG_BF16, .causal = true),        \
        FLEX_ROW("model_window", (), (SLIDING(300)), ALONE, .S = 1030, .D = 128, .dtype = KG_BF16, .causal = true),    \
        FLEX_ROW("model_slopes", (), (ALIBI), .B = 1, .H = 64, .Hkv = 8, .S = 4, .Skv = 77, .D = 64, .dtype = KG_F16), \
        FLEX_ROW("model_cap", (), (CAP(5)), ALONE, .S = 64, .Skv = 2048, .D = wide, .dtype = KG_BF16, .causal = true,  \
                 .bottom_right = true),                                                                                \
        FLEX_ROW("model_reach", (), (RELATIVE(6000)), ONE, .S = 2, .Skv = 20000, .D = 64, .dtype = KG_BF16)

/* Documents packed into long rows, as models are trained, under what else hides keys; a window over many tiles of
 * either; biases past 15 bits; a block larger than 1024; arrays by key past 16 bits in all; heads past 65535. */
#define PACKED(d)                                                                                                      \
    FLEX_ROW("packed_window", (), (DOCUMENT(90), SLIDING(40), BLOCK(64)), HEADS, .S = 200, .D = d, .dtype = KG_BF16,   \
             .causal = true),                                                                                          \
        FLEX_ROW("packed_alibi", (), (DOCUMENT(90), ALIBI, BLOCK(64)), HEADS, .S = 200, .D = d, .dtype = KG_F16,       \
                 .causal = true),                                                                                      \
        FLEX_ROW("window_1100", (), (SLIDING(300), BLOCK(128)), ALONE, .S = 1100, .D = d, .dtype = KG_BF16,            \
                 .causal = true),                                                                                      \
        FLEX_ROW("reach_20000", (), (RELATIVE(20000)), ONE, .S = 8, .Skv = 25000, .D = d, .dtype = KG_F16),            \
        FLEX_ROW("block_2048", (), (DOCUMENT(700), BLOCK(2048)), ALONE, .S = 100, .Skv = 2100, .D = d,                 \
                 .dtype = KG_BF16),                                                                                    \
        FLEX_ROW("packed_9", (), (DOCUMENT(4000), BLOCK(512)), .B = 9, .H = 1, .S = 3, .Skv = 9000, .D = d,            \
                 .dtype = KG_F16),                                                                                     \
        FLEX_ROW("packed_b8", (), (DOCUMENT(64), BLOCK(64)), .B = 8, .H = 1, .S = 200, .D = d, .dtype = KG_BF16),       \
        FLEX_ROW("documents_q66000", (), (DOCUMENT(20)), ALONE, .S = 66000, .Skv = 40, .D = d, .dtype = KG_F16),      \
        FLEX_ROW("decay_q66000", (), (DECAY, .doc_span = 40), ALONE, .S = 66000, .Skv = 40, .D = d, .dtype = KG_F16), \
        FLEX_ROW("square_1100", (), (BLOCK(128)), ALONE, .S = 1100, .D = 128, .dtype = KG_F16),                        \
        FLEX_ROW("limit_heads", (), (BLOCK(64)), .B = 33000, .H = 2, .S = 1, .Skv = 3, .D = d, .dtype = KG_F16)

/* Where the first key that a row does not see lies in its tile: anywhere. */
#define EDGE(s, keys, d, block, more)                                                                                  \
    FLEX_ROW("edge_s" #s "_d" #d "_more" #more, (), (BLOCK(block)), .B = 1, .H = 2, .Hkv = 1, .S = s,                  \
             .Skv = s + keys + more, .D = d, .dtype = KG_BF16, .causal = true, .bottom_right = true)

/* Work for two threads, rows that they cannot share evenly; blocks whose pairs 16 bits do not count; a band that no
 * corner of a block lies in; more heads than 7 bits count, batches past a byte; slopes that take a maximum up by less
 * than 2^8 a tile, past FP32's range in all; rows alike but for their windows, each wrong with another's blocks: three,
 * as two processes share the cases. */
#define WINDOWED(n, d) FLEX_ROW("window_" #n, (), (SLIDING(n), BLOCK(64)), ALONE, .S = 300, .D = d, .dtype = KG_F16)
#define RARE(d, wide)                                                                                                  \
    FLEX_ROW("threads_odd", (), (CAP(30), RELATIVE(140), BLOCK(256)), ALONE, .S = 803, .D = wide, .dtype = KG_F16),    \
        FLEX_ROW("wide_head", (), (ALIBI, SLIDING(20)), ONE, .S = 17, .Skv = 33, .D = 128, .dtype = KG_BF16),          \
        FLEX_ROW("band_15", (), (SLIDING(15)), ONE, .S = 400, .Skv = 390, .D = d, .dtype = KG_BF16, .causal = true,    \
                 .bottom_right = true),                                                                                \
        FLEX_ROW("heads_300", (), (ALIBI, RELATIVE(12)), .B = 1, .H = 300, .Hkv = 30, .S = 9, .Skv = 33, .D = d,       \
                 .dtype = KG_BF16),                                                                                    \
        FLEX_ROW("batches_300", (), (DOCUMENT(6)), .B = 300, .H = 1, .S = 20, .D = d, .dtype = KG_F16),                \
        FLEX_ROW("reach_600", (), (RELATIVE(600)), ONE, .S = 3, .Skv = 1300, .D = d, .dtype = KG_BF16),                \
        FLEX_ROW("alibi_1500", (), (ALIBI), ALONE, .S = 1500, .D = d, .dtype = KG_F16, .causal = true),                \
        FLEX_ROW("alibi_k2000", (), (ALIBI), .B = 1, .H = 4, .Hkv = 2, .S = 17, .Skv = 2000, .D = d, .dtype = KG_F16), \
        WINDOWED(10, d), WINDOWED(100, d), WINDOWED(290, d)

/* Rows alike but for their documents or prefix, as with windows; places past 16 bits under what else hides keys, in a
 * table of biases too; long rows of several heads that share keys, with a scale of their own. */
#define SPANNED(n, d)                                                                                                  \
    FLEX_ROW("documents_of_" #n, (), (DOCUMENT(n), BLOCK(64)), ALONE, .S = 300, .D = d, .dtype = KG_F16)
#define PREFIXED(n, d) FLEX_ROW("prefix_" #n, (), (PREFIX(n), BLOCK(64)), ALONE, .S = 300, .D = d, .dtype = KG_F16)
#define LONG(d)                                                                                                        \
    SPANNED(20, d), SPANNED(70, d), SPANNED(150, d), PREFIXED(10, d), PREFIXED(100, d), PREFIXED(250, d),              \
        FLEX_ROW("far_causal", (), (BLOCK(64)), ONE, .S = 3, .Skv = 70001, .D = d, .dtype = KG_F16, .causal = true,    \
                 .bottom_right = true),                                                                                \
        FLEX_ROW("far_prefix_k70001", (), (PREFIX(69000), BLOCK(64)), ONE, .S = 3, .Skv = 70001, .D = d,               \
                 .dtype = KG_F16),                                                                                     \
        FLEX_ROW("reach_4000", (), (RELATIVE(4000)), .B = 1, .H = 10, .S = 3, .Skv = 33, .D = d, .dtype = KG_F16),     \
        FLEX_ROW("prompt_600", (), (ALIBI, UNEVEN), .B = 1, .H = 4, .Hkv = 2, .S = 600, .D = d, .dtype = KG_BF16,      \
                 .scale = 0.5),                                                                                        \
        FLEX_ROW("decode_9000", (), (DOCUMENT(5000), UNEVEN), .B = 2, .H = 4, .Hkv = 2, .S = 1, .Skv = 9000, .D = d,   \
                 .dtype = KG_F16, .scale = 0.3)

/* More rows alike but for one thing; all modifiers of a kind on wide heads; lengths of few queries and of many. */
#define CAPPED(n, d) FLEX_ROW("cap_of_" #n, (), (CAP(n)), ALONE, .S = 70, .D = d, .dtype = KG_F16)
#define DECAYED(n, d) FLEX_ROW("decay_of_" #n, (), (DECAY, .doc_span = n), ALONE, .S = 70, .D = d, .dtype = KG_F16)
#define BATCHED(b, d) FLEX_ROW("batches_of_" #b, (), (ALIBI), .B = b, .H = 2, .S = 40, .D = d, .dtype = KG_F16)
#define KEYED(n, d)                                                                                                    \
    FLEX_ROW("key_heads_of_" #n, (), (ALIBI), .B = 1, .H = 4, .Hkv = n, .S = 40, .D = d, .dtype = KG_F16)
#define SCALED(n, d)                                                                                                   \
    FLEX_ROW("scale_of_" #n, (), (ALIBI), .B = 1, .H = 2, .S = 40, .D = d, .dtype = KG_F16, .scale = 0.1 * n)
#define ALIKE(d)                                                                                                       \
    BATCHED(1, d), BATCHED(2, d), BATCHED(3, d), KEYED(1, d), KEYED(2, d), KEYED(4, d), SCALED(2, d), SCALED(4, d),    \
        SCALED(7, d), CAPPED(2, d), CAPPED(7, d), CAPPED(30, d), DECAYED(1, d), DECAYED(9, d), DECAYED(40, d), WINDOWED(95, d),          \
        PREFIXED(127, d), WINDOWED(1, d), PREFIXED(1, d),                                                              \
        FLEX_ROW("wide_all", (), (CAP(2), ALIBI, DECAY, UNEVEN, .doc_span = 30), HEADS, .S = 50, .Skv = 66, .D = 128,  \
                 .dtype = KG_F16, .scale = 0.5, .causal = true, .bottom_right = true),                                 \
        FLEX_ROW("prefix_s66", (), (PREFIX(10)), ONE, .S = 66, .D = d, .dtype = KG_F16),                               \
        FLEX_ROW("few_scale", (), (ALIBI), HEADS, .S = 5, .Skv = 600, .D = d, .dtype = KG_BF16, .scale = 0.0004),      \
        FLEX_ROW("doc_window", (), (DOCUMENT(30), SLIDING(200)), HEADS, .S = 300, .Skv = 77, .D = d, .dtype = KG_F16), \
        FLEX_ROW("uneven_1", (), (DOCUMENT(64), BLOCK(64)), ALONE, .S = 200, .D = d, .dtype = KG_F16),                 \
        FLEX_ROW("uneven_2", (), (DOCUMENT(64), BLOCK(64)), ALONE, .S = 200, .D = d, .dtype = KG_F16),                 \
        FLEX_ROW("uneven_3", (), (DOCUMENT(64), BLOCK(64), UNEVEN), ALONE, .S = 200, .D = d, .dtype = KG_F16),         \
        FLEX_ROW("uneven_4", (), (DOCUMENT(64), BLOCK(64), UNEVEN), ALONE, .S = 200, .D = d, .dtype = KG_F16),         \
        FLEX_ROW("aligned_1", (), (BLOCK(64)), ALONE, .S = 100, .Skv = 333, .D = d, .dtype = KG_F16, .causal = true),  \
        FLEX_ROW("aligned_2", (), (BLOCK(64)), ALONE, .S = 100, .Skv = 333, .D = d, .dtype = KG_F16, .causal = true),  \
        FLEX_ROW("aligned_3", (), (BLOCK(64)), ALONE, .S = 100, .Skv = 333, .D = d, .dtype = KG_F16, .causal = true,   \
                 .bottom_right = true),                                                                                \
        FLEX_ROW("aligned_4", (), (BLOCK(64)), ALONE, .S = 100, .Skv = 333, .D = d, .dtype = KG_F16, .causal = true,   \
                 .bottom_right = true)

/* A number that lies round a tile's or a block's edge: windows, prefixes, reaches, queries under what hides keys; more
 * blocks than 16 bits count; as large models decode. */
#define REACHING(n, d) FLEX_ROW("reach_" #n, (), (RELATIVE(n), BLOCK(64)), ALONE, .S = 300, .D = d, .dtype = KG_BF16)
#define QUERIES(s, d)                                                                                                  \
    FLEX_ROW("prefix_100_s" #s, (), (PREFIX(100), BLOCK(64)), ALONE, .S = s, .D = d, .dtype = KG_F16),                 \
        FLEX_ROW("causal_s" #s, (), (BLOCK(64)), ALONE, .S = s, .Skv = 333, .D = d, .dtype = KG_BF16, .causal = true), \
        FLEX_ROW("window_40_s" #s, (), (SLIDING(40), BLOCK(64)), ALONE, .S = s, .D = d, .dtype = KG_F16,               \
                 .causal = true)
#define EXACT(s, keys, d)                                                                                              \
    FLEX_ROW("powers_s" #s, (), (ALIBI, BLOCK(64)), .B = 1, .H = 2, .Hkv = 1, .S = s, .Skv = keys, .D = d,             \
             .dtype = KG_F16)
#define GROUPED(ratio, heads, d)                                                                                       \
    FLEX_ROW("groups_of_" #ratio, (), (ALIBI, BLOCK(64)), .B = 2, .H = heads, .Hkv = 2, .S = 33, .D = d,               \
             .dtype = KG_F16)
#define AROUND(d, wide)                                                                                                \
    WINDOWED(63, d), WINDOWED(64, d), WINDOWED(127, d), WINDOWED(128, d), WINDOWED(129, d), PREFIXED(63, d),           \
        PREFIXED(64, d), PREFIXED(65, d), PREFIXED(128, d), PREFIXED(129, d), PREFIXED(257, d), REACHING(1, d),        \
        REACHING(33, d), REACHING(34, d), REACHING(63, d), REACHING(64, d), REACHING(65, d), REACHING(66, d),          \
        QUERIES(127, d), QUERIES(128, d), QUERIES(129, d), QUERIES(257, d),                                            \
        FLEX_ROW("blocks_66000", (), (SLIDING(1000), DOCUMENT(700), BLOCK(64)), .B = 16, .H = 64, .Hkv = 1, .S = 1,    \
                 .Skv = 4160, .D = d, .dtype = KG_F16),                                                                \
        HEAD_GROUPS(GROUPED, d),                                                                                       \
        FLEX_ROW("window_128_causal", (), (SLIDING(128), BLOCK(64)), ALONE, .S = 300, .D = d, .dtype = KG_F16,         \
                 .causal = true),                                                                                      \
        FLEX_ROW("decode_4097", (), (CAP(50), BLOCK(64)), .B = 1, .H = 8, .Hkv = 2, .S = 9, .Skv = 4097, .D = wide,    \
                 .dtype = KG_BF16, .causal = true, .bottom_right = true)

/* Of a GPU: so many rows that kernels take their largest tiles, for many regimes; a number of heads that is no power of
 * two, of many batches; documents that end within a block of 512; keys that no cache holds; past 2^31 scores. */
#define MANY .B = 1, .H = 100, .Hkv = 25, .S = 350
#define LARGE_TILES                                                                                                    \
    FLEX_ROW("large_cap", (), (CAP(50), BLOCK(128)), MANY, .D = 64, .dtype = KG_F16),                                  \
        FLEX_ROW("large_cap_bf16", (), (CAP(100), BLOCK(128)), MANY, .D = 128, .dtype = KG_BF16, .scale = 0.2),        \
        FLEX_ROW("large_causal", (), (ALIBI, BLOCK(128)), MANY, .D = 128, .dtype = KG_F16, .causal = true),            \
        FLEX_ROW("large_document", (), (DOCUMENT(100), UNEVEN, BLOCK(128)), MANY, .D = 64, .dtype = KG_BF16),          \
        FLEX_ROW("heads_of_40", (), (ALIBI, DOCUMENT(6)), .B = 80, .H = 40, .Hkv = 8, .S = 17, .Skv = 33, .D = 64,     \
                 .dtype = KG_BF16),                                                                                    \
        FLEX_ROW("blocks_of_512", (), (DOCUMENT(511), BLOCK(512)), ALONE, .S = 1100, .D = 64, .dtype = KG_F16),        \
        FLEX_ROW("groups_of_no_cache", (), (BLOCK(128)), .B = 1, .H = 71, .Hkv = 1, .S = 5, .Skv = 200000, .D = 64,    \
                 .dtype = KG_BF16),                                                                                    \
        FLEX_ROW("limit_2g_scores", (), (ALIBI), .B = 4, .H = 33, .S = 4096, .D = 64, .dtype = KG_BF16),               \
        FLEX_ROW("limit_4g_scores", (), (CAP(30)), .B = 1, .H = 2, .S = 46400, .D = 64, .dtype = KG_F16)

static const struct flex lengths[] = {
    LENGTHS("_bf16_d64", KG_BF16, 64),
    LENGTHS("_f16_d128", KG_F16, 128),
    LENGTHS("_f16_d64", KG_F16, 64),
    LENGTHS("_bf16_d128", KG_BF16, 128),
    FLEX_ROWS("_bf16_d64_k300", WIDE, HEADS, .S = 200, .Skv = 300, .D = 64, .dtype = KG_BF16),
    FLEX_ROWS("_f16_d128_k77", WIDE, HEADS, .S = 200, .Skv = 77, .D = 128, .dtype = KG_F16),
    MEETING(KG_BF16, 64, 16),
    THREES(64, 128, 64),
    CROSSED(CROSS, 64, 64, 128, 128),
    LADDERS(64, 128),
    TWO_ALONE("only_", KG_BF16, 64, full),
    WHOLES(64),
    WHOLES(128),
    EACH_MASK(SERVED_OF, 64),
    EACH_MASK(SERVED_OF, 128),
    PACKED(64),
    MODELS(128),
    OTHERS("_bf16_d64", HEADS, KG_BF16, 64, 300),
    OTHERS("_f16_d128", HEADS, KG_F16, 128, 300),
    REGIME_ROWS("_bf16_d64", KG_BF16, 64),
    REGIME_ROWS("_f16_d128", KG_F16, 128),
    FAR(64),
    FAR_EDGES(64, 64),
    CUT_BLOCKS(64),
    CUT_BLOCKS(128),
    LENGTH_PAIRS(EDGE, 64, 64, 0),
    LENGTH_PAIRS(EDGE, 64, 64, 16),
    EXACT_LENGTHS(EXACT, 64),
    LENGTH_PAIRS(EDGE, 128, 128, 0),
    RARE(64, 128),
    LONG(64),
    ALIKE(64),
    AROUND(64, 128),
    LARGE_TILES,
    FLEX_ROW("limit_2g", (), (BLOCK(128)), .B = 64, .H = 32, .S = 1, .Skv = 17000, .D = 64, .dtype = KG_F16),
};

/* Each rest of a division by 8, and by 64 what vectors of several widths leave. */
#define DIMENSION(d)                                                                                                   \
    FLEX_ROW("d_" #d, (), (RELATIVE(12)), ONE, .S = 33, .D = d, .dtype = KG_BF16, .causal = true),                     \
        FLEX_ROW("d_" #d "_window", (), (SLIDING(10)), HEADS, .S = 33, .Skv = 90, .D = d, .dtype = KG_F16,             \
                 .causal = true, .bottom_right = true, .scale = 0.3)

static const struct flex cpu_lengths[] = {
    LENGTH("_bf16_d64_s1", CPU_HEADS, KG_BF16, 64, 1),
    LENGTH("_f16_d40_s77", HEADS, KG_F16, 40, 77),
    LENGTH("_bf16_d8_s1000", ALONE, KG_BF16, 8, 1000),
    FLEX_ROWS("_bf16_d16_k300", WIDE, HEADS, .S = 200, .Skv = 300, .D = 16, .dtype = KG_BF16),
    FLEX_ROWS("_f16_d16_k77", WIDE, CPU_HEADS, .S = 200, .Skv = 77, .D = 16, .dtype = KG_F16),
    MEETING(KG_BF16, 16, 1024),
    THREES(64, 128, 256),
    CROSSED(CPU_CROSS, 16, 80, 160, 192),
    CPU_CROSS(201, 1, 1, 1, 1030, 24, 80, bf16, causal, 0), CPU_CROSS(202, 1, 2, 1, 1, 4100, 192, f16, bottom, 0),
    CPU_CROSS(203, 1, 1, 1, 2080, 24, 160, bf16, full, 0), CPU_CROSS(204, 1, 1, 1, 2080, 24, 192, f16, bottom, 0.1),
    CPU_CROSS(205, 1, 16, 2, 2080, 24, 16, f16, causal, 0), CPU_CROSS(206, 1, 64, 8, 1030, 24, 16, bf16, full, 0.3),
    LADDERS(16, 64),
    ALL_ALONE("only_", KG_F16, 16, full),
    ALL_ALONE("causal_", KG_F16, 16, causal),
    ALL_ALONE("bottom_", KG_BF16, 16, bottom),
    WHOLES(64),
    WHOLES(128),
    WHOLES(256),
    EACH_MASK(SERVED_OF, 64),
    EACH_MASK(SERVED_OF, 128),
    PACKED(16),
    MODELS(256),
    OTHERS("_bf16_d64", CPU_HEADS, KG_BF16, 64, 130),
    FAR(16),
    FAR_EDGES(16, 64),
    LENGTH_PAIRS(EDGE, 16, 64, 0),
    LENGTH_PAIRS(EDGE, 16, 64, 16),
    EXACT_LENGTHS(EXACT, 16),
    OTHER_EXACT_LENGTHS(EXACT, 16),
    RARE(16, 32),
    LONG(16),
    ALIKE(16),
    AROUND(16, 64),
    /* clang-format off */
    DIMENSION(20), DIMENSION(24), DIMENSION(33), DIMENSION(34), DIMENSION(35), DIMENSION(37), DIMENSION(38),
    DIMENSION(39), DIMENSION(40), DIMENSION(48), DIMENSION(56), DIMENSION(72), DIMENSION(80), DIMENSION(88),
    DIMENSION(96), DIMENSION(100), DIMENSION(104), DIMENSION(112), DIMENSION(120), DIMENSION(136), DIMENSION(144),
    DIMENSION(152), DIMENSION(160), DIMENSION(168), DIMENSION(176), DIMENSION(184), DIMENSION(192), DIMENSION(200),
    DIMENSION(208), DIMENSION(216), DIMENSION(224), DIMENSION(232), DIMENSION(240), DIMENSION(248), DIMENSION(256),
    /* clang-format on */
    FLEX_ROW("cap_2000", (), (CAP(2000)), ONE, .S = 77, .D = 16, .dtype = KG_BF16), /* not by an approximate tanh */
    FLEX_ROW("full_k1300", (), (BLOCK(64)), ONE, .S = 9, .Skv = 1300, .D = 16, .dtype = KG_BF16),
    FLEX_ROW("alibi_q70001", (), (ALIBI, BLOCK(64)), .B = 1, .H = 1, .S = 70001, .Skv = 16, .D = 16, .dtype = KG_F16),
    FLEX_ROW("documents_70001", (), (DOCUMENT(66000)), .B = 1, .H = 1, .S = 3, .Skv = 70001, .D = 24, .dtype = KG_F16),
};

/* clang-format off */
#define RANGE_REGIMES(rows)                                                                                            \
    { "huge_sums", rows }, { "tiny_sums", rows }, { "sink_small", rows }, { "sink_near", rows },                       \
    { "outlier_q", rows }, { "outlier_k", rows }, { "large_q", rows }, { "large_k", rows }
/* clang-format on */

static const kg_suite_regime length_regimes[] = {
    VALUE_REGIMES("*_bf16_d64_s300"),
    EACH_REGIMES("*_bf16_d64_s300"),
    TILE_REGIMES("*_f16_d128_s300"),
    { "k32", "*_f16_d128_s300" },
    { "huge_v", "*_f16_d128_s300" },
    { "hidden", "*_s300" },
    TILE_REGIMES("*_f16_d40_s77"),
    VALUE_REGIMES("[fl]*_f16_d40_s77"),
    { "hidden", "*_f16_d40_s77" },
    ALL_REGIMES("cap_1_*"),
    ALL_REGIMES("bottom_right_*_k40"),
    { "winner", "*d64_s1000" },
    { "hidden", "*d128_s1000" },
    { "large", "scale_1*" },
    { "winner", "far_alibi" },
    { "k32", "far_alibi" },
    { "low", "cap_50" },
    { "rising", "far_alibi" },
    { "zero_tiles", "far_alibi" },
    { "sink_far", "cap_50" },
    { "sink_mid", "*_bf16_d64_s300" },
    { "sink_mid", "*_bf16_d16_k300" },
    { "sink_last", "*_bf16_d64_s300" },
    { "sink_small_last", "full_bf16_*" },
    { "sink_far_last", "full_bf16_*" },
    { "climbing", "*_bf16_d64_s300" },
    { "end_v", "*_f16_d*_k77" },
    { "deepest", "*_bf16_d16_k300" }, /* of the CPU, as D 16 says */
    { "deepest", "full_k1300" },
    { "lowest", "d_*_window" },
    EACH_REGIMES("served_64_f16_*[1-4]"),
    { "lowest", "served_128_bf16_*[1-4]" },
    { "hidden", "served_*_[cb]*_1" },
    { "lowest", "whole_*_1" },
    { "bottom", "whole_*_1" },
    { "winner", "whole_*_1" },
    { "large_q", "full_f16_d16_*" },
    { "large_k", "full_f16_d16_*" },
    { "winner", "alibi_k2000" },
    { "lowest", "alibi_1500" },
    { "lowest", "alibi_k2000" }, /* what large numbers choose meets the regimes too */
    { "lowest", "far_*" },
    { "rising", "far_causal" },
    { "lowest", "*s_300" },
    { "k32", "cap_2000" },
    { "large", "cap_2000" },
    EACH_REGIMES("*_bf16_d128_s77"),
    RANGE_REGIMES("*_bf16_d128_s77"),
    RANGE_REGIMES("*_f16_d64_s77"),
    RANGE_REGIMES("[fal]*_f16_d40_s77"),
    { "poison", "three_*[05]" },
    { "lowest", "three_*[01678]" },
    MEET_REGIMES("three_*[01678]"), /* in which any two things meet (tests/cli/parity.sh) */
    { "sink_far", "three_*[01678]" },
    { "rising_huge", "three_*[01678]" },
    { "lowest", "ladder_*[048]" },
    { "lowest", "cross_*0" },
    { "falling", "cross_*3" },
    { "rising", "cross_*7" },
    { "winner", "cross_*5" },
    { "climbing", "cross_*1" },
    { "bottom", "cross_*4" },
    { "sink_far", "cross_*6" },
    { "sink_far_last", "cross_*9" },
    { "bottom", "few_*[!e]" },
    { "climbing", "few_*[!e]" },
    { "sink_far", "few_*[!e]" },
    { "sink_far_last", "few_*[!e]" },
    { "winner", "far_alibi_*[!1]" },
    { "rising", "ladder_*[159]" },
    TILE_REGIMES("large_*"),
    { "outliers", "large_*" },
    { "k32", "large_*" },
    { "huge_v", "large_*" },
    { "hidden", "large_causal" },
    { "hidden", "large_document" },
    EACH_REGIMES("wide_head"),
    EACH_REGIMES("threads*"),
    EACH_REGIMES("*_f16_d64_s77"),
    EACH_REGIMES("prompt_*"),
    EACH_REGIMES("decode_*"),
    { "head_scales", "decode_*" },
    { "head_scales", "*_bf16_d16_k300" },
    { "head_scales", "*_bf16_d64_k300" },
};

static const kg_excuse no_key_seen[] = {
    { "zeros", "flex_parity/three_1", "no query sees a key, so zeros are right" },
    { "zeros", "flex_parity/three_11", "no query sees a key, so zeros are right" },
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
    GATES(0.04, 0.002),
    .time = { .off = true },
    .excuses = KG_LIST(no_key_seen),
};
