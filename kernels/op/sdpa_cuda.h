/* sdpa_cuda.h -- what backends with CUDA kernels of their own have in common. One that is a single kernel takes its
 * `launch` and `release` from here; its `prepare` ends in sdpa_cuda_prepare. */
#ifndef SDPA_CUDA_H
#define SDPA_CUDA_H

#include "op/sdpa.h"

/* Has the device compute capability 8.0, which all of these kernels need? KG_EUNSUPPORTED and why. */
int sdpa_cuda_supports(const kg_backend *self, const kg_device *device, kg_error *ret_error);

/* A cudaError_t as a status of kgate, with the backend's name. */
int sdpa_cuda_check(const kg_backend *self, int status, kg_error *ret_error);

struct sdpa_cuda_kernel {
    const void *function;
    unsigned blocks[3];
    int threads;
    size_t shared_bytes; /* dynamic */
};

/* The state of a backend that is one kernel with one parameter: a struct of `size` bytes that begins with the pointers
 * q, k, v and o, which each launch sets. KG_EUNSUPPORTED: this build has no code of it for the device. */
int sdpa_cuda_prepare(const kg_backend *self, const kg_call *call, struct sdpa_cuda_kernel kernel, const void *args,
                      size_t size, void **ret_state, kg_error *ret_error);
int sdpa_cuda_launch(const kg_backend *self, void *state, const kg_tensor *tensors, void *stream, kg_error *ret_error);
void sdpa_cuda_release(const kg_backend *self, void *state);

#endif
