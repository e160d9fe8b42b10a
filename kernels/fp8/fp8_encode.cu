/* fp8_encode.cu -- the encoders of the stage-C backends: a tensor's largest magnitude, scale and codes, head by head.
 */
#include "fp8/fp8_encode.cuh"

struct linear {
    static __device__ __forceinline__ uint8_t code(float scaled)
    {
        return fp8_linear_code(scaled);
    }
};

struct e4m3 {
    static __device__ __forceinline__ uint8_t code(float scaled)
    {
        return fp8_e4m3_code(scaled);
    }
};

extern "C" __global__ void __launch_bounds__(FP8_ENCODE_THREADS) fp8_encode_linear_kernel(fp8_encode_args args)
{
    fp8_encode_head<linear>(args);
}

extern "C" __global__ void __launch_bounds__(FP8_ENCODE_THREADS) fp8_encode_e4m3_kernel(fp8_encode_args args)
{
    fp8_encode_head<e4m3>(args);
}

extern "C" int fp8_encode_linear(const fp8_encode_args *args, void *stream)
{
    fp8_encode_linear_kernel<<<args->heads, FP8_ENCODE_THREADS, 0, (cudaStream_t)stream>>>(*args);
    return cudaGetLastError();
}

extern "C" int fp8_encode_e4m3(const fp8_encode_args *args, void *stream)
{
    fp8_encode_e4m3_kernel<<<args->heads, FP8_ENCODE_THREADS, 0, (cudaStream_t)stream>>>(*args);
    return cudaGetLastError();
}
