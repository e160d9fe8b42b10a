/* cpu_fp8.h -- what the backends for 8-bit codes on the CPU are made of, so that wrong ones can be made of it too
 * (tests/modules/broken_fp8.c, broken_fp8_tensor.c): stage_c's have a scale a head, cpu_fp8 one a tensor. */
#ifndef CPU_FP8_H
#define CPU_FP8_H

#include <math.h>

#include "fp8/fp8_codec.h"
#include "op/cpu_keys.h"
#include "op/cpu_rows.h"
#include "op/half.h"
#include "op/sdpa_fp8.h"

/* codes[i] = code(x[i] / scale), i < count, by the scale of the largest magnitude; returns the scale. The GPU's coders
 * are in fp8_encode.h. */
static inline __attribute__((always_inline)) float cpu_fp8_encode(uint8_t (*code)(float scaled), const uint16_t *x,
                                                                  int64_t count, uint8_t *codes)
{
    float largest = 0;
#pragma omp simd reduction(max : largest)
    for (int64_t i = 0; i < count; i++) {
        const float size = fabsf(float_from_f16(x[i]));
        largest = size > largest ? size : largest;
    }
    float scale = fp8_scale(largest);
#pragma omp simd
    for (int64_t i = 0; i < count; i++)
        codes[i] = code(float_from_f16(x[i]) / scale);
    return scale;
}

/* An encoder by one code function. */
#define CPU_FP8_ENCODER(name, code)                                                                                    \
    AVX2_TOO static float name(const uint16_t *x, int64_t count, uint8_t *codes)                                       \
    {                                                                                                                  \
        return cpu_fp8_encode(code, x, count, codes);                                                                  \
    }

/* What codes of K and V stand for, as cpu_keys_load has them: decoded once a launch, not with every query. To be freed;
 * NULL: no memory. */
static inline float *cpu_fp8_keys(const struct sdpa *p, const float values[256], const uint8_t *k, const uint8_t *v)
{
    const struct cpu_keys of = cpu_keys_of(p);
    float *keys = calloc(of.floats, sizeof *keys), *rows = keys;
    if (!keys)
        return NULL;
    rows += of.of_k;
    for (size_t i = 0; i < of.floats - of.of_k; i++)
        rows[i] = values[k[i]];
    by_columns(rows, of.heads, sdpa_kv_length(p), p->D, keys);
    for (size_t i = 0; i < of.floats - of.of_k; i++)
        rows[i] = values[v[i]];
    return keys;
}

int cpu_fp8_prepare(const kg_backend *self, const kg_call *call, void **ret_state, kg_identity *ret_identity,
                    kg_error *ret_error);
size_t cpu_fp8_workspace(const kg_backend *self, const void *state);
int cpu_fp8_stage(const kg_backend *self, void *state, const kg_tensor *tensors, void *stream, kg_error *ret_error);
int cpu_fp8_launch(const kg_backend *self, void *state, const kg_tensor *tensors, void *stream, kg_error *ret_error);

/* .data of a stage-C backend. See fp8_codec.h. */
struct fp8_codec {
    float (*encode)(const uint16_t *x, int64_t count, uint8_t *codes);
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

/* clang-format off */
#define CPU_STAGE_C_BACKEND                                                                                            \
    .device = KG_CPU, .untimed = true, .supports = cpu_stage_c_supports, .prepare = cpu_stage_c_prepare,               \
    .workspace = cpu_stage_c_workspace, .stage = cpu_stage_c_stage, .launch = cpu_stage_c_launch,                      \
    .release = cpu_rows_release
/* clang-format on */

#endif
