/* rates.h -- how often gates said what: counts with their bounds, and the table of them that a person or a script
 * reads. Simulated and recorded gates are shown by the same table. Pure but for the printing. */
#ifndef KG_RATES_H
#define KG_RATES_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "judge/decision.h"

/* Columns: nothing changed, then planted slowdowns. */
#define KG_PLANTED 6
extern const double kg_planted_pct[KG_PLANTED]; /* 0, 0.5, 1, 2, 3, 5 */

#define KG_RATE_CONFIDENCE 0.95

/* Gates by their last answer; all members are counts. `unsure`: the rounds ran out. */
struct kg_rate {
    size_t slow, fast, pass, unsure;
    size_t unconfirmed; /* of those that are not slow: a first set raised an alarm that the second did not confirm */
    size_t cut;         /* of the unsure: not the rounds ran out, but the recorded blocks */
    size_t shared;      /* gates that went on with blocks which serve others too, for want of their own */
    size_t blocks;      /* of all these gates together, a golden's own left out */
};

void kg_rate_add(struct kg_rate *rate, const struct kg_decision *decision);
void kg_rate_sum(struct kg_rate *sum, const struct kg_rate *rate); /* sum += rate */

/* For a rule of one look: true means SLOW. */
void kg_rate_add_call(struct kg_rate *rate, bool slow, int n_blocks);

size_t kg_rate_gates(const struct kg_rate *rate);

/* Share of SLOW in per cent, and its one-sided bounds (KG_RATE_CONFIDENCE): upper for false alarms, lower for power.
 * No gates: NAN, 100 and 0. */
double kg_rate_slow_pct(const struct kg_rate *rate);
double kg_rate_upper_pct(const struct kg_rate *rate);
double kg_rate_lower_pct(const struct kg_rate *rate);

/* 1,234,567 */
void kg_rate_count_text(size_t count, char *ret_text, size_t size);
/* 12 of 1,234 are SLOW */
void kg_rate_of_text(const struct kg_rate *rate, char *ret_text, size_t size);
/* As precise as the distance to the nearer of 0 and 100 wants; never rounded up to 100. */
void kg_rate_pct_text(double pct, char *ret_text, size_t size);

/* A line of the table. */
struct kg_rate_row {
    char name[48];        /* noise model, class of kernel, case */
    char judged[48];      /* golden raw, golden ratio, against; or the rule it is compared with */
    double threshold_pct; /* 0: it has none */
    bool resampled;       /* blocks serve more than one gate, so the bounds are too narrow */
    struct kg_rate rates[KG_PLANTED];
};

size_t kg_rate_row_gates(const struct kg_rate_row *row); /* of all sizes */

/* Aligned for a terminal: gates without a change with the bound, then the share found of each planted size with its
 * lower bound. Sizes that no row has are left out. */
void kg_rates_put_table(const struct kg_rate_row *rows, size_t n_rows, FILE *out);

/* An array with an object a row, all counts and bounds. NULL: no memory. */
cJSON *kg_rates_to_json(const struct kg_rate_row *rows, size_t n_rows);

#endif
