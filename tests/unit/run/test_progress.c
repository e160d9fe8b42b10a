/* test_progress.c -- the estimate of the time left, and how it is said. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "run/progress.h"

static void test_too_early(void **state)
{
    (void)state;
    struct kg_outlook outlook = { .done = 2, .total = 40, .round_s = 3 };
    assert_true(isnan(kg_outlook_left_s(&outlook)));
    outlook.timing = true;
    assert_true(isnan(kg_outlook_left_s(&outlook))); /* no round before it to go by */
    outlook.block_s = 0.7;
    assert_false(isnan(kg_outlook_left_s(&outlook)));
}

static void test_round(void **state)
{
    (void)state;
    const struct kg_outlook outlook = { .done = 10, .total = 40, .round_s = 5, .timing = true, .block_s = 9 };
    assert_float_equal(kg_outlook_left_s(&outlook), 15, 1e-9); /* its own mean, not that of earlier rounds */
    const struct kg_outlook begun = { .done = 1, .total = 40, .round_s = 5, .timing = true, .block_s = 2 };
    assert_float_equal(kg_outlook_left_s(&begun), 78, 1e-9);
    const struct kg_outlook over = { .done = 40, .total = 40, .round_s = 20, .timing = true };
    assert_float_equal(kg_outlook_left_s(&over), 0, 1e-9);
}

static void test_later_rounds(void **state)
{
    (void)state;
    const struct kg_outlook timing = { .done = 10, .total = 40, .round_s = 5, .timing = true, .later = 80 };
    assert_float_equal(kg_outlook_left_s(&timing), 15 + 40, 1e-9);
    const struct kg_outlook correctness = { .done = 10, .total = 40, .round_s = 20, .later = 120 };
    assert_float_equal(kg_outlook_left_s(&correctness), 60 + 120 * 0.5, 1e-9); /* a block is no comparison */
}

static void test_words(void **state)
{
    static const struct {
        double left_s;
        const char *words;
    } cases[] = {
        { 0, "about 5 s left" },          { 12, "about 10 s left" },        { 57.4, "about 55 s left" },
        { 57.6, "about 1 min left" },     { 130, "about 2 min 10 s left" }, { 3594, "about 59 min 50 s left" },
        { 3596, "about 1 h 0 min left" }, { 7500, "about 2 h 5 min left" },
    };
    char text[64];
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kg_outlook_say(cases[i].left_s, text, sizeof text);
        assert_string_equal(text, cases[i].words);
    }
    kg_outlook_say(NAN, text, sizeof text);
    assert_string_equal(text, "");
    kg_outlook_say(INFINITY, text, sizeof text);
    assert_non_null(strstr(text, " h "));
}

/* The rounds of timing give the next one its mean; correctness does not. */
static void test_rounds(void **state)
{
    static const struct kg_result results[4];
    struct kg_progress progress = { .results = results };
    (void)state;
    kg_progress_begin(&progress, "correctness", false, 4, 12);
    for (size_t i = 0; i < 4; i++)
        kg_progress_step(&progress, i, KG_DONE);
    kg_progress_end(&progress);
    kg_progress_begin(&progress, "round 1", true, 4, 8);
    assert_true(progress.outlook.done == 0 && progress.outlook.later == 8);
    assert_float_equal(progress.outlook.block_s, 0, 0);
    kg_progress_step(&progress, 0, KG_TIMING); /* begun, not done */
    kg_progress_step(&progress, 0, KG_DONE);
    progress.began_s -= 6;
    kg_progress_end(&progress);
    kg_progress_begin(&progress, "round 2", true, 4, 4);
    assert_float_equal(progress.outlook.block_s, 6, 0.5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_too_early), cmocka_unit_test(test_round),  cmocka_unit_test(test_later_rounds),
        cmocka_unit_test(test_words),     cmocka_unit_test(test_rounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
