/* sections.h -- sections of summary.md that have files of their own. A section writes nothing, not even its heading,
 * where a run has nothing for it. A new one is a function here and a row of `sections` in markdown.c. */
#ifndef KG_SECTIONS_H
#define KG_SECTIONS_H

#include "reports/report.h"

typedef void kg_section_fn(const struct kg_run *run, FILE *out);

/* contest.c: of each suite with a contest that this run timed a side of, shape by shape, and the criteria of success.
 */
kg_section_fn kg_section_contests;

/* cost_ranking.c: what the backends of a suite cost over its clean one (kg_suite.clean), the costliest first.
 *
 * A shape's cost is the p50 over the clean backend's at the same shape and seed, both timed and right in this run. A
 * backend's cost is the geometric mean over its shapes, so that no shape counts for more by being longer. */
kg_section_fn kg_section_costs;

struct kg_cost {
    const char *backend;
    size_t rank;                                /* from 1; equal costs share the better one; 0: not compared */
    double ratio;                               /* over 1 costs more than the clean one; NAN: not compared */
    double least, most;                         /* over its shapes; */
    const struct kg_result *least_at, *most_at; /* where; NULL: not compared */
    size_t compared, shapes;                    /* that could be compared, of those that the run had of it */
};

/* Costs of the suite that `of` is a result of, whose clean backend is not NULL: of the backends of its kind of device
 * in the run, but for itself. In order of rank, equal ones in the run's order, those not compared last. `ret_costs`
 * has room for run->n_results. Pure. */
size_t kg_cost_rank(const struct kg_run *run, const struct kg_result *of, struct kg_cost *ret_costs);

#endif
