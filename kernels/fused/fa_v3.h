/* fa_v3.h -- between the backends fa_v3_* (fa_v3.c) and their kernels (fa_v3.cu, fa_v3_repaired.cu). Start with
 * fa_v3.cu: it says what is wrong with it, and why it is kept. */
#ifndef FA_V3_H
#define FA_V3_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FA_V3_D 64 /* head dimension */
#define FA_V3_THREADS 128

/* By value to the kernel. FP16 tensors; lengths in rows. Grid (ceil(S / rows of a tile), H, B). */
struct fa_v3_args {
    const void *q, *k, *v;
    void *o;
    int B, H, S, Skv;
    int group; /* query heads for each key head */
    bool causal;
    float scale_log2; /* scale * log2(e): the softmax works in powers of two */
};

/* The kernels, by the query rows of a block and the keys of a step. */
typedef const void *fa_v3_find_fn(void);
fa_v3_find_fn fa_v3_find_32x64, fa_v3_find_32x32, fa_v3_find_48x64; /* fa_v3.cu */
fa_v3_find_fn fa_v3_find_repaired;                                  /* fa_v3_repaired.cu: 32x64 */

#ifdef __cplusplus
}
#endif

#endif
