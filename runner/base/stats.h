/* stats.h -- statistics of samples; pure functions. */
#ifndef KG_STATS_H
#define KG_STATS_H

#include <stddef.h>

struct kg_stats {
    size_t count;
    double mean, std; /* std: sample standard deviation (n - 1); 0 for one sample */
    double min, p50, p90, p95, p99, max;
};

/* All zero for count 0. Sorts a copy. Percentiles interpolate linearly between order statistics (Hyndman-Fan 7). */
struct kg_stats kg_stats_of(const double *samples, size_t count);

double kg_median(const double *values, size_t count); /* NAN for count 0 */

/* Percentile of sorted values, 0 <= p <= 100. */
double kg_percentile_sorted(const double *sorted, size_t count, double p);

#endif
