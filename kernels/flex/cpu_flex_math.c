/* cpu_flex_math.c -- attention with modifiers on the CPU by plain loops: a whole row of scores, each modified or
 * hidden, its softmax, then the sum over V. The anchor of the CPU rows, as cpu_math.c is.
 */
#include "flex/flex.h"
#include "flex/modifiers.h"
#include "op/cpu_rows.h"
#include "op/half.h"
#include "op/sdpa_error.h"

struct state {
    struct cpu_rows rows; /* first: cpu_rows_new's */
    const struct flex *problem;
    float keys[]; /* K, then V */
};

static int prepare(const kg_backend *self, const kg_call *call, void **ret_state, kg_identity *ret_identity,
                   kg_error *ret_error)
{
    const struct flex *p = call->problem;
    const size_t keys = 2 * (size_t)kg_tensor_count(&call->tensors[SDPA_K]), bytes = keys * sizeof(float);
    (void)ret_identity;
    int status = cpu_rows_new(self, call, &p->attention, sizeof(struct state) + bytes, ret_state, ret_error);
    if (!status)
        ((struct state *)*ret_state)->problem = p;
    return status;
}

static float dot(const float *a, const float *b, int64_t D)
{
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t d = 0; d < D; d++)
        sum += a[d] * b[d];
    return sum;
}

AVX2_TOO static void attend_row(const struct sdpa *p, const struct flex_aux *aux, const kg_tensor *tensors,
                                const float *keys, int64_t row, float *weights)
{
    const int64_t D = p->D, Skv = sdpa_kv_length(p);
    const int q = (int)(row % p->S), h = (int)(row / p->S % p->H), b = (int)(row / p->S / p->H);
    const int64_t first_key = (b * sdpa_kv_heads(p) + h / sdpa_group(p)) * Skv;
    const float *k = keys + first_key * D, *v = k + kg_tensor_count(&tensors[SDPA_K]);
    float *sums = weights + Skv, scale = (float)sdpa_scale(p), row_max = -INFINITY, row_sum = 0;

    half_load_row(&tensors[SDPA_Q], row * D, D, scale, sums);
    for (int64_t j = 0; j < Skv; j++) {
        weights[j] = -INFINITY;
        if (!flex_mask(b, h, q, (int)j, aux))
            continue;
        weights[j] = flex_score(dot(sums, k + j * D, D), b, h, q, (int)j, aux);
        row_max = weights[j] > row_max ? weights[j] : row_max;
    }
    for (int64_t d = 0; d < D; d++)
        sums[d] = 0;
    for (int64_t j = 0; j < Skv; j++) {
        if (weights[j] == -INFINITY)
            continue;
        const float weight = expf(weights[j] - row_max);
        row_sum += weight;
#pragma omp simd
        for (int64_t d = 0; d < D; d++)
            sums[d] += weight * v[j * D + d];
    }
    half_store_row(&tensors[SDPA_O], row * D, D, sums, row_sum == 0 ? 0 : 1 / row_sum);
}

static int launch(const kg_backend *self, void *opaque, const kg_tensor *tensors, void *stream, kg_error *ret_error)
{
    (void)self, (void)stream, (void)ret_error;
    struct state *state = opaque;
    const struct sdpa *p = &state->rows.problem;
    const struct flex_aux aux = flex_aux_of(state->problem, tensors);
    const int64_t rows = p->B * p->H * p->S, keys = kg_tensor_count(&tensors[SDPA_K]);
    half_load_row(&tensors[SDPA_K], 0, keys, 1, state->keys);
    half_load_row(&tensors[SDPA_V], 0, keys, 1, state->keys + keys);
#pragma omp parallel for num_threads(state->rows.n_threads)
    for (int64_t row = 0; row < rows; row++)
        attend_row(p, &aux, tensors, state->keys, row, cpu_rows_own(&state->rows));
    return KG_OK;
}

const kg_backend cpu_flex_math = {
    .name = "cpu_math",
    .help = "plain loops, whole score rows",
    .device = KG_CPU,
    .prepare = prepare,
    .launch = launch,
    .arithmetic = &sdpa_fp32_weights,
    .release = cpu_rows_release,
};
