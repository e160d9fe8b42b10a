/* flex_blocks.cuh -- the kernels that make a problem's block mask. As flex_kernel.cuh, compiled by nvcc and by NVRTC;
 * before it the same is defined. */
#ifndef FLEX_BLOCKS_CUH
#define FLEX_BLOCKS_CUH

#include "flex/flex_args.h"

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
        args.kinds[((long long)blockIdx.z * args.rows + blockIdx.y) * args.columns + blockIdx.x] =
            any ? all ? 2 : 1 : 0;
}

/* A warp for each row of blocks: counts and lists of kinds. */
extern "C" __global__ void __launch_bounds__(32) flex_lists_kernel(const flex_args args)
{
    const long long first = (long long)blockIdx.x * args.columns;
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
