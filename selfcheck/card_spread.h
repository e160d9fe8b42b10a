/* card_spread.h -- how far cases differ between cards, by themselves and beside one another: of two cases that feel a
 * card alike the ratio differs least, and one is the other's best anchor. Pure. */
#ifndef KG_CARD_SPREAD_H
#define KG_CARD_SPREAD_H

#include "selfcheck/series.h"

#define KG_BESIDE_CARDS 6 /* that two cases must both be known on; of many pairs one agrees by luck on fewer */

/* Standard deviations between cards, per cent, of a card's mean of a logarithm; NAN: on fewer than two. */
struct kg_card_spread {
    const char *key; /* of the case */
    int n_cards;
    double p50_pct;
    double ratio_pct;       /* of case / anchor as recorded */
    double worst_ratio_pct; /* largest change of that between two cards; 0: none */
    const char *beside;     /* key of the case to which the ratio of p50s differs least; NULL: none has enough cards */
    double beside_pct;
};

/* One a case of at least two cards, in the order of the set, in *ret_spreads, which is the caller's to free; returns
 * how many. 0 and NULL also where memory is short. */
size_t kg_card_spreads_of(const struct kg_series_set *set, struct kg_card_spread **ret_spreads);

/* Of all: medians, and the largest of worst_ratio_pct. */
struct kg_card_spread kg_card_spread_all(const struct kg_card_spread *spreads, size_t count);

#endif
