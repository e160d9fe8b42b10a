/* cpu_math.c -- attention on the CPU by plain loops: a whole row of scores, its softmax, then the sum over V.
 *
 * The anchor of the CPU rows: what makes it faster or slower moves their ratios, and wants a bless. Speed goes into
 * cpu_flash.c.
 */
#include "op/cpu_rows.h"
#include "op/half.h"
#include "op/sdpa_error.h"

#include <math.h>

struct state {
    struct cpu_rows rows;
    float keys[]; /* K, then V */
};

static int prepare(const kg_backend *self, const kg_call *call, void **ret_state, kg_identity *ret_identity,
                   kg_error *ret_error)
{
    const size_t keys = 2 * (size_t)kg_tensor_count(&call->tensors[SDPA_K]);
    (void)ret_identity;
    return cpu_rows_new(self, call, call->problem, sizeof(struct state) + keys * sizeof(float), ret_state, ret_error);
}

AVX2_TOO static void attend_row(const struct sdpa *p, const kg_tensor *tensors, const float *keys, int64_t row,
                                float *weights)
{
    int64_t D = p->D, Hkv = sdpa_kv_heads(p), Skv = sdpa_kv_length(p);
    int64_t i = row % p->S, h = row / p->S % p->H, b = row / p->S / p->H;
    int64_t first_key = (b * Hkv + h / sdpa_group(p)) * Skv;
    int64_t visible = sdpa_visible_keys(p, i);
    const float *k = keys + first_key * D, *v = k + kg_tensor_count(&tensors[SDPA_K]);
    float *sums = weights + Skv, scale = (float)sdpa_scale(p), row_max = -INFINITY, row_sum = 0;

    half_load_row(&tensors[SDPA_Q], row * D, D, 1, sums);
    for (int64_t j = 0; j < visible; j++) {
        float dot = 0;
#pragma omp simd reduction(+ : dot)
        for (int64_t d = 0; d < D; d++)
            dot += sums[d] * k[j * D + d];
        weights[j] = scale * dot;
        row_max = weights[j] > row_max ? weights[j] : row_max;
    }
    for (int64_t d = 0; d < D; d++)
        sums[d] = 0;
    for (int64_t j = 0; j < visible; j++) {
        float weight = expf(weights[j] - row_max);
        row_sum += weight;
#pragma omp simd
        for (int64_t d = 0; d < D; d++)
            sums[d] += weight * v[j * D + d];
    }
    half_store_row(&tensors[SDPA_O], row * D, D, sums, visible > 0 ? 1 / row_sum : 0);
}

static int launch(const kg_backend *self, void *opaque, const kg_tensor *tensors, void *stream, kg_error *ret_error)
{
    (void)self, (void)stream, (void)ret_error;
    struct state *state = opaque;
    const struct sdpa *p = &state->rows.problem;
    const int64_t rows = p->B * p->H * p->S, keys = kg_tensor_count(&tensors[SDPA_K]);
    half_load_row(&tensors[SDPA_K], 0, keys, 1, state->keys);
    half_load_row(&tensors[SDPA_V], 0, keys, 1, state->keys + keys);
#pragma omp parallel for num_threads(state->rows.n_threads)
    for (int64_t row = 0; row < rows; row++)
        attend_row(p, tensors, state->keys, row, cpu_rows_own(&state->rows));
    return KG_OK;
}

const kg_backend cpu_math = {
    .name = "cpu_math",
    .help = "plain loops, whole score rows",
    .device = KG_CPU,
    .prepare = prepare,
    .launch = launch,
    .arithmetic = &sdpa_fp32_weights,
    .release = cpu_rows_release,
};
