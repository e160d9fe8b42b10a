/* anchor.c -- a kernel and its anchor, both right and each slower by what the build says: ANCHOR_PCT, KERNEL_PCT, in
 * OF_TEN processes of ten. The numbers are read as data, so that all builds have one machine code and kgate sees no
 * change of it. A call ends by the clock, so that a busy machine does not move the absolute times that 10% are planted
 * in. */

#include "broken.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "module.h"
#include "spin.h"

#define PACE_NS 300000 /* twice what a call of 8192 elements computes */

static const volatile int anchor_pct = ANCHOR_PCT, kernel_pct = KERNEL_PCT, of_ten = OF_TEN;

/* A byte a process that loads the module, into the file that ANCHOR_LOADS names. */
__attribute__((constructor)) static void count(void)
{
    const char *path = getenv("ANCHOR_LOADS");
    FILE *file = path ? fopen(path, "a") : NULL;
    if (file) {
        fputc('.', file);
        fclose(file);
    }
}

/* The same in all calls of a process. */
static bool is_slow(void)
{
    static int drawn = -1;
    if (drawn < 0)
        drawn = (int)((uint32_t)getpid() * 2654435761u >> 16) % 10;
    return drawn < of_ten;
}

static void compute(const float *x, float *y, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        float sum = 0;
        for (int t = 0; t < TERMS; t++)
            sum = sum * 0.5f + x[i];
        y[i] = sum;
    }
}

/* .data points at the percentage. */
static int launch(const kg_backend *self, void *state, const kg_tensor *tensors, void *stream, kg_error *ret_error)
{
    const float *x = tensors[SERIES_X].data;
    float *y = tensors[SERIES_Y].data;
    const int slower_pct = is_slow() ? *(const volatile int *)self->data : 0;
    const int64_t end_ns = now_ns() + PACE_NS + PACE_NS / 100 * slower_pct;
    (void)state, (void)stream, (void)ret_error;
    compute(x, y, kg_tensor_count(&tensors[SERIES_Y]));
    spin_until(end_ns);
    return KG_OK;
}

static const kg_backend kernel = {
    .name = "kernel", .device = KG_CPU, .data = (const void *)&kernel_pct, .launch = launch
};
static const kg_backend anchor = {
    .name = "anchor", .device = KG_CPU, .data = (const void *)&anchor_pct, .launch = launch
};

static const struct series shapes[] = { { "plain", .n = 2048 } };
static const uint64_t seeds[] = { 0 };
static const kg_backend *const backends[] = { &kernel };
static const kg_suite held = {
    .name = "held",
    .op = &series_op,
    .shapes = KG_TABLE(shapes),
    .seeds = KG_LIST(seeds),
    .backends = KG_LIST(backends),
    .cpu_anchor = &anchor,
    .gates = { .max_abs = 0.1, .mean_abs = 0.01, .bad_abs = 0.02, .bad_pct = 1.0, .rel_l2 = 0.05 }
};

/* Beside it stands a case of another suite. */
static const int none_pct = 0;
static const kg_backend alone = {
    .name = "alone", .device = KG_CPU, .data = (const void *)&none_pct, .launch = launch
};
static const struct series apart_shapes[] = { { "short", .n = 1024 } };
static const kg_backend *const apart_backends[] = { &alone };
static const kg_suite apart = {
    .name = "apart",
    .op = &series_op,
    .shapes = KG_TABLE(apart_shapes),
    .seeds = KG_LIST(seeds),
    .backends = KG_LIST(apart_backends),
    .gates = { .max_abs = 0.1, .mean_abs = 0.01, .bad_abs = 0.02, .bad_pct = 1.0, .rel_l2 = 0.05 },
    .anchor_case = "held/plain/kernel"
};

static const kg_suite *const suites[] = { &held, &apart };

MODULE_ROOT("anchor");
