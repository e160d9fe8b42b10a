/* case_noise.c -- standard deviations between a case's blocks, and gates drawn from them. */
#include "selfcheck/case_noise.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/random.h"
#include "base/stats.h"
#include "selfcheck/gate.h"

/* ---- drawn gates ----------------------------------------------------------------------------------------------- */

static const double ladder_pct[] = { 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.8, 1, 1.25,
                                     1.5,  2,   2.5,  3,   4,    5,   7.5, 10,  15,  20,  30 };
#define RUNGS (int)(sizeof ladder_pct / sizeof *ladder_pct)

struct draw {
    const double *logs; /* candidate / baseline of unchanged blocks */
    int count;
    const struct kg_series *like; /* what else a block holds */
    double sd, floor_pct;         /* that later runs on this machine will know of the case */
    int max_blocks;               /* of a set of rounds */
};

/* The same seed draws the same blocks at every size. */
static struct kg_gate_answer draw_gate(const struct draw *draw, double change_pct, double threshold_pct, uint64_t seed)
{
    struct kg_recorded_block drawn[KG_MAX_BLOCKS];
    struct kg_gate_blocks blocks = { .series = draw->like, .count = KG_MAX_BLOCKS };
    for (int i = 0; i < KG_MAX_BLOCKS; i++) {
        const uint64_t word = kg_mix64(seed + 0x9e3779b97f4a7c15u * (uint64_t)(i + 1));
        drawn[i] = draw->like->blocks[0];
        drawn[i].log_against = draw->logs[word % (uint64_t)draw->count] + log1p(change_pct / 100);
        blocks.of[i] = &drawn[i];
    }
    const struct kg_prior prior = { .sd = draw->sd, .blocks = fmin(draw->count - 1, KG_MACHINE_PRIOR_BLOCKS) };
    const struct kg_gate_rule rule = {
        .against = true,
        .threshold_pct = threshold_pct,
        .max_blocks = draw->max_blocks,
        .prior = &prior,
        .floor_pct = draw->floor_pct,
    };
    return kg_gate_judge(&blocks, NULL, &rule);
}

static bool is_found(const struct draw *draw, double change_pct)
{
    int missed = 0;
    for (int i = 0; i < KG_DETECTABLE_GATES && missed <= (1 - KG_DETECTABLE_SHARE) * KG_DETECTABLE_GATES; i++)
        missed += draw_gate(draw, change_pct, change_pct / 2, kg_mix64((uint64_t)i + 1)).verdict != KG_SLOW;
    return missed <= (1 - KG_DETECTABLE_SHARE) * KG_DETECTABLE_GATES;
}

/* Of the ladder, the threshold being half of the size. */
static double detectable_pct(const struct draw *draw)
{
    int low = 0, high = RUNGS;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (is_found(draw, ladder_pct[middle]))
            high = middle;
        else
            low = middle + 1;
    }
    return low < RUNGS ? ladder_pct[low] : 0;
}

/* ---- between blocks -------------------------------------------------------------------------------------------- */

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

/* Arms take equal parts of a block. */
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

static void draw_gates(const struct draw *draw, double threshold_pct, struct kg_rate ret_rates[KG_PLANTED])
{
    for (int i = 0; i < KG_DRAWN_GATES * KG_PLANTED; i++) {
        const int planted = i % KG_PLANTED;
        const uint64_t seed = kg_mix64((uint64_t)(i / KG_PLANTED) + 1);
        const struct kg_gate_answer answer = draw_gate(draw, kg_planted_pct[planted], threshold_pct, seed);
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
    const struct draw draw = { .logs = sum.logs,
                               .count = sum.count,
                               .like = it->series,
                               .sd = it->sd[quantity],
                               .floor_pct = it->floor_pct[quantity],
                               .max_blocks = max_blocks };
    it->detectable_pct = detectable_pct(&draw);
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
        if (kg_series_set_is_first(set, i, offsetof(struct kg_series, key)))
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
    memcpy(floor.code, series->code, sizeof floor.code);
    memcpy(floor.date, series->date, sizeof floor.date);
    memcpy(floor.sd, noise->sd, sizeof floor.sd);
    memcpy(floor.floor_pct, noise->floor_pct, sizeof floor.floor_pct);
    *ret_floor = floor;
    return KG_OK;
}
