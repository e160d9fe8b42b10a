/* stats.c -- statistics of samples, and distributions: pure functions. NaN among the samples is never dropped: it sorts
 * last and shows in mean, std, max and the upper percentiles. To add a figure, extend struct kg_stats and kg_stats_of.
 */
#include "base/stats.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    if (isnan(x) || isnan(y))
        return !!isnan(x) - !!isnan(y);
    return (x > y) - (x < y);
}

/* NULL where memory ran out. */
static double *sorted_copy(const double *values, size_t count)
{
    double *copy = malloc(count * sizeof *copy);
    if (copy) {
        memcpy(copy, values, count * sizeof *copy);
        qsort(copy, count, sizeof *copy, ascending);
    }
    return copy;
}

double kg_percentile_sorted(const double *sorted, size_t count, double p)
{
    if (count == 0 || !(p >= 0 && p <= 100))
        return NAN;
    double position = p / 100 * (double)(count - 1);
    size_t low = (size_t)position;
    double part = position - (double)low;
    if (part == 0 || low + 1 >= count)
        return sorted[low];
    return sorted[low] + part * (sorted[low + 1] - sorted[low]);
}

double kg_median(const double *values, size_t count)
{
    if (count == 0)
        return NAN;
    double *sorted = sorted_copy(values, count);
    if (!sorted)
        return NAN;
    double median = kg_percentile_sorted(sorted, count, 50);
    free(sorted);
    return median;
}

double kg_trimmed_mean(const double *values, size_t count)
{
    const size_t cut = count > 2 ? (count + 7) / 8 : 0;
    double *sorted = sorted_copy(values, count), sum = count && sorted ? 0 : NAN;
    for (size_t i = cut; sorted && i < count - cut; i++)
        sum += sorted[i];
    free(sorted);
    return sum / (double)(count - 2 * cut);
}

struct kg_stats kg_stats_of(const double *samples, size_t count)
{
    struct kg_stats stats = { .count = count };
    if (count == 0)
        return stats;
    double *sorted = sorted_copy(samples, count);
    if (!sorted) /* no figure may look like a measurement */
        return (struct kg_stats){ count, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN };

    double sum = 0, squares = 0;
    for (size_t i = 0; i < count; i++)
        sum += sorted[i];
    stats.mean = sum / (double)count;
    for (size_t i = 0; i < count; i++)
        squares += (sorted[i] - stats.mean) * (sorted[i] - stats.mean);
    stats.std = count > 1 ? sqrt(squares / (double)(count - 1)) : 0;
    stats.min = sorted[0];
    stats.p50 = kg_percentile_sorted(sorted, count, 50);
    stats.p90 = kg_percentile_sorted(sorted, count, 90);
    stats.p95 = kg_percentile_sorted(sorted, count, 95);
    stats.p99 = kg_percentile_sorted(sorted, count, 99);
    stats.max = sorted[count - 1];
    free(sorted);
    return stats;
}

/* ---- distributions --------------------------------------------------------------------------------------------- */

/* The incomplete beta function by its continued fraction, and what follows from it: quantiles by Newton steps kept
 * inside a bracket, Student's t, bounds of a probability. Checked against SciPy and R in test_distribution.c. */

#define MAX_TERMS 20000 /* of the fraction: it needs about the square root of the larger parameter */
#define MAX_STEPS 2000  /* halving from 1 to the least normal number takes 1,022 */

static double log_beta(double a, double b)
{
    int sign;
    return lgamma_r(a, &sign) + lgamma_r(b, &sign) - lgamma_r(a + b, &sign);
}

/* Keeps the quotients of Lentz's method away from zero. */
static double not_zero(double value)
{
    return fabs(value) < DBL_MIN ? DBL_MIN : value;
}

/* DLMF 8.17.22, the fraction alone, by the method of Lentz. It converges fast below the mean, x < (a + 1) / (a + b +
 * 2).
 */
static double fraction(double x, double a, double b)
{
    double c = 1, d = 1 / not_zero(1 - (a + b) * x / (a + 1)), value = d;
    for (int m = 1; m <= MAX_TERMS; m++) {
        double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        d = 1 / not_zero(1 + even * d);
        c = not_zero(1 + even / c);
        value *= c * d;
        d = 1 / not_zero(1 + odd * d);
        c = not_zero(1 + odd / c);
        value *= c * d;
        if (fabs(c * d - 1) < DBL_EPSILON)
            return value;
    }
    return NAN;
}

static bool is_beta(double a, double b)
{
    return a > 0 && b > 0 && isfinite(a) && isfinite(b);
}

/* `log_norm`: log_beta(a, b), which a search needs once. */
static double cdf(double x, double a, double b, double log_norm)
{
    if (x <= 0 || x >= 1)
        return x > 0;
    double power = exp(a * log(x) + b * log1p(-x) - log_norm);
    if (x < (a + 1) / (a + b + 2))
        return power * fraction(x, a, b) / a;
    return 1 - power * fraction(1 - x, b, a) / b;
}

double kg_beta_cdf(double x, double a, double b)
{
    return is_beta(a, b) && x >= 0 && x <= 1 ? cdf(x, a, b, log_beta(a, b)) : NAN;
}

double kg_beta_quantile(double p, double a, double b)
{
    if (!is_beta(a, b) || !(p >= 0 && p <= 1))
        return NAN;
    if (p == 0 || p == 1)
        return p;
    double log_norm = log_beta(a, b), low = 0, high = 1, x = a / (a + b), last = 1;
    for (int step = 0; step < MAX_STEPS; step++) {
        double over = cdf(x, a, b, log_norm) - p;
        if (!isfinite(over))
            return NAN;
        if (over == 0)
            break;
        *(over < 0 ? &low : &high) = x;
        double density = exp((a - 1) * log(x) + (b - 1) * log1p(-x) - log_norm);
        double next = x - over / density;
        if (!(next >= low && next <= high) || fabs(next - x) > 0.5 * last) /* leaves the bracket, or is too slow */
            next = low + (high - low) / 2;
        last = fabs(next - x);
        x = next;
        if (last <= 2 * DBL_EPSILON * x)
            break;
    }
    return x;
}

/* Both tails of t beyond |t| are I_x(df / 2, 1 / 2) with x = df / (df + t^2). Near the median 1 - x is sought instead,
 * which x has no digits left for. */
double kg_t_quantile(double p, double df)
{
    if (!(p > 0 && p < 1) || !(df > 0) || !isfinite(df))
        return NAN;
    double tail = p < 0.5 ? p : 1 - p, square;
    if (tail < 0.25) {
        double x = kg_beta_quantile(2 * tail, df / 2, 0.5);
        square = df * (1 - x) / x;
    } else {
        double rest = kg_beta_quantile(1 - 2 * tail, 0.5, df / 2);
        square = df * rest / (1 - rest);
    }
    return p < 0.5 ? -sqrt(square) : sqrt(square);
}

double kg_binomial_lower(size_t successes, size_t trials, double confidence)
{
    if (successes == 0 || successes > trials)
        return successes ? NAN : 0;
    return kg_beta_quantile(1 - confidence, (double)successes, (double)(trials - successes) + 1);
}

double kg_binomial_upper(size_t successes, size_t trials, double confidence)
{
    if (successes >= trials)
        return successes > trials ? NAN : 1;
    return kg_beta_quantile(confidence, (double)successes + 1, (double)(trials - successes));
}
