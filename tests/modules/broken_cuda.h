/* broken_cuda.h -- between broken_cuda.c (backends, suites) and broken_cuda.cu (kernels). */
#ifndef BROKEN_CUDA_H
#define BROKEN_CUDA_H

#include "broken.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Enqueues the kernel with its flaw. x and y hold n elements. Returns a cudaError_t. */
int broken_cuda_launch(enum flaw flaw, float *x, float *y, int64_t n, void *stream);

/* The right kernel. */
int series_cuda_launch(const float *x, float *y, int64_t n, int terms, void *stream);

#ifdef __cplusplus
}
#endif

#endif
