/* order.c -- builds that say in the log when they are prepared and launched, for tests/cli/order.sh: meson.build makes
 * one of each ORDER_… below. */
#include "broken.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#define ORDER_BASE 0
#define ORDER_OTHER 1
#define ORDER_FAILS 2 /* at a launch, in a process where the base is prepared too */
#define ORDER_CRASHES 3

#ifndef ORDER
#error "ORDER is one of the names above"
#endif
#define BUILD (ORDER == ORDER_BASE ? "base" : "other")
#define BASE_IS_HERE "ORDER_BASE_IS_HERE" /* in the environment, which the builds of one process share */

struct state {
    const kg_call *call;
    int launches;
};

/* A worker takes a case once, so a process and a row are a block. */
static void tell(const kg_call *call, const char *deed)
{
    const struct series *row = call->problem;
    call->host->log(call->host, "order: %ld %s %s %s", (long)getpid(), row->name, BUILD, deed);
}

static int prepare(const kg_backend *self, const kg_call *call, void **ret_state, kg_identity *ret_identity,
                   kg_error *ret_error)
{
    struct state *state = calloc(1, sizeof *state);
    (void)self, (void)ret_identity;
    if (!state || (ORDER == ORDER_BASE && setenv(BASE_IS_HERE, "1", 1))) {
        free(state);
        return kg_fail(ret_error, KG_ENOMEM, "out of memory");
    }
    state->call = call;
    tell(call, "prepares");
    *ret_state = state;
    return KG_OK;
}

/* Told twice: the second launch of the case is the one that is checked. */
static int launch(const kg_backend *self, void *state, const kg_tensor *tensors, void *stream, kg_error *ret_error)
{
    struct state *its = state;
    const float *x = tensors[SERIES_X].data;
    float *y = tensors[SERIES_Y].data;
    (void)self, (void)stream;
    if (its->launches++ < 2)
        tell(its->call, "launches");
    if (ORDER == ORDER_FAILS && getenv(BASE_IS_HERE))
        return kg_fail(ret_error, KG_EDEVICE, "the launch was refused");
    if (ORDER == ORDER_CRASHES && getenv(BASE_IS_HERE))
        return raise(SIGSEGV);
    for (int64_t i = 0; i < kg_tensor_count(&tensors[SERIES_Y]); i++) {
        float sum = 0;
        for (int t = 0; t < TERMS; t++)
            sum = sum * 0.5f + x[i];
        y[i] = sum;
    }
    return KG_OK;
}

static void release(const kg_backend *self, void *state)
{
    (void)self;
    free(state);
}

static const kg_backend kernel = {
    .name = "kernel", .device = KG_CPU, .prepare = prepare, .launch = launch, .release = release
};
static const kg_backend *const backends[] = { &kernel };
static const struct series rows[] = { { "one", .n = 1024 }, { "two", .n = 1024 } };
static const uint64_t seeds[] = { 0 };
static const kg_suite order = {
    .name = "order",
    .op = &series_op,
    .shapes = KG_TABLE(rows),
    .seeds = KG_LIST(seeds),
    .backends = KG_LIST(backends),
    .gates = { .max_abs = 0.1, .mean_abs = 0.01, .bad_abs = 0.02, .bad_pct = 1.0, .rel_l2 = 0.05 },
};
static const kg_suite *const suites[] = { &order };

KG_EXPORT const struct kg_module kg_module = {
    KG_MODULE_SIZES, .name = "order", .git_sha = "", .flags = "", .suites = suites, .n_suites = 1,
};
