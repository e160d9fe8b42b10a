/* fp8_sdpa.c -- attention on 8-bit codes, by the stage-C contract: for each code a suite that is timed, and one of odd
 * lengths by a single seed, which holds a GPU's kernels to the CPU's rows too. The reference sees the unquantised
 * inputs, so the gates bound the error of coding and kernel together; `cudnn` and `math` run on those inputs too.
 *
 * To try another shape add a row, or --set S=1000. What a kernel may err is the code's doing, hence the two sets of
 * gates: an e4m3 code has 3 bits of mantissa, the linear one steps of 1/127 of a head's largest value.
 */
#include "op/sdpa.h"
#include "suites.h"

static const struct sdpa shapes[] = {
    { "small", .B = 1, .H = 1, .S = 32, .D = 64, .dtype = KG_E4M3 },          /* one tile, which is the last one too */
    { "mission", .B = 1, .H = 8, .S = 512, .D = 64, .dtype = KG_E4M3 },       /* the target */
    { "long", .B = 1, .H = 8, .S = 2048, .D = 64, .dtype = KG_E4M3 },         /* scaling */
    { "odd", .B = 2, .H = 3, .S = 17, .Skv = 77, .D = 64, .dtype = KG_E4M3 }, /* cut tiles, heads that mix up */
};

#define LENGTH(s, keys, more)                                                                                          \
    {                                                                                                                  \
        "length_" #s, .B = 3, .H = 2, .S = s, .Skv = keys + more, .D = 64, .dtype = KG_E4M3                            \
    }
#define EXACT(s, keys, least)                                                                                          \
    {                                                                                                                  \
        "powers_s" #s, .B = 1, .H = 2, .S = s, .Skv = keys < least ? keys + 64 : keys, .D = 64, .dtype = KG_E4M3       \
    }
#define CROSS(n, b, h, s, keys, factor)                                                                                \
    {                                                                                                                  \
        "cross_" #n, .B = b, .H = h, .S = s, .Skv = keys, .D = 64, .dtype = KG_E4M3, .scale = factor                   \
    }
/* Lengths, batches, heads and scales that meet, as CROSSED (suites.h) has them: of both codes, then of one. */
#define FEW_CROSSED CROSS(1, 8, 3, 64, 64, 0.05), CROSS(2, 2, 2, 1, 2100, 0.05)
#define CROSSED_ROWS                                                                                                   \
    CROSS(3, 5, 16, 32, 64, 0.05), CROSS(4, 2, 2, 1030, 40, 0.05), CROSS(5, 2, 2, 32, 1088, 0.05),                     \
        CROSS(6, 5, 3, 4, 130, 0), CROSS(7, 1, 2, 2080, 64, 0.05), CROSS(8, 5, 16, 1, 64, 0.05),                       \
        CROSS(9, 5, 2, 77, 77, 0.05), CROSS(10, 1, 16, 18, 1030, 0)
#define CPU_ROWS                                                                                                       \
    FEW_CROSSED, { "small", .B = 1, .H = 1, .S = 32, .D = 64, .dtype = KG_E4M3 },                                      \
        { "odd", .B = 2, .H = 3, .S = 17, .Skv = 77, .D = 64, .dtype = KG_E4M3 }, /* heads and lengths that mix up */  \
        {                                                                                                              \
            "mission", .B = 1, .H = 2, .S = 140, .Skv = 512, .D = 64, .dtype = KG_E4M3, .scale = 0.2                   \
        }, /* of two of its heads */                                                                                   \
        { "scale", .B = 1, .H = 2, .S = 77, .D = 64, .dtype = KG_E4M3, .scale = 0.05 },                                \
        { "alike_1", .B = 1, .H = 2, .S = 77, .D = 64, .dtype = KG_E4M3, .scale = 0.1 },                               \
        { "alike_2", .B = 1, .H = 2, .S = 77, .D = 64, .dtype = KG_E4M3, .scale = 0.15 },                              \
        { "scale_long", .B = 1, .H = 2, .S = 20, .Skv = 3001, .D = 64, .dtype = KG_E4M3, .scale = 0.05 },              \
        { "whole", .B = 2, .H = 8, .S = 64, .Skv = 128, .D = 64, .dtype = KG_E4M3 }, /* tiles, more keys or fewer */   \
        { "whole_fewer", .B = 2, .H = 2, .S = 256, .Skv = 128, .D = 64, .dtype = KG_E4M3 },                            \
        { "whole_512", .B = 2, .H = 2, .S = 128, .Skv = 512, .D = 64, .dtype = KG_E4M3 },                              \
        { "square_256", .B = 2, .H = 2, .S = 256, .D = 64, .dtype = KG_E4M3 },                                         \
        { "heads_9", .B = 1, .H = 9, .S = 128, .Skv = 256, .D = 64, .dtype = KG_E4M3 },                                \
        { "uneven", .B = 1, .H = 1, .S = 5, .Skv = 601, .D = 64, .dtype = KG_E4M3 }, /* a head of 38,464 */            \
        { "long", .B = 1, .H = 1, .S = 5, .Skv = 1501, .D = 64, .dtype = KG_E4M3 },  /* of more than 2^16 */           \
        { "long_6001", .B = 1, .H = 1, .S = 20, .Skv = 6001, .D = 64, .dtype = KG_E4M3 },                              \
        { "long_12001", .B = 1, .H = 1, .S = 9, .Skv = 12001, .D = 64, .dtype = KG_E4M3 },                             \
        { "scale_queries", .B = 1, .H = 2, .S = 300, .D = 64, .dtype = KG_E4M3, .scale = 0.0004 },                     \
        { "many_heads", .B = 7, .H = 150, .S = 2, .Skv = 20, .D = 64, .dtype = KG_E4M3 }, /* past 10 bits */           \
        { "served", .B = 2, .H = 8, .S = 130, .Skv = 200, .D = 64, .dtype = KG_E4M3 },                                  \
        { "decode", .B = 2, .H = 2, .S = 1, .Skv = 1040, .D = 64, .dtype = KG_E4M3 },                                  \
        { "decode_odd", .B = 2, .H = 2, .S = 1, .Skv = 201, .D = 64, .dtype = KG_E4M3 },                               \
        { "threads", .B = 1, .H = 1, .S = 513, .D = 64, .dtype = KG_E4M3 }, /* rows that two threads cannot share */   \
    {                                                                                                                  \
        "queries_1100", .B = 1, .H = 1, .S = 1100, .Skv = 40, .D = 64, .dtype = KG_E4M3                                \
    }

/* Keys past 16 bits, queries past 12. Rows that begin with a c or p get no poison, which the host makes, those with an
 * l or p no ones. */
#define SMALL_ROWS "[!cp]*"
#define PARITY_ROWS                                                                                                    \
    CROSSED_ROWS, LENGTH_PAIRS(LENGTH, 16), EXACT_LENGTHS(EXACT, 32),                                                  \
        { "heads_4500", .B = 30, .H = 150, .S = 1, .Skv = 8, .D = 64, .dtype = KG_E4M3 },                             \
        { "served_530", .B = 1, .H = 1, .S = 530, .D = 64, .dtype = KG_E4M3, .scale = 0.2 },                           \
        { "served_1100", .B = 1, .H = 1, .S = 1100, .D = 64, .dtype = KG_E4M3 },                                       \
        { "past_32767", .B = 1, .H = 1, .S = 33000, .Skv = 24, .D = 64, .dtype = KG_E4M3 },                            \
        { "past_short", .B = 1, .H = 1, .S = 1, .Skv = 70000, .D = 64, .dtype = KG_E4M3 },                             \
    {                                                                                                                  \
        "past_4096", .B = 1, .H = 2, .S = 4200, .Skv = 33, .D = 64, .dtype = KG_E4M3                                   \
    }

/* Heads past 16 bits; whole tiles, many of either, of heads that have scales of their own. */
#define PAST_HEADS                                                                                                     \
    {                                                                                                                  \
        "past_heads", .B = 440, .H = 150, .S = 1, .Skv = 6, .D = 64, .dtype = KG_E4M3                                  \
    }
#define SQUARE                                                                                                         \
    {                                                                                                                  \
        "square_512", .B = 1, .H = 8, .S = 512, .D = 64, .dtype = KG_E4M3                                              \
    }

/* Correctness only: on a CPU for the codecs of its backends. Of few keys a code's errors are larger than the task's
 * gates allow, e4m3's most. */
static const struct sdpa cpu_shapes[] = { CPU_ROWS };
static const struct sdpa parity_cpu_shapes[] = { PARITY_ROWS, OTHER_EXACT_LENGTHS(EXACT, 32), PAST_HEADS, SQUARE };
static const struct sdpa e4m3_parity_cpu_shapes[] = { LENGTH_PAIRS(LENGTH, 80), SQUARE };

/* A GPU's; the linear code's with codes past 2^31, of keys and of queries. */
static const struct sdpa e4m3_parity_shapes[] = { CPU_ROWS, LENGTH_PAIRS(LENGTH, 80) };
static const struct sdpa parity_shapes[] = {
    CPU_ROWS,
    PARITY_ROWS,
    PAST_HEADS,
    { "past_outputs", .B = 129, .H = 8, .S = 32600, .Skv = 1, .D = 64, .dtype = KG_E4M3 },
    { "past_int", .B = 129, .H = 8, .S = 2, .Skv = 32600, .D = 64, .dtype = KG_E4M3 },
};

/* Those that 8-bit codes can hold: not K x 32, where a step of a code is a whole logit. */
/* clang-format off */
#define REGIMES                                                                                                        \
    { "poison", SMALL_ROWS }, { "deepest", "cross_*[13]" }, { "ones", "[!lp]*" }, TILED_REGIMES("mission"), TILED_REGIMES("odd"),                  \
    TILED_REGIMES("uneven"), TILED_REGIMES("long*"), TILED_REGIMES("scale*"), TILED_REGIMES("whole*"),                 \
    TILED_REGIMES("decode"), TILED_REGIMES("served"), { "sink", "long_6001" }, TILED_REGIMES("threads"), TILED_REGIMES("queries_1100"),                                                                 \
    { "constant", "mission" }, { "sparse", "mission" }, { "ascending", "mission" }, { "alternating", "mission" },      \
    { "high", "mission" }, { "sink", "mission" }, { "coded", "mission" }, { "sixty_four", "mission" },                 \
    { "huge_v", "mission" }, { "head_scales", "mission" }, { "low", "mission" }, { "bottom", "mission" },              \
    { "deepest", "mission" }, { "deepest", "decode" }, { "deepest", "long" }, { "outlier_k", "mission" }, { "outlier_q", "mission" }, { "end_v", "mission" },          \
    { "large_q", "mission" }, { "large_k", "mission" }, { "large_q", "decode" }, { "large_k", "decode" }, { "ascending", "odd" }, { "ascending", "uneven" },             \
    { "head_scales", "odd" }, { "sink_near", "threads" }, { "outlier_v", "scale*" }, { "outlier_v", "long_*" },        \
    { "zero_heads", "scale" }, { "zero_heads", "many_heads" }, { "zero_tiles", "uneven" }
#define LINEAR_REGIMES REGIMES, { "tiny_v", "mission" }
/* clang-format on */

static const kg_suite_regime regimes[] = { LINEAR_REGIMES };
static const kg_suite_regime parity_regimes[] = { LINEAR_REGIMES, { "lowest", "served_530" }, { "sink", "cross_*[05]" } };
/* Where FP16's subnormals end a wrong factor is below what e4m3 codes do. */
static const kg_suite_regime e4m3_regimes[] = { REGIMES };

static const uint64_t seeds[] = { 0, 1, 2 }, parity_seeds[] = { 0 };

/* clang-format off */
#define GPU_BACKENDS                                                                                                   \
    &stage_c, &stage_c_lut, &stage_c_nocp, &stage_c_lut_nocp, &stage_c_debug_print, &sdpa_cudnn, &sdpa_math
#define E4M3_GPU_BACKENDS                                                                                              \
    &stage_c_e4m3, &stage_c_e4m3_lut, &stage_c_e4m3_nocp, &stage_c_e4m3_lut_nocp, &sdpa_cudnn, &sdpa_math
/* clang-format on */

static const kg_backend *const backends[] = { GPU_BACKENDS, &cpu_stage_c };
static const kg_backend *const e4m3_backends[] = { E4M3_GPU_BACKENDS, &cpu_stage_c_e4m3 };

/* The task's, but for bad_abs, which was 0.06 there, max_abs' own limit, so that it could never fire alone, and for
 * rel_l2, which zeros at S = 16384 need. Matching codecs show, over 60 seeds: small max 0.034, mean 0.003, bad
 * 0.3%, rel_l2 0.015; mission max 0.013, mean 0.0009, rel_l2 0.015. Encoder and decoder half a step apart show a
 * mean of 0.015 and rel_l2 0.20 on mission: only rel_l2 sees them there. Over the error scale, 20 seeds show 1.4,
 * and 2.0 is cudnn's and math's; slopes are off by 0.0022 on small, 0.0003 on mission. */
#define LINEAR                                                                                                         \
    .op = &sdpa_forward, .gates = { .max_abs = 0.06,                                                                   \
                                    .mean_abs = 0.02,                                                                  \
                                    .bad_abs = 0.02,                                                                   \
                                    .bad_pct = 1.0,                                                                    \
                                    .rel_l2 = 0.05,                                                                    \
                                    .scaled = 4,                                                                       \
                                    .slope = 0.005 }

/* About twice what matching codecs show, over 60 seeds: small max 0.114, mean 0.010, 0.8% over 0.05, rel_l2 0.051;
 * mission max 0.056, mean 0.0027, rel_l2 0.048. Over the error scale, 20 seeds show 1.4. Slopes are off by 0.0093
 * on small, 0.003 on mission: a wrong factor of 1.01 is seen by the error scale, where codes happen to do little. */
#define E4M3                                                                                                           \
    .op = &sdpa_forward, .regimes = KG_LIST(e4m3_regimes),                                                             \
    .gates = {                                                                                                         \
        .max_abs = 0.2, .mean_abs = 0.02, .bad_abs = 0.06, .bad_pct = 1.0, .rel_l2 = 0.1, .scaled = 4, .slope = 0.014  \
    }

const kg_suite fp8_sdpa = {
    .name = "fp8_sdpa",
    .help = "the stage-C task: linear 8-bit codes with a scale a head",
    .shapes = KG_TABLE(shapes),
    .cpu_shapes = KG_TABLE(cpu_shapes),
    .seeds = KG_LIST(seeds),
    .backends = KG_LIST(backends),
    .regimes = KG_LIST(regimes),
    .anchor = &sdpa_math,
    .anchor_case = STEADY_CASE,
    LINEAR,
};

const kg_suite fp8_sdpa_e4m3 = {
    .name = "fp8_sdpa_e4m3",
    .help = "the same with e4m3 codes",
    .shapes = KG_TABLE(shapes),
    .cpu_shapes = KG_TABLE(cpu_shapes),
    .seeds = KG_LIST(seeds),
    .backends = KG_LIST(e4m3_backends),
    .anchor = &sdpa_math,
    .anchor_case = STEADY_CASE,
    E4M3,
};

const kg_suite fp8_parity = {
    .name = "fp8_parity",
    .help = "correctness of fp8_sdpa's kernels on odd lengths and many heads",
    .shapes = KG_TABLE(parity_shapes),
    .cpu_shapes = KG_TABLE(parity_cpu_shapes),
    .seeds = KG_LIST(parity_seeds),
    .backends = KG_LIST(backends),
    .regimes = KG_LIST(parity_regimes),
    .time = { .off = true },
    LINEAR,
};

const kg_suite fp8_parity_e4m3 = {
    .name = "fp8_parity_e4m3",
    .help = "the same of fp8_sdpa_e4m3's",
    .shapes = KG_TABLE(e4m3_parity_shapes),
    .cpu_shapes = KG_TABLE(e4m3_parity_cpu_shapes),
    .seeds = KG_LIST(parity_seeds),
    .backends = KG_LIST(e4m3_backends),
    .time = { .off = true },
    E4M3,
};
