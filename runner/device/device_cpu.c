/* device_cpu.c -- the CPU as a device: host memory, loops of cpu_loops.c, windows timed by the monotonic clock. */
#include "device/cpu_info.h"
#include "device/device_parts.h"

#include <assert.h>
#include <fenv.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct cpu_context {
    kg_context base;
    struct kg_allocations allocations;
    struct kg_shared_memory *shared; /* NULL: none of it is */
    struct kg_cpu_busy *busy;        /* NULL: nothing competes */
    double tick_us;
    struct {
        double us[KG_MAX_BATCH];
        int count;
    } in_flight[KG_MAX_IN_FLIGHT]; /* batches that have run, the oldest first */
    int n_in_flight;
};

static struct cpu_context *cpu(kg_context *context)
{
    return (struct cpu_context *)context;
}

static int64_t now_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Reads the clock in a row, for 20 ms at most, and keeps the smallest step that was not zero. */
static double measure_tick_us(void)
{
    int64_t tick_ns = INT64_MAX, start_ns = now_ns(), last_ns = start_ns;
    for (int steps = 0; steps < 20000 && last_ns - start_ns < 20000000;) {
        int64_t time_ns = now_ns(), step_ns = time_ns - last_ns;
        last_ns = time_ns;
        if (step_ns <= 0)
            continue;
        tick_ns = step_ns < tick_ns ? step_ns : tick_ns;
        steps++;
    }
    return (double)tick_ns * 1e-3;
}

static void cpu_close(kg_context *context)
{
    if (!context)
        return;
    kg_cpu_busy_stop(cpu(context)->busy);
    for (size_t i = 0; i < cpu(context)->allocations.count; i++)
        if (!kg_shared_memory_has(cpu(context)->shared, cpu(context)->allocations.items[i].data))
            free(cpu(context)->allocations.items[i].data);
    kg_shared_memory_done(cpu(context)->shared);
    kg_allocations_done(&cpu(context)->allocations);
    free(context);
}

static int cpu_allocate(kg_context *context, size_t bytes, void **ret_data, kg_error *ret_error)
{
    void *data;
    int rc = kg_allocations_reserve(&cpu(context)->allocations, ret_error);
    if (rc < 0)
        return rc;
    if (context->released || context->unseen_writes)
        rc = kg_shared_memory_take(&cpu(context)->shared, bytes, &data, ret_error);
    else if (posix_memalign(&data, kg_cpu_whole_pages(1), kg_cpu_whole_pages(bytes ? bytes : 1)) != 0)
        rc = kg_fail(ret_error, KG_ENOMEM, "no host memory for a buffer of %zu bytes", bytes);
    if (rc < 0)
        return rc;
    kg_allocations_add(&cpu(context)->allocations, data, bytes);
    *ret_data = data;
    return KG_OK;
}

static int cpu_free_bytes(kg_context *context, uint64_t *ret_bytes, kg_error *ret_error)
{
    (void)context;
    (void)ret_error;
    *ret_bytes = kg_cpu_free_bytes("");
    return KG_OK;
}

static void cpu_release(kg_context *context, void *data)
{
    if (!data || !kg_allocations_remove(&cpu(context)->allocations, data).data)
        return;
    if (!kg_shared_memory_has(cpu(context)->shared, data)) {
        free(data);
        return;
    }
    if (context->released)
        context->released(context->released_argument, data);
    kg_shared_memory_give(cpu(context)->shared, data);
}

static int cpu_share(kg_context *context, const void *data, size_t bytes, struct kg_shared *ret_shared,
                     kg_error *ret_error)
{
    return kg_shared_memory_share(cpu(context)->shared, data, bytes, ret_shared, ret_error);
}

static int cpu_map(kg_context *context, const struct kg_shared *shared, void **ret_data, kg_error *ret_error)
{
    (void)context;
    return kg_shared_memory_map(shared, ret_data, ret_error);
}

static void cpu_unmap(kg_context *context, void *data, size_t bytes)
{
    (void)context;
    kg_shared_memory_unmap(data, bytes);
}

/* Where to read or write what lies at `data`, whose pages a kernel may have protected; close_unseen follows. */
static int open_unseen(kg_context *context, const void *data, size_t bytes, void **ret_data, kg_error *ret_error)
{
    const bool unseen = context->unseen_writes && bytes > 0 && kg_shared_memory_has(cpu(context)->shared, data);
    *ret_data = unseen ? kg_shared_memory_alias(cpu(context)->shared, data, bytes) : (void *)(uintptr_t)data;
    return *ret_data ? KG_OK : kg_fail(ret_error, KG_ENOMEM, "no addresses to reach a buffer of %zu bytes", bytes);
}

static void close_unseen(const void *data, void *reached, size_t bytes)
{
    if (reached != data)
        kg_shared_memory_unalias(reached, bytes);
}

static int cpu_copy(kg_context *context, void *to, const void *from, size_t bytes, kg_error *ret_error)
{
    void *at, *source;
    int status = open_unseen(context, from, bytes, &source, ret_error);
    if (status)
        return status;
    status = open_unseen(context, to, bytes, &at, ret_error);
    if (!status) {
        memcpy(at, source, bytes);
        close_unseen(to, at, bytes);
    }
    close_unseen(from, source, bytes);
    return status;
}

static int cpu_compete(kg_context *context, void *data, double us, uint64_t draw, kg_error *ret_error)
{
    (void)us;
    (void)draw;
    return kg_cpu_busy_start(data, KG_COMPETING_BYTES, context->device.units, &cpu(context)->busy, ret_error);
}

static int cpu_compete_end(kg_context *context, kg_error *ret_error)
{
    (void)ret_error;
    kg_cpu_busy_stop(cpu(context)->busy);
    cpu(context)->busy = NULL;
    return KG_OK;
}

#define SPOILT_STACK ((size_t)256 << 10)
#define SPOILT_HEAP 0x01      /* glibc fills what it allocates with the complement, as FP32 -1.7e38 */
#define OWN_PAGES (128 << 10) /* bytes from which on what a kernel frees is unmapped: to use it then crashes */
#define KEPT (32 << 20)       /* outside checked launches; the most that glibc takes */

static __attribute__((noinline)) void spoil_stack(void)
{
    unsigned char below[SPOILT_STACK];
    memset(below, 0xff, sizeof below);
    __asm__ volatile("" : : "r"(below) : "memory"); /* or nothing would be written */
}

/* A reference's memory comes from pages that an earlier one had: to fault them in anew takes a fifth of small cases'
 * time. */
static void keep_heap(void)
{
    (void)mallopt(M_MMAP_THRESHOLD, KEPT);
    (void)mallopt(M_TRIM_THRESHOLD, 1 << 30);
}

static int cpu_spoil(kg_context *context, kg_error *ret_error)
{
    (void)context;
    (void)ret_error;
    (void)mallopt(M_PERTURB, SPOILT_HEAP);
    (void)mallopt(M_MMAP_THRESHOLD, OWN_PAGES);
    spoil_stack();
    return KG_OK;
}

static void cpu_spoil_end(kg_context *context)
{
    (void)context;
    (void)mallopt(M_PERTURB, 0);
    (void)mallopt(M_MMAP_THRESHOLD, KEPT);
}

static int cpu_seal(kg_context *context, void *data, size_t bytes, kg_error *ret_error)
{
    (void)context;
    return kg_cpu_seal(data, bytes, ret_error);
}

static bool cpu_unseal(kg_context *context)
{
    (void)context;
    return kg_cpu_unseal();
}

static int cpu_fill(kg_context *context, const kg_tensor *tensor, uint64_t seed, uint32_t ordinal, kg_error *ret_error)
{
    kg_tensor at = *tensor;
    int status = open_unseen(context, tensor->data, kg_tensor_bytes(tensor), &at.data, ret_error);
    if (status)
        return status;
    kg_cpu_fill(&at, seed, ordinal);
    close_unseen(tensor->data, at.data, kg_tensor_bytes(tensor));
    return KG_OK;
}

static int cpu_paint(kg_context *context, void *data, size_t bytes, uint32_t pattern, kg_error *ret_error)
{
    void *at;
    int status = open_unseen(context, data, bytes, &at, ret_error);
    if (status)
        return status;
    kg_cpu_paint(at, bytes, pattern);
    close_unseen(data, at, bytes);
    return KG_OK;
}

static int cpu_count_changed(kg_context *context, const struct kg_span *spans, int count, uint64_t *ret_counts,
                             kg_error *ret_error)
{
    (void)context;
    (void)ret_error;
    for (int i = 0; i < count; i++)
        ret_counts[i] = kg_cpu_count_changed(spans[i].data, spans[i].bytes, spans[i].pattern);
    return KG_OK;
}

static int cpu_digest(kg_context *context, const void *data, size_t bytes, uint64_t *ret_digest, kg_error *ret_error)
{
    void *at;
    int status = open_unseen(context, data, bytes, &at, ret_error);
    if (status)
        return status;
    *ret_digest = kg_cpu_digest(at, bytes);
    close_unseen(data, at, bytes);
    return KG_OK;
}

static int cpu_compare(kg_context *context, const kg_tensor *got, const kg_tensor *expected, const kg_tensor *scale,
                       const kg_gates *gates, struct kg_comparison *ret_comparison, kg_error *ret_error)
{
    kg_tensor at = *got;
    int status = open_unseen(context, got->data, kg_tensor_bytes(got), &at.data, ret_error);
    if (status)
        return status;
    kg_cpu_compare(&at, expected, scale, gates, ret_comparison);
    close_unseen(got->data, at.data, kg_tensor_bytes(got));
    return KG_OK;
}

static int cpu_strength(kg_context *context, const struct kg_wrong_terms *terms,
                        struct kg_comparison ret_comparisons[KG_WRONGS], kg_error *ret_error)
{
    (void)context;
    (void)ret_error;
    kg_cpu_strength(terms, ret_comparisons);
    return KG_OK;
}

static void *cpu_stream(kg_context *context)
{
    (void)context;
    return NULL;
}

static int cpu_synchronize(kg_context *context, kg_error *ret_error)
{
    (void)context;
    (void)ret_error;
    return KG_OK;
}

static int cpu_inspect(kg_context *context, kg_launch_fn *launch, void *argument, struct kg_launch_info *ret_info,
                       kg_error *ret_error)
{
    (void)context;
    (void)launch;
    (void)argument;
    (void)ret_error;
    memset(ret_info, 0, sizeof *ret_info);
    return KG_OK;
}

static int cpu_window_new(kg_context *context, kg_launch_fn *launch, void *argument, int calls, bool graph,
                          double spin_us, kg_window **ret_window, kg_error *ret_error)
{
    (void)context;
    (void)graph;
    kg_window *window = calloc(1, sizeof *window);
    if (!window)
        return kg_fail(ret_error, KG_ENOMEM, "no host memory for a window");
    *window = (struct kg_window){ .launch = launch, .argument = argument, .calls = calls, .spin_us = spin_us };
    *ret_window = window;
    return KG_OK;
}

static void cpu_window_free(kg_context *context, kg_window *window)
{
    (void)context;
    free(window);
}

/* The calls, and a spin that lasts spin_us by the clock. */
static int run_window(const kg_window *window, kg_error *ret_error)
{
    for (int call = 0; call < window->calls; call++) {
        int rc = window->launch(window->argument, call, NULL, ret_error);
        if (rc < 0)
            return rc;
    }
    if (window->spin_us > 0)
        for (const int64_t end_ns = now_ns() + (int64_t)(1e3 * window->spin_us); now_ns() < end_ns;)
            ;
    return KG_OK;
}

/* Runs at once. Neighbours share a reading of the clock, as windows of a GPU share an event. */
static int cpu_enqueue(kg_context *context, kg_window *const *order, int count, kg_error *ret_error)
{
    struct cpu_context *c = cpu(context);
    int64_t times_ns[KG_MAX_BATCH + 1];
    int rc = count < 1 || count > KG_MAX_BATCH
                 ? kg_fail(ret_error, KG_EINVAL, "%d windows in a batch: 1 to %d", count, KG_MAX_BATCH)
                 : KG_OK;
    assert(c->n_in_flight < KG_MAX_IN_FLIGHT);
    (void)feclearexcept(FE_ALL_EXCEPT); /* nothing tells a first call that others have computed */
    times_ns[0] = now_ns();
    for (int i = 0; i < count && rc == KG_OK; i++) {
        rc = run_window(order[i], ret_error);
        times_ns[i + 1] = now_ns();
    }
    if (rc < 0) {
        c->n_in_flight = 0;
        return rc;
    }
    for (int i = 0; i < count; i++)
        c->in_flight[c->n_in_flight].us[i] = (double)(times_ns[i + 1] - times_ns[i]) * 1e-3;
    c->in_flight[c->n_in_flight++].count = count;
    return KG_OK;
}

static int cpu_collect(kg_context *context, double *ret_us, kg_error *ret_error)
{
    struct cpu_context *c = cpu(context);
    (void)ret_error;
    assert(c->n_in_flight > 0);
    memcpy(ret_us, c->in_flight[0].us, (size_t)c->in_flight[0].count * sizeof *ret_us);
    c->in_flight[0] = c->in_flight[1];
    c->n_in_flight--;
    return KG_OK;
}

static double cpu_timer_tick_us(kg_context *context)
{
    return cpu(context)->tick_us;
}

static void cpu_state(kg_context *context, struct kg_device_state *ret_state)
{
    (void)context;
    *ret_state = kg_device_state_unknown();
    ret_state->sm_clock_mhz = kg_cpu_clock_mhz("scaling_cur_freq");
    ret_state->sm_clock_mhz_max = kg_cpu_clock_mhz("cpuinfo_max_freq");
}

static const struct kg_device_ops cpu_ops = {
    .close = cpu_close,
    .allocate = cpu_allocate,
    .free_bytes = cpu_free_bytes,
    .release = cpu_release,
    .share = cpu_share,
    .map = cpu_map,
    .unmap = cpu_unmap,
    .copy_to_host = cpu_copy,
    .copy_from_host = cpu_copy,
    .copy = cpu_copy,
    .copy_slowly = cpu_copy,
    .compete = cpu_compete,
    .compete_end = cpu_compete_end,
    .spoil = cpu_spoil,
    .spoil_end = cpu_spoil_end,
    .seal = cpu_seal,
    .unseal = cpu_unseal,
    .fill = cpu_fill,
    .paint = cpu_paint,
    .count_changed = cpu_count_changed,
    .digest = cpu_digest,
    .compare = cpu_compare,
    .strength = cpu_strength,
    .stream = cpu_stream,
    .synchronize = cpu_synchronize,
    .inspect = cpu_inspect,
    .window_new = cpu_window_new,
    .window_free = cpu_window_free,
    .enqueue = cpu_enqueue,
    .collect = cpu_collect,
    .timer_tick_us = cpu_timer_tick_us,
    .state = cpu_state,
};

int kg_cpu_probe(kg_device *ret_devices, int max, int *ret_count, kg_error *ret_error)
{
    if (max < 1)
        return kg_fail(ret_error, KG_EINVAL, "room for %d devices", max);
    kg_cpu_describe(&ret_devices[0]);
    *ret_count = 1;
    return KG_OK;
}

void kg_cpu_health(struct kg_device_health *ret_health)
{
    cpu_state(NULL, &ret_health->idle);
}

int kg_cpu_open(int index, kg_context **ret_context, kg_error *ret_error)
{
    if (index != 0)
        return kg_fail(ret_error, KG_ENOTFOUND, "no CPU device %d: there is one, 0", index);
    struct cpu_context *context = calloc(1, sizeof *context);
    if (!context)
        return kg_fail(ret_error, KG_ENOMEM, "no host memory for a device");
    context->base.ops = &cpu_ops;
    kg_cpu_describe(&context->base.device);
    context->tick_us = measure_tick_us();
    keep_heap();
    *ret_context = &context->base;
    return KG_OK;
}
