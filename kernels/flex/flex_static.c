/* flex_static.c -- backend `flex_static`: the fused kernels of flex_static.cu. */
#include "flex/flex_cuda.h"

static int prepare(const kg_backend *self, const kg_call *call, void **ret_state, kg_identity *ret_identity,
                   kg_error *ret_error)
{
    const struct flex *p = call->problem;
    const enum flex_tile_id tile = flex_tile_of(p, call->device, call->knobs);
    const struct flex_kernels kernels = flex_static_find(tile, (int)p->attention.D, p->attention.dtype == KG_BF16);
    (void)ret_identity; /* the kernel's hash says it all */
    return flex_cuda_prepare(self, call, &kernels, ret_state, ret_error);
}

const kg_backend flex_static = {
    .name = "flex_static",
    .help = "fused kernel with block mask, modifiers compiled before and asked for at run time",
    FLEX_CUDA,
    .prepare = prepare,
};
