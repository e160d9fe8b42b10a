/* fp8_encode.cuh -- codes a tensor to 8 bits on the GPU, head by head. Runs before timing, so it is kept plain. CODEC
 * has a static `code(float scaled)`; fp8_encode.cu names those that ship. */
#ifndef FP8_ENCODE_CUH
#define FP8_ENCODE_CUH

#include <cuda_fp16.h>

#include "fp8/fp8_codec.h"
#include "fp8/fp8_encode.h"

#define FP8_ENCODE_THREADS 256

/* The largest of all threads' values, in every thread. */
__device__ __forceinline__ float fp8_block_max(float x)
{
    __shared__ float all[FP8_ENCODE_THREADS];
    all[threadIdx.x] = x;
    __syncthreads();
    for (int step = FP8_ENCODE_THREADS / 2; step > 0; step /= 2) {
        if (threadIdx.x < step)
            all[threadIdx.x] = fmaxf(all[threadIdx.x], all[threadIdx.x + step]);
        __syncthreads();
    }
    return all[0];
}

/* Block h codes head h. */
template <typename CODEC> __device__ __forceinline__ void fp8_encode_head(fp8_encode_args args)
{
    int64_t first = (int64_t)blockIdx.x * args.length;
    const __half *x = (const __half *)args.x + first;
    float largest = 0;
    for (int64_t i = threadIdx.x; i < args.length; i += FP8_ENCODE_THREADS)
        largest = fmaxf(largest, fabsf(__half2float(x[i])));
    float scale = fp8_scale(fp8_block_max(largest));
    for (int64_t i = threadIdx.x; i < args.length; i += FP8_ENCODE_THREADS)
        args.codes[first + i] = CODEC::code(__half2float(x[i]) / scale);
    if (threadIdx.x == 0)
        args.scales[blockIdx.x] = scale;
}

#endif
