/* test_result.c -- names of verdicts, figures that follow from blocks, and the test for impossible times. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "judge/result.h"

#define assert_near(value, wanted) assert_true(fabs((value) - (wanted)) <= 1e-9 * fabs(wanted))

/* 1 TFLOP/s, 1 TB/s, a cache of 1 MB. */
static const kg_device device = { .kind = KG_CUDA, .peak_flops = 1e12, .peak_bytes_per_s = 1e12, .l2_bytes = 1000000 };

static struct kg_result *result_new(int n_blocks, const double *p50s_us)
{
    struct kg_result *result = calloc(1, sizeof *result);
    result->n_blocks = n_blocks;
    result->tick_us = 0.5;
    result->work.flops = 10e6; /* 10 us at least */
    result->work.bytes = 5e6;  /* 5 us at least */
    result->work.queries = 4;
    for (int i = 0; i < n_blocks; i++) {
        struct kg_block *block = &result->blocks[i];
        block->calls = 10;
        block->p50_us = p50s_us[i];
        block->n_samples = block->n_anchor_samples = 2;
        block->samples_us = malloc(2 * sizeof *block->samples_us);
        block->anchor_samples_us = malloc(2 * sizeof *block->anchor_samples_us);
        block->samples_us[0] = p50s_us[i] - 1;
        block->samples_us[1] = p50s_us[i] + 2;
    }
    return result;
}

static void result_free(struct kg_result *result)
{
    kg_result_done(result);
    kg_result_done(result); /* a second time does nothing */
    free(result);
}

static void every_verdict_has_its_name(void **state)
{
    (void)state;
    static const char *const names[] = { "PASS",  "FAST", "XFAIL",  "SKIP",    "FAIL", "ERROR",
                                         "XPASS", "SLOW", "UNSURE", "UNGATED", "LOST", "WEAK" };
    assert_int_equal(KG_VERDICTS, sizeof names / sizeof *names);
    for (int i = 0; i < KG_VERDICTS; i++)
        assert_string_equal(kg_verdict_name((enum kg_verdict)i), names[i]);
    assert_string_equal(kg_verdict_name(KG_VERDICTS), "?");
}

/* Blocks of 20, 40, 24: the p50 is their median; not that of all samples, 19 22 23 26 39 42. */
static void figures_of_blocks(void **state)
{
    (void)state;
    struct kg_result *result = result_new(3, (double[]){ 20, 40, 24 });
    kg_result_summarise(result, &device);
    assert_int_equal(result->time_us.count, 6);
    assert_near(result->time_us.p50, 24.0);
    assert_near(result->time_us.mean, 28.5);
    assert_near(result->time_us.min, 19.0);
    assert_near(result->time_us.max, 42.0);
    assert_near(result->tflop_per_s, 10e6 / 24e-6 / 1e12);
    assert_near(result->gb_per_s, 5e6 / 24e-6 / 1e9);
    assert_near(result->queries_per_s, 4 / 24e-6);
    assert_near(result->roofline_pct, 100.0 * 10 / 24);
    assert_false(result->impossible);
    result_free(result);
}

/* The same call on codes that the device multiplies twice as fast. */
static void faster_arithmetic_raises_the_roof(void **state)
{
    (void)state;
    struct kg_result *result = result_new(1, (double[]){ 6 });
    kg_result_summarise(result, &device);
    assert_true(result->impossible);
    result->work.peak_ratio = 2;
    kg_result_summarise(result, &device);
    assert_false(result->impossible);
    assert_near(result->roofline_pct, 100.0 * 5 / 6);
    result->work.peak_ratio = 1.5;
    kg_result_summarise(result, &device);
    assert_true(result->impossible);
    result_free(result);
}

/* Memory is the nearer roof, unless the data fits in the cache. */
static void roofline_takes_the_lower_roof(void **state)
{
    (void)state;
    struct kg_result *result = result_new(1, (double[]){ 50 });
    result->work.bytes = 20e6;
    kg_result_summarise(result, &device);
    assert_near(result->roofline_pct, 40.0);
    result->work.bytes = 1e6;
    result->work.flops = 0.5e6;
    kg_result_summarise(result, &device);
    assert_near(result->roofline_pct, 1.0);
    assert_false(result->impossible);
    kg_device unknown = { .kind = KG_CPU };
    kg_result_summarise(result, &unknown);
    assert_true(result->roofline_pct == 0);
    assert_false(result->impossible);
    result_free(result);
}

static bool impossible(double p50_us, double flops, double tick_us)
{
    struct kg_result *result = result_new(1, &p50_us);
    result->work.flops = flops;
    result->tick_us = tick_us;
    kg_result_summarise(result, &device);
    bool answer = result->impossible;
    result_free(result);
    return answer;
}

static void impossible_times(void **state)
{
    (void)state;
    assert_true(impossible(9.99, 10e6, 0.5));
    assert_false(impossible(10.0, 10e6, 0.5));
    assert_true(impossible(0.04, 0, 0.5)); /* ten calls share a tick: 0.05 us each */
    assert_false(impossible(0.06, 0, 0.5));
    assert_true(impossible(0, 0, 0));
    assert_true(impossible(-1, 0, 0));
    assert_true(impossible(NAN, 0, 0));
    assert_true(impossible(INFINITY, 0, 0));
}

static void without_blocks_nothing_is_claimed(void **state)
{
    (void)state;
    struct kg_result *result = result_new(1, (double[]){ 5 });
    kg_result_summarise(result, &device);
    assert_true(result->impossible);
    kg_result_done(result);
    result->n_blocks = 0;
    kg_result_summarise(result, &device);
    assert_false(result->impossible);
    assert_true(result->time_us.count == 0 && result->time_us.p50 == 0 && result->tflop_per_s == 0);
    assert_true(result->roofline_pct == 0 && result->gb_per_s == 0 && result->queries_per_s == 0);
    result_free(result);
    kg_result_done(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_verdict_has_its_name),
        cmocka_unit_test(figures_of_blocks),
        cmocka_unit_test(faster_arithmetic_raises_the_roof),
        cmocka_unit_test(roofline_takes_the_lower_roof),
        cmocka_unit_test(impossible_times),
        cmocka_unit_test(without_blocks_nothing_is_claimed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
