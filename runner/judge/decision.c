/* decision.c -- looks at the blocks of a case, and what they say. Nothing is remembered: every call replays the looks
 * from the first block on, so that an answer depends on the blocks alone. What an interval is made of stands in
 * estimate(), when it decides in answer_of(). */
#include "judge/decision.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/stats.h"
#include "base/random.h"

static const struct kg_decision none = { .answer = KG_ANSWER_MORE, .change_pct = NAN, .margin_pct = NAN };

int kg_look_count(int first, int max_blocks)
{
    return max_blocks <= first ? 1 : 1 + (max_blocks - first + KG_LOOK_EVERY - 1) / KG_LOOK_EVERY;
}

int kg_look_blocks(int look, int first, int max_blocks)
{
    int blocks = first + (look - 1) * KG_LOOK_EVERY;
    return blocks < max_blocks ? blocks : max_blocks;
}

double kg_look_alpha(int look, int n_looks)
{
    if (n_looks == 1)
        return KG_SET_ALPHA;
    return look == 1 ? KG_SET_ALPHA / 2 : KG_SET_ALPHA / 2 / (n_looks - 1);
}

static double mean_of(const double *values, int count)
{
    double sum = 0;
    for (int i = 0; i < count; i++)
        sum += values[i];
    return count ? sum / count : 0;
}

/* kg_t_quantile, remembered: it is dear, and a simulation asks for the same few of them millions of times. */
static double t_quantile(double p, double df)
{
    static _Thread_local struct {
        double p, df, t;
    } known[64];
    uint64_t bits[2];
    memcpy(bits, (double[]){ p, df }, sizeof bits);
    size_t place = kg_mix64(kg_mix64(bits[0]) ^ bits[1]) % (sizeof known / sizeof *known);
    if (known[place].p != p || known[place].df != df) {
        known[place].p = p;
        known[place].df = df;
        known[place].t = kg_t_quantile(p, df);
    }
    return known[place].t;
}

/* Change and half-width of its interval, logarithms. The variance is that of the blocks, with the prior for as many
 * more as it is worth. */
static void estimate(const struct kg_criteria *criteria, const double *logs, int count, double alpha,
                     double *ret_change, double *ret_half_width)
{
    const struct kg_prior *prior = &criteria->prior;
    double mean = mean_of(logs, count), squares = prior->blocks * prior->sd * prior->sd;
    for (int i = 0; i < count; i++)
        squares += (logs[i] - mean) * (logs[i] - mean);
    double freedom = prior->blocks + count - 1;
    double variance = squares / freedom / count;
    if (criteria->n_golden)
        variance += squares / freedom / criteria->n_golden;
    *ret_change = mean - mean_of(criteria->golden, criteria->n_golden);
    *ret_half_width = t_quantile(1 - alpha, freedom) * sqrt(variance);
}

/* SLOW wants an estimate over the threshold, which the bounds then need not clear: a change of exactly the threshold is
 * decided, by a coin, and not doubted forever. */
static enum kg_answer answer_of(const struct kg_criteria *criteria, double change, double half_width)
{
    double change_pct = 100 * expm1(change);
    double lower_pct = 100 * expm1(change - half_width), upper_pct = 100 * expm1(change + half_width);
    if (change_pct > criteria->threshold_pct && lower_pct > criteria->floor_pct &&
        change_pct > criteria->resolution_pct)
        return KG_ANSWER_SLOW;
    if (upper_pct < -criteria->threshold_pct)
        return KG_ANSWER_FAST;
    return upper_pct < criteria->threshold_pct ? KG_ANSWER_PASS : KG_ANSWER_MORE;
}

/* Estimates from the first `blocks`. False, and figures of NAN, where a value among them is not finite. */
static bool look_at(const struct kg_criteria *criteria, const double *logs, int blocks, double alpha,
                    struct kg_decision *decision)
{
    double change, half_width;
    estimate(criteria, logs, blocks, alpha, &change, &half_width);
    if (!isfinite(change) || !isfinite(half_width)) {
        *decision = none;
        return false;
    }
    decision->change_pct = 100 * expm1(change);
    decision->margin_pct = 50 * (expm1(change + half_width) - expm1(change - half_width));
    decision->answer = answer_of(criteria, change, half_width);
    return true;
}

static void glance(const struct kg_criteria *criteria, const double *logs, int n_blocks, double alpha,
                   struct kg_decision *decision)
{
    struct kg_decision seen;
    if (look_at(criteria, logs, n_blocks, alpha, &seen)) {
        decision->change_pct = seen.change_pct;
        decision->margin_pct = seen.margin_pct;
    }
}

/* One set by itself, of at most `room` blocks where it may go on. `wanted` counts its own blocks. Before the first
 * look: figures to be shown, no more. */
static struct kg_decision decide_set(const struct kg_criteria *criteria, int first, int room, const double *logs,
                                     int n_blocks)
{
    const int n_looks = kg_look_count(first, criteria->max_blocks);
    const int n_extra = room > criteria->max_blocks ? kg_look_count(criteria->max_blocks, room) - 1 : 0;
    struct kg_decision decision = none;
    for (int look = 1; look <= n_looks + n_extra; look++) {
        const bool extra = look > n_looks;
        const int blocks = extra ? kg_look_blocks(look - n_looks + 1, criteria->max_blocks, room)
                                 : kg_look_blocks(look, first, criteria->max_blocks);
        const double alpha = extra ? KG_SET_ALPHA / 2 / n_extra : kg_look_alpha(look, n_looks);
        if (blocks > n_blocks) {
            decision.wanted = blocks;
            decision.extra = extra;
            if (look == 1 && n_blocks > 0)
                glance(criteria, logs, n_blocks, alpha, &decision);
            break;
        }
        if (!look_at(criteria, logs, blocks, alpha, &decision))
            break;
        decision.look = look;
        decision.n_blocks = blocks;
        if (decision.answer != KG_ANSWER_MORE)
            break;
    }
    return decision;
}

static bool passes_at_once(const struct kg_criteria *criteria, const double *logs, int n_blocks,
                           struct kg_decision *decision)
{
    *decision = (struct kg_decision){ .look = 1, .n_blocks = 1 };
    return criteria->is_trusted && n_blocks > 0 && look_at(criteria, logs, 1, KG_SET_ALPHA / 2, decision) &&
           decision->answer == KG_ANSWER_PASS;
}

struct kg_decision kg_decide(const struct kg_criteria *criteria, const double *logs, int n_blocks)
{
    struct kg_decision at_once;
    if (passes_at_once(criteria, logs, n_blocks, &at_once))
        return at_once;
    const int room = criteria->room - KG_CONFIRM_BLOCKS; /* an alarm at the last look can still be confirmed */
    struct kg_decision first = decide_set(criteria, KG_LOOK_EVERY, room, logs, n_blocks);
    if (first.answer != KG_ANSWER_SLOW)
        return first;

    int n_later = n_blocks - first.n_blocks;
    struct kg_decision second =
        decide_set(criteria, KG_CONFIRM_BLOCKS, criteria->room - first.n_blocks, logs + first.n_blocks, n_later);
    if (n_later == 0) { /* the alarm is all there is to show */
        second.change_pct = first.change_pct;
        second.margin_pct = first.margin_pct;
    }
    second.alarm_blocks = first.n_blocks;
    second.alarm_pct = first.change_pct;
    if (second.wanted)
        second.wanted += first.n_blocks;
    return second;
}
