/* sdpa_reference.cu -- the reference of the ops whose mask is that of the struct sdpa. */
#include "op/sdpa_reference.cuh"

extern "C" int sdpa_reference_cuda(const void *problem, const kg_device *device, const kg_tensor *tensors, void *stream,
                                   kg_error *ret_error)
{
    const struct sdpa *sdpa = (const struct sdpa *)problem;
    return sdpa_reference_run(sdpa, sdpa_flops(sdpa), sdpa_plain_scores(), sdpa_tiles_of(sdpa), device, tensors, stream,
                              ret_error);
}
