/* worker.c -- runs the cases of one job in order: prepare, correctness, timing. What goes wrong with a case is told in
 * a message; a device error ends the worker, since the context may be lost, and the parent starts another. */
#include "worker.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "fixture.h"
#include "identity.h"
#include "measure.h"
#include "module.h"
#include "random.h"
#include "subject.h"
#include "wire.h"

struct worker {
    FILE *out;
    const struct kg_job *job;
    struct kg_loaded module;
    struct kg_host_state host;
    kg_context *context;
    struct kg_fixture fixture;
    struct kg_result ready; /* what a READY message tells of the case at hand */
};

/* ---- prepare ---- */

static int use_fixture(struct worker *w, const struct kg_case *of, kg_error *ret_error)
{
    if (kg_fixture_serves(&w->fixture, of))
        return KG_OK;
    kg_fixture_done(&w->fixture);
    return kg_fixture_new(w->context, of, &w->fixture, ret_error);
}

/* The first candidate that prepares; what the others said is kept for the reason. */
static int prepare_candidate(struct worker *w, const struct kg_job_case *one, struct kg_subject *ret_subject,
                             kg_error *ret_error)
{
    char reasons[400] = "";
    for (const kg_backend *const *c = one->of.backend->candidates; *c; c++) {
        kg_error cause = { 0 };
        if (*one->backend && strcmp(one->backend, (*c)->name))
            continue;
        int status = kg_subject_new(&w->host, &w->fixture, *c, one->pin, ret_subject, &cause);
        if (status != KG_EUNSUPPORTED) {
            if (status)
                *ret_error = cause;
            return status;
        }
        size_t used = strlen(reasons);
        snprintf(reasons + used, sizeof reasons - used, "%s%s: %.120s", used ? "; " : "", (*c)->name, cause.text);
    }
    return kg_fail(ret_error, KG_EUNSUPPORTED, "no candidate runs here: %s", reasons);
}

static int prepare(struct worker *w, const struct kg_job_case *one, struct kg_subject *ret_subject, kg_error *ret_error)
{
    const kg_backend *backend = one->of.backend;
    int status = use_fixture(w, &one->of, ret_error);
    if (!status && backend->candidates)
        status = prepare_candidate(w, one, ret_subject, ret_error);
    else if (!status)
        status = kg_subject_new(&w->host, &w->fixture, backend, one->pin, ret_subject, ret_error);
    return status;
}

/* `inspect` only after a launch: what a first launch loads should not be loaded inside a capture. */
static int tell_ready(struct worker *w, const struct kg_job_case *one, struct kg_subject *subject, bool inspect,
                      const struct kg_subject *anchor, const char *anchor_identity, kg_error *ret_error)
{
    struct kg_result *r = &w->ready;
    *r = (struct kg_result){ .of = one->of };
    snprintf(r->backend, sizeof r->backend, "%s", subject->backend->name);
    snprintf(r->pin, sizeof r->pin, "%s", subject->identity.pin);
    snprintf(r->anchor_identity, sizeof r->anchor_identity, "%s", anchor_identity);
    snprintf(r->anchor_pin, sizeof r->anchor_pin, "%s", anchor ? anchor->identity.pin : "");
    if (subject->knobs)
        kg_knobs_format(subject->backend, subject->knobs, r->knobs, sizeof r->knobs);
    int status = KG_OK;
    if (inspect)
        status =
            kg_identity_of(w->context, &w->module, subject, &r->launch, r->identity, sizeof r->identity, ret_error);
    else
        snprintf(r->identity, sizeof r->identity, "%s", subject->identity.text);
    if (!status)
        kg_wire_ready(w->out, one->index, r);
    return status;
}

/* ---- correctness ---- */

/* One launch on poisoned outputs; then nothing outside the outputs may have changed. */
static int launch_checked(struct worker *w, struct kg_subject *subject, uint64_t *ret_digest, kg_error *ret_error)
{
    const struct kg_buffers *set = &w->fixture.buffers;
    uint64_t inputs = 0;
    int status = kg_buffers_poison(set, ret_error);
    if (!status)
        status = kg_subject_launch(subject, 0, w->context->ops->stream(w->context), ret_error);
    if (!status)
        status = w->context->ops->synchronize(w->context, ret_error);
    if (!status)
        status = kg_buffers_check_guards(set, ret_error);
    if (!status)
        status = kg_buffers_digest(set, KG_INPUT, &inputs, ret_error);
    if (!status && inputs != w->fixture.input_digest)
        status = kg_fail(ret_error, KG_EDEVICE, "wrote into its inputs");
    if (!status)
        status = kg_buffers_digest(set, KG_OUTPUT, ret_digest, ret_error);
    return status;
}

static int check(struct worker *w, const struct kg_job_case *one, struct kg_subject *subject, bool *ret_right,
                 uint64_t *ret_digest, kg_error *ret_error)
{
    struct kg_figures figures;
    kg_wire_begin(w->out, one->index, KG_CORRECTNESS);
    int status = launch_checked(w, subject, ret_digest, ret_error);
    if (status || (!one->check && *ret_digest == one->digest)) {
        *ret_right = !status;
        return status;
    }
    status = kg_fixture_compare(&w->fixture, &w->fixture.buffers, &figures, ret_error);
    if (status)
        return status;
    kg_wire_figures(w->out, one->index, &figures, *ret_digest);
    *ret_right = kg_gate_marks_all(kg_figures_mark(&figures, &one->of.suite->gates));
    return KG_OK;
}

/* ---- timing ---- */

/* What the timed calls wrote must be as right as what was checked. */
static int check_timed(struct worker *w, const struct kg_subject *subject, uint64_t digest, kg_error *ret_error)
{
    for (int i = 0; i < subject->n_used; i++) { /* few calls may not go all the way round */
        struct kg_figures figures;
        uint64_t timed = 0;
        int status = kg_buffers_check_guards(&subject->ring[i], ret_error);
        if (!status)
            status = kg_buffers_digest(&subject->ring[i], KG_OUTPUT, &timed, ret_error);
        if (!status && timed == digest)
            continue;
        if (!status)
            status = kg_fixture_compare(&w->fixture, &subject->ring[i], &figures, ret_error);
        if (status)
            return status;
        if (!kg_gate_marks_all(kg_figures_mark(&figures, &w->fixture.of.suite->gates)))
            return kg_fail(ret_error, KG_EDEVICE,
                           "the timed calls gave another output than the checked one: max |err| %.3g, %llu unwritten",
                           figures.max_abs, (unsigned long long)figures.unwritten);
    }
    return KG_OK;
}

/* NULL where the suite has none, it is the case itself, or it cannot run here. */
static struct kg_subject *prepare_anchor(struct worker *w, const struct kg_job_case *one, const kg_backend *running,
                                         const struct kg_timing *timing, struct kg_subject *room, char *ret_identity,
                                         size_t size)
{
    const kg_backend *anchor = kg_suite_anchor(one->of.suite, one->of.kind);
    struct kg_launch_info launch;
    kg_error error = { 0 };
    ret_identity[0] = '\0';
    if (!anchor || anchor == running || timing->timer == KG_TIMER_EVENT)
        return NULL;
    int status = kg_subject_new(&w->host, &w->fixture, anchor, one->anchor_pin, room, &error);
    if (!status)
        status = kg_subject_make_ring(room, &w->fixture, timing->l2 == KG_L2_COLD, timing->placements, &error);
    if (!status && one->of.kind == KG_CUDA)
        status = kg_identity_of(w->context, &w->module, room, &launch, ret_identity, size, &error);
    else if (!status) /* the module's code is no one backend's: ratios would go stale with every change of it */
        snprintf(ret_identity, size, "%s", room->identity.text);
    if (!status)
        return room;
    w->host.host.log(&w->host.host, "anchor %s: %s", anchor->name, error.text);
    kg_subject_done(room);
    ret_identity[0] = '\0';
    return NULL;
}

static int time_case(struct worker *w, const struct kg_job_case *one, struct kg_subject *subject, uint64_t digest,
                     kg_error *ret_error)
{
    const struct kg_timing timing = kg_timing_of(one->of.suite, one->of.kind, &w->job->timing);
    struct kg_subject anchor_room = { 0 };
    struct kg_block block = { 0 };
    char anchor_identity[sizeof w->ready.anchor_identity];
    kg_wire_begin(w->out, one->index, KG_TIMING);
    struct kg_subject *anchor =
        prepare_anchor(w, one, subject->backend, &timing, &anchor_room, anchor_identity, sizeof anchor_identity);
    int status = kg_subject_make_ring(subject, &w->fixture, timing.l2 == KG_L2_COLD, timing.placements, ret_error);
    if (!status)
        status = tell_ready(w, one, subject, true, anchor, anchor_identity, ret_error);
    if (!status)
        status = kg_measure_block(w->context, subject, anchor, &timing, kg_mix64(w->job->order_seed + one->index),
                                  &block, ret_error);
    if (!status)
        status = check_timed(w, subject, digest, ret_error);
    if (!status) {
        block.round = w->job->round;
        kg_wire_block(w->out, one->index, &block, w->context->ops->timer_tick_us(w->context));
    }
    free(block.samples_us);
    free(block.anchor_samples_us);
    kg_subject_done(&anchor_room);
    return status;
}

/* ---- cases ---- */

static int run_case(struct worker *w, const struct kg_job_case *one)
{
    struct kg_subject subject = { 0 };
    kg_error error = { 0 };
    bool right = false;
    uint64_t digest = 0;
    kg_wire_begin(w->out, one->index, KG_PREPARE);
    int status = prepare(w, one, &subject, &error);
    if (!status)
        status = tell_ready(w, one, &subject, false, NULL, "", &error);
    if (!status)
        status = check(w, one, &subject, &right, &digest, &error);
    if (!status && right && !one->time)
        status = tell_ready(w, one, &subject, true, NULL, "", &error);
    if (!status && one->time && right)
        status = time_case(w, one, &subject, digest, &error);
    if (status)
        kg_wire_note(w->out, status == KG_EUNSUPPORTED ? KG_MESSAGE_SKIP : KG_MESSAGE_BROKEN, one->index, error.text);
    kg_wire_end(w->out, one->index);
    if (status == KG_EDEVICE && w->context->device.kind == KG_CUDA)
        _exit(0); /* cleaning up in a lost context may hang */
    kg_subject_done(&subject);
    if (status == KG_EDEVICE)
        kg_fixture_done(&w->fixture); /* what it wrote where it should not must not be blamed on the next */
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
    if (!status)
        status = kg_wire_resolve_job(wire, w->module.root, ret_error);
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
    signal(SIGINT, SIG_IGN); /* the parent decides when a run ends */
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
    kg_host_done(&w.host);
    w.context->ops->close(w.context);
    kg_wire_job_done(&wire);
    fclose(w.out);
    return 0;
}

int kg_worker_probe(const char *kind)
{
    kg_device devices[KG_MAX_DEVICES];
    kg_error error = { 0 };
    int count = 0;
    FILE *out = fdopen(KG_WORKER_MESSAGES, "w");
    if (!out)
        return 2;
    kg_device_probe(!strcmp(kind, "cuda") ? KG_CUDA : KG_CPU, devices, KG_MAX_DEVICES, &count, &error);
    kg_wire_devices(out, devices, count, error.text);
    fclose(out);
    return 0;
}
