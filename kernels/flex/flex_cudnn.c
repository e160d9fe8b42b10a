/* flex_cudnn.c -- backend `cudnn` of problems with modifiers: those whose only one is the causal mask. */
#include "cudnn/cudnn_sdpa.h"
#include "flex/flex.h"
#include "flex/modifiers.h"

static int supports(const kg_backend *self, const kg_device *device, const void *problem, kg_error *ret_error)
{
    const struct flex *p = problem;
    bool others = false;
#define OTHER(name, has) others = others || (FLEX_NUMBER_##name != FLEX_NUMBER_causal && (has));
    FLEX_SCORES(OTHER)
    FLEX_MASKS(OTHER)
#undef OTHER
    if (others)
        return kg_fail(ret_error, KG_EUNSUPPORTED, "cuDNN's graph here has the causal mask, and no other modifier");
    return cudnn_sdpa_supports(self, device, problem, ret_error);
}

const kg_backend flex_cudnn = {
    .name = "cudnn",
    .help = "cuDNN's fused attention, for rows without modifiers but the causal mask",
    .supports = supports,
    CUDNN_FIRST,
};
