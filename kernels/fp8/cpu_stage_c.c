/* cpu_stage_c.c -- attention on 8-bit codes on the CPU: the codecs of the stage-C kernels, tested without a GPU.
 *
 * Inputs are coded once a buffer set, as on the GPU; a launch sees codes and scales. Plain loops, never timed: what it
 * shows is the error of the codes. Another code is a codec below and a backend.
 */
#include "fp8/cpu_fp8.h"
#include "fp8/fp8_layout.h"
#include "op/sdpa_error.h"

struct state {
    struct cpu_rows rows;
    struct fp8_layout layout;
    const struct fp8_codec *codec;
    float values[256]; /* of each code */
};

int cpu_stage_c_supports(const kg_backend *self, const kg_device *device, const void *problem, kg_error *ret_error)
{
    (void)device;
    return fp8_contract(self->name, problem, ret_error);
}

int cpu_stage_c_prepare(const kg_backend *self, const kg_call *call, void **ret_state, kg_identity *ret_identity,
                        kg_error *ret_error)
{
    void *made = NULL;
    int status = cpu_rows_new(self, call, call->problem, sizeof(struct state), &made, ret_error);
    (void)ret_identity;
    if (status != KG_OK)
        return status;
    struct state *state = made;
    state->layout = fp8_layout_of(&state->rows.problem);
    state->codec = self->data;
    for (int code = 0; code < 256; code++)
        state->values[code] = state->codec->value((uint8_t)code);
    *ret_state = state;
    return KG_OK;
}

size_t cpu_stage_c_workspace(const kg_backend *self, const void *state)
{
    (void)self;
    return ((const struct state *)state)->layout.bytes;
}

int cpu_stage_c_stage(const kg_backend *self, void *opaque, const kg_tensor *tensors, void *stream, kg_error *ret_error)
{
    (void)self, (void)stream, (void)ret_error;
    const struct state *state = opaque;
    const struct fp8_layout *layout = &state->layout;
    for (int t = SDPA_Q; t < SDPA_O; t++)
        for (int64_t head = 0; head < layout->heads; head++) {
            int64_t first = head * layout->lengths[t];
            fp8_scales(layout, tensors, t)[head] = state->codec->encode(
                (const uint16_t *)tensors[t].data + first, layout->lengths[t], fp8_codes(layout, tensors, t) + first);
        }
    return KG_OK;
}

/* Row `row` of [B * H * S]. Scores and sums are of values; steps and scales are multiplied in afterwards. */
static void attend_row(const struct state *state, const kg_tensor *tensors, const float *keys, int64_t row,
                       float *weights)
{
    const struct sdpa *p = &state->rows.problem;
    const struct fp8_layout *layout = &state->layout;
    const int64_t D = p->D, Skv = sdpa_kv_length(p), head = row / p->S;
    const float step = state->codec->step;
    const uint8_t *q_codes = fp8_codes(layout, tensors, SDPA_Q) + row * D;
    const float scale = (float)sdpa_scale(p) * (step * fp8_scales(layout, tensors, SDPA_Q)[head]) *
                        (step * fp8_scales(layout, tensors, SDPA_K)[head]);
    float *sums = weights + whole_vectors(Skv), *q = sums + D;

    for (int64_t d = 0; d < D; d++)
        q[d] = state->values[q_codes[d]];
    cpu_keys_scores(p, keys, head, q, scale, Skv, weights);
    const float row_sum = cpu_rows_softmax(Skv, weights);
    cpu_keys_values(p, keys, head, weights, Skv, sums);
    half_store_row(&tensors[SDPA_O], row * D, D, sums, step * fp8_scales(layout, tensors, SDPA_V)[head] / row_sum);
}

int cpu_stage_c_launch(const kg_backend *self, void *opaque, const kg_tensor *tensors, void *stream,
                       kg_error *ret_error)
{
    (void)stream;
    const struct state *state = opaque;
    const struct fp8_layout *layout = &state->layout;
    float *keys = cpu_fp8_keys(&state->rows.problem, state->values, fp8_codes(layout, tensors, SDPA_K),
                               fp8_codes(layout, tensors, SDPA_V));
    int64_t rows = state->rows.problem.B * state->rows.problem.H * state->rows.problem.S;
    if (!keys)
        return kg_fail(ret_error, KG_ENOMEM, "no memory for the keys of %s", self->name);
#pragma omp parallel for num_threads(state->rows.n_threads)
    for (int64_t row = 0; row < rows; row++)
        attend_row(state, tensors, keys, row, cpu_rows_own(&state->rows));
    free(keys);
    return KG_OK;
}

CPU_FP8_ENCODER(encode_linear, fp8_linear_code)
CPU_FP8_ENCODER(encode_e4m3, fp8_e4m3_code)

static const struct fp8_codec linear = { encode_linear, fp8_linear_value, FP8_LINEAR_STEP };
static const struct fp8_codec e4m3 = { encode_e4m3, fp8_e4m3_value, FP8_E4M3_STEP };

const kg_backend cpu_stage_c = { .name = "cpu_stage_c",
                                 .help = "plain loops over linear 8-bit codes; never timed",
                                 .data = &linear,
                                 .toggles = "code=linear",
                                 .arithmetic = &sdpa_linear_codes,
                                 CPU_STAGE_C_BACKEND };

const kg_backend cpu_stage_c_e4m3 = { .name = "cpu_stage_c_e4m3",
                                      .help = "plain loops over e4m3 codes; never timed",
                                      .data = &e4m3,
                                      .toggles = "code=e4m3",
                                      .arithmetic = &sdpa_e4m3_codes,
                                      CPU_STAGE_C_BACKEND };
