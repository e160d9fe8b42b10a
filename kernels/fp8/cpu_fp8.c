/* cpu_fp8.c -- attention on e4m3 codes with a scale a tensor, on the CPU: what a kernel by the contract of sdpa_fp8.h
 * may err, and the suite's gates tested without a GPU.
 *
 * Inputs are coded once a buffer set, as on the GPU; a launch sees codes and scales. Plain loops, never timed. Scores
 * and sums are FP32; weights are coded to e4m3 for the second product, as tensor cores need them, and summed before.
 */
#include "fp8/cpu_fp8.h"

#include "op/sdpa_error.h"

struct state {
    struct cpu_rows rows;
    float o_scale;
    struct sdpa_fp8_layout layout;
    float values[256]; /* of each code */
};

int cpu_fp8_prepare(const kg_backend *self, const kg_call *call, void **ret_state, kg_identity *ret_identity,
                    kg_error *ret_error)
{
    const struct sdpa_fp8 *problem = call->problem;
    void *made = NULL;
    int status = cpu_rows_new(self, call, &problem->attention, sizeof(struct state), &made, ret_error);
    (void)ret_identity;
    if (status != KG_OK)
        return status;
    struct state *state = made;
    state->o_scale = (float)problem->o_scale;
    state->layout = sdpa_fp8_layout_of(problem);
    for (int code = 0; code < 256; code++)
        state->values[code] = fp8_e4m3_value((uint8_t)code);
    *ret_state = state;
    return KG_OK;
}

size_t cpu_fp8_workspace(const kg_backend *self, const void *state)
{
    (void)self;
    return ((const struct state *)state)->layout.bytes;
}

CPU_FP8_ENCODER(encode, fp8_e4m3_code)

int cpu_fp8_stage(const kg_backend *self, void *opaque, const kg_tensor *tensors, void *stream, kg_error *ret_error)
{
    (void)self, (void)stream, (void)ret_error;
    const struct sdpa_fp8_layout *layout = &((const struct state *)opaque)->layout;
    for (int t = SDPA_Q; t < SDPA_O; t++)
        *sdpa_fp8_descale(layout, tensors, t) =
            encode(tensors[t].data, layout->counts[t], sdpa_fp8_codes(layout, tensors, t));
    return KG_OK;
}

/* Row `row` of [B * H * S]. */
static void attend_row(const struct state *state, const kg_tensor *tensors, const float *keys, int64_t row,
                       float *weights)
{
    const struct sdpa *p = &state->rows.problem;
    const struct sdpa_fp8_layout *layout = &state->layout;
    const int64_t D = p->D, head = cpu_rows_head(p, row), visible = sdpa_visible_keys(p, row % p->S);
    const uint8_t *q_codes = sdpa_fp8_codes(layout, tensors, SDPA_Q) + row * D;
    const float scale =
        (float)sdpa_scale(p) * *sdpa_fp8_descale(layout, tensors, SDPA_Q) * *sdpa_fp8_descale(layout, tensors, SDPA_K);
    float *sums = weights + whole_vectors(sdpa_kv_length(p)), *q = sums + D;

    for (int64_t d = 0; d < D; d++)
        q[d] = state->values[q_codes[d]];
    cpu_keys_scores(p, keys, head, q, scale, visible, weights);
    const float row_sum = cpu_rows_softmax(visible, weights);
    for (int64_t j = 0; j < visible; j++)
        weights[j] = state->values[fp8_e4m3_code(weights[j] * SDPA_FP8_S_SCALE)];
    cpu_keys_values(p, keys, head, weights, visible, sums);
    const float unscaled = state->o_scale * *sdpa_fp8_descale(layout, tensors, SDPA_V) / SDPA_FP8_S_SCALE;
    const float factor = visible > 0 ? unscaled / row_sum : 0;
    uint8_t *o = (uint8_t *)tensors[SDPA_O].data + row * D;
    for (int64_t d = 0; d < D; d++)
        o[d] = fp8_e4m3_code(sums[d] * factor);
}

int cpu_fp8_launch(const kg_backend *self, void *opaque, const kg_tensor *tensors, void *stream, kg_error *ret_error)
{
    (void)stream;
    const struct state *state = opaque;
    const struct sdpa *p = &state->rows.problem;
    const struct sdpa_fp8_layout *layout = &state->layout;
    float *keys = cpu_fp8_keys(p, state->values, sdpa_fp8_codes(layout, tensors, SDPA_K),
                               sdpa_fp8_codes(layout, tensors, SDPA_V));
    int64_t rows = p->B * p->H * p->S;
    if (!keys)
        return kg_fail(ret_error, KG_ENOMEM, "no memory for the keys of %s", self->name);
#pragma omp parallel for num_threads(state->rows.n_threads)
    for (int64_t row = 0; row < rows; row++)
        attend_row(state, tensors, keys, row, cpu_rows_own(&state->rows));
    free(keys);
    return KG_OK;
}

static const struct sdpa_arithmetic arithmetic = { SDPA_E4M3_TENSOR, SDPA_FP8_WEIGHTS, SDPA_FP32_SUMS };

const kg_backend cpu_fp8 = {
    .name = "cpu_fp8",
    .help = "plain loops over e4m3 codes with a scale a tensor; never timed",
    .device = KG_CPU,
    .untimed = true,
    .prepare = cpu_fp8_prepare,
    .workspace = cpu_fp8_workspace,
    .stage = cpu_fp8_stage,
    .launch = cpu_fp8_launch,
    .release = cpu_rows_release,
    .arithmetic = &arithmetic,
};
