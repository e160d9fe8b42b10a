/* sdpa_reference.cuh -- the references on the GPU: attention in double precision from the first product to the last
 * sum, output FP32. What every CUDA backend is judged by, so it is kept plain; it is tiled (sdpa_tiles.cuh) because 16
 * heads of 16384 keys must not take minutes. The softmax is online: maximum and sum of a row are corrected as keys come
 * in.
 */
#ifndef SDPA_REFERENCE_CUH
#define SDPA_REFERENCE_CUH

#include "op/sdpa_tiles.cuh"

template <typename SCORES> struct reference_args {
    sdpa_plain q, k, v;
    float *o;
    sdpa_tiles of;
    SCORES scores;
};

/* Scores of the keys from `first_key` on become weights, p[key, row]; what was summed before is rescaled. */
template <int COLS, typename SCORES>
__device__ __forceinline__ void softmax(double (&o)[EACH][COLS], double (&row_max)[EACH], double (&row_sum)[EACH],
                                        double (&s)[EACH][EACH], double (*p)[PITCH], const reference_args<SCORES> &args,
                                        const sdpa_place &at, int first_key)
{
    const int tx = threadIdx.x % SIDE, ty = threadIdx.x / SIDE;
#pragma unroll
    for (int i = 0; i < EACH; i++) {
        int row = at.first_row + ty * EACH + i;
        double max = row_max[i];
#pragma unroll
        for (int j = 0; j < EACH; j++) {
            int key = first_key + tx + SIDE * j;
            s[i][j] = args.scores.modify(args.of, at.head, row, key, s[i][j] * args.of.scale);
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

/* o += p v, the keys from `first_key` on, DEPTH of them at a time in v[key, d] */
template <int COLS, typename SCORES>
__device__ __forceinline__ void output_pv(double (&o)[EACH][COLS], const double (*p)[PITCH], double (*v)[SIDE * COLS],
                                          const reference_args<SCORES> &args, const sdpa_place &at, int first_key)
{
    const int tx = threadIdx.x % SIDE, ty = threadIdx.x / SIDE;
    for (int k0 = 0; k0 < ROWS && first_key + k0 < at.keys; k0 += DEPTH) {
        __syncthreads();
        load_values<COLS>(v, args.v, args.of, at, first_key + k0, 0);
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
template <int COLS, typename SCORES>
__global__ void __launch_bounds__(SIDE *SIDE) sdpa_reference_kernel(const reference_args<SCORES> args)
{
    extern __shared__ double shared[];
    double(*p)[PITCH] = (double(*)[PITCH])shared;                 /* p[key, row] */
    double(*q)[PITCH] = p + ROWS, (*k)[PITCH] = q + DEPTH;        /* q[d, row], k[d, key] */
    double(*v)[SIDE * COLS] = (double(*)[SIDE * COLS])(p + ROWS); /* v[key, d], over q and k */
    const int tx = threadIdx.x % SIDE, ty = threadIdx.x / SIDE;
    const sdpa_place at = sdpa_place_of(args.of);

    double o[EACH][COLS] = {}, row_max[EACH], row_sum[EACH] = {};
    for (int i = 0; i < EACH; i++)
        row_max[i] = -CUDART_INF;
    for (int first_key = 0; first_key < at.keys; first_key += ROWS) {
        double s[EACH][EACH], q_squares[EACH], k_squares[EACH];
        scores_qk(s, q_squares, k_squares, args.of, at, args.q, args.k, first_key, q, k);
        softmax(o, row_max, row_sum, s, p, args, at, first_key);
        output_pv(o, p, v, args, at, first_key);
    }
#pragma unroll
    for (int i = 0; i < EACH; i++) {
        int row = at.first_row + ty * EACH + i;
        double sum = sum_over_row(row_sum[i]);
#pragma unroll
        for (int c = 0; c < COLS; c++)
            if (row < args.of.S && tx + SIDE * c < args.of.D) /* a row that sees no key gives zeros */
                args.o[at.q_base + (int64_t)row * args.of.D + tx + SIDE * c] = sum == 0 ? 0 : (float)(o[i][c] / sum);
    }
}

template <int COLS, typename SCORES>
static cudaError_t sdpa_reference_launch(const reference_args<SCORES> &args, int64_t blocks, cudaStream_t stream)
{
    return sdpa_tiles_launch(sdpa_reference_kernel<COLS, SCORES>, args, dim3((unsigned)blocks),
                             sdpa_tiles_bytes<COLS>(1), stream);
}

/* Devices that cut double precision to 1/32 or 1/64 get the reference only where it takes about 5 s at most: at half of
 * their peak, 128 fused multiply-adds a clock and multiprocessor in single precision. */
static int check_rate(double flop, const kg_device *device, kg_error *ret_error)
{
    if (device->fp64_ratio <= 4)
        return KG_OK;
    double clock_hz = device->clock_mhz_max > 0 ? device->clock_mhz_max * 1e6 : 1.5e9;
    double flop_per_s = 256.0 * device->units * clock_hz / device->fp64_ratio;
    if (!(flop <= 5 * 0.5 * flop_per_s))
        return kg_fail(ret_error, KG_EUNSUPPORTED,
                       "reference needs %.1f TFLOP in double precision, which is cut to 1/%d here", flop / 1e12,
                       device->fp64_ratio);
    return KG_OK;
}

/* `flop`: of the pairs that are walked over. */
template <typename SCORES>
static int sdpa_reference_run(const struct sdpa *sdpa, double flop, const SCORES &scores, const sdpa_tiles &of,
                              const kg_device *device, const kg_tensor *tensors, void *stream, kg_error *ret_error)
{
    if (sdpa->D > 256)
        return kg_fail(ret_error, KG_EUNSUPPORTED, "reference on the GPU is for D up to 256, here %lld",
                       (long long)sdpa->D);
    int64_t tiles = (sdpa->S + ROWS - 1) / ROWS, blocks = sdpa->B * sdpa->H * tiles;
    if (sdpa->S > INT32_MAX / 2 || sdpa_kv_length(sdpa) > INT32_MAX / 2 || blocks > INT32_MAX)
        return kg_fail(ret_error, KG_EUNSUPPORTED, "reference on the GPU is for fewer than 2^31 tiles of 64 rows");
    int status = check_rate(flop, device, ret_error);
    if (status != KG_OK)
        return status;

    const enum kg_dtype dtype = tensors[SDPA_Q].dtype;
    const reference_args<SCORES> args = { { tensors[SDPA_Q].data, dtype },
                                          { tensors[SDPA_K].data, dtype },
                                          { tensors[SDPA_V].data, dtype },
                                          (float *)tensors[SDPA_O].data,
                                          of,
                                          scores };
    const cudaStream_t on = (cudaStream_t)stream;
    cudaError_t launched = sdpa->D <= 64    ? sdpa_reference_launch<4>(args, blocks, on)
                           : sdpa->D <= 128 ? sdpa_reference_launch<8>(args, blocks, on)
                                            : sdpa_reference_launch<16>(args, blocks, on);
    if (launched != cudaSuccess)
        return kg_fail(ret_error, KG_EDEVICE, "reference: %s", cudaGetErrorString(launched));
    return KG_OK;
}

#endif
