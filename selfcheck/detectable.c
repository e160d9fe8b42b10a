/* detectable.c -- draws gates and climbs a ladder of sizes. */
#include "selfcheck/detectable.h"

#include <math.h>

#include "judge/floors.h"
#include "base/random.h"

static const double ladder_pct[] = { 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.8, 1, 1.25,
                                     1.5,  2,   2.5,  3,   4,    5,   7.5, 10,  15,  20,  30 };
#define RUNGS (int)(sizeof ladder_pct / sizeof *ladder_pct)

struct kg_gate_answer kg_draw_gate(const struct kg_draw *draw, double change_pct, double threshold_pct, uint64_t seed)
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

static bool is_found(const struct kg_draw *draw, double change_pct)
{
    int missed = 0;
    for (int i = 0; i < KG_DETECTABLE_GATES && missed <= (1 - KG_DETECTABLE_SHARE) * KG_DETECTABLE_GATES; i++)
        missed += kg_draw_gate(draw, change_pct, change_pct / 2, kg_mix64((uint64_t)i + 1)).verdict != KG_SLOW;
    return missed <= (1 - KG_DETECTABLE_SHARE) * KG_DETECTABLE_GATES;
}

double kg_detectable_pct(const struct kg_draw *draw)
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
