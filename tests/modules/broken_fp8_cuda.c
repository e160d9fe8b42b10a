/* broken_fp8_cuda.c -- stage-C kernels with a defect compiled in, and zeros, and one that `stage` tells: backends
 * of broken_fp8.c. */
#include <cuda_runtime_api.h>

#include "broken_fp8.h"
#include "fp8/fp8_stage_c.h"
#include "op/sdpa_cuda.h"

fp8_encode_fn mismatched_encode; /* broken_fp8_encode.cu */

#define BACKEND(id, kernel, encoder)                                                                                   \
    stage_c_enqueue_fn kernel##_enqueue;                                                                               \
    const kg_backend id = { .name = #id,                                                                               \
                            .data = &(const struct stage_c_variant){ kernel##_enqueue, encoder, false },               \
                            STAGE_C_BACKEND }

BACKEND(cuda_right, fp8_right, fp8_encode_linear);
BACKEND(cuda_mismatched, fp8_right, mismatched_encode);
BACKEND(cuda_half_table, fp8_half_table, fp8_encode_linear);
BACKEND(cuda_last_early, fp8_last_early, fp8_encode_linear);

static int launch_zero(const kg_backend *self, void *state, const kg_tensor *tensors, void *stream, kg_error *ret_error)
{
    (void)self, (void)state;
    cudaError_t status =
        cudaMemsetAsync(tensors[SDPA_O].data, 0, kg_tensor_bytes(&tensors[SDPA_O]), (cudaStream_t)stream);
    return status == cudaSuccess ? KG_OK : kg_fail(ret_error, KG_EDEVICE, "memset: %s", cudaGetErrorString(status));
}

const kg_backend cuda_zero = { .name = "cuda_zero", .device = KG_CUDA, .launch = launch_zero };

static int stage_told(const kg_backend *self, void *state, const kg_tensor *tensors, void *stream, kg_error *ret_error)
{
    const int status = stage_c_stage(self, state, tensors, stream, ret_error);
    return status ? status : sdpa_cuda_check(self, (cudaError_t)told_stage(stream), ret_error);
}

static int launch_told(const kg_backend *self, void *state, const kg_tensor *tensors, void *stream, kg_error *ret_error)
{
    const int status = sdpa_cuda_check(self, (cudaError_t)told_launch(stream), ret_error);
    return status ? status : stage_c_launch(self, state, tensors, stream, ret_error);
}

const kg_backend cuda_told = {
    .name = "cuda_told",
    .device = KG_CUDA,
    .data = &(const struct stage_c_variant){ fp8_right_enqueue, fp8_encode_linear, false },
    .supports = stage_c_supports,
    .prepare = stage_c_prepare,
    .workspace = stage_c_workspace,
    .stage = stage_told,
    .launch = launch_told,
    .release = stage_c_release,
};
