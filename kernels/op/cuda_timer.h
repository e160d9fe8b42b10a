/* cuda_timer.h -- how long a launch takes, for backends that choose among configurations. */
#ifndef CUDA_TIMER_H
#define CUDA_TIMER_H

#include <cuda_runtime_api.h>

#include "kgate.h"

/* Enqueues once on the stream; may be called inside a capture. */
typedef int cuda_timed_fn(const void *context, cudaStream_t stream, kg_error *ret_error);

/* The time in us on a CUDA graph of launches: the median over windows after a warm-up by time. Synchronises the stream;
 * leaves nothing enqueued. */
int cuda_timer_run(cuda_timed_fn *launch, const void *context, cudaStream_t stream, double *ret_time_us,
                   kg_error *ret_error);

#endif
