/* fa1.c -- backend `fa1`: which problems the kernel of fa1.cu takes, and its launch.
 *
 * Another dtype or head dimension is a line in fa1.cu's fa1_kernel_find and one in supports below.
 */
#include <limits.h>
#include <math.h>
#include <stdlib.h>

#include <cuda_runtime_api.h>

#include "fused/fa1.h"
#include "op/sdpa.h"

struct fa1_state {
    struct fa1_args args;
    const void *kernel;
};

static int64_t tile_count(const struct sdpa *problem)
{
    return (problem->S + FA1_ROWS - 1) / FA1_ROWS;
}

static int supports(const kg_backend *self, const kg_device *device, const void *problem, kg_error *ret_error)
{
    (void)self;
    const struct sdpa *sdpa = problem;
    if (sdpa->dtype != KG_F16 && sdpa->dtype != KG_BF16)
        return kg_fail(ret_error, KG_EUNSUPPORTED, "fa1 takes f16 and bf16");
    if (sdpa->D != 64 && sdpa->D != 128)
        return kg_fail(ret_error, KG_EUNSUPPORTED, "fa1 is compiled for D 64 and 128, here %lld", (long long)sdpa->D);
    if (device->cc_major < 8)
        return kg_fail(ret_error, KG_EUNSUPPORTED, "fa1 needs compute capability 8.0, here %d.%d", device->cc_major,
                       device->cc_minor);
    if (sdpa->B * sdpa->H * tile_count(sdpa) > INT_MAX)
        return kg_fail(ret_error, KG_EUNSUPPORTED, "fa1 takes fewer than 2^31 tiles");
    return KG_OK;
}

static int prepare(const kg_backend *self, const kg_call *call, void **ret_state, kg_identity *ret_identity,
                   kg_error *ret_error)
{
    (void)self;
    (void)ret_identity;
    const struct sdpa *problem = call->problem;
    const void *kernel = fa1_kernel_find((int)problem->D, problem->dtype == KG_BF16);
    cudaError_t status = (cudaError_t)fa1_kernel_check(kernel);
    if (status == cudaErrorNoKernelImageForDevice || status == cudaErrorInvalidDeviceFunction)
        return kg_fail(ret_error, KG_EUNSUPPORTED, "this build has no fa1 kernel for compute capability %d.%d",
                       call->device->cc_major, call->device->cc_minor);
    if (status != cudaSuccess)
        return kg_fail(ret_error, KG_EDEVICE, "fa1: %s", cudaGetErrorString(status));

    struct fa1_state *state = calloc(1, sizeof *state);
    if (!state)
        return kg_fail(ret_error, KG_ENOMEM, "no memory for the state of fa1");
    state->kernel = kernel;
    state->args = (struct fa1_args){
        .S = (int)problem->S,
        .Skv = (int)sdpa_kv_length(problem),
        .heads = (int)(problem->B * problem->H),
        .group = (int)(problem->H / sdpa_kv_heads(problem)),
        .tiles = (int)tile_count(problem),
        .causal = problem->causal,
        .scale_log2 = (float)(sdpa_scale(problem) * M_LOG2E),
    };
    *ret_state = state;
    return KG_OK;
}

static int launch(const kg_backend *self, void *state, const kg_tensor *tensors, void *stream, kg_error *ret_error)
{
    (void)self;
    const struct fa1_state *fa1 = state;
    struct fa1_args args = fa1->args;
    args.q = tensors[SDPA_Q].data;
    args.k = tensors[SDPA_K].data;
    args.v = tensors[SDPA_V].data;
    args.o = tensors[SDPA_O].data;
    cudaError_t status = (cudaError_t)fa1_kernel_launch(fa1->kernel, args, stream);
    if (status != cudaSuccess)
        return kg_fail(ret_error, KG_EDEVICE, "fa1: %s", cudaGetErrorString(status));
    return KG_OK;
}

static void release(const kg_backend *self, void *state)
{
    (void)self;
    free(state);
}

const kg_backend sdpa_fa1 = {
    .name = "fa1",
    .help = "FlashAttention-1 style: WMMA, the output divided anew at every tile of keys",
    .device = KG_CUDA,
    .supports = supports,
    .prepare = prepare,
    .launch = launch,
    .release = release,
};
