/* pathology.c -- what the pathology backends share: which problems they take, and the launch. Which there are stands in
 * pathology.h.
 */
#include "pathology/pathology.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>

#include <cuda_runtime_api.h>

#include "op/sdpa.h"

#define MAX_HEADS 65535 /* the second side of a grid */

int pathology_supports(const kg_backend *self, const kg_device *device, const void *problem, kg_error *ret_error)
{
    const struct sdpa *p = problem;
    if (device->cc_major < 8)
        return kg_fail(ret_error, KG_EUNSUPPORTED, "%s needs compute capability 8.0, here %d.%d", self->name,
                       device->cc_major, device->cc_minor);
    if (p->dtype != KG_F16 || p->D != PATHOLOGY_D || p->causal)
        return kg_fail(ret_error, KG_EUNSUPPORTED, "%s takes f16, D %d and no mask", self->name, PATHOLOGY_D);
    if (!(sdpa_scale(p) > 0))
        return kg_fail(ret_error, KG_EUNSUPPORTED, "%s needs a scale above 0", self->name);
    if (p->B * p->H > MAX_HEADS || p->S > INT_MAX / 2 || sdpa_kv_length(p) > INT_MAX / 2)
        return kg_fail(ret_error, KG_EUNSUPPORTED, "%s takes at most %d heads and fewer than 2^30 rows", self->name,
                       MAX_HEADS);
    return KG_OK;
}

int pathology_prepare(const kg_backend *self, const kg_call *call, void **ret_state, kg_identity *ret_identity,
                      kg_error *ret_error)
{
    const struct pathology_variant *variant = self->data;
    const struct sdpa *problem = call->problem;
    (void)ret_identity; /* the kernel's hash says it all */
    cudaError_t status = (cudaError_t)variant->load();
    if (status == cudaErrorNoKernelImageForDevice || status == cudaErrorInvalidDeviceFunction)
        return kg_fail(ret_error, KG_EUNSUPPORTED, "this build has no %s kernel for this device", self->name);
    if (status != cudaSuccess)
        return kg_fail(ret_error, KG_EDEVICE, "%s: %s", self->name, cudaGetErrorString(status));
    struct pathology_args *args = calloc(1, sizeof *args);
    if (!args)
        return kg_fail(ret_error, KG_ENOMEM, "no memory for the state of %s", self->name);
    args->heads = (int)(problem->B * problem->H);
    args->group = (int)(problem->H / sdpa_kv_heads(problem));
    args->S = (int)problem->S;
    args->Skv = (int)sdpa_kv_length(problem);
    args->scale_log2 = (float)(sdpa_scale(problem) * M_LOG2E);
    *ret_state = args;
    return KG_OK;
}

int pathology_launch(const kg_backend *self, void *state, const kg_tensor *tensors, void *stream, kg_error *ret_error)
{
    const struct pathology_variant *variant = self->data;
    struct pathology_args args = *(const struct pathology_args *)state;
    args.q = tensors[SDPA_Q].data;
    args.k = tensors[SDPA_K].data;
    args.v = tensors[SDPA_V].data;
    args.o = tensors[SDPA_O].data;
    cudaError_t status = (cudaError_t)variant->enqueue(&args, stream);
    if (status != cudaSuccess)
        return kg_fail(ret_error, KG_EDEVICE, "%s: %s", self->name, cudaGetErrorString(status));
    return KG_OK;
}

void pathology_release(const kg_backend *self, void *state)
{
    (void)self;
    free(state);
}
