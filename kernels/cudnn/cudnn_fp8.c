/* cudnn_fp8.c -- the backend `cudnn_fp8`: attention in e4m3 by NVIDIA's library, the first configuration that its
 * heuristics propose. The graph is in cudnn_fp8_graph.c; what cuDNN refuses becomes a skip with its words.
 *
 * Q, K and V are coded once a buffer set, outside of timing; a launch reads the codes and their scales alone.
 */
#include <cuda_runtime_api.h>
#include <math.h>
#include <stdlib.h>

#include "cudnn/cudnn_common.h"
#include "cudnn/cudnn_fp8_graph.h"
#include "fp8/fp8_encode.h"
#include "op/sdpa_error.h"

/* Numbers on the device that no input changes, 256 bytes apart, and one that a launch writes; then cuDNN's own
 * workspace. Not in the host's workspace, which may hold only what was staged. */
enum own { OWN_S_SCALE, OWN_S_DESCALE, OWN_O_SCALE, OWN_O_LARGEST, OWN_WORKSPACE };

#define OWN_BYTES 256

struct state {
    struct cudnn_plan plan;
    struct sdpa_fp8_layout layout;
    char *own;
    bool causal;
    float scale, hidden; /* every launch reads both through pointers */
};

static int supports(const kg_backend *self, const kg_device *device, const void *problem, kg_error *ret_error)
{
    (void)self;
    if (((const struct sdpa_fp8 *)problem)->attention.bottom_right)
        return kg_fail(ret_error, KG_EUNSUPPORTED, "cudnn_fp8 knows causal masks that are aligned top-left alone");
    if (device->cc_major < 9)
        return kg_fail(ret_error, KG_EUNSUPPORTED,
                       "cuDNN's FP8 attention needs compute capability 9.0, this device has %d.%d", device->cc_major,
                       device->cc_minor);
    return KG_OK;
}

static size_t workspace(const kg_backend *self, const void *state)
{
    (void)self;
    return ((const struct state *)state)->layout.bytes;
}

static int stage(const kg_backend *self, void *opaque, const kg_tensor *tensors, void *stream, kg_error *ret_error)
{
    const struct sdpa_fp8_layout *layout = &((const struct state *)opaque)->layout;
    for (int t = SDPA_Q; t < SDPA_O; t++) {
        const struct fp8_encode_tensor_args args = {
            .x = tensors[t].data,
            .codes = sdpa_fp8_codes(layout, tensors, t),
            .descale = sdpa_fp8_descale(layout, tensors, t),
            .count = layout->counts[t],
        };
        cudaError_t status = (cudaError_t)fp8_encode_tensor(&args, stream);
        if (status == cudaErrorNoKernelImageForDevice || status == cudaErrorInvalidDeviceFunction)
            return kg_fail(ret_error, KG_EUNSUPPORTED, "this build has no coder of inputs for this device");
        if (status != cudaSuccess)
            return kg_fail(ret_error, KG_EDEVICE, "%s, coding: %s", self->name, cudaGetErrorString(status));
    }
    return KG_OK;
}

static int launch(const kg_backend *self, void *opaque, const kg_tensor *tensors, void *stream, kg_error *ret_error)
{
    (void)self;
    const struct state *state = opaque;
    const struct sdpa_fp8_layout *layout = &state->layout;
    const char *own = state->own;
    const struct {
        int64_t id;
        const void *data;
    } bound[] = {
        { cudnn_fp8_id(SDPA_Q), sdpa_fp8_codes(layout, tensors, SDPA_Q) },
        { cudnn_fp8_id(SDPA_K), sdpa_fp8_codes(layout, tensors, SDPA_K) },
        { cudnn_fp8_id(SDPA_V), sdpa_fp8_codes(layout, tensors, SDPA_V) },
        { cudnn_fp8_id(SDPA_O), tensors[SDPA_O].data },
        { CUDNN_FP8_Q_DESCALE, sdpa_fp8_descale(layout, tensors, SDPA_Q) },
        { CUDNN_FP8_K_DESCALE, sdpa_fp8_descale(layout, tensors, SDPA_K) },
        { CUDNN_FP8_V_DESCALE, sdpa_fp8_descale(layout, tensors, SDPA_V) },
        { CUDNN_FP8_S_SCALE, own + OWN_S_SCALE * OWN_BYTES },
        { CUDNN_FP8_S_DESCALE, own + OWN_S_DESCALE * OWN_BYTES },
        { CUDNN_FP8_O_SCALE, own + OWN_O_SCALE * OWN_BYTES },
        { CUDNN_FP8_O_LARGEST, own + OWN_O_LARGEST * OWN_BYTES },
        { CUDNN_FP8_SCALE, &state->scale },
        { CUDNN_FP8_HIDDEN, &state->hidden }, /* last: without a mask no tensor has this id */
    };
    enum { COUNT = sizeof bound / sizeof *bound };
    int64_t ids[COUNT];
    const void *data[COUNT];
    for (int i = 0; i < COUNT; i++) {
        ids[i] = bound[i].id;
        data[i] = bound[i].data;
    }
    return cudnn_plan_execute(&state->plan, ids, data, state->causal ? COUNT : COUNT - 1,
                              state->plan.workspace_bytes > 0 ? own + OWN_WORKSPACE * OWN_BYTES : NULL, stream,
                              ret_error);
}

/* ---- states ------------------------------------------------------------------------------------------------ */

static void release(const kg_backend *self, void *opaque)
{
    (void)self;
    struct state *state = opaque;
    if (!state)
        return;
    cudnn_plan_done(&state->plan);
    (void)cudaFree(state->own);
    free(state);
}

static int choose(const kg_backend *self, const kg_call *call, cudnnBackendDescriptor_t graph,
                  struct cudnn_plan *ret_plan, kg_error *ret_error)
{
    int count = 0, proposed = 0;
    (void)self;
    return cudnn_plans_propose(call->library, graph, 1, ret_plan, &count, &proposed, ret_error);
}

/* The state's memory on the device. The largest magnitude starts at zero: nothing says that a launch sets it back. */
static int own_new(const struct sdpa_fp8 *problem, struct state *state, kg_error *ret_error)
{
    float numbers[OWN_WORKSPACE][OWN_BYTES / sizeof(float)] = { { 0 } };
    numbers[OWN_S_SCALE][0] = SDPA_FP8_S_SCALE;
    numbers[OWN_S_DESCALE][0] = 1 / SDPA_FP8_S_SCALE;
    numbers[OWN_O_SCALE][0] = (float)problem->o_scale;
    size_t bytes = sizeof numbers + (state->plan.workspace_bytes > 0 ? (size_t)state->plan.workspace_bytes : 0);
    cudaError_t status = cudaMalloc((void **)&state->own, bytes);
    if (status == cudaSuccess)
        status = cudaMemcpy(state->own, numbers, sizeof numbers, cudaMemcpyHostToDevice);
    if (status == cudaSuccess)
        status = cudaDeviceSynchronize(); /* a copy from pageable memory may return earlier, and streams do not wait */
    if (status == cudaSuccess)
        return KG_OK;
    (void)cudaGetLastError(); /* running out of memory is not sticky: the next call must not report it again */
    return kg_fail(ret_error, status == cudaErrorMemoryAllocation ? KG_ENOMEM : KG_EDEVICE,
                   "scales and cuDNN's workspace, %zu bytes: %s", bytes, cudaGetErrorString(status));
}

static int prepare(const kg_backend *self, const kg_call *call, void **ret_state, kg_identity *ret_identity,
                   kg_error *ret_error)
{
    const struct sdpa_fp8 *problem = call->problem;
    const struct sdpa *p = &problem->attention;
    struct state *state = calloc(1, sizeof *state);
    if (!state)
        return kg_fail(ret_error, KG_ENOMEM, "out of memory");
    state->layout = sdpa_fp8_layout_of(problem);
    state->causal = p->causal;
    state->scale = (float)sdpa_scale(p);
    state->hidden = -INFINITY;

    kg_identity identity = { 0 };
    const struct cudnn_wanted wanted = { .revision = CUDNN_FP8_REVISION,
                                         .shape = p,
                                         .dtype = "e4m3",
                                         .choice = "first",
                                         .graph = cudnn_fp8_graph,
                                         .choose = choose };
    int status = cudnn_common_plan(self, call, &wanted, &state->plan, &identity, ret_error);
    if (status == KG_OK)
        status = own_new(problem, state, ret_error);
    if (status != KG_OK) {
        release(self, state);
        return status;
    }
    *ret_identity = identity;
    *ret_state = state;
    return KG_OK;
}

/* FP8 tensor cores of sm_90 keep 14 bits of a running sum. */
static const struct sdpa_arithmetic arithmetic = { SDPA_E4M3_TENSOR, SDPA_FP8_WEIGHTS, 0x1p-14 };

const kg_backend cudnn_fp8 = {
    .name = "cudnn_fp8",
    .help = "cuDNN's attention in e4m3, the first configuration its heuristics propose",
    .device = KG_CUDA,
    .supports = supports,
    .open = cudnn_common_open,
    .close = cudnn_common_close,
    .prepare = prepare,
    .workspace = workspace,
    .stage = stage,
    .launch = launch,
    .release = release,
    .arithmetic = &arithmetic,
};
