/* chain.cu -- the chain of multiply-adds on a GPU: four elements a thread, one a thread (the anchor), and the reference
 * in double precision. */
#include <cuda_runtime_api.h>

#include "classes/chain.h"

#define THREADS 256

__device__ float advance(float x, int terms, float factor, float share)
{
    float sum = 0;
    for (int t = 0; t < terms; t++)
        sum = fmaf(sum, factor, x);
    return sum * share;
}

/* Thread i computes y[4 i] to y[4 i + 3]; their chains overlap. */
extern "C" __global__ void chain_fma_kernel(const float *__restrict__ x, float *__restrict__ y, int64_t n, int terms,
                                            float factor, float share)
{
    int64_t i = 4 * ((int64_t)blockIdx.x * blockDim.x + threadIdx.x);
    if (i + 3 < n) {
        float4 in = *(const float4 *)(x + i), sum = { 0, 0, 0, 0 };
        for (int t = 0; t < terms; t++) {
            sum.x = fmaf(sum.x, factor, in.x);
            sum.y = fmaf(sum.y, factor, in.y);
            sum.z = fmaf(sum.z, factor, in.z);
            sum.w = fmaf(sum.w, factor, in.w);
        }
        *(float4 *)(y + i) = make_float4(sum.x * share, sum.y * share, sum.z * share, sum.w * share);
        return;
    }
    for (; i < n; i++)
        y[i] = advance(x[i], terms, factor, share);
}

extern "C" __global__ void chain_scalar_kernel(const float *__restrict__ x, float *__restrict__ y, int64_t n, int terms,
                                               float factor, float share)
{
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = advance(x[i], terms, factor, share);
}

extern "C" __global__ void chain_reference_kernel(const float *x, float *y, int64_t n, int terms, float factor)
{
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    double sum = 0;
    for (int t = 0; t < terms; t++)
        sum = sum * (double)factor + (double)x[i];
    y[i] = (float)(sum / terms);
}

static unsigned grid(int64_t threads)
{
    return (unsigned)((threads + THREADS - 1) / THREADS);
}

extern "C" int chain_launch(enum chain_kernel kernel, const float *x, float *y, int64_t n, int terms, float factor,
                            void *stream)
{
    cudaStream_t s = (cudaStream_t)stream;
    const float share = 1.0f / (float)terms;
    if (kernel == CHAIN_FMA)
        chain_fma_kernel<<<grid((n + 3) / 4), THREADS, 0, s>>>(x, y, n, terms, factor, share);
    else if (kernel == CHAIN_SCALAR)
        chain_scalar_kernel<<<grid(n), THREADS, 0, s>>>(x, y, n, terms, factor, share);
    else
        chain_reference_kernel<<<grid(n), THREADS, 0, s>>>(x, y, n, terms, factor);
    return (int)cudaGetLastError();
}
