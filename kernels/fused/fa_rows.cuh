/* fa_rows.cuh -- rows of 16-bit numbers between memory and shared memory, for kernels that multiply by WMMA (fa1.cu,
 * fa_v3_repaired.cu). Another such kernel includes it; a kernel with ldmatrix has its own layout (flash.cu). */
#ifndef FA_ROWS_CUH
#define FA_ROWS_CUH

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <stdint.h>

/* A row in shared memory: WMMA wants 16-row blocks to start at 32 bytes; 8 more elements are against bank conflicts. */
template <int D> constexpr int fa_pitch = D + 8;

template <typename T> __device__ __forceinline__ T fa_round(float x);

template <> __device__ __forceinline__ __half fa_round<__half>(float x)
{
    return __float2half(x);
}

template <> __device__ __forceinline__ __nv_bfloat16 fa_round<__nv_bfloat16>(float x)
{
    return __float2bfloat16(x);
}

/* to[0 .. ROWS, :] = head[first .. first + ROWS, :], zeros from row `end` on; by all THREADS of the block. */
template <int ROWS, int D, int THREADS, typename T>
__device__ __forceinline__ void fa_copy_rows(T *to, const T *head, int first, int end)
{
    constexpr int PIECES = D / 8; /* of 16 bytes, in a row */
    static_assert(ROWS * PIECES % THREADS == 0, "every thread copies as many pieces");
#pragma unroll
    for (int i = threadIdx.x; i < ROWS * PIECES; i += THREADS) {
        int row = i / PIECES, piece = i % PIECES;
        uint4 values = make_uint4(0, 0, 0, 0);
        if (first + row < end)
            values = ((const uint4 *)(head + (int64_t)(first + row) * D))[piece];
        *(uint4 *)(to + row * fa_pitch<D> + piece * 8) = values;
    }
}

/* Eight numbers, rounded, to 16 aligned bytes. */
template <typename T> __device__ __forceinline__ void fa_store_8(T *to, const float *from)
{
    T values[8];
#pragma unroll
    for (int i = 0; i < 8; i++)
        values[i] = fa_round<T>(from[i]);
    *(uint4 *)to = *(const uint4 *)values;
}

#endif
