/* list.c -- `kgate list`: the cases of the tables, whatever machine this is. */
#include <string.h>

#include "plan/field.h"
#include "reports/json_parts.h"
#include "run/tables.h"
#include "plan/plan.h"
#include "plan/regime.h"
#include "commands/commands.h"

static cJSON *problem_to_json(const struct kg_case *of)
{
    cJSON *problem = cJSON_CreateObject();
    for (size_t i = 0; i < of->suite->op->fields.count; i++) {
        const kg_field *field = &of->suite->op->fields.items[i];
        double value = 0;
        char text[64];
        if (kg_field_get(field, of->problem, &value))
            continue;
        kg_field_format(field, of->problem, text, sizeof text);
        if (field->type == KG_CHOICE)
            cJSON_AddStringToObject(problem, field->name, text);
        else if (field->type == KG_BOOL)
            cJSON_AddBoolToObject(problem, field->name, value != 0);
        else
            cJSON_AddNumberToObject(problem, field->name, value);
    }
    return problem;
}

/* Of a suite that declares any: which field each sets, and what they changed here. */
static void add_variables(cJSON *object, const struct kg_case *of)
{
    const kg_variables *environment = &of->suite->environment;
    cJSON *variables = environment->count ? cJSON_AddObjectToObject(object, "variables") : NULL;
    for (size_t i = 0; i < environment->count; i++)
        cJSON_AddStringToObject(variables, environment->items[i].name, environment->items[i].field);
    if (*of->environment)
        cJSON_AddStringToObject(object, "environment", of->environment);
}

static int print_json(const struct kg_plan *plan, kg_error *ret_error)
{
    cJSON *root = cJSON_CreateArray();
    for (size_t i = 0; i < plan->count; i++) {
        const struct kg_case *of = &plan->cases[i];
        char id[KG_ID_SIZE];
        cJSON *one = cJSON_CreateObject();
        kg_case_id(of, id, sizeof id);
        cJSON_AddStringToObject(one, "id", id);
        cJSON_AddStringToObject(one, "suite", of->suite->name);
        cJSON_AddStringToObject(one, "shape", of->shape);
        kg_json_add_count(one, "seed", of->seed);
        kg_json_add_text(one, "regime", of->regime ? of->regime->name : "normal");
        cJSON_AddStringToObject(one, "backend", of->backend->name);
        cJSON_AddStringToObject(one, "device", of->kind == KG_CUDA ? "cuda" : "cpu");
        cJSON_AddBoolToObject(one, "timed", kg_timed_by_tables(of->suite, of->backend) && !of->regime);
        cJSON_AddItemToObject(one, "problem", problem_to_json(of));
        add_variables(one, of);
        cJSON_AddItemToArray(root, one);
    }
    return kg_json_put(root, stdout, ret_error);
}

static void print_text(const struct kg_plan *plan)
{
    for (size_t i = 0; i < plan->count; i++) {
        char id[KG_ID_SIZE];
        kg_case_id(&plan->cases[i], id, sizeof id);
        puts(id);
    }
}

/* ---- what suites have to choose from ---- */

static void print_choice(const char *option, const char *name, const char *values, const char *help)
{
    printf("  %-10s %s%s%s%s%s\n", option, name, *values ? "=" : "", values, help ? "   " : "", help ? help : "");
}

/* As it is written; of two words for one the first. */
static void values_of(const kg_field *field, char *ret_text, size_t size)
{
    size_t length = 0;
    *ret_text = 0;
    if (field->type == KG_BOOL)
        snprintf(ret_text, size, "true|false");
    else if (field->type != KG_CHOICE)
        snprintf(ret_text, size, "%.10g...%.10g", field->min, field->max);
    for (const char *const *word = field->choices; field->type == KG_CHOICE && *word && length < size; word++)
        if (**word)
            length += (size_t)snprintf(ret_text + length, size - length, "%s%.*s", length ? "|" : "",
                                       (int)strcspn(*word, "|"), *word);
}

static void print_fields(const char *option, kg_fields fields)
{
    for (size_t i = 0; i < fields.count; i++) {
        char values[1024];
        values_of(&fields.items[i], values, sizeof values);
        print_choice(option, fields.items[i].name, values, fields.items[i].help);
    }
}

/* Each once, whatever rows it is for. */
static void print_regimes(const kg_suite *suite)
{
    const kg_suite_regime *items = suite->regimes.items;
    for (size_t i = 0; i < suite->regimes.count; i++) {
        size_t first = 0;
        while (strcmp(items[first].regime, items[i].regime) != 0)
            first++;
        if (first == i)
            print_choice("--regime", items[i].regime, "", kg_regime_find(suite->op, items[i].regime)->help);
    }
}

static void print_suite(const kg_suite *suite)
{
    const kg_op *op = suite->op;
    printf("%s%s%s\n", suite->name, suite->help ? ": " : "", suite->help ? suite->help : "");
    print_choice("op", op->name, "", op->help);
    print_fields("--set", op->fields);
    for (size_t i = 0; i < suite->environment.count; i++)
        print_choice("variable", suite->environment.items[i].name, suite->environment.items[i].field, NULL);
    print_regimes(suite);
    for (size_t i = 0; i < suite->backends.count; i++) {
        const kg_backend *backend = suite->backends.items[i];
        print_choice("--backend", backend->name, "", backend->help);
        print_fields("  --knob", backend->knobs);
    }
}

static void print_suites(const struct kg_plan *plan)
{
    for (size_t i = 0; i < plan->count; i++)
        if (i == 0 || plan->cases[i].suite != plan->cases[i - 1].suite)
            print_suite(plan->cases[i].suite);
}

int kg_command_list(const struct kg_options *options, kg_error *ret_error)
{
    struct kg_loaded module;
    struct kg_plan plan = { 0 };
    struct kg_selection selection = options->selection;
    selection.kind = kg_options_kind(options);
    int status = kg_tables_open(options->module, options, &module, ret_error);
    if (!status)
        status = kg_plan_make(module.root, &selection, &plan, ret_error);
    if (status)
        return 2;
    if (options->format == KG_FORMAT_JSON)
        status = print_json(&plan, ret_error);
    else if (options->verbose)
        print_suites(&plan);
    else
        print_text(&plan);
    kg_plan_done(&plan);
    return status ? 2 : 0;
}
