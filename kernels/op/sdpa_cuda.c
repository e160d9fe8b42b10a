/* sdpa_cuda.c -- preparing and launching the kernel of a backend that is one kernel. */
#include "op/sdpa_cuda.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include <cuda_runtime_api.h>

struct state {
    struct sdpa_cuda_kernel kernel;
    struct {
        const void *q, *k, *v;
        void *o;
        char others[64];
    } args;
};

int sdpa_cuda_supports(const kg_backend *self, const kg_device *device, kg_error *ret_error)
{
    if (device->cc_major >= 8)
        return KG_OK;
    return kg_fail(ret_error, KG_EUNSUPPORTED, "%s needs compute capability 8.0, here %d.%d", self->name,
                   device->cc_major, device->cc_minor);
}

int sdpa_cuda_check(const kg_backend *self, int status, kg_error *ret_error)
{
    if (status == cudaSuccess)
        return KG_OK;
    return kg_fail(ret_error, KG_EDEVICE, "%s: %s", self->name, cudaGetErrorString((cudaError_t)status));
}

int sdpa_cuda_prepare(const kg_backend *self, const kg_call *call, struct sdpa_cuda_kernel kernel, const void *args,
                      size_t size, void **ret_state, kg_error *ret_error)
{
    struct cudaFuncAttributes attributes;
    cudaError_t status = cudaFuncGetAttributes(&attributes, kernel.function);
    if (status == cudaSuccess && kernel.shared_bytes > 0)
        status = cudaFuncSetAttribute(kernel.function, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                      (int)kernel.shared_bytes);
    (void)cudaGetLastError(); /* it is reported here, so not again by the next launch */
    if (status == cudaErrorNoKernelImageForDevice || status == cudaErrorInvalidDeviceFunction)
        return kg_fail(ret_error, KG_EUNSUPPORTED, "this build has no %s kernel for compute capability %d.%d",
                       self->name, call->device->cc_major, call->device->cc_minor);
    if (status != cudaSuccess)
        return sdpa_cuda_check(self, status, ret_error);

    struct state *state = calloc(1, sizeof *state);
    if (!state)
        return kg_fail(ret_error, KG_ENOMEM, "no memory for the state of %s", self->name);
    state->kernel = kernel;
    assert(size <= sizeof state->args);
    memcpy(&state->args, args, size);
    *ret_state = state;
    return KG_OK;
}

int sdpa_cuda_launch(const kg_backend *self, void *opaque, const kg_tensor *tensors, void *stream, kg_error *ret_error)
{
    struct state state = *(const struct state *)opaque;
    const unsigned *blocks = state.kernel.blocks;
    const dim3 grid = { blocks[0], blocks[1], blocks[2] }, threads = { (unsigned)state.kernel.threads, 1, 1 };
    void *list[] = { &state.args };
    state.args.q = tensors[SDPA_Q].data;
    state.args.k = tensors[SDPA_K].data;
    state.args.v = tensors[SDPA_V].data;
    state.args.o = tensors[SDPA_O].data;
    cudaError_t status =
        cudaLaunchKernel(state.kernel.function, grid, threads, list, state.kernel.shared_bytes, stream);
    cudaError_t last = cudaGetLastError();
    return sdpa_cuda_check(self, status != cudaSuccess ? status : last, ret_error);
}

void sdpa_cuda_release(const kg_backend *self, void *state)
{
    (void)self;
    free(state);
}
