/* test_verdict.c -- the comparison of times against bounds worked out by hand, and the verdict of every kind of case.
 * A case is made right and unchanged by case_new; a test spoils one thing and names the verdict. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "verdict.h"

/* ---- times ----------------------------------------------------------------------------------------------------- */

static const double ones[] = { 1, 1, 1 };

static enum kg_time_answer compare(double a, double b, double c, double floor_pct, double resolution_pct,
                                   double *ret_change_pct, double *ret_margin_pct)
{
    double blocks[] = { a, b, c };
    struct kg_time_question question = {
        .blocks = blocks,
        .n_blocks = 3,
        .golden = ones,
        .n_golden = 3,
        .min_blocks = 3,
        .threshold_pct = 2,
        .floor_pct = floor_pct,
        .resolution_pct = resolution_pct,
    };
    return kg_time_compare(&question, ret_change_pct, ret_margin_pct);
}

static enum kg_time_answer answer(double a, double b, double c)
{
    double change, margin;
    return compare(a, b, c, 0.2, 0.1, &change, &margin);
}

/* Equal blocks leave the prior alone: s^2 = 6 s0^2 / 8 with s0 = log(1.002) / 2 = 0.000999, se^2 = s^2 2/3, so that the
 * half-width is 3 s0 sqrt(1/2) = 0.0021193. */
static void interval_by_the_formula(void **state)
{
    (void)state;
    double change, margin;
    assert_int_equal(compare(1, 1, 1, 0.2, 0, &change, &margin), KG_TIME_PASS);
    assert_true(fabs(change) < 1e-12);
    assert_true(fabs(margin - 0.21193) < 1e-4);

    /* With spread: d = -0.01, 0, 0.01, squares 0.0002; s^2 = (6 s0^2 + 0.0002) / 8 = 2.574850e-5, se = 0.00414314,
     * half-width 0.0124294, and (e^h - e^-h) / 2 = 1.24297 per cent. */
    assert_int_equal(compare(exp(-0.01), 1, exp(0.01), 0.2, 0, &change, &margin), KG_TIME_PASS);
    assert_true(fabs(margin - 1.24297) < 1e-4);

    /* One golden block in place of three: se^2 = s^2 (1/3 + 1) = s0^2, half-width 3 s0. */
    struct kg_time_question one = { .blocks = ones,
                                    .golden = ones,
                                    .n_blocks = 3,
                                    .n_golden = 1,
                                    .min_blocks = 3,
                                    .threshold_pct = 2,
                                    .floor_pct = 0.2 };
    assert_int_equal(kg_time_compare(&one, &change, &margin), KG_TIME_PASS);
    assert_true(fabs(margin - 0.299700) < 1e-4);

    assert_int_equal(compare(1.03, 1.03, 1.03, 0.2, 0, &change, &margin), KG_TIME_SLOW);
    assert_true(fabs(change - 3) < 1e-9);
}

static void clear_answers(void **state)
{
    (void)state;
    assert_int_equal(answer(1.0, 1.0, 1.0), KG_TIME_PASS);
    assert_int_equal(answer(1.017, 1.017, 1.017), KG_TIME_PASS); /* upper bound 1.95 */
    assert_int_equal(answer(1.019, 1.019, 1.019), KG_TIME_MORE); /* 2.15 */
    assert_int_equal(answer(1.0199, 1.0199, 1.0199), KG_TIME_MORE);
    assert_int_equal(answer(1.0201, 1.0201, 1.0201), KG_TIME_SLOW);
    assert_int_equal(answer(1.05, 1.05, 1.05), KG_TIME_SLOW);
    assert_int_equal(answer(100, 100, 100), KG_TIME_SLOW);
    assert_int_equal(answer(0.979, 0.979, 0.979), KG_TIME_PASS); /* upper bound -1.86 */
    assert_int_equal(answer(0.977, 0.977, 0.977), KG_TIME_FAST); /* -2.06 */
    assert_int_equal(answer(0.5, 0.5, 0.5), KG_TIME_FAST);
    assert_int_equal(answer(1.0, 1.0, 1.06), KG_TIME_MORE); /* one wild block: 2% +- 4.2, doubt */
}

static void slow_needs_floor_and_resolution(void **state)
{
    (void)state;
    double change, margin;
    /* floor 3%: half-width 3.66%, so the lower bound of +6% is 2.2, under the floor; that of +8% is 4.1 */
    assert_int_equal(compare(1.06, 1.06, 1.06, 3, 0, &change, &margin), KG_TIME_MORE);
    assert_int_equal(compare(1.08, 1.08, 1.08, 3, 0, &change, &margin), KG_TIME_SLOW);
    assert_int_equal(compare(1.05, 1.05, 1.05, 0.2, 5.1, &change, &margin), KG_TIME_MORE);
    assert_int_equal(compare(1.05, 1.05, 1.05, 0.2, 4.9, &change, &margin), KG_TIME_SLOW);
    assert_int_equal(compare(1.05, 1.05, 1.05, 0.2, NAN, &change, &margin), KG_TIME_MORE);
}

static void few_blocks_do_not_decide(void **state)
{
    (void)state;
    double change, margin;
    const double slow[] = { 2, 2, 2 };
    struct kg_time_question question = { .blocks = slow,
                                         .golden = ones,
                                         .n_blocks = 2,
                                         .n_golden = 3,
                                         .min_blocks = 3,
                                         .threshold_pct = 2,
                                         .floor_pct = 0.2 };
    assert_int_equal(kg_time_compare(&question, &change, &margin), KG_TIME_MORE);
    assert_true(fabs(change - 100) < 1e-9);
    question.n_blocks = 3;
    assert_int_equal(kg_time_compare(&question, &change, &margin), KG_TIME_SLOW);
    question.n_blocks = 0;
    assert_int_equal(kg_time_compare(&question, &change, &margin), KG_TIME_MORE);
    assert_true(isnan(change) && isnan(margin));
    question.n_blocks = 3;
    question.n_golden = 0;
    question.min_blocks = 0;
    assert_int_equal(kg_time_compare(&question, &change, &margin), KG_TIME_MORE);
}

static void unusable_times_never_pass(void **state)
{
    (void)state;
    const double unusable[] = { NAN, INFINITY, -INFINITY, 0, -1 };
    for (size_t i = 0; i < sizeof unusable / sizeof *unusable; i++) {
        assert_int_equal(answer(1, unusable[i], 1), KG_TIME_MORE);
        assert_int_equal(answer(unusable[i], unusable[i], unusable[i]), KG_TIME_MORE);
        double change, margin, golden[] = { 1, 1, unusable[i] };
        struct kg_time_question question = { .blocks = ones,
                                             .golden = golden,
                                             .n_blocks = 3,
                                             .n_golden = 3,
                                             .min_blocks = 3,
                                             .threshold_pct = 2,
                                             .floor_pct = 0.2 };
        assert_int_equal(kg_time_compare(&question, &change, &margin), KG_TIME_MORE);
    }
    double change, margin;
    assert_int_equal(compare(1, 1, 1, NAN, 0, &change, &margin), KG_TIME_MORE);
}

/* ---- verdicts -------------------------------------------------------------------------------------------------- */

static const kg_backend math = { .name = "math", .device = KG_CUDA },
                        cpu_math = { .name = "cpu_math", .device = KG_CPU };
static const kg_suite suite = {
    .name = "suite",
    .anchor = &math,
    .cpu_anchor = &cpu_math,
    .gates = { .max_abs = 0.06, .mean_abs = 0.02, .bad_abs = 0.02, .bad_pct = 1, .rel_l2 = 0.05 },
};

struct kit {
    struct kg_result result;
    struct kg_golden golden;
    struct kg_policy policy;
};

static void set_blocks(struct kit *kit, int count, double p50_us, double anchor_us)
{
    kit->result.n_blocks = count;
    kit->result.time_us.p50 = p50_us;
    for (int i = 0; i < count; i++)
        kit->result.blocks[i] = (struct kg_block){ .calls = 20,
                                                   .p50_us = p50_us,
                                                   .anchor_p50_us = anchor_us,
                                                   .log_ratio = anchor_us ? log(p50_us / anchor_us) : 0 };
}

/* Right and unchanged: 25 us beside an anchor of 50, golden the same. */
static struct kit *kit_new(enum kg_device_kind kind)
{
    struct kit *kit = calloc(1, sizeof *kit);
    assert_non_null(kit);
    kit->policy = (struct kg_policy){
        .threshold_pct = kind == KG_CPU ? 10 : 2,
        .creep_pct = 5,
        .device_uuid = "GPU-1",
        .min_blocks = 3,
        .max_blocks = 8,
        .contract = { "graph", "warm", 200, "irwin-hall-8" },
        .timed = true,
    };
    kit->golden = (struct kg_golden){
        .key = "suite/shape/fast",
        .p50_us = 25,
        .n_blocks = 3,
        .blocks_us = { 25, 25, 25 },
        .anchor_identity = "code 2",
        .anchor_p50_us = 50,
        .blocks_ratio = { 0.5, 0.5, 0.5 },
        .floor_pct = kind == KG_CPU ? 1 : 0.2,
        .judge = kind == KG_CPU ? KG_JUDGE_RATIO : KG_JUDGE_RAW,
        .best = { 25, "0123456789abcdef", "2025-01-02" },
        .contract = kit->policy.contract,
        .identity = "code 1",
        .provenance = { .uuid = "GPU-1" },
    };
    (void)strcpy(kit->golden.anchor, kind == KG_CPU ? "cpu_math" : "math");
    struct kg_result *result = &kit->result;
    result->of = (struct kg_case){ .suite = &suite, .kind = kind };
    result->phase = KG_DONE;
    result->compared = true;
    result->figures = (struct kg_figures){ .count = 100 };
    result->marks = (struct kg_gate_marks){ true, true, true, true, true };
    result->tick_us = 0.03;
    (void)strcpy(result->identity, "code 1");
    (void)strcpy(result->anchor_identity, "code 2");
    set_blocks(kit, 3, 25, 50);
    return kit;
}

static void decided(struct kit *kit, const struct kg_golden *golden, enum kg_verdict verdict, bool more,
                    const char *reason)
{
    bool answer = kg_verdict_decide(&kit->result, golden, &kit->policy);
    if (kit->result.verdict != verdict)
        fail_msg("%s, not %s: %s", kg_verdict_name(kit->result.verdict), kg_verdict_name(verdict), kit->result.reason);
    assert_int_equal(answer, more);
    assert_string_equal(kit->result.reason, reason);
}

static void unchanged_passes(void **state)
{
    (void)state;
    struct kit *kit = kit_new(KG_CUDA);
    decided(kit, &kit->golden, KG_PASS, false, "p50 25.0 us, golden 25.0 us (+0.0% ±0.2, threshold 2%)");
    const struct kg_judgement *judgement = &kit->result.judgement;
    assert_true(judgement->judged && judgement->same_code && judgement->judge == KG_JUDGE_RAW);
    assert_true(judgement->golden_us == 25 && judgement->threshold_pct == 2);
    assert_true(fabs(judgement->margin_pct - 0.21193) < 1e-4);
    free(kit);
}

static void slow_says_what_changed(void **state)
{
    (void)state;
    struct kit *kit = kit_new(KG_CUDA);
    set_blocks(kit, 3, 26, 50);
    decided(kit, &kit->golden, KG_SLOW, false,
            "p50 26.0 us, golden 25.0 us (+4.0% ±0.2, threshold 2%), same code as the golden: environment");
    assert_true(fabs(kit->result.judgement.change_pct - 4) < 1e-9);
    (void)strcpy(kit->result.identity, "code 3");
    decided(kit, &kit->golden, KG_SLOW, false,
            "p50 26.0 us, golden 25.0 us (+4.0% ±0.2, threshold 2%), code changed since the golden");
    assert_false(kit->result.judgement.same_code);
    kit->result.identity[0] = 0; /* not known: nothing is claimed */
    kit->golden.identity[0] = 0;
    decided(kit, &kit->golden, KG_SLOW, false, "p50 26.0 us, golden 25.0 us (+4.0% ±0.2, threshold 2%)");
    free(kit);
}

static void fast_suggests_a_bless(void **state)
{
    (void)state;
    struct kit *kit = kit_new(KG_CUDA);
    set_blocks(kit, 3, 8, 50);
    decided(kit, &kit->golden, KG_FAST, false,
            "p50 8.00 us, golden 25.0 us (-68.0% ±0.1, threshold 2%), the golden is stale: bless");
    free(kit);
}

static void doubt_asks_for_more_until_rounds_run_out(void **state)
{
    (void)state;
    struct kit *kit = kit_new(KG_CUDA);
    set_blocks(kit, 3, 25.48, 50); /* +1.92%, upper bound 2.17 */
    decided(kit, &kit->golden, KG_UNSURE, true,
            "3 of at most 8 blocks do not decide: p50 25.5 us, golden 25.0 us (+1.9% ±0.2, threshold 2%)");
    kit->policy.max_blocks = 3;
    assert_false(kg_verdict_decide(&kit->result, &kit->golden, &kit->policy));
    assert_int_equal(kit->result.verdict, KG_UNSURE);
    kit->policy.max_blocks = 8;
    set_blocks(kit, 2, 25, 50);
    assert_true(kg_verdict_decide(&kit->result, &kit->golden, &kit->policy));
    assert_int_equal(kit->result.verdict, KG_UNSURE);
    set_blocks(kit, 0, 0, 0);
    decided(kit, &kit->golden, KG_UNSURE, true, "right; no block was timed");
    free(kit);
}

static void what_did_not_run(void **state)
{
    (void)state;
    struct kit *kit = kit_new(KG_CUDA);
    kit->result.outcome = KG_SKIPPED;
    (void)strcpy(kit->result.note, "no cuDNN");
    decided(kit, NULL, KG_SKIP, false, "no cuDNN");
    decided(kit, &kit->golden, KG_LOST, false, "golden exists, but the case was skipped: no cuDNN");
    kit->result.outcome = KG_ABSENT;
    decided(kit, &kit->golden, KG_LOST, false, "no cuDNN");
    kit->result.outcome = KG_BROKEN;
    (void)strcpy(kit->result.note, "died of signal 11 in timing");
    decided(kit, &kit->golden, KG_ERROR, false, "died of signal 11 in timing");
    kit->result.outcome = KG_RAN;
    kit->result.compared = false;
    decided(kit, &kit->golden, KG_ERROR, false, "its output was not compared");
    struct kg_result *blank = calloc(1, sizeof *blank); /* nothing ever filled in */
    assert_false(kg_verdict_decide(blank, NULL, &kit->policy));
    assert_int_equal(blank->verdict, KG_ERROR);
    free(blank);
    free(kit);
}

/* Broken beats fast: a wrong result is never judged by its time. */
static void every_failing_gate_is_named(void **state)
{
    (void)state;
    struct kit *kit = kit_new(KG_CUDA);
    kit->result.figures = (struct kg_figures){
        .count = 100,
        .max_abs = 0.5,
        .mean_abs = 0.03,
        .bad_pct = 2,
        .rel_l2 = 0.9,
        .worst_index = 17,
        .worst_got = 1.5,
        .worst_expected = 1,
    };
    kit->result.marks = kg_figures_mark(&kit->result.figures, &suite.gates);
    set_blocks(kit, 3, 8, 50);
    decided(kit, &kit->golden, KG_FAIL, false,
            "max_abs 0.5 over 0.06, mean_abs 0.03 over 0.02, bad_pct 2 over 1, rel_l2 0.9 over 0.05");
    assert_false(kit->result.judgement.judged);

    kit->result.figures = (struct kg_figures){
        .count = 100, .nonfinite = 3, .unwritten = 2, .worst_index = 5, .worst_got = NAN, .worst_expected = 1
    };
    kit->result.marks = kg_figures_mark(&kit->result.figures, &suite.gates);
    decided(kit, &kit->golden, KG_FAIL, false,
            "3 of 100 elements not finite, 2 elements never written");

    const size_t gates[] = { offsetof(struct kg_gate_marks, max_abs), offsetof(struct kg_gate_marks, mean_abs),
                             offsetof(struct kg_gate_marks, bad_pct), offsetof(struct kg_gate_marks, rel_l2),
                             offsetof(struct kg_gate_marks, finite) };
    for (size_t i = 0; i < sizeof gates / sizeof *gates; i++) { /* each alone suffices, a deferred case included */
        kit->result.marks = (struct kg_gate_marks){ true, true, true, true, true };
        *((bool *)&kit->result.marks + gates[i] / sizeof(bool)) = false;
        kit->result.outcome = i % 2 ? KG_DEFERRED : KG_RAN;
        assert_false(kg_verdict_decide(&kit->result, &kit->golden, &kit->policy));
        assert_int_equal(kit->result.verdict, KG_FAIL);
    }
    free(kit);
}

static void impossible_and_unusable_times_are_errors(void **state)
{
    (void)state;
    struct kit *kit = kit_new(KG_CUDA);
    kit->result.impossible = true;
    decided(kit, &kit->golden, KG_ERROR, false, "p50 of 25 us is faster than the device or its timer can be");
    decided(kit, NULL, KG_ERROR, false, "p50 of 25 us is faster than the device or its timer can be");
    kit->result.impossible = false;
    const double unusable[] = { 0, -1, NAN, INFINITY };
    for (size_t i = 0; i < sizeof unusable / sizeof *unusable; i++) {
        kit->result.blocks[1].p50_us = unusable[i];
        assert_false(kg_verdict_decide(&kit->result, &kit->golden, &kit->policy));
        assert_int_equal(kit->result.verdict, KG_ERROR);
    }
    set_blocks(kit, 3, 25, 50);
    kit->result.blocks[2].log_ratio = NAN;
    decided(kit, &kit->golden, KG_ERROR, false, "block 3 has no usable time: 25 us");
    free(kit);
}

static void right_but_not_timed_passes(void **state)
{
    (void)state;
    struct kit *kit = kit_new(KG_CUDA);
    kit->policy.timed = false;
    decided(kit, &kit->golden, KG_PASS, false, "right; not timed");
    decided(kit, NULL, KG_PASS, false, "right; not timed");
    kit->policy.timed = true;
    kit->result.outcome = KG_DEFERRED;
    (void)strcpy(kit->result.note, "suite/shape/s0/fast");
    decided(kit, NULL, KG_PASS, false, "right; its time is judged on suite/shape/s0/fast");
    free(kit);
}

static void without_a_comparable_golden_ungated(void **state)
{
    (void)state;
    struct kit *kit = kit_new(KG_CUDA);
    decided(kit, NULL, KG_UNGATED, false, "right; no golden on this architecture");
    (void)strcpy(kit->golden.contract.l2, "cold");
    decided(kit, &kit->golden, KG_UNGATED, false,
            "stale: the golden was timed by graph, cold L2, windows of 200 us, irwin-hall-8; "
            "this run by graph, warm L2, 200 us, irwin-hall-8");
    free(kit);
}

static void ratio_judges_where_it_was_steadier(void **state)
{
    (void)state;
    struct kit *kit = kit_new(KG_CUDA);
    kit->golden.judge = KG_JUDGE_RATIO;
    set_blocks(kit, 3, 25.3, 50.6); /* both 1.2% slower: the card, not the code */
    decided(kit, &kit->golden, KG_PASS, false,
            "p50 25.3 us, golden 25.0 us (ratio to the anchor +0.0% ±0.2, threshold 2%)");
    set_blocks(kit, 3, 25.5, 49);
    assert_false(kg_verdict_decide(&kit->result, &kit->golden, &kit->policy));
    assert_int_equal(kit->result.verdict, KG_SLOW); /* a ratio 4.1% up */
    free(kit);
}

/* A slower anchor must not hide a slower case: the ratio is left, and p50 judges. */
static void moved_anchor_is_not_used(void **state)
{
    (void)state;
    struct kit *kit = kit_new(KG_CUDA);
    kit->golden.judge = KG_JUDGE_RATIO;
    set_blocks(kit, 3, 26, 52);
    kit->result.identity[0] = 0;
    decided(kit, &kit->golden, KG_SLOW, false,
            "p50 26.0 us, golden 25.0 us (+4.0% ±0.2, threshold 2%); judged by p50: the anchor's own time moved");
    assert_int_equal(kit->result.judgement.judge, KG_JUDGE_RAW);
    set_blocks(kit, 3, 26, 50);
    (void)strcpy(kit->result.anchor_identity, "code 9");
    decided(kit, &kit->golden, KG_SLOW, false,
            "p50 26.0 us, golden 25.0 us (+4.0% ±0.2, threshold 2%); "
            "judged by p50: the anchor's code changed since the golden");
    (void)strcpy(kit->result.anchor_identity, "code 2");
    (void)strcpy(kit->golden.anchor, "flash");
    assert_false(kg_verdict_decide(&kit->result, &kit->golden, &kit->policy));
    assert_non_null(strstr(kit->result.reason, "the suite's anchor is another than the golden's"));
    (void)strcpy(kit->golden.anchor, "math");
    set_blocks(kit, 3, 26, 0);
    assert_false(kg_verdict_decide(&kit->result, &kit->golden, &kit->policy));
    assert_non_null(strstr(kit->result.reason, "the anchor was not timed"));
    assert_int_equal(kit->result.verdict, KG_SLOW);

    kit->golden.blocks_us[0] = 24; /* the floor of raw times is their own: 4.7%, and +4% is in doubt */
    kit->golden.blocks_us[2] = 25.1;
    assert_true(kg_verdict_decide(&kit->result, &kit->golden, &kit->policy));
    assert_int_equal(kit->result.verdict, KG_UNSURE);
    free(kit);
}

/* Another card of the same model: absolute times say nothing, and the threshold is at least the floor. */
static void another_card_judges_by_ratio(void **state)
{
    (void)state;
    struct kit *kit = kit_new(KG_CUDA);
    kit->policy.device_uuid = "GPU-2";
    kit->golden.best.p50_us = 20; /* of the other card, so not a creep */
    set_blocks(kit, 3, 27, 54);
    decided(kit, &kit->golden, KG_PASS, false,
            "p50 27.0 us, golden 25.0 us (ratio to the anchor +0.0% ±0.2, threshold 2%); "
            "golden of another card, --against is the sharp tool");
    set_blocks(kit, 3, 28.08, 54);
    assert_false(kg_verdict_decide(&kit->result, &kit->golden, &kit->policy));
    assert_int_equal(kit->result.verdict, KG_SLOW);
    kit->golden.floor_pct = 6;
    assert_true(kg_verdict_decide(&kit->result, &kit->golden, &kit->policy));
    assert_int_equal(kit->result.verdict, KG_UNSURE);
    assert_true(kit->result.judgement.threshold_pct == 6);
    kit->golden.floor_pct = 0.2;
    kit->golden.anchor[0] = 0;
    /* The anchor itself has no ratio: its raw time may differ by what cards of one model differ by. */
    decided(kit, &kit->golden, KG_SLOW, false,
            "p50 28.1 us, golden 25.0 us (+12.3% ±0.2, threshold 10%), same code as the golden: environment; "
            "judged by p50: the golden has no anchor; golden of another card, --against is the sharp tool");
    set_blocks(kit, 3, 27, 0);
    assert_false(kg_verdict_decide(&kit->result, &kit->golden, &kit->policy));
    assert_int_equal(kit->result.verdict, KG_PASS);
    kit->policy.device_uuid = NULL; /* not known is another */
    assert_false(kg_verdict_decide(&kit->result, &kit->golden, &kit->policy));
    assert_int_equal(kit->result.verdict, KG_PASS);
    free(kit);
}

static void cpu_is_judged_by_ratio(void **state)
{
    (void)state;
    struct kit *kit = kit_new(KG_CPU);
    kit->golden.best.p50_us = 10; /* creep is for CUDA cards */
    set_blocks(kit, 3, 50, 100);  /* half the speed of the golden's day, the ratio the same */
    decided(kit, &kit->golden, KG_PASS, false,
            "p50 50.0 us, golden 25.0 us (ratio to the anchor +0.0% ±1.1, threshold 10%)");
    kit->golden.judge = KG_JUDGE_RAW; /* whatever the golden says */
    assert_false(kg_verdict_decide(&kit->result, &kit->golden, &kit->policy));
    assert_int_equal(kit->result.verdict, KG_PASS);
    set_blocks(kit, 3, 60, 100);
    assert_false(kg_verdict_decide(&kit->result, &kit->golden, &kit->policy));
    assert_int_equal(kit->result.verdict, KG_SLOW);
    (void)strcpy(kit->result.anchor_identity, "code 9");
    decided(kit, &kit->golden, KG_UNGATED, false,
            "a CPU's time can be compared by ratio only, and the anchor's code changed since the golden");
    kit->golden.anchor[0] = 0; /* the anchor itself */
    set_blocks(kit, 3, 25, 0);
    decided(kit, &kit->golden, KG_PASS, false, "p50 25.0 us, golden 25.0 us (+0.0% ±1.1, threshold 10%)");
    free(kit);
}

/* Each golden within 2% of the last, all of them 7% over the best. */
static void creep_is_slow(void **state)
{
    (void)state;
    struct kit *kit = kit_new(KG_CUDA);
    kit->golden.best.p50_us = 23.364;
    (void)strcpy(kit->result.identity, "code 3");
    decided(
        kit, &kit->golden, KG_SLOW, false,
        "p50 25.0 us, golden 25.0 us (+0.0% ±0.2, threshold 2%); +7.0% ±0.3 over the best, 23.4 us at 0123456789ab, "
        "creep budget 5%, code changed since the golden");
    kit->golden.best.p50_us = 23.9; /* +4.6% */
    assert_false(kg_verdict_decide(&kit->result, &kit->golden, &kit->policy));
    assert_int_equal(kit->result.verdict, KG_PASS);
    kit->golden.best.p50_us = 23.75; /* +5.26%, but the lower bound is 4.9 */
    assert_false(kg_verdict_decide(&kit->result, &kit->golden, &kit->policy));
    assert_int_equal(kit->result.verdict, KG_PASS);
    kit->golden.best.p50_us = 20;
    set_blocks(kit, 3, 23, 50); /* faster than the golden, still 15% over the best */
    assert_false(kg_verdict_decide(&kit->result, &kit->golden, &kit->policy));
    assert_int_equal(kit->result.verdict, KG_SLOW);
    set_blocks(kit, 2, 25, 50); /* too few blocks for that too */
    assert_true(kg_verdict_decide(&kit->result, &kit->golden, &kit->policy));
    assert_int_equal(kit->result.verdict, KG_UNSURE);
    free(kit);
}

static void expected_failures(void **state)
{
    (void)state;
    struct kit *kit = kit_new(KG_CUDA);
    kit->policy.xfail = "bug 7";
    decided(kit, &kit->golden, KG_XPASS, false,
            "must fail (bug 7), but is PASS: p50 25.0 us, golden 25.0 us (+0.0% ±0.2, threshold 2%)");
    decided(kit, NULL, KG_XPASS, false, "must fail (bug 7), but is UNGATED: right; no golden on this architecture");
    set_blocks(kit, 2, 25, 50);
    assert_true(kg_verdict_decide(&kit->result, &kit->golden, &kit->policy)); /* doubt, and more could decide it */
    assert_int_equal(kit->result.verdict, KG_XPASS);
    set_blocks(kit, 3, 26, 50);
    assert_false(kg_verdict_decide(&kit->result, &kit->golden, &kit->policy));
    assert_int_equal(kit->result.verdict, KG_XFAIL);
    kit->result.marks.rel_l2 = false;
    kit->result.figures.rel_l2 = 1;
    decided(kit, &kit->golden, KG_XFAIL, false,
            "must fail (bug 7), and does: rel_l2 1 over 0.05");
    (void)strcpy(kit->result.note, "why");
    kit->result.outcome = KG_BROKEN;
    decided(kit, NULL, KG_XFAIL, false, "must fail (bug 7), and does: why");
    kit->result.outcome = KG_SKIPPED;
    decided(kit, NULL, KG_SKIP, false, "why");
    assert_false(kg_verdict_decide(&kit->result, &kit->golden, &kit->policy));
    assert_int_equal(kit->result.verdict, KG_LOST);
    free(kit);
}

/* Text of any length stays inside the reason. */
static void long_notes_are_cut(void **state)
{
    (void)state;
    struct kit *kit = kit_new(KG_CUDA);
    memset(kit->result.note, 'x', sizeof kit->result.note - 1);
    kit->result.outcome = KG_BROKEN;
    kit->policy.xfail = "bug 7";
    assert_false(kg_verdict_decide(&kit->result, NULL, &kit->policy));
    assert_int_equal(strlen(kit->result.reason), sizeof kit->result.reason - 1);
    free(kit);
}

/* ---- exit status ----------------------------------------------------------------------------------------------- */

static int status_of(enum kg_verdict a, enum kg_verdict b, bool allow)
{
    size_t counts[KG_VERDICTS] = { 0 };
    counts[a]++;
    counts[b]++;
    return kg_verdict_status(counts, allow);
}

static void statuses(void **state)
{
    (void)state;
    static const int alone[KG_VERDICTS] = {
        [KG_PASS] = 0,  [KG_FAST] = 0, [KG_XFAIL] = 0,  [KG_SKIP] = 77,   [KG_FAIL] = 1, [KG_ERROR] = 1,
        [KG_XPASS] = 1, [KG_SLOW] = 3, [KG_UNSURE] = 4, [KG_UNGATED] = 4, [KG_LOST] = 4,
    };
    static const int order[] = { 0, 4, 3, 1 }; /* the later hides the earlier */
    for (int i = 0; i < KG_VERDICTS; i++) {
        assert_int_equal(status_of(i, i, false), alone[i]);
        assert_int_equal(status_of(i, i, true), alone[i] == 4 ? 0 : alone[i]);
        for (int j = 0; j < KG_VERDICTS; j++) {
            int wanted = 0;
            for (size_t k = 0; k < 4; k++)
                if (alone[i] == order[k] || alone[j] == order[k])
                    wanted = order[k];
            assert_int_equal(status_of(i, j, false), i == KG_SKIP && j == KG_SKIP ? 77 : wanted);
        }
    }
    const size_t nothing[KG_VERDICTS] = { 0 };
    assert_int_equal(kg_verdict_status(nothing, false), 2);
    assert_int_equal(kg_verdict_status(nothing, true), 2);
    assert_int_equal(status_of(KG_UNGATED, KG_SLOW, true), 3);
    assert_int_equal(status_of(KG_UNGATED, KG_SKIP, true), 0);
    const size_t many[KG_VERDICTS] = { [KG_PASS] = 3, [KG_FAIL] = 256 };
    assert_int_equal(kg_verdict_status(many, false), 1); /* never a count */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(interval_by_the_formula),
        cmocka_unit_test(clear_answers),
        cmocka_unit_test(slow_needs_floor_and_resolution),
        cmocka_unit_test(few_blocks_do_not_decide),
        cmocka_unit_test(unusable_times_never_pass),
        cmocka_unit_test(unchanged_passes),
        cmocka_unit_test(slow_says_what_changed),
        cmocka_unit_test(fast_suggests_a_bless),
        cmocka_unit_test(doubt_asks_for_more_until_rounds_run_out),
        cmocka_unit_test(what_did_not_run),
        cmocka_unit_test(every_failing_gate_is_named),
        cmocka_unit_test(impossible_and_unusable_times_are_errors),
        cmocka_unit_test(right_but_not_timed_passes),
        cmocka_unit_test(without_a_comparable_golden_ungated),
        cmocka_unit_test(ratio_judges_where_it_was_steadier),
        cmocka_unit_test(moved_anchor_is_not_used),
        cmocka_unit_test(another_card_judges_by_ratio),
        cmocka_unit_test(cpu_is_judged_by_ratio),
        cmocka_unit_test(creep_is_slow),
        cmocka_unit_test(expected_failures),
        cmocka_unit_test(long_notes_are_cut),
        cmocka_unit_test(statuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
