/* card_spread.h -- how far the ratio of a case to its anchor differs between cards and between starts. Pure. */
#ifndef KG_CARD_SPREAD_H
#define KG_CARD_SPREAD_H

#include "selfcheck/series.h"

/* Of the means of log(case / anchor) over a series' blocks. */
struct kg_card_spread {
    const char *key;
    int n_series, n_cards;
    double sd_pct;         /* between all series */
    double worst_card_pct; /* largest change between two cards; 0: one card */
    double worst_day_pct;  /* between two starts of one card; 0: one start */
};

/* One a case that has an anchor and at least two series; returns how many. `room` has one for every series. */
size_t kg_card_spreads_of(const struct kg_series_set *set, struct kg_card_spread *room);

/* Over all: root of the mean square, and the largest. */
struct kg_card_spread kg_card_spread_all(const struct kg_card_spread *spreads, size_t count);

#endif
