/* wire.c -- messages of a worker; the job is in wire_job.c. A member added to a result gets a line on both sides. */
#include "worker/wire.h"

#include <stdlib.h>
#include <string.h>

#include "worker/wire_parts.h"

static const char *const type_names[] = { "devices", "begin",           "ready", "comparison", "block", "skip",
                                          "broken",  "baseline broken", "lost",  "end",        "bye" };

static cJSON *message(enum kg_message_type type, size_t index)
{
    cJSON *root = cJSON_CreateObject();
    cJSON_AddStringToObject(root, "is", type_names[type]);
    cJSON_AddNumberToObject(root, "case", (double)index);
    return root;
}

static void send(FILE *out, cJSON *root)
{
    char *text = cJSON_PrintUnformatted(root);
    if (text)
        fprintf(out, "%s\n", text);
    fflush(out);
    free(text);
    cJSON_Delete(root);
}

/* ---- devices ---- */

void kg_wire_devices(FILE *out, const kg_device *devices, const struct kg_device_health *healths, int count,
                     const char *why)
{
    cJSON *root = message(KG_MESSAGE_DEVICES, 0);
    cJSON *list = cJSON_AddArrayToObject(root, "devices");
    for (int i = 0; i < count; i++) {
        cJSON *item = kg_wire_device_to_json(&devices[i]);
        cJSON_AddItemToObject(item, "idle", kg_wire_state_to_json(&healths[i].idle));
        cJSON_AddItemToObject(item, "work", kg_wire_state_to_json(&healths[i].work));
        cJSON_AddStringToObject(item, "nvml", healths[i].nvml);
        cJSON_AddItemToArray(list, item);
    }
    cJSON_AddStringToObject(root, "why", why);
    send(out, root);
}

int kg_wire_read_devices(const char *line, size_t length, kg_device *ret_devices, struct kg_device_health *ret_healths,
                         int max, int *ret_count, kg_error *ret_error)
{
    cJSON *root = NULL;
    char why[400];
    int status = kg_json_parse(line, length, &root, ret_error);
    if (status)
        return status;
    int count = 0;
    const cJSON *item;
    cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(root, "devices")) if (count < max)
    {
        ret_devices[count] = (kg_device){ 0 };
        kg_wire_device_from_json(item, &ret_devices[count]);
        kg_wire_state_from_json(cJSON_GetObjectItemCaseSensitive(item, "idle"), &ret_healths[count].idle);
        kg_wire_state_from_json(cJSON_GetObjectItemCaseSensitive(item, "work"), &ret_healths[count].work);
        kg_wire_get_text(item, "nvml", ret_healths[count].nvml, sizeof ret_healths->nvml);
        count++;
    }
    kg_wire_get_text(root, "why", why, sizeof why);
    cJSON_Delete(root);
    if (!count)
        return kg_fail(ret_error, KG_EUNSUPPORTED, "%s", why);
    *ret_count = count;
    return KG_OK;
}

/* ---- a case ---- */

void kg_wire_begin(FILE *out, size_t index, enum kg_phase phase)
{
    cJSON *root = message(KG_MESSAGE_BEGIN, index);
    cJSON_AddNumberToObject(root, "phase", phase);
    send(out, root);
}

void kg_wire_ready(FILE *out, size_t index, const struct kg_result *result)
{
    cJSON *root = message(KG_MESSAGE_READY, index);
    cJSON_AddStringToObject(root, "backend", result->backend);
    cJSON_AddStringToObject(root, "identity", result->identity);
    cJSON_AddStringToObject(root, "anchor_identity", result->anchor_identity);
    cJSON_AddStringToObject(root, "pin", result->pin);
    cJSON_AddStringToObject(root, "anchor_pin", result->anchor_pin);
    cJSON_AddStringToObject(root, "baseline_identity", result->baseline_identity);
    cJSON_AddStringToObject(root, "baseline_pin", result->baseline_pin);
    cJSON_AddBoolToObject(root, "is_new", result->is_new);
    cJSON_AddStringToObject(root, "knobs", result->knobs);
    cJSON_AddStringToObject(root, "note", result->note);
    cJSON_AddNumberToObject(root, "kernels", result->launch.kernels);
    cJSON_AddNumberToObject(root, "memory_nodes", result->launch.memory_nodes);
    cJSON_AddNumberToObject(root, "other_nodes", result->launch.other_nodes);
    cJSON *names = cJSON_AddArrayToObject(root, "names");
    for (int i = 0; i < result->launch.n_names; i++)
        cJSON_AddItemToArray(names, cJSON_CreateString(result->launch.names[i]));
    send(out, root);
}

/* What only a timing round knows, or who made the job: an empty text leaves it as it is. */
static void keep_text(const cJSON *object, const char *name, char *text, size_t size)
{
    const char *given = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, name));
    if (given && *given)
        snprintf(text, size, "%s", given);
}

static void apply_ready(const cJSON *root, struct kg_result *result)
{
    kg_wire_get_text(root, "backend", result->backend, sizeof result->backend);
    kg_wire_get_text(root, "identity", result->identity, sizeof result->identity);
    keep_text(root, "anchor_identity", result->anchor_identity, sizeof result->anchor_identity);
    keep_text(root, "anchor_pin", result->anchor_pin, sizeof result->anchor_pin);
    keep_text(root, "baseline_identity", result->baseline_identity, sizeof result->baseline_identity);
    keep_text(root, "baseline_pin", result->baseline_pin, sizeof result->baseline_pin);
    result->is_new |= cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(root, "is_new"));
    kg_wire_get_text(root, "pin", result->pin, sizeof result->pin);
    kg_wire_get_text(root, "knobs", result->knobs, sizeof result->knobs);
    keep_text(root, "note", result->note, sizeof result->note);
    struct kg_launch_info *launch = &result->launch;
    *launch = (struct kg_launch_info){ .kernels = kg_wire_get_int(root, "kernels"),
                                       .memory_nodes = kg_wire_get_int(root, "memory_nodes"),
                                       .other_nodes = kg_wire_get_int(root, "other_nodes") };
    const cJSON *name;
    cJSON_ArrayForEach(name, cJSON_GetObjectItemCaseSensitive(root, "names")) if (launch->n_names < KG_MAX_KERNELS &&
                                                                                  cJSON_IsString(name))
        snprintf(launch->names[launch->n_names++], sizeof launch->names[0], "%s", name->valuestring);
}

void kg_wire_comparison(FILE *out, size_t index, const struct kg_comparison *f, uint64_t digest)
{
    cJSON *root = message(KG_MESSAGE_COMPARISON, index);
    kg_wire_add_u64(root, "digest", digest);
    kg_wire_add_u64(root, "count", f->count);
    kg_wire_add_u64(root, "nonfinite", f->nonfinite);
    kg_wire_add_u64(root, "unwritten", f->unwritten);
    kg_wire_add_u64(root, "bad", f->bad);
    kg_wire_add_u64(root, "worst_index", f->worst_index);
    kg_json_add_real(root, "max_abs", f->max_abs);
    kg_json_add_real(root, "mean_abs", f->mean_abs);
    kg_json_add_real(root, "bad_pct", f->bad_pct);
    kg_json_add_real(root, "max_rel", f->max_rel);
    kg_json_add_real(root, "rel_l2", f->rel_l2);
    kg_json_add_real(root, "bias", f->bias);
    kg_json_add_real(root, "worst_got", f->worst_got);
    kg_json_add_real(root, "worst_expected", f->worst_expected);
    send(out, root);
}

static void apply_comparison(const cJSON *root, struct kg_result *result)
{
    result->output_digest = kg_wire_get_u64(root, "digest");
    result->comparison = (struct kg_comparison){
        .count = kg_wire_get_u64(root, "count"),
        .nonfinite = kg_wire_get_u64(root, "nonfinite"),
        .unwritten = kg_wire_get_u64(root, "unwritten"),
        .bad = kg_wire_get_u64(root, "bad"),
        .worst_index = kg_wire_get_u64(root, "worst_index"),
        .max_abs = kg_wire_get_real(root, "max_abs"),
        .mean_abs = kg_wire_get_real(root, "mean_abs"),
        .bad_pct = kg_wire_get_real(root, "bad_pct"),
        .max_rel = kg_wire_get_real(root, "max_rel"),
        .rel_l2 = kg_wire_get_real(root, "rel_l2"),
        .bias = kg_wire_get_real(root, "bias"),
        .worst_got = kg_wire_get_real(root, "worst_got"),
        .worst_expected = kg_wire_get_real(root, "worst_expected"),
    };
    result->compared = true;
    result->outcome = KG_RAN;
    result->marks = kg_comparison_mark(&result->comparison, &result->of.suite->gates);
}

/* ---- a block ---- */

void kg_wire_block(FILE *out, size_t index, const struct kg_block *block, double tick_us)
{
    cJSON *root = message(KG_MESSAGE_BLOCK, index);
    cJSON_AddNumberToObject(root, "round", block->round);
    cJSON_AddNumberToObject(root, "calls", block->calls);
    kg_json_add_real(root, "p50_us", block->p50_us);
    kg_json_add_real(root, "anchor_p50_us", block->anchor_p50_us);
    kg_json_add_real(root, "log_ratio", block->log_ratio);
    kg_json_add_real(root, "baseline_p50_us", block->baseline_p50_us);
    kg_json_add_real(root, "log_against", block->log_against);
    kg_json_add_real(root, "planted_pct", block->planted_pct);
    kg_json_add_real(root, "planted_p50_us", block->planted_p50_us);
    kg_json_add_real(root, "log_planted", block->log_planted);
    kg_json_add_real(root, "span_us", block->span_us);
    kg_json_add_real(root, "busy_us", block->busy_us);
    kg_json_add_real(root, "tick_us", tick_us);
    cJSON_AddItemToObject(root, "us", cJSON_CreateDoubleArray(block->samples_us, (int)block->n_samples));
    cJSON_AddItemToObject(root, "anchor_us",
                          cJSON_CreateDoubleArray(block->anchor_samples_us, (int)block->n_anchor_samples));
    cJSON_AddItemToObject(root, "baseline_us",
                          cJSON_CreateDoubleArray(block->baseline_samples_us, (int)block->n_baseline_samples));
    cJSON_AddItemToObject(root, "before", kg_wire_state_to_json(&block->before));
    cJSON_AddItemToObject(root, "after", kg_wire_state_to_json(&block->after));
    send(out, root);
}

static double *get_doubles(const cJSON *array, size_t *ret_count)
{
    size_t count = (size_t)cJSON_GetArraySize(array), i = 0;
    double *values = count ? malloc(count * sizeof *values) : NULL;
    const cJSON *item;
    *ret_count = values ? count : 0;
    if (values)
        cJSON_ArrayForEach(item, array) values[i++] = cJSON_GetNumberValue(item);
    return values;
}

static void apply_block(const cJSON *root, struct kg_result *result)
{
    if (result->n_blocks == KG_MAX_BLOCKS)
        return;
    struct kg_block *block = &result->blocks[result->n_blocks++];
    *block = (struct kg_block){ .round = kg_wire_get_int(root, "round"),
                                .calls = kg_wire_get_int(root, "calls"),
                                .p50_us = kg_wire_get_real(root, "p50_us"),
                                .anchor_p50_us = kg_wire_get_real(root, "anchor_p50_us"),
                                .log_ratio = kg_wire_get_real(root, "log_ratio"),
                                .baseline_p50_us = kg_wire_get_real(root, "baseline_p50_us"),
                                .log_against = kg_wire_get_real(root, "log_against"),
                                .planted_pct = kg_wire_get_real(root, "planted_pct"),
                                .planted_p50_us = kg_wire_get_real(root, "planted_p50_us"),
                                .log_planted = kg_wire_get_real(root, "log_planted"),
                                .span_us = kg_wire_get_real(root, "span_us"),
                                .busy_us = kg_wire_get_real(root, "busy_us") };
    result->tick_us = kg_wire_get_real(root, "tick_us");
    block->samples_us = get_doubles(cJSON_GetObjectItemCaseSensitive(root, "us"), &block->n_samples);
    block->anchor_samples_us =
        get_doubles(cJSON_GetObjectItemCaseSensitive(root, "anchor_us"), &block->n_anchor_samples);
    block->baseline_samples_us =
        get_doubles(cJSON_GetObjectItemCaseSensitive(root, "baseline_us"), &block->n_baseline_samples);
    kg_wire_state_from_json(cJSON_GetObjectItemCaseSensitive(root, "before"), &block->before);
    kg_wire_state_from_json(cJSON_GetObjectItemCaseSensitive(root, "after"), &block->after);
}

/* ---- the rest ---- */

void kg_wire_note(FILE *out, enum kg_message_type type, size_t index, const char *note)
{
    cJSON *root = message(type, index);
    cJSON_AddStringToObject(root, "note", note);
    send(out, root);
}

void kg_wire_end(FILE *out, size_t index)
{
    send(out, message(KG_MESSAGE_END, index));
}

void kg_wire_bye(FILE *out)
{
    send(out, message(KG_MESSAGE_BYE, 0));
}

static void apply(enum kg_message_type type, const cJSON *root, struct kg_result *result)
{
    switch (type) {
    case KG_MESSAGE_BEGIN:
        if (kg_wire_get_int(root, "phase") >= KG_NOT_RUN && kg_wire_get_int(root, "phase") <= KG_DONE)
            result->phase = (enum kg_phase)kg_wire_get_int(root, "phase");
        break;
    case KG_MESSAGE_READY:
        apply_ready(root, result);
        break;
    case KG_MESSAGE_COMPARISON:
        apply_comparison(root, result);
        break;
    case KG_MESSAGE_BLOCK:
        apply_block(root, result);
        break;
    case KG_MESSAGE_SKIP:
    case KG_MESSAGE_BROKEN:
    case KG_MESSAGE_BASELINE_BROKEN:
    case KG_MESSAGE_LOST:
        result->baseline_broken = type == KG_MESSAGE_BASELINE_BROKEN;
        result->outcome = type == KG_MESSAGE_SKIP ? KG_SKIPPED : type == KG_MESSAGE_LOST ? KG_ABSENT : KG_BROKEN;
        kg_wire_get_text(root, "note", result->note, sizeof result->note);
        break;
    case KG_MESSAGE_END:
        result->phase = KG_DONE;
        break;
    case KG_MESSAGE_DEVICES:
    case KG_MESSAGE_BYE:
        break;
    }
}

int kg_wire_apply(const char *line, size_t length, struct kg_result *results, size_t n_results,
                  enum kg_message_type *ret_type, size_t *ret_index, kg_error *ret_error)
{
    cJSON *root = NULL;
    char name[32];
    int status = kg_json_parse(line, length, &root, ret_error);
    if (status)
        return status;
    kg_wire_get_text(root, "is", name, sizeof name);
    double index = -1;
    kg_json_real(root, "case", &index, NULL);
    size_t type = 0, n_types = sizeof type_names / sizeof *type_names;
    while (type < n_types && strcmp(name, type_names[type]))
        type++;
    if (type == n_types || !(index >= 0 && index < (double)n_results && index == (double)(size_t)index))
        status = kg_fail(ret_error, KG_EINVAL, "a worker's message is not one of kgate's");
    if (!status) {
        *ret_type = (enum kg_message_type)type;
        *ret_index = (size_t)index;
        apply(*ret_type, root, &results[*ret_index]);
    }
    cJSON_Delete(root);
    return status;
}
