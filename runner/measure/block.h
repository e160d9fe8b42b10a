/* block.h -- one timing block: a case and what stands beside it, in windows of balanced random order. */
#ifndef KG_MEASURE_H
#define KG_MEASURE_H

#include "measure/prepared.h"
#include "plan/policy.h"

/* Who takes part in a block. */
enum {
    KG_ARM_CASE,
    KG_ARM_BASELINE, /* the same case of another build */
    KG_ARM_ANCHOR,
    KG_ARM_PLANTED, /* selfcheck: the case once more, its windows made longer */
    KG_ARMS
};

struct kg_arm;

/* Between the last timed window and the end of the block, while the windows are still there. `baseline`: NULL without
 * one. */
struct kg_interlude {
    int (*call)(void *argument, struct kg_arm *arm, struct kg_arm *baseline, kg_error *ret_error);
    void *argument;
};

/* Fills everything of the block but `round`. Samples are owned by the block: free() its arrays. Arms other than the
 * case may be NULL; KG_TIMER_EVENT uses case and baseline only. With a planted prepared the windows of all end with a
 * spin, so that only its length differs. `order_seed` makes the order of windows reproducible. `interlude` may be NULL.
 */
int kg_measure_block(kg_context *context, struct kg_prepared *const prepared[KG_ARMS], double planted_pct,
                     const struct kg_policy *policy, uint64_t order_seed, const struct kg_interlude *interlude,
                     struct kg_block *ret_block, kg_error *ret_error);

/* Mean over `sets` of the median of values[set], values[set + sets], …; where that is fewer than three values a set,
 * their trimmed mean. NAN for no values or sets. Pure. */
double kg_center_of_sets(const double *values, size_t count, size_t sets);

#endif
