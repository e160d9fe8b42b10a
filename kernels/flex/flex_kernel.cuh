/* flex_kernel.cuh -- fused attention with modifiers: flash's tiles, whose walk skips hidden blocks (flex_blocks.cuh).
 * Compiled twice over: by nvcc for all modifiers of the list, asked for at run time (flex_static.cu), and by NVRTC for
 * those of a problem alone, whose tests are then constants. It includes no header of the toolkit.
 *
 * Before it: the modifiers, FLEX_SCORES and FLEX_MASKS (modifiers.h), FLEX_HAS(name, aux), whether a problem has one,
 * and FLEX_CUT, whether tiles may reach past the last query or key.
 */
#ifndef FLEX_KERNEL_CUH
#define FLEX_KERNEL_CUH

#include "flex/flex_args.h"
#include "flex/flex_wgmma.cuh"
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

/* A thread's scores, a modifier at a time: what is asked at run time is asked once for all of them. `row` and `column`
 * are its first in the head (flash.cu's mask). Past the ends the last query and key stand in: arrays have no more. */
#define FLEX_EACH(statement)                                                                                           \
    _Pragma("unroll") for (int strip = 0; strip < TILE::STRIPS; strip++)                                               \
    {                                                                                                                  \
        _Pragma("unroll") for (int n = 0; n < TILE::COLS / 8; n++)                                                     \
        {                                                                                                              \
            _Pragma("unroll") for (int i = 0; i < 4; i++)                                                              \
            {                                                                                                          \
                const int row_of = row + strip * 16 + (i >> 1) * 8, column_of = column + n * 8 + (i & 1);              \
                const int q = FLEX_CUT ? min(row_of, args.flash.S - 1) : row_of;                                       \
                const int k = FLEX_CUT ? min(column_of, args.flash.Skv - 1) : column_of;                               \
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
    if (FLEX_CUT) {
        FLEX_EACH((void)q; if (column_of != k) score = hidden)
    }
#define HIDE(name, has)                                                                                                \
    if (FLEX_HAS(name, args.aux)) {                                                                                    \
        FLEX_EACH(if (!name##_mask(b, h, q, k, &args.aux)) score = hidden)                                             \
    }
    FLEX_MASKS(HIDE)
#undef HIDE
}

/* ---- the fused kernel ----------------------------------------------------------------------------------------- */

/* Groups of warps with rows in common take turns with the blocks that these see; each is as a small block of threads.
 */
template <typename TILE>
using flex_group = flash_tile<TILE::D, TILE::WARPS, TILE::STRIPS, 1, TILE::COLS, TILE::KEEP_Q, TILE::BLOCKS>;

template <typename TILE> __device__ __forceinline__ void flex_group_sync(int group)
{
    if (TILE::GROUPS == 1)
        __syncthreads();
    else
        asm volatile("bar.sync %0, %1;" ::"r"(group + 1), "n"(flex_group<TILE>::THREADS) : "memory");
}

/* A group's steps of a row of blocks. `first` is that of the step's keys, -1 after the last. */
struct flex_walk {
    const int *next;  /* of the list */
    int entry, count; /* what stood before `next`, read ahead; blocks that are left, with it */
    int first, left;  /* of the block: its keys after this step */
    bool partial;
};

/* To the first step, or the one after. */
template <typename TILE> __device__ __forceinline__ void flex_advance(flex_walk &walk, int block_size)
{
    if (walk.left > 0) {
        walk.first += TILE::COLS;
        walk.left -= TILE::COLS;
        return;
    }
    if (walk.count == 0) {
        walk.first = -1;
        return;
    }
    walk.first = (walk.entry >> 1) * block_size;
    walk.partial = walk.entry & 1;
    walk.left = block_size - TILE::COLS;
    if (--walk.count > 0) {
        walk.entry = *walk.next;
        walk.next += TILE::GROUPS;
    }
}

/* Before the first step. */
template <typename TILE>
__device__ __forceinline__ flex_walk flex_walk_of(const flex_args &args, int b, int h, int block_row, int group)
{
    const int of_head = b * args.mask_heads + (args.mask_heads > 1 ? h : 0);
    const int row = of_head * args.rows + flex_divide(block_row, args.by_block_size);
    flex_walk walk;
    walk.next = args.lists + (int64_t)row * args.columns + min(group, args.columns - 1);
    walk.count = (args.counts[row] - group + TILE::GROUPS - 1) / TILE::GROUPS;
    walk.entry = *walk.next; /* there is one, meant or not: both loads are under way at once */
    walk.next += TILE::GROUPS;
    walk.left = 0;
    walk.partial = false;
    return walk;
}

/* Where a warp works. */
struct flex_place {
    int warp, group; /* of the block: along the rows, and among those of the rows */
    int b, h, block_row, warp_row;
    int64_t q_offset, k_offset; /* of the head, in bytes */
};

/* The grid is heads of a chunk x tiles x chunks, as find_work has them. */
template <typename TILE> __device__ __forceinline__ flex_place flex_place_of(const flex_args &args)
{
    const int warp_of_block = same_in_warp(threadIdx.x / 32), head = blockIdx.z * gridDim.x + blockIdx.x;
    flex_place at;
    at.warp = warp_of_block % TILE::WARPS;
    at.group = warp_of_block / TILE::WARPS;
    at.block_row = (gridDim.y - 1 - blockIdx.y) * TILE::ROWS;
    at.warp_row = at.block_row + at.warp * TILE::STRIPS * 16;
    at.b = flex_divide(head, args.by_heads);
    at.h = head - at.b * args.H;
    at.q_offset = (int64_t)head * args.flash.S * TILE::ROW_BYTES;
    at.k_offset = (int64_t)flex_divide(head, args.by_group) * args.flash.Skv * TILE::ROW_BYTES;
    return at;
}

/* The first step's keys: K with what is under way already, V after it. Two groups of copies, empty or not. */
template <typename TILE>
__device__ __forceinline__ void flex_copy_first(uint32_t stage, const flex_args &args, const flex_place &at, int first)
{
    using GROUP = flex_group<TILE>;
    const flash_args &of = args.flash;
    const unsigned thread = threadIdx.x % GROUP::THREADS;
    if (first >= 0)
        copy_rows<GROUP, GROUP::KEYS, FLEX_CUT>(stage, of.k, at.k_offset, first, of.Skv, thread);
    copies_commit();
    if (first >= 0)
        copy_rows<GROUP, GROUP::KEYS, FLEX_CUT>(stage + GROUP::HALF_BYTES, of.v, at.k_offset, first, of.Skv, thread);
    copies_commit();
}

/* Whether the first product of Q and K begins before V is here. Every step pays for it by a branch: too much in larger
 * tiles, which walk over many keys. */
template <typename TILE> constexpr bool V_COMES_LATER = TILE::STRIPS == 1;

/* Ends when Q is here, which all groups read, and the keys of their first steps, V later maybe. */
template <typename TILE>
__device__ __forceinline__ void flex_await_q(uint32_t (&kept)[TILE::KEEP_Q ? TILE::D / 16 : 1][TILE::STRIPS][4],
                                             uint32_t q_address)
{
    if (V_COMES_LATER<TILE>)
        copies_wait_but_last();
    else
        copies_wait();
    wgmma_sees_copies<TILE>();
    __syncthreads();
    if (TILE::KEEP_Q && !FLEX_BY_WGMMA<TILE>) {
#pragma unroll
        for (int k = 0; k < (TILE::KEEP_Q ? TILE::D / 16 : 1); k++)
            load_q<TILE>(kept[k], q_address, k);
    }
}

/* Ends when the step's keys are here, but V of the first maybe, and those of the next one, from `next` on, are on their
 * way: one group of copies, which is empty where V_COMES_LATER counts groups. */
template <typename TILE>
__device__ __forceinline__ void flex_begin_step(uint32_t stages, const flex_args &args, const flex_place &at, int step,
                                                int next)
{
    using GROUP = flex_group<TILE>;
    if (step > 0) {
        copies_wait();
        wgmma_sees_copies<TILE>();
        flex_group_sync<TILE>(at.group); /* everyone is done with the step before */
    }
    if (next >= 0)
        copy_keys<GROUP, FLEX_CUT>(stages + ((step + 1) & 1) * GROUP::STAGE_BYTES, args.flash, at.k_offset, next,
                                   threadIdx.x % GROUP::THREADS);
    else if (V_COMES_LATER<TILE>)
        copies_commit();
}

/* Of the first step: later ones have waited for it. */
template <typename TILE> __device__ __forceinline__ void flex_await_v(const flex_place &at, int step)
{
    if (!V_COMES_LATER<TILE> || step > 0)
        return;
    copies_wait_but_last();
    wgmma_sees_copies<TILE>();
    flex_group_sync<TILE>(at.group);
}

/* s[rows, COLS] = Q K^T; `tile` and `stage` are where the matrices begin, the others are for this lane's own loads. */
template <typename T, typename TILE>
__device__ __forceinline__ void flex_scores(float (&s)[TILE::STRIPS][TILE::COLS / 8][4],
                                            const uint32_t (&kept)[TILE::KEEP_Q ? TILE::D / 16 : 1][TILE::STRIPS][4],
                                            uint32_t tile, uint32_t q_address, uint32_t stage, uint32_t k_lane)
{
    if constexpr (FLEX_BY_WGMMA<TILE>)
        wgmma_scores<T>(s, tile, stage);
    else
        scores_qk<T, TILE>(s, kept, forget_origin(q_address), stage + forget_origin(k_lane));
}

/* o[rows, D] += P V */
template <typename T, typename TILE>
__device__ __forceinline__ void flex_output(flash_rows<TILE> &rows, const float (&s)[TILE::STRIPS][TILE::COLS / 8][4],
                                            uint32_t stage, uint32_t v_lane, float scale_log2)
{
    if constexpr (FLEX_BY_WGMMA<TILE>)
        wgmma_output<T, TILE>(rows, s, stage + TILE::HALF_BYTES, scale_log2);
    else
        output_pv<T, TILE>(rows, s, stage + forget_origin(v_lane), scale_log2);
}

/* Writes the rows of all groups through Q's place in shared memory. */
template <typename T, typename TILE>
__device__ __forceinline__ void flex_end(flash_rows<TILE> &rows, const flex_args &args, const flex_place &at,
                                         unsigned char *shared)
{
    if (FLEX_BY_WGMMA<TILE>)
        __syncthreads(); /* everyone's products have read Q, whose place they take */
    if (TILE::GROUPS > 1)
        join_groups<TILE>(rows, (float *)(shared + TILE::Q_BYTES), at.group);
    if (at.group == 0)
        store<T, TILE>(rows, shared + at.warp * TILE::STRIPS * 16 * TILE::PITCH,
                       (char *)args.flash.o + at.q_offset + (int64_t)at.warp_row * TILE::ROW_BYTES,
                       args.flash.S - at.warp_row);
}

template <typename T, typename TILE> __device__ __forceinline__ void flex_attend(const flex_args &args)
{
    using GROUP = flex_group<TILE>;
    extern __shared__ __align__(1024) unsigned char shared[];
    const int lane = threadIdx.x % 32;
    const flex_place at = flex_place_of<TILE>(args);
    const uint32_t q_shared = (uint32_t)__cvta_generic_to_shared(shared);
    const uint32_t stages = q_shared + TILE::Q_BYTES + at.group * 2 * GROUP::STAGE_BYTES;
    begin_next_launch(); /* its blocks come where those of this one end, and wait for the last of them */
    flex_walk walk = flex_walk_of<TILE>(args, at.b, at.h, at.block_row, at.group); /* whole before this launch began */
    await_launch_before();
    copy_rows<TILE, TILE::ROWS, FLEX_CUT>(q_shared, args.flash.q, at.q_offset, at.block_row, args.flash.S);
    flex_advance<TILE>(walk, args.block_size);
    flex_copy_first<TILE>(stages, args, at, walk.first);

    const uint32_t q_address = q_shared + place<TILE>(at.warp * TILE::STRIPS * 16 + lane % 16, lane / 16);
    const uint32_t k_lane = place<TILE>(lane % 8 + lane / 16 * 8, lane / 8 % 2);
    const uint32_t v_lane = place<TILE>(lane % 16, lane / 16) + GROUP::HALF_BYTES;
    const float scale_log2 = flex_has_scores(args.aux) ? 1.44269504f : args.flash.scale_log2;
    flash_rows<TILE> rows = no_rows<TILE>();
    uint32_t q_kept[TILE::KEEP_Q ? TILE::D / 16 : 1][TILE::STRIPS][4];
    flex_await_q<TILE>(q_kept, q_address);
    for (int step = 0; walk.first >= 0; step++) {
        const int first_key = walk.first;
        const bool partial = walk.partial;
        flex_advance<TILE>(walk, args.block_size);
        flex_begin_step<TILE>(stages, args, at, step, walk.first);
        const uint32_t stage = stages + (step & 1) * GROUP::STAGE_BYTES;
        float s[TILE::STRIPS][TILE::COLS / 8][4];
        flex_scores<T, TILE>(s, q_kept, q_shared, q_address, stage, k_lane);
        const int row = at.warp_row + forget_origin(lane) / 4, column = first_key + forget_origin(lane) % 4 * 2;
        flex_modify<TILE>(s, args, at.b, at.h, row, column);
        if (partial)
            flex_hide<TILE>(s, args, at.b, at.h, row, column);
        raise_max<TILE>(rows, s, scale_log2);
        flex_await_v<TILE>(at, step);
        flex_output<T, TILE>(rows, s, stage, v_lane, scale_log2);
    }
    flex_end<T, TILE>(rows, args, at, shared);
}

#endif
