/* test_device_cuda.c -- holds the CUDA device against the CPU's, and its windows against each other. For machines with
 * a GPU; elsewhere it exits with 77, the skip of the build's test runner. A new function of device.h gets a check here.
 * It links the runner's device files; launches use the device's own kernels. */
#include "device/device.h"
#include "device/device_kernels.h"
#include "base/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static kg_context *gpu, *cpu;
static kg_error error;
static int failures;

#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            failures++;                                                                                                \
            (void)printf("FAILED %s:%d: %s\n", __FILE__, __LINE__, #condition);                                        \
        }                                                                                                              \
    } while (0)

/* For what the rest of the program needs. */
static void need(int rc, const char *what)
{
    if (rc == KG_OK)
        return;
    (void)printf("FAILED %s: %s (%d)\n", what, error.text, rc);
    exit(1);
}

static void *allocate(kg_context *context, size_t bytes)
{
    void *data = NULL;
    need(context->ops->allocate(context, bytes, &data, &error), "allocate");
    return data;
}

static void upload(void *to, const void *from, size_t bytes)
{
    need(cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice) == cudaSuccess ? KG_OK : KG_EDEVICE, "upload");
}

static uint64_t digest_of(kg_context *context, const void *data, size_t bytes)
{
    uint64_t digest = 0;
    need(context->ops->digest(context, data, bytes, &digest, &error), "digest");
    return digest;
}

/* ---- inputs, guards, digests ------------------------------------------------------------------------------- */

static void fill_has_the_same_bits(void)
{
    static const int64_t counts[] = { 1, 2, 3, 31, 255, 256, 257, 4099, 1000003, 20000001 };
    static const enum kg_dtype dtypes[] = { KG_F32, KG_F16, KG_BF16 };
    void *on_gpu = allocate(gpu, 20000001 * 4), *on_cpu = allocate(cpu, 20000001 * 4);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        for (size_t d = 0; d < 3; d++) {
            kg_tensor tensor = { .dtype = dtypes[d], .rank = 1, .dims = { counts[i] }, .std = d == 1 ? 1e-4 : 0 };
            tensor.data = on_gpu;
            need(gpu->ops->fill(gpu, &tensor, 0x1234567890abcdef + i, (uint32_t)d, &error), "fill");
            tensor.data = on_cpu;
            need(cpu->ops->fill(cpu, &tensor, 0x1234567890abcdef + i, (uint32_t)d, &error), "fill");
            size_t bytes = kg_tensor_bytes(&tensor);
            CHECK(digest_of(gpu, on_gpu, bytes) == digest_of(cpu, on_cpu, bytes));
        }
    }
    gpu->ops->release(gpu, on_gpu);
    cpu->ops->release(cpu, on_cpu);
}

static void bytes_are_counted_and_digested_alike(void)
{
    enum { BYTES = 300007, PATTERN = 0x0403a5ff };
    uint8_t *on_gpu = allocate(gpu, BYTES), *on_cpu = allocate(cpu, BYTES), *back = allocate(cpu, BYTES);
    uint64_t changed = 99;
    need(gpu->ops->paint(gpu, on_gpu, BYTES, PATTERN, &error), "paint");
    need(gpu->ops->count_changed(gpu, &(struct kg_span){ on_gpu, BYTES, PATTERN }, 1, &changed, &error), "count");
    CHECK(changed == 0);
    need(gpu->ops->count_changed(gpu, &(struct kg_span){ on_gpu, BYTES, ~(uint32_t)PATTERN }, 1, &changed, &error),
         "count");
    CHECK(changed == BYTES);
    need(gpu->ops->paint(gpu, on_gpu + 1001, 3, 0, &error), "paint");
    need(gpu->ops->paint(gpu, on_gpu + BYTES - 1, 1, 0, &error), "paint");
    need(gpu->ops->count_changed(gpu, &(struct kg_span){ on_gpu, BYTES, PATTERN }, 1, &changed, &error), "count");
    CHECK(changed == 4);
    need(gpu->ops->count_changed(gpu, &(struct kg_span){ on_gpu + 1002, BYTES - 1003, PATTERN }, 1, &changed, &error),
         "count");
    CHECK(changed == 2);
    need(gpu->ops->count_changed(gpu, &(struct kg_span){ on_gpu, 0, PATTERN }, 1, &changed, &error), "count");
    CHECK(changed == 0);

    for (size_t i = 0; i < BYTES; i++)
        on_cpu[i] = (uint8_t)kg_mix64(i);
    upload(on_gpu, on_cpu, BYTES);
    for (size_t bytes = 0; bytes < 40; bytes++)
        CHECK(digest_of(gpu, on_gpu, bytes) == digest_of(cpu, on_cpu, bytes));
    for (size_t offset = 0; offset < 9; offset++)
        CHECK(digest_of(gpu, on_gpu + offset, BYTES - 9) == digest_of(cpu, on_cpu + offset, BYTES - 9));
    uint64_t before = digest_of(gpu, on_gpu, BYTES);
    need(gpu->ops->paint(gpu, on_gpu + 77777, 1, 0x01010101u * (uint8_t)(on_cpu[77777] ^ 4), &error), "paint");
    CHECK(digest_of(gpu, on_gpu, BYTES) != before);

    uint8_t *copied = allocate(gpu, BYTES);
    need(gpu->ops->copy(gpu, copied, on_gpu, BYTES, &error), "copy");
    need(gpu->ops->copy_to_host(gpu, back, copied, BYTES, &error), "copy to host");
    CHECK(back[77777] == (on_cpu[77777] ^ 4) && memcmp(back, on_cpu, 77777) == 0);
    CHECK((uintptr_t)copied % 256 == 0);
}

/* ---- what disturbs a launch ------------------------------------------------------------------------------- */

static double now_ms(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

static void slow_copies_copy(void)
{
    enum { MOST = 300007 };
    static const size_t sizes[] = { 1, 15, 16, 17, 4096, MOST };
    uint8_t *from = allocate(gpu, MOST), *to = allocate(gpu, MOST), *sent = allocate(cpu, MOST);
    for (size_t i = 0; i < MOST; i++)
        sent[i] = (uint8_t)kg_mix64(i);
    upload(from, sent, MOST);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const struct kg_span beyond = { to + sizes[i], MOST - sizes[i], KG_POISON };
        uint64_t changed = 99;
        need(gpu->ops->paint(gpu, to, MOST, KG_POISON, &error), "paint");
        need(gpu->ops->copy_slowly(gpu, to, from, sizes[i], &error), "copy slowly");
        CHECK(digest_of(gpu, to, sizes[i]) == digest_of(cpu, sent, sizes[i]));
        need(gpu->ops->count_changed(gpu, &beyond, 1, &changed, &error), "count");
        CHECK(changed == 0);
    }
    const double start_ms = now_ms();
    need(gpu->ops->copy_slowly(gpu, to, from, 16, &error), "copy slowly");
    need(gpu->ops->synchronize(gpu, &error), "synchronize");
    CHECK(now_ms() - start_ms >= 0.045);
    gpu->ops->release(gpu, from);
    gpu->ops->release(gpu, to);
    cpu->ops->release(cpu, sent);
}

/* What is on our stream does not wait for it. */
static void others_work_beside_the_stream(void)
{
    uint8_t *data = allocate(gpu, KG_COMPETING_BYTES), *ours = allocate(gpu, 4096);
    need(gpu->ops->paint(gpu, data, KG_COMPETING_BYTES, 0, &error), "paint");
    uint64_t before = digest_of(gpu, data, KG_COMPETING_BYTES);
    for (uint64_t draw = 0; draw < 16; draw++) {
        const double start_ms = now_ms();
        need(gpu->ops->compete(gpu, data, 20000, draw, &error), "compete");
        need(gpu->ops->paint(gpu, ours, 4096, (uint32_t)draw, &error), "paint");
        need(gpu->ops->synchronize(gpu, &error), "synchronize");
        const double ours_ms = now_ms() - start_ms;
        need(gpu->ops->compete_end(gpu, &error), "end");
        const double all_ms = now_ms() - start_ms;
        CHECK(draw == 0 || ours_ms < 10); /* the first one loads kernels */
        CHECK(all_ms >= 19);
        const uint64_t after = digest_of(gpu, data, KG_COMPETING_BYTES);
        CHECK(after != before);
        before = after;
    }
    gpu->ops->release(gpu, data);
    gpu->ops->release(gpu, ours);
}

/* ---- comparison -------------------------------------------------------------------------------------------- */

static bool near(double a, double b)
{
    return a == b || fabs(a - b) <= 1e-12 * fabs(b) || (isnan(a) && isnan(b));
}

static void check_figures(const struct kg_comparison *a, const struct kg_comparison *b)
{
    CHECK(a->count == b->count && a->nonfinite == b->nonfinite && a->unwritten == b->unwritten && a->bad == b->bad);
    CHECK(a->max_abs == b->max_abs && a->max_rel == b->max_rel && a->bad_pct == b->bad_pct);
    CHECK(near(a->mean_abs, b->mean_abs) && near(a->rel_l2, b->rel_l2));
    CHECK(fabs(a->bias - b->bias) <= 1e-12 * (1 + b->mean_abs));
    CHECK(a->worst_index == b->worst_index && near(a->worst_got, b->worst_got));
    CHECK(near(a->worst_expected, b->worst_expected));
}

/* Every code but the two NaNs, in no order; in hundredths, so that they are as large as what is expected. */
static void codes_fill(kg_tensor *tensor)
{
    uint8_t *codes = tensor->data;
    for (int64_t i = 0; i < kg_tensor_count(tensor); i++) {
        uint8_t code = (uint8_t)kg_mix64((uint64_t)i);
        codes[i] = (code & 0x7f) == 0x7f ? 0x38 : code;
    }
    tensor->unit = 0.01;
}

/* `planted`: non-finite, unwritten and tied elements go in. */
static void check_compare(enum kg_dtype dtype, int64_t count, bool planted)
{
    kg_tensor got = { .dtype = dtype, .rank = 1, .dims = { count } };
    kg_tensor expected = { .dtype = KG_F32, .rank = 1, .dims = { count } };
    size_t bytes = kg_tensor_bytes(&got);
    void *got_cpu = got.data = allocate(cpu, bytes), *expected_cpu = expected.data = allocate(cpu, (size_t)count * 4);
    if (dtype == KG_E4M3)
        codes_fill(&got);
    else
        need(cpu->ops->fill(cpu, &got, 5, 0, &error), "fill");
    need(cpu->ops->fill(cpu, &expected, 5, planted ? 1 : 0, &error), "fill");
    if (planted) {
        ((float *)expected_cpu)[count / 2] = INFINITY;
        ((float *)expected_cpu)[count / 3] = 0;
        memset((char *)got_cpu + (size_t)(count - 2) * kg_dtype_bytes(dtype), 0xff, 2 * kg_dtype_bytes(dtype));
    }
    kg_gates gates = { .bad_abs = 0.5, .bad_rel = 0.01 };
    struct kg_comparison on_cpu, on_gpu, again;
    need(cpu->ops->compare(cpu, &got, &expected, NULL, &gates, &on_cpu, &error), "compare");
    void *got_gpu = got.data = allocate(gpu, bytes), *expected_gpu = expected.data = allocate(gpu, (size_t)count * 4);
    upload(got_gpu, got_cpu, bytes);
    upload(expected_gpu, expected_cpu, (size_t)count * 4);
    need(gpu->ops->compare(gpu, &got, &expected, NULL, &gates, &on_gpu, &error), "compare");
    need(gpu->ops->compare(gpu, &got, &expected, NULL, &gates, &again, &error), "compare");
    check_figures(&on_gpu, &on_cpu);
    CHECK(memcmp(&on_gpu, &again, sizeof again) == 0);
    CHECK(on_gpu.nonfinite == (planted ? 3 : 0) && on_gpu.unwritten == (planted ? 2 : 0));
    CHECK(on_gpu.worst_index == (uint64_t)(planted ? count / 2 : (int64_t)on_cpu.worst_index));
    gpu->ops->release(gpu, got_gpu);
    gpu->ops->release(gpu, expected_gpu);
    cpu->ops->release(cpu, got_cpu);
    cpu->ops->release(cpu, expected_cpu);
}

static void comparisons_agree(void)
{
    static const int64_t counts[] = { 7, 128, 32768, 32769, 1000003, 6000001 };
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        for (int dtype = KG_F32; dtype <= KG_E4M3; dtype++)
            for (int planted = 0; planted < 2; planted++)
                check_compare((enum kg_dtype)dtype, counts[i], planted);
}

/* ---- wrong answers ----------------------------------------------------------------------------------------- */

static bool about(double a, double b)
{
    return a == b || fabs(a - b) <= 1e-6 * fabs(b);
}

static void check_strength(const kg_tensor *shape)
{
    const kg_tensor output = { .dtype = KG_F16 };
    const kg_gates gates = { .bad_abs = 0.5 };
    const size_t bytes = (size_t)kg_tensor_count(shape) * 4;
    struct kg_comparison on_cpu[KG_WRONGS], on_gpu[KG_WRONGS];
    kg_tensor expected = *shape;
    void *values = expected.data = allocate(cpu, bytes);
    need(cpu->ops->fill(cpu, &expected, 5, 0, &error), "fill");
    struct kg_wrong_terms terms = kg_wrong_terms_of(&output, &expected, &expected, &gates, 7);
    need(cpu->ops->strength(cpu, &terms, on_cpu, &error), "strength");
    void *copy = allocate(gpu, bytes);
    upload(copy, values, bytes);
    terms.expected = terms.scale = copy;
    need(gpu->ops->strength(gpu, &terms, on_gpu, &error), "strength");
    for (int wrong = 0; wrong < KG_WRONGS; wrong++) {
        const struct kg_comparison *a = &on_gpu[wrong], *b = &on_cpu[wrong];
        CHECK(a->count == b->count && a->nonfinite == b->nonfinite && a->worst_index == b->worst_index);
        CHECK(about(a->max_abs, b->max_abs) && about(a->mean_abs, b->mean_abs) && about(a->rel_l2, b->rel_l2));
        CHECK(about(a->slope, b->slope) && about(a->scale_l2, b->scale_l2) && about(a->slope_scale, b->slope_scale));
        CHECK(a->bad == b->bad || wrong == KG_WRONG_NOISE); /* whose size is of the last bits of the rms */
    }
    gpu->ops->release(gpu, copy);
    cpu->ops->release(cpu, values);
}

static void wrong_answers_agree(void)
{
    static const kg_tensor shapes[] = {
        { .dtype = KG_F32, .rank = 2, .dims = { 12345, 64 } }, { .dtype = KG_F32, .rank = 2, .dims = { 77, 80 } },
        { .dtype = KG_F32, .rank = 1, .dims = { 1000003 } },   { .dtype = KG_F32, .rank = 2, .dims = { 1, 7 } },
        { .dtype = KG_F32, .rank = 1, .dims = { 1 } },
    };
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        check_strength(&shapes[i]);
}

/* ---- windows ----------------------------------------------------------------------------------------------- */

struct spin {
    uint64_t cycles;
    int calls, last_index;
};

static int launch_spin(void *argument, int index, void *stream, kg_error *ret_error)
{
    struct spin *spin = argument;
    spin->calls++;
    spin->last_index = index;
    if (kg_kernel_spin(spin->cycles, stream) != cudaSuccess)
        return kg_fail(ret_error, KG_EDEVICE, "spin");
    return KG_OK;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, compare_doubles);
    return values[count / 2];
}

/* One spin by itself and by graph, and half of it: times agree, and the host ran ahead of them all. */
static void windows_agree(void)
{
    uint64_t cycles = (uint64_t)gpu->device.clock_mhz_max * 25; /* 25 us a call */
    struct spin spin = { .cycles = cycles }, half = { .cycles = cycles / 2 };
    kg_window *windows[3], *order[KG_MAX_BATCH];
    double times_us[KG_MAX_BATCH], sorted[3][KG_MAX_BATCH];
    need(gpu->ops->window_new(gpu, launch_spin, &spin, 8, true, -1, &windows[0], &error), "graph window");
    need(gpu->ops->window_new(gpu, launch_spin, &spin, 8, false, -1, &windows[1], &error), "plain window");
    need(gpu->ops->window_new(gpu, launch_spin, &half, 8, true, -1, &windows[2], &error), "graph window");
    CHECK(spin.calls == 8 && spin.last_index == 7); /* captured once */
    for (int i = 0; i < KG_MAX_BATCH; i++)
        order[i] = windows[i % 3];
    for (int batch = 0; batch < 20; batch++)
        need(kg_device_measure(gpu, order, KG_MAX_BATCH, times_us, &error), "measure");
    for (int i = 0; i < KG_MAX_BATCH - 1; i++)
        sorted[i % 3][i / 3] = times_us[i];
    double graph_us = median(sorted[0], 21), plain_us = median(sorted[1], 21), half_us = median(sorted[2], 21);
    (void)printf("8 spins of 25 us: graph %.3f us, plain %.3f us, half as long %.3f us\n", graph_us, plain_us, half_us);
    CHECK(fabs(plain_us / graph_us - 1) < 0.08);
    CHECK(half_us / graph_us > 0.48 && half_us / graph_us < 0.56);
    CHECK(graph_us > 190 && graph_us < 260);
    CHECK(half.calls == 8);
    double least = sorted[0][0], most = sorted[0][20];
    (void)printf("graph windows: min %.3f, max %.3f us\n", least, most);
    CHECK(most / least < 1.05);
    need(kg_device_measure(gpu, order, 1, times_us, &error), "measure");
    CHECK(kg_device_measure(gpu, order, KG_MAX_BATCH + 1, times_us, &error) == KG_EINVAL);
    for (int i = 0; i < 3; i++)
        gpu->ops->window_free(gpu, windows[i]);
    gpu->ops->window_free(gpu, NULL);
}

/* Single calls of some microseconds: here an idle host would show as gaps of several microseconds. */
static void short_windows_are_short(void)
{
    struct spin spin = { .cycles = (uint64_t)gpu->device.clock_mhz_max * 3 };
    kg_window *window, *order[KG_MAX_BATCH];
    double times_us[KG_MAX_BATCH];
    need(gpu->ops->window_new(gpu, launch_spin, &spin, 1, false, -1, &window, &error), "plain window");
    for (int i = 0; i < KG_MAX_BATCH; i++)
        order[i] = window;
    for (int batch = 0; batch < 3; batch++)
        need(kg_device_measure(gpu, order, KG_MAX_BATCH, times_us, &error), "measure");
    double p50_us = median(times_us, KG_MAX_BATCH);
    (void)printf("1 spin of 3 us: min %.3f, median %.3f, max %.3f us\n", times_us[0], p50_us,
                 times_us[KG_MAX_BATCH - 1]);
    CHECK(p50_us > 3 && p50_us < 9);
    gpu->ops->window_free(gpu, window);
}

static double host_us(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return 1e6 * (double)now.tv_sec + 1e-3 * (double)now.tv_nsec;
}

/* One batch is always ahead, and the states are read meanwhile: the device is hardly ever idle. */
static void batches_follow_one_another(void)
{
    enum { BATCHES = 12 };
    struct spin spin = { .cycles = (uint64_t)gpu->device.clock_mhz_max * 10 };
    kg_window *window, *order[KG_MAX_BATCH];
    double times_us[KG_MAX_BATCH], busy_us = 0;
    struct kg_device_state health;
    need(gpu->ops->window_new(gpu, launch_spin, &spin, 20, true, -1, &window, &error), "graph window");
    for (int i = 0; i < KG_MAX_BATCH; i++)
        order[i] = window;
    need(kg_device_measure(gpu, order, KG_MAX_BATCH, times_us, &error), "measure");
    const double start_us = host_us();
    need(gpu->ops->enqueue(gpu, order, KG_MAX_BATCH, &error), "enqueue");
    for (int batch = 1; batch <= BATCHES; batch++) {
        if (batch < BATCHES)
            need(gpu->ops->enqueue(gpu, order, KG_MAX_BATCH, &error), "enqueue");
        if (batch % 4 == 1)
            gpu->ops->state(gpu, &health);
        need(gpu->ops->collect(gpu, times_us, &error), "collect");
        for (int i = 0; i < KG_MAX_BATCH; i++)
            busy_us += times_us[i];
    }
    const double span_us = host_us() - start_us;
    (void)printf("%d batches of 200 us windows: busy %.2f of %.2f ms\n", BATCHES, 1e-3 * busy_us, 1e-3 * span_us);
    CHECK(busy_us > 0.95 * span_us && busy_us <= 1.001 * span_us);
    gpu->ops->window_free(gpu, window);
}

/* A spin of 20 us at the end of a window, by the highest clock: a lower one makes it longer. 0 is a spin too. */
static void spins_make_windows_longer(void)
{
    struct spin spin = { .cycles = (uint64_t)gpu->device.clock_mhz_max * 10 };
    const double spins_us[] = { -1, 0, 20 };
    kg_window *windows[3], *order[KG_MAX_BATCH];
    double times_us[KG_MAX_BATCH], sorted[3][KG_MAX_BATCH];
    for (int i = 0; i < 3; i++)
        need(gpu->ops->window_new(gpu, launch_spin, &spin, 20, true, spins_us[i], &windows[i], &error), "spun window");
    for (int i = 0; i < KG_MAX_BATCH; i++)
        order[i] = windows[i % 3];
    for (int batch = 0; batch < 10; batch++)
        need(kg_device_measure(gpu, order, KG_MAX_BATCH, times_us, &error), "measure");
    for (int i = 0; i < KG_MAX_BATCH - 1; i++)
        sorted[i % 3][i / 3] = times_us[i];
    const double plain_us = median(sorted[0], 21), zero_us = median(sorted[1], 21), spun_us = median(sorted[2], 21);
    (void)printf("20 spins of 10 us: %.3f us, and one of 0 us: %.3f, and one of 20 us: %.3f\n", plain_us, zero_us,
                 spun_us);
    CHECK(zero_us > plain_us && zero_us < plain_us + 5);
    CHECK(spun_us - zero_us > 19 && spun_us - zero_us < 40);
    for (int i = 0; i < 3; i++)
        gpu->ops->window_free(gpu, windows[i]);
}

/* ---- graphs ------------------------------------------------------------------------------------------------ */

static uint64_t *scratch;

/* Digest, memset and fill, on the stream and in this order. */
static int launch_three(void *argument, int index, void *stream, kg_error *ret_error)
{
    (void)argument;
    (void)index;
    cudaError_t status = kg_kernel_digest(scratch, 512, scratch, stream);
    if (status == cudaSuccess)
        status = cudaMemsetAsync(scratch, 0, 512, stream);
    if (status == cudaSuccess)
        status = kg_kernel_fill(scratch, 16, KG_F16, 1, 1.0f, stream);
    return status == cudaSuccess ? KG_OK : kg_fail(ret_error, KG_EDEVICE, "%s", cudaGetErrorString(status));
}

static cudaStream_t side;
static cudaEvent_t forked, joined;

/* A kernel on a side stream between fork and join, then one on the stream. */
static int launch_forked(void *argument, int index, void *stream, kg_error *ret_error)
{
    (void)argument;
    (void)index;
    cudaError_t status = cudaEventRecord(forked, stream);
    if (status == cudaSuccess)
        status = cudaStreamWaitEvent(side, forked, 0);
    if (status == cudaSuccess)
        status = kg_kernel_spin(10, side);
    if (status == cudaSuccess)
        status = cudaEventRecord(joined, side);
    if (status == cudaSuccess)
        status = cudaStreamWaitEvent(stream, joined, 0);
    if (status == cudaSuccess)
        status = kg_kernel_count_changed(scratch, 8, 0, scratch, stream);
    return status == cudaSuccess ? KG_OK : kg_fail(ret_error, KG_EDEVICE, "%s", cudaGetErrorString(status));
}

struct painting {
    void *to[2]; /* by turns */
    size_t bytes[2];
    uint32_t pattern;
};

static int launch_painting(void *argument, int index, void *stream, kg_error *ret_error)
{
    const struct painting *p = argument;
    const cudaError_t status = kg_kernel_paint(p->to[index % 2], p->bytes[index % 2], p->pattern, stream);
    return status == cudaSuccess ? KG_OK : kg_fail(ret_error, KG_EDEVICE, "%s", cudaGetErrorString(status));
}

static int arguments_of(void *to, void *other, size_t bytes, size_t other_bytes, uint32_t pattern)
{
    struct kg_launch_info info;
    struct painting painting = { { to, other }, { bytes, other_bytes }, pattern };
    need(gpu->ops->inspect(gpu, launch_painting, &painting, &info, &error), "inspect");
    CHECK(info.n_launched == 1 && info.launched[0].arguments > 0);
    return info.launched[0].arguments;
}

/* Addresses do not count, whether they differ between the launches or not; nor does what differs. */
static void arguments_are_hashed(void)
{
    char *one = allocate(gpu, 4096), *other = allocate(gpu, 4096);
    const int is = arguments_of(one, other, 512, 512, 7);
    CHECK(arguments_of(one, other, 512, 512, 7) == is);
    CHECK(arguments_of(one + 256, other, 512, 512, 7) == is);
    CHECK(arguments_of(one, one, 512, 512, 7) == is);
    CHECK(arguments_of(one, other, 512, 512, 8) != is);
    CHECK(arguments_of(one, other, 1024, 1024, 7) != is);
    CHECK(arguments_of(one, other, 512, 1024, 7) == arguments_of(one, other, 1024, 256, 7));
}

static void launches_are_read_off(void)
{
    struct kg_launch_info info;
    uint64_t before[64], after[64];
    scratch = allocate(gpu, 512);
    need(gpu->ops->paint(gpu, scratch, 512, 0x07070707, &error), "paint");
    need(gpu->ops->copy_to_host(gpu, before, scratch, 512, &error), "copy");
    need(gpu->ops->inspect(gpu, launch_three, NULL, &info, &error), "inspect");
    need(gpu->ops->copy_to_host(gpu, after, scratch, 512, &error), "copy");
    CHECK(memcmp(before, after, sizeof before) == 0); /* nothing ran */
    CHECK(info.kernels == 2 && info.memory_nodes == 1 && info.other_nodes == 0 && info.n_launched == 2);
    CHECK(strstr(info.launched[0].name, "digest_kernel") && strstr(info.launched[1].name, "fill_kernel"));
    const struct kg_launched *digest = &info.launched[0];
    CHECK(digest->grid[0] == 1 && digest->grid[1] == 1 && digest->grid[2] == 1); /* for 512 bytes one block will do */
    CHECK(digest->block[0] >= 64 && digest->block[1] == 1 && digest->block[2] == 1 && digest->shared_bytes == 0);
    (void)printf("kernels: %s, %s\n", info.launched[0].name, info.launched[1].name);

    need(gpu->ops->inspect(gpu, launch_forked, NULL, &info, &error), "inspect");
    CHECK(info.kernels == 2 && info.memory_nodes == 0 && info.n_launched == 2);
    CHECK(strstr(info.launched[0].name, "spin_kernel") && strstr(info.launched[1].name, "count_changed_kernel"));
}

enum fault { ALLOCATES, SYNCHRONIZES, OTHER_STREAM, REFUSES, UNJOINED };

static int launch_faulty(void *argument, int index, void *stream, kg_error *ret_error)
{
    void *data;
    cudaError_t status = kg_kernel_spin(10, *(enum fault *)argument == OTHER_STREAM ? side : stream);
    (void)index;
    switch (*(enum fault *)argument) {
    case ALLOCATES:
        status = cudaMalloc(&data, 1 << 20);
        break;
    case SYNCHRONIZES:
        (void)cudaStreamSynchronize(stream); /* a library that does not look at the status */
        break;
    case REFUSES:
        return kg_fail(ret_error, KG_EUNSUPPORTED, "planted refusal");
    case UNJOINED:
        (void)cudaEventRecord(forked, stream);
        (void)cudaStreamWaitEvent(side, forked, 0);
        (void)kg_kernel_spin(10, side);
        break;
    case OTHER_STREAM:
        break;
    }
    return status == cudaSuccess ? KG_OK : kg_fail(ret_error, KG_EDEVICE, "%s", cudaGetErrorString(status));
}

static void faulty_launches_are_refused(void)
{
    for (enum fault fault = ALLOCATES; fault <= UNJOINED; fault++) {
        kg_window *window = NULL;
        struct kg_launch_info info;
        error.text[0] = '\0';
        int rc = gpu->ops->window_new(gpu, launch_faulty, &fault, 2, true, -1, &window, &error);
        (void)printf("fault %d: %s (%d)\n", (int)fault, error.text, rc);
        CHECK(rc == (fault == REFUSES ? KG_EUNSUPPORTED : KG_EDEVICE) && !window);
        CHECK(strstr(error.text, "not capturable into a CUDA graph"));
        CHECK(gpu->ops->inspect(gpu, launch_faulty, &fault, &info, &error) < 0);
        need(gpu->ops->synchronize(gpu, &error), "synchronize after a failed capture");
        need(gpu->ops->inspect(gpu, launch_three, NULL, &info, &error), "inspect after a failed capture");
    }
}

/* ---- the device -------------------------------------------------------------------------------------------- */

static void device_is_described(void)
{
    const kg_device *d = &gpu->device;
    double tick_us = gpu->ops->timer_tick_us(gpu);
    struct kg_device_state s;
    gpu->ops->state(gpu, &s);
    (void)printf("%s (%s) %s cc %d.%d, %d SMs, %d MHz, fp64 1/%d, %.1f GiB, L2 %.0f MiB, shared %.0f KiB\n", d->name,
                 d->arch, d->uuid, d->cc_major, d->cc_minor, d->units, d->clock_mhz_max, d->fp64_ratio,
                 (double)d->memory_bytes / (1 << 30), (double)d->l2_bytes / (1 << 20), (double)d->shared_bytes / 1024);
    (void)printf("peak %.0f TFLOP/s, %.2f TB/s, driver %s (%d), timer tick %.4f us\n", d->peak_flops * 1e-12,
                 d->peak_bytes_per_s * 1e-12, d->driver, d->driver_version, tick_us);
    (void)printf("SM %d MHz, memory %d MHz, %d C, %d%% busy, %.0f of %.0f W, reasons 0x%llx, others %d\n",
                 s.sm_clock_mhz, s.memory_clock_mhz, s.temperature_c, s.utilisation_pct, s.power_w, s.power_limit_w,
                 (unsigned long long)s.throttle_reasons, s.other_processes);
    CHECK(d->kind == KG_CUDA && d->units > 0 && d->memory_bytes > 0 && d->l2_bytes > 0 && d->arch[0]);
    CHECK(d->cc_major >= 8 && d->driver_version >= 12000 && strlen(d->uuid) == 40);
    CHECK(tick_us > 0 && tick_us <= 1.1);
    void *data = NULL;
    int rc = gpu->ops->allocate(gpu, (size_t)1 << 50, &data, &error);
    (void)printf("a PiB: %s\n", error.text);
    CHECK(rc == KG_ENOMEM && !data);
    kg_context *none = NULL;
    CHECK(kg_device_open(KG_CUDA, 99, &none, &error) == KG_ENOTFOUND && !none);
}

int main(void)
{
    kg_device devices[KG_MAX_DEVICES];
    int count = 0, rc = kg_device_probe(KG_CUDA, devices, KG_MAX_DEVICES, &count, &error);
    if (rc == KG_EUNSUPPORTED) {
        (void)printf("skipped: %s\n", error.text);
        return 77;
    }
    need(rc, "probe");
    CHECK(count >= 1);
    need(kg_device_open(KG_CUDA, 0, &gpu, &error), "open");
    need(kg_device_open(KG_CPU, 0, &cpu, &error), "open");
    CHECK(strcmp(gpu->device.uuid, devices[0].uuid) == 0);
    need(cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking) == cudaSuccess ? KG_OK : KG_EDEVICE, "side stream");
    need(cudaEventCreate(&forked) == cudaSuccess ? KG_OK : KG_EDEVICE, "event");
    need(cudaEventCreate(&joined) == cudaSuccess ? KG_OK : KG_EDEVICE, "event");

    launches_are_read_off(); /* first: its kernels are then loaded inside a capture */
    arguments_are_hashed();
    faulty_launches_are_refused();
    fill_has_the_same_bits();
    bytes_are_counted_and_digested_alike();
    slow_copies_copy();
    others_work_beside_the_stream();
    comparisons_agree();
    wrong_answers_agree();
    windows_agree();
    short_windows_are_short();
    batches_follow_one_another();
    spins_make_windows_longer();
    device_is_described();
    gpu->ops->close(gpu);
    cpu->ops->close(cpu);
    (void)printf(failures ? "%d checks failed\n" : "all checks passed\n", failures);
    return failures ? 1 : 0;
}
