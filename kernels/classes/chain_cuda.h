/* chain_cuda.h -- between the backends (chain_cuda.c) and their kernels (chain.cu). */
#ifndef CHAIN_CUDA_H
#define CHAIN_CUDA_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum chain_kernel { CHAIN_FMA, CHAIN_SCALAR, CHAIN_REFERENCE };

/* Enqueues a kernel over n elements. Returns a cudaError_t. */
int chain_launch(enum chain_kernel kernel, const float *x, float *y, int64_t n, int terms, float factor, void *stream);

#ifdef __cplusplus
}
#endif

#endif
