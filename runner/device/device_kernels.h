/* device_kernels.h -- launchers of the CUDA device's own kernels. Each enqueues on `stream` and returns what the launch
 * gave; results lie in device memory. */
#ifndef KG_DEVICE_KERNELS_H
#define KG_DEVICE_KERNELS_H

#include "kgate.h"
#include "device/error_sums.h"

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

cudaError_t kg_kernel_fill(void *data, int64_t count, enum kg_dtype dtype, uint64_t key, float scale,
                           cudaStream_t stream);

/* These two add to *sum, which must be zero before. */
cudaError_t kg_kernel_count_changed(const void *data, size_t bytes, uint8_t value, uint64_t *sum, cudaStream_t stream);
cudaError_t kg_kernel_digest(const void *data, size_t bytes, uint64_t *sum, cudaStream_t stream);

/* Writes KG_ERROR_SUMS_PARTS parts, to be merged in their order by kg_error_sums_finish. */
cudaError_t kg_kernel_compare(const kg_tensor *got, const float *expected, struct kg_error_sums_limits limits,
                              struct kg_error_sums *ret_parts, cudaStream_t stream);

/* One thread that is busy for that many cycles of the multiprocessor's clock. */
cudaError_t kg_kernel_spin(uint64_t cycles, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
