/* rounds.c -- who runs in which round is schedule.c's, who is decided verdict.c's; this file asks both, round by round.
 */
#include "run/rounds.h"

#include <stdlib.h>
#include <string.h>

#include "judge/decision.h"
#include "run/schedule.h"
#include "judge/verdict.h"

int kg_rounds_init(struct kg_rounds *r, struct kg_session *session, kg_error *ret_error)
{
    *r = (struct kg_rounds){ .session = session };
    r->room = calloc(session->n_results + 1, sizeof *r->room);
    r->timed = calloc(session->n_results + 1, sizeof *r->timed);
    r->open = calloc(session->n_results + 1, sizeof *r->open);
    if (!r->room || !r->timed || !r->open)
        return kg_fail(ret_error, KG_ENOMEM, "out of memory for the rounds");
    snprintf(r->log_path, sizeof r->log_path, "%s/workers.log", session->folder);
    r->progress.results = session->results;
    r->stop = kg_stop_arm(session->options->timeout_s);
    r->options = (struct kg_dispatch_options){ .timeout_s = session->options->case_timeout_s,
                                               .log_path = r->log_path,
                                               .fail_fast = session->options->fail_fast,
                                               .progress = kg_progress_step,
                                               .progress_argument = &r->progress,
                                               .stop = r->stop.signalled,
                                               .deadline_s = r->stop.deadline_s };
    return KG_OK;
}

void kg_rounds_done(struct kg_rounds *r)
{
    free(r->room);
    free(r->timed);
    free(r->open);
    *r = (struct kg_rounds){ 0 };
}

static int run_job(struct kg_rounds *r, const struct kg_job *job, size_t later, kg_error *ret_error)
{
    char stage[32] = "correctness";
    if (job->round)
        snprintf(stage, sizeof stage, "round %d", job->round);
    kg_progress_begin(&r->progress, stage, job->round > 0, job->n_cases, later);
    int status = kg_dispatch_run(job, &r->options, r->session->results, r->session->n_results, &r->stopped, ret_error);
    kg_progress_end(&r->progress);
    return status;
}

/* ---- which rounds are to come ---- */

/* Two sets of looks, or as many blocks as a golden gets. */
static int most_rounds(const struct kg_session *s)
{
    const int given = s->options->rounds;
    int rounds = s->options->bless ? (given ? given : KG_BLESS_ROUNDS) : 2 * (given ? given : KG_MAX_ROUNDS);
    return rounds < KG_MAX_BLOCKS ? rounds : KG_MAX_BLOCKS;
}

/* Rounds after this one that what is open will have for certain: up to the next look. */
static int certain_rounds(const struct kg_session *s, int round)
{
    const int most = most_rounds(s), looks = round ? (round + KG_LOOK_EVERY - 1) / KG_LOOK_EVERY : 1;
    const int last = s->options->bless ? most : looks * KG_LOOK_EVERY;
    return (last < most ? last : most) - round;
}

/* Where nothing judges the time, one block is all that a case gets. */
static bool is_judged(const struct kg_session *s, size_t i)
{
    return s->options->bless || s->options->against || kg_schedule_golden(s, &s->results[i]);
}

/* Others of a shape are not timed, unless that is asked for. */
static bool is_first_seed(const struct kg_session *s, size_t i)
{
    const struct kg_case *of = &s->results[i].of;
    size_t first = i;
    while (first > 0 && s->results[first - 1].of.suite == of->suite &&
           s->results[first - 1].of.shape_ordinal == of->shape_ordinal)
        first--;
    return s->options->time_every_seed || s->results[first].of.seed == of->seed;
}

static size_t certain_blocks(const struct kg_rounds *r, int round)
{
    const struct kg_session *s = r->session;
    const size_t rounds = (size_t)certain_rounds(s, round);
    size_t blocks = 0;
    for (size_t i = 0; i < s->n_results; i++)
        if (r->open[i] && (round || is_first_seed(s, i)))
            blocks += is_judged(s, i) ? rounds : round == 0;
    return blocks;
}

/* ---- the rounds ---- */

/* Of the cases that --fail-fast did not reach. */
static void skip_unreached(struct kg_session *s)
{
    for (size_t i = 0; i < s->n_results; i++) {
        struct kg_result *result = &s->results[i];
        if (result->outcome != KG_RAN || result->compared)
            continue;
        result->outcome = KG_SKIPPED;
        snprintf(result->note, sizeof result->note, "not run: --fail-fast stopped the run");
    }
}

static int check(struct kg_rounds *r, struct kg_job *job, kg_error *ret_error)
{
    struct kg_session *s = r->session;
    kg_schedule_correctness(s, r->room, job);
    for (size_t i = 0; i < s->n_results; i++) /* who will be timed is not known yet: all that can be */
        r->open[i] = s->results[i].outcome == KG_RAN && kg_schedule_policy(s, &s->results[i]).timed;
    int status = job->n_cases ? run_job(r, job, certain_blocks(r, 0), ret_error) : KG_OK;
    if (status || r->stopped)
        return status;
    if (s->options->fail_fast)
        skip_unreached(s);
    kg_schedule_choose_timed(s, r->timed);
    memcpy(r->open, r->timed, s->n_results * sizeof *r->open);
    return KG_OK;
}

/* Under --bless every case gets the same number of blocks. */
static bool wants_more(struct kg_rounds *r, size_t i)
{
    struct kg_session *s = r->session;
    struct kg_result *result = &s->results[i];
    const struct kg_policy policy = kg_schedule_policy(s, result);
    kg_result_summarise(result, &s->device);
    bool more = kg_verdict_decide(result, kg_schedule_golden(s, result), &policy);
    if (result->outcome != KG_RAN || !kg_gate_marks_all(result->marks))
        return false;
    return more || s->options->bless;
}

int kg_rounds_run(struct kg_rounds *r, kg_error *ret_error)
{
    struct kg_session *s = r->session;
    struct kg_job job = kg_schedule_job(s);
    const int most = most_rounds(s);
    int status = check(r, &job, ret_error);
    for (int round = 1; round <= most && !status && !r->stopped; round++) {
        kg_schedule_round(s, r->open, round, r->room, &job);
        if (!job.n_cases)
            break;
        status = run_job(r, &job, certain_blocks(r, round), ret_error);
        for (size_t i = 0; i < s->n_results && !status && !r->stopped; i++)
            r->open[i] = r->open[i] && wants_more(r, i);
    }
    return status;
}
