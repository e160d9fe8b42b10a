/* sdpa_reference.cu -- the op's reference on the GPU: attention in double precision from the first product to the last
 * sum, output FP32. What every CUDA backend is judged by, so it is kept plain; it is tiled because 16 heads of 16384
 * keys must not take minutes.
 *
 * A block owns 64 query rows of one head and walks over the keys 64 at a time. Its 256 threads form a 16 x 16 square:
 * a thread computes 4 x 4 of the scores, then 4 rows x D/16 columns of the output. A row belongs to 16 neighbouring
 * lanes. The softmax is online: maximum and sum of a row are corrected as keys come in.
 */
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <math_constants.h>
#include <stdio.h>

extern "C" {
#include "op/sdpa.h"
}

#define ROWS 64  /* of Q in a block, and keys in a step */
#define SIDE 16  /* threads along a side of the square */
#define EACH 4   /* rows of a thread: ROWS / SIDE */
#define DEPTH 16 /* dims, or keys, in shared memory at a time */
#define PITCH 66 /* doubles from row to row: two words more than ROWS, against bank conflicts */

struct reference_args {
    const void *q, *k, *v;
    float *o;
    enum kg_dtype dtype;
    int S, Skv, D, group, tiles;
    bool causal;
    double scale;
};

__device__ __forceinline__ double load(const void *tensor, enum kg_dtype dtype, int64_t i)
{
    if (dtype == KG_F16)
        return (double)__half2float(((const __half *)tensor)[i]);
    if (dtype == KG_BF16)
        return (double)__bfloat162float(((const __nv_bfloat16 *)tensor)[i]);
    return (double)((const float *)tensor)[i];
}

__device__ __forceinline__ double max_over_row(double x)
{
    for (int step = SIDE / 2; step > 0; step /= 2)
        x = fmax(x, __shfl_xor_sync(~0u, x, step));
    return x;
}

__device__ __forceinline__ double sum_over_row(double x)
{
    for (int step = SIDE / 2; step > 0; step /= 2)
        x += __shfl_xor_sync(~0u, x, step);
    return x;
}

/* to[d, row] = from[first + row, d0 + d] for 64 rows and 16 dims, zero outside */
__device__ __forceinline__ void load_dims(double (*to)[PITCH], const void *from, enum kg_dtype dtype, int64_t base,
                                          int first, int rows, int d0, int D)
{
    for (int i = threadIdx.x; i < ROWS * DEPTH; i += SIDE * SIDE) {
        int row = i / DEPTH, d = i % DEPTH;
        bool inside = first + row < rows && d0 + d < D;
        to[d][row] = inside ? load(from, dtype, base + (int64_t)(first + row) * D + d0 + d) : 0;
    }
}

/* s[4][4] = q[rows ty*4 .., :] . k[keys tx + 16*j, :], 16 dims at a time */
__device__ __forceinline__ void scores_qk(double (&s)[EACH][EACH], const reference_args &args, int64_t q_base,
                                          int64_t k_base, int first_row, int first_key, double (*q)[PITCH],
                                          double (*k)[PITCH])
{
    int tx = threadIdx.x % SIDE, ty = threadIdx.x / SIDE;
    for (int i = 0; i < EACH; i++)
        for (int j = 0; j < EACH; j++)
            s[i][j] = 0;
    for (int d0 = 0; d0 < args.D; d0 += DEPTH) {
        __syncthreads();
        load_dims(q, args.q, args.dtype, q_base, first_row, args.S, d0, args.D);
        load_dims(k, args.k, args.dtype, k_base, first_key, args.Skv, d0, args.D);
        __syncthreads();
#pragma unroll 4
        for (int d = 0; d < DEPTH; d++)
#pragma unroll
            for (int i = 0; i < EACH; i++)
#pragma unroll
                for (int j = 0; j < EACH; j++)
                    s[i][j] = fma(q[d][ty * EACH + i], k[d][tx + SIDE * j], s[i][j]);
    }
}

/* Scores of the keys from `first_key` on become weights, p[key, row]; what was summed before is rescaled. */
template <int COLS>
__device__ __forceinline__ void softmax(double (&o)[EACH][COLS], double (&row_max)[EACH], double (&row_sum)[EACH],
                                        double (&s)[EACH][EACH], double (*p)[PITCH], const reference_args &args,
                                        int first_row, int first_key)
{
    const int tx = threadIdx.x % SIDE, ty = threadIdx.x / SIDE;
#pragma unroll
    for (int i = 0; i < EACH; i++) {
        int row = first_row + ty * EACH + i;
        double max = row_max[i];
#pragma unroll
        for (int j = 0; j < EACH; j++) {
            int key = first_key + tx + SIDE * j;
            bool visible = key < args.Skv && (!args.causal || key <= row);
            s[i][j] = visible ? s[i][j] * args.scale : -CUDART_INF;
            max = fmax(max, s[i][j]);
        }
        max = max_over_row(max);
        double base = max == -CUDART_INF ? 0 : max, rescale = exp(row_max[i] - base);
        row_max[i] = max;
        row_sum[i] *= rescale;
#pragma unroll
        for (int c = 0; c < COLS; c++)
            o[i][c] *= rescale;
#pragma unroll
        for (int j = 0; j < EACH; j++) {
            double x = exp(s[i][j] - base);
            row_sum[i] += x;
            p[tx + SIDE * j][ty * EACH + i] = x;
        }
    }
}

/* o += p v, the keys from `first_key` to `keys`, DEPTH of them at a time in v[key, d] */
template <int COLS>
__device__ __forceinline__ void output_pv(double (&o)[EACH][COLS], const double (*p)[PITCH], double (*v)[SIDE * COLS],
                                          const reference_args &args, int64_t k_base, int first_key, int keys)
{
    const int tx = threadIdx.x % SIDE, ty = threadIdx.x / SIDE;
    for (int k0 = 0; k0 < ROWS && first_key + k0 < keys; k0 += DEPTH) {
        __syncthreads();
        for (int i = threadIdx.x; i < DEPTH * SIDE * COLS; i += SIDE * SIDE) {
            int key = first_key + k0 + i / (SIDE * COLS), d = i % (SIDE * COLS);
            bool inside = key < args.Skv && d < args.D;
            v[0][i] = inside ? load(args.v, args.dtype, k_base + (int64_t)key * args.D + d) : 0;
        }
        __syncthreads();
#pragma unroll 2
        for (int key = 0; key < DEPTH; key++)
#pragma unroll
            for (int i = 0; i < EACH; i++)
#pragma unroll
                for (int c = 0; c < COLS; c++)
                    o[i][c] = fma(p[k0 + key][ty * EACH + i], v[key][tx + SIDE * c], o[i][c]);
    }
}

/* COLS columns of the output a thread: enough for D <= 16 * COLS */
template <int COLS> __global__ void __launch_bounds__(SIDE *SIDE) sdpa_reference_kernel(const reference_args args)
{
    extern __shared__ double shared[];
    double(*p)[PITCH] = (double(*)[PITCH])shared;                 /* p[key, row] */
    double(*q)[PITCH] = p + ROWS, (*k)[PITCH] = q + DEPTH;        /* q[d, row], k[d, key] */
    double(*v)[SIDE * COLS] = (double(*)[SIDE * COLS])(p + ROWS); /* v[key, d], over q and k */
    const int tx = threadIdx.x % SIDE, ty = threadIdx.x / SIDE;
    const int64_t head = blockIdx.x / args.tiles;
    const int first_row = blockIdx.x % args.tiles * ROWS;

    /* seek to q[b, h, 0, :], k[b, h / group, 0, :] */
    const int64_t q_base = head * args.S * args.D, k_base = head / args.group * args.Skv * args.D;
    const int keys = args.causal ? min(args.Skv, first_row + ROWS) : args.Skv;

    double o[EACH][COLS] = {}, row_max[EACH], row_sum[EACH] = {};
    for (int i = 0; i < EACH; i++)
        row_max[i] = -CUDART_INF;
    for (int first_key = 0; first_key < keys; first_key += ROWS) {
        double s[EACH][EACH];
        scores_qk(s, args, q_base, k_base, first_row, first_key, q, k);
        softmax(o, row_max, row_sum, s, p, args, first_row, first_key);
        output_pv(o, p, v, args, k_base, first_key, keys);
    }
#pragma unroll
    for (int i = 0; i < EACH; i++) {
        int row = first_row + ty * EACH + i;
        double sum = sum_over_row(row_sum[i]);
#pragma unroll
        for (int c = 0; c < COLS; c++)
            if (row < args.S && tx + SIDE * c < args.D) /* a row that sees no key gives zeros */
                args.o[q_base + (int64_t)row * args.D + tx + SIDE * c] = sum == 0 ? 0 : (float)(o[i][c] / sum);
    }
}

template <int COLS> static cudaError_t launch(const reference_args &args, int64_t blocks, cudaStream_t stream)
{
    size_t scratch = sizeof(double) * DEPTH * (2 * PITCH > SIDE * COLS ? 2 * PITCH : SIDE * COLS);
    size_t bytes = sizeof(double) * ROWS * PITCH + scratch;
    cudaError_t status =
        cudaFuncSetAttribute(sdpa_reference_kernel<COLS>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
    if (status != cudaSuccess)
        return status;
    sdpa_reference_kernel<COLS><<<(unsigned)blocks, SIDE * SIDE, bytes, stream>>>(args);
    return cudaGetLastError();
}

/* Devices that cut double precision to 1/32 or 1/64 get the reference only where it takes about 5 s at most: at half of
 * their peak, 128 fused multiply-adds a clock and multiprocessor in single precision. */
static int check_rate(const struct sdpa *problem, const kg_device *device, kg_error *ret_error)
{
    if (device->fp64_ratio <= 4)
        return KG_OK;
    double clock_hz = device->clock_mhz_max > 0 ? device->clock_mhz_max * 1e6 : 1.5e9;
    double flop_per_s = 256.0 * device->units * clock_hz / device->fp64_ratio;
    double flop = 4 * sdpa_visible_pairs(problem) * (double)problem->D;
    if (!(flop <= 5 * 0.5 * flop_per_s))
        return kg_fail(ret_error, KG_EUNSUPPORTED,
                       "reference needs %.1f TFLOP in double precision, which is cut to 1/%d here", flop / 1e12,
                       device->fp64_ratio);
    return KG_OK;
}

extern "C" int sdpa_reference_cuda(const void *problem, const kg_device *device, const kg_tensor *tensors, void *stream,
                                   kg_error *ret_error)
{
    const struct sdpa *sdpa = (const struct sdpa *)problem;
    if (sdpa->D > 256)
        return kg_fail(ret_error, KG_EUNSUPPORTED, "reference on the GPU is for D up to 256, here %lld",
                       (long long)sdpa->D);
    int64_t tiles = (sdpa->S + ROWS - 1) / ROWS, blocks = sdpa->B * sdpa->H * tiles;
    if (sdpa->S > INT32_MAX / 2 || sdpa_kv_length(sdpa) > INT32_MAX / 2 || blocks > INT32_MAX)
        return kg_fail(ret_error, KG_EUNSUPPORTED, "reference on the GPU is for fewer than 2^31 tiles of 64 rows");
    int status = check_rate(sdpa, device, ret_error);
    if (status != KG_OK)
        return status;

    reference_args args;
    args.q = tensors[SDPA_Q].data;
    args.k = tensors[SDPA_K].data;
    args.v = tensors[SDPA_V].data;
    args.o = (float *)tensors[SDPA_O].data;
    args.dtype = tensors[SDPA_Q].dtype;
    args.S = (int)sdpa->S;
    args.Skv = (int)sdpa_kv_length(sdpa);
    args.D = (int)sdpa->D;
    args.group = (int)(sdpa->H / sdpa_kv_heads(sdpa));
    args.tiles = (int)tiles;
    args.causal = sdpa->causal;
    args.scale = sdpa_scale(sdpa);
    cudaError_t launched = sdpa->D <= 64    ? launch<4>(args, blocks, (cudaStream_t)stream)
                           : sdpa->D <= 128 ? launch<8>(args, blocks, (cudaStream_t)stream)
                                            : launch<16>(args, blocks, (cudaStream_t)stream);
    if (launched != cudaSuccess)
        return kg_fail(ret_error, KG_EDEVICE, "reference: %s", cudaGetErrorString(launched));
    return KG_OK;
}
