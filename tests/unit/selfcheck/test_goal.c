/* test_goal.c -- cells are reached by rate and by number of gates, and by nothing else. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "selfcheck/goal.h"

static struct kg_series series = { .key = "suite/shape/backend" };
static struct kg_case_noise noises[2];

/* Every cell just reached. */
static struct kg_trials good(void)
{
    struct kg_trials trials = { .cases = noises, .n_cases = 2, .n_starts = 5 };
    for (int row = 0; row < KG_TRIAL_ROWS; row++)
        (void)snprintf(trials.rows[row].judged, sizeof trials.rows[row].judged, "row %d", row);
    trials.rows[KG_ROW_GOLDEN].rates[0].pass = 1000;
    trials.rows[KG_ROW_GOLDEN].rates[5].slow = 300;
    trials.rows[KG_ROW_STEADY].rates[4] = (struct kg_rate){ .slow = 198, .unsure = 2 };
    trials.rows[KG_ROW_CARD_ALL].rates[0] = (struct kg_rate){ .slow = 5, .pass = 995 };
    trials.rows[KG_ROW_CARD_ALLOWED].rates[5] = (struct kg_rate){ .slow = 99, .pass = 1 };
    trials.rows[KG_ROW_AGAINST].rates[0].pass = 3000;
    trials.rows[KG_ROW_AGAINST].rates[4].slow = trials.rows[KG_ROW_AGAINST].rates[5].slow = 300;
    trials.rows[KG_ROW_HALF_LONG].rates[2].slow = trials.rows[KG_ROW_QUARTER_LONG].rates[1].slow = 100;
    trials.rows[KG_ROW_CARD_ALL].resampled = trials.rows[KG_ROW_CARD_ALLOWED].resampled = true;
    trials.rows[KG_ROW_GOLDEN_ALL].resampled = true;
    noises[0] = (struct kg_case_noise){ .series = &series, .clear_s = 0.5 };
    noises[1] = (struct kg_case_noise){ .series = &series, .clear_s = 1 };
    return trials;
}

static size_t count_of(const struct kg_trials *trials, enum kg_goal_state state)
{
    struct kg_goal goals[KG_MAX_GOALS];
    size_t n = kg_goals_of(trials, goals), count = 0;
    for (size_t i = 0; i < n; i++)
        count += goals[i].state == state;
    return count;
}

static void all_reached(void **state)
{
    (void)state;
    const struct kg_trials trials = good();
    assert_int_equal(count_of(&trials, KG_GOAL_REACHED), 12);
    /* against at 0.5 and 0.25%, +0.5% where the floor forbids the threshold too; +3% on another card */
    assert_int_equal(count_of(&trials, KG_GOAL_TOLD), 4);
    assert_int_equal(count_of(&trials, KG_GOAL_MISSED) + count_of(&trials, KG_GOAL_FEW), 0);
}

static void one_more_or_less_is_not(void **state)
{
    static const struct {
        enum kg_trial_row row;
        int planted;
        struct kg_rate rate;
        enum kg_goal_state state;
    } cells[] = {
        { KG_ROW_GOLDEN, 0, { .pass = 999 }, KG_GOAL_FEW },
        { KG_ROW_GOLDEN, 0, { .pass = 1000, .shared = 1 }, KG_GOAL_FEW },
        { KG_ROW_GOLDEN, 0, { .pass = 1999, .slow = 1 }, KG_GOAL_MISSED },
        { KG_ROW_GOLDEN, 5, { .slow = 299 }, KG_GOAL_FEW },
        { KG_ROW_GOLDEN, 5, { .slow = 999, .unsure = 1 }, KG_GOAL_MISSED },
        { KG_ROW_STEADY, 4, { .slow = 197, .unsure = 3 }, KG_GOAL_MISSED },
        { KG_ROW_CARD_ALL, 0, { .slow = 6, .pass = 994 }, KG_GOAL_MISSED },
        { KG_ROW_CARD_ALLOWED, 5, { .slow = 989, .pass = 11 }, KG_GOAL_MISSED },
        { KG_ROW_CARD_ALLOWED, 5, { 0 }, KG_GOAL_FEW },
        { KG_ROW_AGAINST, 0, { .pass = 2999 }, KG_GOAL_FEW },
        { KG_ROW_AGAINST, 0, { .pass = 9999, .slow = 1 }, KG_GOAL_MISSED },
        { KG_ROW_AGAINST, 4, { .slow = 300, .fast = 1 }, KG_GOAL_MISSED },
        { KG_ROW_HALF_LONG, 2, { .slow = 98, .pass = 2 }, KG_GOAL_MISSED },
        { KG_ROW_QUARTER_LONG, 1, { .slow = 99 }, KG_GOAL_FEW },
        { KG_ROW_QUARTER_LONG, 1, { .slow = 98, .unsure = 2 }, KG_GOAL_MISSED },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
        struct kg_trials trials = good();
        trials.rows[cells[i].row].rates[cells[i].planted] = cells[i].rate;
        if (count_of(&trials, cells[i].state) != 1 || count_of(&trials, KG_GOAL_REACHED) != 11)
            fail_msg("cell %zu", i);
    }
    struct kg_trials trials = good();
    trials.n_starts = 4;
    assert_int_equal(count_of(&trials, KG_GOAL_FEW), 1);
    trials = good();
    noises[1].clear_s = 1.01; /* under 2 s against */
    assert_int_equal(count_of(&trials, KG_GOAL_MISSED), 1);
}

/* Resampled gates stand in where there are few of the others, and never count as independent. */
static void resampled_gates_stand_in(void **state)
{
    (void)state;
    struct kg_goal goals[KG_MAX_GOALS];
    struct kg_trials trials = good();
    trials.rows[KG_ROW_GOLDEN].rates[5].slow = 299;
    trials.rows[KG_ROW_GOLDEN_ALL].rates[5].slow = 500;
    const size_t n = kg_goals_of(&trials, goals);
    size_t i = 0;
    while (i < n && kg_rate_gates(&goals[i].rate) != 500)
        i++;
    assert_true(i < n && goals[i].resampled && goals[i].state == KG_GOAL_REACHED);
    assert_int_equal(kg_goal_independent(&goals[i]), 0);
    assert_string_equal(goals[i].wanted, "100% of >= 300");
    assert_string_equal(goals[0].wanted, "0 of >= 1,000");
    assert_int_equal(kg_goal_independent(&goals[0]), 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_reached),
        cmocka_unit_test(one_more_or_less_is_not),
        cmocka_unit_test(resampled_gates_stand_in),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
