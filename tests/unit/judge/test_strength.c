/* test_strength.c -- which wrong answers pass, which could be honest, and what is said of the limit that would see
 * them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "judge/strength.h"

static const kg_gates wide = { .max_abs = 1, .mean_abs = 1, .bad_abs = 1, .bad_pct = 100, .rel_l2 = 10 };

/* What zeros are under a scale that hides nothing. */
static struct kg_comparison answer(double max_abs, double rel_l2, double slope)
{
    return (struct kg_comparison){ .count = 640000,
                                   .max_abs = max_abs,
                                   .mean_abs = max_abs / 10,
                                   .rel_l2 = rel_l2,
                                   .max_scaled = 1000,
                                   .scale_l2 = 1e-6,
                                   .slope_scale = 1e-9,
                                   .slope = slope };
}

/* Strength of gates under which every wrong answer is the given one; without the error scale. */
static struct kg_strength strength_of(struct kg_comparison one, const kg_gates *gates, bool scale)
{
    struct kg_comparison answers[KG_WRONGS], judged[KG_WRONGS];
    struct kg_strength strength = { .judged = false };
    for (int wrong = 0; wrong < KG_WRONGS; wrong++) {
        answers[wrong] = judged[wrong] = one;
        if (!scale)
            judged[wrong].max_scaled = judged[wrong].scale_l2 = judged[wrong].slope_scale = 0;
    }
    answers[KG_WRONG_ZEROS].nonfinite = 0;
    kg_strength_add(&strength, answers, judged, gates);
    assert_true(strength.judged);
    return strength;
}

static void says(struct kg_comparison one, const kg_gates *gates, bool scale, const char *wanted)
{
    const struct kg_strength strength = strength_of(one, gates, scale);
    char text[200] = "";
    assert_int_equal(strength.accepted, (1u << KG_WRONGS) - 1);
    kg_strength_say(&strength, 1u << KG_WRONG_FACTOR, text, sizeof text);
    assert_string_equal(text, wanted);
}

static void the_nearest_limit_is_named(void **state)
{
    static const kg_gates none = {
        .max_abs = INFINITY, .mean_abs = INFINITY, .bad_abs = INFINITY, .bad_pct = 100, .rel_l2 = INFINITY
    };
    (void)state;
    says(answer(0.05, 1, 0), &wide, false, "factor (rel_l2 0.99 would see it; suite has 10)");
    says(answer(0.5, 1, 0), &wide, false, "factor (max_abs 0.49 would see it; suite has 1)");
    says(answer(0.5, 0.01, 1.01), &none, false, "factor (rel_l2 0.0099 would see it; suite has none)");
    says(answer(0.5, INFINITY, 1), &none, false, "factor (rel_l2 1 would see it; suite has none)");
}

/* A limit over the error scale is one that an honest kernel keeps; where errors are hidden in it, a slope is. */
static void limits_over_the_scale_come_first(void **state)
{
    kg_gates gates = wide;
    (void)state;
    says(answer(0.5, 1, 0), &gates, true, "factor (scaled 990 would see it; suite has none)");
    gates.scaled = 2000;
    says(answer(0.5, 1, 0), &gates, true, "factor (scaled 990 would see it; suite has 2000)");
    struct kg_comparison hidden = answer(0.5, 0.01, 1.00999);
    hidden.max_scaled = 0.2;
    hidden.scale_l2 = 0.06;
    hidden.slope_scale = 0.06 / 800;
    says(hidden, &gates, true, "factor (slope 0.0099 would see it; suite has none)");
}

static void what_a_gate_sees_is_caught(void **state)
{
    kg_gates gates = wide;
    (void)state;
    gates.rel_l2 = 0.99;
    struct kg_strength strength = strength_of(answer(0.5, 1, 0), &gates, false);
    assert_true(strength.accepted == 0 && strength.applies == (1u << KG_WRONGS) - 1);
    struct kg_comparison nan = answer(0, 0, 1);
    nan.nonfinite = 1;
    strength = strength_of(nan, &wide, false);
    assert_true(strength.accepted == 0 && strength.applies == (1u << KG_WRONGS) - 1);
}

/* Within the scale, and in slope within what it makes of it: an honest answer may be that. */
static void what_could_be_honest_does_not_apply(void **state)
{
    (void)state;
    struct kg_comparison c = answer(0.5, 0.01, 1.007);
    c.max_scaled = 5;
    c.scale_l2 = 0.19;
    c.slope_scale = 0.19 / 800;
    assert_int_equal(strength_of(c, &wide, true).applies, 0);
    c.slope_scale = 0.19 / 2530;
    assert_int_equal(strength_of(c, &wide, true).applies, (1u << KG_WRONGS) - 1);
    c.slope_scale = 0.19 / 800;
    c.max_scaled = 9;
    assert_int_equal(strength_of(c, &wide, true).applies, (1u << KG_WRONGS) - 1);
    c = (struct kg_comparison){ .count = 10, .slope = 1 };
    assert_int_equal(strength_of(c, &wide, true).applies, 0);
    c = (struct kg_comparison){ .count = 0, .slope = 1 };
    assert_int_equal(strength_of(c, &wide, true).applies, 0);
}

/* Whatever the scale says: it may be a wrong one; and a reference of zeros tells nothing. */
static void zeros_are_no_answer_to_normal_inputs(void **state)
{
    struct kg_comparison answers[KG_WRONGS];
    struct kg_strength strength = { .normal = true };
    char text[200] = "";
    (void)state;
    for (int wrong = 0; wrong < KG_WRONGS; wrong++)
        answers[wrong] =
            (struct kg_comparison){ .count = 10, .max_abs = 0.5, .rel_l2 = 1, .scale_l2 = 1e9, .slope = 0 };
    kg_strength_add(&strength, answers, answers, &wide);
    assert_int_equal(strength.accepted, 1u << KG_WRONG_ZEROS);
    for (int wrong = 0; wrong < KG_WRONGS; wrong++)
        answers[wrong] = (struct kg_comparison){ .count = 10, .slope = 1 };
    kg_strength_add(&strength, answers, answers, &wide);
    kg_strength_say(&strength, strength.accepted, text, sizeof text);
    assert_string_equal(text, "zeros (the reference itself is)");
}

/* One output that accepts an answer is enough. */
static void outputs_add_up(void **state)
{
    struct kg_comparison seen[KG_WRONGS], passing[KG_WRONGS];
    struct kg_strength strength = { .judged = false };
    (void)state;
    for (int wrong = 0; wrong < KG_WRONGS; wrong++) {
        seen[wrong] = answer(2, 1, 0);
        passing[wrong] = answer(0.5, 1, 0);
    }
    kg_strength_add(&strength, seen, seen, &wide);
    assert_int_equal(strength.accepted, 0);
    kg_strength_add(&strength, passing, passing, &wide);
    kg_strength_add(&strength, seen, seen, &wide);
    assert_int_equal(strength.accepted, (1u << KG_WRONGS) - 1);
}

/* No answer can be told from a reference that is not finite. */
static void of_a_broken_reference_nothing_is_said(void **state)
{
    struct kg_comparison answers[KG_WRONGS];
    struct kg_strength strength = { .judged = false };
    (void)state;
    for (int wrong = 0; wrong < KG_WRONGS; wrong++) {
        answers[wrong] = answer(0.5, 1, 0);
        answers[wrong].nonfinite = 3;
    }
    kg_strength_add(&strength, answers, answers, &wide);
    assert_true(strength.judged && !strength.applies && !strength.accepted);
}

static void names(void **state)
{
    (void)state;
    for (int wrong = 0; wrong < KG_WRONGS; wrong++)
        assert_int_equal(kg_wrong_find(kg_wrong_names[wrong]), wrong);
    assert_int_equal(kg_wrong_find("zero"), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_nearest_limit_is_named),
        cmocka_unit_test(limits_over_the_scale_come_first),
        cmocka_unit_test(what_a_gate_sees_is_caught),
        cmocka_unit_test(what_could_be_honest_does_not_apply),
        cmocka_unit_test(zeros_are_no_answer_to_normal_inputs),
        cmocka_unit_test(outputs_add_up),
        cmocka_unit_test(of_a_broken_reference_nothing_is_said),
        cmocka_unit_test(names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
