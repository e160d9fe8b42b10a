/* fa1.cu -- fused attention as the FlashAttention paper of 2022 has it (arXiv 2205.14135, algorithm 1): after every
 * tile of keys a row's maximum m, its sum l and its output o are those of the keys so far, o divided by l
 * already.
 *
 *     m' = max(m, max(s))        l' = l 2^(m - m') + sum(2^(s - m'))        o' = (l 2^(m - m') o + 2^(s - m') v) / l'
 *
 * A block owns FA1_ROWS query rows of one head and walks over the tiles of keys, where the paper's walks over the
 * queries inside of that and keeps o in memory. Kept plain: tiles are loaded when they are due, scores and weights pass
 * through shared memory for WMMA. flash.cu is what became of each of these. Another tile: KEYS in fa1_tile.
 */
#include <math_constants.h>
#include <mma.h>

#include "fused/fa1.h"
#include "fused/fa_rows.cuh"
#include "op/softmax_row.cuh"

using namespace nvcuda;

template <typename T_, int D_, int KEYS_, int BLOCKS_> struct fa1_tile {
    using T = T_;
    static constexpr int D = D_;           /* head dimension */
    static constexpr int KEYS = KEYS_;     /* of a step */
    static constexpr int BLOCKS = BLOCKS_; /* that a multiprocessor shall hold: what registers may cost */
    static constexpr int WARPS = FA1_ROWS / 16;
    static constexpr int THREADS = WARPS * 32;

    /* A query row's own floats: first its scores; then, in their place, its weights, and the two factors of o, each
     * 16 times, which is an accumulator's worth of columns. 4 more are against bank conflicts. */
    static constexpr int OLD = KEYS / 2, NEW = OLD + 16, PITCH = NEW + 16 + 4;
    static_assert(KEYS <= PITCH - 4, "scores fit");

    using accumulator = wmma::fragment<wmma::accumulator, 16, 16, 16, float>;
    using left = wmma::fragment<wmma::matrix_a, 16, 16, 16, T, wmma::row_major>;
    using keys = wmma::fragment<wmma::matrix_b, 16, 16, 16, T, wmma::col_major>;
    using values = wmma::fragment<wmma::matrix_b, 16, 16, 16, T, wmma::row_major>;
};

template <typename TILE> struct fa1_shared {
    typename TILE::T q[FA1_ROWS * fa_pitch<TILE::D>];
    typename TILE::T k[TILE::KEYS * fa_pitch<TILE::D>], v[TILE::KEYS * fa_pitch<TILE::D>];
    float rows[FA1_ROWS * TILE::PITCH];
};

/* rows[16, KEYS] = q k^T, for the warp's 16 rows */
template <typename TILE>
__device__ __forceinline__ void scores_qk(float *rows, const typename TILE::T *q, const typename TILE::T *k)
{
    constexpr int PITCH = fa_pitch<TILE::D>;
    typename TILE::accumulator scores[TILE::KEYS / 16];
#pragma unroll
    for (int n = 0; n < TILE::KEYS / 16; n++)
        wmma::fill_fragment(scores[n], 0);
#pragma unroll
    for (int d = 0; d < TILE::D; d += 16) {
        typename TILE::left queries;
        wmma::load_matrix_sync(queries, q + d, PITCH);
#pragma unroll
        for (int n = 0; n < TILE::KEYS / 16; n++) {
            typename TILE::keys keys;
            wmma::load_matrix_sync(keys, k + n * 16 * PITCH + d, PITCH);
            wmma::mma_sync(scores[n], queries, keys, scores[n]);
        }
    }
#pragma unroll
    for (int n = 0; n < TILE::KEYS / 16; n++)
        wmma::store_matrix_sync(rows + n * 16, scores[n], TILE::PITCH, wmma::mem_row_major);
}

/* A row's scores to weights and factors, in place, by two neighbouring lanes. `visible` keys of the tile count. */
template <typename TILE>
__device__ __forceinline__ void softmax(float *row, softmax_row &state, int visible, float scale_log2)
{
    constexpr int COUNT = TILE::KEYS / 2; /* of this lane */
    const int side = threadIdx.x % 2, first = side * COUNT;
    float s[COUNT], row_max = state.row_max, tile_sum = 0;
#pragma unroll
    for (int i = 0; i < COUNT; i++) {
        s[i] = first + i < visible ? row[first + i] * scale_log2 : -CUDART_INF_F;
        row_max = fmaxf(row_max, s[i]);
    }
    /* Finite: every row sees key 0, which is in the first tile. */
    row_max = fmaxf(row_max, __shfl_xor_sync(~0u, row_max, 1));
#pragma unroll
    for (int i = 0; i < COUNT; i++) {
        s[i] = exp2f(s[i] - row_max);
        tile_sum += s[i];
    }
    tile_sum += __shfl_xor_sync(~0u, tile_sum, 1);

    float rescaled = state.row_sum * exp2f(state.row_max - row_max);
    state.row_max = row_max;
    state.row_sum = rescaled + tile_sum;
    float factor = side ? 1 / state.row_sum : rescaled / state.row_sum;
    __syncwarp(); /* all scores have been read */
#pragma unroll
    for (int i = 0; i < COUNT; i += 8)
        fa_store_8((typename TILE::T *)row + first + i, s + i);
#pragma unroll
    for (int i = 0; i < 16; i++)
        row[(side ? TILE::NEW : TILE::OLD) + i] = factor;
}

/* o = old * o + new * (p v), for the warp's 16 rows. Fragments of one type hold the same elements in the same places,
 * so a product by elements needs no knowledge of the layout. */
template <typename TILE>
__device__ __forceinline__ void output_pv(typename TILE::accumulator (&o)[TILE::D / 16], const float *rows,
                                          const typename TILE::T *v)
{
    typename TILE::accumulator old_factor, new_factor;
    typename TILE::left weights[TILE::KEYS / 16];
    wmma::load_matrix_sync(old_factor, rows + TILE::OLD, TILE::PITCH, wmma::mem_row_major);
    wmma::load_matrix_sync(new_factor, rows + TILE::NEW, TILE::PITCH, wmma::mem_row_major);
#pragma unroll
    for (int n = 0; n < TILE::KEYS / 16; n++)
        wmma::load_matrix_sync(weights[n], (const typename TILE::T *)rows + n * 16, 2 * TILE::PITCH);
#pragma unroll
    for (int d = 0; d < TILE::D / 16; d++) {
        typename TILE::accumulator sum;
        wmma::fill_fragment(sum, 0);
#pragma unroll
        for (int n = 0; n < TILE::KEYS / 16; n++) {
            typename TILE::values values;
            wmma::load_matrix_sync(values, v + n * 16 * fa_pitch<TILE::D> + d * 16, fa_pitch<TILE::D>);
            wmma::mma_sync(sum, weights[n], values, sum);
        }
#pragma unroll
        for (int i = 0; i < sum.num_elements; i++)
            o[d].x[i] = old_factor.x[i] * o[d].x[i] + new_factor.x[i] * sum.x[i];
    }
}

/* to[0 .. 16, :] = o, rows below `count`, 16 columns at a time through the warp's own shared memory. */
template <typename TILE>
__device__ __forceinline__ void store(typename TILE::T *to, typename TILE::accumulator (&o)[TILE::D / 16], float *rows,
                                      int count)
{
    const int row = threadIdx.x % 32 / 2, first = threadIdx.x % 2 * 8;
#pragma unroll
    for (int d = 0; d < TILE::D / 16; d++) {
        __syncwarp();
        wmma::store_matrix_sync(rows, o[d], TILE::PITCH, wmma::mem_row_major);
        __syncwarp();
        if (row < count)
            fa_store_8(to + row * TILE::D + d * 16 + first, rows + row * TILE::PITCH + first);
    }
}

template <typename TILE> __global__ void __launch_bounds__(TILE::THREADS, TILE::BLOCKS) fa1_kernel(const fa1_args args)
{
    using T = typename TILE::T;
    constexpr int D = TILE::D, KEYS = TILE::KEYS, THREADS = TILE::THREADS;
    __shared__ __align__(128) fa1_shared<TILE> shared;
    const int head = blockIdx.x / args.tiles, block_row = blockIdx.x % args.tiles * FA1_ROWS;
    const int warp_row = threadIdx.x / 32 * 16, row = warp_row + threadIdx.x % 32 / 2; /* in the block */
    const int block_keys = args.causal ? min(args.Skv, block_row + FA1_ROWS) : args.Skv;
    const int row_keys = args.causal ? min(args.Skv, block_row + row + 1) : args.Skv;
    float *rows = shared.rows + warp_row * TILE::PITCH;

    /* seek to q[b, h, 0, :] and o[b, h, 0, :], to k[b, h / group, 0, :] and v[b, h / group, 0, :] */
    const int64_t q_offset = (int64_t)head * args.S * D, k_offset = (int64_t)(head / args.group) * args.Skv * D;
    const T *k = (const T *)args.k + k_offset, *v = (const T *)args.v + k_offset;
    fa_copy_rows<FA1_ROWS, D, THREADS>(shared.q, (const T *)args.q + q_offset, block_row, args.S);

    softmax_row state = { -CUDART_INF_F, 0 };
    typename TILE::accumulator o[D / 16];
#pragma unroll
    for (int d = 0; d < D / 16; d++)
        wmma::fill_fragment(o[d], 0);
    for (int first = 0; first < block_keys; first += KEYS) {
        __syncthreads(); /* nobody reads the tile before any more */
        fa_copy_rows<KEYS, D, THREADS>(shared.k, k, first, args.Skv);
        fa_copy_rows<KEYS, D, THREADS>(shared.v, v, first, args.Skv);
        __syncthreads();
        scores_qk<TILE>(rows, shared.q + warp_row * fa_pitch<D>, shared.k);
        __syncwarp();
        softmax<TILE>(shared.rows + row * TILE::PITCH, state, row_keys - first, args.scale_log2);
        __syncwarp();
        output_pv<TILE>(o, rows, shared.v);
    }
    const int64_t first_row = block_row + warp_row;
    store<TILE>((T *)args.o + q_offset + first_row * D, o, rows, args.S - (int)first_row);
}

/* ---- what fa1.c sees ---------------------------------------------------------------------------------------- */

template <typename TILE> static const void *kernel_of()
{
    return (const void *)fa1_kernel<TILE>;
}

/* The most keys whose tile fits the 48 KB that a block has without asking. */
template <typename T> static const void *find(int D)
{
    switch (D) {
    case 64:
        return kernel_of<fa1_tile<T, 64, 64, 3>>();
    case 128:
        return kernel_of<fa1_tile<T, 128, 32, 2>>();
    default:
        return nullptr;
    }
}

extern "C" const void *fa1_kernel_find(int D, bool bf16)
{
    return bf16 ? find<__nv_bfloat16>(D) : find<__half>(D);
}
