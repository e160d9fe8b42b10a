/* cpu_stage_c.h -- what a stage-C backend on the CPU is made of, so that other codecs than the two that ship can be
 * tried (tests/modules/broken_fp8.c tries wrong ones). */
#ifndef CPU_STAGE_C_H
#define CPU_STAGE_C_H

#include "op/sdpa.h"

/* .data of a backend. See fp8_codec.h. */
struct fp8_codec {
    uint8_t (*code)(float scaled);
    float (*value)(uint8_t code); /* in steps */
    float step;
};

int cpu_stage_c_supports(const kg_backend *self, const kg_device *device, const void *problem, kg_error *ret_error);
int cpu_stage_c_prepare(const kg_backend *self, const kg_call *call, void **ret_state, kg_identity *ret_identity,
                        kg_error *ret_error);
size_t cpu_stage_c_workspace(const kg_backend *self, const void *state);
int cpu_stage_c_stage(const kg_backend *self, void *state, const kg_tensor *tensors, void *stream, kg_error *ret_error);
int cpu_stage_c_launch(const kg_backend *self, void *state, const kg_tensor *tensors, void *stream,
                       kg_error *ret_error);
void cpu_stage_c_release(const kg_backend *self, void *state);

/* clang-format off */
#define CPU_STAGE_C_BACKEND                                                                                            \
    .device = KG_CPU, .untimed = true, .supports = cpu_stage_c_supports, .prepare = cpu_stage_c_prepare,               \
    .workspace = cpu_stage_c_workspace, .stage = cpu_stage_c_stage, .launch = cpu_stage_c_launch,                      \
    .release = cpu_stage_c_release
/* clang-format on */

#endif
