/* lost.c -- goldens without a case: a case that left its table must not leave the gate unnoticed. */
#include "run/lost.h"

#include <stdlib.h>
#include <string.h>

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
    snprintf(r->note, sizeof r->note, "a golden is there, but the table has no such case (--bless --prune removes it)");
    return KG_OK;
}

/* Against the tables' whole plan: a shard's own lacks what the other shards run. */
int kg_lost_add(struct kg_session *s, kg_error *ret_error)
{
    struct kg_selection selection = s->options->selection;
    struct kg_plan whole = { 0 };
    if (s->baseline.root) /* what is gone is seen in the baseline's own table */
        return KG_OK;
    selection.n_shards = selection.shard = 0;
    int status = kg_plan_make(s->module.root, &selection, &whole, ret_error);
    selection.shard = s->options->selection.shard;
    for (size_t i = 0; i < s->goldens.count && !status; i++) {
        const struct kg_golden *golden = &s->goldens.items[i];
        if (kg_selection_covers_key(s->module.root, &selection, golden->key) && !in_plan(&whole, golden->key))
            status = add_lost(s, golden, ret_error);
    }
    kg_plan_done(&whole);
    return status;
}

void kg_lost_done(struct kg_result *result)
{
    /* The shape's name is the first member of what was made of the key. */
    if (result->of.suite && result->of.suite->op == &absent_op)
        free((void *)result->of.shape);
}
