/* rounds.c -- who runs in which round is schedule.c's, what a result comes to verdict.c's; this file asks both, round
 * by round, and keeps the last answer. */
#include "run/rounds.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "judge/changed.h"
#include "judge/decision.h"
#include "judge/judge.h"
#include "judge/verdict.h"
#include "run/schedule.h"

/* ---- judging ---- */

static void judge(struct kg_rounds *r, size_t i, const char *stopped)
{
    struct kg_session *s = r->session;
    struct kg_result *result = &s->results[i];
    struct kg_expectation expectation = kg_session_expectation(s, result);
    expectation.stopped = stopped;
    expectation.failed_fast = r->stop.failed;
    kg_result_summarise(result, &s->device);
    r->more[i] = kg_verdict_decide(result, &expectation);
    r->answered[i] = true;
}

/* Right, and about to be timed: what is said of it until then is not the last word, be it XPASS. */
static bool awaits_time(const struct kg_result *result)
{
    return result->outcome == KG_RAN && kg_gate_marks_all(result->marks) && kg_result_is_timed(result) &&
           !result->n_blocks;
}

static bool is_final(const struct kg_rounds *r, size_t i)
{
    return r->answered[i] && !r->more[i] && !awaits_time(&r->session->results[i]);
}

/* Judges it, and stops the run where that is asked for. A bless renews what got slower, so that stops none. */
static void case_ended(void *argument, size_t i)
{
    struct kg_rounds *r = argument;
    const struct kg_result *result = &r->session->results[i];
    judge(r, i, NULL);
    const bool slow = result->verdict == KG_SLOW && !r->session->options->bless;
    if (is_final(r, i) && (slow || kg_verdict_is_wrong(result->verdict)))
        kg_stop_at_failure(&r->stop);
}

/* What no worker ran, and what the run did not get through. */
static void judge_rest(struct kg_rounds *r)
{
    struct kg_session *s = r->session;
    char why[sizeof s->run.partial] = "";
    if (r->stopped || r->stop.failed)
        kg_stop_why(&r->stop, why, sizeof why);
    if (r->stopped)
        memcpy(s->run.partial, why, sizeof why);
    for (size_t i = 0; i < s->n_results; i++) {
        const bool left = *why && !is_final(r, i);
        if (left || !r->answered[i])
            judge(r, i, left ? why : NULL);
    }
}

/* ---- jobs ---- */

int kg_rounds_init(struct kg_rounds *r, struct kg_session *session, kg_error *ret_error)
{
    *r = (struct kg_rounds){ .session = session };
    r->room = calloc(session->n_results + 1, sizeof *r->room);
    r->timed = calloc(session->n_results + 1, sizeof *r->timed);
    r->open = calloc(session->n_results + 1, sizeof *r->open);
    r->answered = calloc(session->n_results + 1, sizeof *r->answered);
    r->more = calloc(session->n_results + 1, sizeof *r->more);
    r->waits = calloc(session->n_results + 1, sizeof *r->waits);
    if (!r->room || !r->timed || !r->open || !r->answered || !r->more || !r->waits)
        return kg_fail(ret_error, KG_ENOMEM, "out of memory for the rounds");
    snprintf(r->log_path, sizeof r->log_path, "%s/workers.log", session->folder);
    r->progress.results = session->results;
    r->stop = kg_stop_arm(session->options->timeout_s);
    r->stop.fail_fast = session->options->fail_fast;
    r->options = (struct kg_dispatch_options){ .timeout_s = session->options->case_timeout_s,
                                               .log_path = r->log_path,
                                               .progress = kg_progress_step,
                                               .progress_argument = &r->progress,
                                               .ended = case_ended,
                                               .ended_argument = r,
                                               .stop = &r->stop };
    return KG_OK;
}

void kg_rounds_done(struct kg_rounds *r)
{
    free(r->room);
    free(r->timed);
    free(r->open);
    free(r->answered);
    free(r->more);
    free(r->waits);
    *r = (struct kg_rounds){ 0 };
}

/* Launches that are compared bit by bit have the device to themselves. */
static int workers_of(const struct kg_session *s)
{
    if (s->options->jobs)
        return s->options->jobs;
    return s->options->repeat ? 1 : kg_crew_size(&s->device);
}

static int check_files(const struct kg_session *s, kg_error *ret_error)
{
    int status = kg_module_is_same(&s->module, ret_error);
    return status || !s->baseline.root ? status : kg_module_is_same(&s->baseline, ret_error);
}

static int run_job(struct kg_rounds *r, const struct kg_job *job, size_t later, kg_error *ret_error)
{
    char stage[32] = "correctness";
    int status = check_files(r->session, ret_error);
    if (status)
        return status;
    if (job->round)
        snprintf(stage, sizeof stage, "round %d", job->round);
    kg_progress_begin(&r->progress, stage, job->round > 0, job->n_cases, later);
    kg_error cause = { 0 };
    const int failed = kg_crew_run(job, job->round ? 1 : workers_of(r->session), &r->options, r->session->results,
                                   r->session->n_results, &r->stopped, &cause);
    kg_progress_end(&r->progress);
    status = check_files(r->session, ret_error); /* first: a worker that finds another file ends at once */
    if (!status && failed)
        *ret_error = cause;
    return status ? status : failed;
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
    return s->options->bless || s->options->against || kg_session_expectation(s, &s->results[i]).golden;
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

static bool goes_on(const struct kg_rounds *r)
{
    return !r->stopped && !r->stop.failed;
}

static int check(struct kg_rounds *r, struct kg_job *job, kg_error *ret_error)
{
    struct kg_session *s = r->session;
    kg_schedule_correctness(s, r->room, job);
    for (size_t i = 0; i < s->n_results; i++) /* who will be timed is not known yet: all that can be */
        r->open[i] = s->results[i].outcome == KG_RAN && kg_result_is_timed(&s->results[i]);
    int status = job->n_cases ? run_job(r, job, certain_blocks(r, 0), ret_error) : KG_OK;
    if (status || !goes_on(r))
        return status;
    kg_schedule_choose_timed(s, r->timed);
    memcpy(r->open, r->timed, s->n_results * sizeof *r->open);
    for (size_t i = 0; i < s->n_results; i++) /* whether another seed is right, and is the one that is timed, is new */
        r->answered[i] = r->answered[i] && s->results[i].outcome != KG_DEFERRED;
    return KG_OK;
}

/* --budget counts from the first block past --rounds. */
static bool has_time_for_extra(struct kg_rounds *r)
{
    if (!(r->extra_until_s > 0))
        r->extra_until_s = kg_now_s() + r->session->options->budget_s;
    return kg_now_s() < r->extra_until_s;
}

/* Under --bless every case gets the same number of blocks. */
static bool wants_more(struct kg_rounds *r, size_t i)
{
    const struct kg_session *s = r->session;
    const struct kg_result *result = &s->results[i];
    if (result->outcome != KG_RAN || !kg_gate_marks_all(result->marks))
        return false;
    if (r->more[i] && result->judgement.wants_extra)
        return has_time_for_extra(r);
    return r->more[i] || s->options->bless;
}

/* A duel will judge it, whatever a golden of another card says. */
static bool is_for_duel(const struct kg_session *s, size_t i)
{
    const struct kg_result *result = &s->results[i];
    const struct kg_expectation e = kg_session_expectation(s, result);
    return e.golden && strcmp(e.golden->provenance.uuid, s->device.uuid) != 0 && kg_changed_own(result, e.golden) &&
           kg_judge_within_creep(result, &e);
}

/* Until the last look of what is open. */
static int run_open(struct kg_rounds *r, bool before_duels, struct kg_job *job, kg_error *ret_error)
{
    struct kg_session *s = r->session;
    const int most = most_rounds(s);
    int status = KG_OK;
    while (r->round < most && !status && goes_on(r)) {
        kg_schedule_round(s, r->open, r->round + 1, r->room, job);
        if (!job->n_cases)
            break;
        r->round++;
        status = run_job(r, job, certain_blocks(r, r->round), ret_error);
        for (size_t i = 0; i < s->n_results && !status && goes_on(r); i++) {
            const bool wanted = r->open[i] && wants_more(r, i);
            r->waits[i] = r->waits[i] || (wanted && before_duels && is_for_duel(s, i));
            r->open[i] = wanted && !r->waits[i];
        }
    }
    if (!status)
        judge_rest(r);
    return status;
}

int kg_rounds_run(struct kg_rounds *r, kg_error *ret_error)
{
    struct kg_session *s = r->session;
    struct kg_job job = kg_schedule_job(s);
    const double began_s = kg_now_s();
    int status = check(r, &job, ret_error);
    s->run.checked_s = kg_now_s() - began_s;
    return status ? status : run_open(r, s->options->n_duels > 0 && !s->options->against, &job, ret_error);
}

void kg_rounds_settle(struct kg_rounds *r, size_t i)
{
    r->more[i] = r->waits[i] = false;
}

int kg_rounds_resume(struct kg_rounds *r, kg_error *ret_error)
{
    struct kg_session *s = r->session;
    struct kg_job job = kg_schedule_job(s);
    memcpy(r->open, r->waits, s->n_results * sizeof *r->open);
    memset(r->waits, 0, s->n_results * sizeof *r->waits);
    return run_open(r, false, &job, ret_error);
}
