/* gates_check.c -- picks a case for each set of inputs and arithmetic, has workers judge the gates there, and counts.
 */
#include "selfcheck/gates_check.h"

#include <stdlib.h>

#include "run/dispatch.h"
#include "run/progress.h"
#include "run/schedule.h"
#include "run/session.h"

kg_wrong_set kg_gates_weak(const struct kg_result *result)
{
    return result->strength.accepted & ~result->of.policy.excused;
}

/* What the gates make of wrong answers hangs on nothing else of a case. */
static bool same_gates(const struct kg_case *a, const struct kg_case *b)
{
    return a->suite == b->suite && a->problem == b->problem && a->seed == b->seed && a->regime == b->regime &&
           a->backend->arithmetic == b->backend->arithmetic;
}

/* Results of one shape lie together. */
static bool is_first(const struct kg_session *s, size_t i)
{
    const struct kg_case *of = &s->results[i].of;
    for (size_t k = i; k-- > 0 && s->results[k].of.problem == of->problem;)
        if (same_gates(&s->results[k].of, of))
            return false;
    return true;
}

/* Those of a GPU that is not there stay in the list: they are counted. */
static void choose(const struct kg_session *s, struct kg_job *job, struct kg_job_case *room,
                   const struct kg_result **items, size_t *ret_count)
{
    job->cases = room;
    for (size_t i = 0; i < s->n_results; i++) {
        const struct kg_result *r = &s->results[i];
        if (!is_first(s, i))
            continue;
        items[(*ret_count)++] = r;
        if (r->outcome == KG_RAN)
            room[job->n_cases++] = (struct kg_job_case){ .index = i, .of = r->of, .strength_only = true };
    }
}

static void count(struct kg_gates_table *table)
{
    for (size_t i = 0; i < table->count; i++) {
        const struct kg_result *r = table->items[i];
        table->n_judged += r->strength.judged;
        table->n_weak += kg_gates_weak(r) != 0;
        table->n_skipped += r->outcome == KG_SKIPPED;
        table->n_broken += r->outcome == KG_BROKEN;
    }
}

static int status_of(const struct kg_gates_table *table)
{
    if (table->n_broken)
        return 1;
    if (table->n_weak || *table->stopped)
        return 4;
    return table->n_judged ? 0 : 77;
}

static int check_session(struct kg_session *s, const struct kg_result **items, struct kg_job_case *room, FILE *out,
                         int *ret_exit, kg_error *ret_error)
{
    const struct kg_stop stop = kg_stop_arm(s->options->timeout_s);
    struct kg_progress progress = { .results = s->results };
    char log_path[KG_PATH_SIZE + 32], why[sizeof s->run.partial] = "";
    struct kg_job job = kg_schedule_job(s);
    struct kg_gates_table table = { .items = items, .stopped = why };
    bool stopped = false;
    choose(s, &job, room, items, &table.count);
    (void)snprintf(log_path, sizeof log_path, "%s/workers.log", s->folder);
    const struct kg_dispatch_options options = { .timeout_s = s->options->case_timeout_s,
                                                 .log_path = log_path,
                                                 .progress = kg_progress_step,
                                                 .progress_argument = &progress,
                                                 .stop = &stop };
    kg_progress_begin(&progress, "gates", false, job.n_cases, 0);
    int status = job.n_cases ? kg_dispatch_run(&job, &options, s->results, s->n_results, &stopped, ret_error) : KG_OK;
    kg_progress_end(&progress);
    if (status)
        return status;
    if (stopped)
        kg_stop_why(&stop, why, sizeof why);
    count(&table);
    *ret_exit = status_of(&table);
    if (s->options->format == KG_FORMAT_JSON)
        return kg_gates_table_put_json(&table, out, ret_error);
    kg_gates_table_put(&table, out);
    return KG_OK;
}

int kg_gates_check(const struct kg_options *options, FILE *out, kg_error *ret_error)
{
    struct kg_options untimed = *options; /* waits for nobody */
    struct kg_session session;
    int exit_status = 2;
    untimed.no_time = true;
    int status = kg_session_open(&session, &untimed, ret_error);
    const struct kg_result **items = calloc(session.n_results + 1, sizeof *items);
    struct kg_job_case *room = calloc(session.n_results + 1, sizeof *room);
    if (!status && (!items || !room))
        status = kg_fail(ret_error, KG_ENOMEM, "out of memory for the gates");
    if (!status)
        status = check_session(&session, items, room, out, &exit_status, ret_error);
    free(items);
    free(room);
    kg_session_done(&session);
    return status ? 2 : exit_status;
}
