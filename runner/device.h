/* device.h -- an open device in a worker: memory, inputs, comparison, timed windows. Two implementations,
 * device_cpu.c and device_cuda.c; the rest of the runner sees only this table. Never called in the parent.
 * Every function but launches and windows has done its work when it returns. */
#ifndef KG_DEVICE_H
#define KG_DEVICE_H

#include "figures.h"
#include "kgate.h"

#define KG_MAX_DEVICES 16
#define KG_POISON 0xFF /* byte that outputs hold before a launch: NaN in every dtype */
#define KG_GUARD 0xA5  /* byte of the guard bands */
#define KG_MAX_KERNELS 16

/* Clocks and health at one moment; -1 where it cannot be read. */
struct kg_device_state {
    int sm_clock_mhz, memory_clock_mhz, temperature_c, utilisation_pct;
    double power_w, power_limit_w;
    int64_t throttle_reasons; /* NVML clocks event reasons, a bit set */
    int other_processes;      /* compute processes on the device besides this one */
};

/* What one launch puts on the device, read off a captured graph. */
struct kg_launch_info {
    int kernels, memory_nodes, other_nodes;
    int n_names;
    char names[KG_MAX_KERNELS][256]; /* mangled, in launch order */
};

/* Enqueues (computes) call number `index` of a window. */
typedef int kg_launch_fn(void *argument, int index, void *stream, kg_error *ret_error);

typedef struct kg_context kg_context;
typedef struct kg_window kg_window;

struct kg_device_ops {
    /* NULL is accepted. Frees what was allocated and not released; windows are freed before. */
    void (*close)(kg_context *context);

    int (*allocate)(kg_context *context, size_t bytes, void **ret_data, kg_error *ret_error); /* 256-byte aligned */
    void (*release)(kg_context *context, void *data);
    int (*copy_to_host)(kg_context *context, void *to, const void *from, size_t bytes, kg_error *ret_error);
    int (*copy)(kg_context *context, void *to, const void *from, size_t bytes, kg_error *ret_error);

    /* Values of input `tensor`, as random.h defines them for (seed, ordinal of the tensor). */
    int (*fill)(kg_context *context, const kg_tensor *tensor, uint64_t seed, uint32_t ordinal, kg_error *ret_error);
    int (*paint)(kg_context *context, void *data, size_t bytes, uint8_t value, kg_error *ret_error);
    int (*count_changed)(kg_context *context, const void *data, size_t bytes, uint8_t value, uint64_t *ret_count,
                         kg_error *ret_error);
    /* Order-independent 64-bit digest of bytes and their places; equal data has equal digests on every device. */
    int (*digest)(kg_context *context, const void *data, size_t bytes, uint64_t *ret_digest, kg_error *ret_error);
    /* `expected` is KG_F32, of the same count. */
    int (*compare)(kg_context *context, const kg_tensor *got, const kg_tensor *expected, const kg_gates *gates,
                   struct kg_figures *ret_figures, kg_error *ret_error);

    void *(*stream)(kg_context *context); /* cudaStream_t; NULL on the CPU */
    int (*synchronize)(kg_context *context, kg_error *ret_error);

    /* Captures one launch and walks the graph, child graphs too. Nothing runs. On the CPU: all zero. */
    int (*inspect)(kg_context *context, kg_launch_fn *launch, void *argument, struct kg_launch_info *ret_info,
                   kg_error *ret_error);

    /* A window of `calls` launches. `graph`: captured and replayed (CUDA only); otherwise launched call by call.
     * A launch that cannot be captured, or puts nothing on its stream, fails and the text says so. */
    int (*window_new)(kg_context *context, kg_launch_fn *launch, void *argument, int calls, bool graph,
                      kg_window **ret_window, kg_error *ret_error);
    void (*window_free)(kg_context *context, kg_window *window);
    /* Runs the windows in the given order, back to back, and gives the time of each in us. Nothing else is inside the
     * timed spans; the host runs ahead of the device. At most KG_MAX_BATCH. Allocates nothing. */
    int (*measure)(kg_context *context, kg_window *const *order, int count, double *ret_us, kg_error *ret_error);

    /* Smallest difference seen between two times of the timer; measured when the device was opened. */
    double (*timer_tick_us)(kg_context *context);
    void (*state)(kg_context *context, struct kg_device_state *ret_state);
};

#define KG_MAX_BATCH 64

struct kg_context {
    const struct kg_device_ops *ops;
    kg_device device;
};

/* The key of goldens from a product name: without its vendor, lower case, other characters as '_'. A MIG profile is
 * part of the name that the driver gives. "unknown" where nothing is left. */
void kg_device_arch_name(const char *name, char *ret_arch, size_t size);

/* The devices of one kind, the first `max` of them. KG_CUDA with no driver or in a build without CUDA: KG_EUNSUPPORTED
 * and why. */
int kg_device_probe(enum kg_device_kind kind, kg_device *ret_devices, int max, int *ret_count, kg_error *ret_error);
int kg_device_open(enum kg_device_kind kind, int index, kg_context **ret_context, kg_error *ret_error);

/* One per implementation, behind the two functions above. */
int kg_cpu_probe(kg_device *ret_devices, int max, int *ret_count, kg_error *ret_error);
int kg_cpu_open(int index, kg_context **ret_context, kg_error *ret_error);
int kg_cuda_probe(kg_device *ret_devices, int max, int *ret_count, kg_error *ret_error);
int kg_cuda_open(int index, kg_context **ret_context, kg_error *ret_error);

#endif
