/* suites.h -- the suites of the attention module, and what they and the module `classes` are written with. A new suite:
 * its tables in a file of its own, a line here, and a line in module.c and meson.build. */
#ifndef SUITES_H
#define SUITES_H

#include "backends.h"

extern const kg_suite cudnn_sdpa, attention_matrix, sdpa_parity, fa_s512, pathology, plain_parity;
extern const kg_suite fp8_sdpa, fp8_sdpa_e4m3, fp8_parity, fp8_parity_e4m3, fp8_cudnn, fp8_cudnn_parity;
extern const kg_suite flex_attention, flex_attention_static, flex_parity;

/* The anchor of what has no other, anchors themselves among it: a kernel of its own code, whose time says of `math` on
 * another card what that of `math` would (docs/results/error-rates.md). */
#define STEADY_CASE "attention_matrix/b32h8s128_f16/flash"

/* The tables of a suite that has all four, by their names. */
#define SUITE_TABLES                                                                                                   \
    .shapes = KG_TABLE(shapes), .cpu_shapes = KG_TABLE(cpu_shapes), .seeds = KG_LIST(seeds),                           \
    .backends = KG_LIST(backends), .regimes = KG_LIST(regimes)

/* Regimes for rows by a glob (docs/regimes.md says what each shows): those of which rows of a few tiles are enough,
 * those that need several tiles of keys, and both. `hidden` is besides for rows with a causal mask. */
/* clang-format off */
#define VALUE_REGIMES(rows)                                                                                            \
    { "poison", rows }, { "constant", rows }, { "outliers", rows }, { "large", rows }, { "tiny", rows },               \
    { "sparse", rows }, { "ascending", rows }, { "descending", rows }, { "alternating", rows }, { "ties", rows },      \
    { "k32", rows }, { "huge_v", rows }, { "tiny_v", rows }, { "head_scales", rows }, { "outlier_v", rows },           \
    { "zero_heads", rows }
#define TILE_REGIMES(rows)                                                                                             \
    { "low", rows }, { "lowest", rows }, { "high", rows }, { "rising", rows }, { "falling", rows }, { "sink", rows },  \
    { "winner", rows }, { "coded", rows }, { "ones", rows }, { "sixty_four", rows }, { "bottom", rows },               \
    { "sink_far", rows }, { "zero_tiles", rows }
/* Past ends of dtypes: in a row of either 16-bit one. */
#define SUM_REGIMES(rows)                                                                                              \
    { "large_q", rows }, { "large_k", rows }, { "huge_sums", rows }, { "tiny_sums", rows }, { "rising_huge", rows },   \
    { "sink_small", rows }, { "sink_mid", rows }, { "end_v", rows }
/* Of which each head dimension, dtype and mask has a row: what is wrong in one of them is in no other. */
#define EACH_REGIMES(rows) { "lowest", rows }, { "falling", rows }, { "rising_huge", rows }
/* For rows in which things meet, of several tiles of keys: what a kernel does only where some are together. */
#define MEET_REGIMES(rows) { "falling", rows }, { "rising", rows }, { "winner", rows }
#define TILED_REGIMES(rows) { "lowest", rows }, MEET_REGIMES(rows)
#define ALL_REGIMES(rows) VALUE_REGIMES(rows), TILE_REGIMES(rows)
/* clang-format on */

/* A row of a table in which every pair of values meets, or every three (tests/cli/parity.sh): what goes wrong where two
 * or three things are together is seen there. These are its sizes, of a struct sdpa; words stand for what follows. */
/* clang-format off */
#define MEET_SIZES(label, b, h, keys, s, skv, d, mask, factor)                                                         \
    label, .B = b, .H = h, .Hkv = keys, .S = s, .Skv = skv, .D = d, .causal = mask_##mask,                             \
    .bottom_right = align_##mask, .scale = factor
/* clang-format on */
/* Whole tiles, where any three meet, and which of queries and keys are more: few queries, a tile, several, many; key
 * heads shared in every way. X(n, heads, key heads, queries, keys, dimension, dtype, mask, scale) */
/* clang-format off */
#define WHOLE_TILES(X, d0, d1)                                                                                         \
    X(1, 2, 2, 4, 64, d0, bf16, bottom, 0), X(2, 2, 2, 4, 64, d0, bf16, causal, 0),                                    \
    X(3, 4, 1, 4, 64, d0, bf16, bottom, 0), X(4, 2, 2, 4, 192, d0, bf16, full, 0),                                     \
    X(5, 4, 2, 4, 64, d1, f16, causal, 0.2), X(6, 4, 2, 4, 192, d0, bf16, bottom, 0),                                  \
    X(7, 7, 1, 4, 64, d1, f16, full, 0.2), X(8, 7, 1, 4, 192, d0, bf16, causal, 0.2),                                  \
    X(9, 4, 1, 4, 192, d1, bf16, bottom, 0.2), X(10, 4, 1, 4, 192, d1, f16, full, 0),                                  \
    X(11, 4, 1, 4, 512, d0, f16, causal, 0.2), X(12, 2, 2, 4, 512, d1, f16, bottom, 0.2),                              \
    X(13, 2, 2, 64, 64, d0, f16, full, 0.2), X(14, 4, 2, 4, 512, d0, bf16, full, 0),                                   \
    X(15, 7, 1, 4, 192, d1, f16, causal, 0), X(16, 7, 1, 4, 512, d0, bf16, bottom, 0.2),                               \
    X(17, 4, 2, 64, 64, d0, bf16, bottom, 0.2), X(18, 4, 1, 64, 64, d0, f16, full, 0),                                 \
    X(19, 2, 2, 192, 64, d0, f16, causal, 0), X(20, 7, 1, 64, 64, d0, f16, causal, 0.2),                               \
    X(21, 7, 1, 4, 512, d1, bf16, causal, 0), X(22, 4, 1, 64, 64, d1, bf16, causal, 0),                                \
    X(23, 4, 2, 64, 64, d1, bf16, full, 0), X(24, 4, 2, 64, 192, d0, f16, bottom, 0),                                  \
    X(25, 4, 1, 64, 192, d0, f16, bottom, 0.2), X(26, 4, 1, 192, 64, d0, bf16, bottom, 0.2),                           \
    X(27, 4, 2, 192, 64, d0, bf16, full, 0), X(28, 2, 2, 64, 192, d1, bf16, causal, 0.2),                              \
    X(29, 7, 1, 64, 64, d1, f16, bottom, 0), X(30, 2, 2, 192, 192, d0, bf16, bottom, 0),                               \
    X(31, 7, 1, 64, 192, d0, bf16, full, 0), X(32, 7, 1, 192, 64, d0, f16, full, 0.2),                                 \
    X(33, 4, 2, 192, 64, d1, bf16, bottom, 0), X(34, 4, 1, 192, 64, d1, f16, causal, 0),                               \
    X(35, 2, 2, 64, 512, d1, f16, bottom, 0), X(36, 2, 2, 512, 64, d1, bf16, full, 0),                                 \
    X(37, 4, 2, 64, 512, d0, bf16, causal, 0), X(38, 4, 2, 512, 64, d0, bf16, causal, 0.2),                            \
    X(39, 4, 1, 64, 512, d0, bf16, full, 0.2), X(40, 4, 1, 192, 192, d0, bf16, causal, 0.2),                           \
    X(41, 4, 2, 192, 192, d0, f16, causal, 0), X(42, 2, 2, 192, 192, d1, bf16, full, 0.2),                             \
    X(43, 7, 1, 192, 64, d1, bf16, bottom, 0), X(44, 2, 2, 512, 192, d0, f16, bottom, 0.2),                            \
    X(45, 2, 2, 192, 512, d0, bf16, full, 0), X(46, 7, 1, 64, 512, d0, f16, full, 0),                                  \
    X(47, 7, 1, 192, 192, d0, bf16, bottom, 0), X(48, 4, 1, 512, 64, d1, f16, causal, 0),                              \
    X(49, 4, 1, 512, 192, d0, bf16, full, 0.2), X(50, 7, 1, 512, 64, d1, bf16, bottom, 0.2),                           \
    X(51, 7, 1, 192, 512, d0, f16, causal, 0), X(52, 7, 1, 512, 192, d0, bf16, causal, 0),                             \
    X(53, 4, 1, 192, 512, d1, f16, full, 0.2), X(54, 4, 2, 512, 192, d1, f16, full, 0.2),                              \
    X(55, 4, 2, 192, 512, d1, f16, bottom, 0.2), X(56, 4, 1, 512, 512, d0, f16, bottom, 0),                            \
    X(57, 2, 2, 512, 512, d1, bf16, causal, 0.2), X(58, 4, 2, 512, 512, d0, f16, bottom, 0),                           \
    X(59, 7, 1, 512, 512, d0, f16, full, 0.2)
/* clang-format on */
enum { mask_full = false, mask_causal = true, mask_bottom = true };
enum { align_full = false, align_causal = false, align_bottom = true };
enum { dtype_f16 = KG_F16, dtype_bf16 = KG_BF16 };

/* What sdpa_parity.c says of them. */
#define PARITY_GATES                                                                                                   \
    {                                                                                                                  \
        .max_abs = 0.04, .mean_abs = 0.002, .bad_abs = 0.01, .bad_rel = 0.01, .bad_pct = 0, .rel_l2 = 0.01,            \
        .scaled = 4, .slope = 0.005                                                                                    \
    }

/* Lengths of queries and keys: each rest of a division by 16 once of either, so by 2, 4 and 8 too, a tile's width and
 * less among them; then whole tiles of both, fewer and more, and of one alone. ROW(s, keys, ...) */
/* clang-format off */
#define LENGTH_PAIRS(ROW, ...)                                                                                         \
    ROW(16, 7, __VA_ARGS__), ROW(1, 18, __VA_ARGS__), ROW(34, 45, __VA_ARGS__), ROW(3, 40, __VA_ARGS__),               \
    ROW(20, 3, __VA_ARGS__), ROW(53, 14, __VA_ARGS__), ROW(6, 73, __VA_ARGS__), ROW(39, 4, __VA_ARGS__),               \
    ROW(8, 31, __VA_ARGS__), ROW(25, 10, __VA_ARGS__), ROW(10, 21, __VA_ARGS__), ROW(75, 6, __VA_ARGS__),              \
    ROW(12, 17, __VA_ARGS__), ROW(29, 16, __VA_ARGS__), ROW(46, 11, __VA_ARGS__), ROW(15, 60, __VA_ARGS__),            \
    ROW(64, 128, __VA_ARGS__), ROW(128, 256, __VA_ARGS__), ROW(256, 128, __VA_ARGS__), ROW(192, 77, __VA_ARGS__),      \
    ROW(384, 13, __VA_ARGS__), ROW(200, 128, __VA_ARGS__), ROW(77, 51, __VA_ARGS__), ROW(32, 9, __VA_ARGS__)
/* Powers of two to 1024 of either, and their neighbours: rests of 0, of 1 and of all bits. */
#define EXACT_LENGTHS(ROW, ...)                                                                                        \
    ROW(2, 33, __VA_ARGS__), ROW(4, 8, __VA_ARGS__), ROW(5, 32, __VA_ARGS__), ROW(7, 64, __VA_ARGS__),                 \
    ROW(9, 512, __VA_ARGS__), ROW(17, 1, __VA_ARGS__), ROW(31, 2, __VA_ARGS__), ROW(33, 5, __VA_ARGS__),               \
    ROW(63, 63, __VA_ARGS__), ROW(65, 127, __VA_ARGS__), ROW(127, 65, __VA_ARGS__), ROW(129, 15, __VA_ARGS__),         \
    ROW(255, 129, __VA_ARGS__), ROW(257, 255, __VA_ARGS__), ROW(511, 32, __VA_ARGS__), ROW(512, 8, __VA_ARGS__),       \
    ROW(513, 64, __VA_ARGS__), ROW(18, 511, __VA_ARGS__), ROW(14, 513, __VA_ARGS__), ROW(13, 1024, __VA_ARGS__),       \
    ROW(1023, 33, __VA_ARGS__), ROW(1024, 16, __VA_ARGS__)
/* What is left of them, of keys; for a CPU. */
#define OTHER_EXACT_LENGTHS(ROW, ...)                                                                                  \
    ROW(11, 1023, __VA_ARGS__), ROW(19, 257, __VA_ARGS__), ROW(21, 256, __VA_ARGS__), ROW(22, 3, __VA_ARGS__),         \
    ROW(23, 4, __VA_ARGS__), ROW(24, 7, __VA_ARGS__), ROW(26, 17, __VA_ARGS__)
/* Query heads that share a key head. ROW(ratio, heads of two key heads, ...) */
#define HEAD_GROUPS(ROW, ...)                                                                                          \
    ROW(3, 6, __VA_ARGS__), ROW(4, 8, __VA_ARGS__), ROW(5, 10, __VA_ARGS__), ROW(6, 12, __VA_ARGS__),                  \
    ROW(7, 14, __VA_ARGS__), ROW(8, 16, __VA_ARGS__), ROW(10, 20, __VA_ARGS__), ROW(12, 24, __VA_ARGS__),              \
    ROW(16, 32, __VA_ARGS__), ROW(32, 64, __VA_ARGS__)
/* clang-format on */

/* The root of a module, which the runner finds: in a file that lists its `suites`, and includes what the build writes,
 * kg_build.h and kg_kernels.h. */
#define SUITES_ROOT(its_name)                                                                                          \
    KG_EXPORT const struct kg_module kg_module = {                                                                     \
        KG_MODULE_SIZES,                                                                                               \
        .name = its_name,                                                                                              \
        .git_sha = KG_GIT_SHA,                                                                                         \
        .git_dirty = KG_GIT_DIRTY,                                                                                     \
        .flags = KG_BUILD_FLAGS,                                                                                       \
        .suites = suites,                                                                                              \
        .n_suites = sizeof suites / sizeof *suites,                                                                    \
        .kernels = kg_kernels,                                                                                         \
        .n_kernels = KG_KERNEL_COUNT,                                                                                  \
    }

#endif
