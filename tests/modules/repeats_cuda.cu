/* repeats_cuda.cu -- kernels that a first launch on inputs that lie ready finds right. */
#include "repeats_cuda.h"

#define THREADS 1024
#define HEAD_START 1000 /* cycles that a thread leaves to the one whose value it reads: alone that is mostly enough */

__device__ float series(float x)
{
    float sum = 0;
    for (int t = 0; t < TERMS; t++)
        sum = sum * 0.5f + x;
    return sum;
}

extern "C" __global__ void good_kernel(const float *x, float *y)
{
    const int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    y[i] = series(x[i]);
}

/* Thread i computes what thread i + THREADS / 2 has loaded. */
extern "C" __global__ void unsynchronised_kernel(const float *x, float *y)
{
    __shared__ float loaded[THREADS];
    volatile float *values = loaded;
    const unsigned other = (threadIdx.x + THREADS / 2) % THREADS;
    values[threadIdx.x] = x[(int64_t)blockIdx.x * THREADS + threadIdx.x];
    for (const long long start = clock64(); clock64() - start < HEAD_START;)
        ;
    y[(int64_t)blockIdx.x * THREADS + other] = series(values[other]);
}

/* A block a term. Those of an element lie together, so they run at one time and arrive in any order. */
extern "C" __global__ void atomics_kernel(const float *x, float *y)
{
    const int64_t i = (int64_t)blockIdx.y * THREADS + threadIdx.x;
    atomicAdd(&y[i], ldexpf(x[i], -(int)blockIdx.x));
}

static unsigned blocks(int64_t n)
{
    return (unsigned)(n / THREADS);
}

extern "C" int repeats_cuda_good(const float *x, float *y, int64_t n, void *stream)
{
    good_kernel<<<blocks(n), THREADS, 0, (cudaStream_t)stream>>>(x, y);
    return (int)cudaGetLastError();
}

extern "C" int repeats_cuda_unsynchronised(const float *x, float *y, int64_t n, void *stream)
{
    unsynchronised_kernel<<<blocks(n), THREADS, 0, (cudaStream_t)stream>>>(x, y);
    return (int)cudaGetLastError();
}

extern "C" int repeats_cuda_default_stream(const float *x, float *y, int64_t n, void *stream)
{
    (void)stream;
    return repeats_cuda_good(x, y, n, NULL);
}

extern "C" int repeats_cuda_own_stream(const float *x, float *y, int64_t n, void *stream)
{
    static cudaStream_t own;
    cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
    cudaError_t status = cudaStreamIsCapturing((cudaStream_t)stream, &capture);
    if (status != cudaSuccess)
        return (int)status;
    if (capture != cudaStreamCaptureStatusNone)
        return repeats_cuda_good(x, y, n, stream);
    if (!own)
        status = cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking);
    if (status == cudaSuccess)
        status = (cudaError_t)repeats_cuda_good(x, y, n, own);
    return (int)(status == cudaSuccess ? cudaStreamSynchronize(own) : status);
}

extern "C" int repeats_cuda_atomics(const float *x, float *y, int64_t n, void *stream)
{
    cudaError_t status = cudaMemsetAsync(y, 0, (size_t)n * sizeof *y, (cudaStream_t)stream);
    if (status == cudaSuccess)
        atomics_kernel<<<dim3(TERMS, blocks(n)), THREADS, 0, (cudaStream_t)stream>>>(x, y);
    return (int)(status == cudaSuccess ? cudaGetLastError() : status);
}
