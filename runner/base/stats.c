/* stats.c -- statistics of samples; pure functions. NaN among the samples is never dropped: it sorts last and shows in
 * mean, std, max and the upper percentiles. To add a figure, extend struct kg_stats and kg_stats_of. */
#include "base/stats.h"

#include <math.h>
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
