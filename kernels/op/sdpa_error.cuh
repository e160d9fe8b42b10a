/* sdpa_error.cuh -- the error scale (sdpa_error.h) on the GPU: over the keys once for the softmax, and once more with
 * its result for the sums, in the reference's tiles.
 */
#ifndef SDPA_ERROR_CUH
#define SDPA_ERROR_CUH

#include "op/sdpa_tiles.cuh"

extern "C" {
#include "op/sdpa_error.h"
}

/* ---- inputs as they are multiplied ---------------------------------------------------------------------------- */

/* Elements of a tensor after coding; CODED false: as they lie. */
template <bool CODED> struct coded_source {
    sdpa_plain plain;
    enum sdpa_code code;
    float largest; /* of the block's head, or of all */

    __device__ __forceinline__ double get(int64_t i) const
    {
        const double x = plain.get(i);
        return CODED ? sdpa_error_coded(code, (float)x, largest) : x;
    }
};

/* largest[blockIdx.x] = the largest magnitude of a head, by bits, which are ordered as magnitudes are; zeros before. */
static __global__ void __launch_bounds__(256) sdpa_largest_kernel(sdpa_plain x, int64_t head, unsigned *largest)
{
    unsigned own = 0;
    for (int64_t i = (int64_t)blockIdx.y * 256 + threadIdx.x; i < head; i += (int64_t)gridDim.y * 256)
        own = max(own, __float_as_uint(fabsf((float)x.get(blockIdx.x * head + i))));
    atomicMax(&largest[blockIdx.x], own);
}

/* ---- the scale --------------------------------------------------------------------------------------------------- */

template <typename SCORES> struct error_args {
    sdpa_plain q, k, v;
    const float *o;
    float *error;
    const float *largest[SDPA_O]; /* of each head of q, k and v, or of all; NULL: they are not coded */
    enum sdpa_code code;
    struct sdpa_error_model model;
    sdpa_tiles of;
    SCORES scores;
};

template <bool CODED, typename SCORES>
__device__ __forceinline__ coded_source<CODED> source_of(const error_args<SCORES> &args, const sdpa_plain &plain,
                                                         int tensor, int64_t head)
{
    coded_source<CODED> source = { plain, args.code, 0 };
    if (CODED)
        source.largest = args.largest[tensor][args.code == SDPA_E4M3_TENSOR ? 0 : head];
    return source;
}

/* What all threads know of the block's inputs. */
template <bool CODED> struct error_inputs {
    coded_source<CODED> q, k, v;
};

/* Maximum and sum of each row's weights, over all keys, and how many of those it sees. */
template <bool CODED, typename SCORES>
__device__ __forceinline__ void find_weights(double (&row_max)[EACH], double (&row_sum)[EACH], double (&visible)[EACH],
                                             const error_args<SCORES> &args, const sdpa_place &at,
                                             const error_inputs<CODED> &in, double (*q)[PITCH], double (*k)[PITCH])
{
    const int tx = threadIdx.x % SIDE, ty = threadIdx.x / SIDE;
    double own[EACH] = {};
    for (int i = 0; i < EACH; i++)
        row_max[i] = -CUDART_INF;
    for (int first_key = 0; first_key < at.keys; first_key += ROWS) {
        double s[EACH][EACH], q_squares[EACH], k_squares[EACH];
        scores_qk(s, q_squares, k_squares, args.of, at, in.q, in.k, first_key, q, k);
#pragma unroll
        for (int i = 0; i < EACH; i++)
#pragma unroll
            for (int j = 0; j < EACH; j++) {
                const double score = args.scores.modify(args.of, at.head, at.first_row + ty * EACH + i,
                                                        first_key + tx + SIDE * j, s[i][j] * args.of.scale);
                if (score == -CUDART_INF)
                    continue;
                const double larger = fmax(score, row_max[i]);
                visible[i]++;
                own[i] = own[i] * exp(row_max[i] - larger) + exp(score - larger);
                row_max[i] = larger;
            }
    }
#pragma unroll
    for (int i = 0; i < EACH; i++) {
        const double max = max_over_row(row_max[i]);
        row_sum[i] = sum_over_row(own[i] == 0 ? 0 : own[i] * exp(row_max[i] - max));
        row_max[i] = max;
        visible[i] = sum_over_row(visible[i]);
    }
}

/* For the keys from `first_key` on: of_value[key, row], by which squares of values count, and p[key, row]. */
template <bool CODED, typename SCORES>
__device__ __forceinline__ void
weigh_keys(double (&of_scores)[EACH], double (*of_value)[PITCH], double (*p)[PITCH], const double (&row_max)[EACH],
           const double (&row_sum)[EACH], const double (&visible)[EACH], const error_args<SCORES> &args,
           const sdpa_place &at, const error_inputs<CODED> &in, int first_key, double (*q)[PITCH], double (*k)[PITCH])
{
    const int tx = threadIdx.x % SIDE, ty = threadIdx.x / SIDE;
    double s[EACH][EACH], q_squares[EACH], k_squares[EACH];
    scores_qk(s, q_squares, k_squares, args.of, at, in.q, in.k, first_key, q, k);
#pragma unroll
    for (int i = 0; i < EACH; i++) {
        const int row = at.first_row + ty * EACH + i;
#pragma unroll
        for (int j = 0; j < EACH; j++) {
            double weight = 0, value = 0, score = 0;
            const double scaled = s[i][j] * args.of.scale;
            const double modified = args.scores.modify(args.of, at.head, row, first_key + tx + SIDE * j, scaled);
            if (modified != -CUDART_INF) {
                double score_error = args.model.score * sqrt(q_squares[i]) * sqrt(k_squares[j]);
                if (SCORES::MODIFIED)
                    score_error += SDPA_SCORE_ROUNDING * (1 + fabs(scaled) + fabs(modified));
                weight = exp(modified - row_max[i]) / row_sum[i];
                value = sdpa_error_key(&args.model, weight, sdpa_error_grown(score_error), visible[i], &score);
            }
            of_scores[i] += score;
            of_value[tx + SIDE * j][ty * EACH + i] = value;
            if (CODED)
                p[tx + SIDE * j][ty * EACH + i] = weight;
        }
    }
}

/* of_values += of_value v^2, coded += p v */
template <int COLS, bool CODED, typename SCORES>
__device__ __forceinline__ void add_values(double (&of_values)[EACH][COLS], double (&coded)[EACH][CODED ? COLS : 1],
                                           const double (*of_value)[PITCH], const double (*p)[PITCH],
                                           double (*v)[SIDE * COLS], const error_args<SCORES> &args,
                                           const sdpa_place &at, const error_inputs<CODED> &in, int first_key)
{
    const int tx = threadIdx.x % SIDE, ty = threadIdx.x / SIDE;
    for (int k0 = 0; k0 < ROWS && first_key + k0 < at.keys; k0 += DEPTH) {
        __syncthreads();
        load_values<COLS>(v, in.v, args.of, at, first_key + k0, blockIdx.y * SIDE * COLS);
        __syncthreads();
#pragma unroll 2
        for (int key = 0; key < DEPTH; key++)
#pragma unroll
            for (int c = 0; c < COLS; c++) {
                const double x = v[key][tx + SIDE * c], square = x * x;
#pragma unroll
                for (int i = 0; i < EACH; i++) {
                    of_values[i][c] = fma(of_value[k0 + key][ty * EACH + i], square, of_values[i][c]);
                    if (CODED)
                        coded[i][CODED ? c : 0] = fma(p[k0 + key][ty * EACH + i], x, coded[i][CODED ? c : 0]);
                }
            }
    }
}

/* Columns of the output from blockIdx.y * 16 * COLS on, COLS a thread. */
template <int COLS, bool CODED, typename SCORES>
__global__ void __launch_bounds__(SIDE *SIDE) sdpa_error_kernel(const error_args<SCORES> args)
{
    extern __shared__ double shared[];
    double(*of_value)[PITCH] = (double(*)[PITCH])shared, (*p)[PITCH] = of_value + (CODED ? ROWS : 0);
    double(*q)[PITCH] = p + ROWS, (*k)[PITCH] = q + DEPTH;        /* q[d, row], k[d, key] */
    double(*v)[SIDE * COLS] = (double(*)[SIDE * COLS])(p + ROWS); /* v[key, d], over q and k */
    const int tx = threadIdx.x % SIDE, ty = threadIdx.x / SIDE;
    const sdpa_place at = sdpa_place_of(args.of);
    const error_inputs<CODED> in = { source_of<CODED>(args, args.q, SDPA_Q, at.head),
                                     source_of<CODED>(args, args.k, SDPA_K, at.head / args.of.group),
                                     source_of<CODED>(args, args.v, SDPA_V, at.head / args.of.group) };
    double row_max[EACH], row_sum[EACH], visible[EACH] = {}, of_scores[EACH] = {}, of_values[EACH][COLS] = {};
    double coded[EACH][CODED ? COLS : 1] = {};

    find_weights(row_max, row_sum, visible, args, at, in, q, k);
    for (int first_key = 0; first_key < at.keys; first_key += ROWS) {
        weigh_keys(of_scores, of_value, p, row_max, row_sum, visible, args, at, in, first_key, q, k);
        add_values<COLS>(of_values, coded, of_value, p, v, args, at, in, first_key);
    }
#pragma unroll
    for (int i = 0; i < EACH; i++) {
        const int row = at.first_row + ty * EACH + i;
        const double scores = sum_over_row(of_scores[i]);
#pragma unroll
        for (int c = 0; c < COLS; c++) {
            const int d = (blockIdx.y * COLS + c) * SIDE + tx;
            const int64_t place = at.q_base + (int64_t)row * args.of.D + d;
            if (row < args.of.S && d < args.of.D)
                args.error[place] =
                    sdpa_error_scale(&args.model, args.o[place], CODED ? coded[i][CODED ? c : 0] : args.o[place],
                                     visible[i], of_values[i][c], scores);
        }
    }
}

/* ---- launches ---------------------------------------------------------------------------------------------------- */

template <int COLS, bool CODED, typename SCORES>
static cudaError_t sdpa_error_launch(const error_args<SCORES> &args, unsigned heads, cudaStream_t stream)
{
    const dim3 blocks(heads * (unsigned)args.of.tiles, (unsigned)(args.of.D + SIDE * COLS - 1) / (SIDE * COLS));
    return sdpa_tiles_launch(sdpa_error_kernel<COLS, CODED, SCORES>, args, blocks,
                             sdpa_tiles_bytes<COLS>(CODED ? 2 : 1), stream);
}

/* Largest magnitudes to memory that the caller frees. */
template <typename SCORES>
static cudaError_t find_largest(error_args<SCORES> *args, const kg_tensor *tensors, cudaStream_t stream,
                                float **ret_memory)
{
    const bool by_tensor = args->code == SDPA_E4M3_TENSOR;
    const sdpa_plain sources[SDPA_O] = { args->q, args->k, args->v };
    int64_t heads[SDPA_O], all = 0;
    for (int t = SDPA_Q; t < SDPA_O; t++)
        all += heads[t] = by_tensor ? 1 : tensors[t].dims[0] * tensors[t].dims[1];
    float *next = NULL;
    cudaError_t status = cudaMallocAsync((void **)ret_memory, (size_t)all * sizeof *next, stream);
    if (status == cudaSuccess)
        status = cudaMemsetAsync(*ret_memory, 0, (size_t)all * sizeof *next, stream);
    next = *ret_memory;
    for (int t = SDPA_Q; t < SDPA_O && status == cudaSuccess; t++) {
        const dim3 grid((unsigned)heads[t], by_tensor ? 1024 : 16);
        sdpa_largest_kernel<<<grid, 256, 0, stream>>>(sources[t], kg_tensor_count(&tensors[t]) / heads[t],
                                                      (unsigned *)next);
        args->largest[t] = next;
        next += heads[t];
        status = cudaGetLastError();
    }
    return status;
}

/* The reference ran before, so the problem is one for tiles. */
template <typename SCORES>
static int sdpa_error_run(const struct sdpa *p, const SCORES &scores, const sdpa_tiles &of,
                          const struct sdpa_arithmetic *own, const kg_tensor *tensors, void *stream,
                          kg_error *ret_error)
{
    const cudaStream_t on = (cudaStream_t)stream;
    error_args<SCORES> args = {};
    args.q = { tensors[SDPA_Q].data, tensors[SDPA_Q].dtype };
    args.k = { tensors[SDPA_K].data, tensors[SDPA_Q].dtype };
    args.v = { tensors[SDPA_V].data, tensors[SDPA_Q].dtype };
    args.o = (const float *)tensors[SDPA_O].data;
    args.error = (float *)tensors[SDPA_ERROR].data;
    args.code = own ? own->code : SDPA_UNCODED;
    args.model = sdpa_error_model_of(sdpa_scale(p), own, &tensors[SDPA_Q], &tensors[SDPA_O]);
    args.of = of;
    args.scores = scores;

    float *memory = NULL;
    cudaError_t status = cudaSuccess;
    if (args.code != SDPA_UNCODED)
        status = find_largest(&args, tensors, on, &memory);
    const unsigned heads = (unsigned)(p->B * p->H);
    if (status == cudaSuccess)
        status = args.code != SDPA_UNCODED ? sdpa_error_launch<4, true>(args, heads, on) /* registers for no more */
                 : p->D <= 64              ? sdpa_error_launch<4, false>(args, heads, on)
                                           : sdpa_error_launch<8, false>(args, heads, on);
    if (memory)
        (void)cudaFreeAsync(memory, on);
    if (status != cudaSuccess)
        return kg_fail(ret_error, KG_EDEVICE, "error scale: %s", cudaGetErrorString(status));
    return KG_OK;
}

#endif
