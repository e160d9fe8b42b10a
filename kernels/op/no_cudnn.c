/* no_cudnn.c -- what stands for the cuDNN backends where cudnn.h was not there to build them: their cases are listed,
 * and skipped aloud. */
#include "op/sdpa_fp8.h"

static int supports(const kg_backend *self, const kg_device *device, const void *problem, kg_error *ret_error)
{
    (void)self, (void)device, (void)problem;
    return kg_fail(ret_error, KG_EUNSUPPORTED,
                   "this build has no cuDNN backends (configure with -Dcudnn=enabled where cudnn.h is installed)");
}

static int launch(const kg_backend *self, void *state, const kg_tensor *tensors, void *stream, kg_error *ret_error)
{
    (void)state, (void)tensors, (void)stream;
    return supports(self, NULL, NULL, ret_error);
}

const kg_backend sdpa_cudnn = {
    .name = "cudnn", .help = "not in this build", .device = KG_CUDA, .supports = supports, .launch = launch
};

const kg_backend sdpa_cudnn_best = {
    .name = "cudnn_best", .help = "not in this build", .device = KG_CUDA, .supports = supports, .launch = launch
};

const kg_backend cudnn_fp8 = {
    .name = "cudnn_fp8", .help = "not in this build", .device = KG_CUDA, .supports = supports, .launch = launch
};
