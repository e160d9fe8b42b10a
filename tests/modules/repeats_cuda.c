/* repeats_cuda.c -- a module of CUDA kernels whose races one launch seldom shows; repeats.c is its like for the CPU.
 * tests/cuda/repeat.sh asks. */
#include <cuda_runtime_api.h>

#include "module.h"
#include "repeats_cuda.h"

struct kernel {
    repeats_cuda_launch *launch;
};

static int launch(const kg_backend *self, void *state, const kg_tensor *tensors, void *stream, kg_error *ret_error)
{
    const struct kernel *kernel = self->data;
    (void)state;
    const int status = kernel->launch(tensors[SERIES_X].data, tensors[SERIES_Y].data,
                                      kg_tensor_count(&tensors[SERIES_Y]), stream);
    return status ? kg_fail(ret_error, KG_EDEVICE, "launch: %s", cudaGetErrorString((cudaError_t)status)) : KG_OK;
}

#define BACKEND(id, which, its_bits_vary)                                                                            \
    static const kg_backend id = { .name = #id, .device = KG_CUDA, .launch = launch, .varies = its_bits_vary,         \
                                   .data = &(const struct kernel){ repeats_cuda_##which } }

BACKEND(good, good, false);
BACKEND(unsynchronised, unsynchronised, false);
BACKEND(default_stream, default_stream, false);
BACKEND(own_stream, own_stream, false);
BACKEND(atomics, atomics, true);
BACKEND(atomics_unsaid, atomics, false);

/* Several waves of blocks. */
static const struct series shapes[] = { { "waves", .n = 1 << 21 } };
static const uint64_t seeds[] = { 0 };
static const kg_backend *const backends[] = { &good, &unsynchronised, &default_stream,
                                              &own_stream, &atomics, &atomics_unsaid };
static const kg_suite repeats = {
    .name = "repeats",
    .op = &series_op,
    .shapes = KG_TABLE(shapes),
    .seeds = KG_LIST(seeds),
    .backends = KG_LIST(backends),
    .gates = { .max_abs = 0.1, .mean_abs = 0.01, .bad_abs = 0.02, .bad_pct = 1.0, .rel_l2 = 0.05 },
};
static const kg_suite *const suites[] = { &repeats };

int series_reference_cuda(const void *problem, const kg_device *device, const kg_tensor *tensors, void *stream,
                          kg_error *ret_error)
{
    const struct series *p = problem;
    (void)device;
    const int status = repeats_cuda_good(tensors[SERIES_X].data, tensors[SERIES_Y].data, p->n, stream);
    return status ? kg_fail(ret_error, KG_EDEVICE, "reference: %s", cudaGetErrorString((cudaError_t)status)) : KG_OK;
}

MODULE_ROOT("repeats_cuda");
