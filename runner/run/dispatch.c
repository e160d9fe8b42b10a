/* dispatch.c -- feeds a job to workers until every case of it has ended, blaming who was running when one died. */
#include "run/dispatch.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "run/process.h"
#include "worker/wire.h"

struct dispatch {
    const struct kg_job *job;
    const struct kg_dispatch_options *options;
    struct kg_result *results;
    size_t n_results;
    bool *ended;               /* by the job's order */
    size_t active;             /* place in the job of the case at hand; n_cases: none */
    size_t last;               /* of the case that the worker at hand ended last; n_cases: none */
    char token[KG_TOKEN_SIZE]; /* of the worker at hand */
    bool bye, stop, timed_out, interrupted, forged;
};

static void end_case(struct dispatch *p, size_t place)
{
    p->ended[place] = true;
    if (p->options->ended)
        p->options->ended(p->options->ended_argument, p->job->cases[place].index);
    p->stop = p->options->stop && p->options->stop->failed;
}

static void blame(struct dispatch *p, size_t place, const char *what)
{
    const struct kg_job_case *one = &p->job->cases[place];
    struct kg_result *result = &p->results[one->index];
    result->outcome = KG_BROKEN;
    result->baseline_broken = *p->job->baseline && !one->is_new; /* the other build has a process of its own */
    snprintf(result->note, sizeof result->note, "%s during %s", what, kg_phase_name(result->phase));
    end_case(p, place);
}

/* A worker that crashes or hangs after its cases, in a module's destructor say, costs the last of them. */
static void blame_last(struct dispatch *p, const char *what)
{
    struct kg_result *result = &p->results[p->job->cases[p->last].index];
    if (result->outcome != KG_BROKEN)
        snprintf(result->note, sizeof result->note, "%s after the worker's last case", what);
    result->outcome = KG_BROKEN;
    end_case(p, p->last);
}

static size_t place_of(const struct dispatch *p, size_t index)
{
    size_t place = 0;
    while (place < p->job->n_cases && p->job->cases[place].index != index)
        place++;
    return place;
}

/* A case begins when none is at hand, and all that is said until it ends is of it. */
static bool is_in_order(const struct dispatch *p, enum kg_message_type type, size_t place)
{
    const size_t none = p->job->n_cases;
    if (p->bye || type == KG_MESSAGE_BYE)
        return !p->bye && p->active == none;
    if (place == none || p->ended[place])
        return false;
    return place == p->active || (p->active == none && type == KG_MESSAGE_BEGIN);
}

static void apply(struct dispatch *p, const struct kg_message *message, size_t place)
{
    p->bye = message->type == KG_MESSAGE_BYE;
    if (p->bye)
        return;
    kg_wire_apply(message, &p->results[message->index]);
    p->active = place;
    if (message->type == KG_MESSAGE_END) {
        p->active = p->job->n_cases;
        p->last = place;
        end_case(p, place);
    }
    if (p->options->progress)
        p->options->progress(p->options->progress_argument, message->index, p->results[message->index].phase);
}

/* After a line that is not the worker's own nothing of it can be believed. */
static void take(struct dispatch *p, const char *line, size_t length)
{
    struct kg_message message = { 0 };
    p->forged = kg_wire_parse(line, length, p->token, p->n_results, &message, NULL) != KG_OK;
    const size_t place = p->forged ? 0 : place_of(p, message.index);
    p->forged = p->forged || !is_in_order(p, message.type, place);
    if (!p->forged)
        apply(p, &message, place);
    cJSON_Delete(message.root);
}

static struct kg_patience patience_of(const struct dispatch *p)
{
    const struct kg_stop *stop = p->options->stop;
    return (struct kg_patience){ .timeout_s = p->options->timeout_s,
                                 .deadline_s = stop ? stop->deadline_s : 0,
                                 .stop = stop ? stop->signalled : NULL };
}

/* Until the worker ends, or is killed for one of three reasons. */
static void listen(struct dispatch *p, struct kg_process *process, char *ret_how, size_t size)
{
    const struct kg_patience patience = patience_of(p);
    const char *line = NULL;
    size_t length = 0;
    enum kg_read got = KG_READ_LINE;
    while (!p->stop && !p->forged && (got = kg_process_read_line(process, &patience, &line, &length)) == KG_READ_LINE)
        take(p, line, length);
    p->timed_out = got == KG_READ_TIMEOUT;
    p->interrupted = got == KG_READ_STOPPED;
    kg_process_finish(process, ret_how, size);
    if (got == KG_READ_END && !p->bye) /* what stopped the run may have ended a worker that had only begun, too */
        p->interrupted = kg_patience_over(&patience);
}

static bool is_timed(const struct kg_job *job)
{
    bool timed = false;
    for (size_t i = 0; i < job->n_cases; i++)
        timed = timed || job->cases[i].time;
    return timed;
}

/* Threads that wait for one another by spinning, as OpenMP's do by default, cost a busy machine many times the work: a
 * worker that times nothing has them sleep. */
static int start(const struct dispatch *p, const struct kg_job *job, struct kg_process *ret_process,
                 kg_error *ret_error)
{
    char threads[32] = "";
    const char *settings[3] = { NULL, NULL, NULL };
    const char *const arguments[] = { "run", NULL };
    if (!is_timed(job)) {
        settings[0] = "OMP_WAIT_POLICY=passive";
        if (p->options->threads) {
            snprintf(threads, sizeof threads, "OMP_NUM_THREADS=%d", p->options->threads);
            settings[1] = threads;
        }
    }
    return kg_process_start(arguments, settings, p->options->log_path, ret_process, ret_error);
}

static void draw_token(char ret_token[KG_TOKEN_SIZE])
{
    uint64_t words[2] = { 0 };
    (void)!getrandom(words, sizeof words, 0);
    snprintf(ret_token, KG_TOKEN_SIZE, "%016" PRIx64 "%016" PRIx64, words[0], words[1]);
}

/* One worker over the cases that have not ended. */
static int run_worker(struct dispatch *p, kg_error *ret_error)
{
    struct kg_process process;
    struct kg_job rest = *p->job;
    char how[128], what[220];
    rest.cases = malloc(p->job->n_cases * sizeof *rest.cases);
    if (!rest.cases)
        return kg_fail(ret_error, KG_ENOMEM, "out of memory for a job");
    rest.n_cases = 0;
    for (size_t i = 0; i < p->job->n_cases; i++)
        if (!p->ended[i] && (rest.n_cases == 0 || p->job->cases[i].is_new == rest.cases[0].is_new))
            rest.cases[rest.n_cases++] = p->job->cases[i];
    if (rest.n_cases > 0 && rest.cases[0].is_new)
        *rest.baseline = '\0';
    p->active = p->last = p->job->n_cases;
    p->bye = p->timed_out = p->forged = false;
    draw_token(p->token);
    memcpy(rest.token, p->token, sizeof rest.token);
    int status = start(p, &rest, &process, ret_error);
    if (!status) {
        kg_wire_write_job(process.job, &rest, NULL); /* a worker that is gone already shows below */
        close(process.job);
        process.job = -1;
        listen(p, &process, how, sizeof how);
        if (p->timed_out)
            snprintf(what, sizeof what, "hangs: no progress in %g s", p->options->timeout_s);
        else if (p->forged)
            snprintf(what, sizeof what, "the worker's pipe holds what kgate did not write there");
        else
            snprintf(what, sizeof what, "the worker died: %s", how);
        if (p->active < p->job->n_cases && !p->bye && !p->stop && !p->interrupted)
            blame(p, p->active, what);
        else if (p->last < p->job->n_cases && !p->stop && !p->interrupted &&
                 (!p->bye || p->timed_out || !strncmp(how, "signal", 6)))
            blame_last(p, what);
    }
    free(rest.cases);
    return status;
}

static size_t count_ended(const struct dispatch *p)
{
    size_t count = 0;
    for (size_t i = 0; i < p->job->n_cases; i++)
        count += p->ended[i];
    return count;
}

int kg_dispatch_run(const struct kg_job *job, const struct kg_dispatch_options *options, struct kg_result *results,
                    size_t n_results, bool *ret_stopped, kg_error *ret_error)
{
    struct dispatch p = { .job = job, .options = options, .results = results, .n_results = n_results };
    int status = KG_OK;
    p.ended = calloc(job->n_cases + 1, sizeof *p.ended);
    if (!p.ended)
        return kg_fail(ret_error, KG_ENOMEM, "out of memory for a round");
    signal(SIGPIPE, SIG_IGN);
    size_t before = 0, after = 0;
    const struct kg_patience patience = patience_of(&p);
    while (!status && !p.stop && (before = count_ended(&p)) < job->n_cases) {
        p.interrupted = p.interrupted || kg_patience_over(&patience);
        if (p.interrupted)
            break;
        status = run_worker(&p, ret_error);
        after = count_ended(&p);
        if (!status && after == before && !p.interrupted) /* died before its first case: the next would too */
            status = kg_fail(ret_error, KG_EIO, "a worker died before its first case%s%s",
                             options->log_path ? "; what it printed is in " : "",
                             options->log_path ? options->log_path : "");
    }
    free(p.ended);
    if (!status && ret_stopped)
        *ret_stopped = p.interrupted;
    return status;
}

int kg_dispatch_probe(enum kg_device_kind kind, int work, kg_device *ret_devices, struct kg_device_health *ret_healths,
                      int max, int *ret_count, kg_error *ret_error)
{
    struct kg_process process;
    char how[128];
    char index[16];
    snprintf(index, sizeof index, "%d", work);
    const char *const arguments[] = { "probe", kind == KG_CUDA ? "cuda" : "cpu", work < 0 ? NULL : index, NULL };
    int status = kg_process_start(arguments, NULL, NULL, &process, ret_error);
    if (status)
        return status;
    const char *line = NULL;
    size_t length = 0;
    close(process.job);
    process.job = -1;
    const struct kg_patience patience = { .timeout_s = 60 };
    enum kg_read got = kg_process_read_line(&process, &patience, &line, &length);
    if (got == KG_READ_LINE)
        status = kg_wire_read_devices(line, length, ret_devices, ret_healths, max, ret_count, ret_error);
    kg_process_finish(&process, how, sizeof how);
    if (got != KG_READ_LINE)
        status = kg_fail(ret_error, KG_EUNSUPPORTED, "no %s device: the probe %s", kind == KG_CUDA ? "CUDA" : "CPU",
                         got == KG_READ_TIMEOUT ? "hangs" : how);
    return status;
}
