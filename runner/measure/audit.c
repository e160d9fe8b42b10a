/* audit.c -- times single calls on seen and unseen inputs, by turns. */
#include "measure/audit.h"

#include "base/clock.h"
#include "base/random.h"
#include "base/stats.h"
#include "measure/inputs.h"

enum { TURNS = 15, MOST_HONEST = 12 }; /* of 15 coins 13 heads or more: 0.4%, twice in a row 1 in 70,000 */
#define CALLS_BEFORE 16
#define BEFORE_S 4e-3
#define GAP_PCT 5
#define GAP_US 1

struct audit {
    struct kg_arm *arm;
    const struct kg_fixture *fixture;
    kg_window *call; /* one, on set 0 */
    uint64_t seed;   /* of inputs that nobody has seen, one further each time */
};

static int fill(struct audit *a, uint64_t seed, kg_error *ret_error)
{
    struct kg_prepared *prepared = a->arm->prepared;
    int status = kg_inputs_fill(&prepared->ring[0], seed, ret_error);
    return status ? status : kg_prepared_restage(prepared, 0, a->fixture->context, ret_error);
}

/* What a window does on the inputs that stand there, and again until so many calls or so much time: a kernel that keeps
 * the outputs of a few inputs, or of those that it is called on again and again, has kept what it keeps while timed. */
static int run_windows(struct audit *a, kg_error *ret_error)
{
    struct kg_prepared *prepared = a->arm->prepared;
    const double end_s = kg_now_s() + BEFORE_S;
    double us;
    int status = KG_OK;
    for (int calls = 0; calls < CALLS_BEFORE && (calls == 0 || kg_now_s() < end_s) && !status; calls += a->arm->calls) {
        prepared->set = prepared->rotates ? 0 : prepared->set;
        status = kg_device_measure(prepared->context, a->arm->windows, 1, &us, ret_error);
    }
    return status;
}

static int time_on(struct audit *a, uint64_t before, uint64_t seed, double *ret_us, kg_error *ret_error)
{
    int status = fill(a, before, ret_error);
    if (!status)
        status = run_windows(a, ret_error);
    if (!status)
        status = fill(a, seed, ret_error);
    return status ? status : kg_device_measure(a->arm->prepared->context, &a->call, 1, ret_us, ret_error);
}

/* How many turns of the batch took longer on unseen inputs; it ends where those left cannot make them too many. */
static int run_batch(struct audit *a, double ret_us[2][TURNS], int *ret_longer, kg_error *ret_error)
{
    int status = KG_OK;
    *ret_longer = 0;
    for (int turn = 0; turn < TURNS && turn - *ret_longer < TURNS - MOST_HONEST && !status; turn++) {
        for (int i = 0; i < 2 && !status; i++) {
            const int unseen = (i + turn) % 2;
            const uint64_t seen = a->fixture->of.seed;
            const uint64_t before = unseen ? kg_mix64(a->seed++) : seen;
            status = time_on(a, before, unseen ? kg_mix64(a->seed++) : seen, &ret_us[unseen][turn], ret_error);
        }
        const double seen_us = ret_us[0][turn], unseen_us = ret_us[1][turn];
        *ret_longer += unseen_us > seen_us * (1 + GAP_PCT / 100.0) && unseen_us > seen_us + GAP_US;
    }
    return status;
}

int kg_audit_inputs(struct kg_arm *arm, const struct kg_fixture *fixture, uint64_t seed, kg_error *ret_error)
{
    struct audit a = { .arm = arm, .fixture = fixture, .seed = seed };
    double us[2][TURNS];
    int longer = TURNS;
    int status = kg_arm_single(arm, 0, &a.call, ret_error);
    for (int batch = 0; batch < 2 && longer > MOST_HONEST && !status; batch++)
        status = run_batch(&a, us, &longer, ret_error);
    if (a.call)
        arm->prepared->context->ops->window_free(arm->prepared->context, a.call);
    if (!status && longer > MOST_HONEST)
        status = kg_fail(ret_error, KG_EDEVICE, "a call takes %.1f us on inputs that were seen before, %.1f on others",
                         kg_median(us[0], TURNS), kg_median(us[1], TURNS));
    return status;
}
