/* contest.h -- a suite's contest (kgate.h) as one run measured it. Pure. */
#ifndef KG_CONTEST_H
#define KG_CONTEST_H

#include "reports/report.h"
#include "reports/success.h"

/* The timed and right result of the contest's baseline at the shape and seed of `result`, which is its ours; NULL where
 * it is not, or there is none. */
const struct kg_result *kg_contest_rival(const struct kg_run *run, const struct kg_result *result);

/* Times of both; a side that is NULL, wrong or not timed is NAN. */
struct kg_match kg_contest_match(const struct kg_result *ours, const struct kg_result *baseline);

#endif
