/* runs.h -- how often a whole run of unchanged cases would be red, and how often it would miss a change of one case:
 * what a team lives with, where rates of gates are of cases. Formed of recorded blocks; pure.
 *
 * A run takes place on one card, by goldens of another. Both are drawn as wholes, so that what the cards have of their
 * own is in all cases of the run; then KG_RUN_CASES cases that both have, each a gate of blocks drawn with replacement
 * from the card's. So rates are resampled. Nothing that is launched changed, as identities would say; the one that did
 * change is judged by a duel, --against, as ci/gate --duel does. */
#ifndef KG_RUNS_H
#define KG_RUNS_H

#include "selfcheck/rates.h"
#include "selfcheck/rules.h"
#include "selfcheck/series.h"

#define KG_RUNS 10000
#define KG_RUN_CASES 277
#define KG_RUN_PLANTED 4 /* of kg_planted_pct: 3% */
#define KG_RUN_DRAWS 8   /* gates of a case by one golden, of which runs draw */
#define KG_RUN_LEAST 5   /* cases that two cards must have in common */

struct kg_run_rates {
    struct kg_rate red;             /* runs with a case that is not PASS or FAST */
    struct kg_rate found;           /* runs whose changed case is SLOW by a duel */
    struct kg_rate rules[KG_RULES]; /* unchanged runs that they call slower, on the same draws */
    size_t n_pairs, n_gates;        /* pairs of cards and gates that runs draw from; 0 pairs: no rates */
};

int kg_runs_of(const struct kg_series_set *set, double threshold_pct, int max_blocks, struct kg_run_rates *ret_rates,
               kg_error *ret_error);

#endif
