/* list.c -- `kgate list`: the cases of the tables, whatever machine this is. */
#include "plan/field.h"
#include "reports/json_parts.h"
#include "run/tables.h"
#include "plan/plan.h"
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
    else
        print_text(&plan);
    kg_plan_done(&plan);
    return status ? 2 : 0;
}
