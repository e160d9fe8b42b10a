/* pathology.h -- between the pathology backends (pathology.c), the list of them (pathology_variants.c) and their
 * kernels (pathology.cu): one clean attention kernel, and the same with one thing planted that makes kernels slow. What
 * is planted stands in PATHOLOGIES. */
#ifndef PATHOLOGY_H
#define PATHOLOGY_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PATHOLOGY_D 64 /* head dimension */

/* X(name, help), the clean one first. The names are those of kernels/meson.build, which compiles one binary for each.
 */
#define PATHOLOGIES(X)                                                                                                 \
    X(clean, "tiles of K and V in shared memory, WMMA, nothing planted")                                               \
    X(strided_loads, "neighbouring lanes read rows of Q, K and V, not neighbouring bytes")                             \
    X(no_staging, "K and V read from memory by every warp for itself")                                                 \
    X(extra_barriers, "the block waits for its last warp after every product")                                         \
    X(divergence, "eight branches of a warp do the softmax of eight groups of lanes in turn")                          \
    X(over_unrolled, "a whole tile of K and V in registers at once, which spills")                                     \
    X(tiny_blocks, "blocks of one warp, each with tiles of its own")                                                   \
    X(serial_batch, "a block works through all heads, one after another")

/* By value to the kernel. FP16, packed: q, o [heads, S, D], k, v [heads / group, Skv, D]. */
struct pathology_args {
    const void *q, *k, *v;
    void *o;
    int heads; /* B * H */
    int group; /* query heads of a key head */
    int S, Skv;
    float scale_log2; /* the problem's scale * log2(e): the softmax works in powers of two */
};

struct pathology_kernel {
    const void *function;
    int rows, threads; /* query rows and threads of a block */
    bool serial;       /* a block works through all heads; else the grid has a second side, a head each */
};

typedef struct pathology_kernel pathology_find_fn(void);

#ifdef __cplusplus
}
#else

#include "op/sdpa_cuda.h"

#define PATHOLOGY_DECLARE(id, its_help) pathology_find_fn pathology_##id##_find;
PATHOLOGIES(PATHOLOGY_DECLARE)
#undef PATHOLOGY_DECLARE

/* .data of a backend. */
struct pathology_variant {
    pathology_find_fn *find;
};

int pathology_supports(const kg_backend *self, const kg_device *device, const void *problem, kg_error *ret_error);
int pathology_prepare(const kg_backend *self, const kg_call *call, void **ret_state, kg_identity *ret_identity,
                      kg_error *ret_error);

/* clang-format off */
/* A backend called `id` that runs the kernel called `runs`. */
#define PATHOLOGY_BACKEND(id, runs, its_help)                                                                          \
    { .name = #id, .help = its_help, .device = KG_CUDA,                                                                \
      .data = &(const struct pathology_variant){ pathology_##runs##_find }, .toggles = "planted=" #runs,               \
      .supports = pathology_supports, .prepare = pathology_prepare, .launch = sdpa_cuda_launch,                        \
      .release = sdpa_cuda_release }
/* clang-format on */

#endif

#endif
