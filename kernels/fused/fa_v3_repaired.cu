/* fa_v3_repaired.cu -- the kernel of fa_v3.cu with its faults mended: the same tiles of 32 queries x 64 keys, blocks of
 * 128 threads and online softmax. What was mended, one by one:
 *
 * - The outputs are in WMMA accumulators, whose indices are known when it is compiled: registers, and no stack.
 * - All four warps work: a warp has 16 rows x 32 keys of the scores, and 16 rows x 32 dims of the output; a row's
 *   softmax is done by four neighbouring lanes.
 * - Tiles of k and v are staged in shared memory by 16 bytes a thread, once for all rows; tensor cores multiply.
 * - Tiles that a causal mask hides whole are left out.
 *
 * Where to go from here is flash.cu.
 */
#include <math_constants.h>
#include <mma.h>

#include "fused/fa_rows.cuh"
#include "fused/fa_v3.h"
#include "op/softmax_row.cuh"

#define D FA_V3_D
#define ROWS 32
#define KEYS 64
#define THREADS FA_V3_THREADS

#define VALUE_PITCH fa_pitch<D>
#define P_PITCH fa_pitch<KEYS>
#define SCORE_PITCH (KEYS + 4)
#define RESCALE_PITCH (16 + 4)
#define O_PITCH (D + 4)

using namespace nvcuda;
using accumulator = wmma::fragment<wmma::accumulator, 16, 16, 16, float>;
using left = wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major>;

struct shared_tiles {
    __half q[ROWS * VALUE_PITCH], k[KEYS * VALUE_PITCH], v[KEYS * VALUE_PITCH];
    union {
        float scores[ROWS * SCORE_PITCH];
        float o[ROWS * O_PITCH]; /* after the last step */
    };
    __half p[ROWS * P_PITCH];
    float rescale[ROWS * RESCALE_PITCH]; /* of a row, 16 times: an accumulator's worth of columns */
};

/* scores = q k^T: warp w has rows w / 2 * 16 … and keys w % 2 * 32 … + 31 */
__device__ __forceinline__ void scores_qk(shared_tiles &tiles, int warp)
{
    const int row = warp / 2 * 16, key = warp % 2 * 32;
    accumulator scores[2];
    wmma::fill_fragment(scores[0], 0);
    wmma::fill_fragment(scores[1], 0);
#pragma unroll
    for (int d = 0; d < D; d += 16) {
        left q;
        wmma::load_matrix_sync(q, tiles.q + row * VALUE_PITCH + d, VALUE_PITCH);
#pragma unroll
        for (int half = 0; half < 2; half++) {
            wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> k;
            wmma::load_matrix_sync(k, tiles.k + (key + half * 16) * VALUE_PITCH + d, VALUE_PITCH);
            wmma::mma_sync(scores[half], q, k, scores[half]);
        }
    }
#pragma unroll
    for (int half = 0; half < 2; half++)
        wmma::store_matrix_sync(tiles.scores + row * SCORE_PITCH + key + half * 16, scores[half], SCORE_PITCH,
                                wmma::mem_row_major);
}

/* scores -> p and rescale, of a row by four neighbouring lanes; `visible` keys of the tile count. At least one does in
 * the first tile, so `row_max` is finite. */
__device__ __forceinline__ void softmax(shared_tiles &tiles, softmax_row &state, int visible, float scale_log2)
{
    const int row = threadIdx.x / 4, first = threadIdx.x % 4 * 16;
    float s[16], row_max = state.row_max, tile_sum = 0;
#pragma unroll
    for (int i = 0; i < 16; i++) {
        s[i] = first + i < visible ? tiles.scores[row * SCORE_PITCH + first + i] * scale_log2 : -CUDART_INF_F;
        row_max = fmaxf(row_max, s[i]);
    }
    row_max = quad_max(row_max);
#pragma unroll
    for (int i = 0; i < 16; i++) {
        s[i] = exp2f(s[i] - row_max);
        tile_sum += s[i];
    }
    fa_store_8(tiles.p + row * P_PITCH + first, s);
    fa_store_8(tiles.p + row * P_PITCH + first + 8, s + 8);
    const float rescale = softmax_row_add(state, row_max, quad_sum(tile_sum));
#pragma unroll
    for (int i = 0; i < 4; i++)
        tiles.rescale[row * RESCALE_PITCH + threadIdx.x % 4 * 4 + i] = rescale;
}

/* o = rescale * o + p v: warp w has rows w / 2 * 16 … and dims w % 2 * 32 … + 31. Fragments of one type hold the same
 * elements in the same places, so a product by elements needs no knowledge of the layout. */
__device__ __forceinline__ void output_pv(const shared_tiles &tiles, accumulator (&o)[2], int warp)
{
    const int row = warp / 2 * 16, dim = warp % 2 * 32;
    accumulator rescale;
    wmma::load_matrix_sync(rescale, tiles.rescale + row * RESCALE_PITCH, RESCALE_PITCH, wmma::mem_row_major);
#pragma unroll
    for (int half = 0; half < 2; half++)
#pragma unroll
        for (int i = 0; i < rescale.num_elements; i++)
            o[half].x[i] *= rescale.x[i];
#pragma unroll
    for (int key = 0; key < KEYS; key += 16) {
        left p;
        wmma::load_matrix_sync(p, tiles.p + row * P_PITCH + key, P_PITCH);
#pragma unroll
        for (int half = 0; half < 2; half++) {
            wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> v;
            wmma::load_matrix_sync(v, tiles.v + key * VALUE_PITCH + dim + half * 16, VALUE_PITCH);
            wmma::mma_sync(o[half], p, v, o[half]);
        }
    }
}

/* to[0 .. ROWS, :] = o * factor, rows below `count`: thread t writes dims t % 4 * 16 … + 15 of row t / 4. */
__device__ __forceinline__ void store(__half *to, const accumulator (&o)[2], shared_tiles &tiles, int warp, int count,
                                      float factor)
{
#pragma unroll
    for (int half = 0; half < 2; half++)
        wmma::store_matrix_sync(tiles.o + warp / 2 * 16 * O_PITCH + warp % 2 * 32 + half * 16, o[half], O_PITCH,
                                wmma::mem_row_major);
    __syncthreads();
    const int row = threadIdx.x / 4, first = threadIdx.x % 4 * 16;
    if (row >= count)
        return;
    float values[16];
#pragma unroll
    for (int i = 0; i < 16; i++)
        values[i] = tiles.o[row * O_PITCH + first + i] * factor;
    fa_store_8(to + row * D + first, values);
    fa_store_8(to + row * D + first + 8, values + 8);
}

extern "C" __global__ void __launch_bounds__(THREADS, 4) fa_v3_repaired_kernel(const fa_v3_args args)
{
    __shared__ __align__(128) shared_tiles tiles;
    const int warp = threadIdx.x / 32, block_row = blockIdx.x * ROWS;
    const int block_keys = args.causal ? min(args.Skv, block_row + ROWS) : args.Skv;
    const int row_keys = args.causal ? min(args.Skv, block_row + (int)threadIdx.x / 4 + 1) : args.Skv;

    /* seek to q[b, h, row, :] and o[b, h, row, :], to k[b, h / group, 0, :] and v[b, h / group, 0, :] */
    const int64_t head = (int64_t)blockIdx.z * args.H + blockIdx.y;
    const int64_t q_offset = head * args.S * D, k_offset = head / args.group * args.Skv * D;
    const __half *k = (const __half *)args.k + k_offset, *v = (const __half *)args.v + k_offset;
    fa_copy_rows<ROWS, D, THREADS>(tiles.q, (const __half *)args.q + q_offset, block_row, args.S);

    softmax_row state = { -CUDART_INF_F, 0 };
    accumulator o[2];
    wmma::fill_fragment(o[0], 0);
    wmma::fill_fragment(o[1], 0);
    for (int first = 0; first < block_keys; first += KEYS) {
        __syncthreads(); /* nobody reads the tile before any more */
        fa_copy_rows<KEYS, D, THREADS>(tiles.k, k, first, args.Skv);
        fa_copy_rows<KEYS, D, THREADS>(tiles.v, v, first, args.Skv);
        __syncthreads();
        scores_qk(tiles, warp);
        __syncthreads();
        softmax(tiles, state, row_keys - first, args.scale_log2);
        __syncthreads();
        output_pv(tiles, o, warp);
    }
    store((__half *)args.o + q_offset + (int64_t)block_row * D, o, tiles, warp, args.S - block_row, 1 / state.row_sum);
}

extern "C" const void *fa_v3_find_repaired(void)
{
    return (const void *)fa_v3_repaired_kernel;
}
