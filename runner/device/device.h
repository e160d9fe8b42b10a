/* device.h -- an open device in a worker: memory, inputs, comparison, timed windows. Two implementations,
 * device_cpu.c and device_cuda.c; the rest of the runner sees only this table. Never called in the parent.
 * Every function but launches, windows, copies, compete, spoil and paint has done its work when it returns; those are
 * done before whatever is asked for next. */
#ifndef KG_DEVICE_H
#define KG_DEVICE_H

#include "device/comparison.h"
#include "kgate.h"
#include "plan/wrong.h"

struct kg_wrong_terms;

#define KG_MAX_DEVICES 16
#define KG_POISON 0xFFFFFFFFu /* what outputs hold before a launch: NaN in every dtype */
#define KG_MAX_KERNELS 16
#define KG_COMPETING_BYTES (64u << 20) /* more than most caches hold */

/* Clocks and health at one moment; -1 where it cannot be read. */
struct kg_device_state {
    int sm_clock_mhz, memory_clock_mhz, temperature_c, utilisation_pct;
    double power_w, power_limit_w;
    int64_t throttle_reasons; /* NVML clocks event reasons, a bit set */
    int other_processes;      /* compute processes on the device besides this one */
    int sm_clock_mhz_max;
    double power_limit_default_w;
    int virtualisation;  /* enum kg_virtualisation */
    int persistence_off; /* 1: the driver unloads when its last client ends, and forgets what was set */
    int mig;             /* 1: the device is cut into slices */
};

/* NVML's virtualisation modes; what is above is a GPU shared between virtual machines too. */
enum kg_virtualisation { KG_VIRTUAL_NONE, KG_VIRTUAL_PASSTHROUGH, KG_VIRTUAL_SHARED };

/* What a probe reads of a device besides what it is. */
struct kg_device_health {
    struct kg_device_state idle; /* before this process used it: what works there is somebody else's */
    struct kg_device_state work; /* after a moment of work; -1 where it was not put to work */
    char nvml[64];               /* version; "" where there is none */
};

struct kg_device_state kg_device_state_unknown(void);

/* A kernel of a launch. */
struct kg_launched {
    char name[256];        /* mangled */
    int grid[3], block[3]; /* blocks, threads */
    int cluster[3];        /* blocks; 0: none was asked for at the launch */
    int shared_bytes;      /* dynamic */
    int arguments; /* hash of argument words, no addresses, and of attributes; 0: not known; -1: not always the same */
};

/* What one launch puts on the device, read off a captured graph. */
struct kg_launch_info {
    int kernels, memory_nodes, other_nodes;
    int early_starts;  /* edges by which a kernel may begin before the one that it follows has ended */
    int given, staged; /* digests, of given inputs and of what was staged for the suite's first seed; 0: not known */
    int n_launched;
    struct kg_launched launched[KG_MAX_KERNELS]; /* the first of the kernels, in launch order */
};

/* "grid 64x8 block 256 shared 49152 arguments 5f3a9c01; grid 512 block 128; 1 memory node; staged 0d1e2f30": a part a
 * kernel, without names. "host" where nothing is on a device. */
#define KG_LAUNCH_ARGUMENTS "arguments "
#define KG_LAUNCH_GIVEN "given "
#define KG_LAUNCH_STAGED "staged "
void kg_launch_format(const struct kg_launch_info *info, char *ret_text, size_t size);

/* Enqueues (computes) call number `index` of a window. */
typedef int kg_launch_fn(void *argument, int index, void *stream, kg_error *ret_error);

typedef struct kg_context kg_context;
typedef struct kg_window kg_window;

#define KG_MAX_SPANS 32 /* of count_changed */

struct kg_span {
    const void *data;
    size_t bytes;
    uint32_t pattern;
};

/* Memory that another process of this user can map, while its owner keeps it. */
struct kg_shared {
    size_t bytes;
    unsigned char handle[64];
};

struct kg_device_ops {
    /* NULL is accepted. Frees what was allocated and not released; windows are freed before. */
    void (*close)(kg_context *context);

    int (*allocate)(kg_context *context, size_t bytes, void **ret_data, kg_error *ret_error); /* 256-byte aligned */
    /* What could be allocated now; UINT64_MAX where nothing says so. */
    int (*free_bytes)(kg_context *context, uint64_t *ret_bytes, kg_error *ret_error);
    void (*release)(kg_context *context, void *data);

    /* Of what was allocated while `released` of the context was set; and such memory of another process. */
    int (*share)(kg_context *context, const void *data, size_t bytes, struct kg_shared *ret_shared,
                 kg_error *ret_error);
    int (*map)(kg_context *context, const struct kg_shared *shared, void **ret_data, kg_error *ret_error);
    void (*unmap)(kg_context *context, void *data, size_t bytes);
    int (*copy_to_host)(kg_context *context, void *to, const void *from, size_t bytes, kg_error *ret_error);
    int (*copy_from_host)(kg_context *context, void *to, const void *from, size_t bytes, kg_error *ret_error);
    int (*copy)(kg_context *context, void *to, const void *from, size_t bytes, kg_error *ret_error);

    /* The same, but on a GPU late and slowly: what is enqueued next meets a copy that has hardly begun. */
    int (*copy_slowly)(kg_context *context, void *to, const void *from, size_t bytes, kg_error *ret_error);

    /* Somebody else's work beside what is asked for next, in no order with it, up to compete_end, which must follow: on
     * a GPU a few kernels, one after the other, on a part of it for about `us`; on the CPU a busy thread a core. It
     * changes `data`, KG_COMPETING_BYTES. `draw`: how large a part, and how many kernels. */
    int (*compete)(kg_context *context, void *data, double us, uint64_t draw, kg_error *ret_error);
    int (*compete_end)(kg_context *context, kg_error *ret_error);

    /* What the launch that follows finds where it has written nothing: NaN in a GPU's shared memory; on the CPU NaN
     * below the caller's stack and, until spoil_end, huge numbers in what is allocated. */
    int (*spoil)(kg_context *context, kg_error *ret_error);
    void (*spoil_end)(kg_context *context);

    /* Notes writes to an allocation of the context, until unseal, which says whether there was one; they go on. NULL on
     * a GPU. */
    int (*seal)(kg_context *context, void *data, size_t bytes, kg_error *ret_error);
    bool (*unseal)(kg_context *context);

    /* Values of input `tensor`, as random.h defines them for (seed, ordinal of the tensor). */
    int (*fill)(kg_context *context, const kg_tensor *tensor, uint64_t seed, uint32_t ordinal, kg_error *ret_error);
    /* The pattern's bytes lie by address (kg_pattern_byte), so that spans may begin anywhere. */
    int (*paint)(kg_context *context, void *data, size_t bytes, uint32_t pattern, kg_error *ret_error);
    /* Bytes of each span that are not its pattern's; at most KG_MAX_SPANS. */
    int (*count_changed)(kg_context *context, const struct kg_span *spans, int count, uint64_t *ret_counts,
                         kg_error *ret_error);
    /* Order-independent 64-bit digest of bytes and their places; equal data has equal digests on every device. */
    int (*digest)(kg_context *context, const void *data, size_t bytes, uint64_t *ret_digest, kg_error *ret_error);
    /* `expected` and `scale`, of its errors, are KG_F32 and of the same count; scale NULL: there is none. */
    int (*compare)(kg_context *context, const kg_tensor *got, const kg_tensor *expected, const kg_tensor *scale,
                   const kg_gates *gates, struct kg_comparison *ret_comparison, kg_error *ret_error);

    /* Each wrong answer (wrong_answers.h) compared with the reference that it is made of. */
    int (*strength)(kg_context *context, const struct kg_wrong_terms *terms,
                    struct kg_comparison ret_comparisons[KG_WRONGS], kg_error *ret_error);

    void *(*stream)(kg_context *context); /* cudaStream_t; NULL on the CPU */
    int (*synchronize)(kg_context *context, kg_error *ret_error);

    /* Captures launches 0 and 1 on another stream than the context's and walks the graph, child graphs too. Nothing
     * runs. Argument words that differ between the two, or are addresses, do not count. KG_EDEVICE: it put something on
     * the context's all the same. On the CPU: all zero. */
    int (*inspect)(kg_context *context, kg_launch_fn *launch, void *argument, struct kg_launch_info *ret_info,
                   kg_error *ret_error);

    /* A window of `calls` launches. `graph`: captured and replayed (CUDA only); otherwise launched call by call.
     * A launch that cannot be captured, or puts nothing on its stream, fails and the text says so. `spin_us`, unless
     * negative, ends the window with a spin of that length: on a GPU a kernel, by the highest clock (a lower one makes
     * it longer), 0 included; on the CPU a loop that watches the timer. */
    int (*window_new)(kg_context *context, kg_launch_fn *launch, void *argument, int calls, bool graph, double spin_us,
                      kg_window **ret_window, kg_error *ret_error);
    void (*window_free)(kg_context *context, kg_window *window);
    /* Hands a batch of at most KG_MAX_BATCH windows to the device, which runs them in the given order, back to back.
     * Nothing else is inside the timed spans; the host runs ahead of the device. KG_MAX_IN_FLIGHT batches may be
     * waiting to be collected. Allocates nothing. After a failure of either function nothing is waiting. */
    int (*enqueue)(kg_context *context, kg_window *const *order, int count, kg_error *ret_error);
    /* Waits for the oldest batch and gives the time of each of its windows in us. */
    int (*collect)(kg_context *context, double *ret_us, kg_error *ret_error);

    /* Smallest difference seen between two times of the timer; measured when the device was opened. */
    double (*timer_tick_us)(kg_context *context);
    void (*state)(kg_context *context, struct kg_device_state *ret_state);
};

#define KG_MAX_BATCH 64
#define KG_MAX_IN_FLIGHT 2

struct kg_context {
    const struct kg_device_ops *ops;
    kg_device device;
    /* Set right after opening where memory is to be shared; hears of it before it goes. NULL: it is not. */
    void (*released)(void *argument, const void *data);
    void *released_argument;
    /* Set right after opening a CPU: kgate writes to what is allocated by addresses of its own, which nobody else has.
     */
    bool unseen_writes;
};

/* The key of goldens from a product name: without its vendor, lower case, other characters as '_'. A MIG profile is
 * part of the name that the driver gives. "unknown" where nothing is left. */
void kg_device_arch_name(const char *name, char *ret_arch, size_t size);

/* The devices of one kind, the first `max` of them. KG_CUDA with no driver or in a build without CUDA: KG_EUNSUPPORTED
 * and why. */
int kg_device_probe(enum kg_device_kind kind, kg_device *ret_devices, int max, int *ret_count, kg_error *ret_error);
/* Of a device that a probe found. With `work` it is opened and kept busy for 0.3 s, unless somebody else uses it. Never
 * fails. */
void kg_device_health(enum kg_device_kind kind, int index, bool work, struct kg_device_health *ret_health);
int kg_device_open(enum kg_device_kind kind, int index, kg_context **ret_context, kg_error *ret_error);

/* Whether a limit on files or addresses leaves no room for that: a file in memory is a file to the first. */
bool kg_shared_memory_is_limited(void);

/* What ops->fill puts into a tensor, in host memory. */
void kg_cpu_fill(const kg_tensor *tensor, uint64_t seed, uint32_t ordinal);

/* One batch, enqueued and collected. */
int kg_device_measure(kg_context *context, kg_window *const *order, int count, double *ret_us, kg_error *ret_error);

/* One per implementation, behind the two functions above. */
int kg_cpu_probe(kg_device *ret_devices, int max, int *ret_count, kg_error *ret_error);
void kg_cpu_health(struct kg_device_health *ret_health); /* likewise */
int kg_cpu_open(int index, kg_context **ret_context, kg_error *ret_error);
int kg_cuda_probe(kg_device *ret_devices, int max, int *ret_count, kg_error *ret_error);
void kg_cuda_health(int index, struct kg_device_health *ret_health); /* all but `work` */
int kg_cuda_open(int index, kg_context **ret_context, kg_error *ret_error);

#endif
