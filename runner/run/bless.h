/* bless.h -- renewing goldens from a run. */
#ifndef KG_BLESS_H
#define KG_BLESS_H

#include "run/session.h"

/* Does the module come from exactly the commit that the tree is at? KG_EINVAL says why not. */
int kg_bless_check_commit(const struct kg_git *git, const struct kg_module *module, kg_error *ret_error);

/* Before anything is measured: the tree is clean, the module was built from its HEAD, or --allow-dirty. */
int kg_bless_check(const struct kg_session *session, kg_error *ret_error);

/* KG_EINVAL where a block of the result was measured under a condition that no golden is made of (noise.h), named. */
int kg_bless_check_noise(const struct kg_result *result, kg_error *ret_error);

/* After the last round, and once everything has been judged by the old goldens: refuses when a case is wrong; writes
 * what is steady; says old -> new, and what was not blessed and why, on `out`. No verdict changes: each result's
 * `bless` and the run's bless_counts tell what was done. */
int kg_bless(struct kg_session *session, const bool *timed, FILE *out, kg_error *ret_error);

#endif
