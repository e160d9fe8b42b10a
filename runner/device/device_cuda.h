/* device_cuda.h -- what the files of the CUDA device share: device_cuda.c (memory, inputs, comparison), cuda_probe.c
 * (what a GPU is), cuda_window.c (captures, replays, times) and cuda_graph.c (reads a captured graph). */
#ifndef KG_DEVICE_CUDA_H
#define KG_DEVICE_CUDA_H

#include "device/device_parts.h"
#include "device/nvml.h"
#include "device/error_sums.h"

#include <cuda_runtime_api.h>

/* Windows between events, on their way or waiting to be collected. */
struct kg_cuda_batch {
    cudaEvent_t events[KG_MAX_BATCH + 1]; /* neighbouring windows share one */
    kg_window *windows[KG_MAX_BATCH];
    int count;
    double run_us; /* as far as its windows have run before */
};

struct kg_cuda_context {
    kg_context base;
    struct kg_allocations allocations, spare; /* spare: released, for the next of that size */
    uint64_t spare_most;                      /* bytes */
    struct kg_nvml nvml;
    cudaStream_t stream, beside; /* beside: of what competes */
    struct kg_cuda_batch batches[KG_MAX_IN_FLIGHT];
    int oldest, n_in_flight;     /* of batches */
    struct kg_error_sums *parts; /* device memory: results of kernels, so many for each wrong answer */
    double tick_us;
};

static inline struct kg_cuda_context *kg_cuda(kg_context *context)
{
    return (struct kg_cuda_context *)context;
}

/* KG_OK for cudaSuccess; else "what: <CUDA's words>", KG_ENOMEM where it says so and KG_EDEVICE otherwise. Clears the
 * error. */
int kg_cuda_check(cudaError_t status, const char *what, kg_error *ret_error);

int kg_cuda_nvml_init(int index, struct kg_nvml *ret_nvml, kg_error *ret_error);

/* A kernel's parameters as it finds them, then its attributes, in words; bytes that nothing is in are 0. */
struct kg_arguments {
    uint64_t *words;
    size_t count;
};

/* Walks `graph` in an order that its edges admit and adds to *info and, of the kernels in it, to `arguments`, which are
 * the caller's to free, after a failure too. */
int kg_cuda_graph_walk(cudaGraph_t graph, struct kg_launch_info *info, struct kg_arguments arguments[KG_MAX_KERNELS],
                       kg_error *ret_error);

/* Of the words that are equal in both and no address that CUDA knows; 0 where there are none, or not equally many. */
int kg_cuda_arguments_hash(const struct kg_arguments *one, const struct kg_arguments *other);

int kg_cuda_inspect(kg_context *context, kg_launch_fn *launch, void *argument, struct kg_launch_info *ret_info,
                    kg_error *ret_error);
int kg_cuda_window_new(kg_context *context, kg_launch_fn *launch, void *argument, int calls, bool graph, double spin_us,
                       kg_window **ret_window, kg_error *ret_error);
void kg_cuda_window_free(kg_context *context, kg_window *window);
int kg_cuda_enqueue(kg_context *context, kg_window *const *order, int count, kg_error *ret_error);
int kg_cuda_collect(kg_context *context, double *ret_us, kg_error *ret_error);
int kg_cuda_measure_tick(struct kg_cuda_context *cuda, double *ret_tick_us, kg_error *ret_error);

#endif
