/* fa_v3.cu -- a slow kernel, kept on purpose: the third version of a fused attention for S = 512, rebuilt in kind. Its
 * results are right, and it took 165 to 837 times as long as the library's kernel. fa_v3_repaired.cu is what becomes of
 * it; a fault is mended there, never here. What is wrong with it:
 *
 * - A thread keeps its rows' outputs, a tile's scores, weights and mask in arrays that it indexes at run time.
 * Registers have no index, so the arrays are local memory: 800 to 1344 bytes of stack a thread. ptxas calls none of it
 * a spill.
 * - A thread is a query row. Of a block's 128 threads 32 have rows, the others leave at once; with 48 rows these 32
 *   have two each, and half of the second are none.
 * - Each number of q, k and v is loaded by itself, as FP16, where it is multiplied, again and again; nothing is staged
 * in shared memory, and no tensor core is used.
 * - A causal mask saves the scores that are hidden from a whole warp, and no product with v.
 *
 * Another tile: a line at the end, one in fa_v3.h, fa_v3.c, kernels/meson.build and suites/fa_s512.c.
 */
#include <cuda_fp16.h>
#include <math_constants.h>
#include <stdint.h>

#include "fused/fa_v3.h"

#define D FA_V3_D
#define ROW_THREADS 32 /* that have rows */

/* seek to x[b, h, 0, :] */
__device__ __forceinline__ int64_t head_offset(int heads, int head, int length)
{
    return ((int64_t)blockIdx.z * heads + head) * length * D;
}

template <int ROWS, int COLS> struct fa_v3_thread {
    static constexpr int OWN = (ROWS + ROW_THREADS - 1) / ROW_THREADS;
    float o[OWN][D];
    float fresh[D]; /* of this tile */
    float scores[COLS], weights[COLS];
    bool hidden[COLS];
};

/* scores and hidden of query row i, keys first .. first + COLS; returns the largest score */
template <int ROWS, int COLS>
__device__ __forceinline__ float scores_qk(fa_v3_thread<ROWS, COLS> &my, const fa_v3_args &args, const __half *q,
                                           const __half *k, int i, int first)
{
    float row_max = -CUDART_INF_F;
#pragma unroll 1
    for (int j = 0; j < COLS; j++)
        my.hidden[j] = first + j >= args.Skv || (args.causal && first + j > i);
#pragma unroll 1
    for (int j = 0; j < COLS; j++) {
        float sum = 0;
        if (!my.hidden[j])
#pragma unroll 1
            for (int d = 0; d < D; d++)
                sum += __half2float(q[(int64_t)i * D + d]) * __half2float(k[(int64_t)(first + j) * D + d]);
        my.scores[j] = my.hidden[j] ? -CUDART_INF_F : sum * args.scale_log2;
        row_max = fmaxf(row_max, my.scores[j]);
    }
    return row_max;
}

/* fresh = weights v */
template <int ROWS, int COLS>
__device__ __forceinline__ void output_pv(fa_v3_thread<ROWS, COLS> &my, const fa_v3_args &args, const __half *v,
                                          int first)
{
#pragma unroll 1
    for (int d = 0; d < D; d++)
        my.fresh[d] = 0;
#pragma unroll 1
    for (int j = 0; j < COLS && first + j < args.Skv; j++)
#pragma unroll 1
        for (int d = 0; d < D; d++)
            my.fresh[d] += my.weights[j] * __half2float(v[(int64_t)(first + j) * D + d]);
}

template <int ROWS, int COLS> __device__ __forceinline__ void attend(const fa_v3_args &args)
{
    using thread = fa_v3_thread<ROWS, COLS>;
    __shared__ float row_max[ROWS], row_sum[ROWS];
    thread my;
    if (threadIdx.x >= ROW_THREADS)
        return;
    const __half *q = (const __half *)args.q + head_offset(args.H, blockIdx.y, args.S);
    const __half *k = (const __half *)args.k + head_offset(args.H / args.group, blockIdx.y / args.group, args.Skv);
    const __half *v = (const __half *)args.v + head_offset(args.H / args.group, blockIdx.y / args.group, args.Skv);
    __half *o = (__half *)args.o + head_offset(args.H, blockIdx.y, args.S);
    const int rows = min(ROWS, args.S - (int)blockIdx.x * ROWS);

#pragma unroll 1
    for (int own = 0, row = threadIdx.x; row < rows; own++, row += ROW_THREADS) {
        row_max[row] = -CUDART_INF_F;
        row_sum[row] = 0;
#pragma unroll 1
        for (int d = 0; d < D; d++)
            my.o[own][d] = 0;
    }
#pragma unroll 1
    for (int first = 0; first < args.Skv; first += COLS)
#pragma unroll 1
        for (int own = 0, row = threadIdx.x; row < rows; own++, row += ROW_THREADS) {
            float new_max = fmaxf(row_max[row], scores_qk(my, args, q, k, blockIdx.x * ROWS + row, first));
            float rescale = exp2f(row_max[row] - new_max), tile_sum = 0; /* finite: every row sees key 0 */
#pragma unroll 1
            for (int j = 0; j < COLS; j++) {
                my.weights[j] = exp2f(my.scores[j] - new_max);
                tile_sum += my.weights[j];
            }
            output_pv(my, args, v, first);
#pragma unroll 1
            for (int d = 0; d < D; d++)
                my.o[own][d] = my.o[own][d] * rescale + my.fresh[d];
            row_max[row] = new_max;
            row_sum[row] = row_sum[row] * rescale + tile_sum;
        }
#pragma unroll 1
    for (int own = 0, row = threadIdx.x; row < rows; own++, row += ROW_THREADS)
#pragma unroll 1
        for (int d = 0; d < D; d++)
            o[((int64_t)blockIdx.x * ROWS + row) * D + d] = __float2half(my.o[own][d] / row_sum[row]);
}

#define FA_V3(rows, cols)                                                                                              \
    extern "C" __global__ void __launch_bounds__(FA_V3_THREADS) fa_v3_##rows##x##cols##_kernel(const fa_v3_args args)  \
    {                                                                                                                  \
        attend<rows, cols>(args);                                                                                      \
    }                                                                                                                  \
    extern "C" const void *fa_v3_find_##rows##x##cols(void)                                                            \
    {                                                                                                                  \
        return (const void *)fa_v3_##rows##x##cols##_kernel;                                                           \
    }

FA_V3(32, 64)
FA_V3(32, 32)
FA_V3(48, 64)
