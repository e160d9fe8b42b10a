/* series.c -- recorded blocks, start by start; both lists grow by doubling. A new member of a block is filled here, and
 * is a column in series_json.c. */
#include "selfcheck/series.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- a block --------------------------------------------------------------------------------------------------- */

static double log_of(double time_us)
{
    return time_us > 0 ? log(time_us) : NAN;
}

/* The middles of equal parts of the block. */
static void thin(const double *samples_us, size_t count, double log_p50, double *ret_logs)
{
    for (size_t i = 0; i < KG_SERIES_SAMPLES; i++)
        ret_logs[i] = count ? log_of(samples_us[(2 * i + 1) * count / (2 * KG_SERIES_SAMPLES)]) : log_p50;
}

struct kg_recorded_block kg_recorded_block_of(const struct kg_block *block)
{
    const bool anchored = block->anchor_p50_us > 0, planted = block->planted_pct > 0;
    const long long before = block->before.throttle_reasons, after = block->after.throttle_reasons;
    struct kg_recorded_block one = {
        .log_p50 = log_of(block->p50_us),
        .log_ratio = anchored ? block->log_ratio : NAN,
        .log_against = block->log_against,
        .log_baseline = log_of(block->baseline_p50_us),
        .log_anchor = anchored ? log_of(block->anchor_p50_us) : NAN,
        .planted_pct = planted ? block->planted_pct : 0,
        .log_planted = planted ? block->log_planted : NAN,
        .log_planted_p50 = planted ? log_of(block->planted_p50_us) : NAN,
        .busy_us = block->busy_us,
        .calls = block->calls,
        .clock_mhz = block->after.sm_clock_mhz,
        .throttle = before < 0 || after < 0 ? -1 : before | after,
    };
    thin(block->samples_us, block->n_samples, one.log_p50, one.samples);
    return one;
}

/* ---- series ---------------------------------------------------------------------------------------------------- */

void kg_series_set_done(struct kg_series_set *set)
{
    for (size_t i = 0; i < set->count; i++)
        free(set->items[i].blocks);
    free(set->items);
    *set = (struct kg_series_set){ 0 };
}

int kg_series_set_add(struct kg_series_set *set, const struct kg_series *series, kg_error *ret_error)
{
    struct kg_series *grown = set->items;
    if ((set->count & (set->count - 1)) == 0) /* 0, 1, 2, 4, …: full */
        grown = realloc(set->items, (set->count ? 2 * set->count : 1) * sizeof *grown);
    if (!grown)
        return kg_fail(ret_error, KG_ENOMEM, "out of memory for recorded blocks");
    set->items = grown;
    set->items[set->count++] = *series;
    return KG_OK;
}

static bool same_start(const struct kg_series *a, const struct kg_series *b)
{
    return !strcmp(a->key, b->key) && !strcmp(a->uuid, b->uuid) && !strcmp(a->start, b->start);
}

bool kg_series_set_has(const struct kg_series_set *set, const struct kg_series *series)
{
    for (size_t i = 0; i < set->count; i++)
        if (same_start(&set->items[i], series) && !strcmp(set->items[i].date, series->date))
            return true;
    return false;
}

bool kg_series_set_is_first(const struct kg_series_set *set, size_t i, size_t offset)
{
    size_t before = 0;
    while (before < i && strcmp((const char *)&set->items[before] + offset, (const char *)&set->items[i] + offset))
        before++;
    return before == i;
}

int kg_series_set_find(struct kg_series_set *set, const struct kg_series *like, size_t *ret_index, kg_error *ret_error)
{
    size_t i = 0;
    while (i < set->count && !same_start(&set->items[i], like))
        i++;
    if (i == set->count) {
        struct kg_series one = *like;
        one.blocks = NULL;
        one.n_blocks = 0;
        int status = kg_series_set_add(set, &one, ret_error);
        if (status)
            return status;
    }
    *ret_index = i;
    return KG_OK;
}

int kg_series_add_block(struct kg_series *series, const struct kg_recorded_block *block, kg_error *ret_error)
{
    const int n = series->n_blocks;
    if (n == 0 || (n >= 8 && (n & (n - 1)) == 0)) {
        struct kg_recorded_block *grown = realloc(series->blocks, (size_t)(n ? 2 * n : 8) * sizeof *grown);
        if (!grown)
            return kg_fail(ret_error, KG_ENOMEM, "out of memory for recorded blocks");
        series->blocks = grown;
    }
    series->blocks[series->n_blocks++] = *block;
    return KG_OK;
}

double kg_series_p50_us(const struct kg_series *series)
{
    double logs[1024]; /* the first say enough */
    const int count = series->n_blocks < 1024 ? series->n_blocks : 1024;
    for (int i = 0; i < count; i++)
        logs[i] = series->blocks[i].log_p50;
    return exp(kg_median(logs, (size_t)count));
}
