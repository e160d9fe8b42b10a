/* worker.c -- the process: reads its job, runs the cases in order, says goodbye. A device error ends it, since the
 * context may be lost, and the parent starts another. */
#include "worker/worker.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "worker/case_run.h"
#include "worker/phase.h"
#include "worker/twin.h"
#include "worker/wire.h"

/* What the parent read the tables of, and nothing that stands there since, nor another library that is found first. */
static int open_module(const char *path, const char *stamps, struct kg_loaded *ret_loaded, kg_error *ret_error)
{
    int status = kg_module_open(path, ret_loaded, ret_error);
    if (status || !*stamps)
        return status;
    for (const char *line = ret_loaded->stamps, *next; *line; line = next) {
        const char *its = strchr(line, ' ') + 1;
        next = strchr(its, '\n') + 1;
        if (*line != ' ' && !memmem(stamps, strlen(stamps), line, (size_t)(next - line)))
            return kg_fail(ret_error, KG_EINVAL, "%.*s is not what it was when the run began",
                           (int)(next - its > 400 ? 400 : next - its - 1), its);
    }
    return KG_OK;
}

int kg_worker_open(struct kg_worker *w, struct kg_wire_job *wire, kg_error *ret_error)
{
    FILE *in = fdopen(KG_WORKER_JOB, "r");
    if (!in)
        return kg_fail(ret_error, KG_EIO, "kgate worker is started by kgate run");
    int status = kg_wire_read_job(in, wire, ret_error);
    fclose(in);
    if (status)
        return status;
    const struct kg_job *job = w->job = &wire->job;
    const bool against = *job->baseline, limited = kg_shared_memory_is_limited(); /* before a module could say so */
    if (against) /* first: the two open the device at once */
        status = kg_twin_start(wire->root, job, &w->twin, ret_error);
    if (!status)
        status = open_module(against ? job->baseline : job->module, against ? job->baseline_stamps : job->module_stamps,
                             &w->module, ret_error);
    if (!status)
        status = kg_wire_resolve_job(wire, w->module.root, ret_error);
    kg_host_init(&w->host);
    const bool own = against && job->n_baseline_library_paths;
    w->host.library_paths = own ? job->baseline_library_paths : job->library_paths;
    w->host.n_library_paths = own ? job->n_baseline_library_paths : job->n_library_paths;
    w->host.knobs = job->knobs;
    w->host.n_knobs = job->n_knobs;
    w->host.cache = job->cache;
    if (!status)
        status = kg_apart_start(&w->host.host, &w->host.apart, ret_error);
    if (!status)
        status = kg_device_open(job->kind, job->device, &w->context, ret_error);
    if (!status) /* a kernel that sees who writes need not work where nobody did */
        w->context->unseen_writes = job->kind == KG_CPU && job->round > 0 && !limited;
    if (!status && w->twin)
        kg_twin_share(w->twin, w->context);
    return status;
}

static void close_twin(struct kg_worker *w, const struct kg_job_case *one)
{
    kg_twin_close(w->twin);
    kg_tell_death(w, one);
}

static void run_cases(struct kg_worker *w)
{
    for (size_t i = 0; i < w->job->n_cases; i++) {
        const struct kg_job_case *one = &w->job->cases[i];
        kg_run_case(w, one);
        if (i + 1 == w->job->n_cases) { /* the last answers for what all of them opened */
            kg_phase_begin(w, one, KG_CLOSE);
            kg_fixture_done(&w->fixture);
            kg_fixture_done(&w->other);
            kg_host_done(&w->host);
            if (w->twin)
                close_twin(w, one);
        }
        kg_phase_end(w, one);
    }
}

int kg_worker_run(void)
{
    struct kg_worker w = { .out = fdopen(KG_WORKER_MESSAGES, "w") };
    struct kg_wire_job wire = { 0 };
    kg_error error = { 0 };
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    fcntl(KG_WORKER_MESSAGES, F_SETFD, FD_CLOEXEC);
    signal(SIGINT, SIG_IGN); /* the parent decides when a run ends; signals often go to both */
    signal(SIGTERM, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    int status = w.out ? kg_worker_open(&w, &wire, &error) : KG_EIO;
    if (!status)
        kg_wire_sign(wire.job.token);
    if (status) {
        fprintf(stderr, "kgate worker: %s\n", w.out ? error.text : "no pipe to write to");
        return 2;
    }
    w.host.part = kg_phase_part;
    w.host.argument = &w;
    run_cases(&w);
    kg_wire_bye(w.out);
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
