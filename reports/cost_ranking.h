/* cost_ranking.h -- what the backends of a suite cost over its clean one (kg_suite.clean), the costliest first. Pure.
 *
 * A shape's cost is the p50 over the clean backend's at the same shape and seed, both timed and right in this run. A
 * backend's cost is the geometric mean over its shapes, so that no shape counts for more by being longer. */
#ifndef KG_COST_RANKING_H
#define KG_COST_RANKING_H

#include "reports/report.h"

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
 * has room for run->n_results. */
size_t kg_cost_rank(const struct kg_run *run, const struct kg_result *of, struct kg_cost *ret_costs);

#endif
