/* flash.c -- backend `flash`: chooses a tile for the problem and launches the kernel of flash.cu.
 *
 * To change what runs for a shape, edit tile_choose below and measure with --knob tile=...; docs/kernels.md has the
 * times behind it.
 */
#include <limits.h>
#include <math.h>
#include <stdlib.h>

#include <cuda_runtime_api.h>

#include "fused/flash.h"
#include "op/sdpa.h"

struct flash_knobs {
    int tile; /* enum flash_tile_id */
};

static const char *const tile_names[] = { "table", "32_split4", "64_split2", "64", "128", NULL };

static const kg_field knob_fields[] = {
    { .name = "tile",
      .offset = offsetof(struct flash_knobs, tile),
      .type = KG_CHOICE,
      .fallback = FLASH_BY_TABLE,
      .choices = tile_names,
      .help = "query rows of a block, and how many groups of warps share its keys" },
};

struct flash_state {
    struct flash_args args;
    struct flash_kernel_info kernel;
};

static int supports(const kg_backend *self, const kg_device *device, const void *problem, kg_error *ret_error)
{
    (void)self;
    const struct sdpa *sdpa = problem;
    if (sdpa->dtype != KG_F16 && sdpa->dtype != KG_BF16)
        return kg_fail(ret_error, KG_EUNSUPPORTED, "flash takes f16 and bf16");
    if (sdpa->D != 64 && sdpa->D != 80 && sdpa->D != 96 && sdpa->D != 128)
        return kg_fail(ret_error, KG_EUNSUPPORTED, "flash is compiled for D 64, 80, 96 and 128, here %lld",
                       (long long)sdpa->D);
    if (device->cc_major < 8)
        return kg_fail(ret_error, KG_EUNSUPPORTED, "flash needs compute capability 8.0, here %d.%d", device->cc_major,
                       device->cc_minor);
    if (!(sdpa_scale(sdpa) > 0))
        return kg_fail(ret_error, KG_EUNSUPPORTED, "flash needs a scale above 0");
    if (sdpa->S > INT_MAX / 2 || sdpa_kv_length(sdpa) > INT_MAX / 2 || sdpa->B * sdpa->H * (sdpa->S / 32 + 1) > INT_MAX)
        return kg_fail(ret_error, KG_EUNSUPPORTED, "flash takes fewer than 2^30 rows a head and 2^31 tiles");
    return KG_OK;
}

static int64_t tile_count(const struct sdpa *problem, int rows)
{
    return problem->B * problem->H * ((problem->S + rows - 1) / rows);
}

/* Few rows for the device: small tiles, whose keys several groups of warps share. Many: large ones, which read shared
 * memory half as often. A causal mask leaves tiles of unequal length, so smaller ones fill the device for longer. */
static enum flash_tile_id tile_choose(const struct sdpa *problem, const kg_device *device)
{
    int64_t keys = sdpa_kv_length(problem), units = device->units;
    int64_t shared_tiles = keys <= 128 ? 0 : problem->causal && keys >= 1024 ? 2 * units : units;
    if (tile_count(problem, 32) <= shared_tiles)
        return FLASH_32_SPLIT4;
    if (tile_count(problem, 64) <= shared_tiles)
        return FLASH_64_SPLIT2;
    if (tile_count(problem, 128) <= (problem->causal ? 4 * units : units))
        return FLASH_64;
    return FLASH_128;
}

/* All heads at once, the longest tiles of all first, where their keys and values fit half of the last-level cache;
 * else those of one key head at a time, so that its keys are read from memory once. */
static int head_chunk(const struct sdpa *problem, const kg_device *device)
{
    int64_t kv_bytes = 2 * problem->B * sdpa_kv_heads(problem) * sdpa_kv_length(problem) * problem->D *
                       (int64_t)kg_dtype_bytes(problem->dtype);
    if (kv_bytes <= (int64_t)(device->l2_bytes / 2))
        return (int)(problem->B * problem->H);
    return (int)(problem->H / sdpa_kv_heads(problem));
}

static int prepare(const kg_backend *self, const kg_call *call, void **ret_state, kg_identity *ret_identity,
                   kg_error *ret_error)
{
    (void)self;
    (void)ret_identity;
    const struct sdpa *problem = call->problem;
    const struct flash_knobs *knobs = call->knobs;
    enum flash_tile_id tile =
        knobs && knobs->tile ? (enum flash_tile_id)knobs->tile : tile_choose(problem, call->device);
    struct flash_kernel_info kernel = flash_kernel_find(tile, (int)problem->D, problem->dtype == KG_BF16);
    if (kernel.shared_bytes > call->device->shared_bytes)
        return kg_fail(ret_error, KG_EUNSUPPORTED, "tile %s needs %zu bytes of shared memory, the device has %llu",
                       tile_names[tile], kernel.shared_bytes, (unsigned long long)call->device->shared_bytes);
    cudaError_t status = (cudaError_t)flash_kernel_prepare(&kernel);
    if (status == cudaErrorNoKernelImageForDevice || status == cudaErrorInvalidDeviceFunction)
        return kg_fail(ret_error, KG_EUNSUPPORTED, "this build has no flash kernel for compute capability %d.%d",
                       call->device->cc_major, call->device->cc_minor);
    if (status != cudaSuccess)
        return kg_fail(ret_error, KG_EDEVICE, "flash: %s", cudaGetErrorString(status));

    struct flash_state *state = calloc(1, sizeof *state);
    if (!state)
        return kg_fail(ret_error, KG_ENOMEM, "no memory for the state of flash");
    state->kernel = kernel;
    state->args = (struct flash_args){
        .S = (int)problem->S,
        .Skv = (int)sdpa_kv_length(problem),
        .heads = (int)(problem->B * problem->H),
        .group = (int)(problem->H / sdpa_kv_heads(problem)),
        .tiles = (int)((problem->S + kernel.rows - 1) / kernel.rows),
        .head_chunk = head_chunk(problem, call->device),
        .causal = problem->causal,
        .scale_log2 = (float)(sdpa_scale(problem) * M_LOG2E),
    };
    *ret_state = state;
    return KG_OK;
}

static int launch(const kg_backend *self, void *state, const kg_tensor *tensors, void *stream, kg_error *ret_error)
{
    (void)self;
    const struct flash_state *flash = state;
    struct flash_args args = flash->args;
    args.q = tensors[SDPA_Q].data;
    args.k = tensors[SDPA_K].data;
    args.v = tensors[SDPA_V].data;
    args.o = tensors[SDPA_O].data;
    cudaError_t status = (cudaError_t)flash_kernel_launch(&flash->kernel, args, stream);
    if (status != cudaSuccess)
        return kg_fail(ret_error, KG_EDEVICE, "flash: %s", cudaGetErrorString(status));
    return KG_OK;
}

static void release(const kg_backend *self, void *state)
{
    (void)self;
    free(state);
}

const kg_backend sdpa_flash = {
    .name = "flash",
    .help = "fused kernel of this repository, for sm_80 and later",
    .device = KG_CUDA,
    .knobs = KG_LIST(knob_fields),
    .knobs_size = sizeof(struct flash_knobs),
    .supports = supports,
    .prepare = prepare,
    .launch = launch,
    .release = release,
};
