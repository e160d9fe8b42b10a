/* absent.c -- what stands for the backends that this build lacks: their cases are listed, and skipped aloud. Which
 * there are says the list in kernels/meson.build. */
#include "backends.h"

static int supports(const kg_backend *self, const kg_device *device, const void *problem, kg_error *ret_error)
{
    (void)self, (void)device, (void)problem;
#ifdef KG_WITH_CUDA
    return kg_fail(ret_error, KG_EUNSUPPORTED,
                   "this build has no cuDNN backends (configure with -Dcudnn=enabled where cudnn.h is installed)");
#else
    return kg_fail(ret_error, KG_EUNSUPPORTED, "this build has no CUDA backends (configure with -Dcuda=enabled)");
#endif
}

static int launch(const kg_backend *self, void *state, const kg_tensor *tensors, void *stream, kg_error *ret_error)
{
    (void)state, (void)tensors, (void)stream;
    return supports(self, NULL, NULL, ret_error);
}

/* clang-format off */
#define ABSENT(symbol, its_name, is_untimed)                                                                           \
    const kg_backend symbol = { .name = its_name, .help = "not in this build", .device = KG_CUDA,                      \
                                .untimed = is_untimed, .supports = supports, .launch = launch };
/* clang-format on */
#ifndef KG_WITH_CUDA
CUDA_BACKENDS(ABSENT)
#endif
CUDNN_BACKENDS(ABSENT)
