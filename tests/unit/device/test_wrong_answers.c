/* test_wrong_answers.c -- wrong answers on the CPU device: each is what its name says, tight gates see it, and what
 * cannot be made of a reference equals it. The CUDA device is held against this one in tests/cuda/test_device_cuda.c.
 */
#include "cpu_context.h"
#include "device/device.h"
#include "device/wrong_answers.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

enum { ROWS = 200, COLUMNS = 24, COUNT = ROWS * COLUMNS };

static float expected[COUNT];
static struct kg_comparison answers[KG_WRONGS];

/* Answers of `expected` as a tensor of these dimensions. */
static void make(int64_t rows, int64_t columns, uint64_t seed)
{
    const kg_tensor tensor = { .dtype = KG_F32, .rank = columns ? 2 : 1, .dims = { rows, columns }, .data = expected };
    const kg_gates exact = { .bad_pct = 100 };
    const struct kg_wrong_terms terms = kg_wrong_terms_of(&tensor, &tensor, NULL, &exact, seed);
    kg_error error;
    assert_int_equal(context->ops->strength(context, &terms, answers, &error), KG_OK);
}

/* Values of usual size, none of them 0. */
static void draw(void)
{
    const uint64_t key = kg_random_key(5, 0);
    for (int i = 0; i < COUNT; i++) {
        const float value = kg_random_value(key, (uint64_t)i, kg_random_scale(1));
        expected[i] = value != 0 ? value : 1;
    }
}

static bool differs(enum kg_wrong wrong)
{
    return answers[wrong].nonfinite || answers[wrong].max_abs > 0;
}

/* Is just this set of them other than the reference? */
static void differ(kg_wrong_set wanted)
{
    for (int wrong = 0; wrong < KG_WRONGS; wrong++)
        if (differs((enum kg_wrong)wrong) != (wanted >> wrong & 1))
            fail_msg("%s %s the reference", kg_wrong_names[wrong], wanted >> wrong & 1 ? "equals" : "is not");
}

#define ALL ((1u << KG_WRONGS) - 1)
#define BIT(wrong) (1u << (wrong))

static void each_is_what_its_name_says(void **state)
{
    (void)state;
    draw();
    make(ROWS, COLUMNS, 0);
    differ(ALL);
    const double rms = sqrt(answers[KG_WRONG_ZEROS].rel_l2 > 0 ? 1 : 0);
    assert_true(answers[KG_WRONG_ZEROS].rel_l2 == 1 && answers[KG_WRONG_ZEROS].bad == COUNT);
    assert_true(fabs(answers[KG_WRONG_NOISE].rel_l2 - sqrt(2)) < 0.1);
    assert_true(fabs(answers[KG_WRONG_FACTOR].rel_l2 - 0.01) < 1e-6 &&
                fabs(answers[KG_WRONG_FACTOR].slope - 1.01) < 1e-6);
    assert_true(fabs(answers[KG_WRONG_BIAS].bias - rms / 4) < 0.02 && answers[KG_WRONG_BIAS].bad == COUNT);
    assert_int_equal(answers[KG_WRONG_DROPPED_ROW].bad, COLUMNS);
    assert_int_equal(answers[KG_WRONG_SWAPPED_ROWS].bad, 2 * COLUMNS);
    assert_true(fabs(answers[KG_WRONG_SWAPPED_ROWS].bias) < 1e-15);
    assert_int_equal(answers[KG_WRONG_LARGEST_ZEROED].bad, 1);
    assert_true(answers[KG_WRONG_LARGEST_ZEROED].max_abs == answers[KG_WRONG_ZEROS].max_abs);
    assert_int_equal(answers[KG_WRONG_CUT_TAIL].bad, ROWS / 16 * COLUMNS);
    assert_true(answers[KG_WRONG_CUT_TAIL].worst_index >= COUNT - ROWS / 16 * COLUMNS);
    assert_int_equal(answers[KG_WRONG_NAN].nonfinite, 1);
    assert_true(answers[KG_WRONG_STALE_TILE].bad > 0 &&
                answers[KG_WRONG_STALE_TILE].bad <= KG_WRONG_TILE_ROWS * COLUMNS);
    assert_true(answers[KG_WRONG_STALE_TILE].worst_index >= KG_WRONG_TILE_ROWS * COLUMNS);
}

static void tight_gates_see_each(void **state)
{
    static const kg_gates tight = { .max_abs = 1e-4, .mean_abs = 1, .bad_abs = 1, .bad_pct = 100, .rel_l2 = INFINITY };
    (void)state;
    draw();
    for (uint64_t seed = 0; seed < 20; seed++) {
        make(ROWS, COLUMNS, seed);
        for (int wrong = 0; wrong < KG_WRONGS; wrong++)
            assert_false(kg_gate_marks_all(kg_comparison_mark(&answers[wrong], &tight)));
    }
}

/* Rows are drawn; the same seed draws the same. */
static void seeds_draw_rows(void **state)
{
    (void)state;
    draw();
    make(ROWS, COLUMNS, 0);
    const uint64_t first = answers[KG_WRONG_DROPPED_ROW].worst_index / COLUMNS;
    int others = 0;
    for (uint64_t seed = 1; seed < 10; seed++) {
        make(ROWS, COLUMNS, seed);
        others += answers[KG_WRONG_DROPPED_ROW].worst_index / COLUMNS != first;
        assert_int_equal(answers[KG_WRONG_DROPPED_ROW].bad, COLUMNS);
        assert_int_equal(answers[KG_WRONG_SWAPPED_ROWS].bad, 2 * COLUMNS);
        const uint64_t in_tile = answers[KG_WRONG_STALE_TILE].bad;
        assert_true(in_tile == KG_WRONG_TILE_ROWS * COLUMNS || in_tile == ROWS % KG_WRONG_TILE_ROWS * COLUMNS);
    }
    assert_true(others > 5);
    make(ROWS, COLUMNS, 0);
    assert_int_equal(answers[KG_WRONG_DROPPED_ROW].worst_index / COLUMNS, first);
}

static void equal_rows_cannot_be_exchanged(void **state)
{
    (void)state;
    for (int i = 0; i < COUNT; i++)
        expected[i] = 1;
    make(ROWS, COLUMNS, 3);
    differ(ALL & ~BIT(KG_WRONG_SWAPPED_ROWS) & ~BIT(KG_WRONG_STALE_TILE));
    expected[COUNT / 2] = 1.0001f; /* the reference's rounding makes no row another */
    make(ROWS, COLUMNS, 3);
    differ(ALL & ~BIT(KG_WRONG_SWAPPED_ROWS) & ~BIT(KG_WRONG_STALE_TILE));
}

/* Wherever the one row lies that differs, it is found; so is the one tile. */
static void the_row_that_differs_is_found(void **state)
{
    (void)state;
    for (int row = 0; row < ROWS; row += 7) {
        for (int i = 0; i < COUNT; i++)
            expected[i] = i / COLUMNS == row && i % COLUMNS == 5 ? 2 : 1;
        make(ROWS, COLUMNS, (uint64_t)row);
        differ(ALL);
    }
}

static void all_that_is_not_zero_is_found(void **state)
{
    (void)state;
    for (int i = 0; i < COUNT; i++)
        expected[i] = i == 7 ? 1e-30f : 0;
    make(ROWS, COLUMNS, 1);
    differ(ALL);
    expected[7] = 0;
    make(ROWS, COLUMNS, 1);
    differ(BIT(KG_WRONG_NAN));
}

/* Of one row, elements stand for rows; of one element nothing can be exchanged. */
static void one_row_and_one_element(void **state)
{
    (void)state;
    draw();
    make(1, COLUMNS, 2);
    differ(ALL);
    assert_int_equal(answers[KG_WRONG_DROPPED_ROW].bad, 1);
    assert_int_equal(answers[KG_WRONG_SWAPPED_ROWS].bad, 2);
    make(COUNT, 0, 2);
    differ(ALL);
    assert_int_equal(answers[KG_WRONG_SWAPPED_ROWS].bad, 2);
    make(1, 1, 2);
    differ(ALL & ~BIT(KG_WRONG_SWAPPED_ROWS) & ~BIT(KG_WRONG_STALE_TILE));
    make(0, COLUMNS, 2);
    differ(0);
    make(2, 3, 2);
    differ(ALL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_is_what_its_name_says),
        cmocka_unit_test(tight_gates_see_each),
        cmocka_unit_test(seeds_draw_rows),
        cmocka_unit_test(equal_rows_cannot_be_exchanged),
        cmocka_unit_test(the_row_that_differs_is_found),
        cmocka_unit_test(all_that_is_not_zero_is_found),
        cmocka_unit_test(one_row_and_one_element),
    };
    return cmocka_run_group_tests(tests, open_device, close_device);
}
