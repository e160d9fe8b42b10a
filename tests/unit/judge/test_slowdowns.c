/* test_slowdowns.c -- slowdowns that gates elsewhere let through: case and anchor together, and one small step after
 * another. Each is run through what blesses and judges, from the first golden on. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "judge/golden.h"
#include "judge/verdict.h"

#define BLOCKS 9 /* three to raise an alarm, six to confirm it */
#define KEY "suite/shape/fast"
#define CREEP_PCT 5
#define NO_CREEP 1e6 /* so that the golden alone judges */

static const kg_backend math = { .name = "math", .device = KG_CUDA },
                        cpu_math = { .name = "cpu_math", .device = KG_CPU };
static const kg_suite suite = {
    .name = "suite",
    .anchor = &math,
    .cpu_anchor = &cpu_math,
    .gates = { .max_abs = 0.06, .mean_abs = 0.02, .bad_abs = 0.02, .bad_pct = 1, .rel_l2 = 0.05 },
};
static const struct kg_contract contract = { "graph", "warm", 200, "irwin-hall-8" };

/* A right result whose blocks, and whose anchor's, scatter by a thousandth. */
static struct kg_result *result_new(enum kg_device_kind kind, double p50_us, double anchor_us)
{
    struct kg_result *result = calloc(1, sizeof *result);
    assert_non_null(result);
    result->of = (struct kg_case){ .suite = &suite, .kind = kind };
    result->phase = KG_DONE;
    result->compared = true;
    result->comparison = (struct kg_comparison){ .count = 100 };
    result->marks = (struct kg_gate_marks){ true, true, true, true, true, true, true, true };
    result->tick_us = 0.03;
    (void)strcpy(result->identity, "code 1");
    (void)strcpy(result->anchor_identity, "code 2");
    result->n_blocks = BLOCKS;
    result->time_us.p50 = p50_us;
    for (int i = 0; i < BLOCKS; i++) {
        const double us = p50_us * (1 + 1e-3 * (i % 3 - 1)), beside_us = anchor_us * (1 + 1e-3 * (i % 2));
        result->blocks[i] = (struct kg_block){
            .calls = 20, .p50_us = us, .anchor_p50_us = beside_us, .log_ratio = anchor_us > 0 ? log(us / beside_us) : 0
        };
    }
    return result;
}

/* As `kgate run --bless` would on this card. Takes the result. */
static void bless_on(const char *uuid, struct kg_goldens *goldens, struct kg_result *result)
{
    struct kg_provenance provenance = { .git_sha = "0123456789", .date = "2025-01-02" };
    struct kg_golden golden;
    kg_error error = { 0 };
    (void)snprintf(provenance.uuid, sizeof provenance.uuid, "%s", uuid);
    if (kg_golden_of_result(result, KEY, &contract, &provenance, &golden, &error) ||
        kg_goldens_put(goldens, &golden, false, &error))
        fail_msg("%s", error.text);
    free(result);
}

static void bless(struct kg_goldens *goldens, struct kg_result *result)
{
    bless_on("GPU-1", goldens, result);
}

/* As `kgate run` would on this card. Takes the result. */
static enum kg_verdict judge_on(const char *uuid, const struct kg_goldens *goldens, struct kg_result *result,
                                double creep_pct)
{
    const struct kg_expectation expectation = { .golden = kg_goldens_find(goldens, KEY), .device_uuid = uuid };
    result->of.policy = (struct kg_policy){
        .window_us = contract.window_us,
        .threshold_pct = result->of.kind == KG_CPU ? 10 : 2,
        .creep_pct = creep_pct,
        .max_blocks = 16,
        .timed = true,
    };
    (void)kg_verdict_decide(result, &expectation);
    enum kg_verdict verdict = result->verdict;
    free(result);
    return verdict;
}

static enum kg_verdict judge(const struct kg_goldens *goldens, struct kg_result *result, double creep_pct)
{
    return judge_on("GPU-1", goldens, result, creep_pct);
}

/* A ratio alone would read 0% every time. */
static void case_and_anchor_together(void **state)
{
    (void)state;
    for (double factor = 1.12; factor <= 10.1; factor *= 1.2) {
        struct kg_goldens gpu = { .arch = "h200" }, cpu = { .arch = "cpu" };
        bless(&gpu, result_new(KG_CUDA, 25, 50));
        gpu.items[0].quantity = KG_QUANTITY_RATIO;
        assert_int_equal(judge(&gpu, result_new(KG_CUDA, 25, 50), NO_CREEP), KG_PASS);
        assert_int_equal(judge(&gpu, result_new(KG_CUDA, 25 * factor, 50 * factor), NO_CREEP), KG_SLOW);
        bless(&cpu, result_new(KG_CPU, 25, 50));
        assert_int_equal(cpu.items[0].quantity, KG_QUANTITY_RATIO);
        assert_int_equal(judge(&cpu, result_new(KG_CPU, 25, 50), NO_CREEP), KG_PASS);
        /* A CPU's absolute time is no proof, but it is no pass either. */
        assert_int_equal(judge(&cpu, result_new(KG_CPU, 25 * factor, 50 * factor), NO_CREEP), KG_UNSURE);
        kg_goldens_done(&gpu);
        kg_goldens_done(&cpu);
    }
}

/* Nobody blesses: the golden stands, and every step is further from it. */
static void eight_steps_of_24_pct(void **state)
{
    (void)state;
    for (int kind = KG_CPU; kind <= KG_CUDA; kind++) {
        struct kg_goldens goldens = { .arch = "h200" };
        bless(&goldens, result_new(kind, 25, 50));
        for (int step = 1; step <= 8; step++)
            assert_int_equal(judge(&goldens, result_new(kind, 25 * pow(1.24, step), 50), NO_CREEP), KG_SLOW);
        kg_goldens_done(&goldens);
    }
}

/* Somebody blesses each: what runs is what was blessed, and is still over the best. The first passes the budget only
 * where its step is smaller than that. */
static void eight_steps_each_blessed(void **state)
{
    (void)state;
    for (double step_pct = 1.5; step_pct < 30; step_pct *= 2) {
        struct kg_goldens goldens = { .arch = "h200" };
        double p50_us = 25;
        bless(&goldens, result_new(KG_CUDA, p50_us, 50));
        for (int step = 1; step <= 8; step++) {
            p50_us *= 1 + step_pct / 100;
            bless(&goldens, result_new(KG_CUDA, p50_us, 50));
            const double over_pct = 100 * (p50_us / 25 - 1);
            const enum kg_verdict verdict = judge(&goldens, result_new(KG_CUDA, p50_us, 50), CREEP_PCT);
            if (verdict != (over_pct > 5.5 ? KG_SLOW : KG_PASS))
                fail_msg("step %d, %+.1f%% over the best: %s", step, over_pct, kg_verdict_name(verdict));
        }
        kg_goldens_done(&goldens);
    }
}

/* The same on two cards in turn, the second 8% slower at everything, as cards of one model are. What was blessed last
 * is SLOW on its own card, on the other and on a third as soon as the steps add up to the budget. */
static void eight_steps_each_blessed_on_cards_in_turn(void **state)
{
    static const char *const cards[] = { "GPU-1", "GPU-2", "GPU-3" };
    static const double factors[] = { 1, 1.08, 0.95 };
    (void)state;
    for (double step_pct = 1.5; step_pct < 30; step_pct *= 2) {
        struct kg_goldens goldens = { .arch = "h200" };
        bless(&goldens, result_new(KG_CUDA, 25, 50));
        for (int step = 1; step <= 8; step++) {
            const double ratio = pow(1 + step_pct / 100, step), on = factors[step % 2];
            bless_on(cards[step % 2], &goldens, result_new(KG_CUDA, 25 * ratio * on, 50 * on));
            for (int card = 0; card < 3; card++) {
                const double factor = factors[card];
                const enum kg_verdict verdict =
                    judge_on(cards[card], &goldens, result_new(KG_CUDA, 25 * ratio * factor, 50 * factor), CREEP_PCT);
                if (verdict != (ratio > 1.055 ? KG_SLOW : KG_PASS))
                    fail_msg("step %d, %+.1f%% over the best, on %s: %s", step, 100 * (ratio - 1), cards[card],
                             kg_verdict_name(verdict));
            }
        }
        kg_goldens_done(&goldens);
    }
}

/* Without an anchor two cards do not compare: a bless on the second has no budget there, but takes none from the first.
 */
static void cards_in_turn_without_an_anchor(void **state)
{
    (void)state;
    struct kg_goldens goldens = { .arch = "h200" };
    for (int step = 0; step <= 8; step++) {
        const double p50_us = 25 * pow(1.03, step), on = step % 2 ? 1.08 : 1;
        bless_on(step % 2 ? "GPU-2" : "GPU-1", &goldens, result_new(KG_CUDA, p50_us * on, 0));
        assert_true(goldens.items[0].best.p50_us == 25);
        if (step % 2)
            assert_int_equal(judge_on("GPU-2", &goldens, result_new(KG_CUDA, p50_us * on, 0), CREEP_PCT), KG_PASS);
        else
            assert_int_equal(judge(&goldens, result_new(KG_CUDA, p50_us, 0), CREEP_PCT), step ? KG_SLOW : KG_PASS);
    }
    kg_goldens_done(&goldens);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(case_and_anchor_together),        cmocka_unit_test(eight_steps_of_24_pct),
        cmocka_unit_test(eight_steps_each_blessed),        cmocka_unit_test(eight_steps_each_blessed_on_cards_in_turn),
        cmocka_unit_test(cards_in_turn_without_an_anchor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
