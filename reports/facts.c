/* facts.c -- what reports derive from a result. Speed-ups and signs are defined here, once; so is the command that
 * repeats a case. */
#include "reports/facts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/stats.h"
#include "judge/verdict.h"
#include "plan/field.h"
#include "plan/module.h"
#include "plan/problem.h"

struct kg_text kg_fact_suite(const struct kg_result *result)
{
    return kg_format("%.*s", (int)strcspn(result->id, "/"), result->id);
}

bool kg_fact_same_suite(const struct kg_result *a, const struct kg_result *b)
{
    size_t length = strcspn(a->id, "/");
    return length == strcspn(b->id, "/") && !memcmp(a->id, b->id, length);
}

const char *kg_fact_rest(const struct kg_result *result)
{
    const char *slash = strchr(result->id, '/');
    return slash ? slash + 1 : result->id;
}

struct kg_text kg_fact_shape(const struct kg_result *result)
{
    const char *rest = result->of.shape ? result->of.shape : kg_fact_rest(result);
    return kg_format("%.*s", (int)strcspn(rest, "/"), rest);
}

bool kg_fact_same_shape(const struct kg_result *a, const struct kg_result *b)
{
    return !strcmp(kg_fact_shape(a).s, kg_fact_shape(b).s);
}

const char *kg_fact_backend(const struct kg_result *result)
{
    if (result->of.backend)
        return result->of.backend->name;
    const char *slash = strrchr(result->id, '/');
    return slash ? slash + 1 : result->backend;
}

const char *kg_fact_regime(const struct kg_result *result)
{
    return result->of.regime ? result->of.regime->name : "normal";
}

const char *kg_fact_resolved(const struct kg_result *result)
{
    return *result->backend ? result->backend : kg_fact_backend(result);
}

const char *kg_fact_why(const struct kg_result *result)
{
    return *result->bless_note ? result->bless_note : *result->reason ? result->reason : result->note;
}

const char *kg_fact_anchor(const struct kg_result *result)
{
    const kg_backend *anchor = result->of.suite ? kg_suite_anchor(result->of.suite, result->of.kind) : NULL;
    return anchor ? anchor->name : "";
}

const char *kg_fact_judge(const struct kg_result *result)
{
    static const char *const names[KG_QUANTITIES] = { "raw", "ratio", "against" };
    return result->judgement.judged ? names[result->judgement.quantity] : "";
}

bool kg_fact_timed(const struct kg_result *result)
{
    return result->time_us.count > 0;
}

bool kg_fact_usable(const struct kg_result *result)
{
    return kg_fact_timed(result) && result->time_us.p50 > 0 && isfinite(result->time_us.p50) &&
           result->outcome == KG_RAN && result->compared && kg_gate_marks_all(result->marks) && !result->impossible;
}

/* What a bless renews was judged by what it renews. */
static bool is_fine_blessed(const struct kg_result *result)
{
    if (kg_verdict_is_wrong(result->verdict) || result->stopped || result->bless == KG_NOT_BLESSED)
        return false;
    return result->verdict != KG_LOST || result->bless == KG_PRUNED;
}

bool kg_fact_fine(const struct kg_run *run, const struct kg_result *result)
{
    if (run->bless)
        return is_fine_blessed(result);
    switch (result->verdict) {
    case KG_PASS:
    case KG_FAST:
    case KG_XFAIL:
    case KG_SKIP:
        return true;
    case KG_UNSURE:
    case KG_UNGATED:
        return run->allow_undecided && !result->stopped;
    case KG_LOST:
    case KG_WEAK:
        return run->allow_all;
    default:
        return false;
    }
}

/* A fine threshold is judged by fine changes. */
static int change_digits(const struct kg_judgement *judged)
{
    return judged->threshold_pct < 1 ? 2 : 1;
}

struct kg_text kg_fact_change(const struct kg_result *result)
{
    return kg_format_change(result->judgement.change_pct, change_digits(&result->judgement));
}

struct kg_text kg_fact_margin(const struct kg_result *result)
{
    return kg_format("\u00b1%.*f", change_digits(&result->judgement), result->judgement.margin_pct);
}

double kg_fact_golden_speedup(const struct kg_result *result)
{
    /* From the change, not from golden_us / p50: a case judged by ratio has a golden time of another machine's state.
     */
    return result->judgement.judged ? 1 / (1 + result->judgement.change_pct / 100) : NAN;
}

/* Median of a figure over the blocks in which a time, of what stands beside the case, was measured; both by their
 * offsets in kg_block. NAN: there is none. */
static double median_where(const struct kg_result *result, size_t time_us, size_t figure)
{
    double values[KG_MAX_BLOCKS];
    size_t count = 0;
    for (int i = 0; i < result->n_blocks; i++) {
        const char *block = (const char *)&result->blocks[i];
        if (*(const double *)(const void *)(block + time_us) > 0)
            values[count++] = *(const double *)(const void *)(block + figure);
    }
    return count ? kg_median(values, count) : NAN;
}

double kg_fact_anchor_speedup(const struct kg_result *result)
{
    if (!kg_case_own_anchor(&result->of, kg_fact_resolved(result)))
        return NAN;
    return exp(-median_where(result, offsetof(struct kg_block, anchor_p50_us), offsetof(struct kg_block, log_ratio)));
}

double kg_fact_baseline_us(const struct kg_result *result)
{
    const size_t baseline = offsetof(struct kg_block, baseline_p50_us);
    return median_where(result, baseline, baseline);
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

kg_noise_set kg_fact_noises(const struct kg_result *result)
{
    return kg_noise_of_blocks(result) & ~kg_noise_settings();
}

void kg_fact_noise(const struct kg_result *result, char *ret_line)
{
    kg_noise_names(kg_fact_noises(result), ret_line, KG_LINE);
}

bool kg_fact_flaked(const struct kg_result *result)
{
    return result->judgement.alarm_blocks > 0 && (result->verdict == KG_PASS || result->verdict == KG_FAST);
}

void kg_fact_alarm(const struct kg_result *result, char *ret_line)
{
    const struct kg_judgement *judged = &result->judgement;
    *ret_line = '\0';
    if (judged->alarm_blocks > 0)
        kg_text_add(ret_line, KG_LINE, "%s after %d blocks, %s by a second set (%s)",
                    kg_format_change(judged->alarm_pct, change_digits(judged)).s, judged->alarm_blocks,
                    result->verdict == KG_SLOW || result->verdict == KG_XFAIL ? "confirmed" : "not confirmed",
                    kg_fact_change(result).s);
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
    if (!result->compared || !result->marks.repeats || kg_gate_marks_all(result->marks))
        return;
    uint64_t index = result->comparison.worst_index;
    const kg_tensor *output = NULL;
    if (result->of.suite && result->of.problem &&
        !kg_problem_tensors(result->of.suite->op, result->of.problem, tensors, &count, NULL))
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
        kg_text_add(ret_line, KG_LINE, "element %llu", (unsigned long long)result->comparison.worst_index);
    }
    kg_text_add(ret_line, KG_LINE, ": got %s, expected %s", kg_format_number(result->comparison.worst_got).s,
                kg_format_number(result->comparison.worst_expected).s);
}

void kg_fact_figures(const struct kg_result *result, char *ret_line)
{
    const struct kg_comparison *f = &result->comparison;
    *ret_line = '\0';
    if (!result->compared)
        return;
    kg_text_add(ret_line, KG_LINE,
                "max_abs %s, mean_abs %s, bad %s%%, rel_l2 %s, over scale %s, slope %s, max_rel %s, bias %s",
                kg_format_number(f->max_abs).s, kg_format_number(f->mean_abs).s, kg_format_number(f->bad_pct).s,
                kg_format_number(f->rel_l2).s, kg_format_number(f->max_scaled).s, kg_format("%.5f", f->slope).s,
                kg_format_number(f->max_rel).s, kg_format_number(f->bias).s);
    kg_text_add(ret_line, KG_LINE, " of %llu elements, %llu not finite", (unsigned long long)f->count,
                (unsigned long long)f->nonfinite);
}

void kg_fact_repeats(const struct kg_result *result, char *ret_line)
{
    const struct kg_repeats *r = &result->repeats;
    *ret_line = '\0';
    if (r->launches)
        kg_text_add(ret_line, KG_LINE, "%d further launches, of which %d gave other bits", r->launches, r->other_bits);
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

void kg_fact_runs(const struct kg_result *result, char *ret_line)
{
    (void)kg_text_clean(result->identity, ret_line, KG_LINE);
}

void kg_fact_against(const struct kg_result *result, char *ret_line)
{
    (void)kg_text_clean(result->baseline_identity, ret_line, KG_LINE);
}

void kg_fact_knobs(const struct kg_result *result, char *ret_line)
{
    (void)kg_text_clean(result->knobs, ret_line, KG_LINE);
}

/* mission@S=1024,D=64, or a seed that is not the suite's: the case exists only under the options that made it. */
static void add_case_options(char *line, const struct kg_result *result)
{
    struct kg_text shape = kg_fact_shape(result);
    const char *at = strchr(shape.s, '@');
    while (at && *at) {
        at++;
        size_t length = strcspn(at, "@,");
        kg_text_add(line, KG_LINE, " --set");
        kg_text_add_quoted(line, KG_LINE, kg_format("%.*s", (int)length, at).s);
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
static int program_length(const struct kg_run *run)
{
    const char *end = run->command[0] == '\'' ? strchr(run->command + 1, '\'') : NULL;
    return end ? (int)(end - run->command) + 1 : (int)strcspn(run->command, " ");
}

void kg_fact_command(const struct kg_run *run, const struct kg_result *result, const char *options, char *ret_line)
{
    enum kg_device_kind kind = result->of.kind ? result->of.kind : run->device.kind;
    *ret_line = '\0';
    kg_text_add(ret_line, KG_LINE, "%.*s run", program_length(run), run->command);
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
