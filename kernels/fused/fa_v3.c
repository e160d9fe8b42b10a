/* fa_v3.c -- backends `fa_v3_ROWSxCOLS`, the slow kernel of fa_v3.cu in three tiles, and `fa_v3_repaired`.
 *
 * A new one: a line at the end, and in fa_v3.h, kernels/meson.build and suites/fa_s512.c.
 */
#include <limits.h>

#include "fused/fa_v3.h"
#include "op/sdpa_cuda.h"

/* .data of a backend. */
struct fa_v3_variant {
    fa_v3_find_fn *find;
    int rows;       /* query rows of a block */
    int length_max; /* of queries and of keys */
};

static int supports(const kg_backend *self, const kg_device *device, const void *problem, kg_error *ret_error)
{
    const struct fa_v3_variant *variant = self->data;
    const struct sdpa *sdpa = problem;
    if (sdpa->dtype != KG_F16 || sdpa->D != FA_V3_D)
        return kg_fail(ret_error, KG_EUNSUPPORTED, "%s takes f16 with D %d", self->name, FA_V3_D);
    if (sdpa->bottom_right)
        return kg_fail(ret_error, KG_EUNSUPPORTED, "%s knows causal masks that are aligned top-left alone", self->name);
    if (sdpa->S > variant->length_max || sdpa_kv_length(sdpa) > variant->length_max)
        return kg_fail(ret_error, KG_EUNSUPPORTED, "%s takes at most %d queries and keys", self->name,
                       variant->length_max);
    return sdpa_cuda_supports(self, device, ret_error);
}

static int prepare(const kg_backend *self, const kg_call *call, void **ret_state, kg_identity *ret_identity,
                   kg_error *ret_error)
{
    const struct fa_v3_variant *variant = self->data;
    const struct sdpa *problem = call->problem;
    const struct fa_v3_args args = {
        .B = (int)problem->B,
        .H = (int)problem->H,
        .S = (int)problem->S,
        .Skv = (int)sdpa_kv_length(problem),
        .group = (int)sdpa_group(problem),
        .causal = problem->causal,
        .scale_log2 = sdpa_scale_log2(problem),
    };
    const struct sdpa_cuda_kernel kernel = {
        .function = variant->find(),
        .blocks = { (unsigned)((problem->S + variant->rows - 1) / variant->rows), (unsigned)problem->H,
                    (unsigned)problem->B },
        .threads = FA_V3_THREADS,
    };
    (void)ret_identity; /* the kernel's hash says it all */
    return sdpa_cuda_prepare(self, call, kernel, &args, sizeof args, ret_state, ret_error);
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
                                    .launch = sdpa_cuda_launch,                                                        \
                                    .release = sdpa_cuda_release }

/* The slow kernel was for 512. With 1024 keys a call would take half a second on a small GPU, and tell nothing
 * more. */
VARIANT(32x64, 32, 512, "rows=32,cols=64", "slow on purpose: rows in local memory, scalar products");
VARIANT(32x32, 32, 512, "rows=32,cols=32", "the same, 32 keys a step");
VARIANT(48x64, 48, 512, "rows=48,cols=64", "the same, 48 rows on 32 threads");
VARIANT(repaired, 32, INT_MAX / 2, "rows=32,cols=64", "the same tiles, repaired: WMMA, nothing in local memory");
