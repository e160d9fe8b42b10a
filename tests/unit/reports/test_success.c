/* test_success.c -- the criteria of success, against values worked out by hand. A shape is a line of p50s and p90s,
 * baseline before ours. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "reports/success.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* Gains of exactly 10%, 10%, 5%; the p90s are just as good. */
static const struct kg_match won[] = { { 100, 110, 90, 110 }, { 1, 1.5, 0.9, 1 }, { 40, 44, 38, 43 } };

static void speedup_over_one_is_faster(void **state)
{
    (void)state;
    assert_true(kg_match_speedup(&(struct kg_match){ 100, 0, 80, 0 }) == 1.25);
    assert_true(kg_match_speedup(&(struct kg_match){ 80, 0, 100, 0 }) == 0.8);
    const double none[] = { 0, -1, NAN, INFINITY };
    for (size_t i = 0; i < COUNT(none); i++) {
        assert_true(isnan(kg_match_speedup(&(struct kg_match){ none[i], 0, 100, 0 })));
        assert_true(isnan(kg_match_speedup(&(struct kg_match){ 100, 0, none[i], 0 })));
    }
}

static void gains_are_of_the_baseline(void **state)
{
    (void)state;
    assert_true(kg_match_gains(&(struct kg_match){ 100, 0, 90, 0 }, 10));
    assert_true(kg_match_gains(&(struct kg_match){ 1, 0, 0.9, 0 }, 10)); /* 1 - 0.9 is under 0.1 in binary */
    assert_true(kg_match_gains(&(struct kg_match){ 0.3, 0, 0.27, 0 }, 10));
    assert_false(kg_match_gains(&(struct kg_match){ 100, 0, 90.001, 0 }, 10));
    assert_false(kg_match_gains(&(struct kg_match){ 110, 0, 100, 0 }, 10)); /* 1.10x is 9.1% less time */
    assert_false(kg_match_gains(&(struct kg_match){ 90, 0, 100, 0 }, 10));  /* the sign: this is slower */
    assert_false(kg_match_gains(&(struct kg_match){ NAN, 0, 1, 0 }, 5));
    assert_false(kg_match_gains(&(struct kg_match){ 1, 0, NAN, 0 }, 5));
    assert_false(kg_match_gains(&(struct kg_match){ INFINITY, 0, 1, 0 }, 5));
    assert_false(kg_match_gains(&(struct kg_match){ 1, 0, 0, 0 }, 5)); /* nothing takes no time */
    assert_false(kg_match_gains(&(struct kg_match){ 1, 0, -1, 0 }, 5));
}

static void found(const struct kg_match *matches, size_t count, size_t compared, size_t much, size_t some, size_t worse,
                  const char *met)
{
    static const char letters[] = { [KG_MET] = '+', [KG_NOT_MET] = '-', [KG_NOT_MEASURED] = '?' };
    const struct kg_success s = kg_success_of(matches, count);
    assert_int_equal(s.compared, compared);
    assert_int_equal(s.much, much);
    assert_int_equal(s.some, some);
    assert_int_equal(s.worse_p90, worse);
    const char got[] = { letters[s.two], letters[s.third], letters[s.p90], 0 };
    assert_string_equal(got, met);
}

static void met_on_the_edge(void **state)
{
    (void)state;
    found(won, 3, 3, 2, 3, 0, "+++");
    struct kg_match m[3] = { won[0], won[1], won[2] };
    m[2].ours_p50_us = 38.001; /* a third of 4.9975% */
    found(m, 3, 3, 2, 2, 0, "+-+");
    m[2] = won[2];
    m[1].ours_p50_us = 0.901; /* still a shape of 5% */
    found(m, 3, 3, 1, 3, 0, "-++");
    m[1].ours_p50_us = 1.1;
    found(m, 3, 3, 1, 2, 0, "--+");
    found(won, 2, 2, 2, 2, 0, "+-+"); /* the two are no third */
}

static void p90_counts_where_p50_gains(void **state)
{
    (void)state;
    struct kg_match m[4] = { won[0], won[1], won[2], { 50, 60, 49, 70 } }; /* the last gains 2%: its p90 is its own */
    found(m, 4, 4, 2, 3, 0, "+++");
    m[0].ours_p90_us = 110.001;
    found(m, 4, 4, 2, 3, 1, "++-");
    m[0].ours_p90_us = NAN;
    found(m, 4, 4, 2, 3, 1, "++-");
    m[0].ours_p90_us = 100;
    m[3] = (struct kg_match){ 50, 60, 30, 70 }; /* one shape more than needed, and worse */
    found(m, 4, 4, 3, 4, 1, "++-");
}

static void missing_shapes_leave_it_open(void **state)
{
    (void)state;
    const struct kg_match none = { NAN, NAN, NAN, NAN };
    found(NULL, 0, 0, 0, 0, 0, "--?");
    const struct kg_match all_missing[] = { none, none, none };
    found(all_missing, 3, 0, 0, 0, 0, "???");
    const struct kg_match one_missing[] = { won[0], won[2], none };
    found(one_missing, 3, 2, 1, 2, 0, "??+");
    const struct kg_match too_few_left[] = { { 10, 11, 12, 13 }, won[0], none };
    found(too_few_left, 3, 2, 1, 1, 0, "?-+");
    const struct kg_match enough[] = { won[0], won[1], won[2], none, none };
    found(enough, 5, 3, 2, 3, 0, "+++");
    const struct kg_match half[] = { won[0], won[1], { NAN, NAN, 1, 1 }, { 1, 1, NAN, NAN } };
    found(half, 4, 2, 2, 2, 0, "+?+");
}

static void one_not_met_is_enough(void **state)
{
    (void)state;
    assert_int_equal(kg_met_all((enum kg_met[]){ KG_MET, KG_MET }, 2), KG_MET);
    assert_int_equal(kg_met_all((enum kg_met[]){ KG_MET, KG_NOT_MEASURED, KG_MET }, 3), KG_NOT_MEASURED);
    assert_int_equal(kg_met_all((enum kg_met[]){ KG_NOT_MET, KG_NOT_MEASURED, KG_MET }, 3), KG_NOT_MET);
    assert_int_equal(kg_met_all((enum kg_met[]){ KG_NOT_MEASURED, KG_MET, KG_NOT_MET }, 3), KG_NOT_MET);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(speedup_over_one_is_faster),
        cmocka_unit_test(gains_are_of_the_baseline),
        cmocka_unit_test(met_on_the_edge),
        cmocka_unit_test(p90_counts_where_p50_gains),
        cmocka_unit_test(missing_shapes_leave_it_open),
        cmocka_unit_test(one_not_met_is_enough),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
