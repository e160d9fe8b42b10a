/* cuda_window.c -- captures launches into graphs, replays them, and times windows by events. How windows are chosen and
 * judged is in block.c; here is only what the device has to do. */
#include "device/device_cuda.h"
#include "device/device_kernels.h"
#include "device/device_parts.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Host time that enqueueing takes, on the generous side, for the delay that lets the host run ahead. */
#define HOST_START_US 150.0
#define HOST_GRAPH_US 15.0
#define HOST_NODE_US 0.1 /* of a graph */
#define HOST_EVENT_US 5.0
#define HOST_LAUNCH_US 6.0
#define DELAY_MAX_US 20000.0

static const char not_capturable[] = "not capturable into a CUDA graph";

/* The clock may be lower than its highest: the spin is then longer. */
static int spin(struct kg_cuda_context *cuda, double spin_us, kg_error *ret_error)
{
    const int clock_mhz = cuda->base.device.clock_mhz_max ? cuda->base.device.clock_mhz_max : 1000;
    return kg_cuda_check(kg_kernel_spin((uint64_t)(clock_mhz * spin_us), cuda->stream), "a spin", ret_error);
}

/* Enqueues what a window is made of. */
static int launch_all(struct kg_cuda_context *cuda, const kg_window *window, cudaStream_t stream, kg_error *ret_error)
{
    int rc = KG_OK;
    for (int call = 0; rc == KG_OK && call < window->calls; call++)
        rc = window->launch(window->argument, window->first + call, stream, ret_error);
    if (rc == KG_OK && window->spin_us >= 0)
        rc = spin(cuda, window->spin_us, ret_error);
    return rc;
}

/* Thread-local: libraries may do in other threads what a global capture forbids. */
static int begin_capture(cudaStream_t stream, kg_error *ret_error)
{
    return kg_cuda_check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "capture of a CUDA graph",
                         ret_error);
}

static int capture(struct kg_cuda_context *cuda, const kg_window *window, cudaStream_t stream, cudaGraph_t *ret_graph,
                   size_t *ret_nodes, kg_error *ret_error)
{
    cudaError_t status;
    int rc = begin_capture(stream, ret_error);
    if (rc < 0)
        return rc;
    kg_error cause = { .text = "the launch failed" };
    cudaGraph_t graph = NULL;
    size_t nodes = 0;
    rc = launch_all(cuda, window, stream, &cause);
    status = cudaStreamEndCapture(stream, &graph);
    (void)cudaGetLastError();
    if (rc < 0)
        rc = kg_fail(ret_error, rc, "%s: %s", not_capturable, cause.text);
    else if (status == cudaSuccess)
        status = cudaGraphGetNodes(graph, NULL, &nodes);
    if (rc == KG_OK)
        rc = kg_cuda_check(status, not_capturable, ret_error);
    if (rc == KG_OK && nodes <= (window->spin_us >= 0))
        rc = kg_fail(ret_error, KG_EDEVICE, "%s: the launch put nothing on its stream", not_capturable);
    if (rc == KG_OK) {
        *ret_graph = graph;
        *ret_nodes = nodes;
    } else if (graph) {
        (void)cudaGraphDestroy(graph);
    }
    return rc;
}

/* What is enqueued meanwhile on the context's own stream is not `window`'s to enqueue there: whoever prepared with that
 * stream and kept it runs in no order with the rest of its launch. */
static int capture_elsewhere(struct kg_cuda_context *cuda, const kg_window *window, cudaGraph_t *ret_graph,
                             kg_error *ret_error)
{
    cudaGraph_t strays = NULL;
    size_t nodes, stray_nodes = 0;
    int rc = begin_capture(cuda->stream, ret_error);
    if (rc < 0)
        return rc;
    kg_error cause;
    rc = capture(cuda, window, cuda->beside, ret_graph, &nodes, &cause);
    if (cudaStreamEndCapture(cuda->stream, &strays) == cudaSuccess)
        (void)cudaGraphGetNodes(strays, NULL, &stray_nodes);
    (void)cudaGetLastError();
    if (strays)
        (void)cudaGraphDestroy(strays);
    if (stray_nodes == 0) {
        if (rc < 0)
            *ret_error = cause;
        return rc;
    }
    if (rc == KG_OK)
        (void)cudaGraphDestroy(*ret_graph);
    return kg_fail(ret_error, KG_EDEVICE, "launched on another stream than it was prepared with, it used that one");
}

/* What a launch leaves unset in its arguments is what was on the stack: other bytes each time, by this. */
static __attribute__((noinline)) void soil_stack(int byte)
{
    volatile unsigned char below[1 << 16];
    for (size_t i = 0; i < sizeof below; i++)
        below[i] = (unsigned char)byte;
}

static int read_launch(struct kg_cuda_context *cuda, const kg_window *once, struct kg_launch_info *ret_info,
                       struct kg_arguments arguments[KG_MAX_KERNELS], kg_error *ret_error)
{
    cudaGraph_t graph;
    struct kg_launch_info info = { 0 };
    soil_stack(0x5a + once->first);
    int rc = capture_elsewhere(cuda, once, &graph, ret_error);
    if (rc < 0)
        return rc;
    rc = kg_cuda_graph_walk(graph, &info, arguments, ret_error);
    (void)cudaGraphDestroy(graph);
    if (rc == KG_OK)
        *ret_info = info;
    return rc;
}

int kg_cuda_inspect(kg_context *context, kg_launch_fn *launch, void *argument, struct kg_launch_info *ret_info,
                    kg_error *ret_error)
{
    struct kg_arguments arguments[2][KG_MAX_KERNELS] = { 0 };
    struct kg_launch_info info[2] = { 0 };
    int rc = KG_OK;
    for (int first = 0; first < 2 && rc == KG_OK; first++) {
        const kg_window once = { .launch = launch, .argument = argument, .first = first, .calls = 1, .spin_us = -1 };
        rc = read_launch(kg_cuda(context), &once, &info[first], arguments[first], ret_error);
    }
    for (int i = 0; i < info[0].n_launched && rc == KG_OK; i++)
        info[0].launched[i].arguments = kg_cuda_arguments_hash(&arguments[0][i], &arguments[1][i]);
    for (int i = 0; i < 2 * KG_MAX_KERNELS; i++)
        free(arguments[i / KG_MAX_KERNELS][i % KG_MAX_KERNELS].words);
    if (rc == KG_OK)
        *ret_info = info[0];
    return rc;
}

static int make_replay(struct kg_cuda_context *cuda, kg_window *window, kg_error *ret_error)
{
    cudaGraph_t graph;
    cudaGraphExec_t replay = NULL;
    int rc = capture(cuda, window, cuda->stream, &graph, &window->nodes, ret_error);
    if (rc < 0)
        return rc;
    rc = kg_cuda_check(cudaGraphInstantiate(&replay, graph, 0), "instantiation of a CUDA graph", ret_error);
    (void)cudaGraphDestroy(graph);
    if (rc < 0)
        return rc;
    window->replay = replay;
    rc = kg_cuda_check(cudaGraphUpload(replay, cuda->stream), "upload of a CUDA graph", ret_error);
    if (rc == KG_OK)
        rc = kg_cuda_check(cudaStreamSynchronize(cuda->stream), "upload of a CUDA graph", ret_error);
    return rc;
}

int kg_cuda_window_new(kg_context *context, kg_launch_fn *launch, void *argument, int calls, bool graph, double spin_us,
                       kg_window **ret_window, kg_error *ret_error)
{
    kg_window *window = calloc(1, sizeof *window);
    if (!window)
        return kg_fail(ret_error, KG_ENOMEM, "no host memory for a window");
    *window = (struct kg_window){ .launch = launch, .argument = argument, .calls = calls, .spin_us = spin_us };
    int rc = graph ? make_replay(kg_cuda(context), window, ret_error) : KG_OK;
    if (rc == KG_OK)
        *ret_window = window;
    else
        kg_cuda_window_free(context, window);
    return rc;
}

void kg_cuda_window_free(kg_context *context, kg_window *window)
{
    (void)context;
    if (window && window->replay)
        (void)cudaGraphExecDestroy(window->replay);
    free(window);
}

static double host_us(const kg_window *window)
{
    if (window->replay)
        return HOST_GRAPH_US + HOST_NODE_US * (double)window->nodes;
    return HOST_EVENT_US + HOST_LAUNCH_US * (window->calls + (window->spin_us >= 0));
}

/* How far the host must be ahead when the first window starts for it to stay ahead, and how long the windows run. One
 * that has never run counts as taking no time. */
static double lead_us(kg_window *const *order, int count, double *ret_run_us)
{
    double enqueued_us = 0, run_us = 0, lead = 0;
    for (int i = 0; i < count; i++) {
        enqueued_us += host_us(order[i]);
        lead = fmax(lead, enqueued_us - run_us);
        run_us += order[i]->us;
    }
    *ret_run_us = run_us;
    return lead;
}

/* The batch before, which began when the one before that was collected, still runs, and for long enough. */
static bool gives_lead(const struct kg_cuda_batch *before, double lead)
{
    const bool runs = cudaEventQuery(before->events[before->count]) == cudaErrorNotReady;
    (void)cudaGetLastError();
    return runs && lead < before->run_us / 8;
}

/* A spin ahead of the first window, unless the device is busy for as long anyway. */
static int delay(struct kg_cuda_context *cuda, kg_window *const *order, int count, double *ret_run_us,
                 kg_error *ret_error)
{
    const double lead = lead_us(order, count, ret_run_us);
    if (cuda->n_in_flight && gives_lead(&cuda->batches[cuda->oldest], lead))
        return KG_OK;
    return spin(cuda, fmin(HOST_START_US + lead, DELAY_MAX_US), ret_error);
}

static int record(struct kg_cuda_context *cuda, cudaEvent_t event, kg_error *ret_error)
{
    return kg_cuda_check(cudaEventRecord(event, cuda->stream), "recording an event", ret_error);
}

/* Nothing may be left behind that a later batch would meet. */
static int give_up(struct kg_cuda_context *cuda, int rc)
{
    (void)cudaStreamSynchronize(cuda->stream);
    cuda->n_in_flight = 0;
    return rc;
}

int kg_cuda_enqueue(kg_context *context, kg_window *const *order, int count, kg_error *ret_error)
{
    struct kg_cuda_context *cuda = kg_cuda(context);
    struct kg_cuda_batch *batch = &cuda->batches[(cuda->oldest + cuda->n_in_flight) % KG_MAX_IN_FLIGHT];
    assert(cuda->n_in_flight < KG_MAX_IN_FLIGHT);
    if (count < 1 || count > KG_MAX_BATCH)
        return give_up(cuda, kg_fail(ret_error, KG_EINVAL, "%d windows in a batch: 1 to %d", count, KG_MAX_BATCH));
    int rc = delay(cuda, order, count, &batch->run_us, ret_error);
    if (rc == KG_OK)
        rc = record(cuda, batch->events[0], ret_error);
    for (int i = 0; rc == KG_OK && i < count; i++) {
        batch->windows[i] = order[i];
        if (order[i]->replay)
            rc = kg_cuda_check(cudaGraphLaunch(order[i]->replay, cuda->stream), "replay of a CUDA graph", ret_error);
        else
            rc = launch_all(cuda, order[i], cuda->stream, ret_error);
        if (rc == KG_OK)
            rc = record(cuda, batch->events[i + 1], ret_error);
    }
    if (rc < 0)
        return give_up(cuda, rc);
    batch->count = count;
    cuda->n_in_flight++;
    return KG_OK;
}

static int read_times(const struct kg_cuda_batch *batch, double *ret_us, kg_error *ret_error)
{
    int rc = kg_cuda_check(cudaEventSynchronize(batch->events[batch->count]), "timed windows", ret_error);
    for (int i = 0; rc == KG_OK && i < batch->count; i++) {
        float ms = 0;
        cudaError_t status = cudaEventElapsedTime(&ms, batch->events[i], batch->events[i + 1]);
        rc = kg_cuda_check(status, "time between events", ret_error);
        ret_us[i] = ms * 1e3;
    }
    return rc;
}

int kg_cuda_collect(kg_context *context, double *ret_us, kg_error *ret_error)
{
    struct kg_cuda_context *cuda = kg_cuda(context);
    struct kg_cuda_batch *batch = &cuda->batches[cuda->oldest];
    double times_us[KG_MAX_BATCH];
    assert(cuda->n_in_flight > 0);
    int rc = read_times(batch, times_us, ret_error);
    if (rc < 0)
        return give_up(cuda, rc);
    for (int i = 0; i < batch->count; i++) {
        kg_window *window = batch->windows[i];
        window->us = window->us > 0 ? fmin(window->us, times_us[i]) : times_us[i];
        ret_us[i] = times_us[i];
    }
    cuda->oldest = (cuda->oldest + 1) % KG_MAX_IN_FLIGHT;
    cuda->n_in_flight--;
    return KG_OK;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Times short delays of many lengths and takes the smallest difference between two times that differ. Times come as
 * single precision milliseconds: less than 0.1 ns apart is rounding. */
int kg_cuda_measure_tick(struct kg_cuda_context *cuda, double *ret_tick_us, kg_error *ret_error)
{
    enum { BATCHES = 10 };
    double times_us[BATCHES * KG_MAX_BATCH];
    struct kg_cuda_batch *spins = &cuda->batches[0];
    spins->count = KG_MAX_BATCH;
    for (int batch = 0; batch < BATCHES; batch++) {
        int rc = record(cuda, spins->events[0], ret_error);
        for (int i = 0; rc == KG_OK && i < KG_MAX_BATCH; i++) {
            uint64_t cycles = 500 + 61 * (uint64_t)i + 7 * (uint64_t)batch;
            rc = kg_cuda_check(kg_kernel_spin(cycles, cuda->stream), "measuring the timer", ret_error);
            if (rc == KG_OK)
                rc = record(cuda, spins->events[i + 1], ret_error);
        }
        if (rc == KG_OK)
            rc = read_times(spins, times_us + batch * KG_MAX_BATCH, ret_error);
        if (rc < 0)
            return rc;
    }
    qsort(times_us, BATCHES * KG_MAX_BATCH, sizeof *times_us, compare_doubles);
    double tick_us = times_us[BATCHES * KG_MAX_BATCH - 1];
    for (int i = 1; i < BATCHES * KG_MAX_BATCH; i++) {
        double step_us = times_us[i] - times_us[i - 1];
        if (step_us > 1e-4 && step_us < tick_us)
            tick_us = step_us;
    }
    *ret_tick_us = tick_us;
    return KG_OK;
}
