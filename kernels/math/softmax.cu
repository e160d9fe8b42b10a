/* softmax.cu -- row softmax for the backend `math`: p = softmax(scale * scores), masked, in the dtype of the inputs.
 *
 * Two passes over a row: one finds its maximum and sum together, one writes. A warp takes a row of up to 1024 keys, a
 * block a longer one. The row is read again from the cache, not kept: it may be of any length.
 */
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <math_constants.h>

#include "math/softmax.h"
#include "op/softmax_row.cuh"

__device__ __forceinline__ softmax_row join(softmax_row a, softmax_row b)
{
    float row_max = fmaxf(a.row_max, b.row_max);
    if (row_max == -CUDART_INF_F)
        return { row_max, 0 };
    return { row_max, a.row_sum * exp2f(a.row_max - row_max) + b.row_sum * exp2f(b.row_max - row_max) };
}

/* Over the THREADS threads of a row; every one gets the result. */
template <int THREADS> __device__ __forceinline__ softmax_row reduce(softmax_row row)
{
    for (int step = 16; step > 0; step /= 2)
        row = join(row, { __shfl_xor_sync(~0u, row.row_max, step), __shfl_xor_sync(~0u, row.row_sum, step) });
    if (THREADS == 32)
        return row;
    __shared__ softmax_row of_warp[THREADS / 32];
    if (threadIdx.x % 32 == 0)
        of_warp[threadIdx.x / 32] = row;
    __syncthreads();
    row = of_warp[0];
    for (int i = 1; i < THREADS / 32; i++)
        row = join(row, of_warp[i]);
    return row;
}

__device__ __forceinline__ void store4(float *p, float4 x)
{
    *(float4 *)p = x;
}

__device__ __forceinline__ void store4(__half *p, float4 x)
{
    ((__half2 *)p)[0] = __floats2half2_rn(x.x, x.y);
    ((__half2 *)p)[1] = __floats2half2_rn(x.z, x.w);
}

__device__ __forceinline__ void store4(__nv_bfloat16 *p, float4 x)
{
    ((__nv_bfloat162 *)p)[0] = __floats2bfloat162_rn(x.x, x.y);
    ((__nv_bfloat162 *)p)[1] = __floats2bfloat162_rn(x.z, x.w);
}

/* Four scaled scores from column on, -inf where hidden. Rounded by themselves: contracted with the maximum that is
 * taken off them, in one of the two passes alone, a score past 2^21 would weigh up to a fifth more than its sum says.
 */
__device__ __forceinline__ float4 load4(const float *scores, int column, int visible, float scale)
{
    float4 x = *(const float4 *)(scores + column);
    x.x = column + 0 < visible ? __fmul_rn(x.x, scale) : -CUDART_INF_F;
    x.y = column + 1 < visible ? __fmul_rn(x.y, scale) : -CUDART_INF_F;
    x.z = column + 2 < visible ? __fmul_rn(x.z, scale) : -CUDART_INF_F;
    x.w = column + 3 < visible ? __fmul_rn(x.w, scale) : -CUDART_INF_F;
    return x;
}

template <typename T, int THREADS, int ROWS>
__global__ void __launch_bounds__(THREADS *ROWS) softmax_kernel(const softmax_args args)
{
    int64_t r = (int64_t)blockIdx.x * ROWS + threadIdx.x / THREADS;
    if (r >= args.rows)
        return;
    int first = threadIdx.x % THREADS * 4;
    int visible = min(args.Skv, args.first_keys + (int)(r % args.S));

    /* seek to scores[r, :] and p[r, :] */
    const float *scores = args.scores + r * args.pitch;
    T *p = (T *)args.p + r * args.pitch;

    softmax_row row = { -CUDART_INF_F, 0 };
    for (int column = first; column < visible; column += THREADS * 4) {
        float4 x = load4(scores, column, visible, args.scale_log2);
        float max = fmaxf(fmaxf(x.x, x.y), fmaxf(x.z, x.w));
        row = join(row, { max, exp2f(x.x - max) + exp2f(x.y - max) + exp2f(x.z - max) + exp2f(x.w - max) });
    }
    row = reduce<THREADS>(row);

    float factor = row.row_sum == 0 ? 0 : 1 / row.row_sum;
    float row_max = row.row_max == -CUDART_INF_F ? 0 : row.row_max; /* a row that sees no key gives zeros */
    for (int column = first; column < args.Skv; column += THREADS * 4) {
        float4 x = make_float4(0, 0, 0, 0);
        if (column < visible) {
            x = load4(scores, column, visible, args.scale_log2);
            x = make_float4(exp2f(x.x - row_max) * factor, exp2f(x.y - row_max) * factor, exp2f(x.z - row_max) * factor,
                            exp2f(x.w - row_max) * factor);
        }
        store4(p + column, x);
    }
}

template <typename T> static void launch(const softmax_args &args, cudaStream_t stream)
{
    if (args.Skv <= 1024)
        softmax_kernel<T, 32, 8><<<(unsigned)((args.rows + 7) / 8), 256, 0, stream>>>(args);
    else
        softmax_kernel<T, 256, 1><<<(unsigned)args.rows, 256, 0, stream>>>(args);
}

extern "C" int softmax_launch(const softmax_args *args, int dtype, void *stream)
{
    switch (dtype) {
    case 1: /* KG_F32 */
        launch<float>(*args, (cudaStream_t)stream);
        break;
    case 2: /* KG_F16 */
        launch<__half>(*args, (cudaStream_t)stream);
        break;
    case 3: /* KG_BF16 */
        launch<__nv_bfloat16>(*args, (cudaStream_t)stream);
        break;
    default:
        return cudaErrorInvalidValue;
    }
    return cudaGetLastError();
}
