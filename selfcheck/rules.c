/* rules.c -- p50 against p50, ranks of pooled samples, means of a steady measurement. A new rule is a row of kg_rules
 * below; KG_RULES and two rows of cells.h follow it. */
#include "selfcheck/rules.h"

#include <math.h>
#include <stdlib.h>

#include "base/stats.h"

bool kg_rule_p50(struct kg_samples golden, struct kg_samples now, double threshold_pct)
{
    return kg_median(now.us, now.count) > kg_median(golden.us, golden.count) * (1 + threshold_pct / 100);
}

/* ---- Mann and Whitney ------------------------------------------------------------------------------------------ */

static int ascending(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

/* A copy to free(); NULL where memory ran out. */
static struct kg_samples sorted(struct kg_samples samples)
{
    double *copy = malloc((samples.count + !samples.count) * sizeof *copy);
    for (size_t i = 0; i < samples.count && copy; i++)
        copy[i] = samples.us[i];
    if (copy)
        qsort(copy, samples.count, sizeof *copy, ascending);
    return (struct kg_samples){ copy, samples.count };
}

/* How many from `first` on are equal to the value. */
static size_t run_of(struct kg_samples sorted, size_t first, double value)
{
    size_t n = 0;
    while (first + n < sorted.count && sorted.us[first + n] == value)
        n++;
    return n;
}

/* Sum of the ranks of x among all, equal values sharing their mean rank; and the sum of t^3 - t over ties of t. */
static double rank_sum(struct kg_samples x, struct kg_samples y, double *ret_ties)
{
    double sum = 0, ties = 0;
    for (size_t i = 0, j = 0; i < x.count || j < y.count;) {
        double value = j == y.count || (i < x.count && x.us[i] < y.us[j]) ? x.us[i] : y.us[j];
        size_t of_x = run_of(x, i, value), of_y = run_of(y, j, value);
        double equal = (double)(of_x + of_y);
        sum += (double)of_x * ((double)(i + j) + (equal + 1) / 2);
        ties += equal * equal * equal - equal;
        i += of_x;
        j += of_y;
    }
    *ret_ties = ties;
    return sum;
}

/* Of sorted samples. */
static double mann_whitney(struct kg_samples golden, struct kg_samples now)
{
    const double n_x = (double)golden.count, n_y = (double)now.count, n = n_x + n_y;
    double ties = 0, u = rank_sum(golden, now, &ties) - n_x * (n_x + 1) / 2;
    double variance = n_x * n_y / 12 * (n + 1 - ties / (n * (n - 1)));
    double away = fabs(u - n_x * n_y / 2) - 0.5;
    if (golden.count == 0 || now.count == 0)
        return NAN;
    return variance > 0 ? fmin(erfc(away / sqrt(2 * variance)), 1) : 1;
}

double kg_mann_whitney_p(struct kg_samples golden, struct kg_samples now)
{
    struct kg_samples x = sorted(golden), y = sorted(now);
    double p = x.us && y.us ? mann_whitney(x, y) : NAN;
    free((void *)x.us);
    free((void *)y.us);
    return p;
}

bool kg_rule_mann_whitney(struct kg_samples golden, struct kg_samples now)
{
    struct kg_samples x = sorted(golden), y = sorted(now);
    bool slower = x.us && y.us && kg_percentile_sorted(y.us, y.count, 50) > kg_percentile_sorted(x.us, x.count, 50) &&
                  mann_whitney(x, y) < KG_RULE_ALPHA;
    free((void *)x.us);
    free((void *)y.us);
    return slower;
}

/* ---- means ----------------------------------------------------------------------------------------------------- */

/* Mean of the samples that `stdrel` takes (Welford's recurrence). */
static double stdrel_mean(struct kg_samples samples, size_t *ret_count)
{
    double mean = 0, squares = 0;
    size_t n = 0;
    while (n < samples.count) {
        double away = samples.us[n] - mean;
        mean += away / (double)++n;
        squares += away * (samples.us[n - 1] - mean);
        if (n >= KG_RULE_MIN_SAMPLES && sqrt(squares / (double)(n - 1)) <= KG_RULE_NOISE_PCT / 100 * mean)
            break;
    }
    *ret_count = n;
    return n ? mean : NAN;
}

size_t kg_rule_stdrel_count(struct kg_samples samples)
{
    size_t count;
    (void)stdrel_mean(samples, &count);
    return count;
}

bool kg_rule_stdrel(struct kg_samples golden, struct kg_samples now, double threshold_pct)
{
    size_t count;
    return stdrel_mean(now, &count) > stdrel_mean(golden, &count) * (1 + threshold_pct / 100);
}

bool kg_rule_noise(struct kg_samples golden, struct kg_samples now)
{
    const struct kg_stats was = kg_stats_of(golden.us, golden.count), is = kg_stats_of(now.us, now.count);
    return is.mean / was.mean - 1 > fmin(was.std / was.mean, is.std / is.mean);
}

/* ---- all of them ----------------------------------------------------------------------------------------------- */

/* One p50 of one process against another's. */
static bool one_p50(const struct kg_rule_data *data, double threshold_pct)
{
    return kg_rule_p50((struct kg_samples){ data->golden_p50s.us, 1 }, (struct kg_samples){ data->p50s.us, 1 },
                       threshold_pct);
}

static bool ranks(const struct kg_rule_data *data, double threshold_pct)
{
    (void)threshold_pct;
    return kg_rule_mann_whitney(data->golden_windows, data->windows);
}

static bool steady_means(const struct kg_rule_data *data, double threshold_pct)
{
    return kg_rule_stdrel(data->golden_windows, data->windows, threshold_pct);
}

/* Two points in a row over the median of earlier ones. */
static bool two_points(const struct kg_rule_data *data, double threshold_pct)
{
    return kg_rule_p50(data->golden_p50s, (struct kg_samples){ data->p50s.us, 1 }, threshold_pct) &&
           kg_rule_p50(data->golden_p50s, (struct kg_samples){ data->p50s.us + 1, 1 }, threshold_pct);
}

static bool noise(const struct kg_rule_data *data, double threshold_pct)
{
    (void)threshold_pct;
    return kg_rule_noise(data->golden_windows, data->windows);
}

const struct kg_rule kg_rules[KG_RULES] = {
    { "one p50 against one", 0, 1, one_p50 },      { "Mann-Whitney, pooled", -1, 3, ranks },
    { "mean, stdrel 0.5%", 0, 3, steady_means },   { "one median (SGLang's draft)", 5, 1, one_p50 },
    { "two points (Helion)", 15, 2, two_points },  { "one median (TorchBench)", 30, 1, one_p50 },
    { "mean over noise (nvbench)", -1, 3, noise },
};

double kg_rule_threshold_pct(int rule, double asked_pct)
{
    const double own = kg_rules[rule].threshold_pct;
    return own < 0 ? 0 : own > 0 ? own : asked_pct;
}

bool kg_rule_says_slow(int rule, const struct kg_rule_data *data, double asked_pct)
{
    return kg_rules[rule].is_slow(data, kg_rule_threshold_pct(rule, asked_pct));
}
