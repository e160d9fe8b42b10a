/* cpu_math.c -- attention on the CPU by plain loops: a whole row of scores, its softmax, then the sum over V.
 *
 * The anchor of the CPU rows: it stays as it is, so that their ratios keep a meaning. Speed goes into cpu_flash.c.
 */
#include "op/half.h"
#include "op/sdpa.h"
#include "op/threads.h"

#include <math.h>
#include <stdlib.h>

struct state {
    struct sdpa problem;
    int n_threads;
    int64_t scratch; /* floats of one thread: a score for each key, then the row's sums */
    float *all;
};

static int prepare(const kg_backend *self, const kg_call *call, void **ret_state, kg_identity *ret_identity,
                   kg_error *ret_error)
{
    (void)self, (void)ret_identity;
    const struct sdpa *p = call->problem;
    struct state *state = calloc(1, sizeof *state);
    if (!state)
        goto no_memory;
    state->problem = *p;
    state->n_threads = threads_for(call->device->units, sdpa_forward.flops(call->problem));
    state->scratch = sdpa_kv_length(p) + p->D;
    state->all = calloc((size_t)(state->n_threads * state->scratch), sizeof *state->all);
    if (!state->all)
        goto no_memory;
    *ret_state = state;
    return KG_OK;
no_memory:
    free(state);
    return kg_fail(ret_error, KG_ENOMEM, "no memory for the score rows");
}

static float element(const kg_tensor *tensor, int64_t index)
{
    uint16_t half = ((const uint16_t *)tensor->data)[index];
    return tensor->dtype == KG_BF16 ? float_from_bf16(half) : float_from_f16(half);
}

static void attend_row(const struct sdpa *p, const kg_tensor *tensors, int64_t row, float *weights, float *sums)
{
    int64_t D = p->D, Hkv = sdpa_kv_heads(p), Skv = sdpa_kv_length(p);
    int64_t i = row % p->S, h = row / p->S % p->H, b = row / p->S / p->H;
    int64_t first_key = (b * Hkv + h / (p->H / Hkv)) * Skv;
    int64_t visible = p->causal && i + 1 < Skv ? i + 1 : Skv;
    float scale = (float)sdpa_scale(p), largest = -INFINITY, total = 0;

    for (int64_t j = 0; j < visible; j++) {
        float dot = 0;
        for (int64_t d = 0; d < D; d++)
            dot += element(&tensors[SDPA_Q], row * D + d) * element(&tensors[SDPA_K], (first_key + j) * D + d);
        weights[j] = scale * dot;
        largest = fmaxf(largest, weights[j]);
    }
    for (int64_t d = 0; d < D; d++)
        sums[d] = 0;
    for (int64_t j = 0; j < visible; j++) {
        float weight = expf(weights[j] - largest);
        total += weight;
        for (int64_t d = 0; d < D; d++)
            sums[d] += weight * element(&tensors[SDPA_V], (first_key + j) * D + d);
    }
    half_store_row(&tensors[SDPA_O], row * D, D, sums, visible > 0 ? 1 / total : 0);
}

static int launch(const kg_backend *self, void *opaque, const kg_tensor *tensors, void *stream, kg_error *ret_error)
{
    (void)self, (void)stream, (void)ret_error;
    const struct state *state = opaque;
    const struct sdpa *p = &state->problem;
    int64_t rows = p->B * p->H * p->S;
#pragma omp parallel for num_threads(state->n_threads)
    for (int64_t row = 0; row < rows; row++) {
        float *weights = state->all + thread_index() * state->scratch;
        attend_row(p, tensors, row, weights, weights + sdpa_kv_length(p));
    }
    return KG_OK;
}

static void release(const kg_backend *self, void *opaque)
{
    (void)self;
    struct state *state = opaque;
    if (!state)
        return;
    free(state->all);
    free(state);
}

const kg_backend cpu_math = {
    .name = "cpu_math",
    .help = "plain loops, whole score rows",
    .device = KG_CPU,
    .prepare = prepare,
    .launch = launch,
    .release = release,
};
