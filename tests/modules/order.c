/* order.c -- builds that fail on the way, for tests/cli/blame.sh: meson.build makes one of each ORDER_… below. */
#include "broken.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#define ORDER_BASE 0
#define ORDER_OTHER 1
/* At the first launch: */
#define ORDER_FAILS 2
#define ORDER_CRASHES 3
#define ORDER_OVERRUNS 4
#define ORDER_SPOILS 5    /* its inputs */
#define ORDER_WORKSPACE 6 /* is overrun */
/* When it is prepared: */
#define ORDER_UNPREPARED 8
#define ORDER_UNPREPARED_CRASHES 9
#define ORDER_UNPREPARED_HANGS 10
#define ORDER_UNPREPARED_OVERRUNS 11
/* At other launches: */
#define ORDER_REFUSES 12      /* at all */
#define ORDER_TIRES 13        /* refuses from the third on */
#define ORDER_CRASHES_NEXT 14 /* at the second */
#define ORDER_ONCE 15         /* refuses in a second process */
#define ORDER_LATE_FAILS 16   /* while it is timed, as the next ones */
#define ORDER_LATE_REFUSES 17
#define ORDER_LATE_OVERRUNS 18 /* and does not do it again */
#define ORDER_LATE_SPOILS 19
#define ORDER_UNRELEASED 20 /* crashes when it is released */
#define ORDER_DECLINES 21   /* refuses at all; it has a regime, as OTHER */

#ifndef ORDER
#error "ORDER is one of the names above"
#endif
#define WORKSPACE_BYTES 64
#define LATE 60

struct state {
    int launches;
    bool again; /* another process has prepared the row before */
};

static void overrun(const kg_tensor *y)
{
    ((float *)y->data)[kg_tensor_count(y)] = 1;
}

static int prepare_badly(const kg_call *call, kg_error *ret_error)
{
    if (ORDER == ORDER_UNPREPARED_OVERRUNS)
        overrun(&call->tensors[SERIES_Y]);
    if (ORDER == ORDER_UNPREPARED_CRASHES)
        return raise(SIGSEGV);
    while (ORDER == ORDER_UNPREPARED_HANGS)
        pause();
    return ORDER == ORDER_UNPREPARED ? kg_fail(ret_error, KG_EDEVICE, "cannot be prepared") : KG_OK;
}

/* Workers run in the folder of the test. */
static bool was_here(const struct series *row)
{
    char path[64];
    snprintf(path, sizeof path, "%s.prepared", row->name);
    const int file = open(path, O_CREAT | O_EXCL | O_WRONLY, 0666);
    if (file >= 0)
        close(file);
    return file < 0;
}

static int prepare(const kg_backend *self, const kg_call *call, void **ret_state, kg_identity *ret_identity,
                   kg_error *ret_error)
{
    (void)self, (void)ret_identity;
    int status = prepare_badly(call, ret_error);
    if (status)
        return status;
    struct state *state = calloc(1, sizeof *state);
    if (!state)
        return kg_fail(ret_error, KG_ENOMEM, "out of memory");
    state->again = ORDER == ORDER_ONCE && was_here(call->problem);
    *ret_state = state;
    return KG_OK;
}

static size_t workspace(const kg_backend *self, const void *state)
{
    (void)self, (void)state;
    return ORDER == ORDER_WORKSPACE ? WORKSPACE_BYTES : 0;
}

static int launch_badly(const struct state *its, const kg_tensor *tensors, kg_error *ret_error)
{
    const bool first = its->launches == 1;
    if ((ORDER == ORDER_CRASHES && first) || (ORDER == ORDER_CRASHES_NEXT && its->launches == 2))
        return raise(SIGSEGV);
    if (ORDER == ORDER_FAILS && first)
        return kg_fail(ret_error, KG_EDEVICE, "the launch was refused");
    if (ORDER == ORDER_REFUSES || ORDER == ORDER_DECLINES || (ORDER == ORDER_TIRES && its->launches > 2) || its->again)
        return kg_fail(ret_error, KG_EUNSUPPORTED, "takes no problem any more");
    const bool late = its->launches == LATE;
    if (ORDER == ORDER_LATE_FAILS && late)
        return kg_fail(ret_error, KG_EDEVICE, "the launch was refused late");
    if (ORDER == ORDER_LATE_REFUSES && late)
        return kg_fail(ret_error, KG_EUNSUPPORTED, "takes no problem any more");
    if ((ORDER == ORDER_OVERRUNS && first) || (ORDER == ORDER_LATE_OVERRUNS && late))
        overrun(&tensors[SERIES_Y]);
    if ((ORDER == ORDER_SPOILS && first) || (ORDER == ORDER_LATE_SPOILS && late))
        ((float *)tensors[SERIES_X].data)[1] += 1;
    if (ORDER == ORDER_WORKSPACE && first)
        ((char *)tensors[SERIES_Y + 1].data)[WORKSPACE_BYTES] = 1;
    return KG_OK;
}

static int launch(const kg_backend *self, void *state, const kg_tensor *tensors, void *stream, kg_error *ret_error)
{
    struct state *its = state;
    const float *x = tensors[SERIES_X].data;
    float *y = tensors[SERIES_Y].data;
    (void)self, (void)stream;
    its->launches++;
    int status = launch_badly(its, tensors, ret_error);
    for (int64_t i = 0; i < kg_tensor_count(&tensors[SERIES_Y]) && !status; i++) {
        float sum = 0;
        for (int t = 0; t < TERMS; t++)
            sum = sum * 0.5f + x[i];
        y[i] = sum;
    }
    return status;
}

static void release(const kg_backend *self, void *state)
{
    if (ORDER == ORDER_UNRELEASED)
        raise(SIGSEGV);
    (void)self;
    free(state);
}

static const kg_backend kernel = {
    .name = "kernel", .device = KG_CPU, .prepare = prepare, .workspace = workspace, .launch = launch, .release = release
};
static const kg_backend *const backends[] = { &kernel };
static const struct series rows[] = { { "one", .n = 1024 }, { "two", .n = 1024 } };
static const uint64_t seeds[] = { 0 };
static const kg_xfail xfails[] = { { "order/two/*", "is said to fail" } }; /* which excuses no baseline */
static const kg_suite_regime regimes[] = { { "outliers", "one" } }; /* called on stripes of normal inputs before */
static const kg_suite order = {
    .name = "order",
    .op = &series_op,
    .shapes = KG_TABLE(rows),
    .seeds = KG_LIST(seeds),
    .regimes = { regimes, ORDER == ORDER_OTHER || ORDER == ORDER_DECLINES ? 1 : 0 },
    .backends = KG_LIST(backends),
    .gates = { .max_abs = 0.1, .mean_abs = 0.01, .bad_abs = 0.02, .bad_pct = 1.0, .rel_l2 = 0.05 },
    .xfails = { xfails, ORDER == ORDER_BASE || ORDER == ORDER_OTHER ? 0 : 1 },
};
static const kg_suite *const suites[] = { &order };

KG_EXPORT const struct kg_module kg_module = {
    KG_MODULE_SIZES, .name = "order", .git_sha = "", .flags = "", .suites = suites, .n_suites = 1,
};
