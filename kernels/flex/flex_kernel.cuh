/* flex_kernel.cuh -- fused attention with modifiers, and the kernels that make its block mask: flash's tiles, whose
 * walk skips hidden blocks. Compiled twice over: by nvcc for all modifiers of the list, asked for at run time
 * (flex_static.cu), and by NVRTC for those of a problem alone, whose tests are then constants. It includes no header of
 * the toolkit.
 *
 * Before it: the modifiers, FLEX_SCORES and FLEX_MASKS (modifiers.h), and FLEX_HAS(name, aux), whether a problem has
 * one.
 */
#ifndef FLEX_KERNEL_CUH
#define FLEX_KERNEL_CUH

#include "flex/flex_args.h"
#include "fused/flash_tile.cuh"

/* ---- modifiers ------------------------------------------------------------------------------------------------ */

__device__ __forceinline__ bool flex_has_scores(const flex_aux &aux)
{
    bool any = false;
#define HAS(name, has) any |= FLEX_HAS(name, aux);
    FLEX_SCORES(HAS)
#undef HAS
    return any;
}

__device__ __forceinline__ bool flex_is_seen(int b, int h, int q, int k, const flex_aux *aux)
{
    bool seen = true;
#define SEEN(name, has)                                                                                                \
    if (FLEX_HAS(name, *aux))                                                                                          \
        seen = seen && name##_mask(b, h, q, k, aux);
    FLEX_MASKS(SEEN)
#undef SEEN
    return seen;
}

/* A thread's scores, a modifier at a time: what is asked at run time is asked once for all of them. `row` and `column`
 * are its first in the head (flash.cu's mask). Past the ends the last query and key stand in: arrays have no more. */
#define FLEX_EACH(statement)                                                                                           \
    _Pragma("unroll") for (int strip = 0; strip < TILE::STRIPS; strip++)                                               \
    {                                                                                                                  \
        _Pragma("unroll") for (int n = 0; n < TILE::COLS / 8; n++)                                                     \
        {                                                                                                              \
            _Pragma("unroll") for (int i = 0; i < 4; i++)                                                              \
            {                                                                                                          \
                const int q = min(row + strip * 16 + (i >> 1) * 8, args.flash.S - 1);                                  \
                const int column_of = column + n * 8 + (i & 1), k = min(column_of, args.flash.Skv - 1);                \
                float &score = s[strip][n][i];                                                                         \
                statement;                                                                                             \
            }                                                                                                          \
        }                                                                                                              \
    }

template <typename TILE>
__device__ __forceinline__ void flex_modify(float (&s)[TILE::STRIPS][TILE::COLS / 8][4], const flex_args &args, int b,
                                            int h, int row, int column)
{
    if (!flex_has_scores(args.aux))
        return;
    FLEX_EACH((void)q; (void)k; score *= args.scale)
#define APPLY(name, has)                                                                                               \
    if (FLEX_HAS(name, args.aux)) {                                                                                    \
        FLEX_EACH(score = name##_score(score, b, h, q, k, &args.aux))                                                  \
    }
    FLEX_SCORES(APPLY)
#undef APPLY
}

template <typename TILE>
__device__ __forceinline__ void flex_hide(float (&s)[TILE::STRIPS][TILE::COLS / 8][4], const flex_args &args, int b,
                                          int h, int row, int column)
{
    const float hidden = __int_as_float(0xff800000);
    FLEX_EACH((void)q; if (column_of != k) score = hidden)
#define HIDE(name, has)                                                                                                \
    if (FLEX_HAS(name, args.aux)) {                                                                                    \
        FLEX_EACH(if (!name##_mask(b, h, q, k, &args.aux)) score = hidden)                                             \
    }
    FLEX_MASKS(HIDE)
#undef HIDE
}

/* ---- the fused kernel ----------------------------------------------------------------------------------------- */

/* The steps of a row of blocks. `first` is that of the step's keys, -1 after the last. */
struct flex_walk {
    const int *next, *end;
    int first, left; /* of the block: its keys after this step */
    bool partial;
};

/* To the first step, or the one after. */
__device__ __forceinline__ void flex_advance(flex_walk &walk, int block_size, int keys)
{
    if (walk.left > 0) {
        walk.first += keys;
        walk.left -= keys;
        return;
    }
    if (walk.next == walk.end) {
        walk.first = -1;
        return;
    }
    const int entry = *walk.next++;
    walk.first = (entry >> 1) * block_size;
    walk.partial = entry & 1;
    walk.left = block_size - keys;
}

template <typename TILE>
__device__ __forceinline__ flex_walk flex_walk_of(const flex_args &args, int b, int h, int block_row)
{
    const int of_head = b * args.mask_heads + (args.mask_heads > 1 ? h : 0);
    const int row = of_head * args.rows + block_row / args.block_size;
    flex_walk walk;
    walk.next = args.lists + (int64_t)row * args.columns;
    walk.end = walk.next + args.counts[row];
    walk.left = 0;
    walk.partial = false;
    flex_advance(walk, args.block_size, TILE::KEYS);
    return walk;
}

template <typename T, typename TILE> __device__ __forceinline__ void flex_attend(const flex_args &args)
{
    static_assert(TILE::GROUPS == 1, "a step is one block's");
    extern __shared__ __align__(1024) unsigned char shared[];
    const uint32_t q_shared = (uint32_t)__cvta_generic_to_shared(shared), stages = q_shared + TILE::Q_BYTES;
    const int lane = threadIdx.x % 32, warp = same_in_warp(threadIdx.x / 32);
    int head;
    const int block_row = find_work(args.flash, &head) * TILE::ROWS, warp_row = block_row + warp * TILE::STRIPS * 16;
    const int b = head / args.H, h = head % args.H;
    flex_walk walk = flex_walk_of<TILE>(args, b, h, block_row);

    const int64_t q_offset = (int64_t)head * args.flash.S * TILE::ROW_BYTES;
    const int64_t k_offset = (int64_t)(head / args.flash.group) * args.flash.Skv * TILE::ROW_BYTES;
    copy_rows<TILE, TILE::ROWS>(q_shared, args.flash.q, q_offset, block_row, args.flash.S);
    if (walk.first >= 0)
        copy_keys<TILE>(stages, args.flash, k_offset, walk.first);

    const uint32_t q_address = q_shared + place<TILE>(warp * TILE::STRIPS * 16 + lane % 16, lane / 16);
    const uint32_t k_lane = place<TILE>(lane % 8 + lane / 16 * 8, lane / 8 % 2);
    const uint32_t v_lane = place<TILE>(lane % 16, lane / 16) + TILE::HALF_BYTES;
    const float scale_log2 = flex_has_scores(args.aux) ? 1.44269504f : args.flash.scale_log2;
    flash_rows<TILE> rows = no_rows<TILE>();
    uint32_t q_kept[TILE::KEEP_Q ? TILE::D / 16 : 1][TILE::STRIPS][4];
    int steps = 0;
    for (; walk.first >= 0; steps++) {
        const int first_key = walk.first;
        const bool partial = walk.partial;
        flex_advance(walk, args.block_size, TILE::KEYS);
        copies_wait();
        __syncthreads(); /* everyone is done with the step before */
        if (walk.first >= 0)
            copy_keys<TILE>(stages + ((steps + 1) & 1) * TILE::STAGE_BYTES, args.flash, k_offset, walk.first);
        if (TILE::KEEP_Q && steps == 0) {
#pragma unroll
            for (int k = 0; k < (TILE::KEEP_Q ? TILE::D / 16 : 1); k++)
                load_q<TILE>(q_kept[k], q_address, k);
        }
        const uint32_t stage = stages + (steps & 1) * TILE::STAGE_BYTES;
        float s[TILE::STRIPS][TILE::COLS / 8][4];
        scores_qk<T, TILE>(s, q_kept, forget_origin(q_address), stage + forget_origin(k_lane));
        const int row = warp_row + forget_origin(lane) / 4, column = first_key + forget_origin(lane) % 4 * 2;
        flex_modify<TILE>(s, args, b, h, row, column);
        if (partial)
            flex_hide<TILE>(s, args, b, h, row, column);
        raise_max<TILE>(rows, s, scale_log2);
        output_pv<T, TILE>(rows, s, stage + forget_origin(v_lane), scale_log2);
    }
    end_steps<TILE>(rows, (float *)(shared + TILE::Q_BYTES), 0, steps);
    store<T, TILE>(rows, shared + warp * TILE::STRIPS * 16 * TILE::PITCH,
                   (char *)args.flash.o + q_offset + (int64_t)warp_row * TILE::ROW_BYTES, args.flash.S - warp_row);
}

/* ---- the block mask ------------------------------------------------------------------------------------------- */

#define FLEX_MASK_THREADS 128

/* A block of threads for each (column, row, batch and head): kinds. */
extern "C" __global__ void __launch_bounds__(FLEX_MASK_THREADS) flex_blocks_kernel(const flex_args args)
{
    const int b = blockIdx.z / args.mask_heads, h = blockIdx.z % args.mask_heads;
    const int q0 = blockIdx.y * args.block_size, k0 = blockIdx.x * args.block_size;
    bool any = false, all = true;
    for (int i = threadIdx.x; i < args.block_size * args.block_size; i += FLEX_MASK_THREADS) {
        const int q = q0 + i / args.block_size, k = k0 + i % args.block_size;
        if (q >= args.flash.S)
            break;
        const bool seen = k < args.flash.Skv && flex_is_seen(b, h, q, k, &args.aux);
        any |= seen;
        all &= seen;
    }
    any = __syncthreads_or(any);
    all = __syncthreads_and(all);
    if (threadIdx.x == 0)
        args.kinds[((int64_t)blockIdx.z * args.rows + blockIdx.y) * args.columns + blockIdx.x] = any ? all ? 2 : 1 : 0;
}

/* A warp for each row of blocks: counts and lists of kinds. */
extern "C" __global__ void __launch_bounds__(32) flex_lists_kernel(const flex_args args)
{
    const int64_t first = (int64_t)blockIdx.x * args.columns;
    int count = 0;
    for (int column = threadIdx.x; column - (int)threadIdx.x < args.columns; column += 32) {
        const int kind = column < args.columns ? args.kinds[first + column] : 0;
        const unsigned seen = __ballot_sync(~0u, kind != 0);
        if (kind != 0)
            args.lists[first + count + __popc(seen & ((1u << threadIdx.x) - 1))] = column * 2 + (kind == 1);
        count += __popc(seen);
    }
    if (threadIdx.x == 0)
        args.counts[blockIdx.x] = count;
}

#endif
