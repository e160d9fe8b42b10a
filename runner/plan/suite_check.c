/* suite_check.c -- the rules that a suite's table must keep. A new member of kg_suite gets its rule here. */
#include <ctype.h>
#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plan/field.h"
#include "plan/module.h"
#include "plan/plan.h"
#include "plan/problem.h"
#include "plan/regime.h"
#include "plan/wrong.h"

static int check_op(const kg_suite *suite, kg_error *ret_error)
{
    const kg_op *op = suite->op;
    if (!op || !kg_name_valid(op->name) || !op->tensors || !op->flops || !op->bytes || !op->reference_cpu)
        return kg_fail(ret_error, KG_EINVAL, "suite %s: its op lacks a name, tensors, reference, flops or bytes",
                       suite->name);
    kg_error cause = { 0 };
    int status = kg_fields_validate(op->fields, op->problem_size, &cause);
    if (status)
        kg_fail(ret_error, status, "op %s: %.400s", op->name, cause.text);
    return status;
}

static int check_row(const kg_suite *suite, const void *row, kg_error *ret_error)
{
    const kg_op *op = suite->op;
    const char *name = kg_row_name(row);
    if (!kg_name_valid(name))
        return kg_fail(ret_error, KG_EINVAL, "suite %s: a row is named '%s'; letters, digits, _ - . only", suite->name,
                       name ? name : "");
    void *problem = malloc(op->problem_size);
    if (!problem)
        return kg_fail(ret_error, KG_ENOMEM, "out of memory");
    memcpy(problem, row, op->problem_size);
    kg_fields_fall_back(op->fields, problem);
    kg_error cause = { 0 };
    int status = kg_problem_check(op, problem, &cause);
    if (status)
        kg_fail(ret_error, status, "suite %s, row %s: %.380s", suite->name, name, cause.text);
    free(problem);
    return status;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int check_unique(const kg_suite *suite, const char **names, size_t count, kg_error *ret_error)
{
    qsort(names, count, sizeof *names, by_name);
    for (size_t i = 1; i < count; i++)
        if (!strcmp(names[i - 1], names[i]))
            return kg_fail(ret_error, KG_EINVAL, "suite %s, row %s: stands twice", suite->name, names[i]);
    return KG_OK;
}

/* A name may stand in both tables: the backend in the id tells which row is meant. */
static int check_table(const kg_suite *suite, kg_table table, kg_error *ret_error)
{
    if (table.count && table.row_size != suite->op->problem_size)
        return kg_fail(ret_error, KG_EINVAL, "suite %s: rows of %zu bytes, but a problem of op %s has %zu", suite->name,
                       table.row_size, suite->op->name, suite->op->problem_size);
    const char **names = malloc((table.count + 1) * sizeof *names);
    if (!names)
        return kg_fail(ret_error, KG_ENOMEM, "out of memory");
    int status = KG_OK;
    for (size_t i = 0; i < table.count && !status; i++) {
        const void *row = (const char *)table.rows + i * table.row_size;
        status = check_row(suite, row, ret_error);
        names[i] = kg_row_name(row);
    }
    if (!status)
        status = check_unique(suite, names, table.count, ret_error);
    free(names);
    return status;
}

static int check_rows(const kg_suite *suite, kg_error *ret_error)
{
    if (!suite->shapes.count && !suite->cpu_shapes.count)
        return kg_fail(ret_error, KG_EINVAL, "suite %s has no rows", suite->name);
    int status = check_table(suite, suite->shapes, ret_error);
    return status ? status : check_table(suite, suite->cpu_shapes, ret_error);
}

static int check_backend(const kg_suite *suite, const kg_backend *backend, kg_error *ret_error)
{
    if (backend && kg_name_valid(backend->name) && strlen(backend->name) >= KG_NAME_SIZE)
        return kg_fail(ret_error, KG_EINVAL, "suite %s, backend %.100s...: name too long", suite->name, backend->name);
    if (!backend || !kg_name_valid(backend->name))
        return kg_fail(ret_error, KG_EINVAL, "suite %s: a backend without a well-formed name", suite->name);
    if (backend->device != KG_CPU && backend->device != KG_CUDA)
        return kg_fail(ret_error, KG_EINVAL, "suite %s, backend %s: no kind of device", suite->name, backend->name);
    if (!backend->launch && !backend->candidates)
        return kg_fail(ret_error, KG_EINVAL, "suite %s, backend %s: neither launch nor candidates", suite->name,
                       backend->name);
    if (backend->stage && !backend->workspace)
        return kg_fail(ret_error, KG_EINVAL, "suite %s, backend %s: stages without a workspace", suite->name,
                       backend->name);
    kg_error cause = { 0 };
    int status = kg_fields_validate(backend->knobs, backend->knobs_size, &cause);
    if (status)
        kg_fail(ret_error, status, "backend %s: %.400s", backend->name, cause.text);
    return status;
}

static int check_backends(const kg_suite *suite, kg_error *ret_error)
{
    if (!suite->backends.count)
        return kg_fail(ret_error, KG_EINVAL, "suite %s has no backends", suite->name);
    for (size_t i = 0; i < suite->backends.count; i++) {
        const kg_backend *backend = suite->backends.items[i];
        int status = check_backend(suite, backend, ret_error);
        if (status)
            return status;
        if (kg_suite_backend(suite, backend->name) != backend)
            return kg_fail(ret_error, KG_EINVAL, "suite %s, backend %s: stands twice", suite->name, backend->name);
    }
    const kg_backend *anchors[] = { suite->anchor, suite->cpu_anchor };
    const enum kg_device_kind kinds[] = { KG_CUDA, KG_CPU };
    for (size_t i = 0; i < 2; i++) {
        int status = anchors[i] ? check_backend(suite, anchors[i], ret_error) : KG_OK;
        if (status)
            return status;
        if (anchors[i] && (anchors[i]->device != kinds[i] || !anchors[i]->launch || anchors[i]->untimed))
            return kg_fail(ret_error, KG_EINVAL, "suite %s: anchor %s cannot anchor this kind of device", suite->name,
                           anchors[i]->name);
    }
    return KG_OK;
}

static bool is_timed_in(const kg_suite *suite, const kg_backend *backend)
{
    for (size_t i = 0; i < suite->backends.count; i++)
        if (suite->backends.items[i] == backend)
            return kg_timed_by_tables(suite, backend);
    return false;
}

/* Both are timed in the suite itself, or there would be nothing to compare in its runs. */
static int check_contest(const kg_suite *suite, kg_error *ret_error)
{
    const kg_backend *ours = suite->contest.ours, *baseline = suite->contest.baseline;
    if (!ours && !baseline)
        return KG_OK;
    if (!ours || !baseline || ours == baseline || ours->device != baseline->device)
        return kg_fail(ret_error, KG_EINVAL, "suite %s: a contest is of two backends of one kind of device",
                       suite->name);
    if (!is_timed_in(suite, ours) || !is_timed_in(suite, baseline))
        return kg_fail(ret_error, KG_EINVAL, "suite %s: a side of its contest is not timed in it", suite->name);
    return KG_OK;
}

/* What the others' cost is counted over is timed beside them. */
static int check_clean(const kg_suite *suite, kg_error *ret_error)
{
    if (suite->clean && !is_timed_in(suite, suite->clean))
        return kg_fail(ret_error, KG_EINVAL, "suite %s: its clean backend is not timed in it", suite->name);
    return KG_OK;
}

static int check_xfails(const kg_suite *suite, kg_error *ret_error)
{
    for (size_t i = 0; i < suite->xfails.count; i++) {
        const kg_xfail *xfail = &suite->xfails.items[i];
        kg_error cause = { 0 };
        if (!xfail->pattern || !xfail->reason || !*xfail->reason)
            return kg_fail(ret_error, KG_EINVAL, "suite %s: an xfail without a pattern or a reason", suite->name);
        int status = kg_pattern_check(xfail->pattern, &cause);
        if (status)
            return kg_fail(ret_error, status, "suite %s, xfails: %.380s", suite->name, cause.text);
    }
    return KG_OK;
}

static int check_excuses(const kg_suite *suite, kg_error *ret_error)
{
    for (size_t i = 0; i < suite->excuses.count; i++) {
        const kg_excuse *excuse = &suite->excuses.items[i];
        kg_error cause = { 0 };
        if (!excuse->wrong || !excuse->pattern || !excuse->reason || !*excuse->reason)
            return kg_fail(ret_error, KG_EINVAL, "suite %s: an excuse without a wrong answer, a pattern or a reason",
                           suite->name);
        if (kg_wrong_find(excuse->wrong) < 0)
            return kg_fail(ret_error, KG_EINVAL, "suite %s, excuses: there is no wrong answer %.100s", suite->name,
                           excuse->wrong);
        int status = kg_pattern_check(excuse->pattern, &cause);
        if (status)
            return kg_fail(ret_error, status, "suite %s, excuses: %.380s", suite->name, cause.text);
    }
    return KG_OK;
}

static bool variable_name_valid(const char *name)
{
    return name && *name && !isdigit((unsigned char)*name) &&
           !name[strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")];
}

static int check_environment(const kg_suite *suite, kg_error *ret_error)
{
    const kg_variable *items = suite->environment.items;
    for (size_t i = 0; i < suite->environment.count; i++) {
        const char *name = items[i].name, *field = items[i].field;
        if (!variable_name_valid(name))
            return kg_fail(ret_error, KG_EINVAL, "suite %s: '%s' is no name for an environment variable", suite->name,
                           name ? name : "");
        if (!field || !kg_fields_find(suite->op->fields, field, strlen(field)))
            return kg_fail(ret_error, KG_EINVAL, "suite %s, variable %s: op %s has no field %s", suite->name, name,
                           suite->op->name, field ? field : "");
        for (size_t j = 0; j < i; j++)
            if (!strcmp(items[j].name, name) || !strcmp(items[j].field, field))
                return kg_fail(ret_error, KG_EINVAL, "suite %s, variable %s: it or its field stands twice", suite->name,
                               name);
    }
    return KG_OK;
}

/* Asks for success, so that a limit left out or NaN is refused. */
static int check_gates(const kg_suite *suite, kg_error *ret_error)
{
    const kg_gates *gates = &suite->gates;
    if (!(gates->max_abs > 0 && gates->mean_abs > 0 && gates->bad_abs > 0 && gates->rel_l2 > 0))
        return kg_fail(ret_error, KG_EINVAL, "suite %s: max_abs, mean_abs, bad_abs and rel_l2 must all be given",
                       suite->name);
    if (!(gates->scaled >= 0 && gates->slope >= 0))
        return kg_fail(ret_error, KG_EINVAL, "suite %s: scaled or slope out of range", suite->name);
    if (gates->scaled > 0 && !suite->op->error_scale_cpu)
        return kg_fail(ret_error, KG_EINVAL, "suite %s: a limit over the error scale, but op %s gives none",
                       suite->name, suite->op->name);
    if (!(gates->bad_rel >= 0 && gates->bad_pct >= 0 && gates->bad_pct <= 100))
        return kg_fail(ret_error, KG_EINVAL, "suite %s: bad_rel or bad_pct out of range", suite->name);
    const kg_time_policy *time = &suite->time;
    if ((time->timer != KG_TIMER_GRAPH && time->timer != KG_TIMER_EVENT) ||
        (time->l2 != KG_L2_WARM && time->l2 != KG_L2_COLD))
        return kg_fail(ret_error, KG_EINVAL, "suite %s: an unknown timer or L2 state in .time", suite->name);
    if (!(time->regress_pct >= 0 && time->cpu_regress_pct >= 0 && time->creep_pct >= 0 && time->warmup >= 0 &&
          time->samples >= 0 && isfinite(time->regress_pct + time->cpu_regress_pct + time->creep_pct)))
        return kg_fail(ret_error, KG_EINVAL, "suite %s: a negative or infinite number in .time", suite->name);
    return KG_OK;
}

static bool meant_for(const kg_suite_regime *regime, const char *row)
{
    return !regime->rows || !fnmatch(regime->rows, row, 0);
}

static bool regime_name_valid(const char *name)
{
    return kg_name_valid(name) && !strchr(name, '-') && !kg_regime_is_normal(name);
}

/* Each is known, stands once for a row, and has rows that it is for. */
static int check_regimes(const kg_suite *suite, kg_error *ret_error)
{
    for (size_t i = 0; i < suite->op->regimes.count; i++)
        if (!regime_name_valid(suite->op->regimes.items[i].name))
            return kg_fail(ret_error, KG_EINVAL, "op %s: regime '%s' is no name for one", suite->op->name,
                           suite->op->regimes.items[i].name ? suite->op->regimes.items[i].name : "");
    for (size_t i = 0; i < suite->regimes.count; i++) {
        const kg_suite_regime *regime = &suite->regimes.items[i];
        if (!regime->regime || !kg_regime_find(suite->op, regime->regime))
            return kg_fail(ret_error, KG_EINVAL, "suite %s: there is no regime '%s'", suite->name,
                           regime->regime ? regime->regime : "");
        size_t rows = 0, again = 0;
        for (size_t t = 0; t < 2; t++) {
            const kg_table table = t ? suite->cpu_shapes : suite->shapes;
            for (size_t r = 0; r < table.count; r++) {
                const char *name = kg_row_name((const char *)table.rows + r * table.row_size);
                const bool meant = meant_for(regime, name);
                rows += meant;
                for (size_t j = 0; j < i && meant; j++)
                    again += !strcmp(suite->regimes.items[j].regime, regime->regime) &&
                             meant_for(&suite->regimes.items[j], name);
            }
        }
        if (!rows || again)
            return kg_fail(ret_error, KG_EINVAL, "suite %s, regime %s: %s", suite->name, regime->regime,
                           rows ? "a row has it twice" : "no row is named so");
    }
    return KG_OK;
}

int kg_suite_check(const kg_suite *suite, kg_error *ret_error)
{
    if (!suite || !kg_name_valid(suite->name))
        return kg_fail(ret_error, KG_EINVAL, "a suite without a well-formed name");
    if (strlen(suite->name) >= KG_NAME_SIZE)
        return kg_fail(ret_error, KG_EINVAL, "suite %.100s...: name too long", suite->name);
    int status = check_op(suite, ret_error);
    if (!status)
        status = check_rows(suite, ret_error);
    if (!status)
        status = check_backends(suite, ret_error);
    if (!status)
        status = check_gates(suite, ret_error);
    if (!status)
        status = check_xfails(suite, ret_error);
    if (!status)
        status = check_regimes(suite, ret_error);
    if (!status)
        status = check_excuses(suite, ret_error);
    if (!status)
        status = check_contest(suite, ret_error);
    if (!status)
        status = check_clean(suite, ret_error);
    if (!status)
        status = check_environment(suite, ret_error);
    if (!status && !suite->seeds.count)
        status = kg_fail(ret_error, KG_EINVAL, "suite %s has no seeds", suite->name);
    for (size_t i = 1; i < suite->seeds.count && !status; i++)
        for (size_t j = 0; j < i; j++)
            if (suite->seeds.items[i] == suite->seeds.items[j])
                status = kg_fail(ret_error, KG_EINVAL, "suite %s: seed %llu stands twice", suite->name,
                                 (unsigned long long)suite->seeds.items[i]);
    return status;
}
