/* bless.c -- goldens from a run, under the folder's lock, all in one write. */
#include "run/bless.h"

#include <stdlib.h>
#include <string.h>

#include "base/lock.h"
#include "judge/noise.h"

int kg_bless_check_commit(const struct kg_git *git, const struct kg_module *module, kg_error *ret_error)
{
    if (!*git->sha)
        return kg_fail(ret_error, KG_EINVAL, "cannot bless: %s (--git-sha SHA, or --allow-dirty)", git->why);
    if (git->dirty)
        return kg_fail(ret_error, KG_EINVAL, "cannot bless: the tree at %.12s is modified (commit, or --allow-dirty)",
                       git->sha);
    if (module->git_dirty)
        return kg_fail(ret_error, KG_EINVAL,
                       "cannot bless: module %s was built from a modified tree (or --allow-dirty)", module->name);
    size_t given = strlen(git->sha), built = strlen(module->git_sha);
    size_t common = given < built ? given : built;
    if (common < 7 || strncmp(git->sha, module->git_sha, common))
        return kg_fail(ret_error, KG_EINVAL,
                       "cannot bless: module %s was built from %.12s, not from %.12s (or --allow-dirty)", module->name,
                       built ? module->git_sha : "no commit", git->sha);
    return KG_OK;
}

int kg_bless_check(const struct kg_session *s, kg_error *ret_error)
{
    return s->options->allow_dirty ? KG_OK : kg_bless_check_commit(&s->run.git, s->module.root, ret_error);
}

static struct kg_provenance provenance_of(const struct kg_session *s)
{
    struct kg_provenance p = { .dirty = kg_bless_check_commit(&s->run.git, s->module.root, NULL) != KG_OK };
    snprintf(p.git_sha, sizeof p.git_sha, "%s", s->run.git.sha);
    snprintf(p.branch, sizeof p.branch, "%s", s->run.git.branch);
    snprintf(p.date, sizeof p.date, "%s", s->run.started);
    snprintf(p.reason, sizeof p.reason, "%s", s->options->reason);
    snprintf(p.device, sizeof p.device, "%s", s->device.name);
    snprintf(p.uuid, sizeof p.uuid, "%s", s->device.uuid);
    snprintf(p.driver, sizeof p.driver, "%s", s->device.driver);
    snprintf(p.cuda, sizeof p.cuda, "%s", s->run.cuda_runtime);
    return p;
}

static int refuse_wrong(const struct kg_session *s, kg_error *ret_error)
{
    size_t wrong = 0, first = 0;
    for (size_t i = s->n_results; i-- > 0;) {
        if (kg_verdict_is_wrong(s->results[i].verdict)) {
            wrong++;
            first = i;
        }
    }
    if (!wrong)
        return KG_OK;
    return kg_fail(ret_error, KG_EINVAL, "not blessed: %zu case%s wrong, first %.300s", wrong,
                   wrong == 1 ? " is" : "s are", s->results[first].id);
}

/* `auto` has no golden of its own; neither has a CPU's anchor, nor a case that must fail. */
static bool blessable(const struct kg_session *s, size_t i, const bool *timed)
{
    const struct kg_result *r = &s->results[i];
    return timed[i] && !r->of.policy.is_cpu_anchor && r->outcome == KG_RAN &&
           !strcmp(r->backend, r->of.backend->name) && r->verdict != KG_XFAIL;
}

int kg_bless_check_noise(const struct kg_result *result, kg_error *ret_error)
{
    kg_noise_set refused = 0;
    int count = 0, first = 0;
    char names[128];
    for (int i = result->n_blocks; i-- > 0;) {
        kg_noise_set here = kg_noise_of_block(&result->blocks[i]) & kg_noise_refuses_bless();
        refused |= here;
        if (here) {
            count++;
            first = i + 1;
        }
    }
    if (!refused)
        return KG_OK;
    kg_noise_names(refused, names, sizeof names);
    return kg_fail(ret_error, KG_EINVAL, "%s: %d of %d blocks were measured under %s, first block %d", result->id,
                   count, result->n_blocks, names, first);
}

/* A best that a bless forgets, or cannot be held against, is said. */
static void say_best(const struct kg_golden *old, const struct kg_golden *golden, bool reset_best, FILE *out)
{
    static const char *const fates[] = {
        [KG_BEST_APART] = "stays, and cannot be compared with what is blessed here; --reset-best begins anew",
        [KG_BEST_RESET] = "is forgotten: --reset-best",
        [KG_BEST_STALE] = "is forgotten: it was timed by another contract",
        [KG_BEST_OTHER] = "is forgotten: it was of another problem",
    };
    const struct kg_best *best = &old->best;
    enum kg_best_fate fate = kg_golden_best_fate(old, golden, reset_best);
    if (fates[fate])
        fprintf(out, "  the best, %.6g us at %.12s of %.10s on %s, %s\n", best->p50_us, best->git_sha, best->date,
                best->uuid, fates[fate]);
}

static void say_blessed(const struct kg_golden *old, const struct kg_golden *golden, bool reset_best, FILE *out)
{
    if (!old) {
        fprintf(out, "blessed %s: %.6g us (new)\n", golden->key, golden->p50_us);
        return;
    }
    if (*old->threshold.from && old->threshold.pct != golden->threshold.pct)
        fprintf(out, "  its threshold: %g%% -> %g%%\n", old->threshold.pct, golden->threshold.pct);
    fprintf(out, "blessed %s: %.6g -> %.6g us (%+.2f%%)\n", golden->key, old->p50_us, golden->p50_us,
            100 * (golden->p50_us / old->p50_us - 1));
    say_best(old, golden, reset_best, out);
}

static void refuse(struct kg_result *r, const char *why, FILE *out)
{
    r->bless = KG_NOT_BLESSED;
    snprintf(r->bless_note, sizeof r->bless_note, "not blessed: %.280s", why);
    fprintf(out, "%s\n", r->bless_note);
}

/* A golden would say that what was timed is right. */
static void refuse_weak(struct kg_result *r, FILE *out)
{
    char why[KG_ID_SIZE + sizeof r->reason];
    snprintf(why, sizeof why, "%s: %s", r->id, r->reason);
    refuse(r, why, out);
}

/* One that was given stays until another is. The table's says no more, so that all cases have it in common. */
static void set_threshold(const struct kg_session *s, const struct kg_result *r, const struct kg_golden *old,
                          struct kg_golden *golden)
{
    const bool given = s->options->timing.threshold_pct >= 0;
    struct kg_threshold *own = &golden->threshold;
    if (r->of.policy.creep_pct != KG_CREEP_PCT)
        snprintf(golden->creep, sizeof golden->creep, "%.6g", r->of.policy.creep_pct);
    if (!given && old && *old->threshold.reason) {
        *own = old->threshold;
        return;
    }
    *own = (struct kg_threshold){ .pct = r->of.policy.threshold_pct };
    snprintf(own->from, sizeof own->from, "%s", given ? "bless" : "table");
    if (!given)
        return;
    snprintf(own->git_sha, sizeof own->git_sha, "%s", golden->provenance.git_sha);
    snprintf(own->date, sizeof own->date, "%s", golden->provenance.date);
    snprintf(own->reason, sizeof own->reason, "%s", golden->provenance.reason);
}

/* Regimes in which the tables expect any seed of the case to fail. */
static void list_xfails(const struct kg_session *s, const struct kg_result *r, struct kg_golden *golden)
{
    size_t used = 0;
    for (size_t i = 0; i < s->n_results; i++) {
        const struct kg_case *of = &s->results[i].of;
        if (of->suite != r->of.suite || of->shape_ordinal != r->of.shape_ordinal || of->backend != r->of.backend ||
            !s->results[i].of.policy.xfail || kg_golden_excuses(golden, of->regime))
            continue;
        const int length = snprintf(golden->xfails + used, sizeof golden->xfails - used, "%s%s", used ? "," : "",
                                    kg_golden_regime_name(of->regime));
        if (length < 0 || (size_t)length >= sizeof golden->xfails - used) {
            golden->xfails[used] = 0; /* what has no room is excused by no golden */
            return;
        }
        used += (size_t)length;
    }
}

/* The same code on another card adds to that card's file; what changed makes a golden anew. */
static int bless_one(struct kg_session *s, struct kg_goldens *goldens, struct kg_fleet *fleet, struct kg_result *r,
                     FILE *out, kg_error *ret_error)
{
    char key[KG_ID_SIZE];
    struct kg_golden golden;
    kg_error cause = { 0 };
    const struct kg_contract contract = kg_policy_contract(&r->of.policy);
    const struct kg_provenance provenance = provenance_of(s);
    kg_case_key(&r->of, r->backend, key, sizeof key);
    if (kg_bless_check_noise(r, &cause) || kg_golden_of_result(r, key, &contract, &provenance, &golden, &cause)) {
        refuse(r, cause.text, out);
        return KG_OK;
    }
    const struct kg_golden *old = kg_goldens_find(goldens, key);
    set_threshold(s, r, old, &golden);
    list_xfails(s, r, &golden);
    r->bless = KG_BLESSED;
    if (old && r->of.kind == KG_CUDA && s->options->timing.threshold_pct < 0 && !s->options->reset_best &&
        kg_fleet_takes(old, &golden)) {
        struct kg_golden known = *old;
        int status = KG_OK;
        if (kg_golden_learn(&known, &golden))
            status = kg_goldens_put(goldens, &known, false, ret_error);
        fprintf(out, "blessed %s: %.6g us on this card\n", key, golden.p50_us);
        return status ? status : kg_fleet_put(fleet, &golden, ret_error);
    }
    say_blessed(old, &golden, s->options->reset_best, out);
    return kg_goldens_put(goldens, &golden, s->options->reset_best, ret_error);
}

/* No table has it any more, times it, or takes it for right. */
static bool is_disowned(const struct kg_result *r)
{
    return r->verdict == KG_LOST && r->outcome != KG_SKIPPED;
}

/* Other seeds and regimes have the same golden. */
static void prune(struct kg_session *s, struct kg_goldens *goldens, FILE *out)
{
    for (size_t i = 0; i < s->n_results; i++) {
        struct kg_result *r = &s->results[i];
        char key[KG_ID_SIZE];
        if (!is_disowned(r) || !kg_session_golden(s, r))
            continue;
        kg_case_key(&r->of, r->backend, key, sizeof key);
        if (!kg_goldens_remove(goldens, key))
            fprintf(out, "pruned %s\n", key);
        r->bless = KG_PRUNED;
    }
}

int kg_bless(struct kg_session *s, const bool *timed, FILE *out, kg_error *ret_error)
{
    struct kg_goldens fresh = { 0 };
    struct kg_fleet fleet = { 0 };
    struct kg_changes changes;
    int status = refuse_wrong(s, ret_error);
    if (!status)
        status = kg_changes_begin(s->expectations, &changes, ret_error);
    if (status)
        return status;
    /* Again, under the lock: another bless may have written. */
    status = kg_goldens_load(s->expectations, s->device.arch, &fresh, ret_error);
    if (!status)
        status = kg_fleet_load(s->expectations, s->device.arch, &fleet, ret_error);
    for (size_t i = 0; i < s->n_results && !status; i++)
        if (s->results[i].verdict == KG_WEAK)
            refuse_weak(&s->results[i], changes.lines);
        else if (blessable(s, i, timed))
            status = bless_one(s, &fresh, &fleet, &s->results[i], changes.lines, ret_error);
    if (!status && s->options->prune)
        prune(s, &fresh, changes.lines);
    if (!status && (fresh.count || fresh.exists)) /* a file of none would say that this device has goldens */
        status = kg_goldens_save(&fresh, s->expectations, ret_error);
    if (!status)
        status = kg_fleet_save(&fleet, s->device.uuid, &fresh, s->expectations, ret_error);
    s->run.blessed = kg_changes_end(&changes, status, out) && !status;
    s->run.expectations_exist |= !status && fresh.count;
    kg_goldens_done(&fresh);
    kg_fleet_done(&fleet);
    for (size_t i = 0; i < s->n_results; i++) {
        if (status) /* the file is as it was */
            s->results[i].bless = KG_BLESS_NONE;
        s->run.bless_counts[s->results[i].bless]++;
    }
    return status;
}
