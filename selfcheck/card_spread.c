/* card_spread.c -- a table of cases by cards, of which each pair of rows is subtracted. */
#include "selfcheck/card_spread.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/stats.h"

#define MAX_CARDS 64 /* that are used */

/* Means by card; NAN: not recorded there. */
struct row {
    const char *key;
    double p50[MAX_CARDS], ratio[MAX_CARDS];
    int blocks[MAX_CARDS];
};

struct table {
    const char *cards[MAX_CARDS];
    int n_cards;
    struct row *rows;
    size_t n_rows;
};

static int card_of(struct table *table, const char *uuid)
{
    for (int i = 0; i < table->n_cards; i++)
        if (!strcmp(table->cards[i], uuid))
            return i;
    if (table->n_cards == MAX_CARDS)
        return -1;
    table->cards[table->n_cards] = uuid;
    return table->n_cards++;
}

static struct row *row_of(struct table *table, const char *key)
{
    size_t i = 0;
    while (i < table->n_rows && strcmp(table->rows[i].key, key) != 0)
        i++;
    if (i == table->n_rows)
        table->rows[table->n_rows++] = (struct row){ .key = key };
    return &table->rows[i];
}

static void add_series(struct table *table, const struct kg_series *series)
{
    const int card = card_of(table, series->uuid);
    struct row *row = row_of(table, series->key);
    for (int i = 0; i < series->n_blocks && card >= 0; i++) {
        row->p50[card] += series->blocks[i].log_p50;
        row->ratio[card] += series->blocks[i].log_ratio; /* NAN where there is no anchor */
        row->blocks[card]++;
    }
}

static void take_means(const struct table *table, struct row *row)
{
    for (int card = 0; card < table->n_cards; card++) {
        row->p50[card] = row->blocks[card] ? row->p50[card] / row->blocks[card] : NAN;
        row->ratio[card] = row->blocks[card] ? row->ratio[card] / row->blocks[card] : NAN;
    }
}

/* Of `values`, less `others` where they are given, over the cards that have both; NAN: these are too few. */
static double spread_pct(const struct table *table, const double *values, const double *others, int least)
{
    double there[MAX_CARDS];
    int count = 0;
    for (int card = 0; card < table->n_cards; card++) {
        const double value = values[card] - (others ? others[card] : 0);
        if (isfinite(value))
            there[count++] = value;
    }
    return count < least ? NAN : 100 * kg_stats_of(there, (size_t)count).std;
}

static double worst_pct(const struct table *table, const double *values)
{
    double least = INFINITY, most = -INFINITY;
    for (int card = 0; card < table->n_cards; card++) {
        least = fmin(least, values[card]); /* NAN is passed over */
        most = fmax(most, values[card]);
    }
    return most > least ? 100 * expm1(most - least) : 0;
}

static struct kg_card_spread spread_of(const struct table *table, const struct row *row)
{
    struct kg_card_spread spread = { .key = row->key,
                                     .p50_pct = spread_pct(table, row->p50, NULL, 2),
                                     .ratio_pct = spread_pct(table, row->ratio, NULL, 2),
                                     .worst_ratio_pct = worst_pct(table, row->ratio),
                                     .beside_pct = NAN };
    for (int card = 0; card < table->n_cards; card++)
        spread.n_cards += row->blocks[card] > 0;
    for (size_t i = 0; i < table->n_rows; i++) {
        const struct row *other = &table->rows[i];
        const double left_pct = other == row ? NAN : spread_pct(table, row->p50, other->p50, KG_BESIDE_CARDS);
        if (isnan(left_pct) || left_pct >= spread.beside_pct)
            continue;
        spread.beside = other->key;
        spread.beside_pct = left_pct;
    }
    return spread;
}

size_t kg_card_spreads_of(const struct kg_series_set *set, struct kg_card_spread **ret_spreads)
{
    struct table table = { .rows = calloc(set->count + 1, sizeof *table.rows) };
    struct kg_card_spread *spreads = calloc(set->count + 1, sizeof *spreads);
    size_t count = 0;
    for (size_t i = 0; table.rows && i < set->count; i++)
        add_series(&table, &set->items[i]);
    for (size_t i = 0; i < table.n_rows; i++)
        take_means(&table, &table.rows[i]);
    for (size_t i = 0; spreads && i < table.n_rows; i++) {
        spreads[count] = spread_of(&table, &table.rows[i]);
        count += spreads[count].n_cards > 1;
    }
    free(table.rows);
    *ret_spreads = spreads;
    return count;
}

static double median_of(const struct kg_card_spread *spreads, size_t count, size_t offset)
{
    double *there = malloc((count + 1) * sizeof *there), median = NAN;
    size_t n = 0;
    for (size_t i = 0; there && i < count; i++) {
        memcpy(&there[n], (const char *)&spreads[i] + offset, sizeof *there);
        n += isfinite(there[n]);
    }
    if (n)
        median = kg_median(there, n);
    free(there);
    return median;
}

struct kg_card_spread kg_card_spread_all(const struct kg_card_spread *spreads, size_t count)
{
    struct kg_card_spread all = { .key = "median of the cases",
                                  .p50_pct = median_of(spreads, count, offsetof(struct kg_card_spread, p50_pct)),
                                  .ratio_pct = median_of(spreads, count, offsetof(struct kg_card_spread, ratio_pct)),
                                  .beside_pct =
                                      median_of(spreads, count, offsetof(struct kg_card_spread, beside_pct)) };
    for (size_t i = 0; i < count; i++) {
        all.n_cards = spreads[i].n_cards > all.n_cards ? spreads[i].n_cards : all.n_cards;
        all.worst_ratio_pct = fmax(all.worst_ratio_pct, spreads[i].worst_ratio_pct);
    }
    return all;
}
