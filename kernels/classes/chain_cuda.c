/* chain_cuda.c -- the backends of chain.cu. */
#include <cuda_runtime_api.h>

#include "classes/chain.h"

static int enqueue(enum chain_kernel kernel, const struct chain *problem, const kg_tensor *tensors, void *stream,
                   kg_error *ret_error)
{
    int status = chain_launch(kernel, tensors[CHAIN_X].data, tensors[CHAIN_Y].data, problem->n, (int)problem->terms,
                              chain_factor(problem), stream);
    return status ? kg_fail(ret_error, KG_EDEVICE, "chain: %s", cudaGetErrorString((cudaError_t)status)) : KG_OK;
}

static int launch(const kg_backend *self, void *state, const kg_tensor *tensors, void *stream, kg_error *ret_error)
{
    const kg_call *call = state;
    return enqueue(*(const enum chain_kernel *)self->data, call->problem, tensors, stream, ret_error);
}

int chain_reference_cuda(const void *problem, const kg_device *device, const kg_tensor *tensors, void *stream,
                         kg_error *ret_error)
{
    (void)device;
    return enqueue(CHAIN_REFERENCE, problem, tensors, stream, ret_error);
}

const kg_backend chain_fma_cuda = {
    .name = "fma",
    .help = "four elements a thread",
    .device = KG_CUDA,
    .data = &(const enum chain_kernel){ CHAIN_FMA },
    .launch = launch,
};
const kg_backend chain_scalar_cuda = {
    .name = "scalar",
    .help = "anchor: one element a thread",
    .device = KG_CUDA,
    .data = &(const enum chain_kernel){ CHAIN_SCALAR },
    .launch = launch,
};
