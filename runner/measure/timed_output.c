/* timed_output.c -- compares by digest first: the reference is asked only for an output that is new. */
#include "measure/timed_output.h"

#include "base/clock.h"
#include "base/random.h"
#include "measure/audit.h"

#define SINGLES 16      /* set by set; one set is called alone so often */
#define SINGLES_S 0.05  /* none but the first BEFORES begins later */
#define BEFORES 4       /* numbers of calls before the inputs are exchanged: 0 to 3 */
#define IN_A_ROW 128    /* calls of a CPU, each of them checked: a kernel may rest at one of fifty */
#define IN_A_ROW_S 0.03 /* none begins later */

static int check_surroundings(const struct kg_fixture *fixture, const struct kg_prepared *prepared, int at,
                              kg_error *ret_error)
{
    return kg_prepared_check_surroundings(prepared, fixture, at, "the timed calls wrote into their inputs", ret_error);
}

/* `digest`: of an output that is known to be right, 0: none is; replaced by this one's where that is right too. The
 * output is read first, and once more: a thread that is still at work on it is met. */
static int check_set(struct kg_fixture *fixture, const struct kg_prepared *prepared, int at, uint64_t *digest,
                     const char *wrong, kg_error *ret_error)
{
    struct kg_comparison comparison;
    uint64_t timed = 0, later = 0;
    int status = kg_buffers_digest(&prepared->ring[at], KG_OUTPUT, &timed, ret_error);
    if (!status)
        status = check_surroundings(fixture, prepared, at, ret_error);
    if (status || timed == *digest)
        return status;
    status = kg_fixture_compare(fixture, &prepared->ring[at], &comparison, ret_error);
    if (!status)
        status = kg_buffers_digest(&prepared->ring[at], KG_OUTPUT, &later, ret_error);
    if (status)
        return status;
    if (later != timed)
        return kg_fail(ret_error, KG_EDEVICE, "its output changed when it had returned");
    if (!kg_fixture_accepts(fixture, &comparison))
        return kg_fail(ret_error, KG_EDEVICE, "%s: max |err| %.3g, %llu unwritten", wrong, comparison.max_abs,
                       (unsigned long long)comparison.unwritten);
    *digest = timed;
    return KG_OK;
}

static int check_sets(struct kg_fixture *fixture, const struct kg_prepared *prepared, int sets, uint64_t *digest,
                      const char *wrong, kg_error *ret_error)
{
    int status = KG_OK;
    for (int at = 0; at < sets && !status; at++)
        status = check_set(fixture, prepared, at, digest, wrong, ret_error);
    return status;
}

/* Of a cold ring one window walks all sets; few single calls do not get all the way round. */
static int sets_of(const struct kg_arm *arm)
{
    const struct kg_prepared *prepared = arm->prepared;
    if (!prepared->rotates)
        return arm->n_windows;
    return prepared->n_ring < arm->calls ? prepared->n_ring : arm->calls;
}

static int check_timed(struct kg_timed_output *t, struct kg_arm *arm, struct kg_arm *baseline, kg_error *ret_error)
{
    uint64_t digest = t->digest;
    int status = check_sets(t->fixture, arm->prepared, arm->prepared->n_used, &digest,
                            "the timed calls gave another output than the checked one", ret_error);
    if (status || !baseline)
        return status;
    status = check_sets(t->fixture, baseline->prepared, baseline->prepared->n_used, &digest,
                        "its output is wrong by its own gates", ret_error);
    t->baseline_wrong = status != KG_OK;
    return status;
}

static int n_single_sets(const struct kg_arm *arm)
{
    const int sets = sets_of(arm);
    return sets < KG_MAX_SETS ? sets : KG_MAX_SETS;
}

/* Behind so many calls that nobody looks at. The other inputs go in by turns: a set that comes back has what it began
 * with. */
static int check_single(struct kg_timed_output *t, struct kg_arm *arm, int number, uint64_t before, uint64_t digests[2],
                        kg_error *ret_error)
{
    const int sets = n_single_sets(arm), at = number % sets, which = number / sets % 2;
    struct kg_fixture *next = which ? t->other : t->fixture;
    kg_window *call = NULL;
    int status = kg_arm_single(arm, at, &call, ret_error);
    for (uint64_t left = before; left > 0 && !status; left--)
        status = kg_arm_run_single(arm, call, false, ret_error);
    if (!status)
        status = kg_prepared_exchange_inputs(arm->prepared, at, 1, next, ret_error);
    if (!status)
        status = kg_arm_run_single(arm, call, false, ret_error);
    kg_arm_free_single(arm, call);
    return status ? status
                  : check_set(next, arm->prepared, at, &digests[which],
                              "called alone on other inputs it gave a wrong output", ret_error);
}

/* Four have the four numbers of calls before them, in an order that is drawn: a kernel may rest at every second to
 * fourth call. */
static int check_singles(struct kg_timed_output *t, struct kg_arm *arm, uint64_t digests[2], kg_error *ret_error)
{
    const double end_s = kg_now_s() + SINGLES_S;
    int status = KG_OK;
    for (int i = 0; i < SINGLES && (i < BEFORES || kg_now_s() < end_s) && !status; i++) {
        const uint64_t group = (uint64_t)i / BEFORES;
        const uint64_t before = (kg_mix64(t->seed + group) + (uint64_t)i) % BEFORES;
        status = check_single(t, arm, i, before, digests, ret_error);
    }
    return status;
}

/* Calls of a CPU alone: a GPU's are captured once, so that its host code cannot count them. */
static int check_in_a_row(struct kg_timed_output *t, struct kg_arm *arm, uint64_t digests[2], kg_error *ret_error)
{
    const double end_s = kg_now_s() + IN_A_ROW_S;
    int status = KG_OK;
    if (arm->prepared->backend->device != KG_CPU)
        return KG_OK;
    for (int i = 0; i < IN_A_ROW && kg_now_s() < end_s && !status; i++)
        status = check_single(t, arm, i, 0, digests, ret_error);
    return status;
}

/* Behind the calls of a window, on a set that they do not take; three times, since it may hold the output of either
 * inputs at first. A window over a cold ring leaves no set out. */
static int check_behind(struct kg_timed_output *t, struct kg_arm *arm, uint64_t digests[2], kg_error *ret_error)
{
    const int at = arm->prepared->n_ring - 1;
    kg_window *call = NULL;
    if (arm->prepared->rotates || at < 1)
        return KG_OK;
    int status = kg_arm_single(arm, at, &call, ret_error);
    for (int i = 0; i < 3 && !status; i++) {
        struct kg_fixture *next = i % 2 ? t->other : t->fixture;
        status = kg_prepared_exchange_inputs(arm->prepared, at, 1, next, ret_error);
        if (!status)
            status = kg_arm_run_single(arm, call, true, ret_error);
        if (!status)
            status = check_set(next, arm->prepared, at, &digests[i % 2],
                               "called right behind others, on other inputs, it gave a wrong output", ret_error);
    }
    kg_arm_free_single(arm, call);
    return status;
}

static int check_other(struct kg_timed_output *t, struct kg_arm *arm, kg_error *ret_error)
{
    uint64_t digests[2] = { t->digest, t->other_digest };
    const int sets = sets_of(arm);
    int status = kg_prepared_exchange_inputs(arm->prepared, 0, arm->prepared->n_ring, t->other, ret_error);
    if (!status)
        status = kg_arm_replay(arm, ret_error);
    if (!status)
        status = check_sets(t->other, arm->prepared, sets, &digests[1],
                            "on other inputs the timed calls gave a wrong output", ret_error);
    if (status || t->other_digest)
        return status;
    t->other_digest = digests[1];
    status = check_singles(t, arm, digests, ret_error);
    if (!status)
        status = check_behind(t, arm, digests, ret_error);
    return status ? status : check_in_a_row(t, arm, digests, ret_error);
}

int kg_timed_output_check(void *timed_output, struct kg_arm *arm, struct kg_arm *baseline, kg_error *ret_error)
{
    struct kg_timed_output *t = timed_output;
    kg_error kept;
    int status = check_timed(t, arm, baseline, ret_error);
    const int keeps = status ? KG_OK : kg_audit_kept(arm, t->fixture, t->seed, &kept);
    if (!status && t->other) /* a wrong output says more than a time */
        status = check_other(t, arm, ret_error);
    if (!status && keeps)
        status = kg_fail(ret_error, keeps, "%s", kept.text);
    return status ? status : kg_audit_inputs(arm, t->fixture, t->unseen, t->seed, ret_error);
}
