/* module.c -- the root of the attention module: what the runner finds when it loads attention.so.
 *
 * A new suite is one line below; the build writes kg_build.h and, with CUDA, kg_kernels.h.
 */
#include "kg_build.h"
#include "suites.h"

#ifndef KG_WITH_CUDA
#define KG_WITH_CUDA 0
#endif

#if KG_WITH_CUDA
#include "kg_kernels.h"
#endif

static const kg_suite *const suites[] = {
    &cudnn_sdpa, &attention_matrix, &sdpa_parity, &fa_s512, &fp8_sdpa, &fp8_sdpa_e4m3, &fp8_cudnn, &pathology,
};

const struct kg_module kg_module = {
    KG_MODULE_SIZES,
    .name = "attention",
    .git_sha = KG_GIT_SHA,
    .git_dirty = KG_GIT_DIRTY,
    .flags = KG_BUILD_FLAGS,
    .suites = suites,
    .n_suites = sizeof suites / sizeof *suites,
#if KG_WITH_CUDA
    .kernels = kg_kernels,
    .n_kernels = KG_KERNEL_COUNT,
#endif
};
