/* sdpa_regimes.h -- regimes of attention for ops that have a struct sdpa within: a table of rows over one op's view of
 * which keys a query sees. */
#ifndef SDPA_REGIMES_H
#define SDPA_REGIMES_H

#include "op/sdpa.h"

/* What an op says of its mask. Keys are numbered by their place among those that the query sees; `head` is one of
 * [B * H]. */
struct sdpa_view {
    int (*open)(const void *problem, void **ret_of, kg_error *ret_error);
    void (*close)(void *of);
    int64_t (*count)(const void *of, int64_t head, int64_t i);
    int64_t (*nth)(const void *of, int64_t head, int64_t i, int64_t n);
    double (*spread)(
        const void *problem); /* how far apart modifiers may bring equal scores; INFINITY: they level them */
};

/* ---- data of regimes; `view` NULL: the mask of the struct sdpa ---- */

/* The common part of a key's logits, after the scale; `width` is a number of keys that differs by key head. */
typedef double sdpa_level_fn(const struct sdpa *p, int64_t width, int64_t key);

struct sdpa_levels {
    double level;
    sdpa_level_fn *varies; /* by key, as a factor of `level`; NULL: it does not */
    float noise;           /* factor on the rest of the logits */
};

/* Which of the `visible` keys takes all weight, for a query; `row` counts queries of the key head. */
typedef int64_t sdpa_winner_fn(const struct sdpa *p, uint64_t seed, int64_t key_head, int64_t row, int64_t visible);

struct sdpa_winners {
    const struct sdpa_view *view;
    sdpa_winner_fn *winner;
    double gap; /* of its logit over any other, at least */
    bool coded_values;
};

struct sdpa_constant {
    const struct sdpa_view *view;
    float value;
    bool equal_keys; /* weights are, too: their sum before it is normalised is their number */
};

/* Each channel has a mean of its own sign, so that outputs are about as large as values. Of up to 800 keys FP32 holds 2^8
 * times the sum of a row's values: a right kernel's maximum may lag by as much. */
struct sdpa_range {
    struct sdpa_levels levels; /* a level of 0: scores stay */
    float mean, std;
    int wider; /* powers of two that BF16's are larger by, and its weights, with no maximum taken off, smaller */
};

struct sdpa_factors {
    float q, k;
};

struct sdpa_hidden {
    const struct sdpa_view *view;
};

/* ---- functions of regimes ---- */

sdpa_level_fn sdpa_level_far_below, sdpa_level_step_up, sdpa_level_climb, sdpa_level_step_down, sdpa_level_first_key,
    sdpa_level_last_key, sdpa_level_half_first, sdpa_level_last_keys;
sdpa_winner_fn sdpa_winner_edge, sdpa_winner_any;

typedef int sdpa_regime_fn(const void *data, const void *problem, uint64_t seed, const kg_tensor *tensors,
                           kg_error *ret_error);
sdpa_regime_fn sdpa_change_levels, sdpa_change_sink, sdpa_change_sink_small, sdpa_change_winners, sdpa_change_ties,
    sdpa_change_constant, sdpa_change_range, sdpa_change_factors, sdpa_change_head_scales, sdpa_change_hidden,
    sdpa_change_zero_heads, sdpa_change_zero_tiles, sdpa_change_outlier_v, sdpa_change_outlier;
sdpa_regime_fn sdpa_answer_winners, sdpa_answer_constant, sdpa_same_hidden;

/* ---- the table ---- */

/* clang-format off */
#define SDPA_DATA(type, ...) .data = &(const struct type){ __VA_ARGS__ }
#define SDPA_LEVELS(...) SDPA_DATA(sdpa_levels, __VA_ARGS__), .change = sdpa_change_levels
#define SDPA_WINNERS(...)                                                                                              \
    SDPA_DATA(sdpa_winners, __VA_ARGS__), .change = sdpa_change_winners, .answer = sdpa_answer_winners
#define SDPA_CONSTANT(...)                                                                                             \
    SDPA_DATA(sdpa_constant, __VA_ARGS__), .change = sdpa_change_constant, .answer = sdpa_answer_constant
#define SDPA_FACTORS(...) SDPA_DATA(sdpa_factors, __VA_ARGS__), .change = sdpa_change_factors
#define SDPA_RANGE(...) SDPA_DATA(sdpa_range, __VA_ARGS__), .change = sdpa_change_range
#define SDPA_SINK(level) SDPA_DATA(sdpa_levels, level, sdpa_level_first_key, 1), .change = sdpa_change_sink

#define SDPA_REGIME_ROWS(view)                                                                                         \
    { .name = "low", .help = "all logits near -120", SDPA_LEVELS(-120, NULL, 1) },                                          \
    { .name = "lowest", .help = "all products of Q and K near -60000", SDPA_LEVELS(1, sdpa_level_far_below, 1) },                    \
    { .name = "bottom", .help = "all logits near -60000", SDPA_LEVELS(-6e4, NULL, 1) },                                    \
    { .name = "deepest", .help = "the first key's logits near -5e30, the others' near -1e31; in FP16 as far as it goes",   \
      SDPA_LEVELS(-1e31, sdpa_level_half_first, 1) },                                                                 \
    { .name = "high", .help = "all logits near 120", SDPA_LEVELS(120, NULL, 1) },                                          \
    { .name = "rising", .help = "maxima of tiles of keys rise by 2^7 to 2^20", SDPA_LEVELS(1, sdpa_level_step_up, 0.5f) },           \
    { .name = "climbing", .help = "maxima of tiles of keys rise by 2^7.25 each", SDPA_LEVELS(1, sdpa_level_climb, 0.5f) },            \
    { .name = "falling", .help = "maxima of tiles of keys fall, past 2^128 in all", SDPA_LEVELS(1, sdpa_level_step_down, 1) },       \
    { .name = "sink", .help = "the first key's logits are larger by 14, its values 0", SDPA_SINK(14) },            \
    { .name = "sink_near", .help = "the same by 10.5", SDPA_SINK(10.5) },                                                   \
    { .name = "sink_mid", .help = "the same by 40", SDPA_SINK(40) },                                                        \
    { .name = "sink_far", .help = "the same by 70", SDPA_SINK(70) },                                                        \
    { .name = "sink_last", .help = "the last key's logits are larger by 55, its values 0",                                 \
      SDPA_DATA(sdpa_levels, 55, sdpa_level_last_key, 1), .change = sdpa_change_sink },                                \
    { .name = "sink_small", .help = "the same by 130; in BF16 its values are 2^-20, others' 2^100 times normal",           \
      SDPA_DATA(sdpa_levels, 130, sdpa_level_first_key, 1), .change = sdpa_change_sink_small },                        \
    { .name = "sink_small_last", .help = "the same, of the last key",                                                  \
      SDPA_DATA(sdpa_levels, 130, sdpa_level_last_key, 1), .change = sdpa_change_sink_small },                         \
    { .name = "sink_far_last", .help = "the same, of the last key by 70",                                              \
      SDPA_DATA(sdpa_levels, 70, sdpa_level_last_key, 1), .change = sdpa_change_sink_small },                          \
    { .name = "winner", .help = "one key has all weight, in turn at each tile's edges",                                \
      SDPA_WINNERS(view, sdpa_winner_edge, 200, false) },                                                              \
    { .name = "coded", .help = "one key has all weight; values are codes of their place",                              \
      SDPA_WINNERS(view, sdpa_winner_any, 32, true) },                                                                 \
    { .name = "ties", .help = "five different keys, over and over", .change = sdpa_change_ties },                      \
    { .name = "k32", .help = "K is 32 times normal", SDPA_FACTORS(1, 32) },                                            \
    { .name = "large_q", .help = "Q is 2^11 times normal, K 2^-11", SDPA_FACTORS(0x1p11f, 0x1p-11f) },                 \
    { .name = "large_k", .help = "K is 2^13 times normal, Q 2^-13", SDPA_FACTORS(0x1p-13f, 0x1p13f) },                 \
    { .name = "ones", .help = "V = 1", SDPA_CONSTANT(view, 1, false) },                                                \
    { .name = "sixty_four", .help = "V = 64, all keys equal", SDPA_CONSTANT(view, 64, true) },                         \
    { .name = "huge_v", .help = "V near 25000 and -25000, by channel, and logits near 78; in BF16 2^80 times that, and 22", \
      SDPA_RANGE({ 78, NULL, 1 }, 25000, 5000, 80) },                                                       \
    { .name = "end_v", .help = "V near 58000 and -58000, by channel, near FP16's end",                                 \
      SDPA_RANGE({ 0, NULL, 0 }, 58000, 400, 0) },                                                                    \
    { .name = "tiny_v", .help = "V near 2^-17 and -2^-17, subnormal in FP16",                                          \
      SDPA_RANGE({ 0, NULL, 0 }, 0x1p-17f, 0x1p-19f, 0) },                                                                \
    { .name = "huge_sums", .help = "huge_v with logits near 83; in BF16 V near 2^110 and 16",                          \
      SDPA_RANGE({ 83, NULL, 0.5f }, 20000, 2000, 96) },                                                              \
    { .name = "tiny_sums", .help = "tiny_v with logits near -92; in BF16 V near 2^-77 and -50",                        \
      SDPA_RANGE({ -91.6, NULL, 0.5f }, 0x1p-17f, 0x1p-19f, -60) },                                                    \
    { .name = "rising_huge", .help = "the last sixth of the keys 80 above the rest, V near 25000; in BF16 17.6, 2^104",\
      SDPA_RANGE({ 80, sdpa_level_last_keys, 0.5f }, 25000, 5000, 90) },                                               \
    { .name = "outlier_k", .help = "one element of K a head is 40000, and its channel of Q 0",                         \
      .data = &(const enum sdpa_tensor){ SDPA_K }, .change = sdpa_change_outlier },                                    \
    { .name = "outlier_q", .help = "the same of Q, and its channel of K 0",                                            \
      .data = &(const enum sdpa_tensor){ SDPA_Q }, .change = sdpa_change_outlier },                                    \
    { .name = "outlier_v", .help = "one element of V a head is 20000", .change = sdpa_change_outlier_v },          \
    { .name = "zero_heads", .help = "in turn V, K or Q of a head is 0", .change = sdpa_change_zero_heads },        \
    { .name = "zero_tiles", .help = "every second tile of keys is 0, or V of all but the last", .change = sdpa_change_zero_tiles },          \
    { .name = "head_scales", .help = "Q, K and V of a head differ by powers of two and 1.99",                          \
      .change = sdpa_change_head_scales },                                                                             \
    { .name = "hidden", .help = "keys change where some queries do not see them",                                      \
      SDPA_DATA(sdpa_hidden, view), .change = sdpa_change_hidden, .same = sdpa_same_hidden }
/* clang-format on */

#endif
