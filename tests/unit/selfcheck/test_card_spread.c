/* test_card_spread.c -- which case explains another's card best, of series made so that it is known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "selfcheck/card_spread.h"

#define CARDS KG_BESIDE_CARDS
enum { ALONE, ALIKE, APART, CASES };

static struct kg_recorded_block blocks[CASES][CARDS + 1][2];
static struct kg_series series[CASES * (CARDS + 1)];

/* Of two blocks on one card, 0.01 either way of their mean. */
static void put(struct kg_series *it, int of, int card, double log_p50, double log_ratio)
{
    static const char *const keys[] = { "a/row/alone", "a/row/alike", "a/row/apart" };
    *it = (struct kg_series){ .blocks = blocks[of][card], .n_blocks = 2 };
    (void)snprintf(it->key, sizeof it->key, "%s", keys[of]);
    (void)snprintf(it->uuid, sizeof it->uuid, "GPU-%d", card);
    for (int i = 0; i < 2; i++)
        blocks[of][card][i] =
            (struct kg_recorded_block){ .log_p50 = log_p50 + 0.02 * i - 0.01, .log_ratio = log_ratio };
}

/* `cards` each: every second one is slower, by 1% for one case and 1.1% for the other that feels alike. */
static struct kg_series_set set_of(int cards)
{
    size_t count = 0;
    for (int card = 0; card < cards; card++) {
        const double slow = card % 2;
        put(&series[count++], ALONE, card, 3 + 0.01 * slow, NAN);
        put(&series[count++], ALIKE, card, 5 + 0.011 * slow, 1 + 0.002 * slow);
        put(&series[count++], APART, card, 4 - 0.01 * slow, NAN);
    }
    return (struct kg_series_set){ .items = series, .count = count };
}

static const struct kg_card_spread *found(const struct kg_card_spread *spreads, size_t count, const char *key)
{
    for (size_t i = 0; i < count; i++)
        if (!strcmp(spreads[i].key, key))
            return &spreads[i];
    fail_msg("nothing of %s", key);
    return NULL;
}

static bool is(double value, double expected)
{
    return fabs(value - expected) < 1e-9;
}

static void what_differs_alike_is_best(void **state)
{
    struct kg_card_spread *spreads;
    const struct kg_series_set set = set_of(CARDS);
    const double half = 50 * sqrt(CARDS / (CARDS - 1.0)); /* sd in per cent of what is 0 on half of the cards, else 1 */
    const size_t count = kg_card_spreads_of(&set, &spreads);
    (void)state;
    assert_int_equal(count, CASES);
    const struct kg_card_spread *alone = found(spreads, count, "a/row/alone"),
                                *alike = found(spreads, count, "a/row/alike");
    assert_int_equal(alone->n_cards, CARDS);
    assert_string_equal(alone->beside, "a/row/alike");
    assert_string_equal(alike->beside, "a/row/alone");
    assert_true(is(alone->p50_pct, 0.01 * half) && is(alone->beside_pct, 0.001 * half));
    assert_true(isnan(alone->ratio_pct) && alone->worst_ratio_pct == 0);
    assert_true(is(alike->ratio_pct, 0.002 * half) && is(alike->worst_ratio_pct, 100 * expm1(0.002)));
    assert_true(is(found(spreads, count, "a/row/apart")->beside_pct, 0.02 * half));
    const struct kg_card_spread all = kg_card_spread_all(spreads, count);
    assert_true(is(all.p50_pct, 0.01 * half) && is(all.beside_pct, 0.001 * half) && is(all.ratio_pct, 0.002 * half));
    assert_true(all.worst_ratio_pct == alike->worst_ratio_pct && all.n_cards == CARDS);
    free(spreads);
}

static void few_cards_tell_little(void **state)
{
    struct kg_card_spread *spreads;
    struct kg_series_set set = set_of(CARDS - 1);
    size_t count = kg_card_spreads_of(&set, &spreads);
    (void)state;
    assert_true(count == CASES && !spreads[0].beside && isnan(spreads[0].beside_pct) && spreads[0].p50_pct > 0);
    free(spreads);
    set = set_of(1);
    assert_int_equal(kg_card_spreads_of(&set, &spreads), 0);
    free(spreads);
    set = set_of(CARDS + 1); /* of which the two that are alike have too few in common */
    for (size_t i = 0; i < set.count; i++)
        if (!strcmp(set.items[i].uuid, "GPU-0") && !strcmp(set.items[i].key, "a/row/alike"))
            (void)snprintf(set.items[i].uuid, sizeof set.items[i].uuid, "GPU-other");
        else if (!strcmp(set.items[i].uuid, "GPU-1") && !strcmp(set.items[i].key, "a/row/alone"))
            (void)snprintf(set.items[i].uuid, sizeof set.items[i].uuid, "GPU-another");
    count = kg_card_spreads_of(&set, &spreads);
    assert_string_equal(found(spreads, count, "a/row/alone")->beside, "a/row/apart");
    free(spreads);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_differs_alike_is_best),
        cmocka_unit_test(few_cards_tell_little),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
