/* fa1.c -- backend `fa1`: which problems the kernel of fa1.cu takes, and what it is given.
 *
 * Another dtype or head dimension is a line in fa1.cu's fa1_kernel_find and one in supports below.
 */
#include <limits.h>

#include "fused/fa1.h"
#include "op/sdpa_cuda.h"

static int64_t tile_count(const struct sdpa *problem)
{
    return (problem->S + FA1_ROWS - 1) / FA1_ROWS;
}

static int supports(const kg_backend *self, const kg_device *device, const void *problem, kg_error *ret_error)
{
    const struct sdpa *sdpa = problem;
    if (sdpa->dtype != KG_F16 && sdpa->dtype != KG_BF16)
        return kg_fail(ret_error, KG_EUNSUPPORTED, "fa1 takes f16 and bf16");
    if (sdpa->D != 64 && sdpa->D != 128)
        return kg_fail(ret_error, KG_EUNSUPPORTED, "fa1 is compiled for D 64 and 128, here %lld", (long long)sdpa->D);
    if (sdpa->bottom_right)
        return kg_fail(ret_error, KG_EUNSUPPORTED, "fa1 knows causal masks that are aligned top-left alone");
    if (sdpa->B * sdpa->H * tile_count(sdpa) > INT_MAX)
        return kg_fail(ret_error, KG_EUNSUPPORTED, "fa1 takes fewer than 2^31 tiles");
    return sdpa_cuda_supports(self, device, ret_error);
}

static int prepare(const kg_backend *self, const kg_call *call, void **ret_state, kg_identity *ret_identity,
                   kg_error *ret_error)
{
    const struct sdpa *problem = call->problem;
    const struct fa1_args args = {
        .S = (int)problem->S,
        .Skv = (int)sdpa_kv_length(problem),
        .heads = (int)(problem->B * problem->H),
        .group = (int)sdpa_group(problem),
        .tiles = (int)tile_count(problem),
        .causal = problem->causal,
        .scale_log2 = sdpa_scale_log2(problem),
    };
    const struct sdpa_cuda_kernel kernel = {
        .function = fa1_kernel_find((int)problem->D, problem->dtype == KG_BF16),
        .blocks = { (unsigned)args.tiles * (unsigned)args.heads, 1, 1 },
        .threads = FA1_ROWS / 16 * 32,
    };
    (void)ret_identity; /* the kernel's hash says it all */
    return sdpa_cuda_prepare(self, call, kernel, &args, sizeof args, ret_state, ret_error);
}

const kg_backend sdpa_fa1 = {
    .name = "fa1",
    .help = "FlashAttention-1 style: WMMA, the output divided anew at every tile of keys",
    .device = KG_CUDA,
    .supports = supports,
    .prepare = prepare,
    .launch = sdpa_cuda_launch,
    .release = sdpa_cuda_release,
};
