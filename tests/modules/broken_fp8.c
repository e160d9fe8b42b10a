/* broken_fp8.c -- a module of attention on 8-bit codes that is wrong in one way each: the defects that stage-C kernels
 * once had, and that their gates let through. To add one: a backend here or in broken_fp8_cuda.c, and a line in
 * tests/cli/fp8.sh or tests/cuda/fp8.sh. */
#include "broken_fp8.h"

#include <math.h>
#include <string.h>

#include "fp8/cpu_fp8.h"
#include "fp8/fp8_codec.h"
#include "module.h"

static uint8_t mismatched_code(float scaled)
{
    return MISMATCHED_CODE(scaled);
}

/* A table that 128 threads filled: what the other entries hold is whatever lay there. */
static float half_table_value(uint8_t code)
{
    return code < 128 ? fp8_linear_value(code) : 0;
}

static int launch_zero(const kg_backend *self, void *state, const kg_tensor *tensors, void *stream, kg_error *ret_error)
{
    (void)self, (void)state, (void)stream, (void)ret_error;
    memset(tensors[SDPA_O].data, 0, kg_tensor_bytes(&tensors[SDPA_O]));
    return KG_OK;
}

/* Right, but the next launch finds other codes. */
static int launch_spoiling(const kg_backend *self, void *state, const kg_tensor *tensors, void *stream,
                           kg_error *ret_error)
{
    int status = cpu_stage_c_launch(self, state, tensors, stream, ret_error);
    ((uint8_t *)tensors[SDPA_WORKSPACE].data)[0] ^= 1;
    return status;
}

/* Codes one byte more than the workspace holds. */
static int stage_past_the_end(const kg_backend *self, void *state, const kg_tensor *tensors, void *stream,
                              kg_error *ret_error)
{
    int status = cpu_stage_c_stage(self, state, tensors, stream, ret_error);
    ((uint8_t *)tensors[SDPA_WORKSPACE].data)[cpu_stage_c_workspace(self, state)] = 1;
    return status;
}

/* The answer is made outside of timing, and lies behind the codes. */
static kg_tensor answer_of(const kg_backend *self, const void *state, const kg_tensor *tensors)
{
    kg_tensor answer = tensors[SDPA_O];
    answer.data = (char *)tensors[SDPA_WORKSPACE].data + cpu_stage_c_workspace(self, state);
    return answer;
}

static size_t workspace_with_answer(const kg_backend *self, const void *state)
{
    const struct sdpa *p = &((const struct cpu_rows *)state)->problem;
    return cpu_stage_c_workspace(self, state) + (size_t)(p->B * p->H * p->S * p->D) * sizeof(uint16_t);
}

static int stage_answer(const kg_backend *self, void *state, const kg_tensor *tensors, void *stream,
                        kg_error *ret_error)
{
    kg_tensor call[SDPA_WORKSPACE + 1];
    memcpy(call, tensors, sizeof call);
    call[SDPA_O] = answer_of(self, state, tensors);
    int status = cpu_stage_c_stage(self, state, tensors, stream, ret_error);
    return status ? status : cpu_stage_c_launch(self, state, call, stream, ret_error);
}

static int launch_answer(const kg_backend *self, void *state, const kg_tensor *tensors, void *stream,
                         kg_error *ret_error)
{
    (void)stream, (void)ret_error;
    memcpy(tensors[SDPA_O].data, answer_of(self, state, tensors).data, kg_tensor_bytes(&tensors[SDPA_O]));
    return KG_OK;
}

CPU_FP8_ENCODER(encode, fp8_linear_code)
CPU_FP8_ENCODER(encode_mismatched, mismatched_code)

static const struct fp8_codec linear = { encode, fp8_linear_value, FP8_LINEAR_STEP };
static const struct fp8_codec mismatched = { encode_mismatched, fp8_linear_value, FP8_LINEAR_STEP };
static const struct fp8_codec half_table = { encode, half_table_value, FP8_LINEAR_STEP };

static const kg_backend cpu_right = { .name = "cpu_right", .data = &linear, CPU_STAGE_C_BACKEND };
static const kg_backend cpu_mismatched = { .name = "cpu_mismatched", .data = &mismatched, CPU_STAGE_C_BACKEND };
static const kg_backend cpu_half_table = { .name = "cpu_half_table", .data = &half_table, CPU_STAGE_C_BACKEND };
static const kg_backend cpu_zero = { .name = "cpu_zero", .device = KG_CPU, .launch = launch_zero };
static const kg_backend cpu_spoiling = { .name = "cpu_spoiling",
                                         .device = KG_CPU,
                                         .data = &linear,
                                         .prepare = cpu_stage_c_prepare,
                                         .workspace = cpu_stage_c_workspace,
                                         .stage = cpu_stage_c_stage,
                                         .launch = launch_spoiling,
                                         .release = cpu_rows_release };
static const kg_backend cpu_past_the_end = { .name = "cpu_past_the_end",
                                             .device = KG_CPU,
                                             .data = &linear,
                                             .prepare = cpu_stage_c_prepare,
                                             .workspace = cpu_stage_c_workspace,
                                             .stage = stage_past_the_end,
                                             .launch = cpu_stage_c_launch,
                                             .release = cpu_rows_release };

static const kg_backend cpu_ahead = { .name = "cpu_ahead",
                                      .device = KG_CPU,
                                      .data = &linear,
                                      .prepare = cpu_stage_c_prepare,
                                      .workspace = workspace_with_answer,
                                      .stage = stage_answer,
                                      .launch = launch_answer,
                                      .release = cpu_rows_release };

static const kg_backend *const backends[] = {
    &cpu_right,  &cpu_mismatched,  &cpu_half_table,  &cpu_zero,        &cpu_spoiling, &cpu_past_the_end, &cpu_ahead,
#if KG_WITH_CUDA
    &cuda_right, &cuda_mismatched, &cuda_half_table, &cuda_last_early, &cuda_zero,    &cuda_told,
#endif
};

/* s16384: the more keys, the smaller the outputs; zeros are within the task's own three gates there. */
static const struct sdpa shapes[] = {
    { "small", .B = 1, .H = 1, .S = 32, .D = 64, .dtype = KG_E4M3 },
    { "mission", .B = 1, .H = 8, .S = 512, .D = 64, .dtype = KG_E4M3 },
    { "s16384", .B = 1, .H = 1, .S = 32, .Skv = 16384, .D = 64, .dtype = KG_E4M3 }, /* its first queries */
};
static const uint64_t seeds[] = { 0 };

/* They differ in two gates, so that what the task's own let through is seen. */
#define CODES(limit, relative)                                                                                         \
    .op = &sdpa_forward, .shapes = KG_TABLE(shapes), .seeds = KG_LIST(seeds), .backends = KG_LIST(backends),           \
    .gates = { .max_abs = 0.06, .mean_abs = 0.02, .bad_abs = (limit), .bad_pct = 1.0, .rel_l2 = (relative) }

/* Of suites/fp8_sdpa.c. */
static const kg_excuse excuses[] = { { "factor", "*", "hidden by errors of coding from all but a slope" } };
static const kg_suite codes = { .name = "codes", CODES(0.02, 0.05), .excuses = KG_LIST(excuses) };

/* The task's own gates: bad_abs at max_abs' limit, and nothing that looks at the size of the outputs. */
#define EXCUSE(wrong)                                                                                                  \
    {                                                                                                                  \
        wrong, "task_gates", "what these gates let through is shown"                                                   \
    }
static const kg_excuse task_excuses[] = { EXCUSE("zeros"),          EXCUSE("factor"),       EXCUSE("bias"),
                                          EXCUSE("dropped_row"),    EXCUSE("swapped_rows"), EXCUSE("stale_tile"),
                                          EXCUSE("largest_zeroed"), EXCUSE("cut_tail") };
static const kg_suite task_gates = { .name = "task_gates", CODES(0.06, INFINITY), .excuses = KG_LIST(task_excuses) };

static const kg_suite *const suites[] = { &codes, &task_gates };

MODULE_ROOT("broken_fp8");
