/* pair.c -- matches the plans of two builds by id, and compares what the rows of one id say. */
#include "plan/pair.h"

#include <stdlib.h>
#include <string.h>

#include "plan/field.h"
#include "plan/problem.h"

struct named {
    char id[KG_ID_SIZE];
    const struct kg_case *of;
    bool met; /* the other plan has it too */
};

static int by_id(const void *a, const void *b)
{
    return strcmp(((const struct named *)a)->id, ((const struct named *)b)->id);
}

static struct named *sorted_by_id(const struct kg_plan *plan)
{
    struct named *names = calloc(plan->count + 1, sizeof *names);
    for (size_t i = 0; names && i < plan->count; i++) {
        names[i].of = &plan->cases[i];
        kg_case_id(names[i].of, names[i].id, sizeof names[i].id);
    }
    if (names)
        qsort(names, plan->count, sizeof *names, by_id);
    return names;
}

/* ---- is it the same problem? ------------------------------------------------------------------------------- */

/* A field that only the candidate has is no change: what the kernel computes is held against the baseline's reference
 * on the baseline's inputs, whatever it says. */
static bool fields_changed(const struct kg_case *was, const struct kg_case *is, char *ret_change, size_t size)
{
    const kg_fields fields = was->suite->op->fields;
    for (size_t i = 0; i < fields.count; i++) {
        const kg_field *field = &fields.items[i];
        const kg_field *now = kg_fields_find(is->suite->op->fields, field->name, strlen(field->name));
        char before[64], after[64];
        kg_field_format(field, was->problem, before, sizeof before);
        if (!now) {
            snprintf(ret_change, size, "field %s is gone", field->name);
            return true;
        }
        kg_field_format(now, is->problem, after, sizeof after);
        if (strcmp(before, after)) {
            snprintf(ret_change, size, "%s=%s -> %s=%s", field->name, before, field->name, after);
            return true;
        }
    }
    return false;
}

static bool same_tensor(const kg_tensor *a, const kg_tensor *b)
{
    return a->dtype == b->dtype && a->role == b->role && a->rank == b->rank && kg_tensor_unit(a) == kg_tensor_unit(b) &&
           !memcmp(a->dims, b->dims, (size_t)a->rank * sizeof *a->dims);
}

/* One build's kernel is given the buffers of the other's description. */
static bool tensors_changed(const struct kg_case *was, const struct kg_case *is, char *ret_change, size_t size)
{
    kg_tensor before[KG_MAX_TENSORS] = { 0 }, after[KG_MAX_TENSORS] = { 0 };
    int n_before = 0, n_after = 0;
    int status = kg_problem_tensors(was->suite->op, was->problem, before, &n_before, NULL);
    if (status || kg_problem_tensors(is->suite->op, is->problem, after, &n_after, NULL) || n_before != n_after) {
        snprintf(ret_change, size, "%d tensors -> %d", n_before, n_after);
        return true;
    }
    for (int i = 0; i < n_before; i++) {
        if (same_tensor(&before[i], &after[i]))
            continue;
        snprintf(ret_change, size, "tensor %.60s has another type, unit, role or shape", before[i].name);
        return true;
    }
    return false;
}

static bool changed(const struct kg_case *was, const struct kg_case *is, char *ret_change, size_t size)
{
    static const char *const kinds[] = { [KG_CPU] = "CPU", [KG_CUDA] = "GPU" };
    if (was->kind != is->kind) {
        snprintf(ret_change, size, "for the %s -> for the %s", kinds[was->kind], kinds[is->kind]);
        return true;
    }
    if (strcmp(was->suite->op->name, is->suite->op->name)) {
        snprintf(ret_change, size, "op %.60s -> op %.60s", was->suite->op->name, is->suite->op->name);
        return true;
    }
    return fields_changed(was, is, ret_change, size) || tensors_changed(was, is, ret_change, size);
}

/* ---- the union --------------------------------------------------------------------------------------------- */

static void add_baseline(const struct kg_case *of, struct named *names, size_t n_names, struct kg_pair *ret_pair)
{
    struct named key;
    kg_case_id(of, key.id, sizeof key.id);
    struct named *found = bsearch(&key, names, n_names, sizeof *names, by_id);
    *ret_pair = (struct kg_pair){ .fate = KG_PAIR_REMOVED, .candidate = *of };
    if (!found)
        return;
    found->met = true;
    ret_pair->candidate = *found->of;
    ret_pair->fate = changed(of, found->of, ret_pair->change, sizeof ret_pair->change) ? KG_PAIR_CHANGED : KG_PAIR_BOTH;
}

/* The new ones in the candidate's order, which sorting by name has lost. */
static void add_new(const struct named *names, struct kg_plan *plan, struct kg_pairs *pairs)
{
    for (size_t i = 0; i < pairs->candidate.count; i++) {
        struct named key;
        kg_case_id(&pairs->candidate.cases[i], key.id, sizeof key.id);
        const struct named *self = bsearch(&key, names, pairs->candidate.count, sizeof *names, by_id);
        if (self->met)
            continue;
        plan->cases[plan->count] = *self->of;
        pairs->items[plan->count++] = (struct kg_pair){ .fate = KG_PAIR_NEW, .candidate = *self->of };
    }
}

static int match(struct kg_plan *plan, struct kg_pairs *pairs, kg_error *ret_error)
{
    const size_t room = plan->count + pairs->candidate.count + 1;
    struct named *names = sorted_by_id(&pairs->candidate);
    struct kg_case *cases = realloc(plan->cases, room * sizeof *cases);
    if (cases)
        plan->cases = cases;
    pairs->items = calloc(room, sizeof *pairs->items);
    if (!names || !cases || !pairs->items) {
        free(names);
        return kg_fail(ret_error, KG_ENOMEM, "out of memory for %zu cases", room);
    }
    for (size_t i = 0; i < pairs->candidate.count; i++)
        pairs->candidate.cases[i].shape_ordinal += plan->n_shapes;
    for (size_t i = 0; i < plan->count; i++)
        add_baseline(&plan->cases[i], names, pairs->candidate.count, &pairs->items[i]);
    add_new(names, plan, pairs);
    free(names);
    return KG_OK;
}

static int cut_shard(struct kg_plan *plan, struct kg_pairs *pairs, const struct kg_selection *selection,
                     kg_error *ret_error)
{
    size_t kept = 0;
    for (size_t i = 0; i < plan->count; i++) {
        if (selection->n_shards && plan->cases[i].shape_ordinal % selection->n_shards + 1 != selection->shard)
            continue;
        plan->cases[kept] = plan->cases[i];
        pairs->items[kept++] = pairs->items[i];
    }
    plan->count = pairs->count = kept;
    if (kept)
        return KG_OK;
    return kg_fail(ret_error, KG_EINVAL, "no case selected: shard %zu/%zu is empty", selection->shard,
                   selection->n_shards);
}

int kg_pairs_make(const struct kg_module *baseline, const struct kg_module *candidate,
                  const struct kg_selection *selection, struct kg_plan *ret_plan, struct kg_pairs *ret_pairs,
                  kg_error *ret_error)
{
    const struct kg_module *const modules[] = { baseline, candidate };
    struct kg_selection whole = *selection;
    struct kg_plan plans[2] = { 0 };
    whole.shard = whole.n_shards = 0;
    int status = kg_plans_make(modules, 2, &whole, plans, ret_error);
    if (status)
        return status;
    struct kg_pairs pairs = { .candidate = plans[1] };
    status = match(&plans[0], &pairs, ret_error);
    if (!status)
        status = cut_shard(&plans[0], &pairs, selection, ret_error);
    if (status) {
        kg_plan_done(&plans[0]);
        kg_pairs_done(&pairs);
        return status;
    }
    *ret_plan = plans[0];
    *ret_pairs = pairs;
    return KG_OK;
}

void kg_pairs_done(struct kg_pairs *pairs)
{
    kg_plan_done(&pairs->candidate);
    free(pairs->items);
    *pairs = (struct kg_pairs){ 0 };
}
