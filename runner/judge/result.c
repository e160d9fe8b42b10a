/* result.c -- what was found of one case: names, clean-up, and the figures that follow from its blocks.
 * A figure that every report shows is computed here, once. */
#include "judge/result.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/record.h"

#define COMPILED(field) KG_AT(kg_compiled, field)
#define COMPILED_INT(field) KG_IS_COUNT, COMPILED(field), .least = 0, .most = INT_MAX
static const struct kg_member compiled_members[] = {
    { "name", KG_IS_TEXT, COMPILED(name) },
    { "code_hash", KG_IS_TEXT, COMPILED(code_hash) },
    { "compiler", KG_IS_TEXT, COMPILED(compiler) },
    { "registers", COMPILED_INT(registers) },
    { "spill_store_bytes", COMPILED_INT(spill_store_bytes) },
    { "spill_load_bytes", COMPILED_INT(spill_load_bytes) },
    { "shared_bytes", COMPILED_INT(shared_bytes) },
    { "compile_ms", KG_IS_AMOUNT, COMPILED(compile_ms) },
    { "cache_hit", KG_IS_FLAG, COMPILED(cache_hit) },
};
const struct kg_record kg_compiled_record = KG_RECORD(compiled_members);

const kg_compiled *kg_compiled_find(const kg_compiled *items, int count, const char *name)
{
    for (int i = 0; i < count; i++)
        if (!strcmp(items[i].name, name))
            return &items[i];
    return NULL;
}

void kg_compiled_add_json(cJSON *object, const struct kg_result *result)
{
    cJSON *list = result->n_compiled ? cJSON_AddArrayToObject(object, "compiled") : NULL;
    for (int i = 0; i < result->n_compiled; i++) {
        cJSON *item = cJSON_CreateObject();
        (void)kg_record_add(item, &kg_compiled_record, &result->compiled[i]);
        cJSON_AddItemToArray(list, item);
    }
}

int kg_result_spill_bytes(const struct kg_result *result)
{
    int bytes = 0;
    for (int i = 0; i < result->n_compiled; i++)
        bytes += result->compiled[i].spill_store_bytes + result->compiled[i].spill_load_bytes;
    return bytes;
}

const char *kg_result_backend(const struct kg_result *result)
{
    return *result->backend || !result->of.backend ? result->backend : result->of.backend->name;
}

const char *kg_verdict_name(enum kg_verdict verdict)
{
    static const char *const names[KG_VERDICTS] = {
        [KG_PASS] = "PASS",     [KG_FAST] = "FAST",       [KG_XFAIL] = "XFAIL", [KG_SKIP] = "SKIP",
        [KG_FAIL] = "FAIL",     [KG_ERROR] = "ERROR",     [KG_XPASS] = "XPASS", [KG_SLOW] = "SLOW",
        [KG_UNSURE] = "UNSURE", [KG_UNGATED] = "UNGATED", [KG_LOST] = "LOST",   [KG_WEAK] = "WEAK",
    };
    return (unsigned)verdict < KG_VERDICTS ? names[verdict] : "?";
}

const char *kg_phase_name(enum kg_phase phase)
{
    static const char *const names[] = {
        [KG_NOT_RUN] = "start",
        [KG_PREPARE] = "prepare",
        [KG_BASELINE_PREPARE] = "the baseline's prepare",
        [KG_BASELINE_LAUNCH] = "the baseline's launch",
        [KG_CORRECTNESS] = "correctness",
        [KG_REFERENCE] = "the reference",
        [KG_REPEATING] = "the repeated launches",
        [KG_TIMING] = "timing",
        [KG_BASELINE_RELEASE] = "the baseline's release",
        [KG_RELEASE] = "release",
        [KG_CLOSE] = "close",
        [KG_DONE] = "end",
    };
    return names[phase];
}

bool kg_case_has_scale(const struct kg_case *of)
{
    const kg_op *op = of->suite->op;
    return of->kind == KG_CPU ? op->error_scale_cpu != NULL : op->error_scale_cuda != NULL;
}

kg_gates kg_case_gates(const struct kg_case *of, double largest)
{
    return kg_gates_in_force(&of->suite->gates, of->regime != NULL, kg_case_has_scale(of), largest);
}

void kg_result_done(struct kg_result *result)
{
    if (!result)
        return;
    for (int i = 0; i < KG_MAX_BLOCKS; i++) {
        struct kg_block *block = &result->blocks[i];
        free(block->samples_us);
        free(block->anchor_samples_us);
        free(block->baseline_samples_us);
        block->samples_us = block->anchor_samples_us = block->baseline_samples_us = NULL;
        block->n_samples = block->n_anchor_samples = block->n_baseline_samples = 0;
    }
}

/* Over the samples of all blocks; without memory for them, NaN, which no gate accepts. */
static struct kg_stats pooled_stats(const struct kg_result *result)
{
    size_t count = 0, filled = 0;
    for (int i = 0; i < result->n_blocks; i++)
        count += result->blocks[i].n_samples;
    double *samples = malloc((count ? count : 1) * sizeof *samples);
    if (!samples)
        return (struct kg_stats){ count, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN };
    for (int i = 0; i < result->n_blocks; i++) {
        const struct kg_block *block = &result->blocks[i];
        if (block->n_samples)
            memcpy(samples + filled, block->samples_us, block->n_samples * sizeof *samples);
        filled += block->n_samples;
    }
    struct kg_stats stats = kg_stats_of(samples, count);
    free(samples);
    return stats;
}

/* Shortest time in us that the device's arithmetic allows; 0 where it is not known. */
static double compute_bound_us(const struct kg_result *result, const kg_device *device)
{
    double peak = device->peak_flops * (result->work.peak_ratio > 0 ? result->work.peak_ratio : 1);
    return peak > 0 ? result->work.flops / peak * 1e6 : 0;
}

/* The same for memory. What fits in the last-level cache need not come from memory, so it sets no bound. */
static double memory_bound_us(const struct kg_result *result, const kg_device *device)
{
    bool cached = result->work.bytes <= (double)device->l2_bytes;
    return device->peak_bytes_per_s > 0 && !cached ? result->work.bytes / device->peak_bytes_per_s * 1e6 : 0;
}

void kg_result_summarise(struct kg_result *result, const kg_device *device)
{
    result->time_us = (struct kg_stats){ 0 };
    result->tflop_per_s = result->gb_per_s = result->queries_per_s = result->roofline_pct = 0;
    result->impossible = false;
    if (result->n_blocks == 0)
        return;

    double p50s[KG_MAX_BLOCKS], shortest_us = 0;
    for (int i = 0; i < result->n_blocks; i++) {
        const struct kg_block *block = &result->blocks[i];
        p50s[i] = block->p50_us;
        shortest_us = fmax(shortest_us, result->tick_us / (block->calls > 0 ? block->calls : 1));
    }
    result->time_us = pooled_stats(result);
    double p50_us = result->time_us.p50 = kg_median(p50s, (size_t)result->n_blocks);
    double compute_us = compute_bound_us(result, device);
    shortest_us = fmax(shortest_us, compute_us);
    result->impossible = !(p50_us > 0 && p50_us >= shortest_us && isfinite(p50_us));
    if (!(p50_us > 0))
        return;
    result->tflop_per_s = result->work.flops / p50_us * 1e-6;
    result->gb_per_s = result->work.bytes / p50_us * 1e-3;
    result->queries_per_s = result->work.queries / p50_us * 1e6;
    result->roofline_pct = 100 * fmax(compute_us, memory_bound_us(result, device)) / p50_us;
}
