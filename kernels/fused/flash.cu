/* flash.cu -- fused attention, forward: scores, softmax and output in one kernel, nothing of size S*Skv in memory.
 *
 * Runs on sm_80 and later: mma.sync m16n8k16, ldmatrix, cp.async. To add a tile shape: a line in TILES at the end,
 * an id in flash.h, a row in flash.c's table. What each step was worth is in docs/kernels.md. A tile's steps are in
 * flash_tile.cuh.
 */
#include <math_constants.h>

#include "fused/flash.h"
#include "fused/flash_tile.cuh"

/* Ends when the step's keys are here, and those of the next one are on their way. */
template <typename TILE>
__device__ __forceinline__ void
begin_step(uint32_t stages, const flash_args &args, int64_t k_offset, int step, int steps,
           uint32_t (&kept)[TILE::KEEP_Q ? TILE::D / 16 : 1][TILE::STRIPS][4], uint32_t q_address)
{
    copies_wait();
    __syncthreads(); /* everyone is done with the step before */
    if (step + 1 < steps)
        copy_keys<TILE>(stages + ((step + 1) & 1) * TILE::STAGE_BYTES, args, k_offset, (step + 1) * TILE::KEYS);
    if (TILE::KEEP_Q && step == 0) {
#pragma unroll
        for (int k = 0; k < (TILE::KEEP_Q ? TILE::D / 16 : 1); k++)
            load_q<TILE>(kept[k], q_address, k);
    }
}

/* Rows of a thread: strip * 16 + half * 8 + lane / 4; its columns: n * 8 + lane % 4 * 2 + {0, 1}. `row` and
 * `column` are its first in the head. */
template <typename TILE>
__device__ __forceinline__ void mask(float (&s)[TILE::STRIPS][TILE::COLS / 8][4], const flash_args &args, int row,
                                     int column)
{
    const int left = args.Skv - column, seen = args.first_keys + row - column; /* keys, of that row */
#pragma unroll
    for (int strip = 0; strip < TILE::STRIPS; strip++)
#pragma unroll
        for (int i = 0; i < 4; i++) {
            int visible = min(left, seen + strip * 16 + (i >> 1) * 8);
#pragma unroll
            for (int n = 0; n < TILE::COLS / 8; n++)
                if (n * 8 + (i & 1) >= visible)
                    s[strip][n][i] = -CUDART_INF_F;
        }
}

template <typename T, typename TILE>
__global__ void __launch_bounds__(TILE::THREADS, TILE::BLOCKS) flash_kernel(const flash_args args)
{
    extern __shared__ __align__(1024) unsigned char shared[];
    const uint32_t q_shared = (uint32_t)__cvta_generic_to_shared(shared), stages = q_shared + TILE::Q_BYTES;
    const int lane = threadIdx.x % 32, warp_of_block = same_in_warp(threadIdx.x / 32);
    const int warp = warp_of_block % TILE::WARPS, group = warp_of_block / TILE::WARPS;
    int head;
    const int block_row = find_work(args, &head) * TILE::ROWS, warp_row = block_row + warp * TILE::STRIPS * 16;
    const int block_keys = min(args.Skv, args.first_keys + block_row + TILE::ROWS - 1);
    const int warp_keys = min(args.Skv, args.first_keys + warp_row + TILE::STRIPS * 16 - 1); /* seen by any row */
    const int warp_clear = min(args.Skv, args.first_keys + warp_row);                        /* seen by every row */
    const int steps = (block_keys + TILE::KEYS - 1) / TILE::KEYS;

    /* seek to q[b, h, 0, :] and o[b, h, 0, :], to k[b, h / group, 0, :] and v[b, h / group, 0, :] */
    const int64_t q_offset = (int64_t)head * args.S * TILE::ROW_BYTES;
    const int64_t k_offset = (int64_t)(head / args.group) * args.Skv * TILE::ROW_BYTES;
    copy_rows<TILE, TILE::ROWS>(q_shared, args.q, q_offset, block_row, args.S);
    copy_keys<TILE>(stages, args, k_offset, 0);

    /* Addresses of this lane's rows for ldmatrix; other pieces of the same row are `further`. */
    const uint32_t q_address = q_shared + place<TILE>(warp * TILE::STRIPS * 16 + lane % 16, lane / 16);
    const uint32_t k_lane = place<TILE>(group * TILE::COLS + lane % 8 + lane / 16 * 8, lane / 8 % 2);
    const uint32_t v_lane = place<TILE>(group * TILE::COLS + lane % 16, lane / 16) + TILE::HALF_BYTES;
    flash_rows<TILE> rows = no_rows<TILE>();
    uint32_t q_kept[TILE::KEEP_Q ? TILE::D / 16 : 1][TILE::STRIPS][4];
    for (int step = 0; step < steps; step++) {
        begin_step<TILE>(stages, args, k_offset, step, steps, q_kept, q_address);
        const int first_key = step * TILE::KEYS + group * TILE::COLS;
        if (first_key >= warp_keys)
            continue;
        const uint32_t stage = stages + (step & 1) * TILE::STAGE_BYTES;
        float s[TILE::STRIPS][TILE::COLS / 8][4];
        scores_qk<T, TILE>(s, q_kept, forget_origin(q_address), stage + forget_origin(k_lane));
        if (first_key + TILE::COLS > warp_clear) /* the lane anew: kept through the steps it makes tile 64 spill */
            mask<TILE>(s, args, warp_row + forget_origin(lane) / 4, first_key + lane % 4 * 2);
        raise_max<TILE>(rows, s, args.scale_log2);
        output_pv<T, TILE>(rows, s, stage + forget_origin(v_lane), args.scale_log2);
    }
    end_steps<TILE>(rows, (float *)(shared + TILE::Q_BYTES), group, steps);
    if (group == 0)
        store<T, TILE>(rows, shared + warp * TILE::STRIPS * 16 * TILE::PITCH,
                       (char *)args.o + q_offset + (int64_t)warp_row * TILE::ROW_BYTES, args.S - warp_row);
}

/* ---- what flash.c sees -------------------------------------------------------------------------------------- */

template <typename T, typename TILE> static flash_kernel_info describe()
{
    return { (const void *)flash_kernel<T, TILE>, TILE::ROWS, TILE::THREADS, TILE::SHARED_BYTES };
}

/* Measured on an H200, see docs/kernels.md. Shared memory stays under the 99 KB of sm_86 and sm_89. */
struct flash_tiles_64 { /*        D  warps strips groups cols keep Q blocks */
    using split4 = flash_tile<64, 2, 1, 4, 32, true, 1>;
    using split2 = flash_tile<64, 4, 1, 2, 64, true, 1>;
    using rows64 = flash_tile<64, 4, 1, 1, 64, true, 4>;
    using rows128 = flash_tile<64, 4, 2, 1, 64, true, 2>;
};
struct flash_tiles_80 {
    using split4 = flash_tile<80, 2, 1, 4, 32, true, 1>;
    using split2 = flash_tile<80, 4, 1, 2, 32, true, 1>;
    using rows64 = flash_tile<80, 4, 1, 1, 64, true, 3>;
    using rows128 = flash_tile<80, 4, 2, 1, 64, true, 2>;
};
struct flash_tiles_96 {
    using split4 = flash_tile<96, 2, 1, 4, 16, true, 1>;
    using split2 = flash_tile<96, 4, 1, 2, 32, true, 1>;
    using rows64 = flash_tile<96, 4, 1, 1, 64, true, 3>;
    using rows128 = flash_tile<96, 4, 2, 1, 64, false, 2>;
};
struct flash_tiles_128 {
    using split4 = flash_tile<128, 2, 1, 4, 16, true, 1>;
    using split2 = flash_tile<128, 4, 1, 2, 32, true, 1>;
    using rows64 = flash_tile<128, 4, 1, 1, 64, true, 2>;
    using rows128 = flash_tile<128, 4, 2, 1, 48, false, 2>;
};

template <typename T, typename TILES> static flash_kernel_info find(flash_tile_id tile)
{
    switch (tile) {
    case FLASH_32_SPLIT4:
        return describe<T, typename TILES::split4>();
    case FLASH_64_SPLIT2:
        return describe<T, typename TILES::split2>();
    case FLASH_64:
        return describe<T, typename TILES::rows64>();
    case FLASH_128:
        return describe<T, typename TILES::rows128>();
    default:
        return {};
    }
}

extern "C" flash_kernel_info flash_kernel_find(flash_tile_id tile, int D, bool bf16)
{
    switch (D) {
    case 64:
        return bf16 ? find<__nv_bfloat16, flash_tiles_64>(tile) : find<__half, flash_tiles_64>(tile);
    case 80:
        return bf16 ? find<__nv_bfloat16, flash_tiles_80>(tile) : find<__half, flash_tiles_80>(tile);
    case 96:
        return bf16 ? find<__nv_bfloat16, flash_tiles_96>(tile) : find<__half, flash_tiles_96>(tile);
    case 128:
        return bf16 ? find<__nv_bfloat16, flash_tiles_128>(tile) : find<__half, flash_tiles_128>(tile);
    default:
        return {};
    }
}
