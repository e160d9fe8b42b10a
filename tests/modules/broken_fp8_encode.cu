/* broken_fp8_encode.cu -- an encoder that the decoder does not match. */
#include "../../kernels/fp8/fp8_encode.cuh"
#include "broken_fp8.h"

struct mismatched {
    static __device__ __forceinline__ uint8_t code(float scaled)
    {
        return MISMATCHED_CODE(scaled);
    }
};

extern "C" __global__ void mismatched_encode_kernel(fp8_encode_args args)
{
    fp8_encode_head<mismatched>(args);
}

extern "C" int mismatched_encode(const fp8_encode_args *args, void *stream)
{
    mismatched_encode_kernel<<<args->heads, FP8_ENCODE_THREADS, 0, (cudaStream_t)stream>>>(*args);
    return cudaGetLastError();
}
