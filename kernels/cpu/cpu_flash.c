/* cpu_flash.c -- attention on the CPU in tiles, with an online softmax: scores never leave the cache.
 *
 * A thread takes a tile of query rows of one head and walks over the tiles of its keys. To tune it: --knob tile_q=…
 * and tile_k=…, or the micro-tile below: 4 x 8 floats and their operands fit the 16 vector registers of plain x86-64.
 */
#include "cpu/cpu_flash.h"
#include "op/half.h"
#include "op/sdpa_error.h"
#include "op/threads.h"

#include <math.h>
#include <stdlib.h>

#ifdef __clang__ /* `omp simd` is a wish; where it cannot be had, scalar code is right too */
#pragma clang diagnostic ignored "-Wpass-failed"
#endif

/* Of one thread. Leading dimensions are tile_q and tile_k rounded up to whole micro-tiles, and D. */
struct scratch {
    float *q;       /* [tile_q, D], times scale / ln 2 */
    float *k;       /* [D, tile_k]: transposed, so that both products run along rows */
    float *v;       /* [tile_k, D] */
    float *p;       /* [tile_q, tile_k]: scores, then weights */
    float *o;       /* [tile_q, D] */
    float *row;     /* [D] */
    float *row_max; /* [tile_q]: of the scores so far, in powers of two */
    float *row_sum; /* [tile_q]: of the weights so far */
    float *rescale; /* [tile_q]: what the new tile's maximum leaves of earlier sums */
};

struct state {
    struct sdpa problem;
    struct cpu_flash_knobs knobs;
    const struct cpu_flash_scores *scores; /* NULL: they are not modified */
    void *of;                              /* what its functions get */
    float factor;                          /* on queries */
    int64_t rows, columns;                 /* tile_q and tile_k, rounded up */
    int n_threads;
    struct scratch *scratch;
    float *all;
};

enum { MICRO_ROWS = 4, MICRO_COLUMNS = 8, ALIGN = 64 };

typedef float quad __attribute__((vector_size(16)));

static int64_t min64(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t round_up(int64_t n, int64_t step)
{
    return (n + step - 1) / step * step;
}

static quad load_quad(const float *from)
{
    quad values;
    memcpy(&values, from, sizeof values);
    return values;
}

static void store_quad(float *to, const float *rescale, quad sum)
{
    if (rescale)
        sum += *rescale * load_quad(to);
    memcpy(to, &sum, sizeof sum);
}

/* The micro-tile: 4 rows of A [4, inner] times 8 columns of B [inner, 8]. Each sum stays in a register; compilers
 * reach that for vectors with names, and not for an array of floats. */
AVX2_TOO static void multiply_4x8(int64_t inner, const float *a, int64_t a_stride, const float *b, int64_t b_stride,
                                  float *c, int64_t c_stride, const float *rescale)
{
    const float *a0 = a, *a1 = a + a_stride, *a2 = a + 2 * a_stride, *a3 = a + 3 * a_stride;
    quad s00 = { 0 }, s01 = { 0 }, s10 = { 0 }, s11 = { 0 }, s20 = { 0 }, s21 = { 0 }, s30 = { 0 }, s31 = { 0 };
    for (int64_t l = 0; l < inner; l++) {
        quad left = load_quad(b + l * b_stride), right = load_quad(b + l * b_stride + 4);
        s00 += a0[l] * left, s01 += a0[l] * right;
        s10 += a1[l] * left, s11 += a1[l] * right;
        s20 += a2[l] * left, s21 += a2[l] * right;
        s30 += a3[l] * left, s31 += a3[l] * right;
    }
    quad sums[MICRO_ROWS][2] = { { s00, s01 }, { s10, s11 }, { s20, s21 }, { s30, s31 } };
    for (int r = 0; r < MICRO_ROWS; r++) {
        store_quad(c + r * c_stride, rescale ? rescale + r : NULL, sums[r][0]);
        store_quad(c + r * c_stride + 4, rescale ? rescale + r : NULL, sums[r][1]);
    }
}

/* C = rescale * C + A B, row by row; without `rescale`, C = A B. A [rows, inner], B [inner, columns], rows a multiple
 * of MICRO_ROWS and columns of MICRO_COLUMNS. */
static void multiply(int64_t rows, int64_t columns, int64_t inner, const float *a, int64_t a_stride, const float *b,
                     int64_t b_stride, float *c, int64_t c_stride, const float *rescale)
{
    for (int64_t i = 0; i < rows; i += MICRO_ROWS)
        for (int64_t j = 0; j < columns; j += MICRO_COLUMNS)
            multiply_4x8(inner, a + i * a_stride, a_stride, b + j, b_stride, c + i * c_stride + j, c_stride,
                         rescale ? rescale + i : NULL);
}

/* 2^x for x <= 0, to 2e-7. Below 2^-126 it is 0; NaN stays NaN. */
static inline float power_of_two(float x)
{
    const bool is_zero = x < -126;
    x = is_zero ? 0 : x;
    float shifted = x + 0x1.8p23f; /* the low bits now hold x rounded to an integer */
    float f = x - (shifted - 0x1.8p23f);
    uint32_t exponent = float_bits(shifted) - float_bits(0x1.8p23f) + 127;
    /* Taylor series of 2^f for |f| <= 1/2: the coefficients are (ln 2)^n / n! */
    float y = 1.5403530e-4f;
    y = y * f + 1.3333558e-3f;
    y = y * f + 9.6181291e-3f;
    y = y * f + 5.5504109e-2f;
    y = y * f + 2.4022651e-1f;
    y = y * f + 6.9314718e-1f;
    y = y * f + 1.0f;
    return is_zero ? 0 : y * float_of_bits(exponent << 23);
}

/* Row i of the tile: scores to weights. `visible` keys of this tile count, of `n` that the second product reads; a
 * score of -INFINITY among them is no key's. */
AVX2_TOO static void softmax_row(const struct scratch *s, int64_t i, float *p, int64_t visible, int64_t n)
{
    float row_max = s->row_max[i], tile_sum = 0;
#pragma omp simd reduction(max : row_max)
    for (int64_t j = 0; j < visible; j++)
        row_max = p[j] > row_max ? p[j] : row_max;
    const float base = row_max == -INFINITY ? 0 : row_max; /* a row that has seen no key */
#pragma omp simd reduction(+ : tile_sum)
    for (int64_t j = 0; j < visible; j++) {
        p[j] = p[j] == -INFINITY ? 0 : power_of_two(p[j] - base);
        tile_sum += p[j];
    }
    for (int64_t j = visible; j < n; j++)
        p[j] = 0;
    s->rescale[i] = visible > 0 ? exp2f(s->row_max[i] - base) : 1;
    s->row_sum[i] = s->row_sum[i] * s->rescale[i] + tile_sum;
    s->row_max[i] = row_max;
}

static void load_queries(const struct state *state, const struct scratch *s, const kg_tensor *q, int64_t first,
                         int64_t n)
{
    int64_t D = state->problem.D;
    half_load_row(q, first * D, n * D, state->factor, s->q);
    memset(s->q + n * D, 0, (size_t)((state->rows - n) * D) * sizeof *s->q);
    memset(s->o, 0, (size_t)(state->rows * D) * sizeof *s->o);
    for (int64_t i = 0; i < state->rows; i++) {
        s->row_max[i] = -INFINITY;
        s->row_sum[i] = 0;
    }
}

static void load_keys(const struct state *state, const struct scratch *s, const kg_tensor *tensors, int64_t first,
                      int64_t n)
{
    int64_t D = state->problem.D;
    for (int64_t j = 0; j < n; j++) {
        half_load_row(&tensors[SDPA_K], (first + j) * D, D, 1, s->row);
        for (int64_t d = 0; d < D; d++)
            s->k[d * state->columns + j] = s->row[d];
    }
    half_load_row(&tensors[SDPA_V], first * D, n * D, 1, s->v);
}

/* Queries i0 to i0 + tile_q of head `head` of [B * H]. */
AVX2_TOO static void attend_tile(const struct state *state, const struct scratch *s, const kg_tensor *tensors,
                                 int64_t head, int64_t i0)
{
    const struct sdpa *p = &state->problem;
    int64_t D = p->D, Hkv = sdpa_kv_heads(p), Skv = sdpa_kv_length(p);
    int64_t n_queries = min64(state->knobs.tile_q, p->S - i0);
    int64_t first_key = (head / p->H * Hkv + head % p->H / (p->H / Hkv)) * Skv;
    int64_t visible = sdpa_visible_keys(p, i0 + n_queries - 1); /* to the tile's last query */
    int64_t rows = round_up(n_queries, MICRO_ROWS);

    load_queries(state, s, &tensors[SDPA_Q], head * p->S + i0, n_queries);
    for (int64_t j0 = 0; j0 < visible; j0 += state->knobs.tile_k) {
        int64_t n_keys = min64(state->knobs.tile_k, visible - j0);
        const struct cpu_flash_tile tile = { head, i0, j0, n_queries, n_keys };
        if (state->scores && !state->scores->sees(state->of, &tile))
            continue;
        load_keys(state, s, tensors, first_key + j0, n_keys);
        multiply(rows, round_up(n_keys, MICRO_COLUMNS), D, s->q, D, s->k, state->columns, s->p, state->columns, NULL);
        if (state->scores)
            state->scores->modify(state->of, tensors, &tile, s->p, state->columns);
        for (int64_t i = 0; i < rows; i++) {
            int64_t seen = min64(n_keys, sdpa_visible_keys(p, i0 + i) - j0);
            softmax_row(s, i, s->p + i * state->columns, seen > 0 ? seen : 0, n_keys);
        }
        multiply(rows, D, n_keys, s->p, state->columns, s->v, D, s->o, D, s->rescale);
    }
    for (int64_t i = 0; i < n_queries; i++)
        half_store_row(&tensors[SDPA_O], (head * p->S + i0 + i) * D, D, s->o + i * D,
                       s->row_sum[i] == 0 ? 0 : 1 / s->row_sum[i]);
}

int cpu_flash_launch(const kg_backend *self, void *opaque, const kg_tensor *tensors, void *stream, kg_error *ret_error)
{
    (void)self, (void)stream, (void)ret_error;
    const struct state *state = opaque;
    int64_t heads = state->problem.B * state->problem.H;
    int64_t tiles = (state->problem.S + state->knobs.tile_q - 1) / state->knobs.tile_q;
    /* The last tile first: under a causal mask it is the longest. */
#pragma omp parallel for schedule(dynamic) num_threads(state->n_threads)
    for (int64_t task = 0; task < heads * tiles; task++)
        attend_tile(state, &state->scratch[thread_index()], tensors, task % heads,
                    (tiles - 1 - task / heads) * state->knobs.tile_q);
    return KG_OK;
}

void cpu_flash_release(const kg_backend *self, void *opaque)
{
    (void)self;
    struct state *state = opaque;
    if (!state)
        return;
    if (state->scores)
        state->scores->close(state->of);
    free(state->scratch);
    free(state->all);
    free(state);
}

/* Gives the next `count` floats at *next away, in whole cache lines. With *next NULL it only counts. */
static float *take(float **next, int64_t *used, int64_t count)
{
    float *taken = *next;
    count = round_up(count, ALIGN / (int64_t)sizeof(float));
    *used += count;
    if (taken)
        *next += count;
    return taken;
}

/* Lays one thread's scratch out from `next` on; returns its length in floats. */
static int64_t lay_out(const struct state *state, float *next, struct scratch *ret_scratch)
{
    int64_t used = 0, D = state->problem.D, rows = state->rows, columns = state->columns;
    ret_scratch->q = take(&next, &used, rows * D);
    ret_scratch->k = take(&next, &used, D * columns);
    ret_scratch->v = take(&next, &used, columns * D);
    ret_scratch->p = take(&next, &used, rows * columns);
    ret_scratch->o = take(&next, &used, rows * D);
    ret_scratch->row = take(&next, &used, D);
    ret_scratch->row_max = take(&next, &used, rows);
    ret_scratch->row_sum = take(&next, &used, rows);
    ret_scratch->rescale = take(&next, &used, rows);
    return used;
}

/* Tiles for all threads. */
static int add_scratch(struct state *state, const kg_backend *self, kg_error *ret_error)
{
    state->scratch = calloc((size_t)state->n_threads, sizeof *state->scratch);
    if (!state->scratch)
        return kg_fail(ret_error, KG_ENOMEM, "no memory for the tiles of %s", self->name);
    int64_t one = lay_out(state, NULL, &state->scratch[0]);
    size_t all_bytes = (size_t)(state->n_threads * one) * sizeof *state->all;
    state->all = aligned_alloc(ALIGN, all_bytes);
    if (!state->all)
        return kg_fail(ret_error, KG_ENOMEM, "no memory for the tiles of %s", self->name);
    memset(state->all, 0, all_bytes);
    for (int t = 0; t < state->n_threads; t++)
        (void)lay_out(state, state->all + t * one, &state->scratch[t]);
    return KG_OK;
}

int cpu_flash_prepare(const kg_backend *self, const kg_call *call, void **ret_state, kg_identity *ret_identity,
                      kg_error *ret_error)
{
    (void)ret_identity;
    struct state *state = calloc(1, sizeof *state);
    if (!state)
        return kg_fail(ret_error, KG_ENOMEM, "no memory for the state of %s", self->name);
    state->problem = *(const struct sdpa *)call->problem;
    state->knobs = *(const struct cpu_flash_knobs *)call->knobs;
    state->rows = round_up(state->knobs.tile_q, MICRO_ROWS);
    state->columns = round_up(state->knobs.tile_k, MICRO_COLUMNS);
    state->n_threads = threads_for(call->device->units, sdpa_flops(&state->problem));
    state->factor = (float)(sdpa_scale(&state->problem) * (self->data ? 1 : M_LOG2E));
    int status = add_scratch(state, self, ret_error);
    if (!status && self->data) {
        const struct cpu_flash_scores *scores = self->data;
        status = scores->open(call, &state->of, ret_error);
        state->scores = status ? NULL : scores;
    }
    if (status)
        cpu_flash_release(self, state);
    else
        *ret_state = state;
    return status;
}

const kg_field cpu_flash_knobs[CPU_FLASH_KNOBS] = {
    { .name = "tile_q",
      .offset = offsetof(struct cpu_flash_knobs, tile_q),
      .type = KG_INT,
      .min = 1,
      .max = 256,
      .fallback = 32,
      .help = "query rows of a tile" },
    { .name = "tile_k",
      .offset = offsetof(struct cpu_flash_knobs, tile_k),
      .type = KG_INT,
      .min = 1,
      .max = 1024,
      .fallback = 64,
      .help = "keys of a tile" },
};

int cpu_flash_supports(const kg_backend *self, const kg_device *device, const void *problem, kg_error *ret_error)
{
    const struct sdpa *p = problem;
    (void)device;
    if (p->D % 8 != 0)
        return kg_fail(ret_error, KG_EUNSUPPORTED, "%s takes head dimensions that are multiples of 8, not %lld",
                       self->name, (long long)p->D);
    return KG_OK;
}

const kg_backend cpu_flash = {
    .name = "cpu_flash",
    .help = "tiles, online softmax, vectorised",
    CPU_FLASH,
};
