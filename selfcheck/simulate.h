/* simulate.h -- `kgate selfcheck --simulate`: the decision code over synthetic noise, without a device. */
#ifndef KG_SIMULATE_H
#define KG_SIMULATE_H

#include "options/options.h"
#include "selfcheck/rates.h"

#define KG_SIMULATED_GATES 100000 /* without a change, unless --gates says otherwise */
#define KG_SIMULATED_POWER 10000  /* of them, judged again with each planted slowdown; at most all */
#define KG_SIMULATED_RULES 5000   /* of them, judged by the other rules too */
#define KG_SIMULATED_GOLDEN 8     /* blocks of a golden */

/* Rows by noise model: golden, against at each threshold, then the other rules. The same options and seed give the same
 * counts. free() the rows. KG_EINVAL: the noise model is unknown, or the threshold 0. KG_ENOMEM. */
int kg_simulate_rows(const struct kg_options *options, struct kg_rate_row **ret_rows, size_t *ret_count,
                     kg_error *ret_error);

/* Prints them as a table or, by the options, as JSON, and what the models stand for. KG_EIO besides. */
int kg_simulate(const struct kg_options *options, FILE *out, kg_error *ret_error);

#endif
