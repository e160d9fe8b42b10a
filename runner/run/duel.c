/* duel.c -- a duel is a session of its own beside the run's, on the cases that it is about. */
#include "run/duel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "judge/changed.h"
#include "judge/reason.h"
#include "run/kept_build.h"

/* ---- which cases ---- */

static bool wants_duel(const struct kg_session *s, const struct kg_result *r)
{
    const struct kg_golden *golden = kg_session_expectation(s, r).golden;
    if (!golden || !r->n_blocks || r->stopped || !kg_changed_own(r, golden) || r->judgement.creep)
        return false;
    const bool judged = r->verdict == KG_PASS || r->verdict == KG_FAST || r->verdict == KG_SLOW;
    const bool open = r->verdict == KG_UNSURE || (r->verdict == KG_UNGATED && r->judgement.golden_us > 0);
    return open || (judged && strcmp(golden->provenance.uuid, s->device.uuid) != 0);
}

static const struct kg_golden *golden_of(const struct kg_session *s, size_t i)
{
    return kg_session_golden(s, &s->results[i]);
}

/* Its commit, and without one its code. */
static bool same_build(const struct kg_golden *a, const struct kg_golden *b)
{
    return *a->provenance.git_sha ? !strcmp(a->provenance.git_sha, b->provenance.git_sha)
                                  : !*b->provenance.git_sha && !strcmp(a->identity, b->identity);
}

/* ---- what became of it ---- */

struct duels {
    struct kg_rounds *rounds;
    char (*left)[208]; /* why a result is not duelled; "": it is, or need not be */
};

static void leave(struct duels *d, size_t i, const char *why)
{
    snprintf(d->left[i], sizeof d->left[i], "%.200s", why);
}

/* Blocks and figures are the duel's from here on; the case stays the run's. */
static void take(struct kg_result *r, struct kg_result *from, const struct kg_golden *golden)
{
    kg_result_done(r);
    memcpy(r->blocks, from->blocks, sizeof r->blocks);
    memset(from->blocks, 0, sizeof from->blocks);
    r->n_blocks = from->n_blocks;
    r->time_us = from->time_us;
    r->tick_us = from->tick_us;
    r->tflop_per_s = from->tflop_per_s;
    r->gb_per_s = from->gb_per_s;
    r->queries_per_s = from->queries_per_s;
    r->roofline_pct = from->roofline_pct;
    r->impossible = from->impossible;
    r->judgement = from->judgement;
    r->outcome = from->outcome;
    memcpy(r->note, from->note, sizeof r->note);
    r->verdict = from->verdict;
    memcpy(r->baseline_identity, from->baseline_identity, sizeof r->baseline_identity);
    r->reason[0] = 0;
    kg_reason_add(r, "duel with %.12s: %.560s", golden->provenance.git_sha, from->reason);
}

/* Why a duel says nothing; NULL: it decided. What is right by the run's own tables may be wrong by older ones. */
static const char *why_not(const struct kg_result *r, const struct kg_result *from, const struct kg_golden *golden)
{
    const bool open = r->verdict == KG_UNSURE || r->verdict == KG_UNGATED;
    if (!from || from->is_new)
        return "it is not in the golden's build";
    if (from->outcome == KG_BROKEN && !from->baseline_broken)
        return NULL;
    if (from->verdict != KG_PASS && from->verdict != KG_FAST && from->verdict != KG_SLOW &&
        !(open && from->verdict == KG_UNSURE && !from->stopped))
        return from->reason;
    return kg_changed_code(from->baseline_identity, golden->identity) ? "that build has other code than the golden"
                                                                      : NULL;
}

static void conclude(struct duels *d, const size_t *cases, size_t count, struct kg_session *duel)
{
    struct kg_session *s = d->rounds->session;
    for (size_t i = 0; i < count; i++) {
        struct kg_result *r = &s->results[cases[i]], *from = NULL;
        const struct kg_golden *golden = golden_of(s, cases[i]);
        for (size_t k = 0; k < duel->n_results && !from; k++)
            from = strcmp(duel->results[k].id, r->id) ? NULL : &duel->results[k];
        const char *why = why_not(r, from, golden);
        if (why) {
            leave(d, cases[i], why);
            continue;
        }
        take(r, from, golden);
        kg_rounds_settle(d->rounds, cases[i]);
    }
}

/* ---- one duel ---- */

/* The same cases by their ids, and what was measured of them: times on normal inputs. */
static int select_cases(const struct kg_session *s, const size_t *cases, size_t count, struct kg_options *o,
                        kg_error *ret_error)
{
    static const char *none[] = { "none" };
    const char **ids = calloc(count, sizeof *ids);
    if (!ids)
        return kg_fail(ret_error, KG_ENOMEM, "out of memory for a duel");
    for (size_t i = 0; i < count; i++)
        ids[i] = s->results[cases[i]].id;
    o->selection.patterns = ids;
    o->selection.n_patterns = count;
    o->selection.regimes = none;
    o->selection.n_regimes = 1;
    o->selection.excludes = NULL;
    o->selection.n_excludes = 0;
    o->selection.shard = o->selection.n_shards = 0;
    return KG_OK;
}

static void set_thresholds(const struct kg_session *s, struct kg_session *duel)
{
    for (size_t i = 0; i < duel->n_results; i++)
        for (size_t k = 0; k < s->n_results; k++)
            if (!strcmp(s->results[k].id, duel->results[i].id))
                duel->results[i].of.policy.threshold_pct = s->results[k].of.policy.threshold_pct;
}

static int run_beside(struct duels *d, const size_t *cases, size_t count, const char *path, double budget_s,
                      kg_error *ret_error)
{
    struct kg_session *s = d->rounds->session, duel = { 0 };
    struct kg_options o = *s->options;
    struct kg_rounds its = { 0 };
    kg_error cause = { 0 };
    o.against = path;
    o.timeout_s = budget_s;
    o.repeat = 0;
    int status = select_cases(s, cases, count, &o, ret_error);
    if (status)
        return status;
    int failed = kg_session_open_beside(&duel, s, &o, &cause);
    if (!failed)
        set_thresholds(s, &duel);
    if (!failed)
        failed = kg_rounds_init(&its, &duel, &cause);
    if (!failed)
        failed = kg_rounds_run(&its, &cause);
    for (size_t i = 0; i < count && failed; i++) /* the run's own verdicts stand */
        leave(d, cases[i], cause.text);
    if (!failed)
        conclude(d, cases, count, &duel);
    if (its.stopped && *its.stop.signalled) {
        d->rounds->stopped = true;
        memcpy(s->run.partial, duel.run.partial, sizeof s->run.partial);
    }
    kg_rounds_done(&its);
    kg_session_close_beside(&duel);
    free((void *)o.selection.patterns);
    return KG_OK;
}

/* What is left of --timeout may be less. */
static double time_for(const struct kg_rounds *rounds, double left_s)
{
    const double deadline_s = rounds->stop.deadline_s, until_s = deadline_s > 0 ? deadline_s - kg_now_s() : left_s;
    return fmax(fmin(left_s, until_s), 0.001); /* 0 would be no limit */
}

/* ---- all ---- */

/* Those of the first open case's build, which are open no more. */
static size_t next_group(const struct kg_session *s, bool *open, size_t *ret_cases)
{
    const struct kg_golden *first = NULL;
    size_t count = 0;
    for (size_t i = 0; i < s->n_results; i++) {
        if (!open[i] || (first && !same_build(first, golden_of(s, i))))
            continue;
        first = first ? first : golden_of(s, i);
        open[i] = false;
        ret_cases[count++] = i;
    }
    return count;
}

/* Of one build's cases, while `left_s` lasts, of which what finding the build takes is none. */
static int run_group(struct duels *d, const size_t *cases, size_t count, double *left_s, kg_error *ret_error)
{
    struct kg_rounds *rounds = d->rounds;
    struct kg_session *s = rounds->session;
    char path[4096];
    int status = KG_OK;
    kg_error why = { 0 };
    if (*left_s < 1)
        snprintf(why.text, sizeof why.text, "the time for it is spent (--budget %g)", s->options->budget_s);
    else if (!kg_kept_build_find(s->options, &rounds->stop, golden_of(s, cases[0]), s->module.path, path, &why)) {
        const double started_s = kg_now_s();
        status = run_beside(d, cases, count, path, time_for(rounds, *left_s), ret_error);
        *left_s -= kg_now_s() - started_s;
    }
    for (size_t i = 0; i < count && *why.text; i++)
        leave(d, cases[i], why.text);
    if (*rounds->stop.signalled && !rounds->stopped) {
        rounds->stopped = true;
        kg_stop_why(&rounds->stop, s->run.partial, sizeof s->run.partial);
    }
    return status;
}

static int run_groups(struct duels *d, bool *open, size_t *cases, kg_error *ret_error)
{
    struct kg_rounds *rounds = d->rounds;
    struct kg_session *s = rounds->session;
    double left_s = s->options->budget_s;
    size_t count;
    int status = KG_OK;
    for (size_t i = 0; i < s->n_results; i++)
        open[i] = wants_duel(s, &s->results[i]);
    while (!status && !rounds->stopped && (count = next_group(s, open, cases)) > 0)
        status = run_group(d, cases, count, &left_s, ret_error);
    if (!status)
        status = kg_rounds_resume(rounds, ret_error);
    for (size_t i = 0; i < s->n_results && !status; i++)
        if (*d->left[i])
            kg_reason_add(&s->results[i], "; not duelled: %s", d->left[i]);
    return status;
}

int kg_duels_run(struct kg_rounds *rounds, kg_error *ret_error)
{
    const struct kg_session *s = rounds->session;
    if (!s->options->n_duels || rounds->stopped || rounds->stop.failed)
        return KG_OK;
    struct duels d = { rounds, calloc(s->n_results + 1, sizeof *d.left) };
    bool *open = calloc(s->n_results + 1, sizeof *open);
    size_t *cases = calloc(s->n_results + 1, sizeof *cases);
    int status = d.left && open && cases ? run_groups(&d, open, cases, ret_error)
                                         : kg_fail(ret_error, KG_ENOMEM, "out of memory for duels");
    free(d.left);
    free(open);
    free(cases);
    return status;
}
