/* crew.c -- a thread for each worker runs its part of the job; what they have in common is told under a lock. */
#include "run/crew.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

/* What one worker of a device of that kind has to itself. */
static const struct {
    int cores;
    uint64_t bytes;
    int most;     /* workers */
    double flops; /* that take, with their reference, as long as the rest of a case's check */
} needs[] = { [KG_CPU] = { 1, 4ull << 30, 4, 1e7 }, [KG_CUDA] = { 2, 9ull << 30, 8, 1e10 } };

struct crew {
    const struct kg_job *job;
    const struct kg_dispatch_options *options; /* the caller's */
    int threads;                               /* of OpenMP, each; 0: all */
    struct kg_result *results;
    size_t n_results;
    pthread_mutex_t telling;
};

struct member {
    struct crew *crew;
    struct kg_job part;
    pthread_t thread;
    double cost; /* of the part, in checks of a case that is next to no work */
    bool started, stopped;
    int status;
    kg_error error;
};

static int cores(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) ? 1 : CPU_COUNT(&set);
}

int kg_crew_size(const kg_device *device)
{
    const int by_cores = cores() / needs[device->kind].cores;
    const int by_memory = (int)(device->memory_bytes / needs[device->kind].bytes);
    const int size = by_cores < by_memory ? by_cores : by_memory;
    return size < 1 ? 1 : size < needs[device->kind].most ? size : needs[device->kind].most;
}

/* ---- what members tell ---- */

static void progress(void *argument, size_t index, enum kg_phase phase)
{
    struct crew *crew = argument;
    pthread_mutex_lock(&crew->telling);
    if (crew->options->progress)
        crew->options->progress(crew->options->progress_argument, index, phase);
    pthread_mutex_unlock(&crew->telling);
}

static void ended(void *argument, size_t index)
{
    struct crew *crew = argument;
    pthread_mutex_lock(&crew->telling);
    if (crew->options->ended)
        crew->options->ended(crew->options->ended_argument, index);
    pthread_mutex_unlock(&crew->telling);
}

static void *work(void *argument)
{
    struct member *m = argument;
    struct kg_dispatch_options options = *m->crew->options;
    options.progress = progress;
    options.ended = ended;
    options.progress_argument = options.ended_argument = m->crew;
    options.threads = m->crew->threads;
    m->status = kg_dispatch_run(&m->part, &options, m->crew->results, m->crew->n_results, &m->stopped, &m->error);
    return NULL;
}

/* ---- parts ---- */

static bool same_shape(const struct kg_job_case *a, const struct kg_job_case *b)
{
    return a->of.suite == b->of.suite && a->of.shape_ordinal == b->of.shape_ordinal;
}

static double cost_of(const struct kg_result *result)
{
    return 1 + result->work.flops / needs[result->of.kind].flops;
}

static struct member *least_of(struct member *members, int n_members)
{
    struct member *least = members;
    for (struct member *m = members; m < members + n_members; m++)
        least = m->cost < least->cost ? m : least;
    return least;
}

/* A shape to who has least to do so far. */
static void share_out(const struct crew *crew, struct member *members, int n_members, bool alone)
{
    const struct kg_job *job = crew->job;
    struct member *to = members;
    for (int m = 0; m < n_members; m++)
        members[m].part.n_cases = 0;
    for (size_t i = 0; i < job->n_cases; i++) {
        if (i == 0 || !same_shape(&job->cases[i], &job->cases[i - 1]))
            to = least_of(members, n_members);
        if (job->cases[i].alone != alone)
            continue;
        to->part.cases[to->part.n_cases++] = job->cases[i];
        to->cost += cost_of(&crew->results[job->cases[i].index]);
    }
}

static int run_members(struct member *members, int n_members, bool *ret_stopped, kg_error *ret_error)
{
    int status = KG_OK;
    for (int m = 0; m < n_members; m++) {
        members[m].started = members[m].part.n_cases && !pthread_create(&members[m].thread, NULL, work, &members[m]);
        if (members[m].part.n_cases && !members[m].started)
            work(&members[m]); /* one after the other, then */
    }
    for (int m = 0; m < n_members; m++) {
        if (members[m].started)
            (void)pthread_join(members[m].thread, NULL);
        *ret_stopped |= members[m].stopped;
        if (members[m].status && !status) {
            status = members[m].status;
            *ret_error = members[m].error;
        }
    }
    return status;
}

static int run_parts(struct crew *crew, struct member *members, int n_members, bool *ret_stopped, kg_error *ret_error)
{
    for (int m = 0; m < n_members; m++) {
        members[m] = (struct member){ .crew = crew, .part = *crew->job };
        members[m].part.cases = calloc(crew->job->n_cases + 1, sizeof *members[m].part.cases);
        if (!members[m].part.cases)
            return kg_fail(ret_error, KG_ENOMEM, "out of memory for a job");
    }
    share_out(crew, members, n_members, false);
    int status = run_members(members, n_members, ret_stopped, ret_error);
    if (status || *ret_stopped || (crew->options->stop && crew->options->stop->failed))
        return status;
    share_out(crew, members, 1, true);
    return run_members(members, 1, ret_stopped, ret_error);
}

int kg_crew_run(const struct kg_job *job, int n_workers, const struct kg_dispatch_options *options,
                struct kg_result *results, size_t n_results, bool *ret_stopped, kg_error *ret_error)
{
    if (n_workers <= 1)
        return kg_dispatch_run(job, options, results, n_results, ret_stopped, ret_error);
    struct crew crew = { .job = job, .options = options, .results = results, .n_results = n_results };
    struct member *members = calloc((size_t)n_workers, sizeof *members);
    bool stopped = false;
    if (!members)
        return kg_fail(ret_error, KG_ENOMEM, "out of memory for a job");
    if (job->kind == KG_CUDA) /* a CPU's kernels are checked with as many as they are timed with */
        crew.threads = cores() / n_workers > 0 ? cores() / n_workers : 1;
    (void)pthread_mutex_init(&crew.telling, NULL);
    int status = run_parts(&crew, members, n_workers, &stopped, ret_error);
    for (int m = 0; m < n_workers; m++)
        free(members[m].part.cases);
    (void)pthread_mutex_destroy(&crew.telling);
    free(members);
    if (!status && ret_stopped)
        *ret_stopped = stopped;
    return status;
}
