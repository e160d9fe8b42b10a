/* sdpa_error.cu -- the error scale of the ops whose mask is that of the struct sdpa. */
#include "op/sdpa_error.cuh"

extern "C" int sdpa_error_scale_cuda(const void *problem, const void *arithmetic, const kg_device *device,
                                     const kg_tensor *tensors, void *stream, kg_error *ret_error)
{
    const struct sdpa *p = (const struct sdpa *)problem;
    (void)device;
    return sdpa_error_run(p, sdpa_plain_scores(), sdpa_tiles_of(p), (const struct sdpa_arithmetic *)arithmetic, tensors,
                          stream, ret_error);
}
