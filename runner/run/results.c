/* results.c -- a result for each case of the plan, with the policy that it is timed and judged by; one for each golden
 * whose case is gone, since a case that left its table must not leave the gate unnoticed; and what each is held
 * against. */
#include <stdlib.h>
#include <string.h>

#include "plan/problem.h"
#include "plan/wrong.h"
#include "run/session.h"

/* What became of a case that is not the same in both builds. */
static void apply_pair(const struct kg_session *s, const struct kg_pair *pair, struct kg_result *r)
{
    const bool allowed = s->options->allow_removed;
    if (pair->fate == KG_PAIR_REMOVED) {
        r->outcome = allowed ? KG_SKIPPED : KG_ABSENT;
        snprintf(r->note, sizeof r->note, "the baseline has this case, the candidate does not%s",
                 allowed ? " (--allow-removed)" : "");
    }
    if (pair->fate == KG_PAIR_CHANGED)
        snprintf(r->note, sizeof r->note, "the row was changed: %s", pair->change);
    if (pair->fate == KG_PAIR_CHANGED && !allowed) {
        r->outcome = KG_ABSENT;
    } else if (pair->fate == KG_PAIR_CHANGED || pair->fate == KG_PAIR_NEW) {
        r->of = pair->candidate;
        r->is_new = true;
    }
}

/* A bless goes by the table, unless the golden's was given. */
static void take_threshold(const struct kg_session *s, struct kg_result *r)
{
    struct kg_policy *policy = &r->of.policy;
    char key[KG_ID_SIZE];
    kg_case_key(&r->of, kg_result_backend(r), key, sizeof key);
    const struct kg_golden *golden = kg_goldens_find(&s->goldens, key);
    if (s->baseline.root || s->options->timing.threshold_pct >= 0 || !golden ||
        !kg_golden_holds_threshold(golden, policy->threshold_pct) || (s->options->bless && !*golden->threshold.reason))
        return;
    policy->threshold_pct = golden->threshold.pct;
    policy->threshold_from = KG_THRESHOLD_OF_GOLDEN;
}

void kg_session_resolve_policy(const struct kg_session *s, struct kg_result *r)
{
    const struct kg_policy_terms terms = { .timing = &s->options->timing,
                                           .rounds = s->options->rounds,
                                           .no_time = s->options->no_time,
                                           .against = s->baseline.root };
    r->of.policy = kg_policy_of(r->of.suite, r->of.backend, r->of.kind, &terms);
    r->of.policy.timed &= !r->of.regime;
    r->of.policy.goes_on = !s->options->rounds && !s->options->bless && !s->options->n_duels;
    r->of.policy.xfail = kg_case_xfail(&r->of, r->id);
    r->of.policy.excused = kg_case_excused(&r->of, r->id);
    take_threshold(s, r);
}

/* Cases of a shape lie together. */
static int take_work(struct kg_session *s, size_t i, kg_error *ret_error)
{
    struct kg_result *r = &s->results[i];
    if (i > 0 && s->results[i - 1].of.problem == r->of.problem) {
        r->work = s->results[i - 1].work;
        r->of.tensors = r->work.tensors;
        return KG_OK;
    }
    int status = kg_problem_work(r->of.suite->op, r->of.problem, &r->work, ret_error);
    r->of.tensors = r->work.tensors;
    return status;
}

int kg_session_make_results(struct kg_session *s, kg_error *ret_error)
{
    s->results = calloc(s->plan.count + s->goldens.count + 1, sizeof *s->results);
    if (!s->results)
        return kg_fail(ret_error, KG_ENOMEM, "out of memory for %zu results", s->plan.count);
    s->n_results = s->plan.count;
    for (size_t i = 0; i < s->plan.count; i++) {
        struct kg_result *r = &s->results[i];
        r->of = s->plan.cases[i];
        if (s->pairs.count)
            apply_pair(s, &s->pairs.items[i], r);
        kg_case_id(&r->of, r->id, sizeof r->id);
        kg_session_resolve_policy(s, r);
        snprintf(r->backend, sizeof r->backend, "%s", r->of.backend->name);
        int status = take_work(s, i, ret_error);
        if (status)
            return status;
        if (r->outcome == KG_RAN && r->of.kind == KG_CUDA && *s->no_cuda) {
            r->outcome = KG_SKIPPED;
            snprintf(r->note, sizeof r->note, "%s", s->no_cuda);
        }
    }
    return KG_OK;
}

static const struct kg_golden *golden_of(const struct kg_session *s, const struct kg_result *r, const char *backend)
{
    char key[KG_ID_SIZE];
    kg_case_key(&r->of, backend, key, sizeof key);
    return kg_goldens_find(&s->goldens, key);
}

const struct kg_golden *kg_session_golden(const struct kg_session *s, const struct kg_result *r)
{
    return golden_of(s, r, r->backend);
}

static const char *passed_over(const struct kg_session *s, const struct kg_result *r)
{
    for (const kg_backend *const *c = r->of.backend->candidates; c && *c && strcmp((*c)->name, r->backend) != 0; c++)
        if (golden_of(s, r, (*c)->name))
            return (*c)->name;
    return NULL;
}

struct kg_expectation kg_session_expectation(const struct kg_session *s, const struct kg_result *r)
{
    char key[KG_ID_SIZE];
    const struct kg_contract contract = kg_policy_contract(&r->of.policy);
    kg_case_key(&r->of, r->backend, key, sizeof key);
    const bool judged = r->outcome != KG_ABSENT && !s->baseline.root;
    return (struct kg_expectation){ .golden = judged ? kg_session_golden(s, r) : NULL,
                                    .passed_over = judged && !s->options->bless ? passed_over(s, r) : NULL,
                                    .floor = kg_floors_find(&s->floors, &s->device, key, &contract,
                                                            *r->identity ? r->identity : NULL),
                                    .device_uuid = s->device.uuid,
                                    .driver = s->device.driver,
                                    .blesses = s->options->bless };
}

/* ---- goldens without a case ---- */

static bool in_plan(const struct kg_plan *plan, const char *key)
{
    for (size_t i = 0; i < plan->count; i++) {
        char one[KG_ID_SIZE];
        kg_case_key(&plan->cases[i], plan->cases[i].backend->name, one, sizeof one);
        if (!strcmp(one, key))
            return true;
    }
    return false;
}

static const kg_op absent_op = { .name = "absent", .problem_size = sizeof(const char *) };

/* A result of a case that no table has: its suite, shape and backend are made of the key, and live with the shape. */
struct lost_case {
    char shape[KG_ID_SIZE], suite_name[KG_ID_SIZE], backend_name[KG_ID_SIZE];
    kg_suite suite;
    kg_backend backend;
    const char *row[1];
};

static int add_lost(struct kg_session *s, const struct kg_golden *golden, kg_error *ret_error)
{
    struct lost_case *lost = calloc(1, sizeof *lost);
    if (!lost)
        return kg_fail(ret_error, KG_ENOMEM, "out of memory");
    const char *first = strchr(golden->key, '/'), *last = strrchr(golden->key, '/');
    snprintf(lost->suite_name, sizeof lost->suite_name, "%.*s", (int)(first - golden->key), golden->key);
    snprintf(lost->shape, sizeof lost->shape, "%.*s", (int)(last - first - 1), first + 1);
    snprintf(lost->backend_name, sizeof lost->backend_name, "%s", last + 1);
    lost->row[0] = lost->shape;
    lost->suite = (kg_suite){ .name = lost->suite_name, .op = &absent_op };
    lost->backend = (kg_backend){ .name = lost->backend_name, .device = s->device.kind };
    struct kg_result *r = &s->results[s->n_results++];
    *r = (struct kg_result){ .outcome = KG_ABSENT };
    r->of = (struct kg_case){ .suite = &lost->suite,
                              .backend = &lost->backend,
                              .problem = lost->row,
                              .shape = lost->shape,
                              .kind = s->device.kind };
    snprintf(r->id, sizeof r->id, "%s", golden->key);
    snprintf(r->backend, sizeof r->backend, "%.60s", lost->backend_name);
    snprintf(r->note, sizeof r->note,
             "a golden is there, but the table has no such case for the %s (--bless --prune removes it)",
             s->device.kind == KG_CUDA ? "GPU" : "CPU");
    return KG_OK;
}

/* Against all that the tables have for this kind of device: what is selected may be a shard, and its rows may be swept.
 * Without a GPU its cases are there, and say so themselves. */
int kg_session_add_lost(struct kg_session *s, kg_error *ret_error)
{
    struct kg_plan whole = { 0 };
    const struct kg_selection all = { .kind = *s->no_cuda ? 0 : s->device.kind };
    if (s->baseline.root) /* what is gone is seen in the baseline's own table */
        return KG_OK;
    int status = kg_plan_make(s->module.root, &all, &whole, ret_error);
    for (size_t i = 0; i < s->goldens.count && !status; i++) {
        const char *key = s->goldens.items[i].key;
        if (kg_selection_covers_key(s->module.root, &s->options->selection, key) && !in_plan(&whole, key))
            status = add_lost(s, &s->goldens.items[i], ret_error);
    }
    kg_plan_done(&whole);
    return status;
}

void kg_session_free_results(struct kg_session *s)
{
    for (size_t i = 0; i < s->n_results; i++) {
        struct kg_result *r = &s->results[i];
        if (r->of.suite && r->of.suite->op == &absent_op) /* the shape's name is the first member of its lost_case */
            free((void *)r->of.shape);
        kg_result_done(r);
    }
    free(s->results);
}
