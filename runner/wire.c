/* wire.c -- messages of a worker; the job is in wire_job.c. A member added to a result gets a line on both sides. */
#include "wire.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const type_names[] = { "devices", "begin",  "ready", "figures", "block",
                                          "skip",    "broken", "end",   "bye" };

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

static void add_u64(cJSON *object, const char *name, uint64_t value)
{
    char text[32];
    snprintf(text, sizeof text, "%" PRIu64, value);
    cJSON_AddStringToObject(object, name, text);
}

static uint64_t get_u64(const cJSON *object, const char *name)
{
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, name));
    return text ? strtoull(text, NULL, 10) : 0;
}

static double get_real(const cJSON *object, const char *name)
{
    double value = 0;
    kg_json_real(object, name, &value, NULL);
    return value;
}

/* Clamped: what came through the pipe may be anything. */
static int get_int(const cJSON *object, const char *name)
{
    double value = get_real(object, name);
    return value >= INT_MIN && value <= INT_MAX ? (int)value : 0;
}

static void get_text(const cJSON *object, const char *name, char *ret_text, size_t size)
{
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, name));
    snprintf(ret_text, size, "%s", text ? text : "");
}

/* ---- devices ---- */

static cJSON *device_to_json(const kg_device *d)
{
    cJSON *o = cJSON_CreateObject();
    cJSON_AddNumberToObject(o, "kind", d->kind);
    cJSON_AddNumberToObject(o, "index", d->index);
    cJSON_AddStringToObject(o, "name", d->name);
    cJSON_AddStringToObject(o, "arch", d->arch);
    cJSON_AddStringToObject(o, "uuid", d->uuid);
    cJSON_AddNumberToObject(o, "cc_major", d->cc_major);
    cJSON_AddNumberToObject(o, "cc_minor", d->cc_minor);
    cJSON_AddNumberToObject(o, "units", d->units);
    cJSON_AddNumberToObject(o, "clock_mhz_max", d->clock_mhz_max);
    cJSON_AddNumberToObject(o, "fp64_ratio", d->fp64_ratio);
    add_u64(o, "memory_bytes", d->memory_bytes);
    add_u64(o, "l2_bytes", d->l2_bytes);
    add_u64(o, "shared_bytes", d->shared_bytes);
    kg_json_add_real(o, "peak_flops", d->peak_flops);
    kg_json_add_real(o, "peak_bytes_per_s", d->peak_bytes_per_s);
    cJSON_AddNumberToObject(o, "driver_version", d->driver_version);
    cJSON_AddStringToObject(o, "driver", d->driver);
    return o;
}

static void device_from_json(const cJSON *o, kg_device *d)
{
    d->kind = (enum kg_device_kind)get_real(o, "kind");
    d->index = get_int(o, "index");
    get_text(o, "name", d->name, sizeof d->name);
    get_text(o, "arch", d->arch, sizeof d->arch);
    get_text(o, "uuid", d->uuid, sizeof d->uuid);
    d->cc_major = get_int(o, "cc_major");
    d->cc_minor = get_int(o, "cc_minor");
    d->units = get_int(o, "units");
    d->clock_mhz_max = get_int(o, "clock_mhz_max");
    d->fp64_ratio = get_int(o, "fp64_ratio");
    d->memory_bytes = get_u64(o, "memory_bytes");
    d->l2_bytes = get_u64(o, "l2_bytes");
    d->shared_bytes = get_u64(o, "shared_bytes");
    d->peak_flops = get_real(o, "peak_flops");
    d->peak_bytes_per_s = get_real(o, "peak_bytes_per_s");
    d->driver_version = get_int(o, "driver_version");
    get_text(o, "driver", d->driver, sizeof d->driver);
}

void kg_wire_devices(FILE *out, const kg_device *devices, int count, const char *why)
{
    cJSON *root = message(KG_MESSAGE_DEVICES, 0);
    cJSON *list = cJSON_AddArrayToObject(root, "devices");
    for (int i = 0; i < count; i++)
        cJSON_AddItemToArray(list, device_to_json(&devices[i]));
    cJSON_AddStringToObject(root, "why", why);
    send(out, root);
}

int kg_wire_read_devices(const char *line, size_t length, kg_device *ret_devices, int max, int *ret_count,
                         kg_error *ret_error)
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
        device_from_json(item, &ret_devices[count++]);
    }
    get_text(root, "why", why, sizeof why);
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

static void apply_ready(const cJSON *root, struct kg_result *result)
{
    get_text(root, "backend", result->backend, sizeof result->backend);
    get_text(root, "identity", result->identity, sizeof result->identity);
    char anchor[sizeof result->anchor_identity];
    get_text(root, "anchor_identity", anchor, sizeof anchor);
    if (*anchor) { /* only a timing round knows it */
        snprintf(result->anchor_identity, sizeof result->anchor_identity, "%s", anchor);
        get_text(root, "anchor_pin", result->anchor_pin, sizeof result->anchor_pin);
    }
    get_text(root, "pin", result->pin, sizeof result->pin);
    get_text(root, "knobs", result->knobs, sizeof result->knobs);
    get_text(root, "note", result->note, sizeof result->note);
    struct kg_launch_info *launch = &result->launch;
    *launch = (struct kg_launch_info){ .kernels = get_int(root, "kernels"),
                                       .memory_nodes = get_int(root, "memory_nodes"),
                                       .other_nodes = get_int(root, "other_nodes") };
    const cJSON *name;
    cJSON_ArrayForEach(name, cJSON_GetObjectItemCaseSensitive(root, "names")) if (launch->n_names < KG_MAX_KERNELS &&
                                                                                  cJSON_IsString(name))
        snprintf(launch->names[launch->n_names++], sizeof launch->names[0], "%s", name->valuestring);
}

void kg_wire_figures(FILE *out, size_t index, const struct kg_figures *f, uint64_t digest)
{
    cJSON *root = message(KG_MESSAGE_FIGURES, index);
    add_u64(root, "digest", digest);
    add_u64(root, "count", f->count);
    add_u64(root, "nonfinite", f->nonfinite);
    add_u64(root, "unwritten", f->unwritten);
    add_u64(root, "bad", f->bad);
    add_u64(root, "worst_index", f->worst_index);
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

static void apply_figures(const cJSON *root, struct kg_result *result)
{
    result->output_digest = get_u64(root, "digest");
    result->figures = (struct kg_figures){
        .count = get_u64(root, "count"),
        .nonfinite = get_u64(root, "nonfinite"),
        .unwritten = get_u64(root, "unwritten"),
        .bad = get_u64(root, "bad"),
        .worst_index = get_u64(root, "worst_index"),
        .max_abs = get_real(root, "max_abs"),
        .mean_abs = get_real(root, "mean_abs"),
        .bad_pct = get_real(root, "bad_pct"),
        .max_rel = get_real(root, "max_rel"),
        .rel_l2 = get_real(root, "rel_l2"),
        .bias = get_real(root, "bias"),
        .worst_got = get_real(root, "worst_got"),
        .worst_expected = get_real(root, "worst_expected"),
    };
    result->compared = true;
    result->outcome = KG_RAN;
    result->marks = kg_figures_mark(&result->figures, &result->of.suite->gates);
}

/* ---- a block ---- */

static cJSON *state_to_json(const struct kg_device_state *s)
{
    const double values[] = {
        s->sm_clock_mhz,  s->memory_clock_mhz,         s->temperature_c,  s->utilisation_pct, s->power_w,
        s->power_limit_w, (double)s->throttle_reasons, s->other_processes
    };
    return cJSON_CreateDoubleArray(values, sizeof values / sizeof *values);
}

static void state_from_json(const cJSON *array, struct kg_device_state *s)
{
    double v[8];
    for (int i = 0; i < 8; i++) {
        v[i] = cJSON_GetNumberValue(cJSON_GetArrayItem(array, i));
        if (!(fabs(v[i]) <= (i == 6 ? 0x1p53 : INT_MAX)))
            v[i] = -1;
    }
    *s = (struct kg_device_state){ (int)v[0], (int)v[1], (int)v[2], (int)v[3], v[4], v[5], (int64_t)v[6], (int)v[7] };
}

void kg_wire_block(FILE *out, size_t index, const struct kg_block *block, double tick_us)
{
    cJSON *root = message(KG_MESSAGE_BLOCK, index);
    cJSON_AddNumberToObject(root, "round", block->round);
    cJSON_AddNumberToObject(root, "calls", block->calls);
    kg_json_add_real(root, "p50_us", block->p50_us);
    kg_json_add_real(root, "anchor_p50_us", block->anchor_p50_us);
    kg_json_add_real(root, "log_ratio", block->log_ratio);
    kg_json_add_real(root, "tick_us", tick_us);
    cJSON_AddItemToObject(root, "us", cJSON_CreateDoubleArray(block->samples_us, (int)block->n_samples));
    cJSON_AddItemToObject(root, "anchor_us",
                          cJSON_CreateDoubleArray(block->anchor_samples_us, (int)block->n_anchor_samples));
    cJSON_AddItemToObject(root, "before", state_to_json(&block->before));
    cJSON_AddItemToObject(root, "after", state_to_json(&block->after));
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
    *block = (struct kg_block){ .round = get_int(root, "round"),
                                .calls = get_int(root, "calls"),
                                .p50_us = get_real(root, "p50_us"),
                                .anchor_p50_us = get_real(root, "anchor_p50_us"),
                                .log_ratio = get_real(root, "log_ratio") };
    result->tick_us = get_real(root, "tick_us");
    block->samples_us = get_doubles(cJSON_GetObjectItemCaseSensitive(root, "us"), &block->n_samples);
    block->anchor_samples_us =
        get_doubles(cJSON_GetObjectItemCaseSensitive(root, "anchor_us"), &block->n_anchor_samples);
    state_from_json(cJSON_GetObjectItemCaseSensitive(root, "before"), &block->before);
    state_from_json(cJSON_GetObjectItemCaseSensitive(root, "after"), &block->after);
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
        if (get_int(root, "phase") >= KG_NOT_RUN && get_int(root, "phase") <= KG_DONE)
            result->phase = (enum kg_phase)get_int(root, "phase");
        break;
    case KG_MESSAGE_READY:
        apply_ready(root, result);
        break;
    case KG_MESSAGE_FIGURES:
        apply_figures(root, result);
        break;
    case KG_MESSAGE_BLOCK:
        apply_block(root, result);
        break;
    case KG_MESSAGE_SKIP:
    case KG_MESSAGE_BROKEN:
        result->outcome = type == KG_MESSAGE_SKIP ? KG_SKIPPED : KG_BROKEN;
        get_text(root, "note", result->note, sizeof result->note);
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
    get_text(root, "is", name, sizeof name);
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
