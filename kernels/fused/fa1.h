/* fa1.h -- between the backend `fa1` (fa1.c) and its kernels (fa1.cu). Start with fa1.cu: it says what is computed. */
#ifndef FA1_H
#define FA1_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FA1_ROWS 64 /* query rows of a block */

/* By value to the kernel. Lengths in rows, heads over all batches. */
struct fa1_args {
    const void *q, *k, *v;
    void *o;
    int S, Skv;
    int heads, group; /* B * H; query heads for each key head */
    int tiles;        /* row tiles of one head */
    bool causal;
    float scale_log2; /* scale * log2(e): the softmax works in powers of two */
};

/* The kernel for D 64 or 128; else NULL. A block has two threads a row. */
const void *fa1_kernel_find(int D, bool bf16);

#ifdef __cplusplus
}
#endif

#endif
