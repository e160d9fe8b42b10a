/* fp8_stage_c.c -- what the stage-C backends share: Q, K and V are coded once a buffer set, outside of timing; a launch
 * reads the codes and scales alone. Which variants there are stands in fp8_variants.c.
 */
#include "fp8/fp8_stage_c.h"

#include <stdlib.h>

#include <cuda_runtime_api.h>

#include "fp8/fp8_layout.h"
#include "op/sdpa_cuda.h"

struct stage_c_state {
    const kg_host *host;
    struct sdpa problem;
    struct fp8_layout layout;
    struct stage_c_trace *trace; /* debug_print: host memory that the kernel writes; else NULL */
};

int stage_c_supports(const kg_backend *self, const kg_device *device, const void *problem, kg_error *ret_error)
{
    int status = sdpa_cuda_supports(self, device, ret_error);
    return status == KG_OK ? fp8_contract(self->name, problem, ret_error) : status;
}

int stage_c_prepare(const kg_backend *self, const kg_call *call, void **ret_state, kg_identity *ret_identity,
                    kg_error *ret_error)
{
    const struct stage_c_variant *variant = self->data;
    struct stage_c_state *state = calloc(1, sizeof *state);
    if (!state)
        return kg_fail(ret_error, KG_ENOMEM, "no memory for the state of %s", self->name);
    state->host = call->host;
    state->problem = *(const struct sdpa *)call->problem;
    state->layout = fp8_layout_of(&state->problem);
    if (variant->traces) {
        cudaError_t status = cudaHostAlloc((void **)&state->trace, sizeof *state->trace, cudaHostAllocMapped);
        if (status != cudaSuccess) {
            free(state);
            return sdpa_cuda_check(self, status, ret_error);
        }
        *state->trace = (struct stage_c_trace){ 0 };
    }
    snprintf(ret_identity->text, sizeof ret_identity->text, "%s", self->toggles ? self->toggles : "");
    *ret_state = state;
    return KG_OK;
}

size_t stage_c_workspace(const kg_backend *self, const void *state)
{
    (void)self;
    return ((const struct stage_c_state *)state)->layout.bytes;
}

int stage_c_stage(const kg_backend *self, void *state, const kg_tensor *tensors, void *stream, kg_error *ret_error)
{
    const struct stage_c_variant *variant = self->data;
    const struct fp8_layout *layout = &((const struct stage_c_state *)state)->layout;
    for (int t = SDPA_Q; t < SDPA_O; t++) {
        const struct fp8_encode_args args = {
            .x = tensors[t].data,
            .codes = fp8_codes(layout, tensors, t),
            .scales = fp8_scales(layout, tensors, t),
            .length = layout->lengths[t],
            .heads = (int)layout->heads,
        };
        cudaError_t status = (cudaError_t)variant->encode(&args, stream);
        if (status == cudaErrorNoKernelImageForDevice || status == cudaErrorInvalidDeviceFunction)
            return kg_fail(ret_error, KG_EUNSUPPORTED, "this build has no %s kernel for this device", self->name);
        if (status != cudaSuccess)
            return kg_fail(ret_error, KG_EDEVICE, "%s, coding: %s", self->name, cudaGetErrorString(status));
    }
    return KG_OK;
}

int stage_c_launch(const kg_backend *self, void *opaque, const kg_tensor *tensors, void *stream, kg_error *ret_error)
{
    const struct stage_c_variant *variant = self->data;
    const struct stage_c_state *state = opaque;
    const struct sdpa *problem = &state->problem;
    const struct fp8_layout *layout = &state->layout;
    const struct stage_c_args args = {
        .q = fp8_codes(layout, tensors, SDPA_Q),
        .k = fp8_codes(layout, tensors, SDPA_K),
        .v = fp8_codes(layout, tensors, SDPA_V),
        .q_scale = fp8_scales(layout, tensors, SDPA_Q),
        .k_scale = fp8_scales(layout, tensors, SDPA_K),
        .v_scale = fp8_scales(layout, tensors, SDPA_V),
        .o = tensors[SDPA_O].data,
        .B = (int)problem->B,
        .H = (int)problem->H,
        .S = (int)problem->S,
        .Skv = (int)sdpa_kv_length(problem),
        .scale_log2 = sdpa_scale_log2(problem),
        .trace = state->trace,
    };
    return sdpa_cuda_check(self, variant->enqueue(&args, stream), ret_error);
}

static void log_trace(const kg_host *host, const char *name, const char *shape, const struct stage_c_trace *t)
{
    host->log(host, "%s, %s: head 0, query 0, %u tiles of keys, scales %g %g %g", name, shape, t->steps,
              (double)t->q_scale, (double)t->k_scale, (double)t->v_scale);
    host->log(host, "%s, %s: q %g %g %g %g, k %g %g %g %g", name, shape, (double)t->q[0], (double)t->q[1],
              (double)t->q[2], (double)t->q[3], (double)t->k[0], (double)t->k[1], (double)t->k[2], (double)t->k[3]);
    host->log(host, "%s, %s: scores %g %g %g %g, row max %g, row sum %g, o %g %g %g %g", name, shape,
              (double)t->scores[0], (double)t->scores[1], (double)t->scores[2], (double)t->scores[3],
              (double)t->row_max, (double)t->row_sum, (double)t->o[0], (double)t->o[1], (double)t->o[2],
              (double)t->o[3]);
}

/* A launch must be capturable, so it leaves what it saw in host memory; here all launches are over. */
void stage_c_release(const kg_backend *self, void *opaque)
{
    struct stage_c_state *state = opaque;
    if (state && state->trace) {
        if (cudaDeviceSynchronize() == cudaSuccess && state->trace->steps)
            log_trace(state->host, self->name, state->problem.name, state->trace);
        (void)cudaFreeHost(state->trace);
    }
    free(state);
}
