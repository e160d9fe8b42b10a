/* worker.c -- runs the cases of one job in order: prepare, correctness, timing. What goes wrong with a case is told in
 * a message; a device error ends the worker, since the context may be lost, and the parent starts another. */
#include "worker/worker.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "worker/identity.h"
#include "worker/arms.h"
#include "base/random.h"
#include "measure/timed_output.h"
#include "worker/wire.h"

/* Who said KG_EUNSUPPORTED of the case at hand. */
enum refusal { REFUSED_BY_NOBODY, REFUSED_BY_BUILD, REFUSED_BY_REFERENCE };

struct worker {
    FILE *out;
    const struct kg_job *job;
    struct kg_loaded module, baseline; /* baseline: its root NULL without one */
    struct kg_host_state host;
    kg_context *context;
    struct kg_fixture fixture, other; /* other: the same problem with other inputs */
    struct kg_result ready;           /* what a READY message tells of the case at hand */
    enum refusal refusal;             /* before its output was checked */
};

static void say_whose(const char *whose, kg_error *error)
{
    const kg_error cause = *error;
    snprintf(error->text, sizeof error->text, "%s: %.*s", whose, (int)sizeof error->text - 60, cause.text);
}

/* Nothing is judged where the fault is not, or may not be, the candidate's; the reason says whose it is. */
static int blame(struct worker *w, const char *whose, int status, kg_error *error)
{
    w->ready.baseline_broken = status != KG_OK;
    if (status)
        say_whose(whose, error);
    return status;
}

static int blame_baseline(struct worker *w, int status, kg_error *error)
{
    return blame(w, "the baseline", status, error);
}

static bool failed_by_baseline(const struct kg_arms *arms)
{
    return arms->prepared[KG_ARM_BASELINE].failed && !arms->prepared[KG_ARM_CASE].failed;
}

static int note_refusal(struct worker *w, enum refusal by, int status)
{
    if (status == KG_EUNSUPPORTED)
        w->refusal = by;
    return status;
}

/* Nothing outside the outputs may have changed. */
static int check_fixture(struct worker *w, kg_error *ret_error)
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

static int use_fixture(struct worker *w, struct kg_fixture *fixture, const struct kg_case *of, kg_error *ret_error)
{
    if (kg_fixture_serves(fixture, of))
        return KG_OK;
    kg_fixture_done(fixture);
    return kg_fixture_new(w->context, of, fixture, ret_error);
}

static uint64_t seed_of(const struct worker *w, const struct kg_job_case *one)
{
    return kg_mix64(w->job->order_seed + one->index);
}

/* Before a block a coin decides which build is prepared and launched first: what it allocates and loads lies earlier.
 */
static bool baseline_first(const struct worker *w, const struct kg_job_case *one)
{
    return kg_mix64(seed_of(w, one)) & 1;
}

/* It may run on the buffers. */
static int prepare_baseline(struct worker *w, struct kg_arms *arms, kg_error *ret_error)
{
    kg_wire_begin(w->out, arms->one->index, KG_BASELINE_PREPARE);
    int status = kg_arms_baseline(arms, ret_error);
    if (!status)
        status = check_fixture(w, ret_error);
    return status == KG_EUNSUPPORTED ? status : blame_baseline(w, status, ret_error);
}

/* Where the baseline cannot run the case, the case is new: there is nothing to judge its time against. One that ran in
 * the first round can. */
static int call_new(struct worker *w, struct kg_arms *arms, kg_error *error)
{
    if (w->job->round > 1)
        return blame_baseline(w, KG_EUNSUPPORTED, error);
    kg_arms_drop(arms, KG_ARM_BASELINE);
    w->ready.is_new = true;
    snprintf(w->ready.note, sizeof w->ready.note, "the baseline does not run here: %s", error->text);
    return KG_OK;
}

/* The baseline is beside the case where that is timed. */
static int prepare(struct worker *w, struct kg_arms *arms, const struct kg_job_case *one, kg_error *ret_error)
{
    int status = use_fixture(w, &w->fixture, &one->of, ret_error);
    *arms = (struct kg_arms){ .host = &w->host,
                              .fixture = &w->fixture,
                              .one = one,
                              .module = &w->module,
                              .baseline = w->baseline.root && !one->is_new ? &w->baseline : NULL };
    const int builds = arms->baseline && one->time ? 2 : 1;
    for (int i = 0; i < builds && !status; i++) {
        if (builds == 2 && (i == 0) == baseline_first(w, one)) {
            status = prepare_baseline(w, arms, ret_error);
            status = status == KG_EUNSUPPORTED ? call_new(w, arms, ret_error) : status;
        } else {
            kg_wire_begin(w->out, one->index, KG_PREPARE);
            status = note_refusal(w, REFUSED_BY_BUILD, kg_arms_case(arms, ret_error));
        }
    }
    return status;
}

/* A READY message of what is known by now. */
static void tell_ready(struct worker *w, const struct kg_arms *arms)
{
    const struct kg_prepared *prepared = &arms->prepared[KG_ARM_CASE];
    struct kg_result *r = &w->ready;
    snprintf(r->backend, sizeof r->backend, "%s", prepared->backend->name);
    snprintf(r->pin, sizeof r->pin, "%s", prepared->identity.pin);
    snprintf(r->anchor_pin, sizeof r->anchor_pin, "%s", arms->prepared[KG_ARM_ANCHOR].identity.pin);
    snprintf(r->baseline_pin, sizeof r->baseline_pin, "%s", arms->prepared[KG_ARM_BASELINE].identity.pin);
    if (prepared->knobs)
        kg_knobs_format(prepared->backend, prepared->knobs, r->knobs, sizeof r->knobs);
    kg_wire_ready(w->out, arms->one->index, r);
}

/* Only after a launch: what a first launch loads should not be loaded inside a capture. */
static int inspect(struct worker *w, struct kg_arms *arms, kg_error *ret_error)
{
    struct kg_result *r = &w->ready;
    return kg_identity_of(w->context, &w->module, &arms->prepared[KG_ARM_CASE], &r->launch, r->identity,
                          sizeof r->identity, ret_error);
}

/* ---- correctness ---- */

/* One launch on poisoned outputs, which says what it wrote there. */
static int launch_checked(struct worker *w, struct kg_prepared *prepared, uint64_t *ret_digest, kg_error *ret_error)
{
    const struct kg_buffers *set = &w->fixture.buffers;
    int status = kg_buffers_poison(set, ret_error);
    if (!status)
        status = note_refusal(w, REFUSED_BY_BUILD,
                              kg_prepared_launch(prepared, 0, w->context->ops->stream(w->context), ret_error));
    if (!status)
        status = w->context->ops->synchronize(w->context, ret_error);
    if (!status)
        status = check_fixture(w, ret_error);
    if (!status)
        status = kg_prepared_check_workspace(prepared, 0, ret_error);
    if (!status)
        status = kg_buffers_digest(set, KG_OUTPUT, ret_digest, ret_error);
    return status;
}

/* Where it fails, the case is not at fault. */
static int compute_reference(struct worker *w, const struct kg_job_case *one, struct kg_fixture *fixture,
                             enum kg_phase next, kg_error *ret_error)
{
    kg_wire_begin(w->out, one->index, KG_REFERENCE);
    int status = note_refusal(w, REFUSED_BY_REFERENCE, kg_fixture_reference(fixture, ret_error));
    if (status && status != KG_EUNSUPPORTED && w->baseline.root && !one->is_new)
        return blame_baseline(w, status, ret_error);
    kg_wire_begin(w->out, one->index, next);
    return status;
}

static int check(struct worker *w, const struct kg_job_case *one, struct kg_prepared *prepared, bool *ret_right,
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
        status = kg_fixture_compare(&w->fixture, &w->fixture.buffers, &comparison, ret_error);
    if (status)
        return status;
    kg_wire_figures(w->out, one->index, &comparison, *ret_digest);
    *ret_right = kg_gate_marks_all(kg_comparison_mark(&comparison, &one->of.suite->gates));
    return KG_OK;
}

/* ---- timing ---- */

/* What it overwrote shows at once, and whose launch it was. */
static int launch_arm(struct worker *w, struct kg_arms *arms, int arm, kg_error *ret_error)
{
    kg_wire_begin(w->out, arms->one->index, arm == KG_ARM_CASE ? KG_CORRECTNESS : KG_BASELINE_LAUNCH);
    int status = kg_arms_launch(arms, arm, ret_error);
    if (!status)
        status = check_fixture(w, ret_error);
    return status ? status : kg_prepared_check_workspace(&arms->prepared[arm], 0, ret_error);
}

static int launch_baseline(struct worker *w, struct kg_arms *arms, kg_error *ret_error)
{
    int status = launch_arm(w, arms, KG_ARM_BASELINE, ret_error);
    return status == KG_EUNSUPPORTED ? status : blame_baseline(w, status, ret_error);
}

/* Where code lies changes the time of a small kernel, and a first launch loads it: those of two builds follow one
 * another with nothing loaded between them. */
static int launch_both(struct worker *w, struct kg_arms *arms, kg_error *ret_error)
{
    const bool swapped = baseline_first(w, arms->one);
    int status = KG_OK;
    for (int i = 0; i < 2 && !status && arms->prepared[KG_ARM_BASELINE].backend; i++) {
        if ((i == 0) != swapped) {
            status = note_refusal(w, REFUSED_BY_BUILD, launch_arm(w, arms, KG_ARM_CASE, ret_error));
            continue;
        }
        status = launch_baseline(w, arms, ret_error);
        status = status == KG_EUNSUPPORTED ? call_new(w, arms, ret_error) : status;
    }
    return status;
}

/* An anchor that cannot run here is left out, and the log says so. */
static void add_anchor(struct worker *w, struct kg_arms *arms)
{
    kg_error error = { 0 };
    int status = kg_arms_anchor(arms, &error);
    if (status && status != KG_ENOTFOUND)
        w->host.host.log(&w->host.host, "anchor: %s", error.text);
}

/* It was launched before: a refusal now is a failure. */
static int identify_baseline(struct worker *w, struct kg_arms *arms, kg_error *ret_error)
{
    struct kg_result *r = &w->ready;
    if (!arms->baseline)
        return KG_OK;
    kg_wire_begin(w->out, arms->one->index, KG_BASELINE_LAUNCH);
    int status = kg_arms_identity(arms, KG_ARM_BASELINE, r->baseline_identity, sizeof r->baseline_identity, ret_error);
    kg_wire_begin(w->out, arms->one->index, KG_TIMING);
    return blame_baseline(w, status, ret_error);
}

static int prepare_arms(struct worker *w, struct kg_arms *arms, kg_error *ret_error)
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
        status = kg_arms_make_rings(arms, policy, seed_of(w, arms->one) + 1, ret_error);
    if (status && failed_by_baseline(arms))
        return blame_baseline(w, status, ret_error);
    if (!status)
        status = identify_baseline(w, arms, ret_error);
    if (!status && arms->prepared[KG_ARM_ANCHOR].backend &&
        kg_arms_identity(arms, KG_ARM_ANCHOR, r->anchor_identity, sizeof r->anchor_identity, &cause)) {
        w->host.host.log(&w->host.host, "anchor: %s", cause.text);
        kg_arms_drop(arms, KG_ARM_ANCHOR);
    }
    return status;
}

/* Once a case, in its first round, since its reference takes time: on other inputs too. */
static int measure(struct worker *w, struct kg_arms *arms, uint64_t digest, struct kg_block *ret_block,
                   kg_error *ret_error)
{
    const struct kg_job_case *one = arms->one;
    struct kg_prepared *prepared[KG_ARMS];
    struct kg_case of_other = one->of;
    of_other.seed = kg_mix64(one->of.seed + 1);
    const bool other = w->job->round == 1;
    int status = other ? use_fixture(w, &w->other, &of_other, ret_error) : KG_OK;
    if (!status && other)
        status = compute_reference(w, one, &w->other, KG_TIMING, ret_error);
    if (status)
        return status;
    kg_arms_prepared(arms, prepared);
    struct kg_timed_output output = {
        .fixture = &w->fixture, .other = other ? &w->other : NULL, .digest = digest, .seed = seed_of(w, one)
    };
    const struct kg_interlude interlude = { kg_timed_output_check, &output };
    status = kg_measure_block(w->context, prepared, one->planted_pct, &one->of.policy, seed_of(w, one), &interlude,
                              ret_block, ret_error);
    if (output.unclear)
        return blame(w, "one of the two builds", status, ret_error);
    return output.baseline_wrong || failed_by_baseline(arms) ? blame_baseline(w, status, ret_error) : status;
}

static int time_case(struct worker *w, struct kg_arms *arms, uint64_t digest, kg_error *ret_error)
{
    const struct kg_job_case *one = arms->one;
    struct kg_block block = { 0 };
    kg_wire_begin(w->out, one->index, KG_TIMING);
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

/* ---- cases ---- */

static int run_baseline(struct worker *w, struct kg_arms *arms, kg_error *ret_error)
{
    int status = arms->prepared[KG_ARM_BASELINE].backend ? KG_OK : prepare_baseline(w, arms, ret_error);
    return status ? status : launch_baseline(w, arms, ret_error);
}

/* A case that this build refuses is skipped, unless the baseline runs it. Only before it was checked can it be refused.
 * Returns the status of what failed last. */
static int find_fault(struct worker *w, struct kg_arms *arms, int status, enum kg_message_type *ret_type,
                      kg_error *error)
{
    kg_error its = { 0 };
    *ret_type = w->ready.baseline_broken ? KG_MESSAGE_BASELINE_BROKEN : KG_MESSAGE_BROKEN;
    if (status != KG_EUNSUPPORTED || w->ready.baseline_broken)
        return status;
    if (!arms->one->check || w->refusal == REFUSED_BY_NOBODY) {
        say_whose("it ran when it was checked, now", error);
        return status;
    }
    *ret_type = KG_MESSAGE_SKIP;
    if (w->refusal == REFUSED_BY_REFERENCE || !arms->baseline)
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

static int run_case(struct worker *w, const struct kg_job_case *one)
{
    struct kg_arms arms = { 0 };
    kg_error error = { 0 };
    bool right = false;
    uint64_t digest = 0;
    enum kg_message_type type;
    w->ready = (struct kg_result){ .of = one->of };
    w->refusal = REFUSED_BY_NOBODY;
    kg_wire_begin(w->out, one->index, KG_PREPARE);
    int status = prepare(w, &arms, one, &error);
    if (!status) {
        snprintf(w->ready.identity, sizeof w->ready.identity, "%s", arms.prepared[KG_ARM_CASE].identity.text);
        tell_ready(w, &arms);
        status = launch_both(w, &arms, &error);
    }
    if (!status) {
        kg_wire_begin(w->out, one->index, KG_CORRECTNESS);
        status = check(w, one, &arms.prepared[KG_ARM_CASE], &right, &digest, &error);
    }
    if (!status && right && !one->time) {
        status = inspect(w, &arms, &error);
        if (!status)
            tell_ready(w, &arms);
    }
    if (!status && one->time && right)
        status = time_case(w, &arms, digest, &error);
    if (status) {
        status = find_fault(w, &arms, status, &type, &error);
        kg_wire_note(w->out, type, one->index, error.text);
    }
    kg_wire_end(w->out, one->index);
    if (status == KG_EDEVICE && w->context->device.kind == KG_CUDA)
        _exit(0); /* cleaning up in a lost context may hang */
    kg_arms_done(&arms);
    if (status == KG_EDEVICE) { /* what it wrote where it should not must not be blamed on the next */
        kg_fixture_done(&w->fixture);
        kg_fixture_done(&w->other);
    }
    return status;
}

static int open_all(struct worker *w, struct kg_wire_job *wire, kg_error *ret_error)
{
    FILE *in = fdopen(KG_WORKER_JOB, "r");
    if (!in)
        return kg_fail(ret_error, KG_EIO, "kgate worker is started by kgate run");
    int status = kg_wire_read_job(in, wire, ret_error);
    fclose(in);
    if (!status)
        status = kg_module_open(wire->job.module, &w->module, ret_error);
    if (!status && *wire->job.baseline)
        status = kg_module_open(wire->job.baseline, &w->baseline, ret_error);
    if (!status)
        status = kg_wire_resolve_job(wire, w->module.root, w->baseline.root, ret_error);
    if (!status)
        status = kg_device_open(wire->job.kind, wire->job.device, &w->context, ret_error);
    return status;
}

int kg_worker_run(void)
{
    struct worker w = { .out = fdopen(KG_WORKER_MESSAGES, "w") };
    struct kg_wire_job wire = { 0 };
    kg_error error = { 0 };
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGINT, SIG_IGN); /* the parent decides when a run ends; signals often go to both */
    signal(SIGTERM, SIG_IGN);
    if (!w.out || open_all(&w, &wire, &error)) {
        fprintf(stderr, "kgate worker: %s\n", w.out ? error.text : "no pipe to write to");
        return 2;
    }
    w.job = &wire.job;
    kg_host_init(&w.host);
    w.host.library_paths = wire.job.library_paths;
    w.host.n_library_paths = wire.job.n_library_paths;
    w.host.knobs = wire.job.knobs;
    w.host.n_knobs = wire.job.n_knobs;
    w.host.cache = wire.job.cache;
    for (size_t i = 0; i < wire.job.n_cases; i++)
        run_case(&w, &wire.job.cases[i]);
    kg_wire_bye(w.out);
    kg_fixture_done(&w.fixture);
    kg_fixture_done(&w.other);
    kg_host_done(&w.host);
    w.context->ops->close(w.context);
    kg_wire_job_done(&wire);
    fclose(w.out);
    return 0;
}

int kg_worker_probe(const char *kind, const char *work)
{
    kg_device devices[KG_MAX_DEVICES];
    struct kg_device_health healths[KG_MAX_DEVICES];
    kg_error error = { 0 };
    int count = 0;
    const enum kg_device_kind of = !strcmp(kind, "cuda") ? KG_CUDA : KG_CPU;
    FILE *out = fdopen(KG_WORKER_MESSAGES, "w");
    if (!out)
        return 2;
    kg_device_probe(of, devices, KG_MAX_DEVICES, &count, &error);
    for (int i = 0; i < count; i++)
        kg_device_health(of, i, work && atoi(work) == i, &healths[i]);
    kg_wire_devices(out, devices, healths, count, error.text);
    fclose(out);
    return 0;
}
