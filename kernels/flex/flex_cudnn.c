/* flex_cudnn.c -- backend `cudnn` of problems with modifiers: of those that cuDNN's graph can express. */
#include "cudnn/cudnn_sdpa.h"
#include "flex/flex.h"
#include "flex/modifiers.h"

#define EXPRESSIBLE                                                                                                    \
    (1u << FLEX_NUMBER_cap | 1u << FLEX_NUMBER_alibi | 1u << FLEX_NUMBER_sliding | 1u << FLEX_NUMBER_causal)

static int supports(const kg_backend *self, const kg_device *device, const void *problem, kg_error *ret_error)
{
    const struct flex *p = problem;
#define EXPRESS(name, has)                                                                                             \
    if ((has) && !(EXPRESSIBLE >> FLEX_NUMBER_##name & 1))                                                             \
        return kg_fail(ret_error, KG_EUNSUPPORTED, "cuDNN's graph has no %s", #name);
    FLEX_SCORES(EXPRESS)
    FLEX_MASKS(EXPRESS)
#undef EXPRESS
    if (p->sliding && (p->attention.bottom_right || p->attention.S >= sdpa_kv_length(&p->attention) + p->window))
        return kg_fail(ret_error, KG_EUNSUPPORTED,
                       "cuDNN's sliding window is for queries that all see a key, aligned as the causal mask is");
    return cudnn_sdpa_supports(self, device, problem, ret_error);
}

static struct cudnn_modifiers modifiers(const void *problem)
{
    const struct flex *p = problem;
    return (struct cudnn_modifiers){ .cap = p->cap ? (float)p->softcap : 0,
                                     .window = p->sliding ? (int32_t)p->window : 0,
                                     .slopes = p->alibi ? flex_array_place(p, FLEX_SLOPES) : 0,
                                     .workspace = flex_tensor_count(p) };
}

const kg_backend flex_cudnn = {
    .name = "cudnn",
    .help =
        "cuDNN's fused attention, for rows with a soft cap, ALiBi, windows and causal masks, as far as it takes them",
    .supports = supports,
    .data = &(const struct cudnn_variant){ .name = "first", .n_plans = 1, .modifiers = modifiers },
    CUDNN_BACKEND,
};
