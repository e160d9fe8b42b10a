/* test_stats.c -- statistics against values worked out by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "base/stats.h"

#define assert_near(value, wanted) assert_true(fabs((value) - (wanted)) <= 1e-12 * fabs(wanted))

static void nothing_is_all_zero(void **state)
{
    (void)state;
    struct kg_stats stats = kg_stats_of(NULL, 0);
    assert_int_equal(stats.count, 0);
    assert_true(stats.mean == 0 && stats.std == 0 && stats.min == 0 && stats.p50 == 0 && stats.p99 == 0 &&
                stats.max == 0);
    assert_true(isnan(kg_median(NULL, 0)));
    assert_true(isnan(kg_percentile_sorted(NULL, 0, 50)));
}

static void one_sample_is_every_percentile(void **state)
{
    (void)state;
    double one = 7.5;
    struct kg_stats stats = kg_stats_of(&one, 1);
    assert_true(stats.mean == 7.5 && stats.min == 7.5 && stats.p50 == 7.5 && stats.p99 == 7.5 && stats.max == 7.5);
    assert_true(stats.std == 0);
    assert_true(kg_median(&one, 1) == 7.5);
}

/* 1 to 5, shuffled: variance 10/4; position of p90 is 3.6, so 4 + 0.6. */
static void known_set(void **state)
{
    (void)state;
    double samples[] = { 4, 1, 5, 2, 3 };
    struct kg_stats stats = kg_stats_of(samples, 5);
    assert_int_equal(stats.count, 5);
    assert_near(stats.mean, 3.0);
    assert_near(stats.std, sqrt(2.5));
    assert_near(stats.min, 1.0);
    assert_near(stats.p50, 3.0);
    assert_near(stats.p90, 4.6);
    assert_near(stats.p95, 4.8);
    assert_near(stats.p99, 4.96);
    assert_near(stats.max, 5.0);
    assert_true(samples[0] == 4 && samples[4] == 3); /* the caller's order stays */
}

static void median_of_even_count_is_between(void **state)
{
    (void)state;
    double values[] = { 10, 1, 2, 4 };
    assert_near(kg_median(values, 4), 3.0);
}

static void an_eighth_is_cut_at_either_end(void **state)
{
    (void)state;
    const double samples[] = { 7, 900, 2, 3, 4, 5, 6, 1, -800 };
    assert_near(kg_trimmed_mean(samples, 9), 4.0); /* two at either end: 2 to 6 */
    assert_near(kg_trimmed_mean(samples, 8), 4.5); /* one: 2 to 7 */
    assert_near(kg_trimmed_mean(samples, 2), 453.5);
    assert_true(isnan(kg_trimmed_mean(samples, 0)));
}

static void percentile_ends_and_bad_p(void **state)
{
    (void)state;
    double sorted[] = { 1, 2, 4, 8 };
    assert_near(kg_percentile_sorted(sorted, 4, 0), 1.0);
    assert_near(kg_percentile_sorted(sorted, 4, 100), 8.0);
    assert_near(kg_percentile_sorted(sorted, 4, 75), 5.0); /* position 2.25: 4 + 0.25 * 4 */
    assert_true(isnan(kg_percentile_sorted(sorted, 4, -1)));
    assert_true(isnan(kg_percentile_sorted(sorted, 4, 100.5)));
    assert_true(isnan(kg_percentile_sorted(sorted, 4, NAN)));
}

/* Naive sums of squares would lose all digits here. */
static void std_of_large_close_values(void **state)
{
    (void)state;
    double samples[] = { 1e9 + 1, 1e9 + 2, 1e9 + 3 };
    assert_near(kg_stats_of(samples, 3).std, 1.0);
}

static void nan_is_not_dropped(void **state)
{
    (void)state;
    double samples[] = { NAN, 1, 3, NAN, 2 };
    struct kg_stats stats = kg_stats_of(samples, 5);
    assert_true(isnan(stats.mean) && isnan(stats.std) && isnan(stats.max) && isnan(stats.p99));
    assert_near(stats.min, 1.0);
    assert_near(stats.p50, 3.0); /* NaN sorts last: 1 2 3 NaN NaN */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_all_zero),
        cmocka_unit_test(one_sample_is_every_percentile),
        cmocka_unit_test(known_set),
        cmocka_unit_test(median_of_even_count_is_between),
        cmocka_unit_test(an_eighth_is_cut_at_either_end),
        cmocka_unit_test(percentile_ends_and_bad_p),
        cmocka_unit_test(std_of_large_close_values),
        cmocka_unit_test(nan_is_not_dropped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
