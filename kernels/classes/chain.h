/* chain.h -- the op of the three classes: y = the sum of x c^t over `terms` steps, divided by terms, as a chain of
 * multiply-adds. How many elements and terms decides what bounds it. */
#ifndef CHAIN_H
#define CHAIN_H

#include "kgate.h"

struct chain {
    const char *name;
    int64_t n;
    int64_t terms;
};

enum { CHAIN_X, CHAIN_Y };

/* Close to 1 for long chains, so that every step shows in the result; 0 for one term, which copies. Kernels and
 * reference take the same rounded value. */
static inline float chain_factor(const struct chain *problem)
{
    return (float)(1.0 - 1.0 / (double)problem->terms);
}

#ifdef __cplusplus
extern "C" {
#endif

extern const kg_op chain;

int chain_reference_cuda(const void *problem, const kg_device *device, const kg_tensor *tensors, void *stream,
                         kg_error *ret_error);

enum chain_kernel { CHAIN_FMA, CHAIN_SCALAR, CHAIN_REFERENCE };

/* Enqueues a kernel of chain.cu over n elements. Returns a cudaError_t. */
int chain_launch(enum chain_kernel kernel, const float *x, float *y, int64_t n, int terms, float factor, void *stream);

#ifdef __cplusplus
}
#endif

#endif
