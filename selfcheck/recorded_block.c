/* recorded_block.c -- logarithms of a block's times. A new member is filled here, and is a column in series_json.c. */
#include "selfcheck/recorded_block.h"

#include <math.h>

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
