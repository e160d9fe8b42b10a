/* json_parts.c -- pieces that the JSON reports share. What a record of a case opens with stands in kg_json_add_record.
 * Numbers that are not finite become strings, by kg_json_add_real. */
#include "reports/json_parts.h"

#include <inttypes.h>

#include "reports/facts.h"
#include "plan/field.h"
#include "judge/verdict.h"

cJSON *kg_json_add_text(cJSON *object, const char *name, const char *text)
{
    char clean[4096];
    return cJSON_AddStringToObject(object, name, kg_text_clean(text ? text : "", clean, sizeof clean));
}

/* cJSON's numbers are doubles: seeds and counts would lose digits past 2^53. */
cJSON *kg_json_add_count(cJSON *object, const char *name, uint64_t value)
{
    char digits[24];
    (void)snprintf(digits, sizeof digits, "%" PRIu64, value);
    return cJSON_AddRawToObject(object, name, digits);
}

static void add_known(cJSON *object, const char *name, double value)
{
    if (value >= 0)
        kg_json_add_real(object, name, value);
    else
        cJSON_AddNullToObject(object, name);
}

void kg_json_add_state(cJSON *object, const char *name, const struct kg_device_state *state)
{
    cJSON *item = cJSON_AddObjectToObject(object, name);
    char names[128];
    add_known(item, "sm_clock_mhz", state->sm_clock_mhz);
    add_known(item, "memory_clock_mhz", state->memory_clock_mhz);
    add_known(item, "temperature_c", state->temperature_c);
    add_known(item, "utilisation_pct", state->utilisation_pct);
    add_known(item, "power_w", state->power_w);
    add_known(item, "power_limit_w", state->power_limit_w);
    add_known(item, "throttle_reasons", (double)state->throttle_reasons);
    add_known(item, "sm_clock_mhz_max", state->sm_clock_mhz_max);
    add_known(item, "power_limit_default_w", state->power_limit_default_w);
    kg_noise_names(kg_noise_of_reasons(state->throttle_reasons) & kg_noise_throttles(), names, sizeof names);
    kg_json_add_text(item, "throttled_by", names);
    add_known(item, "other_processes", state->other_processes);
    add_known(item, "virtualisation", state->virtualisation);
    add_known(item, "persistence_off", state->persistence_off);
    add_known(item, "mig", state->mig);
}

static void add_field(cJSON *object, const kg_field *field, const void *problem)
{
    char text[64], name[96];
    double value = 0;
    /* An op may call a field what we call one of ours. */
    bool taken = cJSON_GetObjectItemCaseSensitive(object, field->name) != NULL;
    (void)snprintf(name, sizeof name, "%s%s", taken ? "problem_" : "", field->name);
    if (kg_field_get(field, problem, &value) || kg_field_format(field, problem, text, sizeof text) < 0)
        return;
    switch (field->type) {
    case KG_INT:
        cJSON_AddRawToObject(object, name, text);
        break;
    case KG_REAL:
        kg_json_add_real(object, name, value);
        break;
    case KG_BOOL:
        cJSON_AddBoolToObject(object, name, value != 0);
        break;
    case KG_CHOICE:
        kg_json_add_text(object, name, text);
        break;
    }
}

void kg_json_add_problem(cJSON *object, const struct kg_result *result)
{
    if (!result->of.suite || !result->of.problem)
        return;
    const kg_fields *fields = &result->of.suite->op->fields;
    if (result->of.environment && *result->of.environment)
        kg_json_add_text(object, "environment", result->of.environment);
    for (size_t i = 0; i < fields->count; i++)
        add_field(object, &fields->items[i], result->of.problem);
}

void kg_json_add_noise(cJSON *object, kg_noise_set held)
{
    cJSON *names = cJSON_AddArrayToObject(object, "noise");
    for (enum kg_noise i = 0; i < KG_NOISES; i++)
        if (held & (kg_noise_set)1 << i)
            cJSON_AddItemToArray(names, cJSON_CreateString(kg_noise_kind(i)->name));
}

cJSON *kg_json_add_record(cJSON *array, const struct kg_result *result)
{
    cJSON *record = cJSON_CreateObject();
    cJSON_AddItemToArray(array, record);
    kg_json_add_text(record, "id", result->id);
    kg_json_add_text(record, "suite", kg_fact_suite(result).s);
    kg_json_add_text(record, "shape", kg_fact_shape(result).s);
    if (result->of.suite) {
        kg_json_add_count(record, "seed", result->of.seed);
        kg_json_add_text(record, "regime", kg_fact_regime(result));
    }
    kg_json_add_text(record, "backend", kg_fact_backend(result));
    kg_json_add_text(record, "resolved_backend", kg_fact_resolved(result));
    kg_json_add_text(record, "verdict", kg_verdict_name(result->verdict));
    kg_json_add_text(record, "reason", kg_fact_why(result));
    return record;
}

void kg_json_add_use(cJSON *root, const struct kg_run *run)
{
    const struct kg_device_use whole = kg_fact_use(run, 0);
    if (!whole.blocks)
        return;
    kg_json_add_real(root, "device_idle_pct", whole.idle_pct);
    kg_json_add_noise(root, kg_fact_steadiness(run).setting);
    cJSON *rounds = cJSON_AddArrayToObject(root, "rounds");
    for (int round = 1; round <= kg_fact_rounds(run); round++) {
        const struct kg_device_use use = kg_fact_use(run, round);
        if (!use.blocks)
            continue;
        cJSON *item = cJSON_CreateObject();
        cJSON_AddItemToArray(rounds, item);
        cJSON_AddNumberToObject(item, "round", round);
        kg_json_add_count(item, "blocks", use.blocks);
        kg_json_add_real(item, "span_s", use.span_s);
        kg_json_add_real(item, "busy_s", use.busy_s);
        kg_json_add_real(item, "device_idle_pct", use.idle_pct);
    }
}

int kg_json_put_document(const struct kg_run *run, kg_json_fill_fn *fill, FILE *out, kg_error *ret_error)
{
    cJSON *root = cJSON_CreateObject();
    if (root)
        fill(run, root);
    int status = kg_json_put(root, out, ret_error);
    return status ? status : kg_stream_check(out, ret_error);
}
