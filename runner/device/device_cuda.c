/* device_cuda.c -- a CUDA device: its memory, inputs, comparison and health. Windows are in cuda_window.c, kernels in
 * device_kernels.cu. A new function of the table in device.h gets a static here, as on the CPU. */
#include "device/device_cuda.h"
#include "device/device_kernels.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static void free_all(struct kg_allocations *allocations)
{
    while (allocations->count > 0)
        (void)cudaFree(kg_allocations_remove(allocations, allocations->items[0].data).data);
}

static void cuda_close(kg_context *context)
{
    if (!context)
        return;
    struct kg_cuda_context *cuda = kg_cuda(context);
    free_all(&cuda->allocations);
    free_all(&cuda->spare);
    kg_allocations_done(&cuda->allocations);
    kg_allocations_done(&cuda->spare);
    for (int batch = 0; batch < KG_MAX_IN_FLIGHT; batch++)
        for (int i = 0; i <= KG_MAX_BATCH; i++)
            if (cuda->batches[batch].events[i])
                (void)cudaEventDestroy(cuda->batches[batch].events[i]);
    (void)cudaFree(cuda->parts);
    if (cuda->stream)
        (void)cudaStreamDestroy(cuda->stream);
    if (cuda->beside)
        (void)cudaStreamDestroy(cuda->beside);
    kg_nvml_done(&cuda->nvml);
    free(cuda);
}

static int cuda_synchronize(kg_context *context, kg_error *ret_error)
{
    return kg_cuda_check(cudaStreamSynchronize(kg_cuda(context)->stream), "work on the device", ret_error);
}

/* Waits for what was enqueued, so that a failure is told of by the call that caused it. */
static int finish(kg_context *context, cudaError_t enqueued, const char *what, kg_error *ret_error)
{
    if (enqueued == cudaSuccess)
        enqueued = cudaStreamSynchronize(kg_cuda(context)->stream);
    return kg_cuda_check(enqueued, what, ret_error);
}

#define SHARED_PAGE ((size_t)2 << 20)

/* A spare one, or of the driver's; where that has none, spare ones of other sizes are in its way. */
static cudaError_t allocate(struct kg_cuda_context *cuda, size_t room, void **ret_data)
{
    *ret_data = kg_allocations_take(&cuda->spare, room).data;
    if (*ret_data)
        return cudaSuccess;
    cudaError_t status = cudaMalloc(ret_data, room);
    if (status != cudaSuccess && cuda->spare.count > 0) {
        free_all(&cuda->spare);
        (void)cudaGetLastError();
        status = cudaMalloc(ret_data, room);
    }
    return status;
}

static int cuda_allocate(kg_context *context, size_t bytes, void **ret_data, kg_error *ret_error)
{
    struct kg_cuda_context *cuda = kg_cuda(context);
    void *data;
    int rc = kg_allocations_reserve(&cuda->allocations, ret_error);
    if (rc < 0)
        return rc;
    /* Whole pages of the driver's, or a process that maps one buffer would see its neighbours. */
    const size_t page = context->released ? SHARED_PAGE : 1, room = (bytes + !bytes + page - 1) / page * page;
    cudaError_t status = allocate(cuda, room, &data);
    if (status != cudaSuccess) {
        (void)cudaGetLastError();
        return kg_fail(ret_error, status == cudaErrorMemoryAllocation ? KG_ENOMEM : KG_EDEVICE,
                       "device memory for a buffer of %zu bytes: %s", bytes, cudaGetErrorString(status));
    }
    kg_allocations_add(&cuda->allocations, data, room);
    *ret_data = data;
    return KG_OK;
}

static int cuda_free_bytes(kg_context *context, uint64_t *ret_bytes, kg_error *ret_error)
{
    size_t now = 0, all;
    int rc = kg_cuda_check(cudaMemGetInfo(&now, &all), "free memory of the device", ret_error);
    if (rc == KG_OK)
        *ret_bytes = now + kg_cuda(context)->spare.bytes;
    return rc;
}

/* Allocating and freeing a ring's buffers takes longer than filling them, so that they are kept, but where another
 * process has them mapped. What may still write to them has ended, as before they are freed. */
static void cuda_release(kg_context *context, void *data)
{
    struct kg_cuda_context *cuda = kg_cuda(context);
    const struct kg_allocation old = kg_allocations_remove(&cuda->allocations, data);
    if (!data || !old.data)
        return;
    if (context->released)
        context->released(context->released_argument, data);
    if (context->released || old.bytes > cuda->spare_most || kg_allocations_reserve(&cuda->spare, NULL) < 0 ||
        cudaDeviceSynchronize() != cudaSuccess) {
        (void)cudaFree(data);
        return;
    }
    if (cuda->spare.bytes + old.bytes > cuda->spare_most)
        free_all(&cuda->spare);
    kg_allocations_add(&cuda->spare, data, old.bytes);
}

static int cuda_share(kg_context *context, const void *data, size_t bytes, struct kg_shared *ret_shared,
                      kg_error *ret_error)
{
    cudaIpcMemHandle_t handle;
    (void)context;
    _Static_assert(sizeof handle <= sizeof ret_shared->handle, "CUDA's handle fits");
    int rc = kg_cuda_check(cudaIpcGetMemHandle(&handle, (void *)data), "sharing memory with another build", ret_error);
    *ret_shared = (struct kg_shared){ .bytes = bytes };
    memcpy(ret_shared->handle, &handle, sizeof handle);
    return rc;
}

static int cuda_map(kg_context *context, const struct kg_shared *shared, void **ret_data, kg_error *ret_error)
{
    cudaIpcMemHandle_t handle;
    (void)context;
    memcpy(&handle, shared->handle, sizeof handle);
    return kg_cuda_check(cudaIpcOpenMemHandle(ret_data, handle, cudaIpcMemLazyEnablePeerAccess),
                         "mapping memory of another build", ret_error);
}

static void cuda_unmap(kg_context *context, void *data, size_t bytes)
{
    (void)context;
    (void)bytes;
    (void)cudaIpcCloseMemHandle(data);
}

static int cuda_copy_to_host(kg_context *context, void *to, const void *from, size_t bytes, kg_error *ret_error)
{
    cudaError_t status = cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, kg_cuda(context)->stream);
    return finish(context, status, "copy to the host", ret_error);
}

static int cuda_copy_from_host(kg_context *context, void *to, const void *from, size_t bytes, kg_error *ret_error)
{
    cudaError_t status = cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, kg_cuda(context)->stream);
    return finish(context, status, "copy from the host", ret_error);
}

static int cuda_copy(kg_context *context, void *to, const void *from, size_t bytes, kg_error *ret_error)
{
    cudaError_t status = cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, kg_cuda(context)->stream);
    return kg_cuda_check(status, "copy on the device", ret_error);
}

/* By the highest clock: at a lower one it is longer. */
static uint64_t cycles_of(const kg_context *context, double us)
{
    return (uint64_t)(us * (context->device.clock_mhz_max ? context->device.clock_mhz_max : 1000));
}

#define SLOW_START_US 50 /* longer than the host takes to enqueue a launch */

static int cuda_copy_slowly(kg_context *context, void *to, const void *from, size_t bytes, kg_error *ret_error)
{
    const uint64_t cycles = cycles_of(context, SLOW_START_US);
    return kg_cuda_check(kg_kernel_copy_slowly(to, from, bytes, cycles, kg_cuda(context)->stream), "a slow copy",
                         ret_error);
}

/* An eighth to a half of the multiprocessors, two to five times anew: each time the blocks of a launch beside it find
 * other places. */
static int cuda_compete(kg_context *context, void *data, double us, uint64_t draw, kg_error *ret_error)
{
    const int units = context->device.units, waves = 2 + (int)(draw >> 2 & 3);
    const int blocks = units / 8 * (1 + (int)(draw & 3)) + 1;
    cudaError_t status = cudaSuccess;
    for (int wave = 0; wave < waves && status == cudaSuccess; wave++)
        status = kg_kernel_compete(data, KG_COMPETING_BYTES, blocks, cycles_of(context, us / waves),
                                   kg_cuda(context)->beside);
    return kg_cuda_check(status, "a competing kernel", ret_error);
}

static int cuda_compete_end(kg_context *context, kg_error *ret_error)
{
    return kg_cuda_check(cudaStreamSynchronize(kg_cuda(context)->beside), "a competing kernel", ret_error);
}

static int cuda_spoil(kg_context *context, kg_error *ret_error)
{
    const kg_device *device = &context->device;
    return kg_cuda_check(kg_kernel_spoil(device->units, (size_t)device->shared_bytes, kg_cuda(context)->stream),
                         "spoiling shared memory", ret_error);
}

static void cuda_spoil_end(kg_context *context)
{
    (void)context;
}

static int cuda_fill(kg_context *context, const kg_tensor *tensor, uint64_t seed, uint32_t ordinal, kg_error *ret_error)
{
    float scale = kg_random_scale(tensor->std != 0 ? tensor->std : 1);
    cudaError_t status = kg_kernel_fill(tensor->data, kg_tensor_count(tensor), tensor->dtype,
                                        kg_random_key(seed, ordinal), scale, kg_cuda(context)->stream);
    return finish(context, status, "filling an input", ret_error);
}

static int cuda_paint(kg_context *context, void *data, size_t bytes, uint32_t pattern, kg_error *ret_error)
{
    cudaStream_t stream = kg_cuda(context)->stream;
    cudaError_t status = pattern == KG_POISON ? cudaMemsetAsync(data, (uint8_t)pattern, bytes, stream)
                                              : kg_kernel_paint(data, bytes, pattern, stream);
    return kg_cuda_check(status, "painting memory", ret_error);
}

/* Kernels add to numbers on the device, which come back together: a reading costs more than a kernel. */
static int read_sums(kg_context *context, cudaError_t enqueued, int count, const char *what, uint64_t *ret_sums,
                     kg_error *ret_error)
{
    struct kg_cuda_context *cuda = kg_cuda(context);
    uint64_t sums[KG_MAX_SPANS] = { 0 };
    if (enqueued == cudaSuccess)
        enqueued =
            cudaMemcpyAsync(sums, cuda->parts, (size_t)count * sizeof *sums, cudaMemcpyDeviceToHost, cuda->stream);
    int rc = finish(context, enqueued, what, ret_error);
    if (rc == KG_OK)
        memcpy(ret_sums, sums, (size_t)count * sizeof *sums);
    return rc;
}

static int cuda_count_changed(kg_context *context, const struct kg_span *spans, int count, uint64_t *ret_counts,
                              kg_error *ret_error)
{
    struct kg_cuda_context *cuda = kg_cuda(context);
    uint64_t *sums = (uint64_t *)cuda->parts;
    assert(count <= KG_MAX_SPANS);
    cudaError_t status = cudaMemsetAsync(sums, 0, (size_t)count * sizeof *sums, cuda->stream);
    for (int i = 0; status == cudaSuccess && i < count; i++)
        status = kg_kernel_count_changed(spans[i].data, spans[i].bytes, spans[i].pattern, &sums[i], cuda->stream);
    return read_sums(context, status, count, "counting changed bytes", ret_counts, ret_error);
}

static int cuda_digest(kg_context *context, const void *data, size_t bytes, uint64_t *ret_digest, kg_error *ret_error)
{
    struct kg_cuda_context *cuda = kg_cuda(context);
    uint64_t *sum = (uint64_t *)cuda->parts;
    cudaError_t status = cudaMemsetAsync(sum, 0, sizeof *sum, cuda->stream);
    if (status == cudaSuccess)
        status = kg_kernel_digest(data, bytes, sum, cuda->stream);
    return read_sums(context, status, 1, "digest of a buffer", ret_digest, ret_error);
}

static int cuda_compare(kg_context *context, const kg_tensor *got, const kg_tensor *expected, const kg_tensor *scale,
                        const kg_gates *gates, struct kg_comparison *ret_comparison, kg_error *ret_error)
{
    assert(expected->dtype == KG_F32);
    struct kg_cuda_context *cuda = kg_cuda(context);
    struct kg_error_sums_limits limits = { gates->bad_abs, gates->bad_rel };
    struct kg_error_sums parts[KG_ERROR_SUMS_PARTS];
    cudaError_t status =
        kg_kernel_compare(got, expected->data, scale ? scale->data : NULL, limits, cuda->parts, cuda->stream);
    if (status == cudaSuccess)
        status = cudaMemcpyAsync(parts, cuda->parts, sizeof parts, cudaMemcpyDeviceToHost, cuda->stream);
    int rc = finish(context, status, "comparing an output", ret_error);
    if (rc == KG_OK)
        kg_error_sums_finish(parts, KG_ERROR_SUMS_PARTS, ret_comparison);
    return rc;
}

/* Brings a pass's parts to the host, where they become facts for the next one. */
static int read_parts(kg_context *context, cudaError_t enqueued, size_t bytes, void *ret_parts, kg_error *ret_error)
{
    struct kg_cuda_context *cuda = kg_cuda(context);
    if (enqueued == cudaSuccess)
        enqueued = cudaMemcpyAsync(ret_parts, cuda->parts, bytes, cudaMemcpyDeviceToHost, cuda->stream);
    return finish(context, enqueued, "making wrong answers", ret_error);
}

static int cuda_strength(kg_context *context, const struct kg_wrong_terms *terms,
                         struct kg_comparison ret_comparisons[KG_WRONGS], kg_error *ret_error)
{
    struct kg_cuda_context *cuda = kg_cuda(context);
    struct kg_wrong_terms known = *terms;
    struct kg_wrong_sizes sizes[KG_ERROR_SUMS_PARTS];
    struct kg_wrong_places places[KG_ERROR_SUMS_PARTS];
    struct kg_error_sums sums[KG_WRONGS][KG_ERROR_SUMS_PARTS];
    cudaError_t enqueued = kg_kernel_wrong_sizes(&known, (struct kg_wrong_sizes *)cuda->parts, cuda->stream);
    int rc = read_parts(context, enqueued, sizeof sizes, sizes, ret_error);
    if (rc < 0)
        return rc;
    kg_wrong_facts_measured(&known.facts, sizes, KG_ERROR_SUMS_PARTS);
    enqueued = kg_kernel_wrong_places(&known, (struct kg_wrong_places *)cuda->parts, cuda->stream);
    rc = read_parts(context, enqueued, sizeof places, places, ret_error);
    if (rc < 0)
        return rc;
    kg_wrong_facts_placed(&known.facts, places, KG_ERROR_SUMS_PARTS);
    enqueued = kg_kernel_wrong_answers(&known, cuda->parts, cuda->stream);
    rc = read_parts(context, enqueued, sizeof sums, sums, ret_error);
    for (int wrong = 0; wrong < KG_WRONGS && rc == KG_OK; wrong++)
        kg_error_sums_finish(sums[wrong], KG_ERROR_SUMS_PARTS, &ret_comparisons[wrong]);
    return rc;
}

static void *cuda_stream(kg_context *context)
{
    return kg_cuda(context)->stream;
}

static double cuda_timer_tick_us(kg_context *context)
{
    return kg_cuda(context)->tick_us;
}

static void cuda_state(kg_context *context, struct kg_device_state *ret_state)
{
    /* Whoever shares memory does so with one other build. */
    kg_nvml_state(&kg_cuda(context)->nvml, context->released ? 2 : 1, ret_state);
}

static const struct kg_device_ops cuda_ops = {
    .close = cuda_close,
    .allocate = cuda_allocate,
    .free_bytes = cuda_free_bytes,
    .release = cuda_release,
    .share = cuda_share,
    .map = cuda_map,
    .unmap = cuda_unmap,
    .copy_to_host = cuda_copy_to_host,
    .copy_from_host = cuda_copy_from_host,
    .copy = cuda_copy,
    .copy_slowly = cuda_copy_slowly,
    .compete = cuda_compete,
    .compete_end = cuda_compete_end,
    .spoil = cuda_spoil,
    .spoil_end = cuda_spoil_end,
    .fill = cuda_fill,
    .paint = cuda_paint,
    .count_changed = cuda_count_changed,
    .digest = cuda_digest,
    .compare = cuda_compare,
    .strength = cuda_strength,
    .stream = cuda_stream,
    .synchronize = cuda_synchronize,
    .inspect = kg_cuda_inspect,
    .window_new = kg_cuda_window_new,
    .window_free = kg_cuda_window_free,
    .enqueue = kg_cuda_enqueue,
    .collect = kg_cuda_collect,
    .timer_tick_us = cuda_timer_tick_us,
    .state = cuda_state,
};

static int create_objects(struct kg_cuda_context *cuda, kg_error *ret_error)
{
    cudaError_t status = cudaStreamCreateWithFlags(&cuda->stream, cudaStreamNonBlocking);
    if (status == cudaSuccess)
        status = cudaStreamCreateWithFlags(&cuda->beside, cudaStreamNonBlocking);
    for (int batch = 0; batch < KG_MAX_IN_FLIGHT; batch++)
        for (int i = 0; status == cudaSuccess && i <= KG_MAX_BATCH; i++)
            status = cudaEventCreate(&cuda->batches[batch].events[i]);
    if (status == cudaSuccess)
        status = cudaMalloc((void **)&cuda->parts, KG_WRONGS * KG_ERROR_SUMS_PARTS * sizeof *cuda->parts);
    return kg_cuda_check(status, "opening the device", ret_error);
}

int kg_cuda_open(int index, kg_context **ret_context, kg_error *ret_error)
{
    kg_device found[KG_MAX_DEVICES];
    int count;
    int rc = kg_cuda_probe(found, KG_MAX_DEVICES, &count, ret_error);
    if (rc < 0)
        return rc;
    if (index < 0 || index >= count)
        return kg_fail(ret_error, KG_ENOTFOUND, "no CUDA device %d: there are %d, from 0 on", index, count);
    struct kg_cuda_context *cuda = calloc(1, sizeof *cuda);
    if (!cuda)
        return kg_fail(ret_error, KG_ENOMEM, "no host memory for a device");
    cuda->base.ops = &cuda_ops;
    cuda->base.device = found[index];
    cuda->spare_most = found[index].memory_bytes / 64; /* several workers share a device */
    rc = kg_cuda_check(cudaSetDevice(index), "opening the device", ret_error);
    if (rc == KG_OK)
        rc = kg_cuda_nvml_init(index, &cuda->nvml, ret_error);
    if (rc == KG_OK)
        rc = create_objects(cuda, ret_error);
    if (rc == KG_OK)
        rc = kg_cuda_measure_tick(cuda, &cuda->tick_us, ret_error);
    if (rc == KG_OK)
        *ret_context = &cuda->base;
    else
        cuda_close(&cuda->base);
    return rc;
}
