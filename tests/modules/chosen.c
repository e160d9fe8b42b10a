/* chosen.c -- a module of choosers: backends that stand for the first of others that takes the problem. What one became
 * must be said, and judged by that one's golden, in tests/cli/chosen.sh. */
#include "broken.h"

#include <stdlib.h>

#include "module.h"

static int launch(const kg_backend *self, void *state, const kg_tensor *tensors, void *stream, kg_error *ret_error)
{
    const float *x = tensors[SERIES_X].data;
    float *y = tensors[SERIES_Y].data;
    const int64_t n = kg_tensor_count(&tensors[SERIES_Y]);
    (void)self, (void)state, (void)stream, (void)ret_error;
    for (int64_t i = 0; i < n; i++) {
        float sum = 0;
        for (int t = 0; t < TERMS; t++)
            sum = sum * 0.5f + x[i];
        y[i] = sum;
    }
    return KG_OK;
}

/* So that its time is no other's. */
static int launch_twice(const kg_backend *self, void *state, const kg_tensor *tensors, void *stream,
                        kg_error *ret_error)
{
    int status = launch(self, state, tensors, stream, ret_error);
    return status ? status : launch(self, state, tensors, stream, ret_error);
}

static int takes_long_rows(const kg_backend *self, const kg_device *device, const void *problem, kg_error *ret_error)
{
    const char *said = getenv("PICKY_TAKES");
    const int64_t least = said ? atoll(said) : 8192;
    (void)self, (void)device;
    return ((const struct series *)problem)->n >= least
               ? KG_OK
               : kg_fail(ret_error, KG_EUNSUPPORTED, "takes %lld elements and more", (long long)least);
}

static int takes_nothing(const kg_backend *self, const kg_device *device, const void *problem, kg_error *ret_error)
{
    (void)self, (void)device, (void)problem;
    return kg_fail(ret_error, KG_EUNSUPPORTED, "takes nothing");
}

static const kg_backend anchor = { .name = "anchor", .device = KG_CPU, .launch = launch };
static const kg_backend picky = { .name = "picky", .device = KG_CPU, .supports = takes_long_rows, .launch = launch };
static const kg_backend plain = { .name = "plain", .device = KG_CPU, .launch = launch_twice };
static const kg_backend refuses = { .name = "refuses", .device = KG_CPU, .supports = takes_nothing, .launch = launch };

static const kg_backend *const its_candidates[] = { &refuses, &picky, &plain, NULL };
static const kg_backend automatic = { .name = "auto", .device = KG_CPU, .candidates = its_candidates };
static const kg_backend *const no_candidates[] = { &refuses, NULL };
static const kg_backend nothing = { .name = "nothing", .device = KG_CPU, .candidates = no_candidates };

static const struct series shapes[] = {
    { "long", .n = 8192 },  /* picky takes it */
    { "short", .n = 4096 }, /* plain is left */
};
static const uint64_t seeds[] = { 0 };
static const kg_backend *const backends[] = { &automatic, &nothing, &picky, &plain, &refuses };
static const kg_suite chosen = {
    .name = "chosen",
    .op = &series_op,
    .shapes = KG_TABLE(shapes),
    .seeds = KG_LIST(seeds),
    .backends = KG_LIST(backends),
    .cpu_anchor = &anchor,
    .gates = { .max_abs = 0.1, .mean_abs = 0.01, .bad_abs = 0.02, .bad_pct = 1.0, .rel_l2 = 0.05 },
};

static const kg_suite *const suites[] = { &chosen };

MODULE_ROOT("chosen");
