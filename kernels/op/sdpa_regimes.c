/* sdpa_regimes.c -- inputs on which attention goes wrong, for both ops. Another one is a row of the table at the end;
 * docs/regimes.md says what each is for.
 *
 * Heads are walked by key heads: number n of [B * Hkv] serves the query heads n * group to n * group + group - 1 of
 * [B * H]. So no mapping of heads is computed here that a kernel or the reference may have wrong in the same way.
 * Values that must be exact have 8 significant bits, as BF16 has.
 */
#include "op/sdpa.h"

#include <math.h>
#include <string.h>

static int64_t key_heads(const struct sdpa *p)
{
    return p->B * sdpa_kv_heads(p);
}

static int64_t query_rows_of_key_head(const struct sdpa *p)
{
    return sdpa_group(p) * p->S;
}

static float *query_row(const struct sdpa *p, const kg_tensor *q_or_o, int64_t key_head, int64_t row)
{
    return (float *)q_or_o->data + (key_head * query_rows_of_key_head(p) + row) * p->D;
}

static float *key_row(const struct sdpa *p, const kg_tensor *k_or_v, int64_t key_head, int64_t key)
{
    return (float *)k_or_v->data + (key_head * sdpa_kv_length(p) + key) * p->D;
}

static uint64_t draw(uint64_t seed, int64_t first, int64_t second)
{
    uint64_t x = seed + 0x9e3779b97f4a7c15u * (uint64_t)(first + 1) + 0xd1b54a32d192ed03u * (uint64_t)(second + 1);
    x = (x ^ x >> 32) * 0xd6e8feb86659fd93u;
    x = (x ^ x >> 32) * 0xd6e8feb86659fd93u;
    return x ^ x >> 32;
}

static double eight_bits(double value, double (*round_to)(double))
{
    int exponent;
    double fraction = frexp(value, &exponent);
    return ldexp(round_to(ldexp(fraction, 8)), exponent - 8);
}

static float std_of(const kg_tensor *tensor)
{
    return tensor->std != 0 ? (float)tensor->std : 1;
}

/* Only an output in 8 bits has a unit, and an end that inputs may have to mind. */
static bool coded_output(const kg_tensor *tensors)
{
    return tensors[SDPA_O].unit != 0;
}

static int check_output(const kg_tensor *tensors, float largest, kg_error *ret_error)
{
    if (coded_output(tensors) && !(largest <= 448 * kg_tensor_unit(&tensors[SDPA_O])))
        return kg_fail(ret_error, KG_EUNSUPPORTED, "outputs of %g are past the largest code", (double)largest);
    return KG_OK;
}

/* ---- logits with a common part ------------------------------------------------------------------------------- */

/* The common part of a key's logits, after the scale; `width` is a number of keys that differs by key head. */
typedef double level_fn(const struct sdpa *p, int64_t width, int64_t key);

struct levels {
    level_fn *level;
    float noise; /* factor on the rest of the logits */
};

/* Every fourth element of a row carries the common part, so that no element is much larger than the normal ones. */
enum { CARRIER = 4 };

static const int64_t widths[] = { 64, 16, 128, 32 };

/* At most a quarter of the keys, or short rows would have no second width. */
static int64_t width_of(const struct sdpa *p, int64_t key_head, uint64_t seed)
{
    int64_t width = widths[((uint64_t)key_head + seed) % 4];
    while (width > 16 && 4 * width > sdpa_kv_length(p))
        width /= 2;
    return width;
}

static double below(const struct sdpa *p, int64_t width, int64_t key)
{
    (void)p, (void)width, (void)key;
    return -120;
}

static double far_below(const struct sdpa *p, int64_t width, int64_t key)
{
    (void)width, (void)key;
    return -6e4 * sdpa_scale(p);
}

static double bottom(const struct sdpa *p, int64_t width, int64_t key)
{
    (void)p, (void)width, (void)key;
    return -6e4;
}

static double above(const struct sdpa *p, int64_t width, int64_t key)
{
    (void)p, (void)width, (void)key;
    return 120;
}

/* Rises by powers of two that a kernel which rescales past 8 lets pass, but for the second, and the third is one that
 * an FP16 weight just holds. The last one stays, so a maximum that lags behind lags there too. */
static double step_up(const struct sdpa *p, int64_t width, int64_t key)
{
    static const double steps[] = { 0, 7.25, 27.25, 42.75, 50 };
    int64_t step = key / width;
    (void)p;
    return steps[step < 4 ? step : 4] * log(2);
}

/* Four times as far, past 2^128: what an exponent of the wrong sign leaves is infinite. */
static double step_down(const struct sdpa *p, int64_t width, int64_t key)
{
    return 4 * (50 * log(2) - step_up(p, width, key));
}

/* All other keys together still count. */
static double first_key(const struct sdpa *p, int64_t width, int64_t key)
{
    (void)p, (void)width;
    return key == 0 ? 10 : 0;
}

static double largest_level(const struct sdpa *p, level_fn *level)
{
    double largest = 1;
    for (int w = 0; w < 4; w++)
        for (int64_t j = 0; j < sdpa_kv_length(p); j++)
            largest = fmax(largest, fabs(level(p, widths[w], j)));
    return largest;
}

static int change_levels(const void *data, const void *problem, uint64_t seed, const kg_tensor *tensors,
                         kg_error *ret_error)
{
    const struct sdpa *p = problem;
    const struct levels *levels = data;
    const int64_t D = p->D, n_carriers = (D + CARRIER - 1) / CARRIER;
    const double raw = 1 / (sdpa_scale(p) * (double)n_carriers);
    const double query = exp2(round(log2(largest_level(p, levels->level) * raw) / 2)); /* half of the exponent */
    (void)ret_error;
#pragma omp parallel for
    for (int64_t n = 0; n < key_heads(p); n++) {
        for (int64_t row = 0; row < query_rows_of_key_head(p); row++) {
            float *q = query_row(p, &tensors[SDPA_Q], n, row);
            for (int64_t d = 0; d < D; d++)
                q[d] = d % CARRIER == 0 ? (float)query : q[d] * levels->noise;
        }
        for (int64_t j = 0; j < sdpa_kv_length(p); j++) {
            const double level = levels->level(p, width_of(p, n, seed), j);
            float *k = key_row(p, &tensors[SDPA_K], n, j);
            for (int64_t d = 0; d < D; d += CARRIER)
                k[d] = (float)eight_bits(level * raw / query, rint);
        }
    }
    return KG_OK;
}

static int change_sink(const void *data, const void *problem, uint64_t seed, const kg_tensor *tensors,
                       kg_error *ret_error)
{
    const struct sdpa *p = problem;
    for (int64_t n = 0; n < key_heads(p); n++)
        for (int64_t d = 0; d < p->D; d++)
            key_row(p, &tensors[SDPA_V], n, 0)[d] *= 0x1p-8f;
    return change_levels(data, problem, seed, tensors, ret_error);
}

/* ---- one key that takes all weight --------------------------------------------------------------------------- */

/* Which of the `visible` keys it is, for a query; `row` counts queries of the key head. */
typedef int64_t winner_fn(const struct sdpa *p, uint64_t seed, int64_t key_head, int64_t row, int64_t visible);

struct winners {
    winner_fn *winner;
    double gap; /* of its logit over any other, at least */
    bool coded_values;
};

/* The last visible key, and in turn the first and the last of each 16. */
static int64_t edge(const struct sdpa *p, uint64_t seed, int64_t key_head, int64_t row, int64_t visible)
{
    const int64_t edges = 2 * ((visible + 15) / 16), head = key_head * sdpa_group(p) + row / p->S;
    const int64_t turn = (int64_t)(((uint64_t)row + draw(seed, head, 0)) % (uint64_t)edges);
    const int64_t key = turn / 2 * 16 + turn % 2 * 15;
    return ((uint64_t)(row % p->S + head) + seed) % 3 == 0 || key >= visible ? visible - 1 : key;
}

/* In one head of two all keys, one query each where there are as many; in the others any key. */
static int64_t any_key(const struct sdpa *p, uint64_t seed, int64_t key_head, int64_t row, int64_t visible)
{
    const int64_t head = key_head * sdpa_group(p) + row / p->S;
    if (((uint64_t)head + seed) % 2)
        return (int64_t)(draw(seed, head, row) % (uint64_t)visible);
    return p->causal ? visible - 1 : visible - 1 - row % p->S % visible;
}

/* Rows of K are signs, a key's number in binary, as often as D holds it. Two keys differ in `copies` elements or more,
 * and so do their products with a query of the same signs. */
struct signs {
    int bits;
    int64_t copies;
};

static struct signs signs_of(const struct sdpa *p)
{
    struct signs signs = { .bits = 1 };
    while (INT64_C(1) << signs.bits < sdpa_kv_length(p))
        signs.bits++;
    signs.copies = p->D / signs.bits;
    return signs;
}

/* Signs differ by key head, or a kernel that took another head's keys would find the same winner. */
static void write_signs(const struct signs *signs, uint64_t head_signs, int64_t D, int64_t key, float size,
                        float *ret_row)
{
    for (int64_t d = 0; d < D; d++)
        ret_row[d] = (((uint64_t)key >> d % signs->bits) ^ (head_signs >> d % 64)) & 1 ? -size : size;
}

/* Each of the place's numbers times a factor, modulo a prime: a step of one or of a power of two along any dimension
 * changes the value, and so does exchanging two numbers. */
static float value_code(const struct sdpa *p, uint64_t seed, int64_t key_head, int64_t key, int64_t d)
{
    const int64_t prime = 251, Hkv = sdpa_kv_heads(p);
    const int64_t place = 7 * (key_head / Hkv) + 23 * (key_head % Hkv) + 31 * key + 101 * d;
    const int64_t factor = 1 + (int64_t)(seed % 250);
    return (float)((place % prime * factor + 1) % prime - prime / 2) / 64;
}

static int change_winners(const void *data, const void *problem, uint64_t seed, const kg_tensor *tensors,
                          kg_error *ret_error)
{
    const struct sdpa *p = problem;
    const struct winners *winners = data;
    const struct signs signs = signs_of(p);
    const float size = (float)eight_bits(winners->gap / (2 * sdpa_scale(p) * (double)signs.copies), ceil);
    if (!(size <= 60000))
        return kg_fail(ret_error, KG_EUNSUPPORTED, "%lld elements cannot set one of %lld keys apart", (long long)p->D,
                       (long long)sdpa_kv_length(p));
    int status = check_output(tensors, winners->coded_values ? 2 : 0, ret_error);
    if (status)
        return status;
#pragma omp parallel for
    for (int64_t n = 0; n < key_heads(p); n++) {
        const uint64_t head_signs = draw(seed, n, 0);
        for (int64_t row = 0; row < query_rows_of_key_head(p); row++) {
            const int64_t visible = sdpa_visible_keys(p, row % p->S);
            if (visible > 0)
                write_signs(&signs, head_signs, p->D, winners->winner(p, seed, n, row, visible), size,
                            query_row(p, &tensors[SDPA_Q], n, row));
        }
        for (int64_t j = 0; j < sdpa_kv_length(p); j++) {
            float *v = key_row(p, &tensors[SDPA_V], n, j);
            write_signs(&signs, head_signs, p->D, j, 1, key_row(p, &tensors[SDPA_K], n, j));
            for (int64_t d = 0; d < p->D && winners->coded_values; d++)
                v[d] = value_code(p, seed, n, j, d);
        }
    }
    return KG_OK;
}

static int answer_winners(const void *data, const void *problem, uint64_t seed, const kg_tensor *tensors,
                          kg_error *ret_error)
{
    const struct sdpa *p = problem;
    winner_fn *winner = ((const struct winners *)data)->winner;
    (void)ret_error;
#pragma omp parallel for
    for (int64_t n = 0; n < key_heads(p); n++)
        for (int64_t row = 0; row < query_rows_of_key_head(p); row++) {
            const int64_t visible = sdpa_visible_keys(p, row % p->S);
            const int64_t key = visible > 0 ? winner(p, seed, n, row, visible) : 0;
            const float *v = key_row(p, &tensors[SDPA_V], n, key);
            float *o = query_row(p, &tensors[SDPA_O], n, row);
            for (int64_t d = 0; d < p->D; d++)
                o[d] = visible > 0 ? v[d] : 0;
        }
    return KG_OK;
}

/* ---- keys that are equal ------------------------------------------------------------------------------------- */

/* Key j becomes key j % period: no tile of that many keys has a larger maximum than another. */
static void repeat_keys(const struct sdpa *p, const kg_tensor *tensors, int64_t period)
{
#pragma omp parallel for
    for (int64_t n = 0; n < key_heads(p); n++)
        for (int64_t j = period; j < sdpa_kv_length(p); j++)
            memcpy(key_row(p, &tensors[SDPA_K], n, j), key_row(p, &tensors[SDPA_K], n, j % period),
                   (size_t)p->D * sizeof(float));
}

static int change_ties(const void *data, const void *problem, uint64_t seed, const kg_tensor *tensors,
                       kg_error *ret_error)
{
    (void)data, (void)seed, (void)ret_error;
    repeat_keys(problem, tensors, 5);
    return KG_OK;
}

/* ---- values -------------------------------------------------------------------------------------------------- */

struct constant {
    float value;
    bool equal_keys; /* weights are, too: their sum before it is normalised is their number */
};

static int change_constant(const void *data, const void *problem, uint64_t seed, const kg_tensor *tensors,
                           kg_error *ret_error)
{
    const struct constant *constant = data;
    const struct sdpa *p = problem;
    const int64_t count = key_heads(p) * sdpa_kv_length(p) * p->D;
    int status = check_output(tensors, constant->value, ret_error);
    (void)seed;
    if (status)
        return status;
    for (int64_t i = 0; i < count; i++)
        ((float *)tensors[SDPA_V].data)[i] = constant->value;
    if (constant->equal_keys)
        repeat_keys(p, tensors, 1);
    return KG_OK;
}

static int answer_constant(const void *data, const void *problem, uint64_t seed, const kg_tensor *tensors,
                           kg_error *ret_error)
{
    const struct sdpa *p = problem;
    (void)seed, (void)ret_error;
#pragma omp parallel for
    for (int64_t n = 0; n < key_heads(p); n++)
        for (int64_t row = 0; row < query_rows_of_key_head(p); row++)
            for (int64_t d = 0; d < p->D; d++)
                query_row(p, &tensors[SDPA_O], n, row)[d] =
                    sdpa_visible_keys(p, row % p->S) > 0 ? ((const struct constant *)data)->value : 0;
    return KG_OK;
}

/* Each channel has a mean of its own sign, so that outputs are about as large as values. */
struct range {
    float mean, std;
};

static int change_range(const void *data, const void *problem, uint64_t seed, const kg_tensor *tensors,
                        kg_error *ret_error)
{
    const struct range *range = data;
    const struct sdpa *p = problem;
    const float factor = range->std / std_of(&tensors[SDPA_V]);
    int status = check_output(tensors, range->mean + 5 * range->std, ret_error);
    if (status)
        return status;
#pragma omp parallel for
    for (int64_t n = 0; n < key_heads(p); n++)
        for (int64_t j = 0; j < sdpa_kv_length(p); j++)
            for (int64_t d = 0; d < p->D; d++) {
                float *v = key_row(p, &tensors[SDPA_V], n, j) + d;
                *v = *v * factor + (draw(seed, n, d) & 1 ? -range->mean : range->mean);
            }
    return KG_OK;
}

static void multiply(float *values, int64_t count, float factor)
{
#pragma omp parallel for if (count > 65536)
    for (int64_t i = 0; i < count; i++)
        values[i] *= factor;
}

static int change_k32(const void *data, const void *problem, uint64_t seed, const kg_tensor *tensors,
                      kg_error *ret_error)
{
    (void)data, (void)problem, (void)seed, (void)ret_error;
    multiply(tensors[SDPA_K].data, kg_tensor_count(&tensors[SDPA_K]), 32);
    return KG_OK;
}

/* 2^-3 to 2^3, and 1.99 times that in one head of two: almost the next power. */
static float head_scale(int64_t key_head, int64_t step, uint64_t seed)
{
    const int exponent = (int)(((uint64_t)(key_head * step) + seed) % 7) - 3;
    return ldexpf(key_head % 2 ? 1.99f : 1, exponent);
}

static int change_head_scales(const void *data, const void *problem, uint64_t seed, const kg_tensor *tensors,
                              kg_error *ret_error)
{
    const struct sdpa *p = problem;
    const int64_t keys = sdpa_kv_length(p) * p->D;
    float down = 1;
    (void)data, (void)ret_error;
    while (down > 0x1p-20f && check_output(tensors, 16 * 5 * down * std_of(&tensors[SDPA_V]), NULL) != KG_OK)
        down /= 2;
    for (int64_t n = 0; n < key_heads(p); n++) {
        const float scale = head_scale(n, 1, seed);
        multiply(query_row(p, &tensors[SDPA_Q], n, 0), query_rows_of_key_head(p) * p->D, scale);
        multiply(key_row(p, &tensors[SDPA_K], n, 0), keys, 1 / scale);
        multiply(key_row(p, &tensors[SDPA_V], n, 0), keys, head_scale(n, 3, seed) * down);
    }
    return KG_OK;
}

/* ---- keys that some queries do not see ----------------------------------------------------------------------- */

/* Queries that see no more than this many keys keep their outputs; keys from here on change. */
static int64_t kept_keys(const struct sdpa *p)
{
    const int64_t kept = sdpa_visible_keys(p, p->S - 1) * 2 / 3;
    return kept % 16 == 0 ? kept + 1 : kept;
}

static int change_hidden(const void *data, const void *problem, uint64_t seed, const kg_tensor *tensors,
                         kg_error *ret_error)
{
    const struct sdpa *p = problem;
    const int64_t kept = kept_keys(p), Skv = sdpa_kv_length(p);
    (void)data, (void)seed;
    if (sdpa_visible_keys(p, 0) > kept || kept >= Skv)
        return kg_fail(ret_error, KG_EUNSUPPORTED, "no query has hidden keys");
    if (p->dtype == KG_E4M3 || coded_output(tensors))
        return kg_fail(ret_error, KG_EUNSUPPORTED, "scales of 8-bit codes span hidden keys");
    for (int64_t n = 0; n < key_heads(p); n++) {
        multiply(key_row(p, &tensors[SDPA_K], n, kept), (Skv - kept) * p->D, 50);
        for (int64_t i = 0; i < (Skv - kept) * p->D; i++)
            key_row(p, &tensors[SDPA_V], n, kept)[i] = 1000;
    }
    return KG_OK;
}

static int same_hidden(const void *data, const void *problem, uint64_t seed, const kg_tensor *tensors,
                       kg_error *ret_error)
{
    const struct sdpa *p = problem;
    (void)data, (void)seed, (void)ret_error;
#pragma omp parallel for
    for (int64_t n = 0; n < key_heads(p); n++)
        for (int64_t row = 0; row < query_rows_of_key_head(p); row++)
            for (int64_t d = 0; d < p->D && sdpa_visible_keys(p, row % p->S) <= kept_keys(p); d++)
                query_row(p, &tensors[SDPA_O], n, row)[d] = 1;
    return KG_OK;
}

/* ---- the table ----------------------------------------------------------------------------------------------- */

/* clang-format off */
#define DATA(type, ...) .data = &(const struct type){ __VA_ARGS__ }
#define LEVELS(level, noise) DATA(levels, level, noise), .change = change_levels
#define WINNERS(winner, gap, coded) DATA(winners, winner, gap, coded), .change = change_winners, .answer = answer_winners
#define CONSTANT(value, equal) DATA(constant, value, equal), .change = change_constant, .answer = answer_constant
#define RANGE(mean, std) DATA(range, mean, std), .change = change_range
/* clang-format on */

const kg_regime sdpa_regimes[] = {
    { .name = "low", .help = "all logits near -120", LEVELS(below, 1) },
    { .name = "lowest", .help = "all products of Q and K near -60000", LEVELS(far_below, 1) },
    { .name = "bottom", .help = "all logits near -60000", LEVELS(bottom, 1) },
    { .name = "high", .help = "all logits near 120", LEVELS(above, 1) },
    { .name = "rising", .help = "maxima of tiles of keys rise by 2^7 to 2^20", LEVELS(step_up, 0.5f) },
    { .name = "falling", .help = "maxima of tiles of keys fall, past 2^128 in all", LEVELS(step_down, 1) },
    { .name = "sink",
      .help = "the first key's logits are larger by 10, its values small",
      DATA(levels, first_key, 1),
      .change = change_sink },
    { .name = "winner", .help = "one key has all weight, in turn at each tile's edges", WINNERS(edge, 200, false) },
    { .name = "coded", .help = "one key has all weight; values are codes of their place", WINNERS(any_key, 32, true) },
    { .name = "ties", .help = "five different keys, over and over", .change = change_ties },
    { .name = "k32", .help = "K is 32 times normal", .change = change_k32 },
    { .name = "ones", .help = "V = 1", CONSTANT(1, false) },
    { .name = "sixty_four", .help = "V = 64, all keys equal", CONSTANT(64, true) },
    { .name = "huge_v", .help = "V near 25000 and -25000, by channel", RANGE(25000, 5000) },
    { .name = "tiny_v", .help = "V near 2^-17 and -2^-17, subnormal in FP16", RANGE(0x1p-17f, 0x1p-19f) },
    { .name = "head_scales",
      .help = "Q, K and V of a head differ by powers of two and 1.99",
      .change = change_head_scales },
    { .name = "hidden",
      .help = "keys change where the first queries do not see them",
      .change = change_hidden,
      .same = same_hidden },
};
