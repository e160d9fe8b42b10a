/* wire.c -- messages of a worker; the job is in wire_job.c. A member added to a message is a row of its table. */
#include "worker/wire.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/record.h"

static const char *const type_names[] = { "devices", "begin", "ready", "strength", "comparison",
                                          "repeats", "block", "skip",  "broken",   "baseline broken",
                                          "lost",    "end",   "bye" };

/* ---- what messages hold ---------------------------------------------------------------------------------------- */

#define INT(type, field) KG_IS_COUNT, KG_AT(type, field), .least = INT_MIN, .most = INT_MAX

#define STATE(field) KG_AT(struct kg_device_state, field)
#define STATE_INT(field) INT(struct kg_device_state, field)
static const struct kg_member state_members[] = {
    { "sm_clock_mhz", STATE_INT(sm_clock_mhz) },
    { "memory_clock_mhz", STATE_INT(memory_clock_mhz) },
    { "temperature_c", STATE_INT(temperature_c) },
    { "utilisation_pct", STATE_INT(utilisation_pct) },
    { "power_w", KG_IS_REAL, STATE(power_w) },
    { "power_limit_w", KG_IS_REAL, STATE(power_limit_w) },
    { "throttle_reasons", KG_IS_BITS, STATE(throttle_reasons) },
    { "other_processes", STATE_INT(other_processes) },
    { "sm_clock_mhz_max", STATE_INT(sm_clock_mhz_max) },
    { "power_limit_default_w", KG_IS_REAL, STATE(power_limit_default_w) },
    { "virtualisation", STATE_INT(virtualisation) },
    { "persistence_off", STATE_INT(persistence_off) },
    { "mig", STATE_INT(mig) },
};
static const struct kg_record state_record = KG_RECORD(state_members);

struct probed {
    kg_device device;
    struct kg_device_health health;
};
#define PROBED(field) KG_AT(struct probed, field)
#define PROBED_INT(field) INT(struct probed, field)
static const struct kg_member probed_members[] = {
    { "kind", KG_IS_COUNT, PROBED(device.kind), .least = KG_CPU, .most = KG_CUDA },
    { "index", PROBED_INT(device.index) },
    { "name", KG_IS_TEXT, PROBED(device.name) },
    { "arch", KG_IS_TEXT, PROBED(device.arch) },
    { "uuid", KG_IS_TEXT, PROBED(device.uuid) },
    { "cc_major", PROBED_INT(device.cc_major) },
    { "cc_minor", PROBED_INT(device.cc_minor) },
    { "units", PROBED_INT(device.units) },
    { "clock_mhz_max", PROBED_INT(device.clock_mhz_max) },
    { "fp64_ratio", PROBED_INT(device.fp64_ratio) },
    { "memory_bytes", KG_IS_BITS, PROBED(device.memory_bytes) },
    { "l2_bytes", KG_IS_BITS, PROBED(device.l2_bytes) },
    { "shared_bytes", KG_IS_BITS, PROBED(device.shared_bytes) },
    { "peak_flops", KG_IS_REAL, PROBED(device.peak_flops) },
    { "peak_bytes_per_s", KG_IS_REAL, PROBED(device.peak_bytes_per_s) },
    { "driver_version", PROBED_INT(device.driver_version) },
    { "driver", KG_IS_TEXT, PROBED(device.driver) },
    { "idle", KG_IS_RECORD, PROBED(health.idle), .record = &state_record },
    { "work", KG_IS_RECORD, PROBED(health.work), .record = &state_record },
    { "nvml", KG_IS_TEXT, PROBED(health.nvml) },
};
static const struct kg_record probed_record = KG_RECORD(probed_members);

/* Optional is what only a timing round knows, or who made the job: left out, it stays as it is. */
#define READY(field) KG_AT(struct kg_result, field)
static const struct kg_member ready_members[] = {
    { "backend", KG_IS_TEXT, READY(backend) },
    { "identity", KG_IS_TEXT, READY(identity) },
    { "anchor_identity", KG_IS_TEXT, READY(anchor_identity), .optional = true },
    { "pin", KG_IS_TEXT, READY(pin) },
    { "anchor_pin", KG_IS_TEXT, READY(anchor_pin), .optional = true },
    { "baseline_identity", KG_IS_TEXT, READY(baseline_identity), .optional = true },
    { "baseline_pin", KG_IS_TEXT, READY(baseline_pin), .optional = true },
    { "is_new", KG_IS_FLAG, READY(is_new), .optional = true },
    { "knobs", KG_IS_TEXT, READY(knobs) },
    { "prepare_ms", KG_IS_REAL, READY(prepare_ms) },
    { "note", KG_IS_TEXT, READY(note), .optional = true },
    { "kernels", INT(struct kg_result, launch.kernels) },
    { "memory_nodes", INT(struct kg_result, launch.memory_nodes) },
    { "other_nodes", INT(struct kg_result, launch.other_nodes) },
    { "early_starts", INT(struct kg_result, launch.early_starts) },
    { "given", INT(struct kg_result, launch.given) },
    { "staged", INT(struct kg_result, launch.staged) },
};
static const struct kg_record ready_record = KG_RECORD(ready_members);

#define LAUNCHED(field) INT(struct kg_launched, field)
static const struct kg_member launched_members[] = {
    { "name", KG_IS_TEXT, KG_AT(struct kg_launched, name) },
    { "grid_x", LAUNCHED(grid[0]) },
    { "grid_y", LAUNCHED(grid[1]) },
    { "grid_z", LAUNCHED(grid[2]) },
    { "block_x", LAUNCHED(block[0]) },
    { "block_y", LAUNCHED(block[1]) },
    { "block_z", LAUNCHED(block[2]) },
    { "cluster_x", LAUNCHED(cluster[0]) },
    { "cluster_y", LAUNCHED(cluster[1]) },
    { "cluster_z", LAUNCHED(cluster[2]) },
    { "shared_bytes", LAUNCHED(shared_bytes) },
    { "arguments", LAUNCHED(arguments) },
};
static const struct kg_record launched_record = KG_RECORD(launched_members);

static const struct kg_member begin_members[] = {
    { "phase", KG_IS_COUNT, READY(phase), .least = KG_NOT_RUN, .most = KG_DONE },
};
static const struct kg_member note_members[] = { { "note", KG_IS_TEXT, READY(note) } };
static const struct kg_record begin_record = KG_RECORD(begin_members), note_record = KG_RECORD(note_members);

#define FOUND(field) KG_AT(struct kg_comparison, field)
static const struct kg_member comparison_members[] = {
    { "count", KG_IS_BITS, FOUND(count) },
    { "nonfinite", KG_IS_BITS, FOUND(nonfinite) },
    { "unwritten", KG_IS_BITS, FOUND(unwritten) },
    { "bad", KG_IS_BITS, FOUND(bad) },
    { "worst_index", KG_IS_BITS, FOUND(worst_index) },
    { "max_abs", KG_IS_REAL, FOUND(max_abs) },
    { "mean_abs", KG_IS_REAL, FOUND(mean_abs) },
    { "bad_pct", KG_IS_REAL, FOUND(bad_pct) },
    { "max_rel", KG_IS_REAL, FOUND(max_rel) },
    { "rel_l2", KG_IS_REAL, FOUND(rel_l2) },
    { "bias", KG_IS_REAL, FOUND(bias) },
    { "max_scaled", KG_IS_REAL, FOUND(max_scaled) },
    { "scale_l2", KG_IS_REAL, FOUND(scale_l2) },
    { "slope_scale", KG_IS_REAL, FOUND(slope_scale) },
    { "slope", KG_IS_REAL, FOUND(slope) },
    { "largest", KG_IS_REAL, FOUND(largest) },
    { "expected_rms", KG_IS_REAL, FOUND(expected_rms) },
    { "worst_got", KG_IS_REAL, FOUND(worst_got) },
    { "worst_expected", KG_IS_REAL, FOUND(worst_expected) },
};
static const struct kg_record comparison_record = KG_RECORD(comparison_members);
static const struct kg_member digest_member = { "digest", KG_IS_BITS, .offset = 0 };
static const struct kg_record digest_record = { &digest_member, 1 };

#define REPEATS(field) KG_AT(struct kg_repeats, field)
static const struct kg_member repeats_members[] = {
    { "launches", INT(struct kg_repeats, launches) },
    { "other_bits", INT(struct kg_repeats, other_bits) },
    { "wrong", KG_IS_TEXT, REPEATS(wrong) },
};
static const struct kg_record repeats_record = KG_RECORD(repeats_members);

static const struct kg_member strength_members[] = {
    { "applies", INT(struct kg_strength, applies) },
    { "accepted", INT(struct kg_strength, accepted) },
};
static const struct kg_record strength_record = KG_RECORD(strength_members);
#define REMEDY(field) KG_AT(struct kg_remedy, field)
static const struct kg_member remedy_members[] = {
    { "limit", KG_IS_COUNT, REMEDY(limit), .least = 0, .most = KG_LIMITS - 1 },
    { "wanted", KG_IS_REAL, REMEDY(wanted) },
    { "in_force", KG_IS_REAL, REMEDY(in_force) },
};
static const struct kg_record remedy_record = KG_RECORD(remedy_members);

#define BLOCK(field) KG_AT(struct kg_block, field)
static const struct kg_member block_members[] = {
    { "round", INT(struct kg_block, round) },
    { "calls", INT(struct kg_block, calls) },
    { "other_digest", KG_IS_BITS, BLOCK(other_digest) },
    { "p50_us", KG_IS_REAL, BLOCK(p50_us) },
    { "anchor_p50_us", KG_IS_REAL, BLOCK(anchor_p50_us) },
    { "log_ratio", KG_IS_REAL, BLOCK(log_ratio) },
    { "baseline_p50_us", KG_IS_REAL, BLOCK(baseline_p50_us) },
    { "log_against", KG_IS_REAL, BLOCK(log_against) },
    { "planted_pct", KG_IS_REAL, BLOCK(planted_pct) },
    { "planted_p50_us", KG_IS_REAL, BLOCK(planted_p50_us) },
    { "log_planted", KG_IS_REAL, BLOCK(log_planted) },
    { "span_us", KG_IS_REAL, BLOCK(span_us) },
    { "busy_us", KG_IS_REAL, BLOCK(busy_us) },
    { "before", KG_IS_RECORD, BLOCK(before), .record = &state_record },
    { "after", KG_IS_RECORD, BLOCK(after), .record = &state_record },
};
static const struct kg_record block_record = KG_RECORD(block_members);

/* ---- the worker's side ----------------------------------------------------------------------------------------- */

static char token_here[KG_TOKEN_SIZE];

void kg_wire_sign(const char *token)
{
    snprintf(token_here, sizeof token_here, "%s", token);
}

static cJSON *message(enum kg_message_type type, size_t index)
{
    cJSON *root = cJSON_CreateObject();
    cJSON_AddStringToObject(root, "is", type_names[type]);
    cJSON_AddNumberToObject(root, "case", (double)index);
    return root;
}

static double said_s;

double kg_wire_said_s(void)
{
    return said_s;
}

static void send(FILE *out, cJSON *root)
{
    char *text = cJSON_PrintUnformatted(root);
    if (text)
        fprintf(out, "%s%s\n", token_here, text);
    fflush(out);
    said_s = kg_now_s();
    free(text);
    cJSON_Delete(root);
}

void kg_wire_devices(FILE *out, const kg_device *devices, const struct kg_device_health *healths, int count,
                     const char *why)
{
    cJSON *root = message(KG_MESSAGE_DEVICES, 0);
    cJSON *list = cJSON_AddArrayToObject(root, "devices");
    for (int i = 0; i < count; i++) {
        const struct probed probed = { devices[i], healths[i] };
        cJSON *item = cJSON_CreateObject();
        (void)kg_record_add(item, &probed_record, &probed);
        cJSON_AddItemToArray(list, item);
    }
    cJSON_AddStringToObject(root, "why", why);
    send(out, root);
}

void kg_wire_begin(FILE *out, size_t index, enum kg_phase phase)
{
    cJSON *root = message(KG_MESSAGE_BEGIN, index);
    cJSON_AddNumberToObject(root, "phase", phase);
    send(out, root);
}

void kg_wire_ready(FILE *out, size_t index, const struct kg_result *result)
{
    cJSON *root = message(KG_MESSAGE_READY, index);
    (void)kg_record_add(root, &ready_record, result);
    cJSON *launched = cJSON_AddArrayToObject(root, "launched");
    for (int i = 0; i < result->launch.n_launched; i++) {
        cJSON *item = cJSON_CreateObject();
        (void)kg_record_add(item, &launched_record, &result->launch.launched[i]);
        cJSON_AddItemToArray(launched, item);
    }
    kg_compiled_add_json(root, result);
    send(out, root);
}

/* Remedies stand in the order of the wrong answers that pass. */
void kg_wire_strength(FILE *out, size_t index, const struct kg_strength *strength)
{
    cJSON *root = message(KG_MESSAGE_STRENGTH, index);
    (void)kg_record_add(root, &strength_record, strength);
    cJSON *remedies = cJSON_AddArrayToObject(root, "remedies");
    for (int wrong = 0; wrong < KG_WRONGS; wrong++) {
        if (!(strength->accepted >> wrong & 1))
            continue;
        cJSON *remedy = cJSON_CreateObject();
        (void)kg_record_add(remedy, &remedy_record, &strength->remedies[wrong]);
        cJSON_AddItemToArray(remedies, remedy);
    }
    send(out, root);
}

void kg_wire_comparison(FILE *out, size_t index, const struct kg_comparison *comparison, uint64_t digest)
{
    cJSON *root = message(KG_MESSAGE_COMPARISON, index);
    (void)kg_record_add(root, &digest_record, &digest);
    (void)kg_record_add(root, &comparison_record, comparison);
    send(out, root);
}

void kg_wire_repeats(FILE *out, size_t index, const struct kg_repeats *repeats)
{
    cJSON *root = message(KG_MESSAGE_REPEATS, index);
    (void)kg_record_add(root, &repeats_record, repeats);
    send(out, root);
}

void kg_wire_block(FILE *out, size_t index, const struct kg_block *block, double tick_us)
{
    cJSON *root = message(KG_MESSAGE_BLOCK, index);
    (void)kg_record_add(root, &block_record, block);
    kg_json_add_real(root, "tick_us", tick_us);
    cJSON_AddItemToObject(root, "us", cJSON_CreateDoubleArray(block->samples_us, (int)block->n_samples));
    cJSON_AddItemToObject(root, "anchor_us",
                          cJSON_CreateDoubleArray(block->anchor_samples_us, (int)block->n_anchor_samples));
    cJSON_AddItemToObject(root, "baseline_us",
                          cJSON_CreateDoubleArray(block->baseline_samples_us, (int)block->n_baseline_samples));
    send(out, root);
}

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

/* ---- the parent's side: what is not there, or does not fit, is 0 or empty --------------------------------------- */

int kg_wire_read_devices(const char *line, size_t length, kg_device *ret_devices, struct kg_device_health *ret_healths,
                         int max, int *ret_count, kg_error *ret_error)
{
    cJSON *root = NULL;
    int count = 0, status = kg_json_parse(line, length, &root, ret_error);
    if (status)
        return status;
    const cJSON *item;
    cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(root, "devices")) if (count < max)
    {
        struct probed probed = { .health = { kg_device_state_unknown(), kg_device_state_unknown(), "" } };
        kg_record_take(&probed_record, item, &probed);
        ret_devices[count] = probed.device;
        ret_healths[count++] = probed.health;
    }
    if (count) {
        *ret_count = count;
    } else {
        const char *why = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(root, "why"));
        status = kg_fail(ret_error, KG_EUNSUPPORTED, "%s", why ? why : "");
    }
    cJSON_Delete(root);
    return status;
}

/* Later processes find in the cache what an earlier one compiled: the first word on a code stands. */
static void apply_compiled(const cJSON *item, struct kg_result *result)
{
    kg_compiled compiled = { .registers = 0 };
    kg_record_take(&kg_compiled_record, item, &compiled);
    int at = 0;
    while (at < result->n_compiled && strcmp(result->compiled[at].name, compiled.name))
        at++;
    if (at == KG_MAX_COMPILED ||
        (at < result->n_compiled && !strcmp(result->compiled[at].code_hash, compiled.code_hash)))
        return;
    result->compiled[at] = compiled;
    result->n_compiled += at == result->n_compiled;
}

/* Arguments that another process had otherwise are addresses or what nobody set: they stay unknown. */
static void settle_arguments(const struct kg_launch_info *before, struct kg_launch_info *launch)
{
    for (int i = 0; i < launch->n_launched && i < before->n_launched; i++) {
        const int was = before->launched[i].arguments;
        int *is = &launch->launched[i].arguments;
        if (was && *is && was != *is)
            *is = -1;
    }
}

static void apply_ready(const cJSON *root, struct kg_result *result)
{
    struct kg_launch_info *launch = &result->launch;
    const struct kg_launch_info before = *launch;
    const cJSON *item;
    *launch = (struct kg_launch_info){ 0 };
    kg_record_take(&ready_record, root, result);
    cJSON_ArrayForEach(item,
                       cJSON_GetObjectItemCaseSensitive(root, "launched")) if (launch->n_launched < KG_MAX_KERNELS)
        kg_record_take(&launched_record, item, &launch->launched[launch->n_launched++]);
    settle_arguments(&before, launch);
    cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(root, "compiled")) apply_compiled(item, result);
}

static void apply_strength(const cJSON *root, struct kg_strength *ret_strength)
{
    struct kg_strength strength = { .judged = true };
    kg_record_take(&strength_record, root, &strength);
    const cJSON *remedies = cJSON_GetObjectItemCaseSensitive(root, "remedies");
    for (int wrong = 0, i = 0; wrong < KG_WRONGS; wrong++)
        if (strength.accepted >> wrong & 1)
            kg_record_take(&remedy_record, cJSON_GetArrayItem(remedies, i++), &strength.remedies[wrong]);
    *ret_strength = strength;
}

static void apply_comparison(const cJSON *root, struct kg_result *result)
{
    result->output_digest = 0;
    result->comparison = (struct kg_comparison){ 0 };
    kg_record_take(&digest_record, root, &result->output_digest);
    kg_record_take(&comparison_record, root, &result->comparison);
    result->compared = true;
    result->outcome = KG_RAN;
    const kg_gates gates = kg_case_gates(&result->of, result->comparison.largest);
    result->marks = kg_comparison_mark(&result->comparison, &gates);
}

static double *get_doubles(const cJSON *root, const char *name, size_t *ret_count)
{
    const cJSON *array = cJSON_GetObjectItemCaseSensitive(root, name), *item;
    size_t count = (size_t)cJSON_GetArraySize(array), i = 0;
    double *values = count ? malloc(count * sizeof *values) : NULL;
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
    *block = (struct kg_block){ .before = kg_device_state_unknown(), .after = kg_device_state_unknown() };
    kg_record_take(&block_record, root, block);
    kg_json_real(root, "tick_us", &result->tick_us, NULL);
    block->samples_us = get_doubles(root, "us", &block->n_samples);
    block->anchor_samples_us = get_doubles(root, "anchor_us", &block->n_anchor_samples);
    block->baseline_samples_us = get_doubles(root, "baseline_us", &block->n_baseline_samples);
}

void kg_wire_apply(const struct kg_message *message, struct kg_result *result)
{
    const cJSON *root = message->root;
    const enum kg_message_type type = message->type;
    switch (type) {
    case KG_MESSAGE_BEGIN:
        kg_record_take(&begin_record, root, result);
        break;
    case KG_MESSAGE_READY:
        apply_ready(root, result);
        break;
    case KG_MESSAGE_STRENGTH:
        apply_strength(root, &result->strength);
        break;
    case KG_MESSAGE_COMPARISON:
        apply_comparison(root, result);
        break;
    case KG_MESSAGE_REPEATS:
        kg_record_take(&repeats_record, root, &result->repeats);
        result->marks.repeats = !*result->repeats.wrong;
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
        kg_record_take(&note_record, root, result);
        break;
    case KG_MESSAGE_END:
        result->phase = KG_DONE;
        break;
    case KG_MESSAGE_DEVICES:
    case KG_MESSAGE_BYE:
        break;
    }
}

int kg_wire_parse(const char *line, size_t length, const char *token, size_t n_results, struct kg_message *ret_message,
                  kg_error *ret_error)
{
    cJSON *root = NULL;
    double index = -1;
    const size_t signature = strlen(token);
    if (length < signature || memcmp(line, token, signature) != 0)
        return kg_fail(ret_error, KG_EINVAL, "a worker's message is not one of kgate's");
    int status = kg_json_parse(line + signature, length - signature, &root, ret_error);
    if (status)
        return status;
    const char *name = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(root, "is"));
    kg_json_real(root, "case", &index, NULL);
    size_t type = 0, n_types = sizeof type_names / sizeof *type_names;
    while (type < n_types && (!name || strcmp(name, type_names[type])))
        type++;
    if (type == n_types || !(index >= 0 && index < (double)n_results && index == (double)(size_t)index)) {
        cJSON_Delete(root);
        return kg_fail(ret_error, KG_EINVAL, "a worker's message is not one of kgate's");
    }
    *ret_message = (struct kg_message){ (enum kg_message_type)type, (size_t)index, root };
    return KG_OK;
}
