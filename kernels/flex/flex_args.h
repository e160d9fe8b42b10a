/* flex_args.h -- what kernels with modifiers are given. Shared by C and CUDA code, also such as NVRTC compiles. */
#ifndef FLEX_ARGS_H
#define FLEX_ARGS_H

#include "flex/flex_aux.h"
#include "fused/flash_args.h"

#define FLEX_MASK_THREADS 128 /* of a block that makes the block mask */

/* A number from 1 to 2^31 - 1 to divide by without a division: n / number = n * factor / 2^(32 + shift), rounded down,
 * for n from 0 to 2^31 - 1 (T. Granlund and P. Montgomery, "Division by invariant integers using multiplication").
 * Factor 0: the number is 1. */
struct flex_divisor {
    unsigned factor;
    int shift;
};

#ifdef __CUDACC__
static __device__ __forceinline__ int flex_divide(int n, const struct flex_divisor &by)
{
    return by.factor ? (int)(__umulhi((unsigned)n, by.factor) >> by.shift) : n;
}
#else
static inline struct flex_divisor flex_divisor_of(int number)
{
    int bits = 0; /* 2^bits is the least power that is no less than the number */
    while (1ll << bits < number)
        bits++;
    const struct flex_divisor one = { 0, 0 };
    const struct flex_divisor by = { (unsigned)(((1ll << (31 + bits)) + number - 1) / number), bits - 1 };
    return bits == 0 ? one : by;
}

static inline int flex_divide(int n, struct flex_divisor by)
{
    return by.factor ? (int)((unsigned long long)n * by.factor >> 32 >> by.shift) : n;
}
#endif

/* By value. The block mask has `rows` x `columns` blocks for each batch and each of its heads, `mask_heads`: H, or 1
 * where no mask looks at the head. */
struct flex_args {
    struct flash_args flash; /* first_keys is not read */
    struct flex_aux aux;
    float scale;
    int H; /* query heads of a batch */
    int block_size, mask_heads, rows, columns;
    struct flex_divisor by_heads, by_group, by_block_size;
    unsigned char *kinds; /* enum flex_block, [B, mask_heads, rows, columns] */
    int *counts;          /* blocks that a row of blocks sees, [B, mask_heads, rows] */
    int *lists;           /* their numbers, ascending, times 2, and 1 more where pairs are hidden; as kinds */
};

#endif
