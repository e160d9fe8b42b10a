/* sdpa_parity.c -- correctness only: every combination of dtype, head dimension, batch, mask, grouped heads and length,
 * and rows that break limits.
 *
 * Run it first when a kernel changes; nothing is timed. A row's name says its shape: f16_d64_b3_causal_gqa_s77. Another
 * length is one more ROW in LENGTHS, another dimension one more line of the grid; tests/cli/parity.sh holds the list of
 * what must be there. Without the rows that need up to 30 GB of device memory: --exclude 'sdpa_parity/limit_2g_*'.
 */
#include "op/sdpa.h"
#include "suites.h"

/* Four query heads: with gqa, h / 2 and h % 2 name different key heads. */
enum { keys_mha = 4, keys_gqa = 2 };

/* clang-format off */
#define ROW(type, d, b, mask, heads, s)                                                                                \
    { #type "_d" #d "_b" #b "_" #mask "_" #heads "_s" #s, .B = b, .H = 4, .Hkv = keys_##heads, .S = s, .D = d,         \
      .dtype = (enum kg_dtype)dtype_##type, .causal = mask_##mask }

/* A single weight; a prime; not a multiple of 8; 64-row tiles that fill half of the last 128-row one; whole tiles of every
 * size; whole ones, and an odd number of 128 keys; many tiles and a cut last one. */
#define LENGTHS(type, d, b, mask, heads)                                                                               \
    ROW(type, d, b, mask, heads, 1), ROW(type, d, b, mask, heads, 17), ROW(type, d, b, mask, heads, 77),               \
        ROW(type, d, b, mask, heads, 448), ROW(type, d, b, mask, heads, 512), ROW(type, d, b, mask, heads, 640),       \
        ROW(type, d, b, mask, heads, 1000)

#define CPU_LENGTHS(type, d, b, mask, heads)                                                                           \
    ROW(type, d, b, mask, heads, 1), ROW(type, d, b, mask, heads, 17), ROW(type, d, b, mask, heads, 77)

/* Masks and grouped heads go wrong together: a causal bound in the wrong head's rows. */
#define MASKS_AND_HEADS(lengths, type, d, b)                                                                           \
    lengths(type, d, b, full, mha), lengths(type, d, b, full, gqa), lengths(type, d, b, causal, mha),                  \
        lengths(type, d, b, causal, gqa)

/* One batch; an odd number, for batch strides; more of them than heads, where all that a head's number decides is
 * decided at once. */
#define BATCHES(type, d)                                                                                               \
    MASKS_AND_HEADS(LENGTHS, type, d, 1), MASKS_AND_HEADS(LENGTHS, type, d, 3), LENGTHS(type, d, 8, causal, gqa)

/* Round the edges of tiles of 32, 48, 64, 96 and 128. */
#define EDGES(type, d, b, mask, heads)                                                                                 \
    ROW(type, d, b, mask, heads, 63), ROW(type, d, b, mask, heads, 64), ROW(type, d, b, mask, heads, 65),              \
        ROW(type, d, b, mask, heads, 127), ROW(type, d, b, mask, heads, 128), ROW(type, d, b, mask, heads, 129),       \
        ROW(type, d, b, mask, heads, 192), ROW(type, d, b, mask, heads, 1025)

/* So many rows that on an H200 `flash` takes its largest tiles. */
#define MANY_TILES(type, d)                                                                                            \
    ROW(type, d, 17, full, gqa, 1025), ROW(type, d, 17, causal, gqa, 1025), ALIGNED(type, d, 17, 1025, 300)

/* More or fewer keys than queries, and a causal row past the last key. No square shape finds the lengths swapped. */
#define RECTANGLES(type, name, d)                                                                                      \
    { #type "_" #name "_s77_k200", .B = 2, .H = 4, .S = 77, .Skv = 200, .D = d, .dtype = (enum kg_dtype)dtype_##type },\
    { #type "_" #name "_s200_k77_causal", .B = 2, .H = 4, .S = 200, .Skv = 77, .D = d,                                 \
      .dtype = (enum kg_dtype)dtype_##type, .causal = true }

/* A causal mask aligned bottom-right. */
#define ALIGNED(type, d, b, s, keys)                                                                                   \
    { #type "_d" #d "_b" #b "_bottom_right_s" #s "_k" #keys, .B = b, .H = 4, .Hkv = 2, .S = s, .Skv = keys, .D = d,    \
      .dtype = (enum kg_dtype)dtype_##type, .causal = true, .bottom_right = true }

#define UNEQUAL(type, d, mask, s, keys)                                                                                \
    { #type "_d" #d "_b2_" #mask "_s" #s "_k" #keys, .B = 2, .H = 4, .Hkv = 2, .S = s, .Skv = keys, .D = d,            \
      .dtype = (enum kg_dtype)dtype_##type, .causal = mask_##mask }

/* Masks of either alignment over fewer, as many and more keys than queries; one query that sees a key, and one that
 * sees all; whole tiles of queries that see none; fewer keys than a step has, for groups of warps that share a step; whole tiles. */
#define MASKED_RECTANGLES(type, d)                                                                                     \
    UNEQUAL(type, d, causal, 77, 200), ALIGNED(type, d, 2, 77, 200), ALIGNED(type, d, 2, 77, 77),                      \
        ALIGNED(type, d, 2, 300, 40), UNEQUAL(type, d, causal, 1, 1000), ALIGNED(type, d, 2, 1, 1000),                 \
        UNEQUAL(type, d, full, 3, 5), UNEQUAL(type, d, full, 3, 129), ALIGNED(type, d, 2, 3, 5),                       \
        UNEQUAL(type, d, causal, 64, 128), UNEQUAL(type, d, causal, 256, 128), ALIGNED(type, d, 2, 256, 128)

/* With bottom_right keys are those that the first query sees. `b` decides which tiles a GPU's kernels take: many
 * batches the largest, one and `more` than 128 keys those whose keys several warps share. */
#define LENGTH(s, keys, type, mask, d, b, more)                                                                        \
    { "length_" #s "_" #mask "_d" #d "_b" #b "_more" #more, .B = b, .H = 2, .Hkv = 1, .S = s,                          \
      .Skv = keys + more + (align_##mask ? s : 0), .D = d, .dtype = (enum kg_dtype)dtype_##type,                       \
      .causal = mask_##mask, .bottom_right = align_##mask }
#define ALL_LENGTHS(d, other)                                                                                          \
    LENGTH_PAIRS(LENGTH, f16, full, d, 1, 0), LENGTH_PAIRS(LENGTH, f16, full, d, 1, 144),                              \
        EXACT_LENGTHS(LENGTH, f16, full, d, 1, 0), EXACT_LENGTHS(LENGTH, bf16, full, d, 80, 0),                        \
        LENGTH_PAIRS(LENGTH, f16, full, d, 300, 0), LENGTH_PAIRS(LENGTH, bf16, bottom, d, 1, 0),                       \
        LENGTH_PAIRS(LENGTH, bf16, bottom, d, 1, 32), LENGTH_PAIRS(LENGTH, bf16, bottom, d, 1, 144),                   \
        LENGTH_PAIRS(LENGTH, bf16, bottom, d, 300, other)

/* Over each number of tiles of keys; at last an odd number of 64. */
#define FEW_QUERIES(d)                                                                                                 \
    ALIGNED(f16, d, 2, 1, 300), ALIGNED(f16, d, 2, 3, 550), UNEQUAL(bf16, d, full, 3, 448),                            \
        UNEQUAL(bf16, d, full, 3, 700), UNEQUAL(f16, 64, causal, 1, 200), UNEQUAL(f16, 128, full, 9, 192)

/* Query heads that share a key head: numbers that divide no tile, and that do. */
#define GROUP(ratio, heads, type, d, mask)                                                                             \
    { #type "_d" #d "_b2_" #mask "_group" #ratio "_s77", .B = 2, .H = heads, .Hkv = 2, .S = 77, .D = d,                \
      .dtype = (enum kg_dtype)dtype_##type, .causal = mask_##mask }
#define GROUPS(type, d, mask) HEAD_GROUPS(GROUP, type, d, mask)

/* Lengths from which a kernel may go another way: one query over many keys, no tile of which is cut, or no eighth of
 * which is whole; many queries with a mask, or of whole tiles. */
#define LONG(d, other)                                                                                                 \
    { "decode_8200", .B = 1, .H = 2, .Hkv = 1, .S = 1, .Skv = 8200, .D = d, .dtype = KG_BF16 },                        \
        { "decode_8200_f16", .B = 1, .H = 2, .Hkv = 1, .S = 1, .Skv = 8200, .D = other, .dtype = KG_F16,               \
          .causal = true, .bottom_right = true },                                                                      \
        { "prompt_2100", .B = 1, .H = 1, .S = 2100, .D = d, .dtype = KG_BF16, .causal = true },                        \
        { "prompt_2100_f16", .B = 1, .H = 2, .Hkv = 1, .S = 1060, .Skv = 2100, .D = d, .dtype = KG_F16,                \
          .causal = true, .bottom_right = true },                                                                      \
        { "decode_8192", .B = 1, .H = 2, .Hkv = 1, .S = 1, .Skv = 8192, .D = other, .dtype = KG_F16 },                 \
        { "decode_8207", .B = 1, .H = 20, .Hkv = 1, .S = 1, .Skv = 8207, .D = other, .dtype = KG_BF16 },               \
        { "queries_2304", .B = 1, .H = 1, .S = 2304, .Skv = 40, .D = other, .dtype = KG_BF16 }

/* Long rows of narrow heads, cheap enough for many regimes. */
#define LONG_AND_NARROW                                                                                                \
    { "narrow_520", .B = 1, .H = 2, .Hkv = 1, .S = 520, .D = 16, .dtype = KG_BF16, .causal = true },                   \
        { "narrow_1030", .B = 1, .H = 1, .S = 1030, .Skv = 1040, .D = 16, .dtype = KG_F16, .causal = true,             \
          .bottom_right = true }

/* Long rows again, of several batches and heads that share keys, with a scale of their own; causal past 16 bits. */
#define LONG_OF_SEVERAL(d)                                                                                             \
    { "causal_queries_66001", .B = 1, .H = 1, .S = 66001, .Skv = 9, .D = d, .dtype = KG_F16, .causal = true },         \
        { "decode_20000", .B = 2, .H = 2, .Hkv = 1, .S = 1, .Skv = 20000, .D = d, .dtype = KG_BF16, .scale = 0.3 },    \
        { "decode_9000", .B = 3, .H = 3, .Hkv = 1, .S = 1, .Skv = 9000, .D = d, .dtype = KG_F16, .scale = 0.05 },      \
        { "prompt_1060", .B = 2, .H = 2, .Hkv = 1, .S = 1060, .D = d, .dtype = KG_BF16, .causal = true, .scale = 0.3 },\
        { "prompt_700", .B = 2, .H = 2, .Hkv = 1, .S = 600, .Skv = 700, .D = d, .dtype = KG_F16, .causal = true,       \
          .bottom_right = true, .scale = 0.05 }

/* As large models decode, after whole tiles of context and in a chunk of a prompt; keys past 2^17, and past 2^20 of all
 * batches and heads, whose elements are past 2^24. */
#define LARGE_MODELS(d, wide)                                                                                          \
    { "decode_4097", .B = 2, .H = 32, .Hkv = 8, .S = 1, .Skv = 4097, .D = d, .dtype = KG_F16 },                        \
        { "chunk_2305", .B = 1, .H = 4, .Hkv = 1, .S = 20, .Skv = 2305, .D = wide, .dtype = KG_BF16, .causal = true,   \
          .bottom_right = true },                                                                                      \
        { "wide_1100", .B = 1, .H = 2, .Hkv = 1, .S = 20, .Skv = 1100, .D = 256, .dtype = KG_BF16, .causal = true,     \
          .bottom_right = true },                                                                                      \
        { "wide_2049", .B = 2, .H = 4, .Hkv = 2, .S = 3, .Skv = 2049, .D = 192, .dtype = KG_F16 },                     \
        { "keys_140000", .B = 1, .H = 2, .Hkv = 1, .S = 1, .Skv = 140000, .D = 8, .dtype = KG_BF16 },                  \
        { "keys_1m", .B = 16, .H = 8, .S = 1, .Skv = 8256, .D = 16, .dtype = KG_F16 }

/* Head dimensions that models have, with either mask in either dtype. */
#define OTHER_MASKS(d) ROW(f16, d, 1, full, gqa, 17), ROW(bf16, d, 1, causal, mha, 77)
#define COMMON_DIMENSION(d) ROW(f16, d, 1, causal, mha, 17), ROW(bf16, d, 1, full, mha, 77), OTHER_MASKS(d)

/* Others, most of them no multiple of 16. */
#define DIMENSION(d) ROW(f16, d, 3, causal, gqa, 77), ROW(bf16, d, 1, full, mha, 77), OTHER_MASKS(d)
#define ODD_DIMENSIONS                                                                                                 \
    ROW(f16, 33, 1, causal, gqa, 17), ROW(f16, 34, 1, causal, gqa, 17), ROW(bf16, 35, 1, causal, gqa, 17),             \
        ROW(f16, 36, 1, full, gqa, 17), ROW(bf16, 37, 1, causal, gqa, 17), ROW(f16, 38, 1, full, gqa, 17),             \
        ROW(bf16, 39, 1, full, gqa, 17)
/* What is left of the multiples of 8, the largest of which few kernels take. */
#define REST_OF_DIMENSIONS                                                                                             \
    OTHER_MASKS(88), OTHER_MASKS(104), OTHER_MASKS(144), OTHER_MASKS(152), OTHER_MASKS(168), OTHER_MASKS(176),         \
        OTHER_MASKS(184), OTHER_MASKS(200), OTHER_MASKS(208), OTHER_MASKS(216), OTHER_MASKS(232), OTHER_MASKS(240)
/* With fewer batches, for a CPU. */
#define LARGE_DIMENSION(d) ROW(f16, d, 1, causal, gqa, 77), ROW(bf16, d, 2, full, mha, 77), OTHER_MASKS(d)

/* What a path of a head dimension's own may forget: either alignment, lengths apart, batches, groups, scales. */
#define DIMS(n, b, h, keys, s, skv, d, type, mask, factor)                                                             \
    { MEET_SIZES("dims_" #d "_" #n, b, h, keys, s, skv, d, mask, factor), .dtype = (enum kg_dtype)dtype_##type }
#define EVERYTHING(d)                                                                                                  \
    DIMS(1, 2, 6, 2, 33, 90, d, bf16, bottom, 0.3), DIMS(2, 3, 4, 1, 77, 40, d, f16, causal, 0.05),                    \
        DIMS(3, 1, 5, 5, 20, 77, d, bf16, full, 0)

/* Whole tiles of either, one query of groups of 4 over whole tiles, and of 8 over many; tiles cut behind their middle;
 * more queries than keys, so that bottom-right some see none. For each dtype and mask, as a kernel for just these
 * leaves out what others need. */
#define WHOLE(n, b, h, keys, s, skv, d, type, mask)                                                                    \
    { MEET_SIZES("whole_" #d "_" #type "_" #mask "_" #n, b, h, keys, s, skv, d, mask, 0),                              \
      .dtype = (enum kg_dtype)dtype_##type }
#define WHOLES_OF(d, type, mask)                                                                                       \
    WHOLE(1, 1, 2, 1, 64, 192, d, type, mask), WHOLE(2, 2, 8, 2, 1, 128, d, type, mask),                               \
        WHOLE(3, 1, 16, 2, 1, 1088, d, type, mask), WHOLE(4, 1, 4, 2, 45, 108, d, type, mask),                         \
        WHOLE(5, 2, 2, 1, 80, 40, d, type, mask)
#define SERVE(n, b, h, keys, s, skv, d, type, mask)                                                                    \
    { MEET_SIZES("served_" #d "_" #type "_" #mask "_" #n, b, h, keys, s, skv, d, mask, 0),                             \
      .dtype = (enum kg_dtype)dtype_##type }
#define SERVED_OF(d, type, mask) SERVED(SERVE, d, type, mask)
#define SERVED_WIDE(d, type, mask) SERVE(1, 1, 4, 2, 130, 200, d, type, mask)
#define WHOLES(d) EACH_MASK(WHOLES_OF, d)
#define COMMON_WHOLES                                                                                                  \
    WHOLES(32), WHOLES(64), WHOLES(80), WHOLES(96), WHOLES(112), WHOLES(128), WHOLES(160), WHOLES(192), WHOLES(256)

/* Many queries over as many keys, under the mask that BATCHES has not. */
#define SQUARE(d, type, mask) WHOLE(512, 1, 2, 1, 512, 512, d, type, mask)

/* Batches past 16 bits, heads of all of them past what the second and third side of a grid hold. */
#define MANY_HEADS(d, keys)                                                                                            \
    { "limit_heads_d" #d "_k" #keys, .B = 33000, .H = 2, .S = 1, .Skv = keys, .D = d, .dtype = KG_F16 }

/* What a kernel may take for granted: a scale of 1/sqrt(D), scores that FP32 holds to a bit, a key head of a query head's
 * own, some hundred heads, lengths of 16 bits; keys by fours, a single tile of them in all. `steep`: 16 on a GPU, where
 * exponents are one product less another: past 2^31 it is off by 2^7, in honest kernels too. */
#define NOT_GRANTED(d, steep)                                                                                          \
    { "scale_half", .B = 2, .H = 4, .Hkv = 2, .S = 77, .Skv = 200, .D = d, .dtype = KG_F16, .scale = 0.5 },            \
        { "scale_one", .B = 1, .H = 2, .Hkv = 1, .S = 77, .D = d, .dtype = KG_BF16, .scale = 1 },                     \
        { "scale_f16", .B = 1, .H = 2, .Hkv = 1, .S = 77, .D = d, .dtype = KG_F16, .scale = steep },                  \
        { "scale_" #steep, .B = 1, .H = 4, .Hkv = 2, .S = 77, .D = d, .dtype = KG_BF16, .causal = true, .scale = steep },\
        { "one_key_head", .B = 3, .H = 4, .Hkv = 1, .S = 77, .D = d, .dtype = KG_BF16, .causal = true },               \
        { "heads_300", .B = 1, .H = 300, .Hkv = 100, .S = 3, .Skv = 10, .D = d, .dtype = KG_F16 },                     \
        { "key_heads_300", .B = 1, .H = 300, .S = 3, .Skv = 10, .D = d, .dtype = KG_BF16 },                            \
        { "queries_66001", .B = 1, .H = 1, .S = 66001, .Skv = 9, .D = d, .dtype = KG_F16 },                  \
        { "keys_70001_d" #d, .B = 1, .H = 2, .Hkv = 1, .S = 3, .Skv = 70001, .D = d, .dtype = KG_BF16 },               \
        { "even_70001", .B = 1, .H = 1, .S = 3, .Skv = 70001, .D = d, .dtype = KG_F16, .scale = 0.0001 },              \
        { "causal_keys_70001", .B = 1, .H = 1, .S = 3, .Skv = 70001, .D = d, .dtype = KG_F16, .causal = true,          \
          .bottom_right = true },                                                                                      \
        { "one_tile", .B = 1, .H = 1, .S = 32, .Skv = 48, .D = d, .dtype = KG_F16 },                                   \
        { "scale_small", .B = 1, .H = 2, .Hkv = 1, .S = 77, .D = d, .dtype = KG_F16, .scale = 0.0004 },                \
        ROW(f16, d, 1, full, gqa, 78), ROW(bf16, d, 3, causal, gqa, 10), ROW(f16, d, 1, causal, mha, 2)

/* Where three things meet: heads wide and narrow, few queries and many, of few keys and many. */
#define THREE(n, b, h, keys, s, skv, d, type, mask, factor)                                                            \
    { MEET_SIZES("three_" #n, b, h, keys, s, skv, d, mask, n % 2 ? factor : factor / 6), .dtype = (enum kg_dtype)dtype_##type }
#define THREES(d0, d1, d2, d3)                                                                                         \
    THREE(1, 1, 2, 2, 70, 520, d2, f16, causal, 0), THREE(2, 2, 6, 2, 70, 520, d0, f16, causal, 0.3),                  \
    THREE(3, 2, 2, 2, 70, 520, d1, bf16, causal, 0), THREE(4, 1, 16, 2, 70, 150, d0, f16, bottom, 0),                  \
    THREE(5, 1, 16, 2, 70, 40, d1, f16, full, 0.3), THREE(6, 1, 2, 2, 70, 150, d3, bf16, full, 0.3),                   \
    THREE(7, 1, 6, 2, 70, 40, d3, bf16, bottom, 0), THREE(8, 2, 2, 2, 70, 150, d2, f16, bottom, 0.3),                  \
    THREE(9, 2, 16, 2, 70, 40, d0, bf16, full, 0), THREE(10, 2, 16, 2, 1, 520, d3, f16, causal, 0),                    \
    THREE(11, 1, 6, 2, 70, 40, d2, bf16, full, 0.3), THREE(12, 2, 2, 2, 70, 40, d3, f16, causal, 0.3),                 \
    THREE(13, 1, 2, 2, 70, 520, d0, bf16, bottom, 0.3), THREE(14, 1, 2, 2, 70, 520, d0, f16, full, 0),                 \
    THREE(15, 1, 6, 2, 70, 150, d1, f16, causal, 0), THREE(16, 1, 6, 2, 5, 520, d3, bf16, causal, 0.3),                \
    THREE(17, 2, 16, 2, 1, 520, d2, bf16, bottom, 0.3), THREE(18, 2, 6, 2, 5, 520, d2, f16, full, 0),                  \
    THREE(19, 1, 16, 2, 5, 520, d1, f16, bottom, 0), THREE(20, 1, 2, 2, 1, 520, d3, f16, full, 0.3),                   \
    THREE(21, 2, 2, 2, 5, 520, d3, bf16, bottom, 0), THREE(22, 2, 6, 2, 1, 520, d1, bf16, full, 0.3),                  \
    THREE(23, 2, 16, 2, 5, 150, d3, bf16, causal, 0.3), THREE(24, 1, 2, 2, 70, 40, d1, bf16, bottom, 0.3),             \
    THREE(25, 1, 16, 2, 1, 150, d2, bf16, full, 0), THREE(26, 1, 16, 2, 5, 40, d2, f16, causal, 0),                    \
    THREE(27, 2, 6, 2, 1, 150, d3, f16, bottom, 0), THREE(28, 1, 2, 2, 5, 150, d2, f16, full, 0.3),                    \
    THREE(29, 1, 16, 2, 1, 150, d1, bf16, causal, 0.3), THREE(30, 2, 6, 2, 5, 150, d1, bf16, bottom, 0.3),             \
    THREE(31, 1, 16, 2, 5, 520, d0, bf16, full, 0.3), THREE(32, 1, 6, 2, 1, 150, d2, f16, causal, 0.3),                \
    THREE(33, 1, 16, 2, 1, 40, d3, f16, bottom, 0.3), THREE(34, 2, 16, 2, 1, 40, d3, bf16, full, 0),                   \
    THREE(35, 2, 16, 2, 5, 40, d1, bf16, causal, 0.3), THREE(36, 1, 6, 2, 1, 520, d0, bf16, bottom, 0),                \
    THREE(37, 2, 2, 2, 1, 150, d1, f16, full, 0), THREE(38, 1, 2, 2, 5, 40, d3, f16, full, 0),                         \
    THREE(39, 2, 2, 2, 1, 40, d2, bf16, causal, 0.3), THREE(40, 2, 6, 2, 1, 40, d3, f16, full, 0.3),                   \
    THREE(41, 1, 6, 2, 5, 40, d2, bf16, bottom, 0), THREE(42, 1, 2, 2, 5, 150, d1, f16, causal, 0),                    \
    THREE(43, 1, 6, 2, 5, 40, d1, bf16, full, 0), THREE(44, 2, 2, 2, 1, 150, d0, f16, causal, 0.3),                    \
    THREE(45, 2, 6, 2, 5, 150, d0, bf16, full, 0), THREE(46, 2, 2, 2, 1, 40, d1, bf16, bottom, 0.3),                   \
    THREE(47, 1, 16, 2, 1, 40, d0, f16, causal, 0.3), THREE(48, 2, 2, 2, 5, 40, d0, f16, bottom, 0),                   \
    THREE(49, 1, 6, 2, 5, 40, d0, bf16, causal, 0), THREE(50, 1, 2, 2, 1, 40, d0, f16, full, 0.3),                     \
    THREE(56, 1, 16, 2, 70, 520, d3, bf16, causal, 0), THREE(52, 1, 16, 2, 70, 40, d2, bf16, full, 0)

#define NUMBERED(prefix, n, b, h, keys, s, skv, d, type, mask, factor)                                                 \
    { MEET_SIZES(prefix #n, b, h, keys, s, skv, d, mask, factor), .dtype = (enum kg_dtype)dtype_##type }
#define CROSS(n, ...) NUMBERED("cross_", n, __VA_ARGS__)
#define LONG_CROSS(n, ...) NUMBERED("long_cross_", n, __VA_ARGS__)
#define CLASS(n, ...) NUMBERED("classes_", n, __VA_ARGS__)

/* Where more than three classes meet in models: heads of 70 billion parameters, their long contexts, a prompt. */
#define MODEL(n, ...) NUMBERED("model_", n, __VA_ARGS__)
#define MODELS                                                                                                         \
    MODEL(1, 1, 2, 1, 1, 8200, 256, f16, bottom, 0), MODEL(2, 1, 2, 1, 4, 4160, 256, bf16, causal, 0),                 \
    MODEL(3, 9, 16, 4, 9, 200, 128, f16, full, 0), MODEL(4, 1, 1, 1, 2080, 2080, 64, bf16, causal, 0),                 \
    MODEL(5, 1, 96, 8, 4, 77, 128, f16, full, 0), MODEL(6, 1, 8, 1, 4, 4160, 128, bf16, bottom, 0),                    \
    MODEL(7, 12, 2, 1, 1, 300, 64, bf16, full, 0), MODEL(8, 1, 2, 1, 1, 40000, 128, f16, full, 0),                     \
    MODEL(9, 1, 2, 1, 300, 77, 96, f16, full, 0), MODEL(10, 1, 2, 1, 260, 77, 112, bf16, causal, 0),                   \
    MODEL(11, 1, 1, 1, 520, 1060, 64, f16, bottom, 0), MODEL(12, 1, 1, 1, 640, 640, 64, bf16, full, 0.3),              \
    MODEL(13, 1, 28, 4, 33, 77, 128, bf16, causal, 0), MODEL(14, 1, 64, 64, 1, 77, 128, f16, full, 0),                 \
    MODEL(15, 1, 16, 4, 530, 530, 64, f16, causal, 0), MODEL(16, 1, 1, 1, 1030, 2100, 160, bf16, bottom, 0),           \
    MODEL(17, 1, 1, 1, 64, 1088, 256, f16, full, 0), MODEL(18, 1, 2, 1, 260, 530, 128, f16, causal, 0.3), \
    MODEL(19, 1, 2, 1, 300, 2100, 8, f16, bottom, 0), MODEL(20, 1, 2, 1, 2080, 300, 8, bf16, full, 0.3),               \
    MODEL(21, 1, 1, 1, 1030, 4160, 8, f16, causal, 0), MODEL(22, 1, 64, 8, 2080, 24, 8, bf16, bottom, 0),              \
    MODEL(23, 1, 2, 1, 300, 4160, 8, f16, full, 0), MODEL(24, 1, 1, 1, 2080, 4100, 8, bf16, bottom, 0.3),            \
    MODEL(25, 1, 2, 1, 150, 150, 128, bf16, full, 0), MODEL(26, 1, 3, 3, 77, 77, 64, f16, bottom, 0)

/* Between any two neighbouring powers of two a number of keys, each for few queries and for many. */
#define LADDER(n, ...) NUMBERED("ladder_", n, __VA_ARGS__)
#define LADDERS(d0, d1)                                                                                                \
    LADDER(1, 1, 1, 1, 1, 701, d0, bf16, full, 0.3), LADDER(2, 1, 1, 1, 6, 701, d0, f16, bottom, 0),                   \
    LADDER(3, 1, 1, 1, 20, 701, d1, f16, full, 0.3), LADDER(4, 2, 4, 2, 70, 701, d1, f16, full, 0),                    \
    LADDER(5, 1, 4, 2, 100, 701, d1, bf16, bottom, 0), LADDER(6, 1, 2, 1, 100, 701, d0, f16, bottom, 0.3),             \
    LADDER(7, 1, 4, 2, 100, 701, d0, bf16, full, 0.3), LADDER(8, 1, 4, 2, 1, 1501, d1, bf16, bottom, 0.3),             \
    LADDER(9, 1, 1, 1, 6, 1501, d0, bf16, full, 0.3), LADDER(10, 1, 4, 2, 20, 1501, d1, bf16, full, 0.3),              \
    LADDER(11, 1, 2, 1, 70, 1501, d0, bf16, bottom, 0), LADDER(12, 2, 1, 1, 100, 1501, d0, f16, bottom, 0.3),          \
    LADDER(13, 1, 1, 1, 100, 1501, d1, f16, full, 0), LADDER(14, 1, 4, 2, 1, 3001, d1, bf16, bottom, 0.3),             \
    LADDER(15, 1, 1, 1, 6, 3001, d1, f16, full, 0), LADDER(16, 2, 2, 1, 20, 3001, d0, bf16, full, 0),                  \
    LADDER(17, 1, 1, 1, 70, 3001, d0, f16, bottom, 0), LADDER(18, 1, 4, 2, 70, 3001, d0, f16, bottom, 0.3),            \
    LADDER(19, 1, 1, 1, 100, 3001, d1, bf16, full, 0.3), LADDER(20, 1, 4, 2, 1, 6001, d1, f16, full, 0),               \
    LADDER(21, 1, 4, 2, 6, 6001, d1, f16, bottom, 0.3), LADDER(22, 1, 1, 1, 6, 6001, d0, bf16, bottom, 0),             \
    LADDER(23, 2, 1, 1, 20, 6001, d1, bf16, bottom, 0), LADDER(24, 1, 2, 1, 70, 6001, d0, bf16, full, 0.3),            \
    LADDER(25, 1, 1, 1, 100, 6001, d0, f16, full, 0), LADDER(26, 2, 4, 2, 1, 12001, d0, bf16, bottom, 0),              \
    LADDER(27, 1, 4, 2, 1, 12001, d1, bf16, full, 0), LADDER(28, 2, 1, 1, 6, 12001, d0, f16, full, 0.3),               \
    LADDER(29, 1, 2, 1, 20, 12001, d1, f16, full, 0), LADDER(30, 1, 1, 1, 70, 12001, d1, bf16, bottom, 0.3),           \
    LADDER(31, 1, 1, 1, 100, 12001, d1, f16, bottom, 0), LADDER(32, 1, 4, 2, 1, 24001, d0, f16, full, 0),              \
    LADDER(33, 2, 4, 2, 1, 24001, d1, bf16, full, 0.3), LADDER(34, 1, 2, 1, 1, 24001, d1, f16, bottom, 0.3),           \
    LADDER(35, 1, 2, 1, 6, 24001, d1, bf16, bottom, 0), LADDER(36, 1, 1, 1, 20, 24001, d0, f16, bottom, 0.3),          \
    LADDER(37, 1, 1, 1, 70, 24001, d0, bf16, full, 0), LADDER(38, 1, 1, 1, 100, 24001, d0, bf16, full, 0)

/* Wide heads under a scale, a long row of few queries, batches of long rows, rows alike but for their scale. */
#define WIDE_AND_ALIKE(d)                                                                                              \
    { "wide_bf16", .B = 3, .H = 9, .Hkv = 3, .S = 33, .Skv = 77, .D = 256, .dtype = KG_BF16, .scale = 0.05 },          \
    { "decode_9003", .B = 2, .H = 4, .Hkv = 2, .S = 5, .Skv = 9003, .D = d, .dtype = KG_BF16, .causal = true,          \
      .bottom_right = true, .scale = 0.3 },                                                                            \
    { "batches_3", .B = 3, .H = 2, .Hkv = 1, .S = 350, .D = d, .dtype = KG_BF16 },                                     \
    { "scales_1", .B = 1, .H = 2, .Hkv = 1, .S = 33, .D = d, .dtype = KG_BF16, .scale = 1 },                           \
    { "scales_2", .B = 1, .H = 2, .Hkv = 1, .S = 33, .D = d, .dtype = KG_BF16, .scale = 0.05 }

/* Three things and more together, each of them plain: many heads or batches with long keys, queries and keys both long,
 * square under bottom-right, odd dimensions under each mask, keys of one more than a power of two in the other dtype;
 * from 28 on many batches, long queries, groups of 4 and 16 in heads of 64 and 128. */
#define TOGETHER(n, b, h, keys, s, skv, d, type, mask)                                                                 \
    { MEET_SIZES("together_" #n, b, h, keys, s, skv, d, mask, 0), .dtype = (enum kg_dtype)dtype_##type }
#define ALL_TOGETHER(d0, d1)                                                                                           \
    TOGETHER(1, 33, 80, 16, 2, 1101, d0, bf16, bottom), TOGETHER(2, 12, 80, 8, 1, 1101, d0, bf16, full),               \
    TOGETHER(3, 1, 12, 2, 1, 1001, d0, bf16, full), TOGETHER(4, 1, 1, 1, 4200, 130, d0, f16, causal),                  \
    TOGETHER(5, 1, 1, 1, 2100, 2100, d0, bf16, full), TOGETHER(6, 1, 1, 1, 4200, 1100, d0, f16, full),                 \
    TOGETHER(7, 1, 1, 1, 40000, 9, d0, f16, bottom), TOGETHER(8, 2, 4, 2, 200, 200, d0, f16, bottom),                  \
    TOGETHER(9, 3, 4, 2, 256, 256, d0, bf16, causal), TOGETHER(10, 1, 2, 1, 6, 1501, d1, f16, bottom),                 \
    TOGETHER(11, 1, 16, 2, 70, 520, 256, f16, causal), TOGETHER(12, 1, 40, 8, 1, 101, d1, f16, full),                  \
    TOGETHER(13, 20, 4, 2, 77, 77, 96, f16, causal), TOGETHER(14, 1, 2, 1, 1, 8192, d0, bf16, full),                   \
    TOGETHER(15, 1, 2, 1, 1, 4097, d0, bf16, full), TOGETHER(16, 1, 4, 2, 20, 2305, d0, f16, bottom),                  \
    TOGETHER(17, 1, 4, 2, 17, 17, 193, f16, full), TOGETHER(18, 1, 4, 2, 33, 33, 77, f16, full),                       \
    TOGETHER(19, 1, 4, 2, 17, 40, 37, bf16, bottom), TOGETHER(20, 1, 2, 1, 1, 41, 33, bf16, full),                     \
    TOGETHER(21, 2, 6, 1, 9, 300, d0, bf16, bottom), TOGETHER(22, 40, 2, 1, 50, 50, d0, f16, causal),                  \
    TOGETHER(28, 5, 4, 2, 140, 40, 64, f16, full), TOGETHER(29, 1, 4, 2, 2200, 40, d1, bf16, causal),                  \
    TOGETHER(30, 1, 4, 2, 2200, 24, 64, f16, full), TOGETHER(31, 1, 32, 2, 1, 130, 64, f16, full),                     \
    TOGETHER(32, 1, 32, 1, 4, 200, d1, bf16, bottom), TOGETHER(33, 1, 8, 2, 1, 77, d1, bf16, full),                    \
    TOGETHER(34, 1, 8, 2, 1, 77, d1, f16, bottom), TOGETHER(35, 1, 2, 1, 130, 1100, 64, bf16, causal),                 \
    TOGETHER(36, 1, 4, 2, 70, 130, d1, f16, full), TOGETHER(37, 1, 4, 2, 1100, 40, d1, f16, causal)

/* Rows past 2^24, where a float no longer counts them; more tiles of a head, and more heads, than 12 and 20 bits hold;
 * groups by which no fixed-point number of 16 bits divides all heads; keys that no cache holds, of a number of heads
 * that nothing divides. */
#define MANY_OF_ALL                                                                                                    \
    { "limit_rows_18m", .B = 5, .H = 4, .S = 900000, .Skv = 5, .D = 16, .dtype = KG_F16 },                             \
        { "limit_rows_600k", .B = 1, .H = 2, .Hkv = 1, .S = 600001, .Skv = 9, .D = 64, .dtype = KG_F16 },              \
        { "limit_heads_1m", .B = 65000, .H = 17, .Hkv = 1, .S = 1, .Skv = 3, .D = 64, .dtype = KG_F16 },               \
        { "groups_of_3", .B = 11000, .H = 3, .Hkv = 1, .S = 1, .Skv = 5, .D = 64, .dtype = KG_F16 },                   \
        { "groups_of_5", .B = 3500, .H = 5, .Hkv = 1, .S = 1, .Skv = 5, .D = 64, .dtype = KG_F16 },                    \
        { "groups_of_7", .B = 2000, .H = 7, .Hkv = 1, .S = 1, .Skv = 5, .D = 64, .dtype = KG_F16 },                    \
        { "groups_of_41", .B = 1, .H = 82, .Hkv = 2, .S = 1, .Skv = 3, .D = 64, .dtype = KG_F16 },                     \
        { "groups_of_71", .B = 16, .H = 71, .Hkv = 1, .S = 1, .Skv = 5, .D = 64, .dtype = KG_F16 },                    \
        { "heads_9_k32768", .B = 3, .H = 3, .Hkv = 1, .S = 300, .Skv = 32768, .D = 128, .dtype = KG_F16 }

/* So many rows that kernels take their largest tiles, for regimes in which rows and tiles differ. */
#define LARGE_TILES(type, d)                                                                                           \
    { "large_" #type "_d" #d, .B = 1, .H = 100, .Hkv = 25, .S = 350, .Skv = 300, .D = d,                               \
      .dtype = (enum kg_dtype)dtype_##type, .scale = 0.2 }
#define LARGE_CAUSAL(type, d)                                                                                          \
    { "large_" #type "_d" #d "_causal", .B = 3, .H = 60, .Hkv = 30, .S = 350, .D = d,                                  \
      .dtype = (enum kg_dtype)dtype_##type, .causal = true }

/* Keys that no cache holds, of groups of four, whose rows are an odd number of tiles; a causal mask past 32768 keys. */
#define LARGE_ROWS                                                                                                     \
    { "groups_of_no_cache", .B = 4, .H = 32, .Hkv = 8, .S = 300, .Skv = 4096, .D = 128, .dtype = KG_F16,               \
      .causal = true, .bottom_right = true },                                                                          \
        { "queries_40000", .B = 1, .H = 1, .S = 40000, .D = 64, .dtype = KG_F16, .causal = true }

/* 129 * 8 * 16384 * 128 elements, 2^31 and 16 million more: bytes past 2^32, as FP32 past 2^33. */
#define PAST_2G(name, s, keys)                                                                                         \
    { "limit_2g_" name, .B = 129, .H = 8, .S = s, .Skv = keys, .D = 128, .dtype = KG_F16 }
/* The same of a dimension whose rows are no power of two, past 2^32 bytes of K; past 2^24 heads, and 2^31 scores. */
#define PAST_OTHERS                                                                                                    \
    { "limit_2g_d80", .B = 129, .H = 8, .S = 3, .Skv = 26100, .D = 80, .dtype = KG_F16 },                              \
        { "limit_2g_heads", .B = 65535, .H = 257, .Hkv = 1, .S = 1, .Skv = 3, .D = 64, .dtype = KG_F16 },              \
        { "limit_2g_scores", .B = 16, .H = 40, .S = 2048, .Skv = 1640, .D = 64, .dtype = KG_F16 }
/* clang-format on */

static const struct sdpa shapes[] = {
    BATCHES(f16, 64),  /* the common head dimension */
    BATCHES(f16, 80),  /* rows of 160 bytes: no power of two, so addresses are made in another way */
    BATCHES(f16, 96),  /* the same, with other rests, and other tiles */
    BATCHES(f16, 128), /* other tiles, more shared memory */
    BATCHES(bf16, 64), /* the other instantiation of every kernel */
    BATCHES(bf16, 80),
    BATCHES(bf16, 96),
    BATCHES(bf16, 128),
    RECTANGLES(f16, rect, 64), /* the short name stands for D 64 */
    RECTANGLES(f16, rect_d80, 80),
    RECTANGLES(f16, rect_d96, 96),
    RECTANGLES(f16, rect_d128, 128),
    RECTANGLES(bf16, rect, 64),
    RECTANGLES(bf16, rect_d80, 80),
    RECTANGLES(bf16, rect_d96, 96),
    RECTANGLES(bf16, rect_d128, 128),
    EDGES(f16, 64, 3, causal, gqa),
    EDGES(bf16, 64, 1, full, mha),
    EDGES(f16, 80, 1, causal, gqa),
    EDGES(bf16, 96, 1, causal, gqa),
    EDGES(f16, 128, 1, full, gqa),
    EDGES(bf16, 128, 3, causal, gqa),
    MANY_TILES(f16, 64),
    MANY_TILES(bf16, 80),
    MANY_TILES(f16, 96),
    MANY_TILES(bf16, 128),
    MASKED_RECTANGLES(f16, 64),
    MASKED_RECTANGLES(bf16, 80),
    MASKED_RECTANGLES(f16, 96),
    MASKED_RECTANGLES(bf16, 128),
    GROUPS(f16, 64, causal),
    GROUPS(f16, 64, full),
    GROUPS(bf16, 128, causal),
    GROUPS(bf16, 128, full),
    DIMENSION(8),
    DIMENSION(40),
    DIMENSION(48),
    DIMENSION(56),
    DIMENSION(72),
    DIMENSION(100),
    DIMENSION(136),
    DIMENSION(256),
    COMMON_DIMENSION(32),
    COMMON_DIMENSION(112),
    COMMON_DIMENSION(120),
    COMMON_DIMENSION(160),
    COMMON_DIMENSION(192),
    REST_OF_DIMENSIONS,
    EVERYTHING(32), EVERYTHING(40), EVERYTHING(72), EVERYTHING(96), EVERYTHING(112), EVERYTHING(120), EVERYTHING(160),
    EVERYTHING(192), EVERYTHING(256),
    LONG(64, 128),
    LONG_OF_SEVERAL(64),
    LONG_AND_NARROW,
    COMMON_WHOLES,
    EACH_MASK(SERVED_OF, 64), EACH_MASK(SERVED_OF, 128), EACH_MASK(SERVED_WIDE, 192), EACH_MASK(SERVED_WIDE, 256),
    { "square_1100", .B = 1, .H = 1, .S = 1100, .D = 128, .dtype = KG_BF16 },
    SQUARE(64, f16, bottom), SQUARE(64, bf16, bottom), SQUARE(128, f16, bottom), SQUARE(128, bf16, bottom),
    FEW_QUERIES(64),
    ODD_DIMENSIONS,
    ALL_LENGTHS(64, 16),
    ALL_LENGTHS(128, 48),
    NOT_GRANTED(64, 16),
    WIDE_AND_ALIKE(64),
    THREES(64, 80, 96, 128),
    CROSSED(CROSS, 8, 80, 160, 256),
    LONG_CROSSED(LONG_CROSS, 8, 80, 160, 256),
    GPU_CROSSED(LONG_CROSS, 8, 80, 160, 256),
    CLASSES(CLASS, 8, 80, 160, 256),
    MODELS,
    LADDERS(64, 128),
    ALL_TOGETHER(64, 128),
    MANY_HEADS(64, 17),
    LARGE_MODELS(64, 128),
    MANY_OF_ALL,
    PAST_2G("keys", 3, 16384),
    PAST_2G("queries", 16384, 5),
    PAST_OTHERS,
    { "limit_4g_scores", .B = 1, .H = 2, .S = 46400, .D = 16, .dtype = KG_F16 }, /* a head's alone past 2^31 */
    LARGE_TILES(f16, 64),
    LARGE_TILES(bf16, 80),
    LARGE_CAUSAL(f16, 96),
    LARGE_CAUSAL(bf16, 128),
    LARGE_ROWS,
};

/* The CPU's kernels are one source for all dimensions: one combination of each kind is enough. */
static const struct sdpa cpu_shapes[] = {
    MASKS_AND_HEADS(CPU_LENGTHS, f16, 64, 1),
    MASKS_AND_HEADS(CPU_LENGTHS, bf16, 128, 3),
    CPU_LENGTHS(f16, 80, 3, causal, gqa), /* other rests of a row's vectors */
    CPU_LENGTHS(bf16, 96, 5, causal, gqa),
    RECTANGLES(f16, rect, 64),
    RECTANGLES(bf16, rect, 64),
    RECTANGLES(bf16, rect_wide, 128), /* a name without regimes */
    EDGES(f16, 8, 1, causal, gqa),    /* tiles are of rows and keys, whatever D is */
    EDGES(bf16, 8, 1, full, mha),
    MASKED_RECTANGLES(f16, 8),
    MASKED_RECTANGLES(bf16, 24),
    GROUPS(f16, 8, causal),
    GROUPS(bf16, 8, full),
    DIMENSION(8),
    DIMENSION(40),
    LARGE_DIMENSION(48),
    LARGE_DIMENSION(56),
    LARGE_DIMENSION(72),
    LARGE_DIMENSION(100),
    LARGE_DIMENSION(136),
    LARGE_DIMENSION(256),
    COMMON_DIMENSION(32),
    COMMON_DIMENSION(96),
    COMMON_DIMENSION(112), /* rests of a division by 64 that are several powers of two */
    COMMON_DIMENSION(120),
    COMMON_DIMENSION(128),
    COMMON_DIMENSION(160),
    COMMON_DIMENSION(192),
    OTHER_MASKS(80),
    REST_OF_DIMENSIONS,
    EVERYTHING(16), EVERYTHING(32), EVERYTHING(40), EVERYTHING(48), EVERYTHING(72), EVERYTHING(80), EVERYTHING(96),
    EVERYTHING(100), EVERYTHING(112), EVERYTHING(136), EVERYTHING(160), EVERYTHING(192), EVERYTHING(224), EVERYTHING(256),
    { "deep_1", .B = 1, .H = 2, .Hkv = 1, .S = 1, .Skv = 77, .D = 136, .dtype = KG_F16 },
    { "deep_2", .B = 1, .H = 2, .Hkv = 1, .S = 9, .Skv = 1201, .D = 24, .dtype = KG_BF16 },
    { "deep_3", .B = 1, .H = 2, .Hkv = 1, .S = 1, .Skv = 5001, .D = 24, .dtype = KG_F16, .causal = true, .bottom_right = true },
    LONG(16, 128),
    LONG_OF_SEVERAL(16),
    LONG_AND_NARROW,
    WHOLES(16), WHOLES(48), WHOLES(224),
    COMMON_WHOLES,
    EACH_MASK(SERVED_OF, 64), EACH_MASK(SERVED_OF, 128), EACH_MASK(SERVED_WIDE, 192), EACH_MASK(SERVED_WIDE, 256),
    { "square_1100", .B = 1, .H = 1, .S = 1100, .D = 128, .dtype = KG_BF16 },
    { "heads_5", .B = 1, .H = 5, .S = 661, .D = 8, .dtype = KG_BF16 }, /* for two threads, not to be halved */
    THREES(64, 120, 128, 256),
    CROSSED(CROSS, 8, 80, 160, 256),
    LONG_CROSSED(LONG_CROSS, 8, 80, 160, 256),
    CLASSES(CLASS, 8, 80, 160, 256),
    MODELS,
    MORE_CLASSES(CLASS, 8, 80, 160, 256),
    LADDERS(16, 64),
    ALL_TOGETHER(8, 128),
    TOGETHER(23, 1, 6, 3, 77, 77, 8, bf16, causal),
    TOGETHER(24, 1, 2, 1, 70, 128, 16, f16, causal),
    TOGETHER(25, 300, 1, 1, 3, 9, 64, f16, full),
    TOGETHER(26, 1, 2, 1, 17, 40, 128, bf16, causal),
    TOGETHER(27, 2, 6, 2, 33, 90, 4, bf16, bottom),
    { "causal_3000", .B = 1, .H = 1, .S = 3000, .D = 8, .dtype = KG_F16, .causal = true },
    FEW_QUERIES(8),
    ODD_DIMENSIONS,
    { "groups_of_41", .B = 1, .H = 82, .Hkv = 2, .S = 1, .Skv = 3, .D = 8, .dtype = KG_F16 },
    { "groups_of_7", .B = 2000, .H = 7, .Hkv = 1, .S = 1, .Skv = 3, .D = 8, .dtype = KG_F16 }, /* past 16 bits of 1/7 */
    { "groups_of_5", .B = 1, .H = 40000, .Hkv = 8000, .S = 1, .Skv = 3, .D = 8, .dtype = KG_F16 },
    { "groups_of_71", .B = 2, .H = 71, .Hkv = 1, .S = 1, .Skv = 5, .D = 8, .dtype = KG_F16 },
    { "keys_530001", .B = 1, .H = 1, .S = 1, .Skv = 530001, .D = 8, .dtype = KG_F16 },
    { "queries_530001", .B = 1, .H = 1, .S = 530001, .Skv = 65, .D = 8, .dtype = KG_F16 }, /* tiles past 15 bits */
    LENGTH_PAIRS(LENGTH, f16, full, 40, 1, 0),
    LENGTH_PAIRS(LENGTH, bf16, full, 64, 1, 0),
    EXACT_LENGTHS(LENGTH, bf16, full, 16, 1, 0),
    OTHER_EXACT_LENGTHS(LENGTH, bf16, full, 16, 1, 0),
    LENGTH_PAIRS(LENGTH, bf16, bottom, 16, 1, 0),
    LENGTH_PAIRS(LENGTH, bf16, bottom, 16, 1, 16),
    WIDE_AND_ALIKE(24),
    NOT_GRANTED(24, 1024), /* 24 channels, as 17 signs tell 70001 keys apart */
    MANY_HEADS(8, 3),
    LARGE_MODELS(64, 128),
    COMMON_DIMENSION(224),
    ROW(f16, 248, 2, causal, gqa, 77),
    { "f16_as_e4m3", .B = 1, .H = 4, .S = 77, .D = 64, .dtype = KG_E4M3 }, /* whose tensors are FP16 */
    { "f16_as_e4m3_causal", .B = 1, .H = 4, .S = 77, .D = 64, .dtype = KG_E4M3, .causal = true },
};

/* clang-format off */
#define FEW_REGIMES(rows) EACH_REGIMES(rows), { "coded", rows }
/* clang-format on */

/* Long rows, so that every kernel takes several tiles; on the CPU the shorter ones. */
static const kg_suite_regime regimes[] = {
    ALL_REGIMES("*_d[689]*_b1_causal_gqa_s77"),
    ALL_REGIMES("*_d1[02]*_b1_causal_gqa_s77"),
    FEW_REGIMES("*_d[2457]*_b1_causal_gqa_s77"), /* of the CPU, as the next */
    FEW_REGIMES("*_d136_b1_causal_gqa_s77"),
    TILED_REGIMES("*_b3_full_gqa_s77"),
    EACH_REGIMES("bf16_d96_b5_*_gqa_s77"), /* of the CPU */
    EACH_REGIMES("f16_d80_b3_causal_gqa_s77"),
    ALL_REGIMES("f16_d40_b3_*"), /* a multiple of 8 and not of 16, of 4 and not of 8, the largest */
    ALL_REGIMES("f16_d100_b3_*"),
    ALL_REGIMES("f16_d256_b3_*"),
    FEW_REGIMES("bf16_*_b3_causal_gqa_s77"), /* the rest of them */
    FEW_REGIMES("f16_d[5679]*_b3_causal_gqa_s77"),
    FEW_REGIMES("f16_d*8_b3_causal_gqa_s77"),
    FEW_REGIMES("f16_d136_b3_*"),
    EACH_REGIMES("*_b[12]_*_mha_s77"),
    { "lowest", "*_b1_*_s17" }, /* one tile */
    { "coded", "*_b8_*_gqa_s77" },
    { "head_scales", "*_b8_*_gqa_s77" },
    TILE_REGIMES("*_b1_*_gqa_s640"),
    TILE_REGIMES("bf16_d128_b3_full_gqa_s640"),
    { "poison", "*_gqa_s1000" },
    { "hidden", "*_causal_gqa_s77" },
    { "hidden", "*_causal_gqa_s640" },
    { "coded", "*_group[0-9]*" },
    { "coded", "*_d[69]*_bottom_right_*" },
    { "poison", "*_bottom_right_*" },
    TILE_REGIMES("*_d24_b2_*_k*"), /* of the CPU: one query, fewer and more keys than queries; then the GPU's */
    TILE_REGIMES("*_d80_b2_*_k*"),
    TILE_REGIMES("*_rect_d128_*"),
    { "lowest", "decode_[48]*" },
    MEET_REGIMES("decode_8200*"),
    TILED_REGIMES("decode_[29]*"),
    { "coded", "decode_8*[026]" },
    { "sink_far", "decode_8*[026]" },
    { "zero_tiles", "decode_9000" },
    { "sink_last", "decode_8*[026]" }, /* what the maximum so far is rescaled by, far down */
    { "sink_last", "*_b3_full_gqa_s77" },
    { "sink_last", "narrow_1030" },
    { "sink_small_last", "bf16_*_full_gqa_s77" },
    { "sink_far_last", "bf16_*_full_gqa_s77" },
    { "climbing", "causal_3000" }, /* past 2^128 in all */
    { "climbing", "*_b1_*_gqa_s640" },
    { "outlier_v", "*_d24_b2_*_k*" },
    { "zero_heads", "*_d24_b2_*_k*" },
    { "large", "scale_1*" }, /* not in FP16, where an exponent past 2^26 is off by more than a weight can be */
    { "large_q", "scale_*" },
    { "large_k", "scale_*" },
    SUM_REGIMES("f16_d64_b1_*_gqa_s77"),
    SUM_REGIMES("bf16_d128_b3_full_gqa_s77"),
    { "deepest", "bf16_d24_b2_*" }, /* of the CPU, all four */
    { "deepest", "together_26" },
    { "deepest", "deep_*" },
    { "lowest", "dims_*" },
    { "winner", "dims_*[13]" },
    { "deepest", "bf16_d224_b1_*" },
    { "deepest", "f16_d136_b1_*" },
    { "winner", "keys_70001_d24" },
    { "winner", "keys_70001_d64" },
    ALL_REGIMES("scale_half"),
    { "poison", "three_*[05]" },
    { "lowest", "three_*[12457]" },
    MEET_REGIMES("three_*[12457]"), /* in which any two things meet (tests/cli/parity.sh) */
    { "sink_far", "three_*[12457]" },
    { "rising_huge", "three_*[12457]" },
    { "lowest", "ladder_*[048]" },
    { "lowest", "cross_*[02]" }, /* all classes of CROSSED with each, most pairs of them with these */
    { "falling", "cross_*[36]" },
    { "rising", "cross_*[47]" },
    { "winner", "cross_*[59]" },
    { "climbing", "cross_*1" },
    { "rising_huge", "cross_*2" },
    { "huge_v", "cross_*3" },
    { "k32", "cross_*4" },
    { "sink_far", "cross_*6" },
    { "bottom", "cross_*7" },
    { "sixty_four", "cross_*8" },
    { "sink_last", "cross_*9" },
    ALL_REGIMES("classes_*"),
    SUM_REGIMES("classes_*"),
    { "climbing", "classes_*" },
    { "deepest", "classes_1[2-9]" }, /* of the CPU, as the next */
    { "deepest", "classes_2?" },
    { "sink_last", "classes_*" },
    { "sink_small_last", "classes_*" },
    { "sink_far_last", "classes_*" },
    { "rising_huge", "whole_256_*_3" },
    { "lowest", "model_*[!456]" },
    { "climbing", "deep_2" },
    { "huge_v", "deep_2" },
    { "huge_sums", "deep_2" },
    { "bottom", "decode_8192" },
    TILED_REGIMES("served_64_f16_*[1-4]"), /* a dtype of each dimension */
    TILED_REGIMES("served_128_bf16_*[1-4]"),
    { "rising_huge", "served_64_f16_*[1-4]" },
    { "rising_huge", "served_128_bf16_*[1-4]" },
    { "lowest", "served_64_f16_*5" },
    { "winner", "served_128_bf16_*5" },
    { "hidden", "served_*_bottom_1" },
    { "hidden", "served_*_causal_1" },
    { "lowest", "whole_*_1" },
    { "bottom", "whole_*_1" },
    { "winner", "whole_*_1" },
    { "bottom", "*heads_300" },
    { "lowest", "together_3*" },
    { "rising", "ladder_*[159]" },
    TILE_REGIMES("large_*"),
    { "outliers", "large_*" },
    { "k32", "large_*" },
    { "huge_v", "large_*" },
    { "hidden", "large_*_causal" },
    { "lowest", "prompt_[17]*" },
    { "lowest", "causal_queries_66*" }, /* what large numbers choose meets the regimes too */
    { "lowest", "*heads_300" },
    { "lowest", "groups_of_[57]*" },
    { "lowest", "*keys_70001*" },
    { "rising", "*keys_70001*" },
    { "lowest", "keys_140000" },
    { "rising", "keys_140000" },
    { "lowest", "wide_[12]*" },
    { "rising_huge", "prompt_7*" },
    TILED_REGIMES("narrow_520"),
    TILE_REGIMES("narrow_1030"),
    { "hidden", "narrow_*" },
    { "hidden", "*_bottom_right_s77_*" },
    { "hidden", "*_bottom_right_s300_*" },
    { "head_scales", "decode_[29]*" }, /* V past FP16, of every dtype, dimension and way of sharing keys */
    { "head_scales", "prompt_1060" },
    { "head_scales", "prompt_700" },
    { "head_scales", "bf16_d*_b[12]_*_mha_s77" },
    { "huge_v", "bf16_d*_b[12]_*_mha_s77" },
};

static const uint64_t seeds[] = { 0 };

static const kg_backend *const backends[] = {
    &sdpa_cudnn, &sdpa_flash, &sdpa_fa1, &sdpa_math, &cpu_math, &cpu_flash,
};

const kg_suite sdpa_parity = {
    .name = "sdpa_parity",
    .help = "correctness over dtypes, head dimensions, masks, grouped heads and lengths",
    .op = &sdpa_forward,
    SUITE_TABLES,
    /* atol = rtol = 0.01, for every element. An honest kernel (standard normal inputs, weights and output
     * rounded to BF16, simulated over S 17 to 1000, causal or not) reaches 0.50 of that, max 0.015, mean 0.0008 and
     * rel_l2 0.0024, the worst being short rows, whose outputs are large; with scores rounded to BF16 too it fails, as
     * it should. FP16 errs an eighth of that. NaN and infinities fail under any gates.
     * Over the error scale, in 1 to 16384 keys and all regimes, tensor cores' arithmetic reaches 2.7 (weights rounded
     * after they are normalised, ties), 2.2 where it is rounded before, and 2.0 on normal inputs; slopes are off by
     * 0.0016, by 0.0006 in FP16. One key lost of 4096 shows 6 and more in FP16, a maximum that begins at 0 over 200. */
    .gates = PARITY_GATES,
    .time = { .off = true },
};
