/* cpu_fp8.h -- what the backend `cpu_fp8` is made of, so that wrong ones can be made of it
 * (tests/modules/broken_fp8_tensor.c).
 */
#ifndef CPU_FP8_H
#define CPU_FP8_H

#include "op/sdpa_fp8.h"

int cpu_fp8_prepare(const kg_backend *self, const kg_call *call, void **ret_state, kg_identity *ret_identity,
                    kg_error *ret_error);
size_t cpu_fp8_workspace(const kg_backend *self, const void *state);
int cpu_fp8_stage(const kg_backend *self, void *state, const kg_tensor *tensors, void *stream, kg_error *ret_error);
int cpu_fp8_launch(const kg_backend *self, void *state, const kg_tensor *tensors, void *stream, kg_error *ret_error);
void cpu_fp8_release(const kg_backend *self, void *state);

#endif
