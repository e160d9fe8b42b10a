/* run.c -- `kgate run`: correctness, rounds of timing, verdicts, bless, reports, exit status. */
#include "commands/commands.h"

#include <string.h>
#include <unistd.h>

#include "run/bless.h"
#include "run/duel.h"
#include "base/clock.h"
#include "reports/facts.h"
#include "reports/terminal.h"
#include "run/rounds.h"
#include "judge/verdict.h"

/* ---- the status ---- */

static bool all_fine(const struct kg_run *run)
{
    for (size_t i = 0; i < run->n_results; i++)
        if (!kg_fact_fine(run, &run->results[i]))
            return false;
    return !*run->partial;
}

/* What is undecided is what the reports say of each case. A bless renews what the old goldens called slow. */
static int status_of(const struct kg_run *run)
{
    int status = kg_verdict_status(run->counts, true);
    if (run->bless && status == 3)
        status = 0;
    return (status == 0 || status == 77) && !all_fine(run) ? 4 : status;
}

static void count(struct kg_session *s)
{
    memset(s->run.counts, 0, sizeof s->run.counts);
    for (size_t i = 0; i < s->n_results; i++)
        s->run.counts[s->results[i].verdict]++;
    s->run.results = s->results;
    s->run.n_results = s->n_results;
    s->run.status = status_of(&s->run);
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
        const struct kg_policy *policy = &r->of.policy;
        s->run.contract = kg_policy_contract(policy);
        s->run.warmup_iters = policy->timer == KG_TIMER_EVENT ? policy->warmup : 0;
        s->run.timed_iters = policy->timer == KG_TIMER_EVENT ? policy->samples : 0;
        s->run.state_before = r->blocks[0].before;
        first = false;
    }
}

/* ---- output ---- */

static int print(const struct kg_session *s, kg_error *ret_error)
{
    const struct kg_options *o = s->options;
    const struct kg_terminal_options terminal = {
        .color = kg_options_color(o, isatty(STDOUT_FILENO)),
        .verbose = o->verbose,
        .quiet = o->quiet,
        .folder = s->folder,
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
    return status;
}

/* ---- the command ---- */

/* Half of the blocks would make a golden of another quality: a run that was stopped writes none. */
static int bless(struct kg_rounds *rounds, kg_error *ret_error)
{
    struct kg_session *s = rounds->session;
    if (rounds->stopped) {
        fprintf(stderr, "kgate: not blessed: the run was stopped (%s)\n", s->run.partial);
        return KG_OK;
    }
    return kg_bless(s, rounds->timed, stderr, ret_error);
}

/* Everything is judged: blessing, when asked for, and what the run comes to. */
static int conclude(struct kg_rounds *rounds, kg_error *ret_error)
{
    struct kg_session *s = rounds->session;
    kg_error refused = { 0 };
    int status = s->options->bless ? bless(rounds, &refused) : KG_OK;
    count(s);
    describe_timing(s, rounds->timed);
    if (status) {
        fprintf(stderr, "kgate: %s\n", refused.text);
        if (s->run.status != 1)
            s->run.status = 2;
    }
    return report(s, ret_error);
}

static void say_beforehand(const struct kg_session *s)
{
    const struct kg_options *o = s->options;
    if (s->n_other_kind && o->format == KG_FORMAT_TEXT)
        fprintf(stderr, "kgate: %zu cases are for the %s (--device)\n", s->n_other_kind,
                s->device.kind == KG_CUDA ? "CPU" : "GPU");
    if (s->run.allow_undecided && !o->allow_undecided && !o->bless)
        fprintf(stderr,
                "kgate: %s has no golden file yet: times are measured and judged by nothing (--allow-undecided=new)\n",
                s->device.arch);
}

int kg_command_run(const struct kg_options *options, kg_error *ret_error)
{
    struct kg_session session;
    struct kg_rounds rounds = { 0 };
    int exit_status = 2;
    int status = kg_session_open(&session, options, ret_error);
    if (!status && options->bless)
        status = kg_bless_check(&session, ret_error);
    if (!status)
        status = kg_session_add_lost(&session, ret_error);
    if (!status)
        status = kg_rounds_init(&rounds, &session, ret_error);
    if (!status) {
        double started_s = kg_now_s(); /* waiting for the device is not the run's time */
        say_beforehand(&session);
        status = kg_rounds_run(&rounds, ret_error);
        if (!status)
            status = kg_duels_run(&rounds, ret_error);
        session.run.seconds = kg_now_s() - started_s;
    }
    if (!status)
        status = conclude(&rounds, ret_error);
    if (!status)
        exit_status = session.run.status;
    kg_rounds_done(&rounds);
    kg_session_done(&session);
    return exit_status;
}
