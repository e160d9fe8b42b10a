/* case_noise.c -- standard deviations between a case's blocks, and what follows from them. */
#include "selfcheck/case_noise.h"

#include <math.h>
#include <string.h>

#include "judge/decision.h"
#include "selfcheck/detectable.h"
#include "base/random.h"
#include "base/stats.h"

#define MAX_BLOCKS 4096 /* of a case that are used */

static double log_by(const struct kg_recorded_block *block, enum kg_quantity quantity)
{
    return quantity == KG_QUANTITY_RAW     ? block->log_p50
           : quantity == KG_QUANTITY_RATIO ? block->log_ratio
                                           : block->log_against;
}

/* Two standard deviations, and at least what equal blocks are said to have. */
static double floor_of(double sd, enum kg_device_kind kind)
{
    return fmax(200 * sd, kg_golden_floor_pct((const double[]){ 1, 1 }, 2, kind));
}

/* Lanes take equal parts of a block. */
static double busy_us_of_run(const struct kg_recorded_block *block)
{
    return block->busy_us * 2 / (2 + isfinite(block->log_anchor) + (block->planted_pct > 0));
}

struct sum {
    double logs[MAX_BLOCKS], squares; /* about each series' mean */
    int count, freedom;
};

static void add_series(const struct kg_series *series, enum kg_quantity quantity, struct sum *sum)
{
    const int first = sum->count;
    double mean = 0;
    for (int i = 0; i < series->n_blocks && sum->count < MAX_BLOCKS; i++) {
        sum->logs[sum->count] = log_by(&series->blocks[i], quantity);
        mean += sum->logs[sum->count++];
    }
    mean /= sum->count - first;
    for (int i = first; i < sum->count; i++)
        sum->squares += (sum->logs[i] - mean) * (sum->logs[i] - mean);
    sum->freedom += sum->count > first ? sum->count - first - 1 : 0;
}

static void draw_gates(const struct kg_draw *draw, double threshold_pct, struct kg_rate ret_rates[KG_PLANTED])
{
    for (int i = 0; i < KG_DRAWN_GATES * KG_PLANTED; i++) {
        const int planted = i % KG_PLANTED;
        const uint64_t seed = kg_mix64((uint64_t)(i / KG_PLANTED) + 1);
        const struct kg_gate_answer answer = kg_draw_gate(draw, kg_planted_pct[planted], threshold_pct, seed);
        if (answer.verdict != KG_UNGATED)
            kg_rate_add(&ret_rates[planted], &answer.decision);
    }
}

static void describe_by(const struct kg_series_set *set, enum kg_quantity quantity, int max_blocks,
                        double drawn_threshold_pct, struct kg_case_noise *it)
{
    struct sum sum = { .count = 0 };
    for (size_t i = 0; i < set->count; i++)
        if (!strcmp(set->items[i].key, it->series->key))
            add_series(&set->items[i], quantity, &sum);
    it->n_blocks = sum.count;
    if (sum.count < KG_FLOOR_MIN_BLOCKS || sum.freedom < 1 || !isfinite(sum.squares))
        return;
    it->sd[quantity] = sqrt(sum.squares / sum.freedom);
    it->floor_pct[quantity] = floor_of(it->sd[quantity], it->series->kind);
    if (quantity != KG_QUANTITY_AGAINST)
        return;
    const struct kg_draw draw = { .logs = sum.logs,
                                  .count = sum.count,
                                  .like = it->series,
                                  .sd = it->sd[quantity],
                                  .floor_pct = it->floor_pct[quantity],
                                  .max_blocks = max_blocks };
    it->detectable_pct = kg_detectable_pct(&draw);
    if (drawn_threshold_pct >= 0)
        draw_gates(&draw, drawn_threshold_pct, it->drawn);
}

static void describe(const struct kg_series_set *set, const struct kg_series *series, int max_blocks,
                     double drawn_threshold_pct, struct kg_case_noise *it)
{
    double busy_us = 0;
    int n_blocks = 0;
    *it = (struct kg_case_noise){ .series = series, .p50_us = kg_series_p50_us(series) };
    for (size_t i = 0; i < set->count; i++) {
        const struct kg_series *other = &set->items[i];
        if (strcmp(other->key, series->key))
            continue;
        it->n_series++;
        n_blocks += other->n_blocks;
        for (int k = 0; k < other->n_blocks; k++)
            busy_us += busy_us_of_run(&other->blocks[k]);
    }
    it->clear_s = 1e-6 * KG_LOOK_EVERY * busy_us / n_blocks;
    for (enum kg_quantity quantity = 0; quantity < KG_QUANTITIES; quantity++)
        describe_by(set, quantity, max_blocks, drawn_threshold_pct, it);
}

size_t kg_case_noises_of(const struct kg_series_set *set, int max_blocks, double drawn_threshold_pct,
                         struct kg_case_noise *room)
{
    size_t count = 0;
    for (size_t i = 0; i < set->count; i++) {
        size_t before = 0;
        while (before < i && strcmp(set->items[before].key, set->items[i].key))
            before++;
        if (before == i)
            describe(set, &set->items[i], max_blocks, drawn_threshold_pct, &room[count++]);
    }
    return count;
}

int kg_case_noise_floor(const struct kg_case_noise *noise, struct kg_floor *ret_floor)
{
    const struct kg_series *series = noise->series;
    struct kg_floor floor = { .contract = series->contract,
                              .n_blocks = noise->n_blocks,
                              .detectable_pct = noise->detectable_pct };
    if (noise->n_blocks < KG_FLOOR_MIN_BLOCKS)
        return KG_EINVAL;
    memcpy(floor.key, series->key, sizeof floor.key);
    memcpy(floor.uuid, series->uuid, sizeof floor.uuid);
    memcpy(floor.driver, series->driver, sizeof floor.driver);
    memcpy(floor.date, series->date, sizeof floor.date);
    memcpy(floor.sd, noise->sd, sizeof floor.sd);
    memcpy(floor.floor_pct, noise->floor_pct, sizeof floor.floor_pct);
    *ret_floor = floor;
    return KG_OK;
}
