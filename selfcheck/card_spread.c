/* card_spread.c -- means of ratios, series by series. */
#include "selfcheck/card_spread.h"

#include <math.h>
#include <string.h>

#include "base/stats.h"

#define MAX_SERIES 512 /* of a case that are used */

struct means {
    double log_ratio[MAX_SERIES];
    const char *uuid[MAX_SERIES];
    int count;
};

static double mean_ratio(const struct kg_series *series)
{
    double sum = 0;
    for (int i = 0; i < series->n_blocks; i++)
        sum += series->blocks[i].log_ratio;
    return sum / series->n_blocks;
}

static struct means means_of(const struct kg_series_set *set, const char *key)
{
    struct means means = { .count = 0 };
    for (size_t i = 0; i < set->count && means.count < MAX_SERIES; i++) {
        const struct kg_series *series = &set->items[i];
        if (strcmp(series->key, key) || !isfinite(mean_ratio(series)))
            continue;
        means.uuid[means.count] = series->uuid;
        means.log_ratio[means.count++] = mean_ratio(series);
    }
    return means;
}

static struct kg_card_spread spread_of(const struct means *means, const char *key)
{
    struct kg_card_spread spread = { .key = key, .n_series = means->count };
    spread.sd_pct = 100 * kg_stats_of(means->log_ratio, (size_t)means->count).std;
    for (int i = 0; i < means->count; i++) {
        bool is_first = true;
        for (int j = 0; j < i; j++) {
            const double change_pct = 100 * expm1(fabs(means->log_ratio[i] - means->log_ratio[j]));
            const bool same = !strcmp(means->uuid[i], means->uuid[j]);
            double *worst = same ? &spread.worst_day_pct : &spread.worst_card_pct;
            *worst = fmax(*worst, change_pct);
            is_first = is_first && !same;
        }
        spread.n_cards += is_first;
    }
    return spread;
}

size_t kg_card_spreads_of(const struct kg_series_set *set, struct kg_card_spread *room)
{
    size_t count = 0;
    for (size_t i = 0; i < set->count; i++) {
        size_t before = 0;
        while (before < i && strcmp(set->items[before].key, set->items[i].key))
            before++;
        if (before < i)
            continue;
        const struct means means = means_of(set, set->items[i].key);
        if (means.count > 1)
            room[count++] = spread_of(&means, set->items[i].key);
    }
    return count;
}

struct kg_card_spread kg_card_spread_all(const struct kg_card_spread *spreads, size_t count)
{
    struct kg_card_spread all = { .key = "all cases" };
    double squares = 0;
    for (size_t i = 0; i < count; i++) {
        squares += spreads[i].sd_pct * spreads[i].sd_pct;
        all.n_series += spreads[i].n_series;
        all.n_cards = spreads[i].n_cards > all.n_cards ? spreads[i].n_cards : all.n_cards;
        all.worst_card_pct = fmax(all.worst_card_pct, spreads[i].worst_card_pct);
        all.worst_day_pct = fmax(all.worst_day_pct, spreads[i].worst_day_pct);
    }
    all.sd_pct = count ? sqrt(squares / (double)count) : 0;
    return all;
}
