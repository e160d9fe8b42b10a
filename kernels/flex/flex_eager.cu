/* flex_eager.cu -- a row of scores is modified where it lies, then becomes probabilities in the dtype of the inputs.
 * Three passes over the row, plain on purpose: it is what fused kernels are measured against. */
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <math_constants.h>

#include "flex/flex_eager.h"
#include "flex/modifiers.h"
#include "kgate.h"

#define THREADS 128

struct eager_args {
    softmax_args row;
    flex_aux aux;
    int H;
    float scale;
};

/* Over the threads of the block; every one gets the result. */
template <bool MAX> __device__ __forceinline__ float reduce(float x)
{
    __shared__ float of_warp[THREADS / 32];
    for (int step = 16; step > 0; step /= 2) {
        const float other = __shfl_xor_sync(~0u, x, step);
        x = MAX ? fmaxf(x, other) : x + other;
    }
    __syncthreads(); /* of_warp is free again */
    if (threadIdx.x % 32 == 0)
        of_warp[threadIdx.x / 32] = x;
    __syncthreads();
    x = of_warp[0];
    for (int i = 1; i < THREADS / 32; i++)
        x = MAX ? fmaxf(x, of_warp[i]) : x + of_warp[i];
    return x;
}

__device__ __forceinline__ void put(__half *p, float x)
{
    *p = __float2half_rn(x);
}

__device__ __forceinline__ void put(__nv_bfloat16 *p, float x)
{
    *p = __float2bfloat16_rn(x);
}

template <typename T> __global__ void __launch_bounds__(THREADS, 12) flex_softmax_kernel(const eager_args args)
{
    const int64_t r = blockIdx.x;
    const int q = (int)(r % args.row.S), h = (int)(r / args.row.S % args.H), b = (int)(r / args.row.S / args.H);
    float *scores = args.row.scores + r * args.row.pitch;
    T *p = (T *)args.row.p + r * args.row.pitch;

    float row_max = -CUDART_INF_F, row_sum = 0;
    for (int k = threadIdx.x; k < args.row.Skv; k += THREADS) {
        float score = -CUDART_INF_F;
        if (flex_mask(b, h, q, k, &args.aux))
            score = flex_score(scores[k] * args.scale, b, h, q, k, &args.aux);
        scores[k] = score;
        row_max = fmaxf(row_max, score);
    }
    row_max = reduce<true>(row_max);
    const float base = row_max == -CUDART_INF_F ? 0 : row_max; /* a row that sees no key gives zeros */
    for (int k = threadIdx.x; k < args.row.Skv; k += THREADS) {
        scores[k] = expf(scores[k] - base);
        row_sum += scores[k];
    }
    row_sum = reduce<false>(row_sum);
    const float factor = row_sum == 0 ? 0 : 1 / row_sum;
    for (int k = threadIdx.x; k < args.row.pitch; k += THREADS)
        put(p + k, k < args.row.Skv ? scores[k] * factor : 0);
}

extern "C" int flex_softmax_launch(const struct softmax_args *row, const struct flex_aux *aux, int H, float scale,
                                   int dtype, void *stream)
{
    const eager_args args = { *row, *aux, H, scale };
    if (dtype == KG_F16)
        flex_softmax_kernel<__half><<<(unsigned)row->rows, THREADS, 0, (cudaStream_t)stream>>>(args);
    else
        flex_softmax_kernel<__nv_bfloat16><<<(unsigned)row->rows, THREADS, 0, (cudaStream_t)stream>>>(args);
    return cudaGetLastError();
}
