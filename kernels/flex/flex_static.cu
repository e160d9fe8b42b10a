/* flex_static.cu -- flex_kernel.cuh for all modifiers of the list: which a problem has is asked at run time. Serves
 * where there is no NVRTC.
 */
#include "flex/flex_cuda.h"
#include "flex/modifiers.h"

#define FLEX_HAS(name, aux) ((aux).uses >> FLEX_NUMBER_##name & 1)
#define FLEX_CUT true
#include "flex/flex_blocks.cuh"
#include "flex/flex_kernel.cuh"

template <typename T, typename TILE>
__global__ void __launch_bounds__(TILE::THREADS, TILE::BLOCKS) flex_static_kernel(const flex_args args)
{
    flex_attend<T, TILE>(args);
}

template <typename T, typename TILE> static flex_kernels describe()
{
    return { (const void *)flex_static_kernel<T, TILE>,
             (const void *)flex_blocks_kernel,
             (const void *)flex_lists_kernel,
             TILE::ROWS,
             TILE::THREADS,
             TILE::SHARED_BYTES,
             {} };
}

#define KERNELS(d, warps, strips, groups, cols, keep_q, blocks)                                                        \
    if (D == d)                                                                                                        \
        return bf16 ? describe<__nv_bfloat16, flash_tile<d, warps, strips, groups, cols, keep_q, blocks>>()            \
                    : describe<__half, flash_tile<d, warps, strips, groups, cols, keep_q, blocks>>();

extern "C" flex_kernels flex_static_find(enum flex_tile_id tile, int D, bool bf16)
{
    if (tile == FLEX_TILE_64_SPLIT2) {
        FLEX_TILES_64_SPLIT2(KERNELS)
    }
    if (tile == FLEX_TILE_64) {
        FLEX_TILES_64(KERNELS)
    }
    if (tile == FLEX_TILE_128) {
        FLEX_TILES_128(KERNELS)
    }
    return {};
}
