/* simulate.h -- the decision code over synthetic noise, without a device: how often it is wrong of kernels whose noise
 * is known, and what it finds. */
#ifndef KG_SIMULATE_H
#define KG_SIMULATE_H

#include <stdint.h>

#include "kgate.h"
#include "selfcheck/rates.h"

#define KG_SIMULATED_GATES 100000 /* without a change, unless said otherwise */
#define KG_SIMULATED_POWER 10000  /* of them, judged again with each planted slowdown; at most all */
#define KG_SIMULATED_RULES 5000   /* of them, judged by the other rules too */
#define KG_SIMULATED_GOLDEN 8     /* blocks of a golden */

struct kg_simulation {
    const char *noise; /* of this model only; NULL: of each */
    int gates, rounds;
    uint64_t seed;
    double threshold_pct; /* negative: that which the goals are stated at, and 0.5 and 0.25 by a baseline */
};

extern const struct kg_simulation kg_simulation_usual;

/* Rows by noise model: golden, against at each threshold, then the other rules. The same simulation gives the same
 * counts. free() the rows. KG_EINVAL: the noise model is unknown, or the threshold 0. KG_ENOMEM. */
int kg_simulate_rows(const struct kg_simulation *simulation, struct kg_rate_row **ret_rows, size_t *ret_count,
                     kg_error *ret_error);

/* Prints them as a table, and what the models stand for. */
int kg_simulate(const struct kg_simulation *simulation, FILE *out, kg_error *ret_error);

#endif
