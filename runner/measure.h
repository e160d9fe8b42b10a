/* measure.h -- one timing block: a subject, and its anchor beside it, in windows of balanced random order. */
#ifndef KG_MEASURE_H
#define KG_MEASURE_H

#include "subject.h"
#include "timing.h"

/* Fills everything of the block but `round`. Samples are owned by the block: free() both arrays. `anchor` NULL: none;
 * it is not used by KG_TIMER_EVENT. `order_seed` makes the order of windows reproducible. */
int kg_measure_block(kg_context *context, struct kg_subject *subject, struct kg_subject *anchor,
                     const struct kg_timing *timing, uint64_t order_seed, struct kg_block *ret_block,
                     kg_error *ret_error);

/* Mean over `places` of the median of values[place], values[place + places], …; NAN for no values. Pure. */
double kg_mean_of_medians(const double *values, size_t count, size_t places);

/* Fills `ret_first` with `count` flags, half of them true (the odd one by chance), shuffled. Pure. */
void kg_balanced_order(uint64_t seed, bool *ret_first, int count);

#endif
