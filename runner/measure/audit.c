/* audit.c -- times single calls on seen and unseen inputs, by turns. */
#include "measure/audit.h"

#include <math.h>

#include "base/random.h"
#include "measure/inputs.h"

/* Of 15 coins 13 heads or more: 0.4%, twice in a row 1 in 70,000. That the five quickest of 30 honest calls are all on
 * seen inputs: 2%, twice 1 in 2,000, and then they are not 30% apart from the rest. */
enum { TURNS = 15, FEWEST = 4, MOST_HONEST = 12, MOST_QUICK = 4 };
/* Of eight sets' coins all heads, three times: 1 in 16 million; OFTEN windows are what a set has in a block. */
enum { FEWEST_SETS = 4, OFTEN = 64 };
#define GAP_PCT 5
#define QUICK_PCT 30
#define GAP_US 1

struct audit {
    struct kg_arm *arm;
    const struct kg_fixture *fixture;
    bool behind;               /* a window of the first set, without a pause; else alone */
    bool kept;                 /* after a window of its own set, then its inputs were written */
    bool staging;              /* all inputs are seen, and staged by turns */
    struct kg_fixture *unseen; /* whose inputs one of the first turns has: its output is looked at; NULL: none */
    int looks;                 /* in this turn */
    void *staged;              /* what is in a workspace then; NULL: the backend has none */
    int set;                   /* that is called */
    kg_window *call;           /* one, on it */
    uint64_t seed;             /* of inputs that nobody has seen, one further each time */
    double us[2][TURNS];
    int turns;
};

/* What staging leaves in a workspace, and in caches, without its being asked. */
static int put_staged(struct audit *a, int set, kg_error *ret_error)
{
    const struct kg_prepared *prepared = a->arm->prepared;
    kg_context *context = a->fixture->context;
    if (!a->staged)
        return KG_OK;
    const kg_tensor *workspace = &prepared->workspaces[set].tensors[0];
    int status = context->ops->copy(context, workspace->data, a->staged, kg_tensor_bytes(workspace), ret_error);
    if (!status)
        status = context->ops->synchronize(context, ret_error);
    return status ? status : kg_prepared_check_workspace(prepared, set, ret_error);
}

static int fill(struct audit *a, int set, uint64_t seed, bool stage, kg_error *ret_error)
{
    struct kg_prepared *prepared = a->arm->prepared;
    int status = kg_inputs_fill(&prepared->ring[set], seed, ret_error);
    if (status)
        return status;
    return stage ? kg_prepared_restage(prepared, set, a->fixture->context, ret_error) : put_staged(a, set, ret_error);
}

/* A kernel may copy only where the last call was just before. */
static int time_behind(struct audit *a, uint64_t seed, bool stage, double *ret_us, kg_error *ret_error)
{
    kg_window *const order[] = { a->arm->windows[0], a->call };
    double us[2] = { 0 };
    int status = fill(a, a->set, seed, stage, ret_error);
    if (!status)
        status = kg_device_measure(a->arm->prepared->context, order, 2, us, ret_error);
    *ret_us = us[1];
    return status;
}

/* The order of a turn changes, so in every other one the call before had the fixture's inputs too. */
static int time_alone(struct audit *a, uint64_t seed, bool stage, double *ret_us, kg_error *ret_error)
{
    struct kg_prepared *prepared = a->arm->prepared;
    const bool rotates = prepared->rotates;
    kg_window *const *window = &a->arm->windows[rotates ? 0 : a->set];
    double window_us;
    int status = a->kept ? kg_device_measure(prepared->context, window, 1, &window_us, ret_error) : KG_OK;
    if (!status)
        status = fill(a, a->set, seed, stage, ret_error);
    prepared->rotates = false; /* where nothing captures it is called now */
    if (!status)
        status = kg_device_measure(prepared->context, &a->call, 1, ret_us, ret_error);
    prepared->rotates = rotates;
    return status;
}

static int look(const struct audit *a, kg_error *ret_error)
{
    struct kg_comparison comparison;
    int status = kg_fixture_compare(a->unseen, &a->arm->prepared->ring[a->set], &comparison, ret_error);
    if (!status && !kg_fixture_nearly_accepts(a->unseen, &comparison))
        status = kg_fail(ret_error, KG_EDEVICE,
                         "timed alone on inputs of this run, it gave a wrong output: max |err| %.3g, %llu unwritten",
                         comparison.max_abs, (unsigned long long)comparison.unwritten);
    return status;
}

/* `first`: 1 where the call on unseen inputs comes first. */
static int take_turn(struct audit *a, int first, kg_error *ret_error)
{
    const uint64_t seen = a->fixture->of.seed;
    int status = KG_OK;
    for (int i = 0; i < 2 && !status; i++) {
        const int unseen = (i + first) % 2;
        double *us = &a->us[unseen][a->turns];
        const bool looks = unseen && a->unseen && a->turns == a->looks;
        const uint64_t drawn = looks ? a->unseen->of.seed : kg_mix64(a->seed++);
        status = (a->behind ? time_behind : time_alone)(a, unseen && !a->staging ? drawn : seen, unseen || !a->staging,
                                                        us, ret_error);
        if (!status && looks)
            status = look(a, ret_error);
    }
    a->turns++;
    return status;
}

/* Turns that took longer on unseen inputs. */
static int n_longer(const struct audit *a)
{
    int n = 0;
    for (int i = 0; i < a->turns; i++)
        n += a->us[1][i] > a->us[0][i] * (1 + GAP_PCT / 100.0) && a->us[1][i] > a->us[0][i] + GAP_US;
    return n;
}

static double least_us(const struct audit *a, int unseen)
{
    double least = INFINITY;
    for (int i = 0; i < a->turns; i++)
        least = fmin(least, a->us[unseen][i]);
    return least;
}

/* Calls on seen inputs that are far quicker than any on unseen ones: a kernel may copy now and then. */
static int n_quick(const struct audit *a)
{
    const double least = least_us(a, 1);
    int n = 0;
    for (int i = 0; i < a->turns; i++)
        n += a->us[0][i] < least * (1 - QUICK_PCT / 100.0) && a->us[0][i] < least - GAP_US;
    return n;
}

/* It ends where the turns that are left cannot make the longer ones too many, and no call so far was quick. */
static int run_batch(struct audit *a, bool *ret_found, kg_error *ret_error)
{
    int status = KG_OK;
    a->turns = 0;
    while (a->turns < TURNS && !status &&
           (a->turns < FEWEST || a->turns - n_longer(a) < TURNS - MOST_HONEST || n_quick(a) > 0))
        status = take_turn(a, a->turns % 2, ret_error);
    *ret_found = n_longer(a) > MOST_HONEST || n_quick(a) > MOST_QUICK;
    return status;
}

static int fail_seen(const struct audit *a, kg_error *ret_error)
{
    const char *seen = a->staging ? "where nothing was staged since the last" : "on inputs that were seen before";
    return kg_fail(ret_error, KG_EDEVICE, "a call takes %.1f us %s, %.1f %s", least_us(a, 0), seen, least_us(a, 1),
                   a->staging ? "where something was" : "on others");
}

static int run(struct audit *a, kg_error *ret_error)
{
    bool found = true;
    int status = kg_arm_single(a->arm, a->set, &a->call, ret_error);
    for (int batch = 0; batch < 2 && found && !status; batch++)
        status = run_batch(a, &found, ret_error);
    kg_arm_free_single(a->arm, a->call);
    if (!status && found)
        status = fail_seen(a, ret_error);
    return status;
}

/* In windows nothing is staged: a kernel that works only after it was does so in a single call alone. */
static int audit_staging(struct kg_arm *arm, const struct kg_fixture *fixture, int set, kg_error *ret_error)
{
    struct audit a = { .arm = arm, .fixture = fixture, .kept = true, .staging = true, .set = set };
    const struct kg_buffers *workspace = arm->prepared->workspaces ? &arm->prepared->workspaces[set] : NULL;
    const size_t bytes = workspace ? kg_tensor_bytes(workspace->tensors) : 0;
    kg_context *context = fixture->context;
    int status = fill(&a, set, fixture->of.seed, true, ret_error);
    if (!status && workspace)
        status = context->ops->allocate(context, bytes, &a.staged, ret_error);
    if (!status && workspace)
        status = context->ops->copy(context, a.staged, workspace->tensors[0].data, bytes, ret_error);
    if (!status)
        status = run(&a, ret_error);
    context->ops->release(context, a.staged);
    return status;
}

int kg_audit_inputs(struct kg_arm *arm, const struct kg_fixture *fixture, struct kg_fixture *unseen, uint64_t seed,
                    kg_error *ret_error)
{
    const struct kg_prepared *prepared = arm->prepared;
    const int sets = prepared->rotates ? prepared->n_ring : arm->n_windows;
    const bool is_behind = !prepared->rotates && prepared->n_ring > 1; /* a window over a cold ring leaves no set out */
    const uint64_t draw = kg_mix64(seed);
    const bool looks_behind = is_behind && draw / FEWEST % 2;
    struct audit alone = { .arm = arm, .fixture = fixture, .set = (int)(seed % (uint64_t)sets), .seed = seed };
    struct audit behind = {
        .arm = arm, .fixture = fixture, .behind = true, .set = prepared->n_ring - 1, .seed = ~seed
    };
    struct audit *looking = looks_behind ? &behind : &alone; /* once: inputs that it has seen it may know */
    looking->unseen = unseen;
    looking->looks = (int)(draw % FEWEST);
    int status = run(&alone, ret_error);
    if (!status && prepared->backend->stage)
        status = audit_staging(arm, fixture, alone.set, ret_error);
    if (status || !is_behind)
        return status;
    status = fill(&behind, 0, fixture->of.seed, true, ret_error);
    return status ? status : run(&behind, ret_error);
}

/* One turn a set, until one is not longer. */
static int run_sets(struct audit *a, bool *ret_found, kg_error *ret_error)
{
    const int sets = a->arm->n_windows < TURNS ? a->arm->n_windows : TURNS;
    int status = KG_OK;
    for (a->turns = 0; a->turns < sets && n_longer(a) == a->turns && !status;) {
        a->set = a->turns;
        status = kg_arm_single(a->arm, a->set, &a->call, ret_error);
        if (!status)
            status = take_turn(a, 0, ret_error);
        kg_arm_free_single(a->arm, a->call);
        a->call = NULL;
    }
    *ret_found = n_longer(a) == sets;
    return status;
}

static int call_often(struct audit *a, kg_error *ret_error)
{
    int status = KG_OK;
    for (int set = 0; set < a->arm->n_windows && !status; set++)
        status = fill(a, set, a->fixture->of.seed, true, ret_error);
    for (int i = 0; i < OFTEN && !status; i++)
        status = kg_arm_replay(a->arm, ret_error);
    return status;
}

int kg_audit_kept(struct kg_arm *arm, const struct kg_fixture *fixture, uint64_t seed, kg_error *ret_error)
{
    struct audit a = { .arm = arm, .fixture = fixture, .kept = true, .seed = kg_mix64(seed) };
    bool found = arm->n_windows >= FEWEST_SETS;
    int status = KG_OK;
    for (int batch = 0; batch < 3 && found && !status; batch++) {
        if (batch)
            status = call_often(&a, ret_error);
        if (!status)
            status = run_sets(&a, &found, ret_error);
    }
    return status || !found ? status : fail_seen(&a, ret_error);
}
