/* test_rates.c -- counts of gates, their bounds and their table. Bounds from R 4.2.2, whose calls stand beside them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "selfcheck/rates.h"

static void near(double got, double wanted)
{
    if (!(fabs(got - wanted) <= 1e-9 * fabs(wanted)))
        fail_msg("%.17g is not %.17g", got, wanted);
}

static void answers_are_counted(void **state)
{
    const struct kg_decision decisions[] = {
        { .answer = KG_ANSWER_SLOW, .n_blocks = 3, .alarm_blocks = 6 },
        { .answer = KG_ANSWER_PASS, .n_blocks = 3 },
        { .answer = KG_ANSWER_PASS, .n_blocks = 9, .alarm_blocks = 3 }, /* an alarm that was not confirmed */
        { .answer = KG_ANSWER_FAST, .n_blocks = 3 },
        { .answer = KG_ANSWER_MORE, .n_blocks = 12 },
        { .answer = KG_ANSWER_MORE, .n_blocks = 12, .alarm_blocks = 12 },
    };
    struct kg_rate rate = { 0 };
    (void)state;
    for (size_t i = 0; i < sizeof decisions / sizeof *decisions; i++)
        kg_rate_add(&rate, &decisions[i]);
    assert_true(rate.slow == 1 && rate.pass == 2 && rate.fast == 1 && rate.unsure == 2);
    assert_int_equal(rate.unconfirmed, 2);
    assert_int_equal(rate.blocks, 9 + 3 + 12 + 3 + 12 + 24);
    assert_int_equal(kg_rate_gates(&rate), 6);
    kg_rate_add_call(&rate, true, 1);
    kg_rate_add_call(&rate, false, 2);
    assert_true(rate.slow == 2 && rate.pass == 3 && rate.blocks == 66);
    near(kg_rate_slow_pct(&rate), 25);
}

static void bounds_as_r(void **state)
{
    const struct kg_rate none = { 0 };
    (void)state;
    near(kg_rate_upper_pct(&(struct kg_rate){ .pass = 1000 }), 0.29912495451);                /* qbeta(.95, 1, 1000) */
    near(kg_rate_upper_pct(&(struct kg_rate){ .pass = 99968, .slow = 32 }), 0.0429800933656); /* (.95, 33, 99968) */
    near(kg_rate_lower_pct(&(struct kg_rate){ .slow = 300 }), 99.0063918056);                 /* qbeta(.05, 300, 1) */
    near(kg_rate_lower_pct(&(struct kg_rate){ .slow = 9871, .unsure = 129 }), 98.5084666286); /* (.05, 9871, 130) */
    near(kg_rate_lower_pct(&(struct kg_rate){ .slow = 2, .fast = 8 }), 3.67714378875);        /* qbeta(.05, 2, 9) */
    assert_true(isnan(kg_rate_slow_pct(&none)));
    assert_true(kg_rate_upper_pct(&none) == 100 && kg_rate_lower_pct(&none) == 0);
}

static void counts_have_commas(void **state)
{
    char text[32];
    (void)state;
    kg_rate_count_text(0, text, sizeof text);
    assert_string_equal(text, "0");
    kg_rate_count_text(9871, text, sizeof text);
    assert_string_equal(text, "9,871");
    kg_rate_count_text(1000000, text, sizeof text);
    assert_string_equal(text, "1,000,000");
}

/* The rate and its bound: of false alarms the upper one, of power the lower. */
static void text_is(struct kg_rate rate, bool power, const char *wanted_rate, const char *wanted_bound)
{
    char text[32];
    kg_rate_pct_text(kg_rate_slow_pct(&rate), text, sizeof text);
    assert_string_equal(text, wanted_rate);
    kg_rate_pct_text(power ? kg_rate_lower_pct(&rate) : kg_rate_upper_pct(&rate), text, sizeof text);
    assert_string_equal(text, wanted_bound);
}

static void as_text(void **state)
{
    (void)state;
    text_is((struct kg_rate){ .pass = 100000 }, false, "0%", "0.0030%");
    text_is((struct kg_rate){ .pass = 99968, .slow = 32 }, false, "0.032%", "0.043%");
    text_is((struct kg_rate){ .slow = 9871, .unsure = 129 }, true, "98.7%", "98.5%");
    text_is((struct kg_rate){ .slow = 9999, .unsure = 1 }, true, "99.99%", "99.95%");
    text_is((struct kg_rate){ .slow = 999999, .unsure = 1 }, true, "99.99%", "99.99%"); /* never rounded to 100% */
    text_is((struct kg_rate){ .slow = 300 }, true, "100%", "99.00%");
}

static const struct kg_rate_row rows[] = {
    { .name = "launch",
      .judged = "golden",
      .threshold_pct = 2,
      .rates = { { .pass = 995, .unsure = 5, .unconfirmed = 2, .blocks = 3300 },
                 { 0 },
                 { 0 },
                 { .slow = 150, .pass = 150 },
                 { .slow = 300 },
                 { .slow = 40 } } },
    { .name = "memory",
      .judged = "against",
      .threshold_pct = 0.5,
      .resampled = true,
      .rates = { { .pass = 3000, .blocks = 9000 } } },
    { .name = "memory", .judged = "Mann-Whitney", .rates = { { .pass = 750, .slow = 250, .blocks = 1000 } } },
};
#define N_ROWS (sizeof rows / sizeof *rows)

/* Sizes that no row has (0.5%, 1%) have no column; a size of fewer gates than the row's others says so. */
static void as_table(void **state)
{
    static const char wanted[] = "  gates of  judged                 by  false SLOW (95% bound)  unsure  unconfirm"
                                 "ed  blocks  gates a size  +2% found     +3% found          +5% found\n"
                                 "  launch    golden                 2%      0 of 1,000 (0.30%)   0.50%           "
                                 " 2     3.3           300   50% (45)  100% (99.00)  100% (92.7) of 40\n"
                                 "  memory    against (resampled)  0.5%     0 of 3,000 (0.100%)      0%           "
                                 " 0     3.0\n"
                                 "  memory    Mann-Whitney                   250 of 1,000 (27%)      0%           "
                                 " 0     1.0\n";
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    (void)state;
    assert_non_null(out);
    kg_rates_put_table(rows, N_ROWS, out);
    assert_int_equal(fclose(out), 0);
    assert_string_equal(text, wanted);
    free(text);
}

static double real_of(const cJSON *object, const char *name)
{
    double value = 0;
    kg_error error;
    assert_int_equal(kg_json_real(object, name, &value, &error), 0);
    return value;
}

static void as_json(void **state)
{
    cJSON *array = kg_rates_to_json(rows, N_ROWS);
    (void)state;
    assert_int_equal(cJSON_GetArraySize(array), 3);
    const cJSON *first = cJSON_GetArrayItem(array, 0), *rates = cJSON_GetObjectItemCaseSensitive(first, "rates");
    assert_string_equal(cJSON_GetObjectItemCaseSensitive(first, "name")->valuestring, "launch");
    assert_string_equal(cJSON_GetObjectItemCaseSensitive(first, "judged")->valuestring, "golden");
    assert_true(cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(first, "independent")));
    near(real_of(first, "threshold_pct"), 2);
    assert_int_equal(cJSON_GetArraySize(rates), 4); /* sizes without gates are left out */
    const cJSON *same = cJSON_GetArrayItem(rates, 0), *found = cJSON_GetArrayItem(rates, 2);
    near(real_of(same, "gates"), 1000);
    near(real_of(same, "pass"), 995);
    near(real_of(same, "unsure"), 5);
    near(real_of(same, "unconfirmed_alarms"), 2);
    near(real_of(same, "blocks"), 3300);
    near(real_of(same, "slow_upper_pct"), 0.29912495451);
    assert_true(real_of(same, "slow") == 0 && real_of(same, "fast") == 0 && real_of(same, "planted_pct") == 0);
    near(real_of(found, "planted_pct"), 3);
    near(real_of(found, "slow_pct"), 100);
    near(real_of(found, "slow_lower_pct"), 99.0063918056);
    assert_true(cJSON_IsFalse(cJSON_GetObjectItemCaseSensitive(cJSON_GetArrayItem(array, 1), "independent")));
    cJSON_Delete(array);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_are_counted),
        cmocka_unit_test(bounds_as_r),
        cmocka_unit_test(counts_have_commas),
        cmocka_unit_test(as_text),
        cmocka_unit_test(as_table),
        cmocka_unit_test(as_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
