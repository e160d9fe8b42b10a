/* pull.c -- one small module as pull requests would change it, for `kgate run --against`: meson.build makes one of each
 * PULL_… below. To add one: a name in meson.build, its change here, what must be said of it in tests/cli/against.sh. */
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

#include "kgate.h"

#define PULL_BASE 0 /* what the others change */
#define PULL_SLOWER 1
#define PULL_LENIENT 2  /* slower, under a threshold that would allow it */
#define PULL_UNTIMED 3  /* slower, in a suite that times nothing */
#define PULL_LOOSE 4    /* wrong, under gates that would allow it */
#define PULL_EXCUSED 5  /* wrong, and said to fail */
#define PULL_DOCTORED 6 /* wrong, and the reference agrees */
#define PULL_DROPPED 7  /* a row is gone */
#define PULL_RENAMED 8
#define PULL_SMALLER 9          /* a smaller problem of the same name */
#define PULL_REFUSES 10         /* the backend no longer takes any problem */
#define PULL_ADDED 11           /* a new row */
#define PULL_FAULTY 12          /* a new backend that is wrong */
#define PULL_KNOBBED 13         /* the backend gets a knob, and is as it was without it */
#define PULL_UNREFERENCED 14    /* the op has no reference here */
#define PULL_REFERENCE_FAILS 15 /* and the rows are said to fail; for tests/cli/blame.sh, as the next */
#define PULL_REFERENCE_CRASHES 16
#define PULL_PATIENT 17  /* launch and reference take their time, for tests/cli/patience.sh */
#define PULL_SEEDLESS 18 /* slower, and its first seed is gone */
#define PULL_PARDONED 19 /* right, and said to fail */
#define PULL_FORGIVEN 20 /* a new backend that is wrong, and said to fail */
#define PULL_WIDENED 21  /* a smaller problem of the same name, wrong there, under gates that would allow it */
#define PULL_MEDDLER 22  /* slower, and so is whoever else is in its process */
#define PULL_MOVED 23    /* the backend is for a GPU now; the new one, said to fail, is for the CPU still */

#ifndef PULL
#error "PULL is what the pull request changes: one of the names above"
#endif
#define IS(which) (PULL == (which))
#define IS_SLOWER (IS(PULL_SLOWER) || IS(PULL_LENIENT) || IS(PULL_UNTIMED) || IS(PULL_SEEDLESS) || IS(PULL_MEDDLER))
#define IS_WRONG (IS(PULL_LOOSE) || IS(PULL_EXCUSED) || IS(PULL_DOCTORED))
#define IS_FORGIVEN (IS(PULL_FORGIVEN) || IS(PULL_MOVED))
#define IS_EXCUSED (IS(PULL_EXCUSED) || IS(PULL_PARDONED) || IS(PULL_REFERENCE_FAILS) || IS(PULL_REFERENCE_CRASHES))

#define TERMS 24
#define SLOW_DOWN "PULL_SLOW_DOWN" /* read as a library reads OMP_NUM_THREADS */

struct sum {
    const char *name;
    int64_t n;
};
struct knobs {
    int64_t extra_pct;
};

static const kg_field fields[] = {
    { "n", offsetof(struct sum, n), KG_INT, .min = 1, .max = 1 << 20, .help = "elements" },
};

static const kg_field knob_fields[] = {
    { "extra_pct", offsetof(struct knobs, extra_pct), KG_INT, .min = 0, .max = 100, .help = "further work" },
};

static int tensors(const void *problem, kg_tensor ret_tensors[KG_MAX_TENSORS], int *ret_count)
{
    const int64_t n = ((const struct sum *)problem)->n;
    ret_tensors[0] = (kg_tensor){ .name = "x", .dtype = KG_F32, .role = KG_INPUT, .rank = 1, .dims = { n } };
    ret_tensors[1] = (kg_tensor){ .name = "y", .dtype = KG_F32, .role = KG_OUTPUT, .rank = 1, .dims = { n } };
    *ret_count = 2;
    return KG_OK;
}

/* y = x + x/2 + x/4 + …; a wrong one is off by a little everywhere. One machine code in all builds. */
__attribute__((noinline)) static void compute(const float *x, float *y, int64_t n, float off)
{
    for (int64_t i = 0; i < n; i++) {
        float sum = off;
        for (int t = 0; t < TERMS; t++)
            sum = sum * 0.5f + x[i];
        y[i] = sum + off;
    }
}

/* A call ends by the clock, as if it computed at one speed: a busy machine's own changes by the minute. */
#define PACE_NS 60 /* an element: twice what it takes */

static int64_t now_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void take_ms(int64_t ms)
{
    nanosleep(&(struct timespec){ ms / 1000, ms % 1000 * 1000000 }, NULL);
}

static int reference(const void *problem, const kg_tensor *call, kg_error *ret_error)
{
    const int64_t n = ((const struct sum *)problem)->n;
    if (IS(PULL_UNREFERENCED))
        return kg_fail(ret_error, KG_EUNSUPPORTED, "no reference for this");
    if (IS(PULL_REFERENCE_FAILS))
        return kg_fail(ret_error, KG_EDEVICE, "the reference was refused");
    if (IS(PULL_REFERENCE_CRASHES))
        return raise(SIGSEGV);
    if (IS(PULL_PATIENT))
        take_ms(3000);
    compute(call[0].data, call[1].data, n, IS(PULL_DOCTORED) ? 0.05f : 0);
    return KG_OK;
}

static int launch(const kg_backend *self, void *state, const kg_tensor *call, void *stream, kg_error *ret_error)
{
    const int64_t n = kg_tensor_count(&call[1]), began_ns = now_ns();
    const struct knobs *knobs = ((const kg_call *)state)->knobs;
    if (IS(PULL_MEDDLER))
        (void)setenv(SLOW_DOWN, "1", 1);
    const int64_t extra_pct = IS_SLOWER || getenv(SLOW_DOWN) ? 30 : knobs ? knobs->extra_pct : 0;
    (void)stream, (void)ret_error;
    if (IS(PULL_PATIENT))
        take_ms(10);
    compute(call[0].data, call[1].data, n * extra_pct / 100, 0);
    const bool wrong = IS_WRONG || self->data || (IS(PULL_WIDENED) && n == 512);
    compute(call[0].data, call[1].data, n, wrong ? 0.05f : 0);
    while (now_ns() < began_ns + n * PACE_NS * (100 + extra_pct) / 100)
        ;
    return KG_OK;
}

static int supports(const kg_backend *self, const kg_device *device, const void *problem, kg_error *ret_error)
{
    (void)self, (void)device, (void)problem;
    return IS(PULL_REFUSES) ? kg_fail(ret_error, KG_EUNSUPPORTED, "takes no problem any more") : KG_OK;
}

static double elements(const void *problem)
{
    return (double)((const struct sum *)problem)->n;
}

static const kg_op op = { .name = "sum",
                          .problem_size = sizeof(struct sum),
                          .fields = KG_LIST(fields),
                          .tensors = tensors,
                          .reference_cpu = reference,
                          .flops = elements,
                          .bytes = elements };
static const kg_backend kernel = { .name = "kernel",
                                   .device = IS(PULL_MOVED) ? KG_CUDA : KG_CPU,
                                   .knobs = { knob_fields, IS(PULL_KNOBBED) ? 1 : 0 },
                                   .knobs_size = IS(PULL_KNOBBED) ? sizeof(struct knobs) : 0,
                                   .supports = supports,
                                   .launch = launch };
static const kg_backend faulty = { .name = "faulty", .device = KG_CPU, .data = "wrong", .launch = launch };
static const kg_backend *const backends[] = { &kernel, &faulty };

static const struct sum rows[] = {
    { "plain", 8192 },
    { IS(PULL_RENAMED) ? "another" : "other", IS(PULL_SMALLER) || IS(PULL_WIDENED) ? 512 : 4096 },
    { "added", 2048 },
};
static const uint64_t seeds[] = { IS(PULL_SEEDLESS) ? 1 : 0, 1 };
static const kg_xfail xfails[] = { { IS_FORGIVEN ? "pull/*/faulty" : "pull/*", "known to be off" } };

#define LIMIT (IS(PULL_LOOSE) || IS(PULL_WIDENED) ? 1000.0 : 0.02)
static const kg_suite suite = {
    .name = "pull",
    .op = &op,
    .shapes = { rows,
                IS(PULL_DROPPED) ? 1
                : IS(PULL_ADDED) ? 3
                                 : 2,
                sizeof *rows },
    .seeds = { seeds, IS(PULL_SEEDLESS) ? 1 : 2 },
    .backends = { backends, IS(PULL_FAULTY) || IS_FORGIVEN ? 2 : 1 },
    .gates = { .max_abs = LIMIT, .mean_abs = LIMIT, .bad_abs = LIMIT, .rel_l2 = LIMIT },
    .time = { .off = IS(PULL_UNTIMED), .cpu_regress_pct = IS(PULL_LENIENT) ? 1000 : 0 },
    .xfails = { xfails, IS_EXCUSED || IS_FORGIVEN ? 1 : 0 },
};
static const kg_suite *const suites[] = { &suite };

KG_EXPORT const struct kg_module kg_module = {
    KG_MODULE_SIZES, .name = "pull", .git_sha = "", .flags = "", .suites = suites, .n_suites = 1,
};
