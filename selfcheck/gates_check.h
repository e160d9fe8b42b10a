/* gates_check.h -- `kgate selfcheck --gates`: do the suites' gates see wrong answers? References run, kernels do not.
 */
#ifndef KG_GATES_CHECK_H
#define KG_GATES_CHECK_H

#include "judge/result.h"
#include "options/options.h"

/* Judges each (suite, shape, inputs) of the selection once for each arithmetic of its backends, in workers, and prints
 * a table. Returns the exit status: 4 where a wrong answer passes that no table excuses, or the run was stopped; 1
 * where a reference failed; 77 where nothing could be judged. */
int kg_gates_check(const struct kg_options *options, FILE *out, kg_error *ret_error);

/* ---- its table (gates_table.c) ---- */

struct kg_gates_table {
    const struct kg_result *const *items; /* those that were asked for, judged or not */
    size_t count;
    size_t n_judged, n_weak, n_skipped, n_broken;
    const char *stopped; /* why it ended before it was through; "" : it did not */
};

/* Wrong answers that pass and that no table excuses. */
kg_wrong_set kg_gates_weak(const struct kg_result *result);
void kg_gates_table_put(const struct kg_gates_table *table, FILE *out);
int kg_gates_table_put_json(const struct kg_gates_table *table, FILE *out, kg_error *ret_error);

#endif
