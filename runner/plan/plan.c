/* plan.c -- expands tables into cases: rows × sweeps × seeds × backends, filtered. Patterns are in pattern.c. */
#include "plan/plan.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "plan/axis.h"
#include "plan/field.h"
#include "plan/module.h"
#include "plan/problem.h"
#include "plan/regime.h"

struct kg_plan_shape {
    void *problem;
    char name[200], environment[200];
};

struct builder {
    const struct kg_selection *selection;
    struct kg_plan plan;
    size_t cases_room, shapes_room;
    bool *pattern_hit; /* shared by the plans of one selection */
    kg_error *error;
};

void kg_case_id(const struct kg_case *of, char *ret_id, size_t size)
{
    char seed[64];
    kg_regime_seed_name(of->seed, of->regime, seed, sizeof seed);
    snprintf(ret_id, size, "%s/%s/%s/%s", of->suite->name, of->shape, seed, of->backend->name);
}

void kg_case_key(const struct kg_case *of, const char *backend, char *ret_key, size_t size)
{
    snprintf(ret_key, size, "%s/%s/%s", of->suite->name, of->shape, backend);
}

const char *kg_case_xfail(const struct kg_case *of, const char *id)
{
    for (size_t i = 0; i < of->suite->xfails.count; i++)
        if (kg_pattern_matches(of->suite->xfails.items[i].pattern, id))
            return of->suite->xfails.items[i].reason;
    return NULL;
}

void kg_plan_done(struct kg_plan *plan)
{
    for (size_t i = 0; i < plan->n_shapes; i++)
        free(plan->shapes[i].problem);
    free(plan->shapes);
    free(plan->cases);
    *plan = (struct kg_plan){ 0 };
}

/* Room for one more; NULL when out of memory. */
static void *grow(void *items, size_t count, size_t *room, size_t item_bytes)
{
    if (count < *room)
        return items;
    size_t wanted = *room ? 2 * *room : 64;
    void *grown = realloc(items, wanted * item_bytes);
    if (grown)
        *room = wanted;
    return grown;
}

static bool selects(struct builder *b, const char *id)
{
    const struct kg_selection *s = b->selection;
    bool hit = s->n_patterns == 0;
    for (size_t i = 0; i < s->n_patterns; i++) {
        if (kg_pattern_matches(s->patterns[i], id)) {
            b->pattern_hit[i] = true;
            hit = true;
        }
    }
    for (size_t i = 0; i < s->n_excludes && hit; i++)
        hit = !kg_pattern_matches(s->excludes[i], id);
    return hit;
}

static bool wants_backend(const struct kg_selection *s, const char *name)
{
    for (size_t i = 0; i < s->n_backends; i++)
        if (!strcmp(s->backends[i], name))
            return true;
    return s->n_backends == 0;
}

/* Is it selected itself, or, where it must be, its normal case? */
static bool selects_case(struct builder *b, const struct kg_case *of)
{
    struct kg_case normal = *of;
    char id[KG_ID_SIZE];
    kg_case_id(of, id, sizeof id);
    if (selects(b, id))
        return true;
    normal.regime = NULL;
    kg_case_id(&normal, id, sizeof id);
    return of->regime && b->selection->every_regime && selects(b, id);
}

/* Of all backends of the kind. */
static int add_seed(struct builder *b, const struct kg_case *of)
{
    const struct kg_selection *s = b->selection;
    if (!kg_selection_wants_regime(s, of->regime))
        return KG_OK;
    for (size_t j = 0; j < of->suite->backends.count; j++) {
        struct kg_case one = *of;
        one.backend = of->suite->backends.items[j];
        if (one.backend->device != of->kind || !wants_backend(s, one.backend->name) || !selects_case(b, &one))
            continue;
        if (s->kind && s->kind != of->kind) /* a pattern that matches it has matched */
            continue;
        void *cases = grow(b->plan.cases, b->plan.count, &b->cases_room, sizeof *b->plan.cases);
        if (!cases)
            return kg_fail(b->error, KG_ENOMEM, "out of memory for %zu cases", b->plan.count);
        b->plan.cases = cases;
        b->plan.cases[b->plan.count++] = one;
    }
    return KG_OK;
}

/* A row of one kind is a row for the backends of that kind; with no CPU rows, all rows serve both. */
static int add_cases(struct builder *b, const kg_suite *suite, enum kg_device_kind kind, size_t shape,
                     const char *row_name)
{
    const struct kg_selection *s = b->selection;
    const kg_seeds seeds = s->n_seeds ? (kg_seeds){ s->seeds, s->n_seeds } : suite->seeds;
    const size_t n_drawn = s->n_seeds ? s->n_seeds : 1; /* seeds that the regimes are drawn with */
    struct kg_case one = { .suite = suite, .kind = kind, .shape_ordinal = shape };
    int status = KG_OK;
    one.problem = b->plan.shapes[shape].problem;
    one.shape = b->plan.shapes[shape].name;
    for (size_t i = 0; i < seeds.count && !status; i++) {
        one.seed = seeds.items[i];
        status = add_seed(b, &one);
    }
    for (size_t r = 0; r < suite->regimes.count; r++) {
        const kg_suite_regime *of = &suite->regimes.items[r];
        if (of->rows && fnmatch(of->rows, row_name, 0))
            continue;
        one.regime = kg_regime_find(suite->op, of->regime);
        for (size_t i = 0; i < n_drawn && !status; i++) {
            one.seed = seeds.items[i];
            status = add_seed(b, &one);
        }
    }
    return status;
}

/* Applies one field=value of a sweep to a problem. */
static int apply_value(const kg_suite *suite, void *problem, const char *name, const char *value, kg_error *ret_error)
{
    const kg_field *field;
    kg_error cause = { 0 };
    int status = kg_field_of_suite(suite, name, &field, ret_error);
    if (status)
        return status;
    status = kg_field_set(field, problem, value, &cause);
    return status ? kg_fail(ret_error, status, "--set %.380s", cause.text) : KG_OK;
}

static int settle_problem(const kg_suite *suite, const char *shape, const char *environment, void *problem,
                          kg_error *ret_error)
{
    kg_error cause = { 0 };
    int status = kg_problem_check(suite->op, problem, &cause);
    if (status)
        kg_fail(ret_error, status, "%s%ssuite %s, row %s: %.300s", environment, *environment ? ": " : "", suite->name,
                shape, cause.text);
    return status;
}

/* A variable that says what the row says leaves its name as it is, so that its golden judges. */
static int set_value(struct kg_plan_shape *shape, const struct kg_axis *axis, const char *value, kg_error *ret_error)
{
    char own[64];
    kg_field_format(axis->field, shape->problem, own, sizeof own);
    if (axis->variable && !strcmp(own, value))
        return KG_OK;
    kg_text_add(shape->name, sizeof shape->name, "%c%s=%s", strchr(shape->name, '@') ? ',' : '@', axis->field->name,
                value);
    if (axis->variable)
        kg_text_join(shape->environment, sizeof shape->environment, ",", "%s=%s", axis->variable, value);
    return kg_field_set(axis->field, shape->problem, value, ret_error);
}

/* Adds the shape that `choice[i]` of each axis makes of the row. The name is a pointer into plan.shapes, which moves
 * while it grows: cases get theirs at the end. */
static int add_shape(struct builder *b, const kg_suite *suite, const struct kg_axes *axes, const void *row,
                     const size_t *choice, size_t *ret_shape)
{
    const kg_op *op = suite->op;
    void *shapes = grow(b->plan.shapes, b->plan.n_shapes, &b->shapes_room, sizeof *b->plan.shapes);
    if (!shapes)
        return kg_fail(b->error, KG_ENOMEM, "out of memory for shapes");
    b->plan.shapes = shapes;
    struct kg_plan_shape *shape = &b->plan.shapes[b->plan.n_shapes];
    shape->problem = malloc(op->problem_size);
    if (!shape->problem)
        return kg_fail(b->error, KG_ENOMEM, "out of memory for shapes");
    b->plan.n_shapes++;
    memcpy(shape->problem, row, op->problem_size);
    kg_fields_fall_back(op->fields, shape->problem); /* before values that are asked for, which may be zeros */
    snprintf(shape->name, sizeof shape->name, "%s", kg_row_name(row));
    shape->environment[0] = '\0';
    for (size_t i = 0; i < axes->count; i++) {
        int status = set_value(shape, &axes->items[i], axes->items[i].values[choice[i]], b->error);
        if (status)
            return status;
    }
    if (strlen(shape->name) + 1 == sizeof shape->name || strlen(shape->environment) + 1 == sizeof shape->environment)
        return kg_fail(b->error, KG_EINVAL, "suite %s, row %s: name too long", suite->name, kg_row_name(row));
    *ret_shape = b->plan.n_shapes - 1;
    return KG_OK;
}

/* Counts through the axes' values like an odometer; false when it has wrapped. */
static bool next_choice(const struct kg_axes *axes, size_t *choice)
{
    for (size_t i = axes->count; i-- > 0;) {
        if (++choice[i] < axes->items[i].n_values)
            return true;
        choice[i] = 0;
    }
    return false;
}

/* What the op refuses is refused where a case of it was selected. */
static int add_row(struct builder *b, const kg_suite *suite, const struct kg_axes *axes, enum kg_device_kind kind,
                   const void *row)
{
    size_t choice[KG_MAX_AXES] = { 0 };
    do {
        size_t shape = 0, before = b->plan.count;
        int status = add_shape(b, suite, axes, row, choice, &shape);
        if (!status)
            status = add_cases(b, suite, kind, shape, kg_row_name(row));
        const struct kg_plan_shape *added = &b->plan.shapes[shape];
        if (!status && b->plan.count > before && strchr(added->name, '@')) /* rows are checked with their table */
            status = settle_problem(suite, added->name, added->environment, added->problem, b->error);
        if (status)
            return status;
        if (b->plan.count == before) { /* nothing of it was selected */
            free(added->problem);
            b->plan.n_shapes--;
        }
    } while (next_choice(axes, choice));
    return KG_OK;
}

static bool has_backend(const struct builder *b, const kg_suite *suite, enum kg_device_kind kind)
{
    for (size_t i = 0; i < suite->backends.count; i++)
        if (suite->backends.items[i]->device == kind && wants_backend(b->selection, suite->backends.items[i]->name))
            return true;
    return false;
}

/* A suite that no pattern can reach is left out before its rows are expanded, so that --set of a field that only
 * another suite has is no error. */
static bool reaches(const struct builder *b, const kg_suite *suite)
{
    size_t length = strlen(suite->name);
    for (size_t i = 0; i < b->selection->n_patterns; i++) {
        const char *pattern = b->selection->patterns[i];
        size_t literal = strcspn(pattern, "*?[\\/");
        bool ends = pattern[literal] == '/' || pattern[literal] == '\0';
        if (literal <= length && !strncmp(pattern, suite->name, literal) && (!ends || literal == length))
            return true;
    }
    return b->selection->n_patterns == 0;
}

static int add_suite(struct builder *b, const kg_suite *suite)
{
    const enum kg_device_kind kinds[] = { KG_CUDA, KG_CPU };
    struct kg_axes axes = { .count = 0 };
    if (!reaches(b, suite) || (!has_backend(b, suite, KG_CUDA) && !has_backend(b, suite, KG_CPU)))
        return KG_OK;
    int status = kg_axes_make(suite, b->selection, &axes, b->error);
    for (size_t k = 0; k < 2; k++) {
        const kg_table rows = kg_suite_rows(suite, kinds[k]);
        for (size_t i = 0; i < rows.count && has_backend(b, suite, kinds[k]) && !status; i++)
            status = add_row(b, suite, &axes, kinds[k], (const char *)rows.rows + i * rows.row_size);
    }
    kg_axes_done(&axes);
    return status;
}

static bool has_regime(const kg_suite *suite, const char *name)
{
    for (size_t i = 0; i < suite->regimes.count; i++)
        if (!strcmp(suite->regimes.items[i].regime, name))
            return true;
    return false;
}

static int check_names(const struct kg_module *const *modules, size_t n_modules, const struct kg_selection *s,
                       kg_error *ret_error)
{
    for (size_t i = 0; i < s->n_backends; i++) {
        bool known = false;
        for (size_t m = 0; m < n_modules; m++)
            for (size_t j = 0; j < modules[m]->n_suites && !known; j++)
                known = kg_suite_backend(modules[m]->suites[j], s->backends[i]) != NULL;
        if (!known)
            return kg_fail(ret_error, KG_EINVAL, "unknown backend %s; kgate list shows them", s->backends[i]);
    }
    for (size_t i = 0; i < s->n_regimes; i++) {
        bool known = kg_regime_is_normal(s->regimes[i]);
        for (size_t m = 0; m < n_modules; m++)
            for (size_t j = 0; j < modules[m]->n_suites && !known; j++)
                known = has_regime(modules[m]->suites[j], s->regimes[i]);
        if (!known)
            return kg_fail(ret_error, KG_EINVAL, "no suite has regime %s", s->regimes[i]);
    }
    for (size_t i = 0; i < s->n_patterns + s->n_excludes; i++) {
        int status = kg_pattern_check(i < s->n_patterns ? s->patterns[i] : s->excludes[i - s->n_patterns], ret_error);
        if (status)
            return status;
    }
    return KG_OK;
}

/* Pointers into arrays that have stopped growing; and the shard's part. */
static void settle(struct builder *b)
{
    size_t kept = 0;
    for (size_t i = 0; i < b->plan.count; i++) {
        struct kg_case one = b->plan.cases[i];
        one.problem = b->plan.shapes[one.shape_ordinal].problem;
        one.shape = b->plan.shapes[one.shape_ordinal].name;
        one.environment = b->plan.shapes[one.shape_ordinal].environment;
        if (!b->selection->n_shards || one.shape_ordinal % b->selection->n_shards + 1 == b->selection->shard)
            b->plan.cases[kept++] = one;
    }
    b->plan.count = kept;
}

static int make_one(const struct kg_module *module, const struct kg_selection *selection, bool *pattern_hit,
                    struct kg_plan *ret_plan, kg_error *ret_error)
{
    struct builder b = { .selection = selection, .pattern_hit = pattern_hit, .error = ret_error };
    int status = KG_OK;
    for (size_t i = 0; i < module->n_suites && !status; i++)
        status = add_suite(&b, module->suites[i]);
    if (!status)
        settle(&b);
    *ret_plan = b.plan;
    return status;
}

static int check_found(const struct kg_selection *selection, const bool *pattern_hit, size_t count, kg_error *ret_error)
{
    for (size_t i = 0; i < selection->n_patterns; i++)
        if (!pattern_hit[i])
            return kg_fail(ret_error, KG_EINVAL, "no case matches %.300s", selection->patterns[i]);
    if (count)
        return KG_OK;
    if (selection->n_shards)
        return kg_fail(ret_error, KG_EINVAL, "no case selected: shard %zu/%zu is empty", selection->shard,
                       selection->n_shards);
    return kg_fail(ret_error, KG_EINVAL, "no case selected");
}

int kg_plans_make(const struct kg_module *const *modules, size_t n_modules, const struct kg_selection *selection,
                  struct kg_plan *ret_plans, kg_error *ret_error)
{
    size_t count = 0;
    int status = check_names(modules, n_modules, selection, ret_error);
    if (status)
        return status;
    bool *pattern_hit = calloc(selection->n_patterns + 1, sizeof *pattern_hit);
    struct kg_plan *plans = calloc(n_modules, sizeof *plans);
    if (!pattern_hit || !plans)
        status = kg_fail(ret_error, KG_ENOMEM, "out of memory");
    for (size_t i = 0; i < n_modules && !status; i++) {
        status = make_one(modules[i], selection, pattern_hit, &plans[i], ret_error);
        count += plans[i].count;
    }
    if (!status)
        status = check_found(selection, pattern_hit, count, ret_error);
    for (size_t i = 0; plans && i < n_modules; i++) {
        if (status)
            kg_plan_done(&plans[i]);
        else
            ret_plans[i] = plans[i];
    }
    free(plans);
    free(pattern_hit);
    return status;
}

int kg_plan_make(const struct kg_module *module, const struct kg_selection *selection, struct kg_plan *ret_plan,
                 kg_error *ret_error)
{
    return kg_plans_make(&module, 1, selection, ret_plan, ret_error);
}

int kg_plan_problem(const kg_suite *suite, enum kg_device_kind kind, const char *shape, void **ret_problem,
                    kg_error *ret_error)
{
    size_t length = strcspn(shape, "@");
    const void *row = kg_table_row(kg_suite_rows(suite, kind), shape, length);
    char values[200];
    if (!row || strlen(shape) >= sizeof values)
        return kg_fail(ret_error, KG_EINVAL, "suite %s has no row %.200s", suite->name, shape);
    void *problem = malloc(suite->op->problem_size);
    if (!problem)
        return kg_fail(ret_error, KG_ENOMEM, "out of memory for a problem");
    memcpy(problem, row, suite->op->problem_size);
    kg_fields_fall_back(suite->op->fields, problem);
    snprintf(values, sizeof values, "%s", shape[length] ? shape + length + 1 : "");
    int status = KG_OK;
    char *rest = NULL;
    for (char *name = strtok_r(values, ",", &rest); name && !status; name = strtok_r(NULL, ",", &rest)) {
        char *value = strchr(name, '=');
        if (!value)
            status = kg_fail(ret_error, KG_EINVAL, "row %.200s: no = after @", shape);
        else {
            *value++ = '\0';
            status = apply_value(suite, problem, name, value, ret_error);
        }
    }
    if (!status)
        status = settle_problem(suite, shape, "", problem, ret_error);
    if (status)
        free(problem);
    else
        *ret_problem = problem;
    return status;
}

/* ---- anchors --------------------------------------------------------------------------------------------------- */

const kg_backend *kg_case_own_anchor(const struct kg_case *of, const char *backend)
{
    const kg_backend *anchor = of->suite ? kg_suite_anchor(of->suite, of->kind) : NULL;
    return anchor && strcmp(anchor->name, backend) != 0 ? anchor : NULL;
}

const char *kg_case_anchor(const struct kg_case *of, const char *backend)
{
    const kg_backend *own = kg_case_own_anchor(of, backend);
    char key[KG_ID_SIZE];
    if (own || !of->suite || !of->suite->anchor_case)
        return own ? own->name : "";
    kg_case_key(of, backend, key, sizeof key);
    return strcmp(key, of->suite->anchor_case) != 0 ? of->suite->anchor_case : "";
}

int kg_plan_anchor(const struct kg_module *module, const struct kg_case *of, const char *backend,
                   struct kg_case *ret_anchor, void **ret_problem, kg_error *ret_error)
{
    const char *name = kg_case_anchor(of, backend);
    char shape[KG_SHAPE_SIZE];
    *ret_anchor = *of;
    *ret_problem = NULL;
    ret_anchor->backend = kg_case_own_anchor(of, backend);
    if (ret_anchor->backend)
        return KG_OK;
    if (!*name || !kg_module_case(module, name, &ret_anchor->suite, shape, &ret_anchor->backend) ||
        ret_anchor->backend->device != of->kind)
        return KG_ENOTFOUND;
    int status = kg_plan_problem(ret_anchor->suite, of->kind, shape, ret_problem, ret_error);
    ret_anchor->problem = *ret_problem;
    ret_anchor->shape = NULL;
    ret_anchor->tensors = 0;
    return status;
}
