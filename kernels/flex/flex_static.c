/* flex_static.c -- backend `flex_static`: the fused kernels of flex_static.cu. */
#include "flex/flex_cuda.h"

static const kg_field knobs[] = {
    { .name = "tile",
      .offset = offsetof(struct flex_knobs, tile),
      .type = KG_CHOICE,
      .fallback = FLEX_TILE_BY_TABLE,
      .choices = flex_tile_names,
      .help = "query rows of a block of threads" },
};

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
    .help = "fused kernel with block mask, modifiers compiled in",
    .device = KG_CUDA,
    .knobs = KG_LIST(knobs),
    .knobs_size = sizeof(struct flex_knobs),
    .supports = flex_cuda_supports,
    .prepare = prepare,
    .workspace = flex_cuda_workspace,
    .stage = flex_cuda_stage,
    .launch = flex_cuda_launch,
    .release = flex_cuda_release,
};
