/* cudnn_timer.h -- how long one launch takes, measured on a CUDA graph of launches: what `cudnn_best` picks by. */
#ifndef CUDNN_TIMER_H
#define CUDNN_TIMER_H

#include <cuda_runtime_api.h>

#include "kgate.h"

/* Enqueues once on the stream; may be called inside a capture. */
typedef int (*cudnn_timed)(const void *context, cudaStream_t stream, kg_error *ret_error);

/* Median over windows after a warm-up by time. Synchronises the stream; leaves nothing enqueued. */
int cudnn_timer_run(cudnn_timed launch, const void *context, cudaStream_t stream, double *ret_time_us,
                    kg_error *ret_error);

#endif
