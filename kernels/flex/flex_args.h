/* flex_args.h -- what kernels with modifiers are given. Shared by C and CUDA code, also such as NVRTC compiles. */
#ifndef FLEX_ARGS_H
#define FLEX_ARGS_H

#include "flex/flex_aux.h"
#include "fused/flash_args.h"

#define FLEX_MASK_THREADS 128 /* of a block that makes the block mask */

/* By value. The block mask has `rows` x `columns` blocks for each batch and each of its heads, `mask_heads`: H, or 1
 * where no mask looks at the head. */
struct flex_args {
    struct flash_args flash; /* first_keys is not read */
    struct flex_aux aux;
    float scale;
    int H; /* query heads of a batch */
    int block_size, mask_heads, rows, columns;
    unsigned char *kinds; /* enum flex_block, [B, mask_heads, rows, columns] */
    int *counts;          /* blocks that a row of blocks sees, [B, mask_heads, rows] */
    int *lists;           /* their numbers, ascending, times 2, and 1 more where pairs are hidden; as kinds */
};

#endif
