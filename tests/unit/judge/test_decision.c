/* test_decision.c -- looks, intervals and answers against figures worked out by hand, then a table of decisions made by
 * another program from the rules as they are written down (data/decisions.py). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "judge/decision.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define MOST 40 /* blocks of a test */

/* Change itself, 2%: three equal blocks have a half-width of qt(0.995, 6) 0.001 sqrt(4 / 6 / 3) = 0.00174770 */
static const struct kg_criteria usual = {
    .prior = { 0.001, 4 }, .threshold_pct = 2, .floor_pct = 0.2, .max_blocks = 12
};

static struct kg_decision decide_pct(const struct kg_criteria *criteria, const double *change_pct, int n_blocks)
{
    double logs[MOST] = { 0 };
    for (int i = 0; i < n_blocks; i++)
        logs[i] = log1p(change_pct[i] / 100);
    return kg_decide(criteria, logs, n_blocks);
}

/* `n_blocks` equal blocks. */
static enum kg_answer answer_pct(const struct kg_criteria *criteria, double change_pct, int n_blocks)
{
    double blocks[MOST];
    for (int i = 0; i < n_blocks; i++)
        blocks[i] = change_pct;
    return decide_pct(criteria, blocks, n_blocks).answer;
}

static void near(double got, double wanted, double tolerance)
{
    if (!(fabs(got - wanted) <= tolerance))
        fail_msg("%.12g is not %.12g", got, wanted);
}

static void looks_at_fixed_counts(void **state)
{
    (void)state;
    static const struct {
        int first, most, n_looks, blocks[6];
    } rows[] = {
        { 3, 3, 1, { 3 } },
        { 3, 4, 2, { 3, 4 } },
        { 3, 12, 4, { 3, 6, 9, 12 } },
        { 3, 16, 6, { 3, 6, 9, 12, 15, 16 } },
        { 6, 3, 1, { 3 } },
        { 6, 5, 1, { 5 } },
        { 6, 6, 1, { 6 } },
        { 6, 7, 2, { 6, 7 } },
        { 6, 12, 3, { 6, 9, 12 } },
        { 6, 16, 5, { 6, 9, 12, 15, 16 } },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        assert_int_equal(kg_look_count(rows[i].first, rows[i].most), rows[i].n_looks);
        for (int look = 1; look <= rows[i].n_looks; look++)
            assert_int_equal(kg_look_blocks(look, rows[i].first, rows[i].most), rows[i].blocks[look - 1]);
    }
}

/* One look has all of it; else half is the first's, and the rest is shared. */
static void error_is_spent_once(void **state)
{
    (void)state;
    near(kg_look_alpha(1, 1), 0.01, 1e-15);
    near(kg_look_alpha(1, 4), 0.005, 1e-15);
    near(kg_look_alpha(2, 4), 0.005 / 3, 1e-15);
    near(kg_look_alpha(4, 4), 0.005 / 3, 1e-15);
    for (int n_looks = 1; n_looks <= kg_look_count(KG_LOOK_EVERY, KG_MAX_SET); n_looks++) {
        double sum = 0;
        for (int look = 1; look <= n_looks; look++)
            sum += kg_look_alpha(look, n_looks);
        near(sum, KG_SET_ALPHA, 1e-15);
    }
}

/* Prior 0.01 worth 4 blocks, K = 3, so 6 degrees of freedom and qt(0.995, 6) = 3.7074280. */
static void interval_by_the_formula(void **state)
{
    (void)state;
    const double equal[] = { 0.03, 0.03, 0.03 }, spread[] = { -0.01, 0, 0.01 }, golden[] = { 0.005, 0.015 };
    struct kg_criteria criteria = { .prior = { 0.01, 4 }, .threshold_pct = 2, .max_blocks = 12 };

    /* s^2 = 4 1e-4 / 6 = 6.6667e-5, se^2 = s^2 / 3, half-width 0.0174770; 100 e^0.03 sinh(0.0174770) */
    struct kg_decision decision = kg_decide(&criteria, equal, 3);
    near(decision.change_pct, 100 * expm1(0.03), 1e-9);
    near(decision.margin_pct, 1.80101535, 1e-7);

    /* Squares 2e-4: s^2 = 6e-4 / 6, se^2 = 1e-4 / 3, half-width 0.0214048 */
    decision = kg_decide(&criteria, spread, 3);
    near(decision.change_pct, 0, 1e-9);
    near(decision.margin_pct, 2.14064802, 1e-7);

    /* Golden of mean 0.01, two blocks: se^2 = 6.6667e-5 (1 / 3 + 1 / 2), half-width 0.0276336, about e^0.02 */
    criteria.golden = golden;
    criteria.n_golden = 2;
    decision = kg_decide(&criteria, equal, 3);
    near(decision.change_pct, 100 * expm1(0.02), 1e-9);
    near(decision.margin_pct, 2.81953595, 1e-7);

    /* One look only has all the error: qt(0.99, 6) = 3.1426684 */
    criteria.n_golden = 0;
    criteria.max_blocks = 3;
    decision = kg_decide(&criteria, spread, 3);
    near(decision.margin_pct, 100 * sinh(3.1426684 * sqrt(1e-4 / 3)), 1e-6);
}

/* Prior 0.01 worth 4 blocks, no golden: half-width 0.01 qt(0.995, 4) = 0.0460409 after one block. */
static void what_is_trusted_passes_at_once(void **state)
{
    (void)state;
    struct kg_criteria criteria = { .prior = { 0.01, 4 }, .threshold_pct = 5, .max_blocks = 12, .is_trusted = true };
    static const struct {
        double log;
        enum kg_answer answer, untrusted;
    } rows[] = {
        { 0.002, KG_ANSWER_PASS, KG_ANSWER_MORE },
        { 0.003, KG_ANSWER_MORE, KG_ANSWER_MORE },
        { 1, KG_ANSWER_MORE, KG_ANSWER_MORE },
        { -1, KG_ANSWER_MORE, KG_ANSWER_MORE },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        criteria.is_trusted = true;
        struct kg_decision decision = kg_decide(&criteria, &rows[i].log, 1);
        assert_int_equal(decision.answer, rows[i].answer);
        assert_int_equal(decision.wanted, decision.answer == KG_ANSWER_PASS ? 0 : 3);
        near(decision.margin_pct, 100 * exp(rows[i].log) * sinh(0.0460409), 1e-4 * exp(rows[i].log));
        criteria.is_trusted = false;
        assert_int_equal(kg_decide(&criteria, &rows[i].log, 1).answer, rows[i].untrusted);
    }
    const double then_slow[] = { 0, 1, 1 }; /* later blocks change nothing */
    criteria.is_trusted = true;
    assert_int_equal(kg_decide(&criteria, then_slow, 3).answer, KG_ANSWER_PASS);
    assert_int_equal(kg_decide(&criteria, then_slow, 0).answer, KG_ANSWER_MORE);
}

static void clear_answers(void **state)
{
    (void)state;
    assert_int_equal(answer_pct(&usual, 0, 3), KG_ANSWER_PASS);
    assert_int_equal(answer_pct(&usual, 1.82, 3), KG_ANSWER_PASS); /* upper bound 1.998 */
    assert_int_equal(answer_pct(&usual, 1.83, 3), KG_ANSWER_MORE); /* 2.008 */
    assert_int_equal(answer_pct(&usual, 1.99, 3), KG_ANSWER_MORE);
    assert_int_equal(answer_pct(&usual, -2.17, 3), KG_ANSWER_PASS); /* upper bound -1.999 */
    assert_int_equal(answer_pct(&usual, -2.18, 3), KG_ANSWER_FAST); /* -2.009 */
    assert_int_equal(answer_pct(&usual, -50, 3), KG_ANSWER_FAST);
    const double wild[] = { 0, 0, 6 };
    assert_int_equal(decide_pct(&usual, wild, 3).answer, KG_ANSWER_MORE);
}

/* A set that says SLOW is only an alarm; the second is looked at after six. */
static void slow_is_said_twice(void **state)
{
    (void)state;
    const double blocks[] = { 2.01, 2.01, 2.01, 3, 3, 3, 3, 3, 3 };
    struct kg_decision decision = decide_pct(&usual, blocks, 3);
    assert_int_equal(decision.answer, KG_ANSWER_MORE);
    assert_int_equal(decision.alarm_blocks, 3);
    assert_int_equal(decision.wanted, 9);
    assert_int_equal(decision.look, 0);
    near(decision.alarm_pct, 2.01, 1e-9);
    near(decision.change_pct, 2.01, 1e-9); /* all there is to show */
    decision = decide_pct(&usual, blocks, 8);
    assert_int_equal(decision.answer, KG_ANSWER_MORE);
    assert_int_equal(decision.wanted, 9);
    assert_int_equal(decision.look, 0);
    near(decision.change_pct, 3, 1e-9);
    decision = decide_pct(&usual, blocks, 9);
    assert_int_equal(decision.answer, KG_ANSWER_SLOW);
    assert_int_equal(decision.wanted, 0);
    assert_int_equal(decision.alarm_blocks, 3);
    assert_int_equal(decision.n_blocks, 6);
    near(decision.change_pct, 3, 1e-9);
    /* Half of the error at its first look of three: qt(0.995, 9) = 3.2498355; s^2 = 4 / 9 1e-6 */
    near(decision.margin_pct, 103 * sinh(3.2498355 * 0.001 * sqrt(4 / 9.0 / 6)), 1e-6);

    struct kg_criteria one_look = usual; /* then three must do */
    one_look.max_blocks = 3;
    assert_int_equal(decide_pct(&one_look, blocks, 3).wanted, 6);
    decision = decide_pct(&one_look, blocks, 6);
    assert_int_equal(decision.answer, KG_ANSWER_SLOW);
    assert_int_equal(decision.n_blocks, 3);
}

static void alarm_that_is_not_confirmed(void **state)
{
    (void)state;
    const double settled[] = { 3, 3, 3, 0, 0, 0, 0, 0, 0 };
    const double doubt[] = { 3, 3, 3, 1.96, 1.96, 1.96, 1.96, 1.96, 1.96, 1.96, 1.96, 1.96, 9, 9 };
    struct kg_decision decision = decide_pct(&usual, settled, 9);
    assert_int_equal(decision.answer, KG_ANSWER_PASS);
    assert_int_equal(decision.alarm_blocks, 3);
    near(decision.alarm_pct, 3, 1e-9);
    near(decision.change_pct, 0, 1e-9);
    /* The second set has looks of its own: half-widths of 0.00083911 at 6 of its blocks, and at 9, by qt(0.9975, 12)
     * = 3.4284442, of 0.00065981. Neither is under 0.04. */
    decision = decide_pct(&usual, doubt, 9);
    assert_int_equal(decision.answer, KG_ANSWER_MORE);
    assert_int_equal(decision.wanted, 12);
    assert_int_equal(decision.look, 1);
    decision = decide_pct(&usual, doubt, 14);
    assert_int_equal(decision.answer, KG_ANSWER_MORE);
    assert_int_equal(decision.wanted, 15);
    assert_int_equal(decision.look, 2);
    near(decision.margin_pct, 101.96 * sinh(3.4284442 * 0.001 * sqrt(4 / 12.0 / 9)), 1e-6);
    struct kg_criteria wider = usual;
    wider.threshold_pct = 2.04;
    assert_int_equal(decide_pct(&wider, doubt, 11).answer, KG_ANSWER_MORE);
    assert_int_equal(decide_pct(&wider, doubt, 12).answer, KG_ANSWER_PASS);
}

/* The alarm is not of the first look: the second set starts right behind it. */
static void alarm_of_a_later_look(void **state)
{
    (void)state;
    const double blocks[] = { 1.9, 1.9, 1.9, 2.4, 2.4, 2.4, 4, 4, 4, 4, 4, 4 };
    struct kg_decision decision = decide_pct(&usual, blocks, 12);
    assert_int_equal(decision.alarm_blocks, 6);
    near(decision.alarm_pct, 100 * expm1((log(1.019) + log(1.024)) / 2), 1e-9);
    assert_int_equal(decision.answer, KG_ANSWER_SLOW);
    near(decision.change_pct, 4, 1e-9);
}

static void slow_needs_floor_and_resolution(void **state)
{
    (void)state;
    struct kg_criteria criteria = usual;
    criteria.floor_pct = 2.9; /* lower bound of +3% is 2.82, of +3.2% 3.02 */
    assert_int_equal(answer_pct(&criteria, 3, 4), KG_ANSWER_MORE);
    assert_int_equal(decide_pct(&criteria, (double[]){ 3, 3, 3 }, 3).alarm_blocks, 0);
    assert_int_equal(answer_pct(&criteria, 3.2, 9), KG_ANSWER_SLOW);
    criteria.floor_pct = 0.2;
    criteria.resolution_pct = 5.1;
    assert_int_equal(answer_pct(&criteria, 5, 9), KG_ANSWER_MORE);
    criteria.resolution_pct = 4.9;
    assert_int_equal(answer_pct(&criteria, 5, 9), KG_ANSWER_SLOW);
    criteria.resolution_pct = NAN;
    assert_int_equal(answer_pct(&criteria, 5, 9), KG_ANSWER_MORE);
}

static void rounds_run_out(void **state)
{
    (void)state;
    double blocks[MOST];
    for (int i = 0; i < MOST; i++)
        blocks[i] = i < 3 ? 3 : i % 2 ? 0 : 4; /* an alarm, then about 2% and wild */
    struct kg_decision decision = decide_pct(&usual, blocks, 14);
    assert_int_equal(decision.wanted, 15);
    decision = decide_pct(&usual, blocks, 15);
    assert_int_equal(decision.answer, KG_ANSWER_MORE);
    assert_int_equal(decision.wanted, 0);
    assert_int_equal(decision.n_blocks, 12);
    assert_int_equal(decision.look, 3);
    decision = decide_pct(&usual, blocks + 3, 12);
    assert_int_equal(decision.answer, KG_ANSWER_MORE);
    assert_int_equal(decision.wanted, 0);
    assert_int_equal(decision.alarm_blocks, 0);
}

static void few_blocks_do_not_decide(void **state)
{
    (void)state;
    const double slow[] = { 100, 100, 100 };
    struct kg_decision decision = decide_pct(&usual, slow, 0);
    assert_int_equal(decision.answer, KG_ANSWER_MORE);
    assert_int_equal(decision.wanted, 3);
    assert_true(isnan(decision.change_pct) && isnan(decision.margin_pct));
    decision = decide_pct(&usual, slow, 2);
    assert_int_equal(decision.answer, KG_ANSWER_MORE);
    assert_int_equal(decision.wanted, 3);
    near(decision.change_pct, 100, 1e-9);
    assert_true(decision.margin_pct > 0);
}

/* 1.9 ± noise: twelve blocks do not decide. Of 32 in all six are left for a second set, so looks come at 15, 18, … 26.
 */
static void undecided_goes_on_where_there_is_room(void **state)
{
    (void)state;
    struct kg_criteria roomy = usual;
    double blocks[MOST];
    for (int i = 0; i < MOST; i++)
        blocks[i] = i % 2 ? 2.3 : 1.5;
    roomy.room = 32;
    struct kg_decision decision = decide_pct(&usual, blocks, 12);
    assert_true(decision.answer == KG_ANSWER_MORE && decision.wanted == 0 && !decision.extra);
    decision = decide_pct(&roomy, blocks, 11);
    assert_true(decision.wanted == 12 && !decision.extra);
    static const int looks[] = { 15, 18, 21, 24, 26, 0 };
    for (size_t i = 0, n = 12; i < COUNT(looks); n = (size_t)looks[i++]) {
        decision = decide_pct(&roomy, blocks, (int)n);
        assert_true(decision.answer == KG_ANSWER_MORE && decision.wanted == looks[i]);
        assert_int_equal(decision.extra, looks[i] != 0);
    }
    for (int i = 12; i < MOST; i++)
        blocks[i] = 1;
    assert_int_equal(decide_pct(&roomy, blocks, 14).answer, KG_ANSWER_MORE);
    decision = decide_pct(&roomy, blocks, 26);
    assert_true(decision.answer == KG_ANSWER_PASS && decision.n_blocks > 12);
    for (int i = 12; i < MOST; i++)
        blocks[i] = 4; /* a late alarm, and six more that confirm it */
    decision = decide_pct(&roomy, blocks, 32);
    assert_true(decision.answer == KG_ANSWER_SLOW && decision.alarm_blocks > 12);
    assert_true(decision.n_blocks >= 6 && decision.alarm_blocks + decision.n_blocks <= 32);
}

/* Never an answer, and no call for more: no further block mends it. */
static void unusable_values_never_pass(void **state)
{
    (void)state;
    const double unusable[] = { NAN, INFINITY, -INFINITY };
    for (size_t i = 0; i < COUNT(unusable); i++) {
        const double blocks[] = { 0, unusable[i], 0, 0 }, late[] = { 0, 0, 0, unusable[i] };
        struct kg_decision decision = kg_decide(&usual, blocks, 4);
        assert_int_equal(decision.answer, KG_ANSWER_MORE);
        assert_int_equal(decision.wanted, 0);
        assert_true(isnan(decision.change_pct) && isnan(decision.margin_pct));
        assert_int_equal(kg_decide(&usual, late, 4).answer, KG_ANSWER_PASS); /* decided before it */
        const double golden[] = { 0, unusable[i] }, good[] = { 0, 0, 0 };
        struct kg_criteria criteria = usual;
        criteria.golden = golden;
        criteria.n_golden = 2;
        assert_int_equal(kg_decide(&criteria, good, 3).answer, KG_ANSWER_MORE);
        criteria = usual;
        criteria.prior.sd = unusable[i];
        assert_int_equal(kg_decide(&criteria, good, 3).answer, KG_ANSWER_MORE);
    }
}

struct row {
    double golden[8];
    int n_golden;
    struct kg_prior prior;
    double threshold_pct, floor_pct, resolution_pct;
    int max_blocks;
    double logs[32];
    int n_blocks;
    struct {
        enum kg_answer answer;
        double change_pct, margin_pct;
        int look, n_blocks, alarm_blocks;
        double alarm_pct;
        int wanted;
    } expected;
};

static const struct row rows[] = {
#include "data/decisions.inc"
};

static struct kg_criteria criteria_of(const struct row *row)
{
    return (struct kg_criteria){ .golden = row->golden,
                                 .n_golden = row->n_golden,
                                 .prior = row->prior,
                                 .threshold_pct = row->threshold_pct,
                                 .floor_pct = row->floor_pct,
                                 .resolution_pct = row->resolution_pct,
                                 .max_blocks = row->max_blocks };
}

static void as_the_reference_decides(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct kg_criteria criteria = criteria_of(&rows[i]);
        struct kg_decision decision = kg_decide(&criteria, rows[i].logs, rows[i].n_blocks);
        if (decision.answer != rows[i].expected.answer)
            fail_msg("row %zu: %d, not %d", i, decision.answer, rows[i].expected.answer);
        assert_int_equal(decision.look, rows[i].expected.look);
        assert_int_equal(decision.n_blocks, rows[i].expected.n_blocks);
        assert_int_equal(decision.alarm_blocks, rows[i].expected.alarm_blocks);
        assert_int_equal(decision.wanted, rows[i].expected.wanted);
        near(decision.alarm_pct, rows[i].expected.alarm_pct, 1e-7);
        if (decision.look) {
            near(decision.change_pct, rows[i].expected.change_pct, 1e-7);
            near(decision.margin_pct, rows[i].expected.margin_pct, 1e-7);
        }
    }
}

/* Blocks measured one by one: until it is decided, more are wanted, and at the count that it names something is looked
 * at; afterwards no block changes anything. */
static void replays_by_the_prefix(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct kg_criteria criteria = criteria_of(&rows[i]);
        struct kg_decision last = kg_decide(&criteria, rows[i].logs, rows[i].n_blocks);
        int needed = last.wanted ? rows[i].n_blocks + 1 : last.alarm_blocks + last.n_blocks;
        for (int n = 0; n <= rows[i].n_blocks; n++) {
            struct kg_decision decision = kg_decide(&criteria, rows[i].logs, n);
            if (n < needed) {
                assert_int_equal(decision.answer, KG_ANSWER_MORE);
                assert_in_range(decision.wanted, n + 1, 2 * rows[i].max_blocks);
            } else {
                assert_memory_equal(&decision, &last, sizeof last);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(looks_at_fixed_counts),
        cmocka_unit_test(error_is_spent_once),
        cmocka_unit_test(interval_by_the_formula),
        cmocka_unit_test(what_is_trusted_passes_at_once),
        cmocka_unit_test(clear_answers),
        cmocka_unit_test(slow_is_said_twice),
        cmocka_unit_test(alarm_that_is_not_confirmed),
        cmocka_unit_test(alarm_of_a_later_look),
        cmocka_unit_test(slow_needs_floor_and_resolution),
        cmocka_unit_test(rounds_run_out),
        cmocka_unit_test(few_blocks_do_not_decide),
        cmocka_unit_test(undecided_goes_on_where_there_is_room),
        cmocka_unit_test(unusable_values_never_pass),
        cmocka_unit_test(as_the_reference_decides),
        cmocka_unit_test(replays_by_the_prefix),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
