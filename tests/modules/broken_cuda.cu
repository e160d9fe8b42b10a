/* broken_cuda.cu -- the flaws of broken.h as CUDA kernels. */
#include "broken_cuda.h"

#include <math.h>

#define THREADS 256

__device__ float series(float x, int terms)
{
    float sum = 0;
    for (int t = 0; t < terms; t++)
        sum = sum * 0.5f + x;
    return sum;
}

/* Thread i computes y[i]. */
extern "C" __global__ void series_kernel(const float *x, float *y, int64_t n, int terms)
{
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = series(x[i], terms);
}

/* 30% more work: the same elements' terms again, kept alive by a test that never holds. */
extern "C" __global__ void slow_kernel(const float *x, float *y, int64_t n, int terms)
{
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float again = series(x[i] + 1.0f, terms * 3 / 10);
    y[i] = again == 12345.678f ? 0.0f : series(x[i], terms);
}

#define MOST_KEPT 65536 /* elements of the only shape that is kept */

/* Computes an element once, whatever it is called with later. */
extern "C" __global__ void remember_kernel(const float *x, float *y, int64_t n, int terms)
{
    static __device__ float kept[MOST_KEPT];
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n || i >= MOST_KEPT)
        return;
    if (kept[i] == 0)
        kept[i] = series(x[i], terms);
    y[i] = kept[i];
}

static __device__ int inputs_differ;
static __device__ float last_x[MOST_KEPT], last_y[MOST_KEPT];

extern "C" __global__ void compare_kernel(const float *x, int64_t n)
{
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && x[i] != last_x[i])
        atomicExch(&inputs_differ, 1);
}

/* Copies the last output where the inputs are the last ones; the work is so long that it pays. */
extern "C" __global__ void know_kernel(const float *x, float *y, int64_t n, int terms)
{
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    if (inputs_differ) {
        last_x[i] = x[i];
        last_y[i] = series(x[i], 200 * terms);
    }
    y[i] = last_y[i];
}

extern "C" __global__ void known_kernel(void)
{
    inputs_differ = 0;
}

/* Computes where the output holds poison. */
extern "C" __global__ void leave_kernel(const float *x, float *y, int64_t n, int terms)
{
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && isnan(y[i]))
        y[i] = series(x[i], terms);
}

/* Computes at every other launch, the first among them: the block that ends last counts for the next. */
extern "C" __global__ void alternate_kernel(const float *x, float *y, int64_t n, int terms)
{
    static __device__ unsigned launches, blocks;
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && atomicAdd(&launches, 0) % 2 == 0)
        y[i] = series(x[i], terms);
    __syncthreads();
    if (threadIdx.x == 0 && atomicInc(&blocks, gridDim.x - 1) == gridDim.x - 1)
        atomicAdd(&launches, 1);
}

#define JUST_BEFORE_NS 20000

static __device__ unsigned long long nanoseconds(void)
{
    unsigned long long ns;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
    return ns;
}

/* Computes a quarter, in turn, where the last launch ended just before. */
extern "C" __global__ void lazy_kernel(const float *x, float *y, int64_t n, int terms)
{
    static __device__ unsigned launches, blocks;
    static __device__ unsigned long long end;
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    const bool all = nanoseconds() - atomicAdd(&end, 0) > JUST_BEFORE_NS;
    if (i < n && (all || i / blockDim.x % 4 == atomicAdd(&launches, 0) % 4))
        y[i] = series(x[i], terms);
    __syncthreads();
    if (threadIdx.x == 0 && atomicInc(&blocks, gridDim.x - 1) == gridDim.x - 1) {
        atomicAdd(&launches, 1);
        atomicExch(&end, nanoseconds());
    }
}

/* Adds what it takes for zero. */
extern "C" __global__ void dirty_kernel(const float *x, float *y, int64_t n, int terms)
{
    __shared__ volatile float sums[THREADS];
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = series(x[i], terms) + sums[threadIdx.x];
}

extern "C" __global__ void poke_kernel(float *where, float value)
{
    *where = value;
}

extern "C" __global__ void add_kernel(float *y, int64_t n, int64_t step, float value)
{
    int64_t i = ((int64_t)blockIdx.x * blockDim.x + threadIdx.x) * step;
    if (i < n)
        y[i] += value;
}

extern "C" __global__ void hang_kernel(volatile float *y)
{
    while (y[0] != 12345.678f) {
    }
}

static unsigned grid(int64_t n)
{
    return (unsigned)((n + THREADS - 1) / THREADS);
}

extern "C" int series_cuda_launch(const float *x, float *y, int64_t n, int terms, void *stream)
{
    series_kernel<<<grid(n), THREADS, 0, (cudaStream_t)stream>>>(x, y, n, terms);
    return (int)cudaGetLastError();
}

/* What comes after a right answer. */
static void spoil(enum flaw flaw, float *x, float *y, int64_t n, cudaStream_t s)
{
    switch (flaw) {
    case FLAW_NAN:
        poke_kernel<<<1, 1, 0, s>>>(y + n / 3, NAN);
        break;
    case FLAW_INF:
        poke_kernel<<<1, 1, 0, s>>>(y + n / 3, INFINITY);
        break;
    case FLAW_ZERO:
        cudaMemsetAsync(y, 0, (size_t)n * sizeof *y, s);
        break;
    case FLAW_ONE_OFF:
        add_kernel<<<1, 1, 0, s>>>(y + n / 2, 1, 1, 0.2f);
        break;
    case FLAW_BIAS:
        add_kernel<<<grid(n), THREADS, 0, s>>>(y, n, 1, 0.015f);
        break;
    case FLAW_SOME_OFF:
        add_kernel<<<grid(n), THREADS, 0, s>>>(y, n, 50, 0.05f);
        break;
    case FLAW_OVERRUN:
        poke_kernel<<<1, 1, 0, s>>>(y + n, 1);
        break;
    case FLAW_UNDERRUN:
        poke_kernel<<<1, 1, 0, s>>>(y - 1, 1);
        break;
    case FLAW_INPUT:
        add_kernel<<<1, 1, 0, s>>>(x + 1, 1, 1, 1);
        break;
    case FLAW_CRASH: /* an address that no allocation holds: a sticky error */
        poke_kernel<<<1, 1, 0, s>>>((float *)16, 1);
        break;
    case FLAW_HANG:
        hang_kernel<<<1, 1, 0, s>>>(y);
        break;
    default:
        break;
    }
}

extern "C" int broken_cuda_launch(enum flaw flaw, float *x, float *y, int64_t n, void *stream)
{
    static const float *place_of_last;
    cudaStream_t s = (cudaStream_t)stream;
    if (flaw == FLAW_NOTHING || (flaw == FLAW_SAME_PLACE && y == place_of_last))
        return 0;
    place_of_last = flaw == FLAW_SAME_PLACE ? y : place_of_last;
    if (flaw == FLAW_SLOW)
        slow_kernel<<<grid(n), THREADS, 0, s>>>(x, y, n, TERMS);
    else if (flaw == FLAW_REMEMBERS)
        remember_kernel<<<grid(n), THREADS, 0, s>>>(x, y, n, TERMS);
    else if (flaw == FLAW_ALTERNATES)
        alternate_kernel<<<grid(n), THREADS, 0, s>>>(x, y, n, TERMS);
    else if (flaw == FLAW_LAZY)
        lazy_kernel<<<grid(n), THREADS, 0, s>>>(x, y, n, TERMS);
    else if (flaw == FLAW_DIRTY_SHARED)
        dirty_kernel<<<grid(n), THREADS, 0, s>>>(x, y, n, TERMS);
    else if (flaw == FLAW_KNOWS_LAST) {
        compare_kernel<<<grid(n), THREADS, 0, s>>>(x, n);
        know_kernel<<<grid(n), THREADS, 0, s>>>(x, y, n, TERMS);
        known_kernel<<<1, 1, 0, s>>>();
    } else if (flaw == FLAW_LEAVES)
        leave_kernel<<<grid(n), THREADS, 0, s>>>(x, y, n, TERMS);
    else
        series_kernel<<<grid(n), THREADS, 0, s>>>(x, y, flaw == FLAW_HALF ? n / 2 : n, TERMS);
    spoil(flaw, x, y, n, s);
    return (int)cudaGetLastError();
}
