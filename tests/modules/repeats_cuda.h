/* repeats_cuda.h -- between repeats_cuda.c (backends, the suite) and repeats_cuda.cu (kernels). */
#ifndef REPEATS_CUDA_H
#define REPEATS_CUDA_H

#include "broken.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Each enqueues y = series of x, n elements, n a multiple of 1024. Returns a cudaError_t. */
typedef int repeats_cuda_launch(const float *x, float *y, int64_t n, void *stream);

repeats_cuda_launch repeats_cuda_good;
repeats_cuda_launch repeats_cuda_unsynchronised; /* no barrier between writing and reading shared memory */
repeats_cuda_launch repeats_cuda_default_stream; /* on the default stream, which ours does not wait for */
repeats_cuda_launch repeats_cuda_own_stream;     /* on one of its own, and waits for that; captured, as it should be */
repeats_cuda_launch repeats_cuda_atomics;        /* adds the terms in no order */

#ifdef __cplusplus
}
#endif

#endif
