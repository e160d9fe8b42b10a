/* two_builds.c -- a case of the other build beside the baseline's own: what is asked of both, and whose a failure is.
 * Without the other build the case is alone. */
#include "worker/two_builds.h"

#include <string.h>

#include "base/random.h"
#include "worker/identity.h"
#include "worker/phase.h"

static void say_whose(const char *whose, kg_error *error)
{
    const kg_error cause = *error;
    snprintf(error->text, sizeof error->text, "%s: %.*s", whose, (int)sizeof error->text - 60, cause.text);
}

int kg_blame_baseline(struct kg_worker *w, int status, kg_error *error)
{
    w->ready.baseline_broken = status != KG_OK;
    if (status)
        say_whose("the baseline", error);
    return status;
}

bool kg_failed_by_baseline(const struct kg_arms *arms)
{
    return arms->prepared[KG_ARM_BASELINE].failed && !arms->prepared[KG_ARM_CASE].failed;
}

int kg_note_refusal(struct kg_worker *w, enum kg_refusal by, int status)
{
    if (status == KG_EUNSUPPORTED)
        w->refusal = by;
    return status;
}

/* It may run on the buffers. */
static int prepare_baseline(struct kg_worker *w, struct kg_arms *arms, kg_error *ret_error)
{
    kg_phase_begin(w, arms->one, KG_BASELINE_PREPARE);
    int status = kg_arms_baseline(arms, ret_error);
    if (!status)
        status = kg_check_fixture(w, ret_error);
    return status == KG_EUNSUPPORTED ? status : kg_blame_baseline(w, status, ret_error);
}

/* Where the baseline cannot run the case, the case is new: there is nothing to judge its time against. One that ran in
 * the first round can. */
static int call_new(struct kg_worker *w, struct kg_arms *arms, kg_error *error)
{
    if (w->job->round > 1)
        return kg_blame_baseline(w, KG_EUNSUPPORTED, error);
    kg_arms_drop(arms, KG_ARM_BASELINE);
    w->ready.is_new = true;
    snprintf(w->ready.note, sizeof w->ready.note, "the baseline does not run here: %s", error->text);
    return KG_OK;
}

int kg_prepare_both(struct kg_worker *w, struct kg_arms *arms, kg_error *ret_error)
{
    const struct kg_job_case *one = arms->one;
    kg_phase_begin(w, one, KG_PREPARE);
    int status = kg_note_refusal(w, KG_REFUSED_BY_BUILD, kg_arms_case(arms, ret_error));
    if (status || !arms->twin || !(one->time || one->check_baseline))
        return status;
    status = prepare_baseline(w, arms, ret_error);
    return status == KG_EUNSUPPORTED ? call_new(w, arms, ret_error) : status;
}

/* What it overwrote shows at once, and whose launch it was. */
static int launch_arm(struct kg_worker *w, struct kg_arms *arms, int arm, kg_error *ret_error)
{
    kg_phase_begin(w, arms->one, KG_CORRECTNESS);
    if (arm == KG_ARM_BASELINE)
        kg_phase_begin(w, arms->one, KG_BASELINE_LAUNCH);
    int status = kg_arms_launch(arms, arm, ret_error);
    if (!status)
        status = kg_check_fixture(w, ret_error);
    return status ? status : kg_prepared_check_workspace(&arms->prepared[arm], 0, ret_error);
}

static int launch_baseline(struct kg_worker *w, struct kg_arms *arms, kg_error *ret_error)
{
    int status = launch_arm(w, arms, KG_ARM_BASELINE, ret_error);
    return status == KG_EUNSUPPORTED ? status : kg_blame_baseline(w, status, ret_error);
}

int kg_launch_both(struct kg_worker *w, struct kg_arms *arms, kg_error *ret_error)
{
    if (!arms->prepared[KG_ARM_BASELINE].backend)
        return KG_OK;
    int status = kg_note_refusal(w, KG_REFUSED_BY_BUILD, launch_arm(w, arms, KG_ARM_CASE, ret_error));
    if (!status)
        status = launch_baseline(w, arms, ret_error);
    return status == KG_EUNSUPPORTED && w->refusal == KG_REFUSED_BY_NOBODY ? call_new(w, arms, ret_error) : status;
}

int kg_check_baseline(struct kg_worker *w, struct kg_arms *arms, kg_error *ret_error)
{
    struct kg_comparison comparison;
    if (!arms->one->check_baseline || !arms->prepared[KG_ARM_BASELINE].backend)
        return KG_OK;
    int status = kg_buffers_poison(&w->fixture.buffers, ret_error);
    if (!status)
        status = launch_arm(w, arms, KG_ARM_BASELINE, ret_error);
    if (!status)
        status = kg_fixture_compare(&w->fixture, &w->fixture.buffers, &comparison, ret_error);
    if (!status && !kg_fixture_accepts(&w->fixture, &comparison))
        status = kg_fail(ret_error, KG_EINVAL, "its output is wrong by its own gates: max |err| %.3g, %llu unwritten",
                         comparison.max_abs, (unsigned long long)comparison.unwritten);
    kg_phase_begin(w, arms->one, KG_CORRECTNESS);
    return kg_blame_baseline(w, status, ret_error);
}

/* It was launched before: a refusal now is a failure. */
int kg_identify_baseline(struct kg_worker *w, struct kg_arms *arms, kg_error *ret_error)
{
    struct kg_result *r = &w->ready;
    if (!arms->twin)
        return KG_OK;
    kg_phase_begin(w, arms->one, KG_BASELINE_LAUNCH);
    int status = kg_arms_identity(arms, KG_ARM_BASELINE, r->baseline_identity, sizeof r->baseline_identity, ret_error);
    kg_phase_begin(w, arms->one, KG_TIMING);
    return kg_blame_baseline(w, status, ret_error);
}

static int run_baseline(struct kg_worker *w, struct kg_arms *arms, kg_error *ret_error)
{
    int status = arms->prepared[KG_ARM_BASELINE].backend ? KG_OK : prepare_baseline(w, arms, ret_error);
    return status ? status : launch_baseline(w, arms, ret_error);
}

/* A case that this build refuses is skipped, unless the baseline runs it. Only before it was checked can it be refused.
 * Returns the status of what failed last. */
int kg_find_fault(struct kg_worker *w, struct kg_arms *arms, int status, enum kg_message_type *ret_type,
                  kg_error *error)
{
    kg_error its = { 0 };
    *ret_type = w->ready.baseline_broken ? KG_MESSAGE_BASELINE_BROKEN : KG_MESSAGE_BROKEN;
    if (status != KG_EUNSUPPORTED || w->ready.baseline_broken)
        return status;
    if (!arms->one->check || w->refusal == KG_REFUSED_BY_NOBODY) {
        say_whose("it ran when it was checked, now", error);
        return status;
    }
    *ret_type = KG_MESSAGE_SKIP;
    if (w->refusal == KG_REFUSED_BY_FIXTURE || !arms->twin)
        return status;
    const int its_status = run_baseline(w, arms, &its);
    if (its_status == KG_EUNSUPPORTED)
        return status;
    *ret_type = its_status ? KG_MESSAGE_BASELINE_BROKEN : KG_MESSAGE_LOST;
    if (its_status)
        *error = its;
    else
        say_whose("the baseline runs here, this build does not", error);
    return its_status ? its_status : status;
}
