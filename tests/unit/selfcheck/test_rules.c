/* test_rules.c -- other gates' rules: against SciPy 1.10.1 and R 4.2.2, whose calls stand beside the figures, and by
 * hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

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

/* Standard deviations of 1% and 3%: the smaller one is the noise, and the sides swapped, faster is not slower. */
static void means_over_noise(void **state)
{
    static const double steady[] = { 9.9, 10, 10.1 }, slow[] = { 9.82, 10.12, 10.42 }, fine[] = { 9.78, 10.08, 10.38 };
    (void)state;
    assert_true(kg_rule_noise(SAMPLES(steady), SAMPLES(slow)));
    assert_false(kg_rule_noise(SAMPLES(steady), SAMPLES(fine)));
    assert_false(kg_rule_noise(SAMPLES(slow), SAMPLES(steady)));
}

static bool says(const char *name, const struct kg_rule_data *data)
{
    for (int i = 0; i < KG_RULES; i++)
        if (!strcmp(kg_rules[i].name, name))
            return kg_rule_says_slow(i, data, 2);
    fail_msg("no rule %s", name);
    return false;
}

/* Each at its own threshold, on p50s of 10 and of what is given. */
static void rules_at_their_thresholds(void **state)
{
    static const double golden[] = { 10, 12, 8 };
    static const struct {
        double us[2];
        bool one, sglang, helion, torchbench;
    } rows[] = {
        { { 10.1, 10.1 }, false, false, false, false }, { { 10.3, 9 }, true, false, false, false },
        { { 10.6, 9 }, true, true, false, false },      { { 11.6, 11.4 }, true, true, false, false },
        { { 11.6, 11.6 }, true, true, true, false },    { { 13.1, 9 }, true, true, false, true },
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct kg_rule_data data = { SAMPLES(golden), SAMPLES(rows[i].us), SAMPLES(golden), SAMPLES(golden) };
        assert_int_equal(says("one p50 against one", &data), rows[i].one);
        assert_int_equal(says("one median (SGLang's draft)", &data), rows[i].sglang);
        assert_int_equal(says("two points (Helion)", &data), rows[i].helion);
        assert_int_equal(says("one median (TorchBench)", &data), rows[i].torchbench);
        assert_false(says("mean over noise (nvbench)", &data));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_as_scipy),
        cmocka_unit_test(ranks_of_many),
        cmocka_unit_test(ranks_of_nothing),
        cmocka_unit_test(medians),
        cmocka_unit_test(means_until_they_are_steady),
        cmocka_unit_test(means_over_noise),
        cmocka_unit_test(rules_at_their_thresholds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
