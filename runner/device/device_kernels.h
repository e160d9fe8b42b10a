/* device_kernels.h -- launchers of the CUDA device's own kernels. Each enqueues on `stream` and returns what the launch
 * gave; results lie in device memory. */
#ifndef KG_DEVICE_KERNELS_H
#define KG_DEVICE_KERNELS_H

#include "kgate.h"
#include "device/wrong_answers.h"

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

cudaError_t kg_kernel_fill(void *data, int64_t count, enum kg_dtype dtype, uint64_t key, float scale,
                           cudaStream_t stream);

cudaError_t kg_kernel_paint(void *data, size_t bytes, uint32_t pattern, cudaStream_t stream);

/* These two add to *sum, which must be zero before. */
cudaError_t kg_kernel_count_changed(const void *data, size_t bytes, uint32_t pattern, uint64_t *sum,
                                    cudaStream_t stream);
cudaError_t kg_kernel_digest(const void *data, size_t bytes, uint64_t *sum, cudaStream_t stream);

/* Writes KG_ERROR_SUMS_PARTS parts, to be merged in their order by kg_error_sums_finish. */
cudaError_t kg_kernel_compare(const kg_tensor *got, const float *expected, const float *scale,
                              struct kg_error_sums_limits limits, struct kg_error_sums *ret_parts, cudaStream_t stream);

/* Busy for `cycles` first, then copies on few multiprocessors. */
cudaError_t kg_kernel_copy_slowly(void *to, const void *from, size_t bytes, uint64_t cycles, cudaStream_t stream);

/* So many blocks that use shared memory and read and write `data` for that many cycles. 16-byte aligned, and at least
 * 4 KiB a block. */
cudaError_t kg_kernel_compete(void *data, size_t bytes, int blocks, uint64_t cycles, cudaStream_t stream);

/* NaN into the shared memory of all `units` multiprocessors: blocks that take all that one can have. */
cudaError_t kg_kernel_spoil(int units, size_t shared_bytes, cudaStream_t stream);

/* Passes over a reference for its wrong answers (strength_kernels.cu), the facts of `terms` being what the passes
 * before have found: KG_ERROR_SUMS_PARTS parts of the first and the second, so many for each answer of the last. */
cudaError_t kg_kernel_wrong_sizes(const struct kg_wrong_terms *terms, struct kg_wrong_sizes *ret_parts,
                                  cudaStream_t stream);
cudaError_t kg_kernel_wrong_places(const struct kg_wrong_terms *terms, struct kg_wrong_places *ret_parts,
                                   cudaStream_t stream);
cudaError_t kg_kernel_wrong_answers(const struct kg_wrong_terms *terms, struct kg_error_sums *ret_parts,
                                    cudaStream_t stream);

/* One thread that is busy for that many cycles of the multiprocessor's clock. */
cudaError_t kg_kernel_spin(uint64_t cycles, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
