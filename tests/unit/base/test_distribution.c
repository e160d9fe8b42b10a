/* test_distribution.c -- against R 4.2.2, whose calls stand beside the figures; SciPy 1.10.1 (special.betainc,
 * betaincinv, stats.t.ppf) agrees to nine digits at least. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "base/stats.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static void near(double got, double wanted, double relative)
{
    if (!(fabs(got - wanted) <= relative * fabs(wanted)))
        fail_msg("%.17g is not %.17g", got, wanted);
}

/* pbeta(p, a, b) and qbeta(p, a, b) */
static void beta(void **state)
{
    (void)state;
    static const struct {
        double p, a, b, cdf, quantile;
    } rows[] = {
        { 0.3, 2, 5, 0.5798250000000001, 0.1818034713189491 },
        { 0.5, 0.5, 0.5, 0.5, 0.5 },
        { 0.01, 3, 0.5, 3.136789554472437e-07, 0.3038740517960781 },
        { 0.9, 10, 20, 0.9999999999999593, 0.4452382878629176 },
        { 0.999, 1000, 3, 0.9194224096397952, 0.9998096750132276 },
        { 1e-6, 0.5, 0.5, 0.0006366198784709245, 2.46740110027031e-12 }, /* a quantile far from 0.5 */
        { 1e-9, 2, 300, 4.514999100010097e-14, 1.488255734139071e-07 },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        near(kg_beta_cdf(rows[i].p, rows[i].a, rows[i].b), rows[i].cdf, 1e-11);
        near(kg_beta_quantile(rows[i].p, rows[i].a, rows[i].b), rows[i].quantile, 1e-11);
    }
}

/* The quantile is the inverse of the distribution over eleven orders of magnitude of its parameters. */
static void beta_quantile_inverts(void **state)
{
    (void)state;
    for (double a = 0.05; a < 1e6; a *= 7)
        for (double b = 0.05; b < 1e6; b *= 7)
            for (double p = 0.001; p < 1; p += 0.0713) {
                double x = kg_beta_quantile(p, a, b);
                /* a neighbour of x may be as far in p as the density says, and near 1 there are few neighbours */
                double width = 4e-16 * fmax(x, 1e-300);
                double low = kg_beta_cdf(fmax(0, x - width), a, b), high = kg_beta_cdf(fmin(1, x + width), a, b);
                if (!(p >= low - 1e-8 && p <= high + 1e-8))
                    fail_msg("p %g a %g b %g: x %.17g is at %.17g to %.17g", p, a, b, x, low, high);
            }
}

static void beta_of_nonsense(void **state)
{
    (void)state;
    const double wrong[] = { 0, -1, NAN, INFINITY };
    for (size_t i = 0; i < COUNT(wrong); i++) {
        assert_true(isnan(kg_beta_cdf(0.5, wrong[i], 1)) && isnan(kg_beta_cdf(0.5, 1, wrong[i])));
        assert_true(isnan(kg_beta_quantile(0.5, wrong[i], 1)) && isnan(kg_beta_quantile(0.5, 1, wrong[i])));
        assert_true(isnan(kg_t_quantile(0.9, wrong[i])));
    }
    const double outside[] = { -0.1, 1.1, NAN };
    for (size_t i = 0; i < COUNT(outside); i++) {
        assert_true(isnan(kg_beta_cdf(outside[i], 1, 1)) && isnan(kg_beta_quantile(outside[i], 1, 1)));
        assert_true(isnan(kg_t_quantile(outside[i], 5)));
    }
    assert_true(isnan(kg_t_quantile(0, 5)) && isnan(kg_t_quantile(1, 5)));
    assert_true(kg_beta_cdf(0, 2, 3) == 0 && kg_beta_cdf(1, 2, 3) == 1);
    assert_true(kg_beta_quantile(0, 2, 3) == 0 && kg_beta_quantile(1, 2, 3) == 1);
}

/* qt(p, df) */
static void student(void **state)
{
    (void)state;
    static const struct {
        double p, df, value;
    } rows[] = {
        { 0.99, 2, 6.964556734283271 },    { 0.995, 4, 4.604094871349992 },   { 0.995, 6, 3.707428021324779 },
        { 0.9, 1, 3.077683537175254 },     { 0.6, 7.5, 0.2625018988042947 },  { 0.001, 8, -4.500790933723724 },
        { 0.9999, 1.5, 242.264098846524 }, { 0.995, 1000, 2.58075469806595 },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        near(kg_t_quantile(rows[i].p, rows[i].df), rows[i].value, 1e-11);
        near(kg_t_quantile(1 - rows[i].p, rows[i].df), -rows[i].value, 1e-11);
    }
    near(kg_t_quantile(1 - 0.005 / 3, 13), 3.583839392473232, 1e-11); /* qt(1 - .005 / 3, 13), as a later look asks */
    near(kg_t_quantile(0.75, 1), 1, 1e-14);                           /* tan(pi / 4) */
    near(kg_t_quantile(0.99, 2), 0.98 / sqrt(2 * 0.99 * 0.01), 1e-14);
    assert_true(fabs(kg_t_quantile(0.5, 3)) < 1e-8);
}

/* binom.test(x, n, alternative = "greater" and "less", conf.level)$conf.int */
static void binomial(void **state)
{
    (void)state;
    static const struct {
        size_t successes, trials;
        double confidence, lower, upper;
    } rows[] = {
        { 0, 1000, 0.95, 0, 0.002991249545095296 },
        { 0, 3000, 0.95, 0, 0.0009980790119965869 },
        { 0, 100000, 0.95, 0, 2.995687401942795e-05 },
        { 3, 100, 0.975, 0.006229971538306399, 0.08517605297427999 },
        { 297, 300, 0.95, 0.9743586069173904, 0.9972689697817929 },
        { 1, 1, 0.95, 0.05, 1 },
        { 5, 7, 0.9, 0.403820272151956, 0.9211765538398587 },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        near(kg_binomial_lower(rows[i].successes, rows[i].trials, rows[i].confidence), rows[i].lower, 1e-10);
        near(kg_binomial_upper(rows[i].successes, rows[i].trials, rows[i].confidence), rows[i].upper, 1e-10);
    }
    assert_true(kg_binomial_lower(0, 0, 0.95) == 0 && kg_binomial_upper(0, 0, 0.95) == 1);
    assert_true(isnan(kg_binomial_lower(3, 2, 0.95)) && isnan(kg_binomial_upper(3, 2, 0.95)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(beta),
        cmocka_unit_test(beta_quantile_inverts),
        cmocka_unit_test(beta_of_nonsense),
        cmocka_unit_test(student),
        cmocka_unit_test(binomial),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
