/* repeats.c -- kernels that are right when they are checked and not at every later launch: what `kgate run --repeat`
 * must catch, and honest ones that it must not. tests/cli/repeat.sh asks; repeats_cuda.cu has races of a GPU. */
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "broken.h"
#include "module.h"

enum { ONCE = 50 }; /* the launch of its process that goes wrong, the first one being 1 */

/* After a right answer. */
typedef void deed(float *y, int64_t n, int launch);

struct kernel {
    deed *deed;
    int *launches;
};

/* REPEATS_LATER launches later, where that is set. */
static void fall_short(float *y, int64_t n, int launch)
{
    const char *later = getenv("REPEATS_LATER");
    y[n / 2] -= launch == ONCE + (later ? atoi(later) : 0) ? 3 : 0;
}

/* As sums do whose terms come in another order. */
static void change_low_bits(float *y, int64_t n, int launch)
{
    for (int64_t i = launch % 7; launch > 1 && i < n; i += 7)
        y[i] = nextafterf(y[i], INFINITY);
}

static void change_low_bits_and_fall_short(float *y, int64_t n, int launch)
{
    change_low_bits(y, n, launch);
    fall_short(y, n, launch);
}

static void overrun(float *y, int64_t n, int launch)
{
    if (launch == ONCE)
        y[n] = 1;
}

static void crash(float *y, int64_t n, int launch)
{
    (void)y, (void)n;
    if (launch == ONCE)
        raise(SIGSEGV);
}

static void hang(float *y, int64_t n, int launch)
{
    (void)y, (void)n;
    while (launch == ONCE)
        pause();
}

static void idle(float *y, int64_t n, int launch)
{
    (void)y, (void)n, (void)launch;
    usleep(50000);
}

static int launch(const kg_backend *self, void *state, const kg_tensor *tensors, void *stream, kg_error *ret_error)
{
    const struct kernel *kernel = self->data;
    const float *x = tensors[SERIES_X].data;
    float *y = tensors[SERIES_Y].data;
    const int64_t n = kg_tensor_count(&tensors[SERIES_Y]);
    (void)state, (void)stream, (void)ret_error;
    for (int64_t i = 0; i < n; i++) {
        float sum = 0;
        for (int t = 0; t < TERMS; t++)
            sum = sum * 0.5f + x[i];
        y[i] = sum;
    }
    if (kernel->deed)
        kernel->deed(y, n, ++*kernel->launches);
    return KG_OK;
}

/* Stages x, and then reads nothing else. */
static size_t room_for_x(const kg_backend *self, const void *state)
{
    const struct series *p = ((const kg_call *)state)->problem;
    (void)self;
    return (size_t)p->n * sizeof(float);
}

static int stage_x(const kg_backend *self, void *state, const kg_tensor *tensors, void *stream, kg_error *ret_error)
{
    const int64_t n = kg_tensor_count(&tensors[SERIES_Y]);
    (void)self, (void)state, (void)stream, (void)ret_error;
    for (int64_t i = 0; i < n; i++)
        ((float *)tensors[SERIES_Y + 1].data)[i] = ((const float *)tensors[SERIES_X].data)[i];
    return KG_OK;
}

static int launch_staged(const kg_backend *self, void *state, const kg_tensor *tensors, void *stream,
                         kg_error *ret_error)
{
    const kg_tensor call[] = { tensors[SERIES_Y + 1], tensors[SERIES_Y] };
    return launch(self, state, call, stream, ret_error);
}

#define KERNEL(its_deed) .device = KG_CPU, .data = &(const struct kernel){ its_deed, &(int){ 0 } }, .launch = launch
#define BACKEND(id, deed) static const kg_backend id = { .name = #id, KERNEL(deed) }

BACKEND(good, NULL);
BACKEND(patient, idle);
BACKEND(seldom, fall_short);
BACKEND(other_bits, change_low_bits);
BACKEND(overruns, overrun);
BACKEND(crashes, crash);
BACKEND(hangs, hang);
static const kg_backend varies = { .name = "varies", KERNEL(change_low_bits), .varies = true };
static const kg_backend varies_wrong = { .name = "varies_wrong",
                                         KERNEL(change_low_bits_and_fall_short),
                                         .varies = true };
static const kg_backend staged = { .name = "staged",
                                   .device = KG_CPU,
                                   .data = &(const struct kernel){ NULL, NULL },
                                   .workspace = room_for_x,
                                   .stage = stage_x,
                                   .launch = launch_staged };

static const struct series shapes[] = { { "plain", .n = 4096 } };
static const uint64_t seeds[] = { 0 };
static const kg_backend *const backends[] = { &good,   &staged,       &patient,  &seldom,  &other_bits,
                                              &varies, &varies_wrong, &overruns, &crashes, &hangs };
static const kg_suite repeats = {
    .name = "repeats",
    .op = &series_op,
    .shapes = KG_TABLE(shapes),
    .seeds = KG_LIST(seeds),
    .backends = KG_LIST(backends),
    .gates = { .max_abs = 0.1, .mean_abs = 0.01, .bad_abs = 0.02, .bad_pct = 1.0, .rel_l2 = 0.05 },
    .time = { .off = true }, /* timed, `staged` might do all of its work in stage */
};
static const kg_suite *const suites[] = { &repeats };

MODULE_ROOT("repeats");
