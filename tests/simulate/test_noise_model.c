/* test_noise_model.c -- deviates are normal and repeat; blocks are as noisy as their models' sources say. Seeds are
 * fixed, so nothing here fails by chance. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "measure/block.h"
#include "noise_model.h"
#include "base/stats.h"

#define BLOCKS 4000

static void within(double value, double low, double high)
{
    if (!(value >= low && value <= high))
        fail_msg("%g is not in %g to %g", value, low, high);
}

/* ---- deviates -------------------------------------------------------------------------------------------------- */

/* Shares beyond 1, 2 and 3 standard deviations: 2 * pnorm(-z) in R. All within four standard errors. */
static void deviates_are_normal(void **state)
{
    enum { COUNT = 200000 };
    static const double beyond[] = { 1, 0.3173105, 0.04550026, 0.002699796 };
    static double values[COUNT];
    double moments[5] = { 0 }, neighbours = 0, over[4] = { 0 };
    (void)state;
    kg_synthetic_normals(7, values, COUNT);
    for (int i = 0; i < COUNT; i++) {
        for (int k = 1; k < 5; k++)
            moments[k] += pow(values[i], k) / COUNT;
        for (int z = 1; z < 4; z++)
            over[z] += fabs(values[i]) > z;
        neighbours += i ? values[i] * values[i - 1] / COUNT : 0;
    }
    within(moments[1], -4 * sqrt(1.0 / COUNT), 4 * sqrt(1.0 / COUNT));
    within(moments[2], 1 - 4 * sqrt(2.0 / COUNT), 1 + 4 * sqrt(2.0 / COUNT));
    within(moments[3], -4 * sqrt(15.0 / COUNT), 4 * sqrt(15.0 / COUNT));
    within(moments[4], 3 - 4 * sqrt(96.0 / COUNT), 3 + 4 * sqrt(96.0 / COUNT));
    within(neighbours, -4 * sqrt(1.0 / COUNT), 4 * sqrt(1.0 / COUNT));
    for (int z = 1; z < 4; z++)
        within(over[z] / COUNT, beyond[z] - 4 * sqrt(beyond[z] / COUNT), beyond[z] + 4 * sqrt(beyond[z] / COUNT));
}

static void deviates_repeat(void **state)
{
    double one[8], again[8], other[8];
    (void)state;
    kg_synthetic_normals(1, one, 8);
    kg_synthetic_normals(1, again, 8);
    kg_synthetic_normals(2, other, 8);
    assert_memory_equal(one, again, sizeof one);
    for (int i = 0; i < 8; i++)
        assert_true(one[i] != other[i]);
}

/* ---- blocks ---------------------------------------------------------------------------------------------------- */

static void blocks_repeat(void **state)
{
    (void)state;
    for (size_t m = 0; m < kg_n_noise_models; m++) {
        struct kg_synthetic_session a = kg_synthetic_session_of(&kg_noise_models[m], 5), b = a;
        struct kg_synthetic_session c = kg_synthetic_session_of(&kg_noise_models[m], 6);
        struct kg_synthetic_block of_a, of_b, of_c, first;
        for (int i = 0; i < 5; i++) {
            kg_synthetic_next(&a, 3, &of_a);
            kg_synthetic_next(&b, 3, &of_b);
            kg_synthetic_next(&c, 3, &of_c);
            assert_memory_equal(&of_a, &of_b, sizeof of_a);
            assert_memory_not_equal(of_a.logs, of_c.logs, sizeof of_a.logs);
            if (i)
                assert_memory_not_equal(of_a.logs, first.logs, sizeof of_a.logs);
            first = of_a;
        }
    }
}

/* What a block yields is what runner/measure/block.c makes of such windows. */
static void yields_as_measured(void **state)
{
    (void)state;
    for (size_t m = 0; m < kg_n_noise_models; m++) {
        struct kg_synthetic_session session = kg_synthetic_session_of(&kg_noise_models[m], 5);
        struct kg_synthetic_block block;
        double ratios[KG_SYNTHETIC_TURNS];
        kg_synthetic_next(&session, 3, &block);
        assert_int_equal(KG_SYNTHETIC_TURNS % block.sets, 0);
        for (int i = 0; i < KG_SYNTHETIC_TURNS; i++)
            ratios[i] = block.logs[KG_SYNTHETIC_CASE][i] - block.logs[KG_SYNTHETIC_BASELINE][i];
        assert_true(kg_synthetic_p50(&block, KG_SYNTHETIC_ANCHOR) ==
                    kg_center_of_sets(block.logs[KG_SYNTHETIC_ANCHOR], KG_SYNTHETIC_TURNS, (size_t)block.sets));
        assert_true(kg_synthetic_ratio(&block, KG_SYNTHETIC_CASE, KG_SYNTHETIC_BASELINE) ==
                    kg_center_of_sets(ratios, KG_SYNTHETIC_TURNS, (size_t)block.sets));
    }
}

/* ---- models ---------------------------------------------------------------------------------------------------- */

/* Standard deviations in per cent, between blocks of one session and between first blocks of sessions. */
struct spread {
    double p50, ratio, against, between_p50, between_ratio, between_against;
};

static struct spread spread_of(const char *name)
{
    static double values[6][BLOCKS];
    const struct kg_noise_model *model = kg_noise_model_find(name);
    struct kg_synthetic_session session = kg_synthetic_session_of(model, 1);
    struct kg_synthetic_block block;
    assert_non_null(model);
    for (uint64_t i = 0; i < BLOCKS; i++) {
        struct kg_synthetic_session other = kg_synthetic_session_of(model, 100 + i);
        for (int k = 0; k < 2; k++) {
            kg_synthetic_next(k ? &other : &session, 3, &block);
            values[3 * k][i] = 100 * kg_synthetic_p50(&block, KG_SYNTHETIC_CASE);
            values[3 * k + 1][i] = 100 * kg_synthetic_ratio(&block, KG_SYNTHETIC_CASE, KG_SYNTHETIC_ANCHOR);
            values[3 * k + 2][i] = 100 * kg_synthetic_ratio(&block, KG_SYNTHETIC_CASE, KG_SYNTHETIC_BASELINE);
        }
    }
    double sd[6];
    for (int k = 0; k < 6; k++)
        sd[k] = kg_stats_of(values[k], BLOCKS).std;
    within(kg_stats_of(values[5], BLOCKS).mean, -5 * sd[5] / sqrt(BLOCKS), 5 * sd[5] / sqrt(BLOCKS)); /* no bias */
    return (struct spread){ sd[0], sd[1], sd[2], sd[3], sd[4], sd[5] };
}

/* The figures that the models' sources name. */
static void models_are_as_noisy_as_measured(void **state)
{
    (void)state;
    struct spread s = spread_of("white");
    within(s.p50, 0.07, 0.09);
    within(s.between_p50, 0.07, 0.09);
    within(s.against, 0.10, 0.12);
    s = spread_of("process");
    within(s.against, 0.11, 0.15);
    s = spread_of("clock");
    within(s.p50, 0.75, 1.05);
    within(s.ratio, 0.1, 0.2);
    within(s.against, 0.08, 0.14);
    s = spread_of("drift");
    within(s.between_p50, 0.15, 0.25);
    within(s.against, 0.1, 0.16);
    s = spread_of("session");
    within(s.p50, 0.07, 0.09);
    within(s.between_p50, 0.27, 0.33);
    within(s.between_ratio * sqrt(2), 0.35, 0.5); /* of two sessions */
    within(s.between_against, 0.10, 0.12);
    s = spread_of("autocorrelated");
    within(s.p50, 0.2, 0.4);
    within(s.against, 0.08, 0.2);
    s = spread_of("placement");
    within(2 * s.p50, 1.4, 1.8);
    s = spread_of("all");
    within(s.between_p50, 0.5, 1);
    within(s.against, 0.08, 0.2);
}

static void tails_are_heavy(void **state)
{
    struct kg_synthetic_session session = kg_synthetic_session_of(kg_noise_model_find("tails"), 3);
    struct kg_synthetic_block block;
    int over_1 = 0, over_4 = 0;
    (void)state;
    for (int i = 0; i < BLOCKS; i++) {
        kg_synthetic_next(&session, 2, &block);
        for (int turn = 0; turn < KG_SYNTHETIC_TURNS; turn++) {
            over_1 += block.logs[KG_SYNTHETIC_CASE][turn] > 0.01;
            over_4 += block.logs[KG_SYNTHETIC_CASE][turn] > log1p(0.04);
        }
    }
    within(over_1 / (double)(BLOCKS * KG_SYNTHETIC_TURNS), 0.04, 0.055);
    within(over_4 / (double)over_1, 0.11, 0.15); /* a Pareto tail of exponent 1.5: (1 / 4)^1.5 = 0.125 */
}

/* Windows next to each other in time are alike, those of different blocks are not: a turn's mean over the arms. */
static void neighbours_are_alike(void **state)
{
    struct kg_synthetic_session session = kg_synthetic_session_of(kg_noise_model_find("autocorrelated"), 3);
    struct kg_synthetic_block block;
    double products = 0, squares = 0, across = 0, last = 0;
    (void)state;
    for (int i = 0; i < BLOCKS; i++) {
        double turns[KG_SYNTHETIC_TURNS];
        kg_synthetic_next(&session, 2, &block);
        for (int t = 0; t < KG_SYNTHETIC_TURNS; t++)
            turns[t] = block.logs[KG_SYNTHETIC_CASE][t] + block.logs[KG_SYNTHETIC_ANCHOR][t];
        for (int t = 1; t < KG_SYNTHETIC_TURNS; t++) {
            products += turns[t] * turns[t - 1];
            squares += turns[t] * turns[t];
        }
        across += last * turns[0];
        last = turns[KG_SYNTHETIC_TURNS - 1];
    }
    within(products / squares, 0.6, 0.8); /* 0.9^2 of the machine's part, about 0.85 of the variance */
    within(across / (squares / (KG_SYNTHETIC_TURNS - 1)), -0.07, 0.07);
}

static void models_are_found_by_name(void **state)
{
    (void)state;
    for (size_t m = 0; m < kg_n_noise_models; m++) {
        assert_ptr_equal(kg_noise_model_find(kg_noise_models[m].name), &kg_noise_models[m]);
        assert_true(strlen(kg_noise_models[m].source) > 20 && kg_noise_models[m].case_us > 0);
    }
    assert_null(kg_noise_model_find("pink"));
    assert_null(kg_noise_model_find(""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(deviates_are_normal),
        cmocka_unit_test(deviates_repeat),
        cmocka_unit_test(blocks_repeat),
        cmocka_unit_test(yields_as_measured),
        cmocka_unit_test(models_are_as_noisy_as_measured),
        cmocka_unit_test(tails_are_heavy),
        cmocka_unit_test(neighbours_are_alike),
        cmocka_unit_test(models_are_found_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
