/* cuda_timer.c -- times a launch as the runner does, on a graph, so that the host's own cost does not choose. */
#include "op/cuda_timer.h"

#include <stdlib.h>

#define WARMUP_US 3000.0
#define WINDOW_US 200.0
#define WINDOWS 7
#define MAX_LAUNCHES 20

struct timer {
    cudaStream_t stream;
    cudaEvent_t start, stop;
    cudaGraphExec_t graph;
    int launches; /* in the graph */
};

static int cuda_check(cudaError_t error, const char *what, kg_error *ret_error)
{
    if (error == cudaSuccess)
        return KG_OK;
    return kg_fail(ret_error, KG_EDEVICE, "%s while choosing a configuration: %s", what, cudaGetErrorString(error));
}

/* Time between two events around whatever `enqueue` puts on the stream. */
static int window(struct timer *timer, int (*enqueue)(const void *, kg_error *), const void *context,
                  double *ret_time_us, kg_error *ret_error)
{
    float time_ms = 0;
    int status = cuda_check(cudaEventRecord(timer->start, timer->stream), "cudaEventRecord", ret_error);
    if (status == KG_OK)
        status = enqueue(context, ret_error);
    if (status == KG_OK)
        status = cuda_check(cudaEventRecord(timer->stop, timer->stream), "cudaEventRecord", ret_error);
    if (status == KG_OK)
        status = cuda_check(cudaEventSynchronize(timer->stop), "cudaEventSynchronize", ret_error);
    if (status == KG_OK)
        status =
            cuda_check(cudaEventElapsedTime(&time_ms, timer->start, timer->stop), "cudaEventElapsedTime", ret_error);
    if (status == KG_OK)
        *ret_time_us = (double)time_ms * 1000;
    return status;
}

struct single {
    cuda_timed_fn *launch;
    const void *context;
    cudaStream_t stream;
};

static int single_enqueue(const void *context, kg_error *ret_error)
{
    const struct single *single = context;
    return single->launch(single->context, single->stream, ret_error);
}

struct replays {
    const struct timer *timer;
    int count;
};

static int replays_enqueue(const void *context, kg_error *ret_error)
{
    const struct replays *replays = context;
    int status = KG_OK;
    for (int i = 0; i < replays->count && status == KG_OK; i++)
        status =
            cuda_check(cudaGraphLaunch(replays->timer->graph, replays->timer->stream), "cudaGraphLaunch", ret_error);
    return status;
}

static int graph_capture(struct timer *timer, const struct single *single, kg_error *ret_error)
{
    cudaGraph_t graph = NULL;
    int status = cuda_check(cudaStreamBeginCapture(timer->stream, cudaStreamCaptureModeThreadLocal),
                            "cudaStreamBeginCapture", ret_error);
    if (status != KG_OK)
        return status;
    for (int i = 0; i < timer->launches && status == KG_OK; i++)
        status = single_enqueue(single, ret_error);
    /* The capture ends whatever happened in it; an earlier failure keeps its description. */
    int ended = cuda_check(cudaStreamEndCapture(timer->stream, &graph), "cudaStreamEndCapture",
                           status == KG_OK ? ret_error : NULL);
    if (status == KG_OK)
        status = ended;
    if (status == KG_OK)
        status = cuda_check(cudaGraphInstantiate(&timer->graph, graph, 0), "cudaGraphInstantiate", ret_error);
    if (graph)
        cudaGraphDestroy(graph);
    return status;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Replays for WARMUP_US, doubling as it goes, then takes the median of windows of at least WINDOW_US. */
static int graph_time(struct timer *timer, double *ret_time_us, kg_error *ret_error)
{
    struct replays replays = { .timer = timer, .count = 1 };
    double replay_us = 0;
    for (double warm_us = 0; warm_us < WARMUP_US; replays.count *= 2) {
        double time_us = 0;
        int status = window(timer, replays_enqueue, &replays, &time_us, ret_error);
        if (status != KG_OK)
            return status;
        if (!(time_us > 0))
            return kg_fail(ret_error, KG_EDEVICE, "a graph of %d launches took no time", timer->launches);
        warm_us += time_us;
        replay_us = time_us / replays.count;
    }

    double times_us[WINDOWS];
    replays.count = (int)(WINDOW_US / replay_us) + 1;
    for (int i = 0; i < WINDOWS; i++) {
        int status = window(timer, replays_enqueue, &replays, &times_us[i], ret_error);
        if (status != KG_OK)
            return status;
    }
    qsort(times_us, WINDOWS, sizeof *times_us, compare);
    *ret_time_us = times_us[WINDOWS / 2] / replays.count / timer->launches;
    return KG_OK;
}

int cuda_timer_run(cuda_timed_fn *launch, const void *context, cudaStream_t stream, double *ret_time_us,
                   kg_error *ret_error)
{
    struct timer timer = { .stream = stream };
    struct single single = { .launch = launch, .context = context, .stream = stream };
    double first_us = 0, time_us = 0;
    int status = cuda_check(cudaEventCreate(&timer.start), "cudaEventCreate", ret_error);
    if (status == KG_OK)
        status = cuda_check(cudaEventCreate(&timer.stop), "cudaEventCreate", ret_error);

    /* Twice outside the capture: the first launch loads the kernel, the second says how many make a window. */
    for (int i = 0; i < 2 && status == KG_OK; i++)
        status = window(&timer, single_enqueue, &single, &first_us, ret_error);
    if (status != KG_OK)
        goto out;
    timer.launches = first_us * MAX_LAUNCHES < WINDOW_US ? MAX_LAUNCHES : (int)(WINDOW_US / first_us) + 1;

    status = graph_capture(&timer, &single, ret_error);
    if (status == KG_OK)
        status = graph_time(&timer, &time_us, ret_error);
    if (status == KG_OK)
        *ret_time_us = time_us;
out:
    if (timer.graph)
        cudaGraphExecDestroy(timer.graph);
    if (timer.stop)
        cudaEventDestroy(timer.stop);
    if (timer.start)
        cudaEventDestroy(timer.start);
    return status;
}
