/* axis.c -- texts of --set and of environment variables to the values that a suite's rows are to take. */
#include "plan/axis.h"

#include <stdlib.h>
#include <string.h>

#include "plan/field.h"

const char *kg_selection_variable(const struct kg_selection *selection, const kg_variable *variable)
{
    const char *text = selection->variable ? selection->variable(variable->name) : NULL;
    for (size_t i = 0; i < selection->n_sweeps; i++)
        if (!strcmp(selection->sweeps[i].field, variable->field))
            return NULL;
    return text && *text ? text : NULL;
}

void kg_axes_done(struct kg_axes *axes)
{
    for (size_t i = 0; i < axes->count; i++)
        free(axes->items[i].values);
    *axes = (struct kg_axes){ .count = 0 };
}

/* `record` is room for a problem. */
static int add_value(struct kg_axis *axis, void *record, const char *typed, kg_error *ret_error)
{
    char *value = axis->values[axis->n_values];
    int status = kg_field_set(axis->field, record, typed, ret_error);
    if (status)
        return status;
    kg_field_format(axis->field, record, value, sizeof *axis->values);
    for (size_t i = 0; i < axis->n_values; i++)
        if (!strcmp(axis->values[i], value))
            return kg_fail(ret_error, KG_EINVAL, "%s=%s stands twice", axis->field->name, value);
    axis->n_values++;
    return kg_field_set(axis->field, record, value, ret_error); /* rounded, it may be out of range */
}

/* Room for an axis of so many values, and a problem to try them on. */
static int begin(struct kg_axes *axes, const kg_op *op, struct kg_axis of, size_t n_values, void **ret_record,
                 kg_error *ret_error)
{
    if (axes->count == KG_MAX_AXES)
        return kg_fail(ret_error, KG_EINVAL, "more than %d fields swept", KG_MAX_AXES);
    of.values = calloc(n_values, sizeof *of.values);
    void *record = calloc(1, op->problem_size);
    if (!of.values || !record) {
        free(of.values);
        free(record);
        return kg_fail(ret_error, KG_ENOMEM, "out of memory for %zu values", n_values);
    }
    axes->items[axes->count++] = of;
    *ret_record = record;
    return KG_OK;
}

static int add_sweep(struct kg_axes *axes, const kg_suite *suite, const struct kg_sweep *sweep, kg_error *ret_error)
{
    struct kg_axis of = { 0 };
    kg_error cause = { 0 };
    void *record = NULL;
    int status = kg_field_of_suite(suite, sweep->field, &of.field, ret_error);
    if (!status)
        status = begin(axes, suite->op, of, sweep->n_values, &record, ret_error);
    if (status)
        return status;
    for (size_t i = 0; i < sweep->n_values && !status; i++)
        status = add_value(&axes->items[axes->count - 1], record, sweep->values[i], &cause);
    free(record);
    return status ? kg_fail(ret_error, status, "--set %.380s", cause.text) : KG_OK;
}

static int add_variable(struct kg_axes *axes, const kg_suite *suite, const kg_variable *variable, const char *text,
                        kg_error *ret_error)
{
    const struct kg_axis of = { .field = kg_fields_find(suite->op->fields, variable->field, strlen(variable->field)),
                                .variable = variable->name };
    kg_error cause = { 0 };
    void *record = NULL;
    size_t n_values = 1;
    for (const char *c = text; *c; c++)
        n_values += *c == ',';
    int status = begin(axes, suite->op, of, n_values, &record, ret_error);
    if (status)
        return status;
    for (const char *item = text; n_values && !status; n_values--) {
        const size_t length = strcspn(item, ",");
        char typed[64];
        if (snprintf(typed, sizeof typed, "%.*s", (int)length, item) >= (int)sizeof typed)
            status = kg_fail(&cause, KG_EINVAL, "a value too long");
        else if (!*typed)
            status = kg_fail(&cause, KG_EINVAL, "an empty value between commas");
        else
            status = add_value(&axes->items[axes->count - 1], record, typed, &cause);
        item += length + 1;
    }
    free(record);
    return status ? kg_fail(ret_error, status, "%s=%.100s: %.300s", variable->name, text, cause.text) : KG_OK;
}

int kg_axes_make(const kg_suite *suite, const struct kg_selection *selection, struct kg_axes *ret_axes,
                 kg_error *ret_error)
{
    struct kg_axes axes = { .count = 0 };
    int status = KG_OK;
    for (size_t i = 0; i < suite->environment.count && !status; i++) {
        const kg_variable *variable = &suite->environment.items[i];
        const char *text = kg_selection_variable(selection, variable);
        if (text)
            status = add_variable(&axes, suite, variable, text, ret_error);
    }
    for (size_t i = 0; i < selection->n_sweeps && !status; i++)
        status = add_sweep(&axes, suite, &selection->sweeps[i], ret_error);
    if (status)
        kg_axes_done(&axes);
    else
        *ret_axes = axes;
    return status;
}
