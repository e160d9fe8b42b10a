/* flex_cuda.c -- tiles, states and launches of the fused kernels with modifiers. `stage` makes the block mask in a
 * set's workspace: it hangs on nothing but given inputs.
 */
#include "flex/flex_cuda.h"

#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>

#include <cuda_runtime_api.h>

#include "flex/modifiers.h"
#include "op/sdpa_cuda.h"

struct state {
    const struct flex *problem;
    struct flex_kernels kernels;
    struct flex_args args; /* but for pointers */
    unsigned masks;        /* block masks: one for a batch, or one for a head */
    bool early;            /* launches may begin while the one before ends */
};

const kg_field flex_knob_fields[1] = {
    { .name = "tile",
      .offset = offsetof(struct flex_knobs, tile),
      .type = KG_CHOICE,
      .fallback = FLEX_TILE_BY_TABLE,
      .choices = flex_tile_names,
      .help = "query rows of a block of threads" },
};

const char *const flex_tile_names[FLEX_TILE_IDS + 1] = { "table", "64_split2", "64", "128", NULL };

int flex_cuda_supports(const kg_backend *self, const kg_device *device, const void *problem, kg_error *ret_error)
{
    const struct sdpa *p = problem;
    if (p->D != 64 && p->D != 128)
        return kg_fail(ret_error, KG_EUNSUPPORTED, "%s is made for D 64 and 128, here %lld", self->name,
                       (long long)p->D);
    if (!(sdpa_scale(p) > 0))
        return kg_fail(ret_error, KG_EUNSUPPORTED, "%s needs a scale above 0", self->name);
    if (p->S > 65535 * FLEX_TILE || p->B * p->H > INT_MAX)
        return kg_fail(ret_error, KG_EUNSUPPORTED,
                       "%s takes fewer than 2^31 heads, of up to 65535 tiles: what a grid counts", self->name);
    return sdpa_cuda_supports(self, device, ret_error);
}

static int64_t ceil_div(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

/* Larger tiles read shared memory half as often, where blocks admit them and they fill the device. Where not even small
 * ones do, more warps share rows, if these see more than a few blocks. */
enum flex_tile_id flex_tile_of(const struct flex *p, const kg_device *device, const struct flex_knobs *knobs)
{
    if (knobs->tile)
        return (enum flex_tile_id)knobs->tile;
    const int64_t heads = p->attention.B * p->attention.H, S = p->attention.S;
    if (heads * ceil_div(S, 64) <= 2 * device->units && !p->sliding && !p->document)
        return FLEX_TILE_64_SPLIT2;
    return p->block_size % 128 == 0 && heads * ceil_div(S, 128) >= 2 * device->units ? FLEX_TILE_128 : FLEX_TILE_64;
}

/* Either divides the heads. A grid's third dimension counts no more than 65535 chunks. */
static int head_chunk(const struct flex *p, const kg_device *device)
{
    const struct sdpa *a = &p->attention;
    const int64_t kv_heads = a->B * sdpa_kv_heads(a);
    const int64_t kv_bytes = 2 * kv_heads * sdpa_kv_length(a) * a->D * (int64_t)kg_dtype_bytes(a->dtype);
    return (int)(kv_bytes <= (int64_t)(device->l2_bytes / 2) || kv_heads > 65535 ? a->B * a->H : sdpa_group(a));
}

static struct flex_args args_of(const struct flex *p, const kg_device *device, const struct flex_kernels *kernels)
{
    const struct sdpa *a = &p->attention;
    struct flex_args args = {
        .flash = { .S = (int)a->S,
                   .Skv = (int)sdpa_kv_length(a),
                   .heads = (int)(a->B * a->H),
                   .group = (int)sdpa_group(a),
                   .tiles = (int)ceil_div(a->S, kernels->rows),
                   .head_chunk = head_chunk(p, device),
                   .scale_log2 = sdpa_scale_log2(a) },
        .scale = (float)sdpa_scale(a),
        .H = (int)a->H,
        .block_size = (int)p->block_size,
        .mask_heads = 1,
        .rows = (int)ceil_div(a->S, p->block_size),
        .columns = (int)ceil_div(sdpa_kv_length(a), p->block_size),
        .by_heads = flex_divisor_of((int)a->H),
        .by_group = flex_divisor_of((int)sdpa_group(a)),
        .by_block_size = flex_divisor_of((int)p->block_size),
    };
    return args;
}

/* Not of masks that leave a tile work by its place: blocks that come early find other partners than the grid's order
 * gives them. */
static bool begins_early(const struct flex *p, const kg_device *device)
{
    return device->cc_major >= 9 && (p->document || p->sliding || !(p->attention.causal || p->prefix));
}

/* Of a launch that fits the device at once no multiprocessor shall take more than its share of blocks: those that come
 * early would crowd where the launch before ended first. */
static size_t shared_bytes_of(const struct state *state, const kg_device *device)
{
    const int64_t blocks = (int64_t)state->args.flash.tiles * state->args.flash.heads;
    const size_t share = (size_t)ceil_div(blocks, device->units), bytes = state->kernels.shared_bytes;
    const size_t crowd = device->shared_bytes / (share + 1) + 1024; /* share + 1 blocks of so many do not fit */
    return state->early && crowd > bytes ? crowd : bytes;
}

/* As much as there is: problems that share the kernel ask for more or less. */
static int allow_shared(const kg_backend *self, const kg_device *device, const void *kernel, kg_error *ret_error)
{
    const cudaError_t allowed =
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)device->shared_bytes);
    (void)cudaGetLastError(); /* it is reported here, so not again by the next launch */
    if (allowed == cudaErrorNoKernelImageForDevice || allowed == cudaErrorInvalidDeviceFunction)
        return kg_fail(ret_error, KG_EUNSUPPORTED, "this build has no %s kernel for compute capability %d.%d",
                       self->name, device->cc_major, device->cc_minor);
    return sdpa_cuda_check(self, allowed, ret_error);
}

int flex_cuda_prepare(const kg_backend *self, const kg_call *call, const struct flex_kernels *kernels, void **ret_state,
                      kg_error *ret_error)
{
    const struct flex *p = call->problem;
    if (kernels->shared_bytes > call->device->shared_bytes)
        return kg_fail(ret_error, KG_EUNSUPPORTED, "a tile needs %zu bytes of shared memory, the device has %llu",
                       kernels->shared_bytes, (unsigned long long)call->device->shared_bytes);
    if (p->block_size % kernels->rows != 0)
        return kg_fail(ret_error, KG_EUNSUPPORTED, "blocks of %lld are no multiple of a tile of %d rows",
                       (long long)p->block_size, kernels->rows);
    int status = allow_shared(self, call->device, kernels->attend, ret_error);
    if (status)
        return status;
    struct state *state = calloc(1, sizeof *state);
    if (!state)
        return kg_fail(ret_error, KG_ENOMEM, "no memory for the state of %s", self->name);
    *state = (struct state){ .problem = p, .kernels = *kernels, .args = args_of(p, call->device, kernels) };
    if (flex_aux_of(p, call->tensors).uses & FLEX_MASKS_BY_HEAD)
        state->args.mask_heads = state->args.H;
    state->masks = (unsigned)(p->attention.B * state->args.mask_heads);
    if (state->masks > 65535) {
        free(state);
        return kg_fail(ret_error, KG_EUNSUPPORTED, "more than 65535 block masks: a grid's third dimension");
    }
    state->early = begins_early(p, call->device);
    state->kernels.shared_bytes = shared_bytes_of(state, call->device);
    *ret_state = state;
    return KG_OK;
}

/* Behind each other: kinds, counts and lists. */
static size_t blocks_of(const struct state *state)
{
    return (size_t)state->masks * (size_t)state->args.rows * (size_t)state->args.columns;
}

static size_t kinds_bytes(const struct state *state)
{
    return (blocks_of(state) + 255) / 256 * 256;
}

static size_t counts_bytes(const struct state *state)
{
    return ((size_t)state->masks * (size_t)state->args.rows * sizeof(int) + 255) / 256 * 256;
}

size_t flex_cuda_workspace(const kg_backend *self, const void *opaque)
{
    const struct state *state = opaque;
    (void)self;
    return kinds_bytes(state) + counts_bytes(state) + blocks_of(state) * sizeof(int);
}

static struct flex_args with_pointers(const struct state *state, const kg_tensor *tensors)
{
    struct flex_args args = state->args;
    char *workspace = tensors[flex_tensor_count(state->problem)].data;
    args.aux = flex_aux_of(state->problem, tensors);
    args.flash.q = tensors[SDPA_Q].data;
    args.flash.k = tensors[SDPA_K].data;
    args.flash.v = tensors[SDPA_V].data;
    args.flash.o = tensors[SDPA_O].data;
    args.kinds = (unsigned char *)workspace;
    args.counts = (int *)(void *)(workspace + kinds_bytes(state));
    args.lists = (int *)(void *)(workspace + kinds_bytes(state) + counts_bytes(state));
    return args;
}

static int launch_one(const kg_backend *self, const void *function, cudaLaunchConfig_t config, struct flex_args args,
                      kg_error *ret_error)
{
    void *list[] = { &args };
    const cudaError_t status = cudaLaunchKernelExC(&config, function, list);
    const cudaError_t last = cudaGetLastError();
    return sdpa_cuda_check(self, status != cudaSuccess ? status : last, ret_error);
}

/* A launch reads counts and lists before it waits for what stands before it: where that is a kernel, it may still be at
 * work, a memset has ended. That of the kinds, which have served, is there for nothing else. */
int flex_cuda_stage(const kg_backend *self, void *opaque, const kg_tensor *tensors, void *stream, kg_error *ret_error)
{
    const struct state *state = opaque;
    const struct flex_args args = with_pointers(state, tensors);
    const cudaLaunchConfig_t blocks = { .gridDim = { (unsigned)args.columns, (unsigned)args.rows, state->masks },
                                        .blockDim = { FLEX_MASK_THREADS, 1, 1 },
                                        .stream = stream };
    const cudaLaunchConfig_t rows = { .gridDim = { state->masks * (unsigned)args.rows, 1, 1 },
                                      .blockDim = { 32, 1, 1 },
                                      .stream = stream };
    int status = launch_one(self, state->kernels.blocks, blocks, args, ret_error);
    if (!status)
        status = launch_one(self, state->kernels.lists, rows, args, ret_error);
    if (!status)
        status = sdpa_cuda_check(self, cudaMemsetAsync(args.kinds, 0, blocks_of(state), stream), ret_error);
    return status;
}

int flex_cuda_launch(const kg_backend *self, void *opaque, const kg_tensor *tensors, void *stream, kg_error *ret_error)
{
    const struct state *state = opaque;
    const struct flex_args args = with_pointers(state, tensors);
    cudaLaunchAttribute early = { .id = cudaLaunchAttributeProgrammaticStreamSerialization,
                                  .val.programmaticStreamSerializationAllowed = 1 };
    const cudaLaunchConfig_t config = { .gridDim = { (unsigned)args.flash.head_chunk, (unsigned)args.flash.tiles,
                                                     (unsigned)(args.flash.heads / args.flash.head_chunk) },
                                        .blockDim = { (unsigned)state->kernels.threads, 1, 1 },
                                        .dynamicSmemBytes = state->kernels.shared_bytes,
                                        .stream = stream,
                                        .attrs = &early,
                                        .numAttrs = state->early };
    return launch_one(self, state->kernels.attend, config, args, ret_error);
}

void flex_cuda_release(const kg_backend *self, void *opaque)
{
    struct state *state = opaque;
    (void)self;
    for (int i = 0; state && i < 2; i++)
        rtc_unload(&state->kernels.loaded[i]);
    free(state);
}
