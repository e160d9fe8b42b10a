/* sdpa_tiles.cuh -- how the reference and the error scale walk over attention on the GPU, in double precision.
 *
 * A block owns 64 query rows of one head and walks over the keys 64 at a time. Its 256 threads form a 16 x 16 square:
 * a thread computes 4 x 4 of the scores, then 4 rows x D/16 columns of the output. A row belongs to 16 neighbouring
 * lanes.
 */
#ifndef SDPA_TILES_CUH
#define SDPA_TILES_CUH

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <math_constants.h>

extern "C" {
#include "op/sdpa.h"
}

#define ROWS 64  /* of Q in a block, and keys in a step */
#define SIDE 16  /* threads along a side of the square */
#define EACH 4   /* rows of a thread: ROWS / SIDE */
#define DEPTH 16 /* dims, or keys, in shared memory at a time */
#define PITCH 66 /* doubles from row to row: two words more than ROWS, against bank conflicts */

/* Lengths of a problem; `first_keys` is sdpa_first_keys. */
struct sdpa_tiles {
    int S, Skv, D, group, tiles, first_keys;
    double scale;
};

static sdpa_tiles sdpa_tiles_of(const struct sdpa *p)
{
    sdpa_tiles of;
    of.S = (int)p->S;
    of.Skv = (int)sdpa_kv_length(p);
    of.D = (int)p->D;
    of.group = (int)sdpa_group(p);
    of.tiles = (int)((p->S + ROWS - 1) / ROWS);
    of.first_keys = (int)sdpa_first_keys(p);
    of.scale = sdpa_scale(p);
    return of;
}

/* Where a block is: its head, its first row, the head's first elements, and how many keys any of its rows sees. */
struct sdpa_place {
    int64_t head, q_base, k_base;
    int first_row, keys;
};

__device__ __forceinline__ sdpa_place sdpa_place_of(const sdpa_tiles &of)
{
    sdpa_place at;
    at.head = blockIdx.x / of.tiles;
    at.first_row = blockIdx.x % of.tiles * ROWS;
    at.q_base = at.head * of.S * of.D;
    at.k_base = at.head / of.group * of.Skv * of.D;
    at.keys = min(of.Skv, of.first_keys + at.first_row + ROWS - 1);
    return at;
}

__device__ __forceinline__ bool is_visible(const sdpa_tiles &of, int row, int key)
{
    return key < of.Skv && key < of.first_keys + row;
}

/* Scores as the mask of the struct sdpa has them. What else has `modify` can stand in its place, with `first_keys` such
 * that every row sees all: then `modify` alone hides. */
struct sdpa_plain_scores {
    static constexpr bool MODIFIED = false;

    __device__ __forceinline__ double modify(const sdpa_tiles &of, int64_t, int row, int key, double score) const
    {
        return is_visible(of, row, key) ? score : -CUDART_INF;
    }
};

/* Elements of a tensor as they lie. What else has `data` and `get` can be walked over too. */
struct sdpa_plain {
    const void *data;
    enum kg_dtype dtype;

    __device__ __forceinline__ double get(int64_t i) const
    {
        if (dtype == KG_F16)
            return (double)__half2float(((const __half *)data)[i]);
        if (dtype == KG_BF16)
            return (double)__bfloat162float(((const __nv_bfloat16 *)data)[i]);
        return (double)((const float *)data)[i];
    }
};

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
template <typename SOURCE>
__device__ __forceinline__ void load_dims(double (*to)[PITCH], const SOURCE &from, int64_t base, int first, int rows,
                                          int d0, int D)
{
    for (int i = threadIdx.x; i < ROWS * DEPTH; i += SIDE * SIDE) {
        int row = i / DEPTH, d = i % DEPTH;
        bool inside = first + row < rows && d0 + d < D;
        to[d][row] = inside ? from.get(base + (int64_t)(first + row) * D + d0 + d) : 0;
    }
}

/* s[4][4] = q[rows ty*4 .., :] . k[keys tx + 16*j, :], 16 dims at a time, and the squares of both; without their use
 * these cost nothing. */
template <typename SOURCE>
__device__ __forceinline__ void scores_qk(double (&s)[EACH][EACH], double (&q_squares)[EACH], double (&k_squares)[EACH],
                                          const sdpa_tiles &of, const sdpa_place &at, const SOURCE &q_source,
                                          const SOURCE &k_source, int first_key, double (*q)[PITCH], double (*k)[PITCH])
{
    int tx = threadIdx.x % SIDE, ty = threadIdx.x / SIDE;
    for (int i = 0; i < EACH; i++) {
        q_squares[i] = k_squares[i] = 0;
        for (int j = 0; j < EACH; j++)
            s[i][j] = 0;
    }
    for (int d0 = 0; d0 < of.D; d0 += DEPTH) {
        __syncthreads();
        load_dims(q, q_source, at.q_base, at.first_row, of.S, d0, of.D);
        load_dims(k, k_source, at.k_base, first_key, of.Skv, d0, of.D);
        __syncthreads();
#pragma unroll 4
        for (int d = 0; d < DEPTH; d++)
#pragma unroll
            for (int i = 0; i < EACH; i++) {
                double own = q[d][ty * EACH + i], its = k[d][tx + SIDE * i];
                q_squares[i] = fma(own, own, q_squares[i]);
                k_squares[i] = fma(its, its, k_squares[i]);
#pragma unroll
                for (int j = 0; j < EACH; j++)
                    s[i][j] = fma(own, k[d][tx + SIDE * j], s[i][j]);
            }
    }
}

/* v[key, d - first_d] of the DEPTH keys from `first` on, zero outside */
template <int COLS, typename SOURCE>
__device__ __forceinline__ void load_values(double (*v)[SIDE * COLS], const SOURCE &from, const sdpa_tiles &of,
                                            const sdpa_place &at, int first, int first_d)
{
    for (int i = threadIdx.x; i < DEPTH * SIDE * COLS; i += SIDE * SIDE) {
        int key = first + i / (SIDE * COLS), d = first_d + i % (SIDE * COLS);
        bool inside = key < of.Skv && d < of.D;
        v[0][i] = inside ? from.get(at.k_base + (int64_t)key * of.D + d) : 0;
    }
}

/* Bytes of shared memory for `weights` squares of a number for each row and key, and behind them q and k, or v. */
template <int COLS> static size_t sdpa_tiles_bytes(int weights)
{
    size_t scratch = sizeof(double) * DEPTH * (2 * PITCH > SIDE * COLS ? 2 * PITCH : SIDE * COLS);
    return (size_t)weights * sizeof(double) * ROWS * PITCH + scratch;
}

template <typename ARGS>
static cudaError_t sdpa_tiles_launch(void (*kernel)(ARGS), const ARGS &args, dim3 blocks, size_t bytes,
                                     cudaStream_t stream)
{
    cudaError_t status = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
    if (status != cudaSuccess)
        return status;
    kernel<<<blocks, SIDE * SIDE, bytes, stream>>>(args);
    return cudaGetLastError();
}

#endif
