/* fa_v3.c -- backends `fa_v3_ROWSxCOLS`, the slow kernel of fa_v3.cu in three tiles, and `fa_v3_repaired`.
 *
 * A new one: a line at the end, in fa_v3.h, sdpa.h, no_cuda.c and suites/fa_s512.c.
 */
#include <limits.h>
#include <math.h>
#include <stdlib.h>

#include <cuda_runtime_api.h>

#include "fused/fa_v3.h"
#include "op/sdpa.h"

/* .data of a backend. */
struct fa_v3_variant {
    fa_v3_find_fn *find;
    int rows;       /* query rows of a block */
    int length_max; /* of queries and of keys */
};

struct fa_v3_state {
    struct fa_v3_args args;
    const void *kernel;
    dim3 blocks;
};

static int supports(const kg_backend *self, const kg_device *device, const void *problem, kg_error *ret_error)
{
    const struct fa_v3_variant *variant = self->data;
    const struct sdpa *sdpa = problem;
    if (sdpa->dtype != KG_F16 || sdpa->D != FA_V3_D)
        return kg_fail(ret_error, KG_EUNSUPPORTED, "%s takes f16 with D %d", self->name, FA_V3_D);
    if (device->cc_major < 8)
        return kg_fail(ret_error, KG_EUNSUPPORTED, "%s needs compute capability 8.0, here %d.%d", self->name,
                       device->cc_major, device->cc_minor);
    if (sdpa->S > variant->length_max || sdpa_kv_length(sdpa) > variant->length_max)
        return kg_fail(ret_error, KG_EUNSUPPORTED, "%s takes at most %d queries and keys", self->name,
                       variant->length_max);
    return KG_OK;
}

static int prepare(const kg_backend *self, const kg_call *call, void **ret_state, kg_identity *ret_identity,
                   kg_error *ret_error)
{
    (void)ret_identity;
    const struct fa_v3_variant *variant = self->data;
    const struct sdpa *problem = call->problem;
    struct cudaFuncAttributes attributes;
    cudaError_t status = cudaFuncGetAttributes(&attributes, variant->find());
    (void)cudaGetLastError(); /* reported here, so not again by the next launch */
    if (status == cudaErrorNoKernelImageForDevice || status == cudaErrorInvalidDeviceFunction)
        return kg_fail(ret_error, KG_EUNSUPPORTED, "this build has no %s kernel for compute capability %d.%d",
                       self->name, call->device->cc_major, call->device->cc_minor);
    if (status != cudaSuccess)
        return kg_fail(ret_error, KG_EDEVICE, "%s: %s", self->name, cudaGetErrorString(status));

    struct fa_v3_state *state = calloc(1, sizeof *state);
    if (!state)
        return kg_fail(ret_error, KG_ENOMEM, "no memory for the state of %s", self->name);
    state->kernel = variant->find();
    state->blocks = (dim3){ (unsigned)((problem->S + variant->rows - 1) / variant->rows), (unsigned)problem->H,
                            (unsigned)problem->B };
    state->args = (struct fa_v3_args){
        .B = (int)problem->B,
        .H = (int)problem->H,
        .S = (int)problem->S,
        .Skv = (int)sdpa_kv_length(problem),
        .group = (int)(problem->H / sdpa_kv_heads(problem)),
        .causal = problem->causal,
        .scale_log2 = (float)(sdpa_scale(problem) * M_LOG2E),
    };
    *ret_state = state;
    return KG_OK;
}

static int launch(const kg_backend *self, void *state, const kg_tensor *tensors, void *stream, kg_error *ret_error)
{
    const struct fa_v3_state *v3 = state;
    struct fa_v3_args args = v3->args;
    args.q = tensors[SDPA_Q].data;
    args.k = tensors[SDPA_K].data;
    args.v = tensors[SDPA_V].data;
    args.o = tensors[SDPA_O].data;
    void *list[] = { &args };
    const dim3 threads = { FA_V3_THREADS, 1, 1 };
    cudaError_t status = cudaLaunchKernel(v3->kernel, v3->blocks, threads, list, 0, stream);
    cudaError_t last = cudaGetLastError();
    status = status != cudaSuccess ? status : last;
    if (status != cudaSuccess)
        return kg_fail(ret_error, KG_EDEVICE, "%s: %s", self->name, cudaGetErrorString(status));
    return KG_OK;
}

static void release(const kg_backend *self, void *state)
{
    (void)self;
    free(state);
}

#define VARIANT(id, its_rows, its_length_max, its_toggles, its_help)                                                   \
    const kg_backend fa_v3_##id = { .name = "fa_v3_" #id,                                                              \
                                    .help = its_help,                                                                  \
                                    .device = KG_CUDA,                                                                 \
                                    .data =                                                                            \
                                        &(const struct fa_v3_variant){ fa_v3_find_##id, its_rows, its_length_max },    \
                                    .toggles = its_toggles,                                                            \
                                    .supports = supports,                                                              \
                                    .prepare = prepare,                                                                \
                                    .launch = launch,                                                                  \
                                    .release = release }

/* The slow kernel was for 512. With 1024 keys a call would take half a second on a small GPU, and tell nothing
 * more. */
VARIANT(32x64, 32, 512, "rows=32,cols=64", "slow on purpose: rows in local memory, scalar products");
VARIANT(32x32, 32, 512, "rows=32,cols=32", "the same, 32 keys a step");
VARIANT(48x64, 48, 512, "rows=48,cols=64", "the same, 48 rows on 32 threads");
VARIANT(repaired, 32, INT_MAX / 2, "rows=32,cols=64", "the same tiles, repaired: WMMA, nothing in local memory");
