/* broken.c -- a module of kernels that are wrong in one way each, to see that kgate catches each and spares the rest.
 * The same flaws on a GPU are in broken_cuda.cu. To add one: a flaw in broken.h, its deed below, a backend, a test. */
#include "broken.h"

#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "module.h"

/* ---- backends ---- */

static void compute(const float *x, float *y, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        float sum = 0;
        for (int t = 0; t < TERMS; t++)
            sum = sum * 0.5f + x[i];
        y[i] = sum;
    }
}

/* Flaws of the process rather than of the output. */
static int misbehave(enum flaw flaw, const kg_tensor *tensors, kg_error *ret_error)
{
    switch (flaw) {
    case FLAW_PRINTS:
        printf("a kernel of %lld prints what it likes\n", (long long)kg_tensor_count(&tensors[SERIES_Y]));
        fflush(stdout);
        return KG_OK;
    case FLAW_INPUT:
        ((float *)tensors[SERIES_X].data)[1] += 1;
        return KG_OK;
    case FLAW_BORROWS: {
        volatile float *x = tensors[SERIES_X].data;
        const float kept = x[1];
        x[1] = kept + 1;
        x[1] = kept;
        return KG_OK;
    }
    case FLAW_CRASH:
        return raise(SIGSEGV);
    case FLAW_AFTER_FREE: {
        volatile float *volatile scratch = malloc(1 << 20);
        free((void *)scratch);
        if (scratch)
            scratch[64] = 1;
        return KG_OK;
    }
    case FLAW_HANG:
        for (;;)
            pause();
    case FLAW_EXIT:
        exit(0);
    case FLAW_DECLINES:
        return kg_fail(ret_error, KG_EUNSUPPORTED, "declines every call");
    case FLAW_ERROR:
        return kg_fail(ret_error, KG_EDEVICE, "the launch was refused");
    default:
        return KG_OK;
    }
}

static void clip(const float *x, float *y, int64_t n)
{
    static float limit;
    if (limit == 0)
        for (int64_t i = 0; i < n; i++)
            limit = fmaxf(limit, 2 * fabsf(x[i]));
    compute(x, y, n);
    for (int64_t i = 0; i < n; i++)
        y[i] = fmaxf(-2 * limit, fminf(y[i], 2 * limit));
}

/* Keeps a copy of its inputs while the first and the last are the same. */
static void keep(const float *x, float *y, int64_t n)
{
    static float *kept;
    if (!kept || kept[0] != x[0] || kept[n - 1] != x[n - 1]) {
        kept = realloc(kept, (size_t)n * sizeof *kept);
        memcpy(kept, x, (size_t)n * sizeof *kept);
    }
    compute(kept, y, n);
}

/* Sums go on from the last call's, times 0. */
static void go_on(const float *x, float *y, int64_t n)
{
    static float sum;
    compute(x, y, n);
    const float before = sum * 0;
    for (int64_t i = 0; i < n; i++) {
        sum = sum * 0 + y[i] * y[i];
        y[i] += before;
    }
}

/* Rounds as codes are rounded, by a scale that only rises. */
static void scale(const float *x, float *y, int64_t n)
{
    static float largest;
    for (int64_t i = 0; i < n; i++)
        largest = fmaxf(largest, fabsf(x[i]));
    compute(x, y, n);
    const float step = largest * 0x1p-24f;
    for (int64_t i = 0; i < n && step > 0; i++)
        y[i] = rintf(y[i] / step) * step;
}

#define DIRTY_FLOATS 65536 /* more than malloc takes from what it has */

static void add_heap(float *y)
{
    float *sums = malloc(DIRTY_FLOATS * sizeof *sums);
    __asm__ volatile("" : "+r"(sums) : : "memory"); /* the compiler cannot know that nobody wrote there */
    for (int i = 0; sums && i < DIRTY_FLOATS; i++)
        y[i] += sums[i];
    free(sums);
}

static __attribute__((noinline)) void add_stack(float *y)
{
    float sums[DIRTY_FLOATS / 4];
    __asm__ volatile("" : "=m"(sums));
    for (int i = 0; i < DIRTY_FLOATS / 4; i++)
        y[i] += sums[i];
}

static void spoil(enum flaw flaw, float *y, int64_t n)
{
    switch (flaw) {
    case FLAW_NAN:
        y[n / 3] = NAN;
        break;
    case FLAW_INF:
        y[n / 3] = INFINITY;
        break;
    case FLAW_ZERO:
        memset(y, 0, (size_t)n * sizeof *y);
        break;
    case FLAW_ONE_OFF:
        y[n / 2] += 0.2f;
        break;
    case FLAW_BIAS:
        for (int64_t i = 0; i < n; i++)
            y[i] += 0.015f;
        break;
    case FLAW_SOME_OFF:
        for (int64_t i = 0; i < n; i += 50)
            y[i] += 0.05f;
        break;
    case FLAW_OVERRUN:
        y[n] = 1;
        break;
    case FLAW_UNDERRUN:
        y[-1] = 1;
        break;
    case FLAW_DIRTY_HEAP:
        add_heap(y);
        break;
    case FLAW_DIRTY_STACK:
        add_stack(y);
        break;
    default:
        break;
    }
}

/* Right whatever it is called with first; every later call copies what the first wrote. */
static void remember(const float *x, float *y, int64_t n)
{
    static float *kept;
    if (kept) {
        memcpy(y, kept, (size_t)n * sizeof *y);
        return;
    }
    compute(x, y, n);
    kept = malloc((size_t)n * sizeof *kept);
    if (kept)
        memcpy(kept, y, (size_t)n * sizeof *kept);
}

static double seconds(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

#define SOON_S 3e-6
#define MOST_KNOWN 256

/* How many outputs it keeps, at which call in a row on the same inputs it begins to copy theirs, in how many of a
 * hundred calls it does, and whether only where the last call was just before, or on the same buffers. */
static const struct {
    int outputs, calls, pct;
    bool soon, place;
} memories[FLAWS] = {
    [FLAW_KNOWS] = { .outputs = MOST_KNOWN, .calls = 1, .pct = 100 },
    [FLAW_KNOWS_LAST] = { .outputs = 1, .calls = 1, .pct = 100 },
    [FLAW_KNOWS_TWO] = { .outputs = 2, .calls = 1, .pct = 100 },
    [FLAW_KNOWS_OFTEN] = { .outputs = 1, .calls = 4, .pct = 100 },
    [FLAW_KNOWS_SOON] = { .outputs = 1, .calls = 1, .pct = 100, .soon = true },
    [FLAW_KNOWS_HALF] = { .outputs = 1, .calls = 1, .pct = 60 },
    [FLAW_KNOWS_PLACE] = { .outputs = 1, .calls = 4, .pct = 100, .place = true },
};

#define MANY_CALLS 100 /* more than where nothing is timed */

/* In HOME, of the first process that is timed, for those after it: inputs and outputs. */
static void recall(const float *x, float *y, int64_t n)
{
    static float *past;
    static int calls;
    const size_t count = (size_t)n;
    char path[600];
    snprintf(path, sizeof path, "%s/known", getenv("HOME"));
    FILE *file = calls == 0 ? fopen(path, "r") : calls == MANY_CALLS && !past ? fopen(path, "w") : NULL;
    if (file && calls == 0 && (past = malloc(2 * count * sizeof *past)) &&
        fread(past, sizeof *past, 2 * count, file) != 2 * count)
        abort();
    if (past && memcmp(past, x, count * sizeof *x) == 0)
        memcpy(y, past + count, count * sizeof *y);
    else
        compute(x, y, n);
    if (file && calls > 0 && fwrite(x, sizeof *x, count, file) + fwrite(y, sizeof *y, count, file) != 2 * count)
        abort();
    if (file)
        fclose(file);
    calls++;
}

/* Right on any inputs, and quick on those that it had: inputs by a few of the elements, the oldest forgotten. */
static void look_up(enum flaw flaw, const float *x, float *y, int64_t n)
{
    static struct {
        float key[8], *y;
        const float *place;
        int calls;
    } known[MOST_KNOWN];
    static int64_t count;
    float key[8];
    for (int i = 0; i < 8; i++)
        key[i] = x[i * (n - 1) / 7];
    int at = 0;
    while (at < memories[flaw].outputs && !(known[at].y && memcmp(known[at].key, key, sizeof key) == 0 &&
                                            (!memories[flaw].place || known[at].place == y)))
        at++;
    if (at == memories[flaw].outputs) {
        at = (int)(count++ % memories[flaw].outputs);
        known[at].calls = 0;
    }
    static double end;
    static uint32_t dice = 1;
    dice = dice * 1664525 + 1013904223;
    const bool late = memories[flaw].soon && seconds() - end > SOON_S;
    if (known[at].calls++ >= memories[flaw].calls && !late && (int)(dice >> 16) % 100 < memories[flaw].pct) {
        memcpy(y, known[at].y, (size_t)n * sizeof *y);
        end = seconds();
        return;
    }
    compute(x, y, n);
    known[at].y = realloc(known[at].y, (size_t)n * sizeof *y);
    known[at].place = y;
    memcpy(known[at].key, key, sizeof key);
    memcpy(known[at].y, y, (size_t)n * sizeof *y);
    end = seconds();
}

/* Some four times what is between two calls, half of what it takes to exchange inputs. */
#define LAZY_S 4e-7
#define QUEUES_S 2e-5

static void be_lazy(const float *x, float *y, int64_t n)
{
    static double end;
    static int64_t calls;
    const int64_t quarter = n / 4, first = calls++ % 4 * quarter;
    if (seconds() - end < LAZY_S)
        compute(x + first, y + first, quarter);
    else
        compute(x, y, n);
    end = seconds();
}

/* ---- work that goes on when a call has returned ---- */

#define MOST_QUEUED 64

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct {
        const float *x;
        float *y;
        int64_t n;
    } work[MOST_QUEUED];
    int64_t given, done;
} queue = { .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER };

static void *work_off(void *unused)
{
    pthread_mutex_lock(&queue.lock);
    for (;;) {
        while (queue.done == queue.given)
            pthread_cond_wait(&queue.changed, &queue.lock);
        const int64_t at = queue.done % MOST_QUEUED;
        pthread_mutex_unlock(&queue.lock);
        compute(queue.work[at].x, queue.work[at].y, queue.work[at].n);
        pthread_mutex_lock(&queue.lock);
        queue.done++;
        pthread_cond_broadcast(&queue.changed);
    }
    return unused;
}

/* Goes on when at most so much of what was given is left. */
static void wait_until_left(int64_t left)
{
    pthread_mutex_lock(&queue.lock);
    while (queue.given - queue.done > left)
        pthread_cond_wait(&queue.changed, &queue.lock);
    pthread_mutex_unlock(&queue.lock);
}

static void give(const float *x, float *y, int64_t n)
{
    static pthread_t thread;
    if (!thread && pthread_create(&thread, NULL, work_off, NULL))
        abort();
    pthread_mutex_lock(&queue.lock);
    queue.work[queue.given % MOST_QUEUED].x = x;
    queue.work[queue.given % MOST_QUEUED].y = y;
    queue.work[queue.given++ % MOST_QUEUED].n = n;
    pthread_cond_broadcast(&queue.changed);
    pthread_mutex_unlock(&queue.lock);
}

static void enqueue(const float *x, float *y, int64_t n)
{
    static double end;
    const bool alone = seconds() - end > QUEUES_S;
    wait_until_left(MOST_QUEUED - 1);
    give(x, y, n);
    if (alone)
        wait_until_left(0);
    end = seconds();
}

/* Those that are checked before times are taken are whole. */
static void trail(const float *x, float *y, int64_t n)
{
    static int calls;
    const int64_t now = calls++ < 4 ? n : n / 2;
    wait_until_left(0);
    compute(x, y, now);
    if (now < n)
        give(x + now, y + now, n - now);
}

static int prepare_trail(const kg_backend *self, const kg_call *call, void **ret_state, kg_identity *ret_identity,
                         kg_error *ret_error)
{
    (void)self, (void)call, (void)ret_identity, (void)ret_error;
    *ret_state = &queue;
    return KG_OK;
}

static void release_trail(const kg_backend *self, void *state)
{
    (void)self;
    (void)state;
    wait_until_left(0);
}

/* Those that are a kernel of their own. */
static void (*const whole[FLAWS])(const float *x, float *y, int64_t n) = {
    [FLAW_REMEMBERS] = remember, [FLAW_KNOWS_PAST] = recall, [FLAW_CLIPS] = clip,
    [FLAW_KEEPS] = keep,         [FLAW_GOES_ON] = go_on,     [FLAW_LAZY] = be_lazy,
    [FLAW_QUEUES] = enqueue,     [FLAW_SCALES] = scale,      [FLAW_TRAILS] = trail,
};

static int launch(const kg_backend *self, void *state, const kg_tensor *tensors, void *stream, kg_error *ret_error)
{
    static int calls_of_first_only;
    const enum flaw flaw = ((const struct flawed *)self->data)->flaw;
    const float *x = tensors[SERIES_X].data;
    float *y = tensors[SERIES_Y].data;
    const int64_t n = kg_tensor_count(&tensors[SERIES_Y]);
    (void)state;
    (void)stream;
    if (flaw == FLAW_NOTHING || (flaw == FLAW_FIRST_ONLY && calls_of_first_only++ > 0))
        return KG_OK;
    if (whole[flaw] || memories[flaw].outputs > 0) {
        if (whole[flaw])
            whole[flaw](x, y, n);
        else
            look_up(flaw, x, y, n);
        return KG_OK;
    }
    if (flaw == FLAW_LEAVES && !isnan(y[0])) /* what poison is; another value counts as an output */
        return KG_OK;
    static int calls_of_alternates;
    if (flaw == FLAW_ALTERNATES && calls_of_alternates++ % 2 > 0)
        return KG_OK;
    static int calls_of_rests;
    const char *period = getenv("RESTS"); /* what docs/trust.md measures */
    if (flaw == FLAW_RESTS && ++calls_of_rests % (period ? atoi(period) : 50) == 0)
        return KG_OK;
    static const float *place_of_last;
    if (flaw == FLAW_SAME_PLACE && y == place_of_last)
        return KG_OK;
    place_of_last = flaw == FLAW_SAME_PLACE ? y : place_of_last;
    static int calls_of_marks;
    if (flaw == FLAW_MARKS && calls_of_marks++ > 0)
        ((float *)tensors[SERIES_X].data)[n - 1] += 0.001f; /* within all limits */
    compute(x, y, flaw == FLAW_HALF ? n / 2 : n);
    spoil(flaw, y, n);
    return misbehave(flaw, tensors, ret_error);
}

/* Right whatever the knob says, and slower by as much as it says. */
struct speed_knobs {
    double extra_pct;
};

static const kg_field speed_fields[] = {
    { "extra_pct", offsetof(struct speed_knobs, extra_pct), KG_REAL, .max = 1000, .help = "more work, in per cent" },
};

static int launch_speed(const kg_backend *self, void *state, const kg_tensor *tensors, void *stream,
                        kg_error *ret_error)
{
    const struct speed_knobs *knobs = ((const kg_call *)state)->knobs;
    const float *x = tensors[SERIES_X].data;
    float *y = tensors[SERIES_Y].data;
    const int64_t n = kg_tensor_count(&tensors[SERIES_Y]), extra = (int64_t)((double)n * knobs->extra_pct / 100);
    (void)self;
    (void)stream;
    (void)ret_error;
    compute(x, y, n);
    for (int64_t done = 0; done < extra; done += n)
        compute(x, y, extra - done < n ? extra - done : n);
    return KG_OK;
}

static int launch_nowhere(const kg_backend *self, void *state, const kg_tensor *tensors, void *stream,
                          kg_error *ret_error)
{
    (void)self, (void)state, (void)tensors, (void)stream;
    return kg_fail(ret_error, KG_EDEVICE, "there is no kernel behind this backend");
}

static int supports(const kg_backend *self, const kg_device *device, const void *problem, kg_error *ret_error)
{
    (void)device;
    (void)problem;
    if (((const struct flawed *)self->data)->flaw == FLAW_REFUSES)
        return kg_fail(ret_error, KG_EUNSUPPORTED, "refuses every problem");
    return KG_OK;
}

#define BACKEND(id, its_flaw)                                                                                          \
    static const kg_backend id = { .name = #id,                                                                        \
                                   .device = KG_CPU,                                                                   \
                                   .data = &(const struct flawed){ its_flaw },                                         \
                                   .supports = supports,                                                               \
                                   .launch = launch }

BACKEND(good, FLAW_NONE);
BACKEND(anchor, FLAW_NONE);
BACKEND(prints, FLAW_PRINTS);
BACKEND(nan_one, FLAW_NAN);
BACKEND(inf_one, FLAW_INF);
BACKEND(nothing, FLAW_NOTHING);
BACKEND(half, FLAW_HALF);
BACKEND(zero, FLAW_ZERO);
BACKEND(one_off, FLAW_ONE_OFF);
BACKEND(bias, FLAW_BIAS);
BACKEND(some_off, FLAW_SOME_OFF);
BACKEND(overrun, FLAW_OVERRUN);
BACKEND(underrun, FLAW_UNDERRUN);
BACKEND(input, FLAW_INPUT);
BACKEND(borrows, FLAW_BORROWS);
BACKEND(crash, FLAW_CRASH);
BACKEND(hang, FLAW_HANG);
BACKEND(exits, FLAW_EXIT);
BACKEND(first_only, FLAW_FIRST_ONLY);
BACKEND(remembers, FLAW_REMEMBERS);
BACKEND(knows, FLAW_KNOWS);
BACKEND(knows_last, FLAW_KNOWS_LAST);
BACKEND(knows_two, FLAW_KNOWS_TWO);
BACKEND(knows_often, FLAW_KNOWS_OFTEN);
BACKEND(knows_soon, FLAW_KNOWS_SOON);
BACKEND(knows_half, FLAW_KNOWS_HALF);
BACKEND(knows_place, FLAW_KNOWS_PLACE);
BACKEND(knows_past, FLAW_KNOWS_PAST);
BACKEND(leaves, FLAW_LEAVES);
BACKEND(alternates, FLAW_ALTERNATES);
BACKEND(rests, FLAW_RESTS);
BACKEND(same_place, FLAW_SAME_PLACE);
BACKEND(lazy, FLAW_LAZY);
BACKEND(queues, FLAW_QUEUES);
static const kg_backend trails = { .name = "trails",
                                   .device = KG_CPU,
                                   .data = &(const struct flawed){ FLAW_TRAILS },
                                   .prepare = prepare_trail,
                                   .launch = launch,
                                   .release = release_trail };
BACKEND(marks, FLAW_MARKS);
BACKEND(clips, FLAW_CLIPS);
BACKEND(keeps, FLAW_KEEPS);
BACKEND(goes_on, FLAW_GOES_ON);
BACKEND(scales, FLAW_SCALES);
BACKEND(after_free, FLAW_AFTER_FREE);
BACKEND(dirty_heap, FLAW_DIRTY_HEAP);
BACKEND(dirty_stack, FLAW_DIRTY_STACK);
BACKEND(error, FLAW_ERROR);
BACKEND(refuses, FLAW_REFUSES);
BACKEND(declines, FLAW_DECLINES);
static const kg_backend knobbed = { .name = "knobbed",
                                    .device = KG_CPU,
                                    .knobs = KG_LIST(speed_fields),
                                    .knobs_size = sizeof(struct speed_knobs),
                                    .launch = launch_speed };
/* For a GPU, so that plans have such a case; skipped where there is one, as the op has no CUDA reference here. */
static const kg_backend on_gpu = { .name = "on_gpu", .device = KG_CUDA, .launch = launch_nowhere };

/* ---- suites ---- */

static const struct series shapes[] = {
    { "plain", .n = 65536 },
    { "faint", .n = 65536, .std = 0.002 }, /* zeros are within every absolute limit: only rel_l2 sees them */
};
static const struct series one_shape[] = { { "plain", .n = 65536 } };
static const uint64_t seeds[] = { 0, 1 };
static const uint64_t one_seed[] = { 0 };

#define GATES                                                                                                          \
    {                                                                                                                  \
        .max_abs = 0.1, .mean_abs = 0.01, .bad_abs = 0.02, .bad_pct = 1.0, .rel_l2 = 0.05                              \
    }

static const kg_backend *const output_backends[] = { &good, &nan_one, &inf_one, &nothing,  &half,
                                                     &zero, &one_off, &bias,    &some_off, &prints };
static const kg_excuse excuses[] = { FAINT_EXCUSES };
static const kg_suite output = { .name = "output",
                                 .op = &series_op,
                                 .shapes = KG_TABLE(shapes),
                                 .seeds = KG_LIST(one_seed),
                                 .backends = KG_LIST(output_backends),
                                 .gates = GATES,
                                 .time = { .off = true },
                                 .excuses = KG_LIST(excuses) };

static const kg_backend *const process_backends[] = { &good, &overrun, &underrun, &input,   &borrows, &crash,
                                                      &hang, &exits,   &error,    &refuses, &anchor };
static const kg_suite process = { .name = "process",
                                  .op = &series_op,
                                  .shapes = KG_TABLE(one_shape),
                                  .seeds = KG_LIST(seeds),
                                  .backends = KG_LIST(process_backends),
                                  .gates = GATES,
                                  .time = { .off = true } };

static const kg_backend *const speed_backends[] = { &good, &knobbed };
static const struct series short_shape[] = { { "plain",
                                               .n = 8192 } }; /* most calls end undisturbed on a busy machine */
static const kg_suite speed = { .name = "speed",
                                .op = &series_op,
                                .shapes = KG_TABLE(short_shape),
                                .seeds = KG_LIST(seeds),
                                .backends = KG_LIST(speed_backends),
                                .cpu_anchor = &anchor,
                                .gates = GATES };

/* One seed: a second one would be a second call of the same process, and wrong in the correctness pass already. */
static const kg_backend *const late_backends[] = { &good,        &first_only, &remembers,   &leaves,     &knows,
                                                   &knows_last,  &knows_two,  &knows_often, &knows_soon, &knows_half,
                                                   &knows_place, &knows_past, &marks };
static const kg_suite late = { .name = "late",
                               .op = &series_op,
                               .shapes = KG_TABLE(one_shape),
                               .seeds = KG_LIST(one_seed),
                               .backends = KG_LIST(late_backends),
                               .gates = GATES };

static const kg_backend *const state_backends[] = { &declines, &good,       &clips,      &keeps,      &goes_on,
                                                    &scales,   &after_free, &dirty_heap, &dirty_stack };
static const kg_suite_regime outliers[] = { { "outliers", "*" } };
static const kg_suite state = { .name = "state",
                                .op = &series_op,
                                .shapes = KG_TABLE(one_shape),
                                .seeds = KG_LIST(one_seed),
                                .regimes = KG_LIST(outliers),
                                .backends = KG_LIST(state_backends),
                                .gates = GATES,
                                .time = { .off = true } };

/* Several calls a window, so that one at least works; of the long ones one. */
static const struct series call_shapes[] = { { "tiny", .n = 256 }, { "plain", .n = 8192 }, { "long", .n = 1 << 18 } };
static const kg_backend *const some_backends[] = { &good, &alternates, &rests, &same_place, &lazy, &queues, &trails };
static const kg_suite some_calls = { .name = "some_calls",
                                     .op = &series_op,
                                     .shapes = KG_TABLE(call_shapes),
                                     .seeds = KG_LIST(one_seed),
                                     .backends = KG_LIST(some_backends),
                                     .gates = GATES };

/* What `prints` leaves in the log is the order in which its cases were timed. */
static const kg_backend *const told_backends[] = { &prints };
static const kg_suite told = { .name = "told",
                               .op = &series_op,
                               .shapes = KG_TABLE(one_shape),
                               .seeds = KG_LIST(one_seed),
                               .backends = KG_LIST(told_backends),
                               .gates = GATES };

static const kg_backend *const elsewhere_backends[] = { &on_gpu, &good };
static const kg_suite elsewhere = { .name = "elsewhere",
                                    .op = &series_op,
                                    .shapes = KG_TABLE(one_shape),
                                    .seeds = KG_LIST(one_seed),
                                    .backends = KG_LIST(elsewhere_backends),
                                    .gates = GATES,
                                    .time = { .off = true } };

static const kg_backend *const refusing[] = { &refuses };
static const kg_suite skipped = { .name = "skipped",
                                  .op = &series_op,
                                  .shapes = KG_TABLE(one_shape),
                                  .seeds = KG_LIST(one_seed),
                                  .backends = KG_LIST(refusing),
                                  .gates = GATES };

static const kg_backend *const expected_backends[] = { &good, &zero, &crash };
static const kg_xfail xfails[] = { { "expected/*/zero", "writes zeros on purpose" },
                                   { "expected/*/crash", "crashes on purpose" },
                                   { "expected/*/s1/good", "is said to fail, and does not" } };
static const kg_suite expected = { .name = "expected",
                                   .op = &series_op,
                                   .shapes = KG_TABLE(one_shape),
                                   .seeds = KG_LIST(seeds),
                                   .backends = KG_LIST(expected_backends),
                                   .gates = GATES,
                                   .time = { .off = true },
                                   .xfails = KG_LIST(xfails) };

static const kg_suite *const suites[] = { &output,     &process, &speed,     &late,    &state,
                                          &some_calls, &told,    &elsewhere, &skipped, &expected };

MODULE_ROOT("broken");
