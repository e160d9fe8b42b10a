/* stats.h -- statistics of samples, and quantiles and bounds of the distributions that decisions and error rates use;
 * pure functions. */
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

/* Mean without the smallest and the largest eighth, rounded up; of one or two values, their mean. NAN for count 0. */
double kg_trimmed_mean(const double *values, size_t count);

/* Percentile of sorted values, 0 <= p <= 100. */
double kg_percentile_sorted(const double *sorted, size_t count, double p);

/* ---- distributions --------------------------------------------------------------------------------------------- */

/* Regularised incomplete beta function I_x(a, b), a and b > 0, 0 <= x <= 1 (NIST DLMF 8.17.22). NAN otherwise. */
double kg_beta_cdf(double x, double a, double b);

/* x with I_x(a, b) = p, 0 <= p <= 1. NAN otherwise. */
double kg_beta_quantile(double p, double a, double b);

/* Student's t with df > 0 degrees of freedom: the value that a share p of it lies below, 0 < p < 1. NAN otherwise. */
double kg_t_quantile(double p, double df);

/* Bounds of a probability that was seen `successes` times in `trials`, each one-sided at `confidence` (0.95, say):
 * Clopper and Pearson 1934. 0 of 1,000 at 0.95 has the upper bound 0.299%. Lower 0 and upper 1 for no trials. */
double kg_binomial_lower(size_t successes, size_t trials, double confidence);
double kg_binomial_upper(size_t successes, size_t trials, double confidence);

#endif
