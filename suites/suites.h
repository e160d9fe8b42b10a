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

/* Sizes past which kernels take other paths, as models are served: a prompt of several heads that share keys, many heads
 * of few queries, one query and a few over a long context. For the regimes, under each mask in either dtype. */
/* clang-format off */
#define SERVED(X, d, type, mask)                                                                                       \
    X(1, 1, 4, 2, 130, 200, d, type, mask), X(2, 2, 8, 2, 64, 100, d, type, mask),                                     \
    X(3, 2, 8, 2, 1, 1100, d, type, mask), X(4, 1, 8, 2, 12, 1100, d, type, mask),                                     \
    X(5, 1, 2, 1, 514, 530, d, type, mask)
#define EACH_MASK(X, ...)                                                                                              \
    X(__VA_ARGS__, f16, full), X(__VA_ARGS__, f16, causal), X(__VA_ARGS__, f16, bottom), X(__VA_ARGS__, bf16, full),   \
    X(__VA_ARGS__, bf16, causal), X(__VA_ARGS__, bf16, bottom)
/* clang-format on */

/* What a row is of each thing, in classes: one query, up to 16, whole tiles or not, from 1024 or 2048 on; keys
 * likewise; one batch, few, more than 4; how key heads are shared; 16 heads or more; dimensions below, at, between and
 * above 64 and 128; dtype, mask, scale. With a suite's other rows any two classes meet, and any three that a small row
 * can have (tests/cli/parity.sh); rows whose numbers end alike, which regimes name, have every class among them.
 *
 * X(n, batches, heads, key heads, queries, keys, dimension, dtype, mask, scale) */
/* clang-format off */
#define CROSSED(X, d0, d1, d2)                                                                                         \
    X(1, 1, 3, 1, 1, 64, d1, f16, causal, 0.3), X(2, 2, 16, 16, 1, 64, d2, f16, full, 0),                              \
    X(3, 5, 1, 1, 1, 150, d0, bf16, bottom, 0), X(4, 1, 1, 1, 1, 2100, d1, f16, causal, 0.3),                          \
    X(5, 5, 1, 1, 1, 64, d0, f16, causal, 0.3), X(6, 1, 1, 1, 32, 77, d2, f16, full, 0.3),                             \
    X(7, 1, 18, 6, 1, 64, 64, bf16, bottom, 0), X(8, 1, 4, 1, 1, 77, d1, bf16, causal, 0),                             \
    X(9, 1, 1, 1, 32, 24, d1, f16, full, 0.3), X(10, 5, 1, 1, 1, 2100, 64, f16, causal, 0),                            \
    X(11, 1, 18, 6, 32, 77, d0, f16, causal, 0.3), X(12, 1, 8, 2, 1, 1030, 64, f16, causal, 0),                        \
    X(13, 1, 3, 1, 4, 24, d2, f16, causal, 0.3), X(14, 5, 1, 1, 32, 24, 128, bf16, causal, 0),                         \
    X(15, 1, 1, 1, 4, 64, 64, bf16, bottom, 0.3), X(16, 5, 16, 2, 1, 64, d2, bf16, bottom, 0),                         \
    X(17, 1, 1, 1, 32, 1030, d0, bf16, full, 0.3), X(18, 1, 4, 2, 1, 1030, d2, bf16, bottom, 0.3),                     \
    X(19, 5, 10, 2, 4, 64, d1, bf16, causal, 0.3), X(20, 2, 8, 2, 32, 77, d0, bf16, bottom, 0),                        \
    X(21, 5, 1, 1, 1, 2100, d1, f16, bottom, 0.3), X(22, 5, 4, 2, 4, 64, d2, bf16, full, 0.3),                         \
    X(23, 1, 1, 1, 1, 1088, d1, bf16, bottom, 0.3), X(24, 1, 4, 2, 32, 64, 64, f16, bottom, 0.3),                      \
    X(25, 5, 1, 1, 32, 24, d2, bf16, causal, 0), X(26, 5, 1, 1, 32, 77, d1, f16, full, 0.3),                           \
    X(27, 2, 1, 1, 33, 64, d2, bf16, causal, 0.3), X(28, 1, 16, 16, 1, 1030, 64, f16, full, 0),                        \
    X(29, 5, 1, 1, 33, 64, 128, f16, bottom, 0), X(30, 5, 1, 1, 33, 64, d1, bf16, bottom, 0),                          \
    X(31, 1, 3, 1, 64, 64, d1, f16, bottom, 0.3), X(32, 1, 16, 16, 77, 77, d0, f16, causal, 0),                        \
    X(33, 1, 1, 1, 1, 2100, d2, bf16, causal, 0.3), X(34, 5, 3, 1, 4, 77, 128, bf16, full, 0),                         \
    X(35, 5, 18, 6, 1, 64, 128, f16, full, 0), X(36, 1, 4, 2, 32, 77, 128, f16, causal, 0.3),                          \
    X(37, 1, 8, 2, 32, 24, d2, f16, bottom, 0.3), X(38, 5, 3, 1, 32, 24, 128, f16, causal, 0.3),                       \
    X(39, 5, 4, 2, 4, 1030, d0, f16, bottom, 0), X(40, 2, 1, 1, 4, 1030, d2, f16, causal, 0.3),                        \
    X(41, 1, 8, 2, 1, 1030, 128, bf16, causal, 0), X(42, 1, 3, 1, 4, 2100, d1, f16, bottom, 0),                        \
    X(43, 5, 20, 4, 1, 77, 64, f16, bottom, 0.3), X(44, 1, 4, 2, 1, 2100, d1, bf16, bottom, 0.3),                      \
    X(45, 5, 16, 1, 33, 24, d0, f16, full, 0.3), X(46, 1, 1, 1, 1030, 24, 64, f16, full, 0),                           \
    X(47, 5, 1, 1, 1, 2100, 128, bf16, bottom, 0.3), X(48, 5, 20, 4, 32, 24, d0, bf16, causal, 0),                     \
    X(49, 5, 8, 2, 1, 2100, d0, bf16, bottom, 0), X(50, 1, 16, 16, 32, 24, 128, f16, bottom, 0),                       \
    X(51, 1, 16, 16, 1, 1030, d1, bf16, causal, 0.3), X(52, 5, 1, 1, 1030, 24, d0, bf16, full, 0.3),                   \
    X(53, 1, 8, 2, 1, 1030, d1, f16, full, 0.3), X(54, 1, 4, 2, 1, 2100, 128, bf16, causal, 0.3),                      \
    X(55, 5, 4, 2, 32, 24, d1, f16, full, 0), X(56, 1, 16, 1, 1, 2100, d1, bf16, full, 0.3),                           \
    X(57, 5, 1, 1, 4, 1030, 64, bf16, full, 0), X(58, 1, 1, 1, 1030, 77, d0, f16, full, 0),                            \
    X(59, 2, 1, 1, 32, 2100, d0, bf16, bottom, 0), X(60, 1, 1, 1, 1030, 24, 128, bf16, full, 0.3),                     \
    X(61, 1, 10, 2, 4, 2100, d0, bf16, bottom, 0.3), X(62, 2, 10, 2, 1, 1030, d2, f16, full, 0),                       \
    X(63, 5, 3, 1, 1, 1030, d1, bf16, full, 0.3), X(64, 5, 8, 2, 4, 64, 128, bf16, bottom, 0),                         \
    X(65, 1, 4, 2, 4, 1030, d1, f16, bottom, 0), X(66, 1, 1, 1, 2080, 24, 64, f16, bottom, 0.3),                       \
    X(67, 5, 8, 2, 33, 64, d0, bf16, full, 0.3), X(68, 5, 3, 1, 4, 2100, d0, f16, causal, 0.3),                        \
    X(69, 1, 1, 1, 2080, 77, d0, bf16, full, 0), X(70, 2, 10, 2, 1, 2100, d1, f16, causal, 0.3),                       \
    X(71, 1, 1, 1, 1030, 24, d2, bf16, full, 0.3), X(72, 5, 18, 6, 1, 2100, d0, bf16, causal, 0.3),                    \
    X(73, 5, 3, 1, 1, 1030, 128, f16, bottom, 0), X(74, 5, 16, 16, 4, 64, d1, bf16, causal, 0),                        \
    X(75, 5, 3, 1, 1, 1030, d2, f16, full, 0), X(76, 1, 8, 2, 1030, 24, d0, bf16, causal, 0),                          \
    X(77, 1, 1, 1, 1030, 24, d1, f16, causal, 0), X(78, 2, 1, 1, 1030, 64, d0, bf16, causal, 0),                       \
    X(79, 2, 4, 1, 64, 64, d2, f16, bottom, 0), X(80, 1, 1, 1, 2080, 24, d1, bf16, bottom, 0),                         \
    X(81, 1, 3, 1, 33, 2100, d0, f16, causal, 0), X(82, 2, 4, 1, 64, 64, 128, f16, causal, 0.3),                       \
    X(83, 1, 16, 1, 1, 1088, d2, f16, causal, 0.3), X(84, 5, 1, 1, 64, 64, 128, f16, full, 0),                         \
    X(85, 1, 3, 1, 4, 2100, 128, bf16, bottom, 0.3), X(86, 1, 3, 1, 32, 2100, d0, bf16, full, 0.3),                    \
    X(87, 5, 1, 1, 1030, 24, d0, bf16, bottom, 0), X(88, 5, 1, 1, 33, 1030, d0, f16, causal, 0.3),                     \
    X(89, 2, 4, 2, 32, 1030, d0, bf16, full, 0.3), X(90, 2, 18, 6, 32, 24, d2, f16, full, 0),                          \
    X(91, 1, 1, 1, 32, 1030, 128, f16, bottom, 0.3), X(92, 2, 1, 1, 1056, 24, d1, f16, full, 0),                       \
    X(93, 1, 4, 2, 2080, 24, d0, bf16, bottom, 0.3), X(94, 1, 1, 1, 2080, 64, d0, f16, bottom, 0.3),                   \
    X(95, 5, 1, 1, 77, 77, d2, f16, bottom, 0.3), X(96, 5, 1, 1, 2080, 24, d0, bf16, causal, 0),                       \
    X(97, 1, 1, 1, 2080, 24, d1, f16, full, 0.3), X(98, 1, 1, 1, 33, 1088, 128, bf16, full, 0.3),                      \
    X(99, 2, 1, 1, 32, 1030, d1, f16, full, 0.3), X(100, 1, 4, 2, 1030, 64, d0, bf16, full, 0),                        \
    X(101, 1, 1, 1, 32, 2100, 64, bf16, bottom, 0.3), X(102, 5, 1, 1, 2080, 24, d0, f16, full, 0.3),                   \
    X(103, 5, 3, 1, 64, 64, 64, bf16, bottom, 0.3), X(104, 2, 1, 1, 1030, 77, d0, bf16, full, 0),                      \
    X(105, 1, 10, 2, 1056, 24, d0, f16, bottom, 0.3), X(106, 2, 16, 16, 4, 2100, d0, f16, causal, 0.3),                \
    X(107, 2, 8, 2, 1, 2100, 128, f16, causal, 0.3), X(108, 1, 1, 1, 1030, 64, 64, f16, bottom, 0.3),                  \
    X(109, 2, 1, 1, 2080, 77, d0, f16, bottom, 0.3), X(110, 1, 10, 2, 64, 64, 128, bf16, bottom, 0),                   \
    X(162, 2, 4, 2, 64, 192, 64, f16, full, 0), X(167, 2, 4, 2, 256, 300, d0, bf16, bottom, 0.3),                      \
    X(172, 1, 2, 1, 64, 512, d0, bf16, full, 0), X(173, 1, 3, 1, 2080, 24, d0, f16, full, 0),                          \
    X(174, 1, 16, 2, 33, 33, 128, bf16, causal, 0.3), X(175, 1, 16, 16, 33, 33, d2, f16, full, 0),                     \
    X(176, 2, 2, 1, 9, 1100, 64, bf16, causal, 0.3)
/* Those that take longer. */
#define LONG_CROSSED(X, d0, d1, d2)                                                                                    \
    X(111, 5, 3, 1, 1, 2100, d2, bf16, causal, 0.3), X(112, 1, 1, 1, 1030, 77, 64, bf16, causal, 0),                   \
    X(113, 2, 18, 6, 1, 1030, 128, f16, causal, 0.3), X(114, 5, 1, 1, 32, 1088, d0, f16, full, 0.3),                   \
    X(115, 1, 1, 1, 32, 1030, d2, f16, causal, 0.3), X(116, 1, 1, 1, 32, 2100, d1, bf16, causal, 0),                   \
    X(117, 1, 3, 1, 1030, 77, d0, bf16, bottom, 0), X(118, 2, 10, 2, 64, 64, 64, f16, bottom, 0),                      \
    X(119, 2, 1, 1, 1056, 24, 128, f16, bottom, 0.3), X(120, 1, 4, 2, 32, 2100, d0, f16, causal, 0.3),                 \
    X(121, 2, 1, 1, 2080, 64, d0, bf16, full, 0.3), X(122, 1, 1, 1, 2080, 24, 128, f16, full, 0.3),                    \
    X(123, 1, 3, 1, 1030, 24, 64, bf16, causal, 0), X(124, 5, 18, 6, 33, 64, d0, bf16, full, 0.3),                     \
    X(125, 2, 1, 1, 33, 1030, d1, f16, full, 0), X(126, 1, 1, 1, 33, 2100, d1, bf16, bottom, 0),                       \
    X(127, 2, 8, 2, 64, 64, d1, bf16, causal, 0.3), X(128, 1, 4, 2, 1030, 77, d0, bf16, bottom, 0),                    \
    X(129, 1, 20, 4, 1, 2100, d2, bf16, bottom, 0.3), X(130, 2, 3, 1, 2080, 24, d0, f16, full, 0),                     \
    X(131, 1, 1, 1, 1030, 64, d1, f16, full, 0.3), X(132, 1, 10, 2, 64, 64, d2, bf16, full, 0.3),                      \
    X(133, 1, 3, 1, 1030, 24, d1, f16, bottom, 0), X(134, 1, 1, 1, 1030, 24, d2, bf16, causal, 0.3),                   \
    X(135, 5, 16, 2, 64, 64, d0, f16, bottom, 0.3), X(136, 2, 3, 1, 2080, 24, d0, f16, causal, 0),                     \
    X(137, 2, 6, 2, 1030, 24, d0, f16, full, 0.3), X(138, 1, 10, 2, 33, 1030, d0, f16, full, 0.3),                     \
    X(139, 1, 3, 1, 32, 1030, 64, f16, full, 0), X(140, 5, 1, 1, 1030, 64, d0, f16, causal, 0),                        \
    X(141, 5, 1, 1, 32, 2100, d0, f16, bottom, 0.3), X(142, 1, 4, 2, 1030, 24, 64, bf16, causal, 0.3),                 \
    X(143, 5, 1, 1, 33, 2100, d0, f16, causal, 0.3), X(144, 1, 8, 2, 1056, 24, d0, bf16, full, 0.3),                   \
    X(145, 5, 1, 1, 2080, 64, d0, bf16, bottom, 0.3), X(146, 1, 18, 6, 64, 64, d1, bf16, bottom, 0.3),                 \
    X(147, 1, 1, 1, 2080, 24, 128, bf16, bottom, 0.3), X(148, 2, 1, 1, 2080, 24, 64, bf16, causal, 0.3),               \
    X(149, 1, 17, 1, 2080, 24, d0, bf16, bottom, 0.3), X(150, 1, 1, 1, 2080, 64, d1, bf16, causal, 0),                 \
    X(151, 1, 1, 1, 1030, 77, d1, bf16, bottom, 0.3), X(152, 1, 8, 2, 2080, 64, d0, bf16, full, 0.3),                  \
    X(153, 1, 1, 1, 1030, 64, d2, f16, bottom, 0), X(154, 1, 17, 1, 64, 64, 64, f16, causal, 0),                       \
    X(155, 2, 1, 1, 2080, 24, d2, bf16, full, 0.3), X(156, 1, 10, 2, 32, 1088, d0, f16, causal, 0),                    \
    X(160, 1, 17, 1, 1030, 64, d0, bf16, full, 0.3), X(161, 2, 32, 2, 32, 128, d2, bf16, bottom, 0.3),                 \
    X(163, 2, 2, 1, 64, 2100, d0, f16, full, 0), X(164, 1, 1, 1, 2080, 2112, d0, bf16, bottom, 0.3),                   \
    X(169, 2, 16, 2, 256, 320, d0, f16, full, 0), X(166, 1, 2, 1, 1030, 1100, d0, f16, bottom, 0.5)
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
