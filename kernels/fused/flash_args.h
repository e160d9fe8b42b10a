/* flash_args.h -- what a fused kernel is given. Shared by C and CUDA code, also such as NVRTC compiles. */
#ifndef FLASH_ARGS_H
#define FLASH_ARGS_H

/* By value to the kernel. Lengths in rows, heads over all batches. */
struct flash_args {
    const void *q, *k, *v;
    void *o;
    int S, Skv;
    int heads;      /* B * H */
    int group;      /* query heads for each key head */
    int tiles;      /* row tiles of one head */
    int head_chunk; /* heads whose tiles are interleaved, so that their keys and values stay in the last-level cache */
    int first_keys; /* that query 0 sees, and each query after it one more; may be negative */
    float scale_log2; /* scale * log2(e): the softmax works in powers of two */
};

#endif
