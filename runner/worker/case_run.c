/* case_run.c -- one case: prepare, correctness, timing. What goes wrong with it is told in a message. */
#include "worker/case_run.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/random.h"
#include "measure/fixture_strength.h"
#include "measure/guarded.h"
#include "measure/known.h"
#include "measure/renewed.h"
#include "measure/repeat.h"
#include "measure/staged.h"
#include "measure/timed_output.h"
#include "worker/identity.h"
#include "worker/phase.h"
#include "worker/twin.h"
#include "worker/two_builds.h"
#include "worker/wire.h"

/* Nothing outside the outputs may have changed. */
int kg_check_fixture(struct kg_worker *w, kg_error *ret_error)
{
    uint64_t inputs = 0;
    int status = kg_buffers_check_guards(&w->fixture.buffers, ret_error);
    if (!status)
        status = kg_buffers_digest(&w->fixture.buffers, KG_INPUT, &inputs, ret_error);
    if (!status && inputs != w->fixture.input_digest)
        status = kg_fail(ret_error, KG_EDEVICE, "wrote into its inputs");
    return status;
}

/* ---- prepare ---- */

static int use_fixture(struct kg_worker *w, struct kg_fixture *fixture, const struct kg_case *of, kg_error *ret_error)
{
    if (kg_fixture_serves(fixture, of))
        return KG_OK;
    kg_fixture_done(fixture);
    return kg_fixture_new(w->context, of, fixture, ret_error);
}

uint64_t kg_seed_of(const struct kg_worker *w, const struct kg_job_case *one)
{
    return kg_mix64(w->job->order_seed + one->index);
}

/* Of the backend that runs, as the build has it whose gates hold; tight where that does not know it. */
static const void *arithmetic_of(const struct kg_job_case *one, const char *running)
{
    const kg_backend *backend = kg_suite_backend(one->of.suite, running);
    for (const kg_backend *const *c = one->of.backend->candidates; !backend && c && *c; c++)
        if (!strcmp((*c)->name, running))
            backend = *c;
    return backend ? backend->arithmetic : NULL;
}

static int prepare(struct kg_worker *w, struct kg_arms *arms, const struct kg_job_case *one, kg_error *ret_error)
{
    int status = kg_note_refusal(w, KG_REFUSED_BY_FIXTURE, use_fixture(w, &w->fixture, &one->of, ret_error));
    *arms =
        (struct kg_arms){ .host = &w->host, .fixture = &w->fixture, .one = one, .module = &w->module, .twin = w->twin };
    if (!status)
        status = kg_prepare_both(w, arms, ret_error);
    if (!status)
        kg_fixture_set_arithmetic(&w->fixture, arithmetic_of(one, arms->prepared[KG_ARM_CASE].backend->name));
    return status;
}

/* A READY message of what is known by now. */
static void tell_ready(struct kg_worker *w, const struct kg_arms *arms)
{
    const struct kg_prepared *prepared = &arms->prepared[KG_ARM_CASE];
    struct kg_result *r = &w->ready;
    snprintf(r->backend, sizeof r->backend, "%s", prepared->backend->name);
    snprintf(r->pin, sizeof r->pin, "%s", prepared->identity.pin);
    snprintf(r->anchor_pin, sizeof r->anchor_pin, "%s", arms->prepared[KG_ARM_ANCHOR].identity.pin);
    snprintf(r->baseline_pin, sizeof r->baseline_pin, "%s", arms->prepared[KG_ARM_BASELINE].identity.pin);
    r->prepare_ms = prepared->prepare_ms;
    r->n_compiled = prepared->identity.n_compiled;
    memcpy(r->compiled, prepared->identity.compiled, sizeof r->compiled);
    if (w->twin)
        snprintf(r->knobs, sizeof r->knobs, "%s", kg_twin_knobs(prepared));
    else if (prepared->knobs)
        kg_knobs_format(prepared->backend, prepared->knobs, r->knobs, sizeof r->knobs);
    kg_wire_ready(w->out, arms->one->index, r);
}

/* Only after a launch: what a first launch loads should not be loaded inside a capture. */
static int inspect(struct kg_worker *w, struct kg_arms *arms, kg_error *ret_error)
{
    struct kg_result *r = &w->ready;
    struct kg_prepared *its = &arms->prepared[KG_ARM_CASE];
    if (w->twin)
        return kg_twin_identity(its, &r->launch, r->identity, sizeof r->identity, ret_error);
    return kg_identity_of(w->context, &w->module, its, &r->launch, r->identity, sizeof r->identity, ret_error);
}

/* ---- correctness ---- */

/* One launch on poisoned outputs, which says what it wrote there. */
static int launch_checked(struct kg_worker *w, struct kg_prepared *prepared, uint64_t *ret_digest, kg_error *ret_error)
{
    const struct kg_buffers *set = &w->fixture.buffers;
    const struct kg_device_ops *ops = w->context->ops;
    int status = kg_buffers_poison(set, ret_error);
    if (!status)
        status = ops->spoil(w->context, ret_error);
    if (!status)
        status = kg_buffers_seal_inputs(set, ret_error);
    if (!status)
        status = kg_note_refusal(w, KG_REFUSED_BY_BUILD,
                                 kg_prepared_launch(prepared, 0, ops->stream(w->context), ret_error));
    ops->spoil_end(w->context);
    const bool written = kg_buffers_unseal_inputs(set);
    if (!status)
        status = ops->synchronize(w->context, ret_error);
    if (!status)
        status = kg_check_fixture(w, ret_error);
    if (!status && written)
        status = kg_fail(ret_error, KG_EDEVICE, "wrote into its inputs, and put back what was there");
    if (!status)
        status = kg_prepared_check_workspace(prepared, 0, ret_error);
    if (!status)
        status = kg_buffers_digest(set, KG_OUTPUT, ret_digest, ret_error);
    return status;
}

/* Where it fails, the case is not at fault. */
static int compute_reference(struct kg_worker *w, const struct kg_job_case *one, struct kg_fixture *fixture,
                             enum kg_phase next, kg_error *ret_error)
{
    kg_phase_begin(w, one, KG_REFERENCE);
    int status = kg_note_refusal(w, KG_REFUSED_BY_FIXTURE, kg_fixture_reference(fixture, ret_error));
    if (status && status != KG_EUNSUPPORTED && w->twin)
        return kg_blame_baseline(w, status, ret_error);
    kg_phase_begin(w, one, next);
    return status;
}

/* Of the gates that judge the case; in a run on normal inputs, where all of them hold. Under --against those of a case
 * that both builds have are the baseline's, which no change of the candidate's table can mend. */
static int tell_strength(struct kg_worker *w, const struct kg_job_case *one, kg_error *ret_error)
{
    if (w->job->round || w->twin || (one->of.regime && !one->strength_only))
        return KG_OK;
    int status = kg_fixture_strength(&w->fixture, ret_error);
    if (!status)
        kg_wire_strength(w->out, one->index, &w->fixture.strength);
    return status;
}

static int check(struct kg_worker *w, const struct kg_job_case *one, struct kg_prepared *prepared, bool *ret_right,
                 uint64_t *ret_digest, kg_error *ret_error)
{
    struct kg_comparison comparison;
    int status = launch_checked(w, prepared, ret_digest, ret_error);
    if (status || (!one->check && *ret_digest == one->digest)) {
        *ret_right = !status;
        return status;
    }
    status = compute_reference(w, one, &w->fixture, KG_CORRECTNESS, ret_error);
    if (!status)
        status = tell_strength(w, one, ret_error);
    if (!status)
        status = kg_fixture_compare(&w->fixture, &w->fixture.buffers, &comparison, ret_error);
    if (status)
        return status;
    kg_wire_comparison(w->out, one->index, &comparison, *ret_digest);
    *ret_right = kg_fixture_accepts(&w->fixture, &comparison);
    status = *ret_right ? kg_known_check_same(prepared, &w->fixture, ret_error) : KG_OK;
    if (status || !*ret_right || one->of.regime || !kg_timed_by_tables(one->of.suite, prepared->backend))
        return status; /* who is never timed gains nothing by what it stages */
    return kg_staged_check(prepared, &w->fixture, ret_error);
}

/* ---- --repeat ---- */

struct repeating {
    struct kg_worker *worker;
    const struct kg_job_case *one;
};

static void tell_repeating(void *repeating)
{
    const struct repeating *r = repeating;
    kg_phase_begin(r->worker, r->one, KG_REPEATING);
}

/* Of an output that was right. */
static int repeat(struct kg_worker *w, const struct kg_job_case *one, struct kg_prepared *prepared, uint64_t digest,
                  bool *ret_right, kg_error *ret_error)
{
    struct repeating repeating = { w, one };
    const struct kg_repeat asked = { .fixture = &w->fixture,
                                     .prepared = prepared,
                                     .launches = w->job->repeat,
                                     .digest = digest,
                                     .alive = tell_repeating,
                                     .argument = &repeating };
    struct kg_repeats repeats;
    tell_repeating(&repeating);
    int status = kg_repeat_check(&asked, &repeats, ret_error);
    if (status)
        return status;
    kg_wire_repeats(w->out, one->index, &repeats);
    *ret_right = !*repeats.wrong;
    return KG_OK;
}

/* ---- other inputs ---- */

/* w->other: the case on normal inputs of another seed. */
static int draw_other(struct kg_worker *w, const struct kg_job_case *one, kg_error *ret_error)
{
    struct kg_case of_other = one->of;
    of_other.seed = kg_mix64(one->of.seed + 1);
    of_other.regime = NULL;
    return use_fixture(w, &w->other, &of_other, ret_error);
}

/* With its reference, unless outputs are known by their digest: then it is computed where one has another. */
static int use_other(struct kg_worker *w, const struct kg_job_case *one, enum kg_phase next, kg_error *ret_error)
{
    int status = draw_other(w, one, ret_error);
    if (status)
        return status;
    kg_fixture_set_arithmetic(&w->other, w->fixture.arithmetic);
    return one->other_digest ? KG_OK : compute_reference(w, one, &w->other, next, ret_error);
}

#define LOOKS_AGAIN 2 /* one of so many later rounds */

/* NULL where a round does not look, or where there is no room: without it all else is asked. */
static struct kg_fixture *use_unseen(struct kg_worker *w, const struct kg_job_case *one)
{
    struct kg_case of_unseen = one->of;
    kg_error error = { 0 };
    of_unseen.seed = kg_mix64(~kg_seed_of(w, one));
    if (w->job->round > 1 && of_unseen.seed % LOOKS_AGAIN)
        return NULL;
    if (use_fixture(w, &w->unseen, &of_unseen, &error))
        return NULL;
    kg_fixture_set_arithmetic(&w->unseen, w->fixture.arithmetic);
    return compute_reference(w, one, &w->unseen, KG_TIMING, &error) ? NULL : &w->unseen;
}

/* Of inputs that are not too large to be asked more than once, in the run's first round. */
static bool is_first_check(const struct kg_worker *w, const struct kg_job_case *one)
{
    return one->check && !w->job->round && kg_buffers_bytes(&w->fixture.buffers) <= KG_RENEWED_BYTES;
}

/* A regime's inputs differ in size from what came before: what a first call has found out of its inputs and kept, a
 * scale or a largest value, does not hold for them. In half of the regimes, others by another seed, they are
 * the same but for stripes. */
static int call_before(struct kg_worker *w, const struct kg_job_case *one, struct kg_prepared *prepared,
                       kg_error *ret_error)
{
    if (!one->of.regime || !is_first_check(w, one))
        return KG_OK;
    const bool in_stripes = (strlen(one->of.regime->name) + one->of.seed) % 2 == 0;
    int status = in_stripes ? KG_OK : kg_note_refusal(w, KG_REFUSED_BY_FIXTURE, draw_other(w, one, ret_error));
    if (!status)
        status = kg_note_refusal(w, KG_REFUSED_BY_BUILD,
                                 kg_renewed_before(prepared, &w->fixture, in_stripes ? NULL : &w->other, ret_error));
    return status;
}

/* What is not timed is called no second time otherwise. Of a right output, once a run. */
static int call_again(struct kg_worker *w, const struct kg_job_case *one, struct kg_prepared *prepared,
                      kg_error *ret_error)
{
    if (!one->again || !is_first_check(w, one))
        return KG_OK;
    int status = use_other(w, one, KG_CORRECTNESS, ret_error);
    return status ? status : kg_renewed_check(prepared, &w->fixture, &w->other, ret_error);
}

static int check_all(struct kg_worker *w, const struct kg_job_case *one, struct kg_prepared *prepared, bool *ret_right,
                     uint64_t *ret_digest, kg_error *ret_error)
{
    kg_phase_begin(w, one, KG_CORRECTNESS);
    int status = call_before(w, one, prepared, ret_error);
    if (!status)
        status = check(w, one, prepared, ret_right, ret_digest, ret_error);
    if (!status && *ret_right && one->check && w->job->repeat)
        status = repeat(w, one, prepared, *ret_digest, ret_right, ret_error);
    if (!status && *ret_right && is_first_check(w, one) && !one->of.regime)
        status = kg_guarded_check(prepared, &w->fixture, *ret_digest, ret_error);
    if (!status && *ret_right)
        status = call_again(w, one, prepared, ret_error);
    return status;
}

/* ---- timing ---- */

/* An anchor that cannot run here is left out, and the log says so. */
static void add_anchor(struct kg_worker *w, struct kg_arms *arms)
{
    kg_error error = { 0 };
    int status = kg_arms_anchor(arms, &error);
    if (status && status != KG_ENOTFOUND)
        w->host.host.log(&w->host.host, "anchor: %s", error.text);
}

static int prepare_arms(struct kg_worker *w, struct kg_arms *arms, kg_error *ret_error)
{
    const struct kg_policy *policy = &arms->one->of.policy;
    const bool event = policy->timer == KG_TIMER_EVENT;
    struct kg_result *r = &w->ready;
    kg_error cause = { 0 };
    int status = KG_OK;
    if (w->job->anchors && !event)
        add_anchor(w, arms);
    if (arms->one->planted_pct > 0 && !event)
        status = kg_arms_planted(arms, ret_error);
    if (!status)
        status = kg_arms_make_rings(arms, policy, kg_seed_of(w, arms->one) + 1, ret_error);
    if (status && kg_failed_by_baseline(arms))
        return kg_blame_baseline(w, status, ret_error);
    if (!status)
        status = kg_identify_baseline(w, arms, ret_error);
    if (!status && arms->prepared[KG_ARM_ANCHOR].backend &&
        kg_arms_identity(arms, KG_ARM_ANCHOR, r->anchor_identity, sizeof r->anchor_identity, &cause)) {
        w->host.host.log(&w->host.host, "anchor: %s", cause.text);
        kg_arms_drop(arms, KG_ARM_ANCHOR);
    }
    return status;
}

/* On other inputs too: in the first round, or in each whose outputs the first one's digest tells. */
static int measure(struct kg_worker *w, struct kg_arms *arms, uint64_t digest, struct kg_block *ret_block,
                   kg_error *ret_error)
{
    const struct kg_job_case *one = arms->one;
    struct kg_prepared *prepared[KG_ARMS];
    const bool other = w->job->round == 1 || one->other_digest;
    int status = other ? use_other(w, one, KG_TIMING, ret_error) : KG_OK;
    if (status)
        return status;
    kg_arms_prepared(arms, prepared);
    struct kg_timed_output output = {
        .fixture = &w->fixture,
        .other = other ? &w->other : NULL,
        .unseen = use_unseen(w, one),
        .digest = digest,
        .other_digest = one->other_digest,
        .seed = kg_seed_of(w, one),
    };
    const struct kg_interlude interlude = { kg_timed_output_check, &output };
    status = kg_measure_block(w->context, prepared, one->planted_pct, &one->of.policy, kg_seed_of(w, one), &interlude,
                              ret_block, ret_error);
    ret_block->other_digest = output.other_digest;
    return output.baseline_wrong || kg_failed_by_baseline(arms) ? kg_blame_baseline(w, status, ret_error) : status;
}

static int time_case(struct kg_worker *w, struct kg_arms *arms, uint64_t digest, kg_error *ret_error)
{
    const struct kg_job_case *one = arms->one;
    struct kg_block block = { 0 };
    kg_phase_begin(w, one, KG_TIMING);
    int status = w->ready.is_new ? KG_OK : prepare_arms(w, arms, ret_error);
    if (!status)
        status = inspect(w, arms, ret_error);
    if (status)
        return status;
    tell_ready(w, arms);
    if (w->ready.is_new)
        return KG_OK;
    status = measure(w, arms, digest, &block, ret_error);
    if (!status) {
        block.round = w->job->round;
        kg_wire_block(w->out, one->index, &block, w->context->ops->timer_tick_us(w->context));
    }
    free(block.samples_us);
    free(block.anchor_samples_us);
    free(block.baseline_samples_us);
    return status;
}

/* ---- the case ---- */

/* Cleaning up in one may hang. */
static void leave_lost_context(struct kg_worker *w, const struct kg_job_case *one, int status)
{
    if (!kg_twin_death(w->twin) && (status != KG_EDEVICE || w->context->device.kind != KG_CUDA))
        return;
    kg_phase_end(w, one);
    _exit(0);
}

/* Memory that a kernel spoilt often shows only here. */
static void release(struct kg_worker *w, struct kg_arms *arms)
{
    if (arms->prepared[KG_ARM_BASELINE].backend)
        kg_phase_begin(w, arms->one, KG_BASELINE_RELEASE);
    kg_arms_drop(arms, KG_ARM_BASELINE);
    kg_phase_begin(w, arms->one, KG_RELEASE);
    kg_arms_done(arms);
}

bool kg_tell_death(struct kg_worker *w, const struct kg_job_case *one)
{
    char text[300];
    if (!kg_twin_death(w->twin))
        return false;
    snprintf(text, sizeof text, "%s during %s", kg_twin_death(w->twin), kg_phase_name(w->said));
    kg_wire_note(w->out, KG_MESSAGE_BROKEN, one->index, text);
    return true;
}

/* No kernel runs but the reference. */
static void judge_gates(struct kg_worker *w, const struct kg_job_case *one)
{
    kg_error error = { 0 };
    kg_phase_begin(w, one, KG_PREPARE);
    int status = use_fixture(w, &w->fixture, &one->of, &error);
    if (!status) {
        kg_fixture_set_arithmetic(&w->fixture, arithmetic_of(one, one->of.backend->name));
        kg_phase_begin(w, one, KG_CORRECTNESS);
        status = compute_reference(w, one, &w->fixture, KG_CORRECTNESS, &error);
    }
    if (!status)
        status = tell_strength(w, one, &error);
    if (status)
        kg_wire_note(w->out, status == KG_EUNSUPPORTED ? KG_MESSAGE_SKIP : KG_MESSAGE_BROKEN, one->index, error.text);
    leave_lost_context(w, one, status);
}

/* What was written where it should not be, or exchanged and not put back, must not be blamed on the next. */
static void forget_inputs(struct kg_worker *w)
{
    kg_fixture_done(&w->fixture);
    kg_fixture_done(&w->other);
    kg_fixture_done(&w->unseen);
}

static void judge_kernel(struct kg_worker *w, const struct kg_job_case *one)
{
    struct kg_arms arms = { 0 };
    kg_error error = { 0 };
    bool right = false, called = false;
    uint64_t digest = 0;
    enum kg_message_type type;
    w->ready = (struct kg_result){ .of = one->of };
    w->refusal = KG_REFUSED_BY_NOBODY;
    kg_phase_begin(w, one, KG_PREPARE);
    int status = prepare(w, &arms, one, &error);
    if (!status) {
        snprintf(w->ready.identity, sizeof w->ready.identity, "%s", arms.prepared[KG_ARM_CASE].identity.text);
        tell_ready(w, &arms);
        status = kg_launch_both(w, &arms, &error);
    }
    if (!status) {
        called = true;
        status = check_all(w, one, &arms.prepared[KG_ARM_CASE], &right, &digest, &error);
    }
    if (!status && right && !one->time) {
        status = kg_check_baseline(w, &arms, &error);
        if (!status)
            status = inspect(w, &arms, &error);
        if (!status)
            tell_ready(w, &arms);
    }
    if (!status && one->time && right)
        status = time_case(w, &arms, digest, &error);
    if (!kg_tell_death(w, one) && status) {
        status = kg_find_fault(w, &arms, status, &type, &error);
        kg_wire_note(w->out, type, one->index, error.text);
    }
    leave_lost_context(w, one, status);
    release(w, &arms);
    if (kg_tell_death(w, one))
        leave_lost_context(w, one, status);
    if (status == KG_EDEVICE || (status && called))
        forget_inputs(w);
}

void kg_run_case(struct kg_worker *w, const struct kg_job_case *one)
{
    if (one->strength_only)
        judge_gates(w, one);
    else
        judge_kernel(w, one);
}
