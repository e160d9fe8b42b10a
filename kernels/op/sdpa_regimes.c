/* sdpa_regimes.c -- inputs on which attention goes wrong, for all ops. Another one is a row of the table in its header;
 * docs/regimes.md says what each is for. Which keys a query sees is asked of the op's view.
 *
 * Heads are walked by key heads: number n of [B * Hkv] serves the query heads n * group to n * group + group - 1 of
 * [B * H]. So no mapping of heads is computed here that a kernel or the reference may have wrong in the same way.
 * Values that must be exact have 8 significant bits, as BF16 has.
 */
#include "op/sdpa_regimes.h"

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

/* Values have BF16's range. */
static bool is_wide(const struct sdpa *p, const kg_tensor *tensors)
{
    return p->dtype == KG_BF16 && !coded_output(tensors);
}

static int check_output(const kg_tensor *tensors, float largest, kg_error *ret_error)
{
    if (coded_output(tensors) && !(largest <= 448 * kg_tensor_unit(&tensors[SDPA_O])))
        return kg_fail(ret_error, KG_EUNSUPPORTED, "outputs of %g are past the largest code", (double)largest);
    return KG_OK;
}

static void multiply(float *values, int64_t count, float factor)
{
#pragma omp parallel for if (count > 65536)
    for (int64_t i = 0; i < count; i++)
        values[i] *= factor;
}

/* ---- which keys a query sees ---------------------------------------------------------------------------------- */

/* A problem's view; `of` is what it opened. */
struct keys {
    const struct sdpa *p;
    const struct sdpa_view *view; /* NULL: the mask of the struct sdpa */
    void *of;
};

static int keys_open(const struct sdpa *p, const struct sdpa_view *view, struct keys *ret_keys, kg_error *ret_error)
{
    *ret_keys = (struct keys){ p, view, NULL };
    return view ? view->open(p, &ret_keys->of, ret_error) : KG_OK;
}

static void keys_close(struct keys *keys)
{
    if (keys->view)
        keys->view->close(keys->of);
}

/* How many; `row` counts queries of the key head. */
static int64_t keys_count(const struct keys *keys, int64_t key_head, int64_t row)
{
    const struct sdpa *p = keys->p;
    return keys->view ? keys->view->count(keys->of, key_head * sdpa_group(p) + row / p->S, row % p->S)
                      : sdpa_visible_keys(p, row % p->S);
}

/* Number `n` of them. */
static int64_t keys_nth(const struct keys *keys, int64_t key_head, int64_t row, int64_t n)
{
    const struct sdpa *p = keys->p;
    return keys->view ? keys->view->nth(keys->of, key_head * sdpa_group(p) + row / p->S, row % p->S, n) : n;
}

/* ---- logits with a common part ------------------------------------------------------------------------------- */

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

double sdpa_level_far_below(const struct sdpa *p, int64_t width, int64_t key)
{
    (void)width, (void)key;
    return -6e4 * sdpa_scale(p);
}

/* Rises by powers of two that a kernel which rescales past 8 lets pass, but for the second, and the third is one that
 * an FP16 weight just holds. The last one stays, so a maximum that lags behind lags there too. */
static double first_steps(int64_t step)
{
    static const double steps[] = { 0, 7.25, 27.25, 42.75, 50 };
    return steps[step < 4 ? step : 4] * log(2);
}

/* In a long row it rises to the end, past 2^128. */
double sdpa_level_step_up(const struct sdpa *p, int64_t width, int64_t key)
{
    (void)p;
    return first_steps(key / width) + (key < 1024 ? 0 : 20 * log(2) * (double)(key / 512 - 1));
}

/* Each step alone is less than a kernel minds that rescales past 2^8; two are more. */
double sdpa_level_climb(const struct sdpa *p, int64_t width, int64_t key)
{
    (void)p;
    return 7.25 * log(2) * (double)(key / width);
}

/* Four times as far, past 2^128: what an exponent of the wrong sign leaves is infinite. */
double sdpa_level_step_down(const struct sdpa *p, int64_t width, int64_t key)
{
    (void)p;
    return 4 * (50 * log(2) - first_steps(key / width));
}

/* By 14, the other keys' weights, 2^-20, are still numbers in FP16; by 10.5 about the smallest that e4m3 codes tell; by
 * 70, 2^-101, in BF16. */
double sdpa_level_first_key(const struct sdpa *p, int64_t width, int64_t key)
{
    (void)p, (void)width;
    return key == 0;
}

double sdpa_level_last_key(const struct sdpa *p, int64_t width, int64_t key)
{
    (void)width;
    return key == sdpa_kv_length(p) - 1;
}

double sdpa_level_half_first(const struct sdpa *p, int64_t width, int64_t key)
{
    (void)p, (void)width;
    return key == 0 ? 0.5 : 1;
}

double sdpa_level_last_keys(const struct sdpa *p, int64_t width, int64_t key)
{
    (void)width;
    return key >= sdpa_kv_length(p) * 5 / 6;
}

static double level_of(const struct sdpa_levels *levels, const struct sdpa *p, int64_t width, int64_t key)
{
    return levels->level * (levels->varies ? levels->varies(p, width, key) : 1);
}

static double largest_level(const struct sdpa *p, const struct sdpa_levels *levels)
{
    double largest = 1;
    for (int w = 0; w < 4; w++)
        for (int64_t j = 0; j < sdpa_kv_length(p); j++)
            largest = fmax(largest, fabs(level_of(levels, p, widths[w], j)));
    return largest;
}

int sdpa_change_levels(const void *data, const void *problem, uint64_t seed, const kg_tensor *tensors,
                       kg_error *ret_error)
{
    const struct sdpa *p = problem;
    struct sdpa_levels levels = *(const struct sdpa_levels *)data;
    const int64_t D = p->D, n_carriers = (D + CARRIER - 1) / CARRIER;
    const double raw = 1 / (sdpa_scale(p) * (double)n_carriers);
    if (!is_wide(p, tensors)) /* both factors are in FP16's range, then */
        levels.level = copysign(fmin(fabs(levels.level), 0x1p30 / raw), levels.level);
    const double query = exp2(round(log2(largest_level(p, &levels) * raw) / 2)); /* half of the exponent */
    (void)ret_error;
#pragma omp parallel for
    for (int64_t n = 0; n < key_heads(p); n++) {
        for (int64_t row = 0; row < query_rows_of_key_head(p); row++) {
            float *q = query_row(p, &tensors[SDPA_Q], n, row);
            for (int64_t d = 0; d < D; d++)
                q[d] = d % CARRIER == 0 ? (float)query : q[d] * levels.noise;
        }
        for (int64_t j = 0; j < sdpa_kv_length(p); j++) {
            const double level = level_of(&levels, p, width_of(p, n, seed), j);
            float *k = key_row(p, &tensors[SDPA_K], n, j);
            for (int64_t d = 0; d < D; d += CARRIER)
                k[d] = (float)eight_bits(level * raw / query, rint);
        }
    }
    return KG_OK;
}

/* The first key or the last. */
static int64_t sink_of(const struct sdpa_levels *levels, const struct sdpa *p)
{
    return level_of(levels, p, 1, 0) != 0 ? 0 : sdpa_kv_length(p) - 1;
}

int sdpa_change_sink(const void *data, const void *problem, uint64_t seed, const kg_tensor *tensors,
                     kg_error *ret_error)
{
    const struct sdpa *p = problem;
    const int64_t sink = sink_of(data, p);
    for (int64_t n = 0; n < key_heads(p); n++)
        for (int64_t d = 0; d < p->D; d++)
            key_row(p, &tensors[SDPA_V], n, sink)[d] = 0;
    return sdpa_change_levels(data, problem, seed, tensors, ret_error);
}

/* Beside a sink by 130 others' weights are 0 in FP32: a floor under them, which their values make count, is not. By 70
 * these make them count. */
int sdpa_change_sink_small(const void *data, const void *problem, uint64_t seed, const kg_tensor *tensors,
                           kg_error *ret_error)
{
    const struct sdpa *p = problem;
    const bool wide = is_wide(p, tensors);
    const int64_t sink = sink_of(data, p), others = sink == 0;
    for (int64_t n = 0; n < key_heads(p); n++) {
        multiply(key_row(p, &tensors[SDPA_V], n, sink), p->D, wide ? 0x1p-20f : 1);
        multiply(key_row(p, &tensors[SDPA_V], n, others), (sdpa_kv_length(p) - 1) * p->D, wide ? 0x1p100f : 1);
    }
    return sdpa_change_levels(data, problem, seed, tensors, ret_error);
}

/* ---- one key that takes all weight --------------------------------------------------------------------------- */

/* The last visible key, and in turn the first and the last of each 16. */
int64_t sdpa_winner_edge(const struct sdpa *p, uint64_t seed, int64_t key_head, int64_t row, int64_t visible)
{
    const int64_t edges = 2 * ((visible + 15) / 16), head = key_head * sdpa_group(p) + row / p->S;
    const int64_t turn = (int64_t)(((uint64_t)row + draw(seed, head, 0)) % (uint64_t)edges);
    const int64_t key = turn / 2 * 16 + turn % 2 * 15;
    return ((uint64_t)(row % p->S + head) + seed) % 3 == 0 || key >= visible ? visible - 1 : key;
}

/* In one head of two all keys, one query each where there are as many; in the others any key. */
int64_t sdpa_winner_any(const struct sdpa *p, uint64_t seed, int64_t key_head, int64_t row, int64_t visible)
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
 * changes the value, and so does exchanging two numbers. None is 0, beside which other keys' weights would count. */
static float value_code(const struct sdpa *p, uint64_t seed, int64_t key_head, int64_t key, int64_t d)
{
    const int64_t prime = 251, Hkv = sdpa_kv_heads(p);
    const int64_t place = 7 * (key_head / Hkv) + 23 * (key_head % Hkv) + 31 * key + 101 * d;
    const int64_t factor = 1 + (int64_t)(seed % 250);
    const int64_t code = (place % prime * factor + 1) % prime - prime / 2;
    return (float)(code < 0 ? code : code + 1) / 64;
}

/* The query's winner; -1: it sees no key. */
static int64_t winner_of(const struct keys *keys, const struct sdpa_winners *winners, uint64_t seed, int64_t key_head,
                         int64_t row)
{
    const int64_t visible = keys_count(keys, key_head, row);
    if (visible == 0)
        return -1;
    return keys_nth(keys, key_head, row, winners->winner(keys->p, seed, key_head, row, visible));
}

static void set_winners(const struct keys *keys, const struct sdpa_winners *winners, uint64_t seed, float size,
                        const kg_tensor *tensors)
{
    const struct sdpa *p = keys->p;
    const struct signs signs = signs_of(p);
#pragma omp parallel for
    for (int64_t n = 0; n < key_heads(p); n++) {
        const uint64_t head_signs = draw(seed, n, 0);
        for (int64_t row = 0; row < query_rows_of_key_head(p); row++) {
            const int64_t key = winner_of(keys, winners, seed, n, row);
            if (key >= 0)
                write_signs(&signs, head_signs, p->D, key, size, query_row(p, &tensors[SDPA_Q], n, row));
        }
        for (int64_t j = 0; j < sdpa_kv_length(p); j++) {
            float *v = key_row(p, &tensors[SDPA_V], n, j);
            write_signs(&signs, head_signs, p->D, j, 1, key_row(p, &tensors[SDPA_K], n, j));
            for (int64_t d = 0; d < p->D && winners->coded_values; d++)
                v[d] = value_code(p, seed, n, j, d);
        }
    }
}

int sdpa_change_winners(const void *data, const void *problem, uint64_t seed, const kg_tensor *tensors,
                        kg_error *ret_error)
{
    const struct sdpa *p = problem;
    const struct sdpa_winners *winners = data;
    const double gap = winners->gap + (winners->view ? winners->view->spread(p) : 0);
    const float size = (float)eight_bits(gap / (2 * sdpa_scale(p) * (double)signs_of(p).copies), ceil);
    struct keys keys;
    if (!(size <= 60000))
        return kg_fail(ret_error, KG_EUNSUPPORTED, "%lld elements cannot set one of %lld keys apart", (long long)p->D,
                       (long long)sdpa_kv_length(p));
    int status = check_output(tensors, winners->coded_values ? 2 : 0, ret_error);
    if (!status)
        status = keys_open(p, winners->view, &keys, ret_error);
    if (status)
        return status;
    set_winners(&keys, winners, seed, size, tensors);
    keys_close(&keys);
    return KG_OK;
}

int sdpa_answer_winners(const void *data, const void *problem, uint64_t seed, const kg_tensor *tensors,
                        kg_error *ret_error)
{
    const struct sdpa *p = problem;
    const struct sdpa_winners *winners = data;
    struct keys keys;
    int status = keys_open(p, winners->view, &keys, ret_error);
    if (status)
        return status;
#pragma omp parallel for
    for (int64_t n = 0; n < key_heads(p); n++)
        for (int64_t row = 0; row < query_rows_of_key_head(p); row++) {
            const int64_t key = winner_of(&keys, winners, seed, n, row);
            const float *v = key < 0 ? NULL : key_row(p, &tensors[SDPA_V], n, key);
            float *o = query_row(p, &tensors[SDPA_O], n, row);
            for (int64_t d = 0; d < p->D; d++)
                o[d] = v ? v[d] : 0;
        }
    keys_close(&keys);
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

int sdpa_change_ties(const void *data, const void *problem, uint64_t seed, const kg_tensor *tensors,
                     kg_error *ret_error)
{
    (void)data, (void)seed, (void)ret_error;
    repeat_keys(problem, tensors, 5);
    return KG_OK;
}

/* ---- values -------------------------------------------------------------------------------------------------- */

int sdpa_change_constant(const void *data, const void *problem, uint64_t seed, const kg_tensor *tensors,
                         kg_error *ret_error)
{
    const struct sdpa_constant *constant = data;
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

int sdpa_answer_constant(const void *data, const void *problem, uint64_t seed, const kg_tensor *tensors,
                         kg_error *ret_error)
{
    const struct sdpa *p = problem;
    const struct sdpa_constant *constant = data;
    struct keys keys;
    (void)seed;
    int status = keys_open(p, constant->view, &keys, ret_error);
    if (status)
        return status;
#pragma omp parallel for
    for (int64_t n = 0; n < key_heads(p); n++)
        for (int64_t row = 0; row < query_rows_of_key_head(p); row++) {
            const float value = keys_count(&keys, n, row) > 0 ? constant->value : 0;
            for (int64_t d = 0; d < p->D; d++)
                query_row(p, &tensors[SDPA_O], n, row)[d] = value;
        }
    keys_close(&keys);
    return KG_OK;
}

int sdpa_change_range(const void *data, const void *problem, uint64_t seed, const kg_tensor *tensors,
                      kg_error *ret_error)
{
    const struct sdpa_range *range = data;
    const struct sdpa *p = problem;
    const int powers = is_wide(p, tensors) ? range->wider : 0;
    const float wider = ldexpf(1, powers), mean = range->mean * wider;
    struct sdpa_levels levels = range->levels;
    const float factor = range->std * wider / std_of(&tensors[SDPA_V]);
    int status = check_output(tensors, range->mean + 5 * range->std, ret_error);
    levels.level -= powers * log(2);
    if (!status && range->levels.level != 0)
        status = sdpa_change_levels(&levels, problem, seed, tensors, ret_error);
    if (status)
        return status;
#pragma omp parallel for
    for (int64_t n = 0; n < key_heads(p); n++)
        for (int64_t j = 0; j < sdpa_kv_length(p); j++)
            for (int64_t d = 0; d < p->D; d++) {
                float *v = key_row(p, &tensors[SDPA_V], n, j) + d;
                *v = *v * factor + (draw(seed, n, d) & 1 ? -mean : mean);
            }
    return KG_OK;
}

int sdpa_change_factors(const void *data, const void *problem, uint64_t seed, const kg_tensor *tensors,
                        kg_error *ret_error)
{
    const struct sdpa_factors *factors = data;
    (void)problem, (void)seed, (void)ret_error;
    multiply(tensors[SDPA_Q].data, kg_tensor_count(&tensors[SDPA_Q]), factors->q);
    multiply(tensors[SDPA_K].data, kg_tensor_count(&tensors[SDPA_K]), factors->k);
    return KG_OK;
}

/* 2^-3 to 2^3, BF16's eight times as far, past FP16's ends; and 1.99 times that in one head of two: almost the next
 * power. */
static float head_scale(bool wide, int64_t key_head, int64_t step, uint64_t seed)
{
    const int exponent = (int)(((uint64_t)(key_head * step) + seed) % 7) - 3;
    return ldexpf(key_head % 2 ? 1.99f : 1, wide ? 8 * exponent : exponent);
}

int sdpa_change_head_scales(const void *data, const void *problem, uint64_t seed, const kg_tensor *tensors,
                            kg_error *ret_error)
{
    const struct sdpa *p = problem;
    const int64_t keys = sdpa_kv_length(p) * p->D;
    const bool wide = is_wide(p, tensors);
    float down = 1;
    (void)data, (void)ret_error;
    while (down > 0x1p-20f && check_output(tensors, 16 * 5 * down * std_of(&tensors[SDPA_V]), NULL) != KG_OK)
        down /= 2;
    for (int64_t n = 0; n < key_heads(p); n++) {
        const float scale = head_scale(wide, n, 1, seed);
        multiply(query_row(p, &tensors[SDPA_Q], n, 0), query_rows_of_key_head(p) * p->D, scale);
        multiply(key_row(p, &tensors[SDPA_K], n, 0), keys, 1 / scale);
        multiply(key_row(p, &tensors[SDPA_V], n, 0), keys, head_scale(wide, n, 3, seed) * down);
    }
    return KG_OK;
}

/* Where the largest is 0, so is a scale that goes by it. */
int sdpa_change_zero_heads(const void *data, const void *problem, uint64_t seed, const kg_tensor *tensors,
                           kg_error *ret_error)
{
    const struct sdpa *p = problem;
    const int64_t keys = sdpa_kv_length(p) * p->D;
    (void)data, (void)ret_error;
    for (int64_t n = 0; n < key_heads(p); n++)
        switch (((uint64_t)n + seed) % 3) {
        case 0:
            multiply(key_row(p, &tensors[SDPA_V], n, 0), keys, 0);
            break;
        case 1:
            multiply(key_row(p, &tensors[SDPA_K], n, 0), keys, 0);
            break;
        default:
            multiply(query_row(p, &tensors[SDPA_Q], n, 0), query_rows_of_key_head(p) * p->D, 0);
        }
    return KG_OK;
}

/* A key of zeros has a score, 0, and a weight; so has one whose values are 0. */
int sdpa_change_zero_tiles(const void *data, const void *problem, uint64_t seed, const kg_tensor *tensors,
                           kg_error *ret_error)
{
    const struct sdpa *p = problem;
    (void)data, (void)ret_error;
    for (int64_t n = 0; n < key_heads(p); n++) {
        for (int64_t j = 0; j < sdpa_kv_length(p) && n % 2 == 0; j++)
            if (j / width_of(p, n, seed) % 2)
                multiply(key_row(p, &tensors[SDPA_K], n, j), p->D, 0);
        if (n % 2)
            multiply(key_row(p, &tensors[SDPA_V], n, 0), sdpa_kv_length(p) * 5 / 6 * p->D, 0);
    }
    return KG_OK;
}

/* Beside it the rest of its tensor is small in every code whose step goes by the largest, and it counts for no score.
 */
int sdpa_change_outlier(const void *data, const void *problem, uint64_t seed, const kg_tensor *tensors,
                        kg_error *ret_error)
{
    const struct sdpa *p = problem;
    const enum sdpa_tensor of = *(const enum sdpa_tensor *)data, other = of == SDPA_Q ? SDPA_K : SDPA_Q;
    const int64_t rows[] = { [SDPA_Q] = query_rows_of_key_head(p), [SDPA_K] = sdpa_kv_length(p) };
    (void)ret_error;
    for (int64_t n = 0; n < key_heads(p); n++) {
        const int64_t channel = (int64_t)(draw(seed, n, 1) % (uint64_t)p->D);
        const int64_t row = (int64_t)(draw(seed, n, 2) % (uint64_t)rows[of]);
        ((float *)tensors[of].data)[(n * rows[of] + row) * p->D + channel] = 40000;
        for (int64_t i = 0; i < rows[other]; i++)
            ((float *)tensors[other].data)[(n * rows[other] + i) * p->D + channel] = 0;
    }
    return KG_OK;
}

/* Beside it the rest is small in every code whose step goes by the largest. */
int sdpa_change_outlier_v(const void *data, const void *problem, uint64_t seed, const kg_tensor *tensors,
                          kg_error *ret_error)
{
    const struct sdpa *p = problem;
    int status = check_output(tensors, 20000, ret_error);
    (void)data;
    for (int64_t n = 0; n < key_heads(p) && !status; n++) {
        const uint64_t at = draw(seed, n, 1) % (uint64_t)(sdpa_kv_length(p) * p->D);
        key_row(p, &tensors[SDPA_V], n, 0)[at] = 20000;
    }
    return status;
}

/* ---- keys that some queries do not see ----------------------------------------------------------------------- */

/* Keys from here on change; queries that see none of them keep their outputs. */
static int64_t kept_keys(const struct keys *keys)
{
    const struct sdpa *p = keys->p;
    const int64_t seen = keys->view ? sdpa_kv_length(p) : sdpa_visible_keys(p, p->S - 1), kept = seen * 2 / 3;
    return kept % 16 == 0 ? kept + 1 : kept;
}

static bool keeps_output(const struct keys *keys, int64_t key_head, int64_t row)
{
    const int64_t visible = keys_count(keys, key_head, row);
    return visible == 0 || keys_nth(keys, key_head, row, visible - 1) < kept_keys(keys);
}

static bool any_keeps_output(const struct keys *keys)
{
    bool any = false;
    for (int64_t row = 0; row < keys->p->S && !any; row++)
        any = keeps_output(keys, 0, row);
    return any;
}

int sdpa_change_hidden(const void *data, const void *problem, uint64_t seed, const kg_tensor *tensors,
                       kg_error *ret_error)
{
    const struct sdpa *p = problem;
    const int64_t Skv = sdpa_kv_length(p);
    struct keys keys;
    (void)seed;
    if (p->dtype == KG_E4M3 || coded_output(tensors))
        return kg_fail(ret_error, KG_EUNSUPPORTED, "scales of 8-bit codes span hidden keys");
    int status = keys_open(p, ((const struct sdpa_hidden *)data)->view, &keys, ret_error);
    if (status)
        return status;
    const int64_t kept = kept_keys(&keys);
    const bool any = kept < Skv && any_keeps_output(&keys);
    keys_close(&keys);
    if (!any)
        return kg_fail(ret_error, KG_EUNSUPPORTED, "no query has hidden keys");
    for (int64_t n = 0; n < key_heads(p); n++) {
        multiply(key_row(p, &tensors[SDPA_K], n, kept), (Skv - kept) * p->D, 50);
        for (int64_t i = 0; i < (Skv - kept) * p->D; i++)
            key_row(p, &tensors[SDPA_V], n, kept)[i] = 1000;
    }
    return KG_OK;
}

int sdpa_same_hidden(const void *data, const void *problem, uint64_t seed, const kg_tensor *tensors,
                     kg_error *ret_error)
{
    const struct sdpa *p = problem;
    struct keys keys;
    (void)seed;
    int status = keys_open(p, ((const struct sdpa_hidden *)data)->view, &keys, ret_error);
    if (status)
        return status;
#pragma omp parallel for
    for (int64_t n = 0; n < key_heads(p); n++)
        for (int64_t row = 0; row < query_rows_of_key_head(p); row++) {
            const bool keeps = keeps_output(&keys, n, row);
            for (int64_t d = 0; d < p->D && keeps; d++)
                query_row(p, &tensors[SDPA_O], n, row)[d] = 1;
        }
    keys_close(&keys);
    return KG_OK;
}

const kg_regime sdpa_regimes[SDPA_REGIMES] = { SDPA_REGIME_ROWS(NULL) };
