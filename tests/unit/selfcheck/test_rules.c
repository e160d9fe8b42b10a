/* test_rules.c -- other gates' rules: against SciPy 1.10.1 and R 4.2.2, whose calls stand beside the figures, and by
 * hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "selfcheck/rules.h"

#define SAMPLES(array) ((struct kg_samples){ array, sizeof(array) / sizeof *(array) })

static void near(double got, double wanted)
{
    if (!(fabs(got - wanted) <= 1e-12 * fabs(wanted)))
        fail_msg("%.17g is not %.17g", got, wanted);
}

/* scipy.stats.mannwhitneyu(x, y, method="asymptotic").pvalue, either way round;
 * wilcox.test(x, y, exact=FALSE, correct=TRUE)$p.value in R agrees to 15 digits. */
static void ranks_as_scipy(void **state)
{
    (void)state;
    static const double x[] = { 10.1, 10.3, 9.9, 10.0, 10.2, 10.4, 9.8, 10.6 };
    static const double y[] = { 10.5, 10.7, 10.2, 10.9, 10.8, 10.1 };
    static const double a[] = { 1, 2, 2, 3, 3, 3, 4, 5 }, b[] = { 2, 3, 3, 4, 4, 5, 5, 5, 6 };
    near(kg_mann_whitney_p(SAMPLES(x), SAMPLES(y)), 0.060645706683716709);
    near(kg_mann_whitney_p(SAMPLES(y), SAMPLES(x)), 0.060645706683716709);
    near(kg_mann_whitney_p(SAMPLES(a), SAMPLES(b)), 0.07608863010264956);
    near(kg_mann_whitney_p(SAMPLES(b), SAMPLES(a)), 0.07608863010264956);
    near(kg_mann_whitney_p(SAMPLES(a), SAMPLES(a)), 1);
}

/* u = 5 + 0.01 * ((i * 7) % 40), v = 5.05 + 0.01 * ((i * 11) % 37), i = 0 … 39; the same call. */
static void ranks_of_many(void **state)
{
    double u[40], v[40];
    (void)state;
    for (int i = 0; i < 40; i++) {
        u[i] = 5 + 0.01 * ((i * 7) % 40);
        v[i] = 5.05 + 0.01 * ((i * 11) % 37);
    }
    near(kg_mann_whitney_p(SAMPLES(u), SAMPLES(v)), 0.27465839790033419);
    for (int i = 0; i < 40; i++)
        v[i] += 0.1;
    assert_true(kg_rule_mann_whitney(SAMPLES(u), SAMPLES(v)));
    assert_false(kg_rule_mann_whitney(SAMPLES(v), SAMPLES(u))); /* as sure, but faster */
}

static void ranks_of_nothing(void **state)
{
    static const double equal[] = { 5, 5, 5 };
    (void)state;
    near(kg_mann_whitney_p(SAMPLES(equal), SAMPLES(equal)), 1);
    assert_true(isnan(kg_mann_whitney_p((struct kg_samples){ equal, 0 }, SAMPLES(equal))));
    assert_false(kg_rule_mann_whitney((struct kg_samples){ equal, 0 }, SAMPLES(equal)));
}

static void medians(void **state)
{
    static const double golden[] = { 10, 99, 9 }, slow[] = { 10.21, 1, 12 }, fine[] = { 10.19, 1, 12 };
    (void)state;
    assert_true(kg_rule_p50(SAMPLES(golden), SAMPLES(slow), 2));
    assert_false(kg_rule_p50(SAMPLES(golden), SAMPLES(fine), 2));
    assert_true(kg_rule_p50(SAMPLES(golden), SAMPLES(fine), 1));
}

/* Ten samples of mean 10 and standard deviation 0.047 (0.47% of it) suffice. Four of 0.11 off need n with
 * 0.0484 / (n - 1) <= 0.05^2: 21. */
static void means_until_they_are_steady(void **state)
{
    static const double steady[] = { 9.9, 10.1, 10, 10, 10, 10, 10, 10, 10, 10, 50, 50 };
    static const double slow[] = { 10.3, 10.3, 10.3, 10.3, 10.3, 10.3, 10.3, 10.3, 10.3, 10.3, 1 };
    double wide[30] = { 9.89, 10.11, 10.11, 9.89 };
    (void)state;
    for (int i = 4; i < 30; i++)
        wide[i] = 10;
    assert_int_equal(kg_rule_stdrel_count(SAMPLES(steady)), 10);
    assert_int_equal(kg_rule_stdrel_count((struct kg_samples){ steady, 4 }), 4);
    assert_int_equal(kg_rule_stdrel_count(SAMPLES(wide)), 21);
    assert_int_equal(kg_rule_stdrel_count((struct kg_samples){ wide, 20 }), 20);
    assert_true(kg_rule_stdrel(SAMPLES(steady), SAMPLES(slow), 2));
    assert_false(kg_rule_stdrel(SAMPLES(steady), SAMPLES(slow), 3.5));
    assert_false(kg_rule_stdrel(SAMPLES(slow), SAMPLES(steady), 2));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_as_scipy),
        cmocka_unit_test(ranks_of_many),
        cmocka_unit_test(ranks_of_nothing),
        cmocka_unit_test(medians),
        cmocka_unit_test(means_until_they_are_steady),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
