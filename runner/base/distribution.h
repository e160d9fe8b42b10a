/* distribution.h -- quantiles and bounds of the distributions that decisions and error rates use; pure functions. */
#ifndef KG_DISTRIBUTION_H
#define KG_DISTRIBUTION_H

#include <stddef.h>

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
