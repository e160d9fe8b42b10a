/* facts.c -- what reports derive from a result. Speed-ups, signs and the again-command are defined here, once. */
#include "facts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "field.h"
#include "stats.h"

struct kg_text kg_fact_suite(const struct kg_result *result)
{
    struct kg_text text;
    (void)snprintf(text.s, sizeof text.s, "%.*s", (int)strcspn(result->id, "/"), result->id);
    return text;
}

bool kg_fact_same_suite(const struct kg_result *a, const struct kg_result *b)
{
    size_t length = strcspn(a->id, "/");
    return length == strcspn(b->id, "/") && !memcmp(a->id, b->id, length);
}

bool kg_fact_first_of_suite(const struct kg_run *run, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (kg_fact_same_suite(&run->results[i], &run->results[index]))
            return false;
    return true;
}

const char *kg_fact_rest(const struct kg_result *result)
{
    const char *slash = strchr(result->id, '/');
    return slash ? slash + 1 : result->id;
}

struct kg_text kg_fact_shape(const struct kg_result *result)
{
    struct kg_text text;
    const char *rest = result->of.shape ? result->of.shape : kg_fact_rest(result);
    (void)snprintf(text.s, sizeof text.s, "%.*s", (int)strcspn(rest, "/"), rest);
    return text;
}

const char *kg_fact_backend(const struct kg_result *result)
{
    if (result->of.backend)
        return result->of.backend->name;
    const char *slash = strrchr(result->id, '/');
    return slash ? slash + 1 : result->backend;
}

const char *kg_fact_resolved(const struct kg_result *result)
{
    return *result->backend ? result->backend : kg_fact_backend(result);
}

const char *kg_fact_why(const struct kg_result *result)
{
    return *result->reason ? result->reason : result->note;
}

const char *kg_fact_anchor(const struct kg_result *result)
{
    const kg_suite *suite = result->of.suite;
    const kg_backend *anchor = !suite ? NULL : result->of.kind == KG_CPU ? suite->cpu_anchor : suite->anchor;
    return anchor ? anchor->name : "";
}

const char *kg_fact_sha(const struct kg_run *run)
{
    return run->module->git_sha && *run->module->git_sha ? run->module->git_sha : run->git.sha;
}

bool kg_fact_dirty(const struct kg_run *run)
{
    return run->module->git_sha && *run->module->git_sha ? run->module->git_dirty : run->git.dirty;
}

bool kg_fact_timed(const struct kg_result *result)
{
    return result->time_us.count > 0;
}

bool kg_fact_fine(const struct kg_run *run, const struct kg_result *result)
{
    switch (result->verdict) {
    case KG_PASS:
    case KG_FAST:
    case KG_XFAIL:
    case KG_SKIP:
        return true;
    case KG_UNSURE:
    case KG_UNGATED:
        return run->allow_undecided;
    default:
        return false;
    }
}

double kg_fact_golden_speedup(const struct kg_result *result)
{
    /* From the change, not from golden_us / p50: a case judged by ratio has a golden time of another machine's state.
     */
    return result->judgement.judged ? 1 / (1 + result->judgement.change_pct / 100) : NAN;
}

double kg_fact_anchor_speedup(const struct kg_result *result)
{
    double logs[KG_MAX_BLOCKS];
    size_t count = 0;
    for (int i = 0; i < result->n_blocks; i++)
        if (result->blocks[i].anchor_p50_us > 0)
            logs[count++] = result->blocks[i].log_ratio;
    return count ? exp(-kg_median(logs, count)) : NAN;
}

double kg_fact_utilisation_pct(const struct kg_result *result)
{
    double sum = 0;
    int count = 0;
    for (int i = 0; i < result->n_blocks; i++) {
        if (result->blocks[i].after.utilisation_pct >= 0) {
            sum += result->blocks[i].after.utilisation_pct;
            count++;
        }
    }
    return count ? sum / count : NAN;
}

double kg_fact_device_seconds(const struct kg_result *result)
{
    double sum_us = 0;
    for (int i = 0; i < result->n_blocks; i++)
        for (size_t k = 0; k < result->blocks[i].n_samples; k++)
            sum_us += result->blocks[i].samples_us[k] * result->blocks[i].calls;
    return sum_us * 1e-6;
}

size_t kg_fact_samples(const struct kg_result *result)
{
    size_t count = 0;
    for (int i = 0; i < result->n_blocks; i++)
        count += result->blocks[i].n_samples;
    return count;
}

/* Minor capability that code for `arch` was made for, or -1 where this device cannot load it: code runs on its major
 * number from its minor number upwards, 'a' code on that very number only. */
static int loadable_minor(const char *arch, const kg_device *device)
{
    int number = 0, length = 0;
    if (sscanf(arch, "sm_%d%n", &number, &length) != 1 || number / 10 != device->cc_major)
        return -1;
    bool exact = arch[length] == 'a';
    int minor = number % 10;
    return minor == device->cc_minor || (!exact && minor < device->cc_minor) ? minor : -1;
}

const kg_kernel *kg_fact_kernel(const struct kg_run *run, const char *name)
{
    const kg_kernel *found = NULL;
    int found_minor = -1;
    for (size_t i = 0; i < run->module->n_kernels; i++) {
        const kg_kernel *kernel = &run->module->kernels[i];
        int minor = loadable_minor(kernel->arch, &run->device);
        if (minor > found_minor && !strcmp(kernel->name, name)) {
            found = kernel;
            found_minor = minor;
        }
    }
    return found;
}

/* NVML's clocks event reasons that lower the clock against the user's wish. */
static const struct {
    int64_t bit;
    const char *name;
} throttles[] = {
    { 0x04, "power cap" },        { 0x08, "hardware slowdown" }, { 0x20, "thermal" },
    { 0x40, "hardware thermal" }, { 0x80, "power brake" },
};

static int64_t throttle_bits(const struct kg_device_state *state)
{
    int64_t bits = 0;
    for (size_t i = 0; i < sizeof throttles / sizeof *throttles; i++)
        if (state->throttle_reasons > 0)
            bits |= state->throttle_reasons & throttles[i].bit;
    return bits;
}

static void take_state(struct kg_steadiness *steady, const struct kg_device_state *state)
{
    steady->throttle_reasons |= throttle_bits(state);
    if (state->sm_clock_mhz <= 0)
        return;
    if (!steady->clock_min_mhz || state->sm_clock_mhz < steady->clock_min_mhz)
        steady->clock_min_mhz = state->sm_clock_mhz;
    if (state->sm_clock_mhz > steady->clock_max_mhz)
        steady->clock_max_mhz = state->sm_clock_mhz;
}

struct kg_steadiness kg_fact_steadiness(const struct kg_run *run)
{
    struct kg_steadiness steady = { 0 };
    for (size_t i = 0; i < run->n_results; i++) {
        for (int k = 0; k < run->results[i].n_blocks; k++) {
            const struct kg_block *block = &run->results[i].blocks[k];
            take_state(&steady, &block->before);
            take_state(&steady, &block->after);
            steady.blocks++;
            steady.throttled += (throttle_bits(&block->before) | throttle_bits(&block->after)) != 0;
            steady.shared += block->before.other_processes > 0 || block->after.other_processes > 0;
        }
    }
    if (!steady.blocks) { /* an untimed run: the ends of the run are all there is */
        take_state(&steady, &run->state_before);
        take_state(&steady, &run->state_after);
    }
    return steady;
}

void kg_fact_throttle_names(int64_t reasons, char *ret_text, size_t size)
{
    *ret_text = '\0';
    for (size_t i = 0; i < sizeof throttles / sizeof *throttles; i++)
        if (reasons & throttles[i].bit)
            kg_text_add(ret_text, size, "%s%s", *ret_text ? ", " : "", throttles[i].name);
}

void kg_fact_problem(const struct kg_result *result, char *ret_line)
{
    *ret_line = '\0';
    if (!result->of.suite || !result->of.problem)
        return;
    const kg_fields *fields = &result->of.suite->op->fields;
    for (size_t i = 0; i < fields->count; i++) {
        char value[64];
        if (kg_field_format(&fields->items[i], result->of.problem, value, sizeof value) >= 0)
            kg_text_add(ret_line, KG_LINE, "%s%s=%s", *ret_line ? " " : "", fields->items[i].name, value);
    }
}

/* The output that a flat index lies in; outputs count on from one another. NULL: none. */
static const kg_tensor *output_at(const kg_tensor *tensors, int count, uint64_t *index)
{
    for (int i = 0; i < count; i++) {
        if (tensors[i].role != KG_OUTPUT)
            continue;
        uint64_t size = (uint64_t)kg_tensor_count(&tensors[i]);
        if (*index < size)
            return &tensors[i];
        *index -= size;
    }
    return NULL;
}

void kg_fact_worst(const struct kg_result *result, char *ret_line)
{
    kg_tensor tensors[KG_MAX_TENSORS];
    int count = 0;
    *ret_line = '\0';
    if (!result->compared || kg_gate_marks_all(result->marks))
        return;
    uint64_t index = result->figures.worst_index;
    const kg_tensor *output = NULL;
    if (result->of.suite && result->of.problem && !result->of.suite->op->tensors(result->of.problem, tensors, &count))
        output = output_at(tensors, count, &index);
    if (output) {
        int64_t at[KG_MAX_RANK] = { 0 };
        for (int i = output->rank - 1; i >= 0; i--) {
            at[i] = (int64_t)(index % (uint64_t)output->dims[i]);
            index /= (uint64_t)output->dims[i];
        }
        kg_text_add(ret_line, KG_LINE, "%s[", output->name);
        for (int i = 0; i < output->rank; i++)
            kg_text_add(ret_line, KG_LINE, "%s%lld", i ? "," : "", (long long)at[i]);
        kg_text_add(ret_line, KG_LINE, "]");
    } else {
        kg_text_add(ret_line, KG_LINE, "element %llu", (unsigned long long)result->figures.worst_index);
    }
    kg_text_add(ret_line, KG_LINE, ": got %s, expected %s", kg_format_number(result->figures.worst_got).s,
                kg_format_number(result->figures.worst_expected).s);
}

void kg_fact_figures(const struct kg_result *result, char *ret_line)
{
    const struct kg_figures *f = &result->figures;
    *ret_line = '\0';
    if (!result->compared)
        return;
    kg_text_add(ret_line, KG_LINE, "max_abs %s, mean_abs %s, bad %s%%, rel_l2 %s, max_rel %s, bias %s",
                kg_format_number(f->max_abs).s, kg_format_number(f->mean_abs).s, kg_format_number(f->bad_pct).s,
                kg_format_number(f->rel_l2).s, kg_format_number(f->max_rel).s, kg_format_number(f->bias).s);
    kg_text_add(ret_line, KG_LINE, " of %llu elements, %llu not finite", (unsigned long long)f->count,
                (unsigned long long)f->nonfinite);
}

void kg_fact_time(const struct kg_result *result, char *ret_line)
{
    const struct kg_stats *time = &result->time_us;
    *ret_line = '\0';
    if (!kg_fact_timed(result))
        return;
    kg_text_add(ret_line, KG_LINE, "p50 %s, p90 %s", kg_format_time(time->p50).s, kg_format_time(time->p90).s);
    kg_text_add(ret_line, KG_LINE, ", p99 %s, min %s", kg_format_time(time->p99).s, kg_format_time(time->min).s);
    kg_text_add(ret_line, KG_LINE, ", max %s, std %s", kg_format_time(time->max).s, kg_format_time(time->std).s);
    kg_text_add(ret_line, KG_LINE, ", %zu samples in %d blocks", kg_fact_samples(result), result->n_blocks);
}

/* mission@S=1024,D=64, or a seed that is not the suite's: the case exists only under the options that made it. */
static void add_case_options(char *line, const struct kg_result *result)
{
    struct kg_text shape = kg_fact_shape(result);
    const char *at = strchr(shape.s, '@');
    while (at && *at) {
        char pair[128];
        at++;
        size_t length = strcspn(at, "@,");
        (void)snprintf(pair, sizeof pair, "%.*s", (int)length, at);
        kg_text_add(line, KG_LINE, " --set");
        kg_text_add_quoted(line, KG_LINE, pair);
        at += length;
    }
    if (!result->of.suite)
        return;
    const kg_seeds *seeds = &result->of.suite->seeds;
    for (size_t i = 0; i < seeds->count; i++)
        if (seeds->items[i] == result->of.seed)
            return;
    kg_text_add(line, KG_LINE, " --seed %llu", (unsigned long long)result->of.seed);
}

/* The first word of the command, as it was typed: the program may not be on the PATH. */
int kg_fact_program(const struct kg_run *run)
{
    const char *end = run->command[0] == '\'' ? strchr(run->command + 1, '\'') : NULL;
    return end ? (int)(end - run->command) + 1 : (int)strcspn(run->command, " ");
}

void kg_fact_command(const struct kg_run *run, const struct kg_result *result, const char *options, char *ret_line)
{
    enum kg_device_kind kind = result->of.kind ? result->of.kind : run->device.kind;
    *ret_line = '\0';
    kg_text_add(ret_line, KG_LINE, "%.*s run", kg_fact_program(run), run->command);
    if (strcmp(run->module->name, "attention") != 0) {
        kg_text_add(ret_line, KG_LINE, " --module");
        kg_text_add_quoted(ret_line, KG_LINE, run->module_path);
    }
    if (kind == KG_CPU)
        kg_text_add(ret_line, KG_LINE, " --device cpu");
    add_case_options(ret_line, result);
    kg_text_add(ret_line, KG_LINE, "%s%s", run->again, options);
    kg_text_add_quoted(ret_line, KG_LINE, result->id);
}
