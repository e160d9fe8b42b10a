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

/* What a row is of each thing, in classes: one query, up to 16, whole tiles or not, from 256, 1024 or 2048 on; keys
 * likewise, and from 4096 on; which are more; one batch, few, more than 4; key heads that one query head has, few, a power
 * of two or another number of them, or all; heads from 16 and 64 on; dimensions below, at, between and above 64, 128 and
 * 192; dtype, mask, scale. With a suite's other rows any two meet, and any three that a row of some size can have; of rows
 * cross_* those whose numbers end alike, which regimes name, have every class (tests/cli/parity.sh).
 *
 * X(n, batches, heads, key heads, queries, keys, dimension, dtype, mask, scale) */
/* clang-format off */
#define CROSSED(X, d0, d1, d2, d3)                                                                                     \
    X(1, 1, 16, 16, 2, 64, d1, bf16, bottom, 0.1), X(2, 1, 1, 1, 1, 66, d0, f16, full, 0),                             \
    X(3, 5, 2, 1, 1, 256, d1, bf16, full, 0.1), X(4, 1, 16, 2, 1024, 3, d0, f16, full, 0.1),                           \
    X(5, 1, 2, 1, 1, 2048, 64, bf16, bottom, 0.3), X(6, 1, 1, 1, 1, 3, d2, f16, full, 0.1),                            \
    X(7, 1, 1, 1, 1024, 3, d2, bf16, causal, 0), X(8, 1, 16, 1, 1, 256, d2, bf16, causal, 0.1),                        \
    X(9, 1, 64, 8, 256, 3, d0, bf16, full, 0.3), X(10, 1, 2, 1, 1, 256, d3, f16, causal, 0),                           \
    X(11, 1, 8, 2, 2048, 3, d0, f16, bottom, 0.3), X(12, 1, 8, 2, 17, 64, 128, f16, full, 0.1),                        \
    X(13, 1, 1, 1, 1024, 3, d3, f16, full, 0), X(14, 1, 8, 2, 1, 256, d2, bf16, causal, 0),                            \
    X(15, 1, 64, 8, 32, 3, d1, f16, bottom, 0), X(16, 1, 96, 8, 17, 3, 128, bf16, bottom, 0.3),                        \
    X(17, 5, 64, 8, 4, 3, d2, f16, bottom, 0.3), X(18, 1, 12, 2, 2048, 3, d0, f16, full, 0.3),                         \
    X(19, 1, 1, 1, 2048, 3, d1, f16, full, 0), X(20, 2, 96, 8, 2, 3, d3, bf16, full, 0.1),                             \
    X(21, 1, 2, 1, 1, 2048, d1, f16, bottom, 0.3), X(22, 5, 4, 2, 2048, 3, d0, bf16, full, 0),                         \
    X(23, 1, 64, 8, 2, 66, d2, f16, full, 0.1), X(24, 1, 10, 2, 2048, 3, d0, f16, bottom, 0.3),                        \
    X(25, 2, 10, 2, 2048, 3, d0, bf16, causal, 0), X(26, 2, 1, 1, 2080, 3, 64, f16, bottom, 0.3),                      \
    X(27, 2, 2, 1, 2048, 3, 64, bf16, full, 0), X(28, 1, 1, 1, 32, 256, 128, f16, causal, 0),                          \
    X(29, 5, 17, 1, 32, 3, 128, f16, causal, 0), X(30, 1, 1, 1, 2048, 3, 128, f16, bottom, 0.3),                       \
    X(31, 1, 10, 2, 1, 256, d3, bf16, bottom, 0.1), X(32, 5, 16, 2, 32, 3, d2, bf16, full, 0),                         \
    X(33, 5, 18, 6, 32, 77, d0, bf16, bottom, 0.3), X(34, 1, 1, 1, 256, 1024, d0, bf16, full, 0),                      \
    X(35, 1, 16, 2, 256, 64, d0, bf16, full, 0.1), X(36, 5, 2, 1, 32, 66, d1, bf16, bottom, 0),                        \
    X(37, 5, 1, 1, 256, 256, d0, bf16, causal, 0), X(38, 5, 24, 4, 256, 3, d0, bf16, full, 0.3),                       \
    X(39, 2, 96, 8, 2, 64, 64, f16, full, 0), X(40, 1, 64, 64, 32, 3, 128, f16, causal, 0),                            \
    X(41, 2, 4, 2, 256, 3, d2, bf16, causal, 0), X(42, 2, 2, 1, 32, 2048, d0, f16, full, 0),                           \
    X(43, 1, 8, 2, 1, 2048, 64, f16, causal, 0.1), X(44, 1, 64, 1, 2, 2048, d0, bf16, causal, 0),                      \
    X(45, 1, 4, 2, 1024, 64, d0, bf16, full, 0.1), X(46, 1, 1, 1, 1024, 256, d0, f16, bottom, 0.3),                    \
    X(47, 1, 64, 1, 2, 256, d1, f16, causal, 0.3), X(48, 1, 64, 32, 1, 1024, d0, bf16, full, 0.1),                     \
    X(49, 2, 1, 1, 1, 1030, d3, f16, full, 0.3), X(50, 5, 2, 1, 260, 3, d2, bf16, full, 0),                            \
    X(51, 5, 4, 2, 256, 3, 64, bf16, causal, 0.3), X(52, 1, 2, 2, 1024, 3, d3, f16, bottom, 0.1),                      \
    X(53, 1, 1, 1, 256, 1024, d0, f16, causal, 0), X(54, 1, 8, 2, 64, 64, d1, f16, full, 0.1),                         \
    X(55, 1, 1, 1, 17, 1024, d2, bf16, causal, 0.3), X(56, 1, 64, 8, 64, 64, d0, bf16, bottom, 0.1),                   \
    X(57, 5, 2, 1, 32, 1024, d0, bf16, bottom, 0), X(58, 2, 16, 2, 256, 3, 64, bf16, bottom, 0),                       \
    X(59, 5, 1, 1, 64, 64, 128, f16, bottom, 0.3), X(60, 1, 1, 1, 256, 1024, d0, bf16, bottom, 0.3),                   \
    X(61, 1, 10, 2, 17, 64, d2, f16, causal, 0.3), X(62, 5, 16, 1, 2, 2048, d0, bf16, causal, 0.3),                    \
    X(63, 2, 1, 1, 32, 4100, d0, f16, causal, 0), X(64, 1, 1, 1, 17, 1024, 128, bf16, full, 0.1),                      \
    X(65, 1, 10, 2, 32, 66, d2, f16, full, 0), X(66, 1, 2, 1, 2048, 66, d0, f16, causal, 0.3),                         \
    X(67, 5, 18, 6, 2, 64, d2, bf16, full, 0), X(68, 1, 10, 2, 32, 1024, d0, f16, causal, 0.3),                        \
    X(69, 5, 96, 8, 1, 64, d1, bf16, bottom, 0.1), X(70, 2, 4, 2, 32, 1024, d0, bf16, full, 0),                        \
    X(71, 2, 24, 4, 1024, 3, d0, f16, causal, 0.3), X(72, 5, 8, 2, 2048, 3, d0, bf16, full, 0.3),                      \
    X(73, 2, 96, 8, 32, 3, d1, f16, full, 0), X(74, 1, 10, 2, 17, 256, 64, f16, causal, 0.1),                          \
    X(75, 5, 18, 6, 32, 3, d3, f16, bottom, 0.3), X(76, 5, 1, 1, 2, 1024, d1, f16, causal, 0.1),                       \
    X(77, 5, 18, 6, 17, 256, d0, f16, bottom, 0.3), X(78, 1, 1, 1, 256, 64, d2, f16, causal, 0),                       \
    X(79, 1, 18, 6, 1, 1024, d1, f16, causal, 0.3), X(80, 1, 16, 16, 1, 4100, d0, bf16, bottom, 0.3),                  \
    X(81, 1, 1, 1, 32, 1024, 64, bf16, bottom, 0.3), X(82, 2, 2, 1, 2048, 3, d1, bf16, bottom, 0.1),                   \
    X(83, 1, 72, 1, 1, 4100, d0, f16, bottom, 0.1), X(84, 5, 1, 1, 32, 2048, d0, bf16, bottom, 0.3),                   \
    X(85, 1, 20, 20, 256, 3, d2, f16, bottom, 0.1), X(86, 1, 64, 32, 1, 2048, d0, f16, bottom, 0),                     \
    X(87, 1, 1, 1, 17, 2048, d1, f16, causal, 0.3), X(88, 5, 16, 16, 1024, 3, d0, f16, causal, 0.1),                   \
    X(89, 2, 2, 1, 1, 4100, d1, bf16, bottom, 0), X(90, 5, 10, 2, 1, 256, 128, bf16, full, 0.1),                       \
    X(91, 1, 71, 71, 64, 64, d0, bf16, full, 0), X(92, 5, 8, 2, 256, 3, d1, f16, causal, 0),                           \
    X(93, 1, 64, 64, 1, 1024, d0, bf16, full, 0), X(94, 1, 10, 2, 1, 1024, d2, f16, causal, 0.1),                      \
    X(95, 1, 4, 1, 2048, 64, d0, bf16, full, 0.1), X(96, 2, 1, 1, 32, 256, d3, bf16, causal, 0.1),                     \
    X(97, 2, 2, 1, 2048, 64, d0, f16, causal, 0.1), X(98, 2, 2, 1, 1, 2048, d2, f16, bottom, 0.1),                     \
    X(99, 5, 64, 1, 17, 3, d2, bf16, causal, 0.1), X(100, 2, 24, 4, 1, 256, d2, f16, full, 0.3),                       \
    X(101, 5, 64, 64, 4, 3, d3, f16, causal, 0), X(102, 1, 1, 1, 256, 64, d3, bf16, causal, 0),                        \
    X(103, 1, 10, 2, 17, 2048, d0, bf16, causal, 0), X(104, 1, 64, 8, 1, 4100, d0, bf16, causal, 0.1),                 \
    X(105, 1, 10, 2, 1, 4100, 64, f16, causal, 0.3), X(106, 1, 64, 64, 1, 2048, d0, f16, causal, 0),                   \
    X(107, 2, 18, 6, 256, 66, d0, f16, causal, 0.3), X(108, 1, 64, 32, 2, 64, d3, bf16, causal, 0),                    \
    X(109, 1, 10, 2, 1, 2048, 128, bf16, full, 0), X(110, 1, 64, 64, 1, 64, d2, f16, full, 0.1),                       \
    X(111, 2, 10, 2, 256, 3, 128, bf16, causal, 0), X(112, 1, 16, 16, 1, 1024, 64, bf16, full, 0.1),                   \
    X(113, 5, 2, 2, 17, 64, d3, f16, full, 0.1), X(114, 1, 10, 2, 256, 3, d3, f16, bottom, 0.1),                       \
    X(115, 2, 1, 1, 1, 2048, d3, bf16, causal, 0.1), X(116, 1, 16, 1, 256, 3, d3, bf16, causal, 0),                    \
    X(117, 1, 10, 2, 32, 66, d3, bf16, causal, 0), X(118, 5, 96, 8, 32, 3, 64, bf16, causal, 0.1),                     \
    X(119, 5, 2, 1, 1030, 64, d0, f16, bottom, 0), X(120, 5, 10, 2, 17, 66, 64, bf16, bottom, 0.1),                    \
    X(121, 1, 2, 1, 1, 4100, d2, f16, causal, 0), X(122, 5, 8, 2, 1, 256, d3, f16, full, 0),                           \
    X(123, 1, 96, 8, 1, 256, d2, bf16, bottom, 0), X(124, 2, 64, 32, 32, 3, d2, bf16, bottom, 0.3),                    \
    X(125, 5, 64, 1, 1, 256, 64, bf16, bottom, 0), X(126, 1, 4, 2, 32, 256, d2, f16, full, 0),                         \
    X(127, 2, 1, 1, 2, 4100, 128, f16, causal, 0.3), X(128, 5, 1, 1, 77, 77, d2, bf16, causal, 0.3),                   \
    X(129, 2, 64, 64, 17, 256, d0, bf16, full, 0.3), X(130, 2, 96, 8, 1, 2048, d0, bf16, bottom, 0.3),                 \
    X(131, 1, 1, 1, 256, 66, d3, f16, bottom, 0.1), X(132, 5, 2, 1, 1024, 66, d0, f16, causal, 0.3),                   \
    X(133, 5, 1, 1, 2048, 64, d0, bf16, bottom, 0), X(134, 5, 16, 16, 1, 66, d2, bf16, full, 0.1),                     \
    X(135, 5, 10, 2, 2, 256, d2, f16, causal, 0.1), X(136, 1, 14, 2, 1, 1030, d3, f16, bottom, 0),                     \
    X(137, 1, 64, 8, 1, 1024, 64, f16, causal, 0.1), X(138, 1, 4, 2, 256, 64, d1, bf16, full, 0.3),                    \
    X(139, 5, 64, 1, 1, 66, d3, bf16, bottom, 0.1), X(140, 1, 8, 2, 1, 4100, d1, bf16, full, 0.1),                     \
    X(141, 1, 8, 2, 1, 2048, d2, bf16, causal, 0), X(142, 1, 64, 32, 1, 4100, d0, bf16, causal, 0),                    \
    X(143, 1, 10, 2, 64, 64, 128, bf16, full, 0), X(144, 5, 1, 1, 256, 64, 64, bf16, bottom, 0.3),                     \
    X(145, 1, 8, 2, 77, 77, 128, bf16, causal, 0), X(146, 1, 4, 2, 1, 4100, 128, bf16, causal, 0.3),                   \
    X(147, 1, 8, 2, 77, 77, d2, bf16, causal, 0), X(148, 5, 12, 3, 2, 4100, d0, f16, bottom, 0.3),                     \
    X(149, 1, 64, 32, 1, 256, 128, bf16, causal, 0.3), X(150, 1, 10, 2, 1024, 64, d0, f16, full, 0.1),                 \
    X(151, 5, 16, 2, 32, 256, d0, bf16, full, 0.3), X(152, 1, 24, 4, 64, 64, d1, bf16, bottom, 0.1),                   \
    X(160, 1, 64, 64, 24, 24, 128, f16, causal, 0)
/* Those that take longer. */
#define LONG_CROSSED(X, d0, d1, d2, d3)                                                                                \
    X(1, 1, 16, 1, 2048, 3, d0, f16, full, 0.1), X(2, 1, 1, 1, 2048, 3, d2, bf16, causal, 0),                          \
    X(3, 1, 10, 2, 256, 3, d2, f16, causal, 0.3), X(4, 2, 16, 2, 2048, 3, d0, bf16, causal, 0),                        \
    X(5, 2, 2, 1, 1024, 3, 128, f16, causal, 0), X(6, 1, 1, 1, 2048, 3, d3, f16, causal, 0),                           \
    X(7, 1, 65, 13, 1024, 3, d0, bf16, full, 0), X(8, 1, 16, 8, 1024, 3, 64, bf16, bottom, 0),                         \
    X(9, 1, 64, 8, 1, 256, d3, bf16, full, 0.1), X(10, 1, 64, 32, 17, 65, d1, f16, full, 0),                           \
    X(11, 1, 64, 8, 24, 24, d2, bf16, causal, 0), X(12, 2, 8, 2, 1024, 3, d1, f16, bottom, 0.1),                       \
    X(13, 5, 64, 8, 2, 65, 128, f16, full, 0), X(14, 1, 10, 2, 64, 64, d2, f16, causal, 0.1),                          \
    X(15, 5, 16, 1, 17, 64, d1, f16, full, 0.1), X(16, 2, 1, 1, 2, 4096, d2, bf16, bottom, 0.1),                       \
    X(17, 5, 18, 3, 2, 4096, d0, bf16, bottom, 0.1), X(18, 5, 64, 8, 1, 2048, d0, f16, full, 0),                       \
    X(19, 2, 8, 2, 2, 2048, d1, bf16, bottom, 0.3), X(20, 5, 64, 32, 1, 64, 128, bf16, causal, 0),                     \
    X(21, 2, 1, 1, 1024, 65, 64, f16, full, 0.1), X(22, 1, 16, 8, 64, 64, 128, f16, causal, 0.1),                      \
    X(23, 1, 10, 2, 2, 4096, d1, f16, causal, 0), X(24, 2, 18, 3, 64, 64, 64, bf16, full, 0.1),                        \
    X(25, 1, 64, 64, 32, 65, 64, bf16, causal, 0.1), X(26, 2, 64, 32, 17, 64, 64, bf16, bottom, 0),                    \
    X(27, 5, 96, 8, 17, 3, d3, f16, causal, 0), X(28, 2, 16, 16, 256, 3, d3, f16, full, 0),                            \
    X(29, 1, 16, 1, 64, 64, d2, bf16, bottom, 0.1), X(30, 2, 18, 6, 1, 2048, 64, bf16, causal, 0.1),                   \
    X(31, 5, 2, 1, 64, 64, d3, f16, causal, 0), X(32, 5, 1, 1, 256, 65, 128, f16, bottom, 0.1),                        \
    X(33, 2, 64, 1, 1, 1024, d1, f16, full, 0), X(34, 5, 16, 2, 17, 1024, d0, bf16, causal, 0.1),                      \
    X(35, 1, 1, 1, 32, 4096, d1, bf16, full, 0.3), X(36, 1, 1, 1, 32, 2048, d2, f16, causal, 0),                       \
    X(37, 2, 16, 1, 2, 1024, d2, bf16, full, 0.3), X(38, 5, 8, 2, 256, 3, d3, f16, full, 0.3),                         \
    X(39, 2, 64, 64, 256, 3, d1, f16, bottom, 0.1), X(40, 1, 10, 2, 256, 65, d1, f16, full, 0.3),                      \
    X(41, 1, 16, 16, 17, 256, d2, f16, bottom, 0.3), X(42, 1, 10, 2, 17, 1024, d1, bf16, causal, 0),                   \
    X(43, 1, 16, 2, 64, 64, d3, f16, bottom, 0.3), X(44, 1, 64, 32, 64, 64, 64, bf16, causal, 0),                      \
    X(45, 1, 16, 16, 1, 2048, 128, bf16, full, 0), X(46, 1, 70, 10, 33, 33, d3, bf16, bottom, 0),                      \
    X(47, 1, 64, 1, 64, 64, d1, bf16, bottom, 0), X(48, 5, 16, 2, 64, 64, 64, bf16, full, 0),                          \
    X(49, 5, 96, 8, 77, 77, d0, f16, causal, 0.3),                                                                     \
    X(201, 1, 1, 1, 1030, 24, d1, f16, causal, 0), X(202, 5, 4, 2, 4, 1030, d0, f16, bottom, 0),                       \
    X(203, 5, 1, 1, 1030, 24, d0, bf16, full, 0.3), X(204, 1, 4, 2, 2080, 24, d0, bf16, bottom, 0.3),                  \
    X(205, 5, 1, 1, 2080, 24, d0, bf16, causal, 0), X(206, 5, 1, 1, 2080, 24, d0, f16, full, 0.3),                     \
    X(207, 2, 6, 2, 1030, 24, d0, f16, full, 0.3), X(208, 2, 1, 1, 1056, 24, d1, f16, full, 0),                        \
    X(209, 1, 3, 1, 1030, 24, 64, bf16, causal, 0), X(210, 1, 1, 1, 1030, 77, d1, bf16, bottom, 0.3)
/* And those of a GPU alone. */
#define GPU_CROSSED(X, d0, d1, d2, d3)                                                                                 \
    X(50, 1, 16, 16, 2048, 3, d0, f16, full, 0.1), X(51, 1, 16, 2, 256, 3, d1, bf16, bottom, 0),                       \
    X(52, 1, 4, 2, 1024, 3, d1, f16, causal, 0.1), X(53, 1, 64, 1, 1024, 3, d0, bf16, causal, 0),                      \
    X(54, 2, 1, 1, 1, 2048, 128, bf16, bottom, 0), X(55, 1, 64, 8, 1024, 3, d0, bf16, bottom, 0.3),                    \
    X(56, 1, 16, 2, 256, 3, 128, bf16, bottom, 0.1), X(57, 1, 64, 1, 32, 3, d3, f16, full, 0),                         \
    X(58, 1, 1, 1, 2048, 3, d3, f16, bottom, 0), X(59, 1, 64, 64, 1024, 3, d0, bf16, full, 0),                         \
    X(60, 1, 10, 2, 1024, 3, 64, f16, full, 0.3), X(61, 1, 2, 1, 2048, 3, d2, f16, bottom, 0.3),                       \
    X(62, 5, 1, 1, 2048, 3, d1, f16, full, 0), X(63, 1, 18, 3, 1, 2048, d1, f16, causal, 0),                           \
    X(64, 1, 64, 1, 2048, 3, d0, f16, full, 0), X(65, 1, 64, 8, 2048, 3, d0, bf16, causal, 0.1),                       \
    X(66, 1, 8, 2, 2048, 3, 64, f16, causal, 0.1), X(67, 2, 2, 1, 2048, 3, 128, f16, bottom, 0.1),                     \
    X(68, 1, 64, 32, 2048, 3, d0, bf16, bottom, 0), X(69, 1, 8, 2, 1024, 3, 128, bf16, bottom, 0),                     \
    X(70, 2, 64, 32, 1024, 3, d0, f16, full, 0.1), X(71, 2, 2, 1, 1024, 3, d3, f16, causal, 0.1),                      \
    X(72, 1, 64, 64, 2048, 3, d0, f16, full, 0), X(73, 1, 65, 13, 2048, 3, d0, f16, full, 0.1),                        \
    X(74, 5, 1, 1, 1, 4096, 64, bf16, full, 0), X(75, 1, 16, 1, 1024, 3, d1, bf16, full, 0),                           \
    X(76, 1, 64, 1, 256, 3, d1, f16, causal, 0), X(77, 1, 10, 2, 2048, 3, 64, f16, causal, 0),                         \
    X(78, 1, 8, 2, 2048, 3, d1, f16, causal, 0), X(79, 1, 10, 2, 1024, 3, 128, f16, causal, 0),                        \
    X(80, 5, 2, 1, 2048, 3, 64, f16, causal, 0.1), X(81, 1, 8, 2, 1024, 3, d2, bf16, causal, 0),                       \
    X(82, 2, 4, 2, 1024, 3, d2, f16, full, 0.3), X(83, 5, 1, 1, 2048, 3, 128, f16, bottom, 0),                         \
    X(84, 1, 10, 2, 32, 256, d1, bf16, causal, 0), X(85, 2, 70, 10, 1, 4096, d0, f16, full, 0),                        \
    X(86, 2, 10, 2, 2, 1024, 128, bf16, bottom, 0.3), X(87, 5, 18, 3, 2048, 3, d0, f16, bottom, 0),                    \
    X(88, 1, 4, 2, 1, 4096, d2, f16, full, 0.1), X(89, 5, 4, 2, 1, 1024, 128, bf16, bottom, 0),                        \
    X(90, 1, 10, 2, 1024, 3, d2, bf16, bottom, 0), X(91, 5, 2, 1, 1024, 3, d2, bf16, full, 0),                         \
    X(92, 1, 8, 2, 1, 2048, d3, f16, full, 0.1), X(93, 1, 4, 2, 256, 64, 128, f16, full, 0),                           \
    X(94, 2, 4, 2, 2048, 65, d0, bf16, bottom, 0.1), X(95, 1, 16, 8, 1024, 65, d0, bf16, bottom, 0),                   \
    X(96, 1, 65, 13, 256, 64, d0, f16, causal, 0.3), X(97, 1, 10, 2, 2, 2048, d2, bf16, full, 0.1),                    \
    X(98, 1, 10, 2, 1, 2048, d3, f16, bottom, 0), X(99, 5, 2, 1, 1, 4096, d1, f16, causal, 0.1),                       \
    X(100, 5, 4, 2, 1, 2048, d1, bf16, full, 0.3), X(101, 5, 4, 2, 1, 1024, d2, f16, full, 0),                         \
    X(102, 5, 18, 3, 1, 1024, 64, bf16, full, 0.3), X(103, 2, 1, 1, 1, 4096, d3, f16, causal, 0),                      \
    X(104, 1, 64, 64, 1, 4096, d0, bf16, causal, 0.3), X(105, 2, 2, 1, 2048, 3, d3, bf16, full, 0.1),                  \
    X(106, 1, 16, 2, 2, 2048, 128, bf16, causal, 0.1), X(107, 1, 16, 1, 1, 2048, d3, f16, bottom, 0.3),                \
    X(108, 5, 1, 1, 1024, 256, d0, bf16, full, 0), X(109, 2, 1, 1, 1024, 64, d1, bf16, causal, 0),                     \
    X(110, 1, 10, 2, 256, 65, 64, f16, full, 0.3), X(111, 5, 2, 1, 32, 4096, d0, bf16, bottom, 0.3),                   \
    X(112, 5, 10, 2, 1, 2048, 64, bf16, causal, 0.1), X(113, 5, 8, 2, 17, 2048, d0, f16, causal, 0.3),                 \
    X(114, 5, 4, 2, 17, 4096, d0, bf16, causal, 0.1), X(115, 1, 4, 2, 1, 4096, d3, bf16, bottom, 0.1),                 \
    X(116, 5, 1, 1, 1, 4096, 128, bf16, bottom, 0), X(117, 5, 1, 1, 1, 2048, d3, bf16, full, 0),                       \
    X(118, 5, 8, 2, 1024, 3, 64, f16, causal, 0.1), X(119, 1, 16, 8, 2048, 3, d1, bf16, causal, 0),                    \
    X(120, 2, 4, 2, 2048, 3, d2, bf16, full, 0.1), X(121, 5, 4, 2, 1024, 3, 128, f16, bottom, 0.3),                    \
    X(122, 1, 18, 6, 1, 4096, d1, f16, causal, 0), X(123, 5, 4, 2, 1, 2048, 128, f16, full, 0.3),                      \
    X(124, 5, 1, 1, 1, 4096, d2, f16, causal, 0.3), X(125, 1, 1, 1, 1024, 256, 64, bf16, causal, 0.1),                 \
    X(126, 1, 4, 2, 32, 2048, 64, bf16, full, 0), X(127, 5, 4, 2, 1, 2048, d2, f16, causal, 0.3),                      \
    X(128, 5, 10, 2, 1024, 3, d1, bf16, bottom, 0.1), X(129, 5, 4, 2, 2, 1024, d3, bf16, full, 0.1),                   \
    X(130, 1, 64, 32, 256, 3, d3, f16, causal, 0), X(131, 1, 8, 2, 32, 1024, d1, bf16, bottom, 0),                     \
    X(132, 1, 8, 2, 256, 65, d2, f16, causal, 0.1), X(133, 5, 1, 1, 1, 4096, d3, f16, full, 0.1),                      \
    X(134, 5, 64, 8, 256, 3, 64, bf16, full, 0), X(135, 5, 4, 2, 1024, 3, d3, f16, full, 0.1)
/* Small ones for all regimes: the first have every class, the others more of those that meet. */
#define CLASSES(X, d0, d1, d2, d3)                                                                                     \
    X(1, 1, 2, 1, 1, 130, d3, f16, full, 0), X(2, 2, 16, 16, 64, 64, d0, bf16, bottom, 0),                             \
    X(3, 2, 10, 2, 33, 24, d0, f16, bottom, 0.1), X(4, 5, 16, 2, 4, 64, d0, f16, causal, 0.1),                         \
    X(5, 1, 1, 1, 260, 256, d0, f16, causal, 0.1), X(6, 2, 4, 2, 1, 130, d2, f16, causal, 0.1),                        \
    X(7, 2, 64, 1, 1, 24, 128, f16, causal, 0.3), X(8, 1, 4, 2, 32, 24, d1, bf16, causal, 0),                          \
    X(9, 5, 2, 1, 4, 1030, 64, bf16, bottom, 0), X(10, 1, 2, 1, 1, 4100, 64, bf16, bottom, 0),                         \
    X(11, 1, 2, 2, 2080, 40, d0, f16, full, 0)
#define MORE_CLASSES(X, d0, d1, d2, d3)                                                                                \
    X(12, 1, 2, 1, 1, 2100, 64, f16, full, 0), X(13, 1, 2, 1, 1030, 24, 64, bf16, bottom, 0),                         \
    X(14, 2, 16, 1, 1, 64, 64, bf16, bottom, 0), X(15, 2, 8, 2, 1, 200, 64, f16, full, 0),                             \
    X(16, 1, 16, 2, 1, 300, d1, f16, bottom, 0), X(17, 1, 24, 4, 1, 64, d3, f16, causal, 0),                           \
    X(18, 1, 96, 8, 4, 130, d0, bf16, full, 0), X(19, 5, 1, 1, 33, 24, 128, bf16, full, 0),                            \
    X(20, 1, 2, 1, 64, 64, 64, f16, full, 0.3), X(21, 2, 1, 1, 4, 300, d3, bf16, full, 0.1),                           \
    X(22, 1, 16, 4, 33, 24, d2, bf16, full, 0)
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
