/* sdpa_parity.c -- correctness only: every combination of dtype, head dimension, batch, mask, grouped heads and length.
 *
 * Run it first when a kernel changes; nothing is timed. A row's name says its shape: f16_d64_b3_causal_gqa_s77. Another
 * length is one more ROW in LENGTHS, another dimension one more line of the grid; tests/cli/parity.sh holds the list of
 * what must be there.
 */
#include "op/sdpa.h"
#include "suites.h"

/* What the words in a row's name stand for. Four query heads: with gqa, h / 2 and h % 2 name different key heads. */
enum { mask_full = false, mask_causal = true };
enum { dtype_f16 = KG_F16, dtype_bf16 = KG_BF16 };
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

/* More or fewer keys than queries, and a causal row past the last key. No square shape finds the lengths swapped. */
#define RECTANGLES(type, name, d)                                                                                      \
    { #type "_" #name "_s77_k200", .B = 2, .H = 4, .S = 77, .Skv = 200, .D = d, .dtype = (enum kg_dtype)dtype_##type },\
    { #type "_" #name "_s200_k77_causal", .B = 2, .H = 4, .S = 200, .Skv = 77, .D = d,                                 \
      .dtype = (enum kg_dtype)dtype_##type, .causal = true }
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
};

/* The CPU's kernels are one source for all dimensions: one combination of each kind is enough. */
static const struct sdpa cpu_shapes[] = {
    MASKS_AND_HEADS(CPU_LENGTHS, f16, 64, 1),
    MASKS_AND_HEADS(CPU_LENGTHS, bf16, 128, 3),
    CPU_LENGTHS(f16, 80, 3, causal, gqa), /* other rests of a row's vectors */
    CPU_LENGTHS(bf16, 96, 8, causal, gqa),
    RECTANGLES(f16, rect, 64),
    RECTANGLES(bf16, rect, 64),
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
     * it should. FP16 errs an eighth of that. NaN and infinities fail under any gates. */
    .gates = { .max_abs = 0.04, .mean_abs = 0.002, .bad_abs = 0.01, .bad_rel = 0.01, .bad_pct = 0, .rel_l2 = 0.01 },
    .time = { .off = true },
};
