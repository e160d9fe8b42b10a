/* flash.c -- backend `flash`: chooses a tile of flash.cu's kernel for the problem.
 *
 * To change what runs for a shape, edit tile_choose below and measure with --knob tile=...; docs/kernels.md has the
 * times behind it.
 */
#include <limits.h>

#include "fused/flash.h"
#include "op/sdpa_cuda.h"

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

static int supports(const kg_backend *self, const kg_device *device, const void *problem, kg_error *ret_error)
{
    const struct sdpa *sdpa = problem;
    if (sdpa->dtype != KG_F16 && sdpa->dtype != KG_BF16)
        return kg_fail(ret_error, KG_EUNSUPPORTED, "flash takes f16 and bf16");
    if (sdpa->D != 64 && sdpa->D != 80 && sdpa->D != 96 && sdpa->D != 128)
        return kg_fail(ret_error, KG_EUNSUPPORTED, "flash is compiled for D 64, 80, 96 and 128, here %lld",
                       (long long)sdpa->D);
    if (!(sdpa_scale(sdpa) > 0))
        return kg_fail(ret_error, KG_EUNSUPPORTED, "flash needs a scale above 0");
    if (sdpa->S > INT_MAX / 2 || sdpa_kv_length(sdpa) > INT_MAX / 2 || sdpa->B * sdpa->H * (sdpa->S / 32 + 1) > INT_MAX)
        return kg_fail(ret_error, KG_EUNSUPPORTED, "flash takes fewer than 2^30 rows a head and 2^31 tiles");
    return sdpa_cuda_supports(self, device, ret_error);
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
    return (int)sdpa_group(problem);
}

static int prepare(const kg_backend *self, const kg_call *call, void **ret_state, kg_identity *ret_identity,
                   kg_error *ret_error)
{
    const struct sdpa *problem = call->problem;
    const struct flash_knobs *knobs = call->knobs;
    enum flash_tile_id tile =
        knobs && knobs->tile ? (enum flash_tile_id)knobs->tile : tile_choose(problem, call->device);
    const struct flash_kernel_info found = flash_kernel_find(tile, (int)problem->D, problem->dtype == KG_BF16);
    (void)ret_identity; /* the kernel's hash says it all */
    if (found.shared_bytes > call->device->shared_bytes)
        return kg_fail(ret_error, KG_EUNSUPPORTED, "tile %s needs %zu bytes of shared memory, the device has %llu",
                       tile_names[tile], found.shared_bytes, (unsigned long long)call->device->shared_bytes);
    const struct flash_args args = {
        .S = (int)problem->S,
        .Skv = (int)sdpa_kv_length(problem),
        .heads = (int)(problem->B * problem->H),
        .group = (int)sdpa_group(problem),
        .tiles = (int)((problem->S + found.rows - 1) / found.rows),
        .head_chunk = head_chunk(problem, call->device),
        .first_keys = (int)sdpa_first_keys(problem),
        .scale_log2 = sdpa_scale_log2(problem),
    };
    const struct sdpa_cuda_kernel kernel = { .function = found.function,
                                             .blocks = { (unsigned)args.tiles * (unsigned)args.heads, 1, 1 },
                                             .threads = found.threads,
                                             .shared_bytes = found.shared_bytes };
    return sdpa_cuda_prepare(self, call, kernel, &args, sizeof args, ret_state, ret_error);
}

const kg_backend sdpa_flash = {
    .name = "flash",
    .help = "fused kernel of this repository, for sm_80 and later",
    .device = KG_CUDA,
    .knobs = KG_LIST(knob_fields),
    .knobs_size = sizeof(struct flash_knobs),
    .supports = supports,
    .prepare = prepare,
    .launch = sdpa_cuda_launch,
    .release = sdpa_cuda_release,
};
