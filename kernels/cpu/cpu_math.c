/* cpu_math.c -- attention on the CPU by plain loops: a whole row of scores, its softmax, then the sum over V.
 *
 * The anchor of the CPU rows: what makes it faster or slower moves their ratios, and wants a bless. Speed goes into
 * cpu_flash.c.
 */
#include "op/cpu_keys.h"
#include "op/cpu_rows.h"
#include "op/half.h"
#include "op/sdpa_error.h"

#include <math.h>

struct state {
    struct cpu_rows rows;
    float keys[];
};

static int prepare(const kg_backend *self, const kg_call *call, void **ret_state, kg_identity *ret_identity,
                   kg_error *ret_error)
{
    const size_t bytes = cpu_keys_of(call->problem).floats * sizeof(float);
    (void)ret_identity;
    return cpu_rows_new(self, call, call->problem, sizeof(struct state) + bytes, ret_state, ret_error);
}

static void attend_row(const struct sdpa *p, const kg_tensor *tensors, const float *keys, int64_t row, float *weights)
{
    const int64_t D = p->D, head = cpu_rows_head(p, row), visible = sdpa_visible_keys(p, row % p->S);
    float *sums = weights + whole_vectors(sdpa_kv_length(p)), *q = sums + D;
    half_load_row(&tensors[SDPA_Q], row * D, D, 1, q);
    cpu_keys_scores(p, keys, head, q, (float)sdpa_scale(p), visible, weights);
    const float row_sum = cpu_rows_softmax(visible, weights);
    cpu_keys_values(p, keys, head, weights, visible, sums);
    half_store_row(&tensors[SDPA_O], row * D, D, sums, visible > 0 ? 1 / row_sum : 0);
}

static int launch(const kg_backend *self, void *opaque, const kg_tensor *tensors, void *stream, kg_error *ret_error)
{
    (void)self, (void)stream, (void)ret_error;
    struct state *state = opaque;
    const struct sdpa *p = &state->rows.problem;
    const int64_t rows = p->B * p->H * p->S;
    cpu_keys_load(p, tensors, state->keys);
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
