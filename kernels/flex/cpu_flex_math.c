/* cpu_flex_math.c -- attention with modifiers on the CPU by plain loops: a whole row of scores, each modified or
 * hidden, its softmax, then the sum over V. The anchor of the CPU rows, as cpu_math.c is.
 */
#include "flex/flex.h"
#include "flex/modifiers.h"
#include "op/cpu_keys.h"
#include "op/cpu_rows.h"
#include "op/half.h"
#include "op/sdpa_error.h"

struct state {
    struct cpu_rows rows; /* first: cpu_rows_new's */
    const struct flex *problem;
    float keys[];
};

static int prepare(const kg_backend *self, const kg_call *call, void **ret_state, kg_identity *ret_identity,
                   kg_error *ret_error)
{
    const struct flex *p = call->problem;
    const size_t bytes = cpu_keys_of(&p->attention).floats * sizeof(float);
    (void)ret_identity;
    int status = cpu_rows_new(self, call, &p->attention, sizeof(struct state) + bytes, ret_state, ret_error);
    if (!status)
        ((struct state *)*ret_state)->problem = p;
    return status;
}

static void attend_row(const struct sdpa *p, const struct flex_aux *aux, const kg_tensor *tensors, const float *keys,
                       int64_t row, float *weights)
{
    const int64_t D = p->D, Skv = sdpa_kv_length(p), head = cpu_rows_head(p, row);
    const int i = (int)(row % p->S), h = (int)(row / p->S % p->H), b = (int)(row / p->S / p->H);
    float *sums = weights + whole_vectors(Skv), *q = sums + D;
    half_load_row(&tensors[SDPA_Q], row * D, D, 1, q);
    cpu_keys_scores(p, keys, head, q, (float)sdpa_scale(p), Skv, weights);
    for (int64_t j = 0; j < Skv; j++) {
        const bool seen = flex_mask(b, h, i, (int)j, aux);
        weights[j] = seen ? flex_score(weights[j], b, h, i, (int)j, aux) : -INFINITY;
    }
    const float row_sum = cpu_rows_softmax(Skv, weights);
    cpu_keys_values(p, keys, head, weights, Skv, sums);
    half_store_row(&tensors[SDPA_O], row * D, D, sums, row_sum == 0 ? 0 : 1 / row_sum);
}

static int launch(const kg_backend *self, void *opaque, const kg_tensor *tensors, void *stream, kg_error *ret_error)
{
    (void)self, (void)stream, (void)ret_error;
    struct state *state = opaque;
    const struct sdpa *p = &state->rows.problem;
    const struct flex_aux aux = flex_aux_of(state->problem, tensors);
    const int64_t rows = p->B * p->H * p->S;
    cpu_keys_load(p, tensors, state->keys);
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
