/* pathology.cu -- plain attention that is right, and the same with one thing planted that makes kernels slow. FP16, D
 * 64, 4 warps of 16 query rows, 64 keys a step, WMMA 16x16x16 with FP32 accumulation, softmax online in FP32. Grid
 * (ceil(S / 64), heads).
 *
 * One source, a binary for each switch below: kernels/meson.build compiles it for each name of PATHOLOGIES in
 * pathology.h, at most one switch set. A switch plants one idea and leaves the results as they are. A new one gets a
 * default here.
 *
 * A step of the loop: [rows of K and V -> tiles], then each warp for itself: [scores = q k^T] [softmax: p, rescale]
 * [o = rescale * o + p v].
 */
#include <cuda_fp16.h>
#include <math_constants.h>
#include <mma.h>
#include <stdint.h>

#include "op/softmax_row.cuh"
#include "pathology/pathology.h"

#ifndef PATHOLOGY_STRIDED_LOADS
#define PATHOLOGY_STRIDED_LOADS 0 /* the 32 lanes of a load are in 32 rows, 128 bytes apart; else in 4 */
#endif
#ifndef PATHOLOGY_NO_STAGING
#define PATHOLOGY_NO_STAGING 0 /* fragments of K and V come from memory; else from tiles that the block shares */
#endif
#ifndef PATHOLOGY_EXTRA_BARRIERS
#define PATHOLOGY_EXTRA_BARRIERS 0 /* 38 barriers of the block a step; else 2 */
#endif
#ifndef PATHOLOGY_DIVERGENCE
#define PATHOLOGY_DIVERGENCE 0 /* four lanes at a time do the softmax; else all 32 */
#endif
#ifndef PATHOLOGY_OVER_UNROLLED
#define PATHOLOGY_OVER_UNROLLED 0 /* a step is unrolled whole and its 32 fragments loaded first; else by halves */
#endif
#ifndef PATHOLOGY_TINY_BLOCKS
#define PATHOLOGY_TINY_BLOCKS 0 /* a block is one warp; else 4 */
#endif
#ifndef PATHOLOGY_SERIAL_BATCH
#define PATHOLOGY_SERIAL_BATCH 0 /* the grid is one head's, and each block goes through all; else a head a block */
#endif

#define JOIN_(a, b, c) a##b##c
#define JOIN(a, b, c) JOIN_(a, b, c)
#define KERNEL JOIN(pathology_, PATHOLOGY_NAME, _kernel)
#define FIND JOIN(pathology_, PATHOLOGY_NAME, _find)

#define D PATHOLOGY_D
#define ROWS 16 /* query rows of a warp */
#define KEYS 64 /* of a step */
#define WARPS (PATHOLOGY_TINY_BLOCKS ? 1 : 4)
#define THREADS (WARPS * 32)
#define BLOCKS 4           /* that a multiprocessor is to hold, by registers */
#define GROUPS (KEYS / 16) /* of 16 keys */
#define PARTS (D / 16)     /* of 16 dims */

/* Row lengths in shared memory. WMMA wants 16-row blocks to start at 32 bytes; the rest is against bank conflicts. */
#define PITCH (D + 8)
#define SCORE_PITCH (KEYS + 8)
#define RESCALE_PITCH (16 + 4)

constexpr int unrolled = PATHOLOGY_OVER_UNROLLED ? GROUPS : 2; /* of the loops over groups */

using namespace nvcuda;
using accumulator = wmma::fragment<wmma::accumulator, 16, 16, 16, float>;
using left = wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major>;
using key_fragment = wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major>;
using value_fragment = wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major>;

/* What a warp has for itself. */
struct warp_tile {
    union {
        float scores[ROWS * SCORE_PITCH]; /* after the last step: o */
        __half rows[ROWS * PITCH];        /* q, later p */
    };
    float rescale[ROWS * RESCALE_PITCH]; /* of a row, 16 times: an accumulator's worth of columns */
#if PATHOLOGY_NO_STAGING
    __half cut[16 * D]; /* 16 rows of K or V among which a head ends */
#endif
};

struct shared_tiles {
#if !PATHOLOGY_NO_STAGING
    __half k[KEYS * PITCH], v[KEYS * PITCH];
#endif
    warp_tile warps[WARPS];
};

/* A warp's own shared memory is about to be read by other lanes than wrote it. */
__device__ __forceinline__ void warp_barrier()
{
#if PATHOLOGY_EXTRA_BARRIERS
    __syncthreads();
#else
    __syncwarp();
#endif
}

/* After a product of fragments, where nothing needs to wait. */
__device__ __forceinline__ void needless_barrier()
{
#if PATHOLOGY_EXTRA_BARRIERS
    __syncthreads();
#endif
}

/* ---- memory to shared memory -------------------------------------------------------------------------------- */

/* Copies rows first … first + rows - 1 of a head by `threads` threads, 16 bytes a thread at a time; rows from `end` on
 * are zeros. */
template <int rows, int threads, int pitch>
__device__ __forceinline__ void copy_rows(__half *to, const __half *head, int first, int end, int thread)
{
#pragma unroll
    for (int i = 0; i < rows * 8 / threads; i++) {
        int piece = i * threads + thread;
        int row = PATHOLOGY_STRIDED_LOADS ? piece % rows : piece / 8;
        int column = PATHOLOGY_STRIDED_LOADS ? piece / rows * 8 : piece % 8 * 8;
        uint4 eight = make_uint4(0, 0, 0, 0);
        if (first + row < end)
            eight = *(const uint4 *)(head + (int64_t)(first + row) * D + column);
        *(uint4 *)(to + row * pitch + column) = eight;
    }
}

/* ---- shared memory to fragments ----------------------------------------------------------------------------- */

/* The pieces of 16 keys x 16 dims of a step's K or V: [group of keys][part of dims]. A group is opened before its parts
 * are taken. */
#if PATHOLOGY_OVER_UNROLLED
template <class fragment> struct pieces {
    fragment loaded[GROUPS][PARTS];

    __device__ __forceinline__ void load(const __half *tile)
    {
#pragma unroll
        for (int group = 0; group < GROUPS; group++)
#pragma unroll
            for (int part = 0; part < PARTS; part++)
                wmma::load_matrix_sync(loaded[group][part], tile + group * 16 * PITCH + part * 16, PITCH);
    }
    __device__ __forceinline__ void open(int)
    {
    }
    __device__ __forceinline__ const fragment &take(int group, int part) const
    {
        return loaded[group][part];
    }
};
#elif PATHOLOGY_NO_STAGING
template <class fragment> struct pieces {
    warp_tile &own;
    const __half *head;
    int first, end, lane;
    const __half *rows; /* of the open group */

    /* They are read where they lie; but where the head ends among them, from a copy with zeros after its end. */
    __device__ __forceinline__ void open(int group)
    {
        int row = first + group * 16;
        rows = head + (int64_t)row * D;
        if (row + 16 <= end)
            return;
        __syncwarp(); /* nobody reads the copy before any more */
        copy_rows<16, 32, D>(own.cut, head, row, end, lane);
        __syncwarp();
        rows = own.cut;
    }
    __device__ __forceinline__ fragment take(int, int part) const
    {
        fragment piece;
        wmma::load_matrix_sync(piece, rows + part * 16, D);
        return piece;
    }
};
#else
template <class fragment> struct pieces {
    const __half *tile;

    __device__ __forceinline__ void open(int)
    {
    }
    __device__ __forceinline__ fragment take(int group, int part) const
    {
        fragment piece;
        wmma::load_matrix_sync(piece, tile + group * 16 * PITCH + part * 16, PITCH);
        return piece;
    }
};
#endif

/* ---- steps of the kernel ------------------------------------------------------------------------------------ */

/* q of the warp's rows, once. */
__device__ __forceinline__ void load_queries(warp_tile &own, left (&q)[PARTS], const __half *head, int first, int end,
                                             int lane)
{
    warp_barrier(); /* SERIAL_BATCH: the head before was written from here */
    copy_rows<ROWS, 32, PITCH>(own.rows, head, first, end, lane);
    warp_barrier();
#pragma unroll
    for (int part = 0; part < PARTS; part++)
        wmma::load_matrix_sync(q[part], own.rows + part * 16, PITCH);
    warp_barrier(); /* scores go there */
}

/* The lane's scores, in powers of two, and the largest of them and `row_max`. `visible` keys of the tile are there.
 * Two lanes have a row: lane l the scores l % 2 * 4 … + 3 of every eight of row l / 2. */
__device__ __forceinline__ float read_scores(const warp_tile &own, float (&s)[KEYS / 2], float scale_log2, int visible,
                                             float row_max, int lane)
{
    const float *row = own.scores + lane / 2 * SCORE_PITCH;
#pragma unroll
    for (int i = 0; i < KEYS / 2; i += 4) {
        int key = i * 2 + lane % 2 * 4;
        float4 four = *(const float4 *)(row + key);
        s[i] = key < visible ? four.x * scale_log2 : -CUDART_INF_F;
        s[i + 1] = key + 1 < visible ? four.y * scale_log2 : -CUDART_INF_F;
        s[i + 2] = key + 2 < visible ? four.z * scale_log2 : -CUDART_INF_F;
        s[i + 3] = key + 3 < visible ? four.w * scale_log2 : -CUDART_INF_F;
        row_max = fmaxf(fmaxf(row_max, fmaxf(s[i], s[i + 1])), fmaxf(s[i + 2], s[i + 3]));
    }
    return row_max;
}

/* p of the lane's scores, and their sum. */
__device__ __forceinline__ float write_weights(warp_tile &own, const float (&s)[KEYS / 2], float row_max, int lane)
{
    __half *row = own.rows + lane / 2 * PITCH;
    float tile_sum = 0;
#pragma unroll
    for (int i = 0; i < KEYS / 2; i += 4) {
        float a = exp2f(s[i] - row_max), b = exp2f(s[i + 1] - row_max);
        float c = exp2f(s[i + 2] - row_max), d = exp2f(s[i + 3] - row_max);
        tile_sum += a + b + (c + d);
        __half2 *to = (__half2 *)(row + i * 2 + lane % 2 * 4);
        to[0] = __floats2half2_rn(a, b);
        to[1] = __floats2half2_rn(c, d);
    }
    return tile_sum;
}

/* The row's 16 places of `rescale`, eight by each of its lanes. */
__device__ __forceinline__ void write_rescale(warp_tile &own, float rescale, int lane)
{
    float4 *to = (float4 *)(own.rescale + lane / 2 * RESCALE_PITCH + lane % 2 * 8);
    to[0] = to[1] = make_float4(rescale, rescale, rescale, rescale);
}

/* Does `work`; with DIVERGENCE in eight branches, which a warp goes through one after another. */
template <class function> __device__ __forceinline__ void each_in_turn(int lane, function work)
{
#if PATHOLOGY_DIVERGENCE
#pragma unroll 1
    for (int turn = 0; turn < 8; turn++)
        if (turn == lane % 8)
            work();
#else
    work();
#endif
}

/* scores -> p and rescale. At least one key of a tile is visible, so `row_max` is finite. */
__device__ __forceinline__ void softmax(warp_tile &own, softmax_row &state, float scale_log2, int visible, int lane)
{
    float s[KEYS / 2], row_max = state.row_max, tile_sum = 0;
    each_in_turn(lane, [&] { row_max = read_scores(own, s, scale_log2, visible, row_max, lane); });
    row_max = fmaxf(row_max, __shfl_xor_sync(~0u, row_max, 1));
    warp_barrier(); /* p takes the place of the scores */
    each_in_turn(lane, [&] { tile_sum = write_weights(own, s, row_max, lane); });
    tile_sum += __shfl_xor_sync(~0u, tile_sum, 1);
    float rescale = exp2f(state.row_max - row_max);
    write_rescale(own, rescale, lane);
    state.row_sum = state.row_sum * rescale + tile_sum;
    state.row_max = row_max;
    warp_barrier();
}

/* Fragments of one type hold the same elements in the same places, so a product by elements needs no knowledge of the
 * layout. */
__device__ __forceinline__ void scale_rows(const warp_tile &own, accumulator (&o)[PARTS])
{
    accumulator rescale;
    wmma::load_matrix_sync(rescale, own.rescale, RESCALE_PITCH, wmma::mem_row_major);
#pragma unroll
    for (int part = 0; part < PARTS; part++)
        for (int i = 0; i < rescale.num_elements; i++)
            o[part].x[i] *= rescale.x[i];
}

/* scores = q k^T. */
__device__ __forceinline__ void scores_qk(warp_tile &own, const left (&q)[PARTS], pieces<key_fragment> &k)
{
    warp_barrier(); /* nobody reads p any more, whose place they take */
#pragma unroll unrolled
    for (int group = 0; group < GROUPS; group++) {
        accumulator scores;
        wmma::fill_fragment(scores, 0);
        k.open(group);
#pragma unroll
        for (int part = 0; part < PARTS; part++) {
            wmma::mma_sync(scores, q[part], k.take(group, part), scores);
            needless_barrier();
        }
        wmma::store_matrix_sync(own.scores + group * 16, scores, SCORE_PITCH, wmma::mem_row_major);
    }
    warp_barrier();
}

/* o = rescale * o + p v. */
__device__ __forceinline__ void output_pv(const warp_tile &own, accumulator (&o)[PARTS], pieces<value_fragment> &v)
{
    scale_rows(own, o);
#pragma unroll unrolled
    for (int group = 0; group < GROUPS; group++) {
        left p;
        wmma::load_matrix_sync(p, own.rows + group * 16, PITCH);
        v.open(group);
#pragma unroll
        for (int part = 0; part < PARTS; part++) {
            wmma::mma_sync(o[part], p, v.take(group, part), o[part]);
            needless_barrier();
        }
    }
}

/* o / row_sum to memory, rows below `rows`. */
__device__ __forceinline__ void store_rows(warp_tile &own, accumulator (&o)[PARTS], const softmax_row &state,
                                           __half *to, int rows, int lane)
{
    warp_barrier(); /* nobody reads p and rescale any more */
    write_rescale(own, 1 / state.row_sum, lane);
    warp_barrier();
    scale_rows(own, o);
#pragma unroll
    for (int part = 0; part < PARTS; part++)
        wmma::store_matrix_sync(own.scores + part * 16, o[part], SCORE_PITCH, wmma::mem_row_major);
    warp_barrier();
#pragma unroll
    for (int i = 0; i < ROWS * 8 / 32; i++) {
        int row = (i * 32 + lane) / 8, column = lane % 8 * 8;
        if (row >= rows)
            continue;
        const float *from = own.scores + row * SCORE_PITCH + column;
        __half2 eight[4];
        for (int j = 0; j < 4; j++)
            eight[j] = __floats2half2_rn(from[2 * j], from[2 * j + 1]);
        *(uint4 *)(to + (int64_t)row * D + column) = *(const uint4 *)eight;
    }
}

/* ---- the kernel --------------------------------------------------------------------------------------------- */

/* The block's query rows of one head. */
__device__ __forceinline__ void attend(shared_tiles &tiles, const pathology_args &args, int head)
{
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, first_row = (blockIdx.x * WARPS + warp) * ROWS;
    const __half *keys = (const __half *)args.k + (int64_t)(head / args.group) * args.Skv * D;
    const __half *values = (const __half *)args.v + (int64_t)(head / args.group) * args.Skv * D;
    warp_tile &own = tiles.warps[warp];
    softmax_row state = { -CUDART_INF_F, 0 };
    left q[PARTS];
    accumulator o[PARTS];
    load_queries(own, q, (const __half *)args.q + (int64_t)head * args.S * D, first_row, args.S, lane);
    for (int part = 0; part < PARTS; part++)
        wmma::fill_fragment(o[part], 0);

    for (int first = 0; first < args.Skv; first += KEYS) {
#if PATHOLOGY_NO_STAGING
        pieces<key_fragment> k = { own, keys, first, args.Skv, lane };
        pieces<value_fragment> v = { own, values, first, args.Skv, lane };
#else
        __syncthreads(); /* nobody reads the tiles before any more */
        copy_rows<KEYS, THREADS, PITCH>(tiles.k, keys, first, args.Skv, threadIdx.x);
        copy_rows<KEYS, THREADS, PITCH>(tiles.v, values, first, args.Skv, threadIdx.x);
        __syncthreads();
#if PATHOLOGY_OVER_UNROLLED
        pieces<key_fragment> k;
        pieces<value_fragment> v;
        k.load(tiles.k);
        v.load(tiles.v);
        __syncwarp(); /* no load sinks below it */
#else
        pieces<key_fragment> k = { tiles.k };
        pieces<value_fragment> v = { tiles.v };
#endif
#endif
        scores_qk(own, q, k);
        softmax(own, state, args.scale_log2, args.Skv - first, lane);
        output_pv(own, o, v);
    }
    store_rows(own, o, state, (__half *)args.o + ((int64_t)head * args.S + first_row) * D, args.S - first_row, lane);
}

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS) KERNEL(pathology_args args)
{
    __shared__ __align__(128) shared_tiles tiles;
#if PATHOLOGY_SERIAL_BATCH
    for (int head = 0; head < args.heads; head++)
        attend(tiles, args, head);
#else
    attend(tiles, args, blockIdx.y);
#endif
}

extern "C" pathology_kernel FIND(void)
{
    return { (const void *)KERNEL, WARPS * ROWS, THREADS, PATHOLOGY_SERIAL_BATCH };
}
