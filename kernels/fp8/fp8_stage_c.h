/* fp8_stage_c.h -- between the stage-C backends (fp8_stage_c.c), the list of their variants (fp8_variants.c) and their
 * kernels (fp8_stage_c.cu). Start with fp8_variants.c: it says what there is. */
#ifndef FP8_STAGE_C_H
#define FP8_STAGE_C_H

#include <stdint.h>

#include "fp8/fp8_encode.h"
#include "op/sdpa.h"

#ifdef __cplusplus
extern "C" {
#endif

#define STAGE_C_D 64    /* head dimension */
#define STAGE_C_TILE 32 /* query rows of a block, and keys of a step */

/* What block 0 of a debug_print build saw of its first row, in the order of the computation. */
struct stage_c_trace {
    uint32_t steps;
    float q_scale, k_scale, v_scale;
    float q[4], k[4]; /* first values, as they are multiplied */
    float scores[4];  /* of the first step, in powers of two */
    float row_max, row_sum;
    float o[4];
};

/* By value to the kernel. Codes [B, H, S or Skv, D]; scales [B, H]. */
struct stage_c_args {
    const uint8_t *q, *k, *v;
    const float *q_scale, *k_scale, *v_scale;
    void *o; /* FP16 [B, H, S, D] */
    int B, H, S, Skv;
    float scale_log2;            /* the problem's scale * log2(e): the softmax works in powers of two */
    struct stage_c_trace *trace; /* debug_print builds alone read it */
};

/* Enqueues on a cudaStream_t and returns a cudaError_t. */
typedef int stage_c_enqueue_fn(const struct stage_c_args *args, void *stream);

#ifdef __cplusplus
}
#else

/* A compiled kernel and the encoder that goes with it; .data of its backend. */
struct stage_c_variant {
    stage_c_enqueue_fn *enqueue;
    fp8_encode_fn *encode;
    bool traces; /* compiled with DEBUG_PRINT: what it saw goes to the run's log */
};

int stage_c_supports(const kg_backend *self, const kg_device *device, const void *problem, kg_error *ret_error);
int stage_c_prepare(const kg_backend *self, const kg_call *call, void **ret_state, kg_identity *ret_identity,
                    kg_error *ret_error);
size_t stage_c_workspace(const kg_backend *self, const void *state);
int stage_c_stage(const kg_backend *self, void *state, const kg_tensor *tensors, void *stream, kg_error *ret_error);
int stage_c_launch(const kg_backend *self, void *state, const kg_tensor *tensors, void *stream, kg_error *ret_error);
void stage_c_release(const kg_backend *self, void *state);

/* clang-format off */
#define STAGE_C_BACKEND                                                                                                \
    .device = KG_CUDA, .supports = stage_c_supports, .prepare = stage_c_prepare, .workspace = stage_c_workspace,       \
    .stage = stage_c_stage, .launch = stage_c_launch, .release = stage_c_release
/* clang-format on */

#endif

#endif
