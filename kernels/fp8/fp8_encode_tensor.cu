/* fp8_encode_tensor.cu -- codes a tensor to e4m3 with one scale for all of it: its largest magnitude, the scale, the
 * codes. Runs before timing, so it is kept plain; three launches, as each needs the whole of what went before. */
#include "fp8/fp8_encode.h"

#include <cuda_fp16.h>

#include "fp8/fp8_codec.h"

#define THREADS 256
#define MAX_BLOCKS 1024

/* Bits of magnitudes are ordered as the magnitudes are. *largest is zero before. */
extern "C" __global__ void __launch_bounds__(THREADS)
    fp8_tensor_largest_kernel(const __half *x, int64_t count, unsigned int *largest)
{
    unsigned int own = 0;
    for (int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x; i < count; i += (int64_t)gridDim.x * THREADS)
        own = max(own, __float_as_uint(fabsf(__half2float(x[i]))));
    for (int step = 16; step > 0; step /= 2)
        own = max(own, __shfl_xor_sync(~0u, own, step));
    if (threadIdx.x % 32 == 0)
        atomicMax(largest, own);
}

extern "C" __global__ void fp8_tensor_scale_kernel(float *largest_to_scale)
{
    *largest_to_scale = fp8_scale(*largest_to_scale);
}

extern "C" __global__ void __launch_bounds__(THREADS)
    fp8_tensor_code_kernel(const __half *x, int64_t count, const float *scale, uint8_t *codes)
{
    for (int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x; i < count; i += (int64_t)gridDim.x * THREADS)
        codes[i] = fp8_e4m3_code(__half2float(x[i]) / *scale);
}

extern "C" int fp8_encode_tensor(const struct fp8_encode_tensor_args *args, void *stream)
{
    const __half *x = (const __half *)args->x;
    const int64_t tiles = (args->count + THREADS - 1) / THREADS;
    const unsigned int blocks = (unsigned int)(tiles < MAX_BLOCKS ? tiles : MAX_BLOCKS);
    const cudaStream_t on = (cudaStream_t)stream;
    cudaError_t status = cudaMemsetAsync(args->descale, 0, sizeof *args->descale, on);
    if (status != cudaSuccess)
        return status;
    fp8_tensor_largest_kernel<<<blocks, THREADS, 0, on>>>(x, args->count, (unsigned int *)args->descale);
    fp8_tensor_scale_kernel<<<1, 1, 0, on>>>(args->descale);
    fp8_tensor_code_kernel<<<blocks, THREADS, 0, on>>>(x, args->count, args->descale, args->codes);
    return cudaGetLastError();
}
