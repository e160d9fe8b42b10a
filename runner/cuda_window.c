/* cuda_window.c -- captures launches into graphs, replays them, and times windows by events. How windows are chosen and
 * judged is in measure.c; here is only what the device has to do. */
#include "device_cuda.h"
#include "device_kernels.h"
#include "window.h"

#include <stdlib.h>
#include <string.h>

/* Host time that enqueueing takes, on the generous side, for the delay that lets the host run ahead. */
#define HOST_START_US 150.0
#define HOST_GRAPH_US 15.0
#define HOST_EVENT_US 5.0
#define HOST_LAUNCH_US 6.0
#define DELAY_MAX_US 20000.0

static const char not_capturable[] = "not capturable into a CUDA graph";

static int capture(struct kg_cuda_context *cuda, kg_launch_fn *launch, void *argument, int calls,
                   cudaGraph_t *ret_graph, kg_error *ret_error)
{
    /* Thread-local: libraries may do in other threads what a global capture forbids. */
    cudaError_t status = cudaStreamBeginCapture(cuda->stream, cudaStreamCaptureModeThreadLocal);
    int rc = kg_cuda_check(status, "capture of a CUDA graph", ret_error);
    if (rc < 0)
        return rc;
    kg_error cause = { .text = "the launch failed" };
    cudaGraph_t graph = NULL;
    size_t nodes = 0;
    for (int call = 0; rc == KG_OK && call < calls; call++)
        rc = launch(argument, call, cuda->stream, &cause);
    status = cudaStreamEndCapture(cuda->stream, &graph);
    (void)cudaGetLastError();
    if (rc < 0)
        rc = kg_fail(ret_error, rc, "%s: %s", not_capturable, cause.text);
    else if (status == cudaSuccess)
        status = cudaGraphGetNodes(graph, NULL, &nodes);
    if (rc == KG_OK)
        rc = kg_cuda_check(status, not_capturable, ret_error);
    if (rc == KG_OK && nodes == 0)
        rc = kg_fail(ret_error, KG_EDEVICE, "%s: the launch put nothing on its stream", not_capturable);
    if (rc == KG_OK)
        *ret_graph = graph;
    else if (graph)
        (void)cudaGraphDestroy(graph);
    return rc;
}

int kg_cuda_inspect(kg_context *context, kg_launch_fn *launch, void *argument, struct kg_launch_info *ret_info,
                    kg_error *ret_error)
{
    cudaGraph_t graph;
    int rc = capture(kg_cuda(context), launch, argument, 1, &graph, ret_error);
    if (rc < 0)
        return rc;
    struct kg_launch_info info = { 0 };
    rc = kg_cuda_graph_walk(graph, &info, ret_error);
    (void)cudaGraphDestroy(graph);
    if (rc == KG_OK)
        *ret_info = info;
    return rc;
}

static int make_replay(struct kg_cuda_context *cuda, kg_window *window, kg_error *ret_error)
{
    cudaGraph_t graph;
    cudaGraphExec_t replay = NULL;
    int rc = capture(cuda, window->launch, window->argument, window->calls, &graph, ret_error);
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

int kg_cuda_window_new(kg_context *context, kg_launch_fn *launch, void *argument, int calls, bool graph,
                       kg_window **ret_window, kg_error *ret_error)
{
    kg_window *window = calloc(1, sizeof *window);
    if (!window)
        return kg_fail(ret_error, KG_ENOMEM, "no host memory for a window");
    *window = (struct kg_window){ .launch = launch, .argument = argument, .calls = calls };
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

/* The clock may be lower than its highest: the delay is then longer, which does no harm. */
static int delay(struct kg_cuda_context *cuda, kg_window *const *order, int count, kg_error *ret_error)
{
    double host_us = HOST_START_US;
    for (int i = 0; i < count; i++)
        host_us += order[i]->replay ? HOST_GRAPH_US : HOST_EVENT_US + HOST_LAUNCH_US * order[i]->calls;
    int clock_mhz = cuda->base.device.clock_mhz_max ? cuda->base.device.clock_mhz_max : 1000;
    double cycles = clock_mhz * (host_us < DELAY_MAX_US ? host_us : DELAY_MAX_US);
    return kg_cuda_check(kg_kernel_spin((uint64_t)cycles, cuda->stream), "delay before timed windows", ret_error);
}

static int enqueue(struct kg_cuda_context *cuda, const kg_window *window, kg_error *ret_error)
{
    if (window->replay)
        return kg_cuda_check(cudaGraphLaunch(window->replay, cuda->stream), "replay of a CUDA graph", ret_error);
    int rc = KG_OK;
    for (int call = 0; rc == KG_OK && call < window->calls; call++)
        rc = window->launch(window->argument, call, cuda->stream, ret_error);
    return rc;
}

static int read_times(struct kg_cuda_context *cuda, int count, double *ret_us, kg_error *ret_error)
{
    double times_us[KG_MAX_BATCH];
    int rc = kg_cuda_check(cudaStreamSynchronize(cuda->stream), "timed windows", ret_error);
    for (int i = 0; rc == KG_OK && i < count; i++) {
        float ms = 0;
        cudaError_t status = cudaEventElapsedTime(&ms, cuda->events[i], cuda->events[i + 1]);
        rc = kg_cuda_check(status, "time between events", ret_error);
        times_us[i] = ms * 1e3;
    }
    if (rc == KG_OK)
        memcpy(ret_us, times_us, (size_t)count * sizeof *times_us);
    return rc;
}

static int record(struct kg_cuda_context *cuda, int event, kg_error *ret_error)
{
    return kg_cuda_check(cudaEventRecord(cuda->events[event], cuda->stream), "recording an event", ret_error);
}

int kg_cuda_measure(kg_context *context, kg_window *const *order, int count, double *ret_us, kg_error *ret_error)
{
    struct kg_cuda_context *cuda = kg_cuda(context);
    if (count < 1 || count > KG_MAX_BATCH)
        return kg_fail(ret_error, KG_EINVAL, "%d windows in a batch: 1 to %d", count, KG_MAX_BATCH);
    int rc = delay(cuda, order, count, ret_error);
    if (rc == KG_OK)
        rc = record(cuda, 0, ret_error);
    for (int i = 0; rc == KG_OK && i < count; i++) {
        rc = enqueue(cuda, order[i], ret_error);
        if (rc == KG_OK)
            rc = record(cuda, i + 1, ret_error);
    }
    if (rc == KG_OK)
        return read_times(cuda, count, ret_us, ret_error);
    (void)cudaStreamSynchronize(cuda->stream);
    return rc;
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
    for (int batch = 0; batch < BATCHES; batch++) {
        int rc = record(cuda, 0, ret_error);
        for (int i = 0; rc == KG_OK && i < KG_MAX_BATCH; i++) {
            uint64_t cycles = 500 + 61 * (uint64_t)i + 7 * (uint64_t)batch;
            rc = kg_cuda_check(kg_kernel_spin(cycles, cuda->stream), "measuring the timer", ret_error);
            if (rc == KG_OK)
                rc = record(cuda, i + 1, ret_error);
        }
        if (rc == KG_OK)
            rc = read_times(cuda, KG_MAX_BATCH, times_us + batch * KG_MAX_BATCH, ret_error);
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
