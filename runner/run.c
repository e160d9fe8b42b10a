/* run.c -- `kgate run`: correctness, rounds of timing, verdicts, bless, reports, exit status. */
#include "run.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bless.h"
#include "lost.h"
#include "progress.h"
#include "report.h"
#include "round.h"
#include "schedule.h"
#include "session.h"
#include "verdict.h"

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* ---- rounds ---- */

struct rounds {
    struct kg_session *session;
    struct kg_job_case *room;
    bool *timed, *open; /* open: timed and still undecided */
    struct kg_progress progress;
    struct kg_round_options options;
    char log_path[KG_PATH_SIZE + 32];
};

static int rounds_init(struct rounds *r, struct kg_session *session, kg_error *ret_error)
{
    *r = (struct rounds){ .session = session };
    r->room = calloc(session->n_results + 1, sizeof *r->room);
    r->timed = calloc(session->n_results + 1, sizeof *r->timed);
    r->open = calloc(session->n_results + 1, sizeof *r->open);
    if (!r->room || !r->timed || !r->open)
        return kg_fail(ret_error, KG_ENOMEM, "out of memory for the rounds");
    snprintf(r->log_path, sizeof r->log_path, "%s/workers.log", session->folder);
    r->progress.results = session->results;
    r->options = (struct kg_round_options){ .timeout_s = session->options->timeout_s,
                                            .log_path = r->log_path,
                                            .fail_fast = session->options->fail_fast,
                                            .progress = kg_progress_step,
                                            .progress_argument = &r->progress };
    return KG_OK;
}

static void rounds_done(struct rounds *r)
{
    free(r->room);
    free(r->timed);
    free(r->open);
}

static int run_job(struct rounds *r, const struct kg_job *job, const char *stage, kg_error *ret_error)
{
    r->progress.stage = stage;
    r->progress.total = job->n_cases;
    int status = kg_round_run(job, &r->options, r->session->results, r->session->n_results, ret_error);
    kg_progress_clear(&r->progress);
    return status;
}

/* Blocks still to come? Under --bless every case gets the same number. */
static bool judge(struct rounds *r, size_t i, int round)
{
    struct kg_session *s = r->session;
    struct kg_result *result = &s->results[i];
    const struct kg_policy policy = kg_schedule_policy(s, result);
    kg_result_summarise(result, &s->device);
    bool more = kg_verdict_decide(result, kg_schedule_golden(s, result), &policy);
    if (result->outcome != KG_RAN || !kg_gate_marks_all(result->marks))
        return false;
    if (s->options->bless)
        return round < (s->options->rounds ? s->options->rounds : KG_BLESS_ROUNDS);
    return more && round < policy.max_blocks;
}

static int run_rounds(struct rounds *r, kg_error *ret_error)
{
    struct kg_session *s = r->session;
    struct kg_job job = kg_schedule_job(s);
    kg_schedule_correctness(s, r->room, &job);
    int status = job.n_cases ? run_job(r, &job, "correctness", ret_error) : KG_OK;
    if (status)
        return status;
    kg_schedule_choose_timed(s, r->timed);
    memcpy(r->open, r->timed, s->n_results * sizeof *r->open);
    for (int round = 1; round <= KG_MAX_BLOCKS; round++) {
        char stage[32];
        kg_schedule_round(s, r->open, round, r->room, &job);
        if (!job.n_cases)
            break;
        snprintf(stage, sizeof stage, "round %d", round);
        status = run_job(r, &job, stage, ret_error);
        if (status)
            return status;
        for (size_t i = 0; i < s->n_results; i++)
            r->open[i] = r->open[i] && judge(r, i, round);
    }
    return KG_OK;
}

/* ---- verdicts ---- */

/* A case that --fail-fast never reached did not pass. */
static void judge_all(struct kg_session *s)
{
    for (size_t i = 0; i < s->n_results; i++) {
        struct kg_result *r = &s->results[i];
        if (r->outcome == KG_RAN && !r->compared) {
            r->outcome = KG_SKIPPED;
            snprintf(r->note, sizeof r->note, "not run: --fail-fast stopped the run");
        }
        kg_result_summarise(r, &s->device);
        const struct kg_policy policy = kg_schedule_policy(s, r);
        kg_verdict_decide(r, kg_schedule_golden(s, r), &policy);
    }
}

static void count(struct kg_session *s)
{
    memset(s->run.counts, 0, sizeof s->run.counts);
    for (size_t i = 0; i < s->n_results; i++)
        s->run.counts[s->results[i].verdict]++;
    s->run.status = kg_verdict_status(s->run.counts, s->run.allow_undecided);
    s->run.results = s->results;
    s->run.n_results = s->n_results;
}

/* Device states of the first and the last block, and the contract of the first timed case. */
static void describe_timing(struct kg_session *s, const bool *timed)
{
    bool first = true;
    for (size_t i = 0; i < s->n_results; i++) {
        const struct kg_result *r = &s->results[i];
        if (!timed[i] || !r->n_blocks)
            continue;
        s->run.state_after = r->blocks[r->n_blocks - 1].after;
        if (!first)
            continue;
        const struct kg_timing timing = kg_timing_of(r->of.suite, r->of.kind, &s->options->timing);
        s->run.contract = kg_timing_contract(&timing);
        s->run.warmup_iters = timing.timer == KG_TIMER_EVENT ? timing.warmup : 0;
        s->run.timed_iters = timing.timer == KG_TIMER_EVENT ? timing.samples : 0;
        s->run.state_before = r->blocks[0].before;
        first = false;
    }
}

/* ---- output ---- */

static int print(const struct kg_session *s, kg_error *ret_error)
{
    const struct kg_options *o = s->options;
    const struct kg_terminal_options terminal = {
        .color = o->color == KG_COLOR_ALWAYS || (o->color == KG_COLOR_AUTO && isatty(STDOUT_FILENO)),
        .verbose = o->verbose,
    };
    if (o->format == KG_FORMAT_TAP)
        return kg_report_tap(&s->run, stdout, ret_error);
    if (o->format == KG_FORMAT_JSON)
        return kg_report_json(&s->run, stdout, ret_error);
    return kg_report_terminal(&s->run, &terminal, stdout, ret_error);
}

/* results/latest points at the newest run; a folder that cannot hold a link does without. */
static void link_latest(const struct kg_session *s)
{
    char path[KG_PATH_SIZE + 16], temporary[KG_PATH_SIZE + 32];
    snprintf(path, sizeof path, "%s/latest", s->options->output);
    snprintf(temporary, sizeof temporary, "%s.%d", path, (int)getpid());
    if (symlink(s->run.id, temporary) == 0 && rename(temporary, path) != 0)
        unlink(temporary);
}

static int report(const struct kg_session *s, kg_error *ret_error)
{
    int status = kg_report_folder(&s->run, s->folder, ret_error);
    if (!status) {
        link_latest(s);
        status = print(s, ret_error);
    }
    if (!status && s->options->junit)
        status = kg_report_junit_file(&s->run, s->options->junit, ret_error);
    if (fflush(stdout) && !status)
        status = kg_fail(ret_error, KG_EIO, "cannot write to standard output");
    return status;
}

/* ---- the command ---- */

/* Blessing, when asked for, and what the run comes to. */
static int conclude(struct rounds *r, kg_error *ret_error)
{
    struct kg_session *s = r->session;
    int status = KG_OK;
    judge_all(s);
    kg_error refused = { 0 };
    if (s->options->bless) {
        status = kg_bless(s, r->timed, stderr, &refused);
        for (size_t i = 0; i < s->n_results && !status; i++) { /* `auto` is judged by what was just blessed */
            struct kg_result *result = &s->results[i];
            const struct kg_policy policy = kg_schedule_policy(s, result);
            if (r->timed[i] && strcmp(result->backend, result->of.backend->name))
                kg_verdict_decide(result, kg_schedule_golden(s, result), &policy);
        }
    }
    count(s);
    describe_timing(s, r->timed);
    if (status) {
        fprintf(stderr, "kgate: %s\n", refused.text);
        if (s->run.status != 1)
            s->run.status = 2;
    }
    return report(s, ret_error);
}

int kg_command_run(const struct kg_options *options, kg_error *ret_error)
{
    struct kg_session session;
    struct rounds rounds = { 0 };
    double started_s = 0;
    int exit_status = 2;
    int status = kg_session_open(&session, options, ret_error);
    if (!status && options->bless)
        status = kg_bless_check(&session, ret_error);
    if (!status)
        status = kg_lost_add(&session, ret_error);
    if (!status)
        status = rounds_init(&rounds, &session, ret_error);
    if (status)
        goto out;
    started_s = now_s(); /* waiting for the device is not the run's time */
    if (session.n_other_kind && options->format == KG_FORMAT_TEXT)
        fprintf(stderr, "kgate: %zu cases are for the %s (--device)\n", session.n_other_kind,
                session.device.kind == KG_CUDA ? "CPU" : "GPU");
    if (session.run.allow_undecided && !options->allow_undecided && !options->bless)
        fprintf(stderr,
                "kgate: %s has no golden file yet: times are measured and judged by nothing (--allow-undecided=new)\n",
                session.device.arch);
    status = run_rounds(&rounds, ret_error);
    session.run.seconds = now_s() - started_s;
    if (!status)
        status = conclude(&rounds, ret_error);
    if (!status)
        exit_status = session.run.status;
out:
    rounds_done(&rounds);
    kg_session_done(&session);
    return exit_status;
}
