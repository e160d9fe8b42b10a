/* rude.c -- right kernels with bad manners: they end or hang when they are released or closed, leave a
 * child behind, write to the worker's pipe, print without end. And ops that describe tensors that cannot be; and a
 * module that does not survive RUDE="PLACE DEED", of constructor, destructor, check, work. */
#include "broken.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "module.h"

#define WIRE 4 /* what workers write messages to */

enum deed { RUDE_CRASHES, RUDE_EXITS, RUDE_HANGS, RUDE_CRAWLS, RUDE_DEEDS };
enum manner { RUDE_LEAVES_A_CHILD, RUDE_LEAVES_A_SESSION, RUDE_FORGES, RUDE_SCRIBBLES, RUDE_PRINTS };

static void do_it(enum deed deed)
{
    if (deed == RUDE_CRASHES)
        raise(SIGSEGV);
    if (deed == RUDE_EXITS)
        exit(0);
    while (deed == RUDE_HANGS)
        pause();
    if (deed == RUDE_CRAWLS)
        usleep(900000);
}

/* ---- wherever a process has the module ---- */

static void at(const char *place)
{
    static const char *const deeds[RUDE_DEEDS] = { "crashes", "exits", "hangs", "crawls" };
    const char *said = getenv("RUDE");
    char wanted[64];
    for (int deed = 0; said && deed < RUDE_DEEDS; deed++) {
        snprintf(wanted, sizeof wanted, "%s %s", place, deeds[deed]);
        if (!strcmp(said, wanted))
            do_it((enum deed)deed);
    }
    snprintf(wanted, sizeof wanted, "%s scribbles", place);
    if (said && !strcmp(said, wanted))
        dprintf(WIRE, "1 2 3 4\n");
}

__attribute__((constructor)) static void begin(void)
{
    at("constructor");
}

__attribute__((destructor)) static void end(void)
{
    at("destructor");
}

static int compute(const kg_tensor *tensors)
{
    const float *x = tensors[SERIES_X].data;
    float *y = tensors[SERIES_Y].data;
    for (int64_t i = 0; i < kg_tensor_count(&tensors[SERIES_Y]); i++) {
        y[i] = 0;
        for (int t = 0; t < TERMS; t++)
            y[i] = y[i] * 0.5f + x[i];
    }
    return KG_OK;
}

/* ---- released and closed ---- */

static int launch(const kg_backend *self, void *state, const kg_tensor *tensors, void *stream, kg_error *ret_error)
{
    (void)self, (void)state, (void)stream, (void)ret_error;
    return compute(tensors);
}

static int prepare(const kg_backend *self, const kg_call *call, void **ret_state, kg_identity *ret_identity,
                   kg_error *ret_error)
{
    (void)self, (void)call, (void)ret_identity, (void)ret_error;
    *ret_state = malloc(64);
    return *ret_state ? KG_OK : KG_ENOMEM;
}

static void release(const kg_backend *self, void *state)
{
    do_it(*(const enum deed *)self->data);
    free(state);
}

static int open_library(const kg_backend *self, const kg_host *host, const kg_device *device, void **ret_library,
                        kg_error *ret_error)
{
    (void)self, (void)host, (void)device, (void)ret_error;
    *ret_library = NULL;
    return KG_OK;
}

static void close_library(const kg_backend *self, void *library)
{
    (void)library;
    do_it(*(const enum deed *)self->data);
}

#define RELEASED(id, its_deed)                                                                                         \
    static const kg_backend id = { .name = #id,                                                                        \
                                   .device = KG_CPU,                                                                   \
                                   .data = &(const enum deed){ its_deed },                                             \
                                   .prepare = prepare,                                                                 \
                                   .launch = launch,                                                                   \
                                   .release = release }
#define CLOSED(id, its_deed)                                                                                           \
    static const kg_backend closed_##id = { .name = #id,                                                               \
                                            .device = KG_CPU,                                                          \
                                            .data = &(const enum deed){ its_deed },                                    \
                                            .open = open_library,                                                      \
                                            .close = close_library,                                                    \
                                            .launch = launch }

RELEASED(crashes, RUDE_CRASHES);
RELEASED(exits, RUDE_EXITS);
RELEASED(hangs, RUDE_HANGS);
CLOSED(crashes, RUDE_CRASHES);
CLOSED(exits, RUDE_EXITS);
CLOSED(hangs, RUDE_HANGS);
static const kg_backend good = { .name = "good", .device = KG_CPU, .launch = launch };

/* ---- processes, descriptors, output ---- */

/* One of a session of its own has a child in a group of its own, which nobody's end but its parent's gives away. */
static void leave_a_child(bool own_session)
{
    const pid_t child = fork();
    if (child == 0 && own_session && setsid() > 0 && fork() == 0)
        (void)setpgid(0, 0);
    while (child == 0)
        pause();
    FILE *file = fopen("child", "a");
    if (file)
        fprintf(file, "%d\n", (int)child);
    if (file)
        fclose(file);
}

/* What the worker says of a right case. */
_Noreturn static void forge(void)
{
    dprintf(WIRE, "{\"is\":\"comparison\",\"case\":0,\"digest\":\"1\",\"count\":\"8\",\"nonfinite\":\"0\","
                  "\"unwritten\":\"0\",\"bad\":\"0\",\"worst_index\":\"0\",\"max_abs\":0,\"mean_abs\":0,\"bad_pct\":0,"
                  "\"max_rel\":0,\"rel_l2\":0,\"bias\":0,\"max_scaled\":0,\"scale_l2\":0,\"slope_scale\":0,\"slope\":1,"
                  "\"largest\":1,\"worst_got\":1,\"worst_expected\":1}\n"
                  "{\"is\":\"end\",\"case\":0}\n{\"is\":\"bye\",\"case\":0}\n");
    _exit(0);
}

static void print_much(void)
{
    static char line[4096];
    memset(line, '.', sizeof line - 1);
    for (int i = 0; i < 15000; i++) /* 60 MB */
        puts(line);
    fflush(stdout);
}

static int launch_rudely(const kg_backend *self, void *state, const kg_tensor *tensors, void *stream,
                         kg_error *ret_error)
{
    (void)state, (void)stream, (void)ret_error;
    switch (*(const enum manner *)self->data) {
    case RUDE_LEAVES_A_CHILD:
        leave_a_child(false);
        break;
    case RUDE_LEAVES_A_SESSION:
        leave_a_child(true);
        break;
    case RUDE_FORGES:
        forge();
    case RUDE_SCRIBBLES:
        dprintf(WIRE, "step 1");
        break;
    case RUDE_PRINTS:
        print_much();
        break;
    }
    return compute(tensors);
}

#define LAUNCHED(id, its_manner)                                                                                       \
    static const kg_backend id = {                                                                                     \
        .name = #id, .device = KG_CPU, .data = &(const enum manner){ its_manner }, .launch = launch_rudely             \
    }
LAUNCHED(leaves_a_child, RUDE_LEAVES_A_CHILD);
LAUNCHED(leaves_a_session, RUDE_LEAVES_A_SESSION);
LAUNCHED(forges, RUDE_FORGES);
LAUNCHED(scribbles, RUDE_SCRIBBLES);
LAUNCHED(prints, RUDE_PRINTS);

/* ---- ops ---- */

enum {
    RUDE_SOUND = 1,
    RUDE_ZERO,
    RUDE_NEGATIVE,
    RUDE_OVERFLOWS,
    RUDE_FLAT,
    RUDE_DEEP,
    RUDE_NAMELESS,
    RUDE_NO_OUTPUT,
    RUDE_NO_TENSOR,
    RUDE_SMALLER /* where it is computed than where it was planned */
};
static const char *const claims[] = { "",     "sound",    "zero",      "negative",  "overflows", "flat",
                                      "deep", "nameless", "no_output", "no_tensor", "smaller",   NULL };

struct claim {
    const char *name;
    int what;
};
static const kg_field claim_fields[] = { { "what", offsetof(struct claim, what), KG_CHOICE, .choices = claims } };

static bool was_planned_here(void)
{
    char command[4096] = "";
    FILE *file = fopen("/proc/self/cmdline", "r");
    const size_t length = file ? fread(command, 1, sizeof command - 1, file) : 0;
    if (file)
        fclose(file);
    return memmem(command, length, "tables", sizeof "tables");
}

static int describe(const void *problem, kg_tensor ret_tensors[KG_MAX_TENSORS], int *ret_count)
{
    const int what = ((const struct claim *)problem)->what;
    const int64_t rows = what == RUDE_SMALLER && !was_planned_here() ? 32 : 64;
    kg_tensor x = { .name = "x", .dtype = KG_F32, .role = KG_INPUT, .rank = 2, .dims = { rows, 1 } }, y = x;
    y.name = what == RUDE_NAMELESS ? NULL : "y";
    y.role = what == RUDE_NO_OUTPUT ? KG_INPUT : KG_OUTPUT;
    y.rank = what == RUDE_FLAT ? -1 : what == RUDE_DEEP ? KG_MAX_RANK + 1 : 2;
    y.dims[1] = what == RUDE_ZERO ? 0 : what == RUDE_NEGATIVE ? -64 : 1;
    if (what == RUDE_OVERFLOWS) /* 64 elements, were they counted in 64 bits */
        y.dims[0] = (INT64_C(1) << 58) + 1, y.dims[1] = 64;
    ret_tensors[SERIES_X] = x;
    ret_tensors[SERIES_Y] = y;
    *ret_count = what == RUDE_NO_TENSOR ? 0 : 2;
    return KG_OK;
}

static int reference(const void *problem, const kg_tensor *tensors, kg_error *ret_error)
{
    (void)problem, (void)ret_error;
    return compute(tensors);
}

static double work(const void *problem)
{
    (void)problem;
    at("work");
    return 1e4;
}

static int check(const void *problem, kg_error *ret_error)
{
    (void)problem, (void)ret_error;
    at("check");
    return KG_OK;
}

static const kg_op claim_op = { .name = "claim",
                                .problem_size = sizeof(struct claim),
                                .fields = KG_LIST(claim_fields),
                                .check = check,
                                .tensors = describe,
                                .reference_cpu = reference,
                                .flops = work,
                                .bytes = work };

/* ---- suites ---- */

static const struct series shapes[] = { { "plain", .n = 8192 } };
static const struct claim claim_rows[] = { { "sound", RUDE_SOUND },         { "zero", RUDE_ZERO },
                                           { "negative", RUDE_NEGATIVE },   { "overflows", RUDE_OVERFLOWS },
                                           { "flat", RUDE_FLAT },           { "deep", RUDE_DEEP },
                                           { "nameless", RUDE_NAMELESS },   { "no_output", RUDE_NO_OUTPUT },
                                           { "no_tensor", RUDE_NO_TENSOR }, { "smaller", RUDE_SMALLER } };
static const uint64_t seeds[] = { 0 };
static const kg_backend *const releases[] = { &good, &crashes, &exits, &hangs };
static const kg_backend *const closes[] = { &good, &closed_crashes, &closed_exits, &closed_hangs };
static const kg_backend *const manners[] = { &good, &leaves_a_child, &leaves_a_session, &forges, &scribbles, &prints };
static const kg_backend *const claimed[] = { &good };

#define SUITE(id, its_op, rows, its_backends)                                                                          \
    static const kg_suite id = {                                                                                       \
        .name = #id,                                                                                                   \
        .op = &its_op,                                                                                                 \
        .shapes = KG_TABLE(rows),                                                                                      \
        .seeds = KG_LIST(seeds),                                                                                       \
        .backends = KG_LIST(its_backends),                                                                             \
        .time = { .off = true },                                                                                       \
        .gates = { .max_abs = 0.1, .mean_abs = 0.01, .bad_abs = 0.02, .bad_pct = 1.0, .rel_l2 = 0.05 }                 \
    }
SUITE(release_of, series_op, shapes, releases);
SUITE(close_of, series_op, shapes, closes);
SUITE(manner, series_op, shapes, manners);
SUITE(claim, claim_op, claim_rows, claimed);
static const kg_suite *const suites[] = { &release_of, &close_of, &manner, &claim };

MODULE_ROOT("rude");
