/* flex_cuda.h -- what the backends have in common whose kernel is that of flex_kernel.cuh, compiled before or at run
 * time. */
#ifndef FLEX_CUDA_H
#define FLEX_CUDA_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#include "flex/flex_args.h"
#include "rtc/rtc.h"

/* Query rows of a block of threads; of split2 two groups of warps share rows, and take turns with the blocks of keys.
 */
enum flex_tile_id { FLEX_TILE_BY_TABLE, FLEX_TILE_64_SPLIT2, FLEX_TILE_64, FLEX_TILE_128, FLEX_TILE_IDS };

/* X(D, warps, strips, groups, keys of a step, Q is kept in registers, blocks that a multiprocessor shall hold), as
 * flash_tile has them (flash_tile.cuh). */
#define FLEX_TILES_64_SPLIT2(X) X(64, 2, 2, 2, 64, true, 2) X(128, 4, 1, 2, 32, true, 1)
#define FLEX_TILES_64(X) X(64, 4, 1, 1, 64, true, 3) X(128, 4, 1, 1, 64, true, 2)
#define FLEX_TILES_128(X) X(64, 4, 2, 1, 64, true, 2) X(128, 4, 2, 1, 32, false, 2)

/* Rows or keys at a time are no more. */
#define FLEX_LARGEST_TILE 128

/* For cudaLaunchKernel; attend NULL: there are none. */
struct flex_kernels {
    const void *attend, *blocks, *lists;
    int rows, threads;
    size_t shared_bytes;
    struct rtc_kernel loaded[2]; /* what the first two are of, where they were compiled at run time */
};

/* Those of flex_static.cu, for D 64 or 128. */
struct flex_kernels flex_static_find(enum flex_tile_id tile, int D, bool bf16);

#ifdef __cplusplus
}
#endif

#ifndef __CUDACC__
#include "flex/flex.h"

struct flex_knobs {
    int tile; /* enum flex_tile_id */
};

extern const char *const flex_tile_names[FLEX_TILE_IDS + 1];

/* D 64 and 128, and what a kernel's counters hold. KG_EUNSUPPORTED and why. */
int flex_cuda_supports(const kg_backend *self, const kg_device *device, const void *problem, kg_error *ret_error);

/* The tile for the problem, the knob's or that which is chosen. */
enum flex_tile_id flex_tile_of(const struct flex *p, const kg_device *device, const struct flex_knobs *knobs);

/* A state of these kernels, whose release unloads them. */
int flex_cuda_prepare(const kg_backend *self, const kg_call *call, const struct flex_kernels *kernels, void **ret_state,
                      kg_error *ret_error);
size_t flex_cuda_workspace(const kg_backend *self, const void *state);
int flex_cuda_stage(const kg_backend *self, void *state, const kg_tensor *tensors, void *stream, kg_error *ret_error);
int flex_cuda_launch(const kg_backend *self, void *state, const kg_tensor *tensors, void *stream, kg_error *ret_error);
void flex_cuda_release(const kg_backend *self, void *state);

extern const kg_field flex_knob_fields[1];

/* All of a backend but its name, help and `prepare`. */
#define FLEX_CUDA                                                                                                      \
    .device = KG_CUDA, .knobs = { flex_knob_fields, 1 }, .knobs_size = sizeof(struct flex_knobs),                      \
    .supports = flex_cuda_supports, .workspace = flex_cuda_workspace, .stage = flex_cuda_stage,                        \
    .launch = flex_cuda_launch, .release = flex_cuda_release
#endif

#endif
