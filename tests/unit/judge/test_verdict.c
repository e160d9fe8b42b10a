/* test_verdict.c -- the verdict of every kind of case. A case is made right and unchanged by kit_new; a test spoils one
 * thing and names the verdict. A SLOW takes nine blocks, three to raise the alarm and six to confirm it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "judge/judge.h"
#include "judge/verdict.h"

/* ---- verdicts -------------------------------------------------------------------------------------------------- */

static const kg_backend timed = { .name = "timed" }, math = { .name = "math", .device = KG_CUDA },
                        cpu_math = { .name = "cpu_math", .device = KG_CPU };
static const kg_op op = { .name = "op" };
static const kg_suite suite = {
    .op = &op,
    .name = "suite",
    .anchor = &math,
    .cpu_anchor = &cpu_math,
    .gates = { .max_abs = 0.06, .mean_abs = 0.02, .bad_abs = 0.02, .bad_pct = 1, .rel_l2 = 0.05 },
};

struct kit {
    struct kg_result result;
    struct kg_golden golden;
    struct kg_floor floor; /* without blocks: selfcheck measured nothing */
    const char *device_uuid, *driver;
};

static bool decide(struct kit *kit, const struct kg_golden *golden)
{
    const struct kg_expectation expectation = {
        .golden = golden, .floor = &kit->floor, .device_uuid = kit->device_uuid, .driver = kit->driver
    };
    return kg_verdict_decide(&kit->result, &expectation);
}

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

/* More blocks after those that are there. */
static void add_blocks(struct kit *kit, int count, double p50_us, double anchor_us)
{
    int before = kit->result.n_blocks;
    struct kg_block first[KG_MAX_BLOCKS];
    memcpy(first, kit->result.blocks, sizeof first);
    set_blocks(kit, before + count, p50_us, anchor_us);
    memcpy(kit->result.blocks, first, (size_t)before * sizeof *first);
}

/* Beside another build, no anchor. */
static void set_baseline(struct kit *kit, int count, double p50_us, double baseline_us)
{
    set_blocks(kit, count, p50_us, 0);
    for (int i = 0; i < count; i++) {
        kit->result.blocks[i].baseline_p50_us = baseline_us;
        kit->result.blocks[i].log_against = log(p50_us / baseline_us);
    }
}

/* Right and unchanged: 25 us beside an anchor of 50, golden the same. */
static struct kit *kit_new(enum kg_device_kind kind)
{
    struct kit *kit = calloc(1, sizeof *kit);
    assert_non_null(kit);
    kit->device_uuid = "GPU-1";
    kit->golden = (struct kg_golden){
        .key = "suite/shape/fast",
        .p50_us = 25,
        .n_blocks = 3,
        .blocks_us = { 25, 25, 25 },
        .anchor_identity = "code:2",
        .anchor_p50_us = 50,
        .blocks_ratio = { 0.5, 0.5, 0.5 },
        .floor_pct = kind == KG_CPU ? 1 : 0.2,
        .quantity = kind == KG_CPU ? KG_QUANTITY_RATIO : KG_QUANTITY_RAW,
        .best = { 25, "0123456789abcdef", "2025-01-02", "GPU-1", 0.5, "", "code:2" },
        .contract = { "graph", "warm", 200, "irwin-hall-8" },
        .identity = "code:1",
        .provenance = { .uuid = "GPU-1" },
    };
    (void)strcpy(kit->golden.anchor, kind == KG_CPU ? "cpu_math" : "math");
    (void)strcpy(kit->golden.best.anchor, kit->golden.anchor);
    struct kg_result *result = &kit->result;
    result->of = (struct kg_case){ .suite = &suite, .backend = &timed, .kind = kind };
    result->of.policy = (struct kg_policy){ .timer = KG_TIMER_GRAPH,
                                            .window_us = 200,
                                            .threshold_pct = kind == KG_CPU ? 10 : 2,
                                            .creep_pct = 5,
                                            .max_blocks = 8,
                                            .timed = true };
    result->phase = KG_DONE;
    result->compared = true;
    result->comparison = (struct kg_comparison){ .count = 100 };
    result->marks = (struct kg_gate_marks){ true, true, true, true, true, true, true, true };
    result->tick_us = 0.03;
    (void)strcpy(result->identity, "code:1");
    (void)strcpy(result->anchor_identity, "code:2");
    set_blocks(kit, 3, 25, 50);
    return kit;
}

static void decided(struct kit *kit, const struct kg_golden *golden, enum kg_verdict verdict, bool more,
                    const char *reason)
{
    bool answer = decide(kit, golden);
    if (kit->result.verdict != verdict)
        fail_msg("%s, not %s: %s", kg_verdict_name(kit->result.verdict), kg_verdict_name(verdict), kit->result.reason);
    assert_int_equal(answer, more);
    assert_string_equal(kit->result.reason, reason);
}

static void verdict_is(struct kit *kit, enum kg_verdict verdict, bool more)
{
    bool answer = decide(kit, &kit->golden);
    if (kit->result.verdict != verdict)
        fail_msg("%s, not %s: %s", kg_verdict_name(kit->result.verdict), kg_verdict_name(verdict), kit->result.reason);
    assert_int_equal(answer, more);
}

static void unchanged_passes(void **state)
{
    (void)state;
    struct kit *kit = kit_new(KG_CUDA);
    decided(kit, &kit->golden, KG_PASS, false, "p50 25.0 us, golden 25.0 us (+0.0% ±0.3, threshold 2%)");
    const struct kg_judgement *judgement = &kit->result.judgement;
    assert_true(judgement->judged && judgement->same_code && judgement->quantity == KG_QUANTITY_RAW);
    assert_true(judgement->golden_us == 25 && judgement->threshold_pct == 2);
    assert_true(judgement->floor_pct == 0.2 && judgement->alarm_blocks == 0);
    /* qt(0.995, 4) s0 sqrt(2 / 4 (1 / 3 + 1 / 3)) with s0 = log(1.002) / 2, since two blocks' worth of prior */
    assert_true(fabs(judgement->margin_pct - 100 * sinh(4.604094871 * log(1.002) / 2 * sqrt(1 / 3.0))) < 1e-6);
    free(kit);
}

static void slow_says_what_changed(void **state)
{
    (void)state;
    struct kit *kit = kit_new(KG_CUDA);
    set_blocks(kit, 9, 26, 50);
    decided(kit, &kit->golden, KG_SLOW, false,
            "p50 26.0 us, golden 25.0 us (+4.0% ±0.1, threshold 2%), same code as the golden: environment");
    assert_true(fabs(kit->result.judgement.change_pct - 4) < 1e-9);
    (void)strcpy(kit->result.identity, "code:3");
    decided(kit, &kit->golden, KG_SLOW, false,
            "p50 26.0 us, golden 25.0 us (+4.0% ±0.1, threshold 2%), code changed since the golden");
    assert_false(kit->result.judgement.same_code);
    (void)strcpy(kit->result.knobs, "tile=64,repeat=2");
    (void)strcpy(kit->result.identity, "code:3; knobs tile=64,repeat=2");
    decided(kit, &kit->golden, KG_SLOW, false,
            "p50 26.0 us, golden 25.0 us (+4.0% ±0.1, threshold 2%), code changed since the golden, knobs differ from "
            "the golden's: tile=64,repeat=2");
    (void)strcpy(kit->golden.identity, "code:3");
    decided(kit, &kit->golden, KG_SLOW, false,
            "p50 26.0 us, golden 25.0 us (+4.0% ±0.1, threshold 2%), knobs differ from the golden's: tile=64,repeat=2");
    kit->result.identity[0] = 0; /* not known: nothing is claimed */
    kit->golden.identity[0] = 0;
    decided(kit, &kit->golden, KG_SLOW, false, "p50 26.0 us, golden 25.0 us (+4.0% ±0.1, threshold 2%)");
    assert_true(kit->result.judgement.alarm_blocks == 3 && fabs(kit->result.judgement.alarm_pct - 4) < 1e-9);
    free(kit);
}

/* The interval reaches below the threshold, so the reason says by what rule it is SLOW. */
static void slow_says_why_where_it_is_close(void **state)
{
    (void)state;
    struct kit *kit = kit_new(KG_CUDA);
    set_blocks(kit, 9, 25.51, 50);
    decided(
        kit, &kit->golden, KG_SLOW, false,
        "p50 25.5 us, golden 25.0 us (+2.0% ±0.1, threshold 2%), over the threshold and clear of the noise floor of "
        "0.2% in both sets of rounds, same code as the golden: environment");
    free(kit);
}

static void times_have_the_units_of_reports(void **state)
{
    (void)state;
    static const struct {
        double time_us;
        const char *reason;
    } rows[] = {
        { 0.5, "p50 500 ns, golden 500 ns (+0.0% ±0.3, threshold 2%)" },
        { 4.05, "p50 4.05 us, golden 4.05 us (+0.0% ±0.3, threshold 2%)" },
        { 832.5, "p50 832.5 us, golden 832.5 us (+0.0% ±0.3, threshold 2%)" },
        { 8700, "p50 8.70 ms, golden 8.70 ms (+0.0% ±0.3, threshold 2%)" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct kit *kit = kit_new(KG_CUDA);
        kit->golden.p50_us = kit->golden.best.p50_us = rows[i].time_us;
        for (int k = 0; k < 3; k++)
            kit->golden.blocks_us[k] = rows[i].time_us;
        set_blocks(kit, 3, rows[i].time_us, 50);
        decided(kit, &kit->golden, KG_PASS, false, rows[i].reason);
        free(kit);
    }
}

static void slow_is_confirmed_or_not_said(void **state)
{
    (void)state;
    struct kit *kit = kit_new(KG_CUDA);
    set_blocks(kit, 3, 26, 50);
    decided(
        kit, &kit->golden, KG_UNSURE, true,
        "a first set of 3 rounds read +4.0%, to be confirmed: p50 26.0 us, golden 25.0 us (+4.0% ±0.3, threshold 2%)");
    assert_true(kit->result.judgement.alarm_blocks == 3);
    add_blocks(kit, 2, 25, 50);
    decided(kit, &kit->golden, KG_UNSURE, true,
            "a first set of 3 rounds read +4.0%, 2 of at most 8 blocks after it do not decide: "
            "p50 25.0 us, golden 25.0 us (+0.0% ±0.4, threshold 2%)");
    add_blocks(kit, 4, 25, 50);
    decided(kit, &kit->golden, KG_PASS, false,
            "p50 25.0 us, golden 25.0 us (+0.0% ±0.1, threshold 2%); "
            "a first set of 3 rounds read +4.0%, a second did not confirm it");
    assert_true(kit->result.judgement.alarm_blocks == 3 && fabs(kit->result.judgement.alarm_pct - 4) < 1e-9);
    set_blocks(kit, 3, 26, 50);
    add_blocks(kit, 8, 25.48, 50); /* then in doubt to the end of a second set of 8 */
    kit->result.blocks[7].p50_us = 24.5;
    kit->result.blocks[8].p50_us = 26;
    decided(kit, &kit->golden, KG_UNSURE, false,
            "a first set of 3 rounds read +4.0%, 8 of at most 8 blocks after it do not decide: "
            "p50 25.5 us, golden 25.0 us (+1.7% ±3.3, threshold 2%)");
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
    set_blocks(kit, 3, 25.48, 50); /* +1.92%, upper bound 2.19 */
    decided(kit, &kit->golden, KG_UNSURE, true,
            "3 of at most 8 blocks do not decide: p50 25.5 us, golden 25.0 us (+1.9% ±0.3, threshold 2%)");
    kit->result.of.policy.max_blocks = 3;
    verdict_is(kit, KG_UNSURE, false);
    kit->result.of.policy.max_blocks = 8;
    set_blocks(kit, 2, 25, 50);
    verdict_is(kit, KG_UNSURE, true);
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
    assert_false(kg_verdict_decide(blank, &(struct kg_expectation){ .device_uuid = "GPU-1" }));
    assert_int_equal(blank->verdict, KG_ERROR);
    free(blank);
    free(kit);
}

/* Broken beats fast: a wrong result is never judged by its time. */
static void every_failing_gate_is_named(void **state)
{
    (void)state;
    struct kit *kit = kit_new(KG_CUDA);
    kit->result.comparison = (struct kg_comparison){
        .count = 100,
        .max_abs = 0.5,
        .mean_abs = 0.03,
        .bad_pct = 2,
        .rel_l2 = 0.9,
        .worst_index = 17,
        .worst_got = 1.5,
        .worst_expected = 1,
    };
    kit->result.marks = kg_comparison_mark(&kit->result.comparison, &suite.gates);
    set_blocks(kit, 3, 8, 50);
    decided(kit, &kit->golden, KG_FAIL, false,
            "max_abs 0.5 over 0.06, mean_abs 0.03 over 0.02, bad_pct 2 over 1, rel_l2 0.9 over 0.05");
    assert_false(kit->result.judgement.judged);

    kit->result.comparison = (struct kg_comparison){
        .count = 100, .nonfinite = 3, .unwritten = 2, .worst_index = 5, .worst_got = NAN, .worst_expected = 1
    };
    kit->result.marks = kg_comparison_mark(&kit->result.comparison, &suite.gates);
    decided(kit, &kit->golden, KG_FAIL, false, "3 of 100 elements not finite, 2 elements never written");

    const size_t gates[] = { offsetof(struct kg_gate_marks, max_abs), offsetof(struct kg_gate_marks, mean_abs),
                             offsetof(struct kg_gate_marks, bad_pct), offsetof(struct kg_gate_marks, rel_l2),
                             offsetof(struct kg_gate_marks, scaled),  offsetof(struct kg_gate_marks, slope),
                             offsetof(struct kg_gate_marks, finite),  offsetof(struct kg_gate_marks, repeats) };
    for (size_t i = 0; i < sizeof gates / sizeof *gates; i++) { /* each alone suffices, a deferred case included */
        kit->result.marks = (struct kg_gate_marks){ true, true, true, true, true, true, true, true };
        *((bool *)&kit->result.marks + gates[i] / sizeof(bool)) = false;
        kit->result.outcome = i % 2 ? KG_DEFERRED : KG_RAN;
        assert_false(decide(kit, &kit->golden));
        assert_int_equal(kit->result.verdict, KG_FAIL);
    }
    kit->result.outcome = KG_RAN;
    kit->result.comparison.unwritten = 0;
    kit->result.repeats = (struct kg_repeats){ 37, 1, "launch 37 of 200, alone, gave other bits" };
    decided(kit, &kit->golden, KG_FAIL, false, "launch 37 of 200, alone, gave other bits");
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
        assert_false(decide(kit, &kit->golden));
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
    kit->result.of.policy.timed = false;
    decided(kit, &kit->golden, KG_PASS, false, "right; not timed");
    decided(kit, NULL, KG_PASS, false, "right; not timed");
    kit->result.of.policy.timed = true;
    kit->result.outcome = KG_DEFERRED;
    (void)strcpy(kit->result.note, "time: see suite/shape/s0/fast");
    decided(kit, NULL, KG_PASS, false, "right; time: see suite/shape/s0/fast");
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
            "this run by graph, warm L2, windows of 200 us, irwin-hall-8");
    kit->result.of.policy.timer = KG_TIMER_EVENT;
    decided(kit, &kit->golden, KG_UNGATED, false,
            "stale: the golden was timed by graph, cold L2, windows of 200 us, irwin-hall-8; "
            "this run by event, warm L2, single calls, irwin-hall-8");
    free(kit);
}

struct sized {
    const char *name;
    int64_t n;
    bool causal;
};
static const kg_field sized_fields[] = {
    { .name = "n", .offset = offsetof(struct sized, n), .type = KG_INT },
    { .name = "causal", .offset = offsetof(struct sized, causal), .type = KG_BOOL },
};
static double sized_flops(const void *problem)
{
    return 2.0 * (double)((const struct sized *)problem)->n;
}
static double sized_bytes(const void *problem)
{
    (void)problem;
    return 4096;
}
static const kg_op sized_op = {
    .name = "op", .fields = KG_LIST(sized_fields), .flops = sized_flops, .bytes = sized_bytes
};
static const kg_suite sized_suite = { .name = "suite", .op = &sized_op, .anchor = &math };

/* A smaller row, or less work, under the name of what was blessed. */
static void golden_of_other_work_judges_nothing(void **state)
{
    struct sized problem = { "row", 8192, false };
    (void)state;
    struct kit *kit = kit_new(KG_CUDA);
    kit->result.of.suite = &sized_suite;
    kit->result.of.problem = &problem;
    kit->result.work = (struct kg_work){ .flops = 16384, .bytes = 4096 };
    verdict_is(kit, KG_PASS, false); /* it does not know its work */
    (void)strcpy(kit->golden.problem, "n=8192");
    kit->golden.flops = 16384;
    kit->golden.bytes = 4096;
    verdict_is(kit, KG_PASS, false);
    problem.n = 512;
    kit->result.work.flops = 1024;
    decided(kit, &kit->golden, KG_UNGATED, false,
            "the golden is of other work: problem: n=8192 -> n=512; flops: 16384 -> 1024");
    assert_true(kit->result.judgement.golden_us == 25 && !kit->result.judgement.judged);
    set_blocks(kit, 9, 8, 50); /* nor is it FAST */
    verdict_is(kit, KG_UNGATED, false);
    problem = (struct sized){ "row", 8192, true };
    kit->result.work.flops = 16384;
    decided(kit, &kit->golden, KG_UNGATED, false,
            "the golden is of other work: problem: causal not given -> causal=true");
    problem.causal = false;
    kit->golden.bytes = 8192; /* the op counts in another way */
    decided(kit, &kit->golden, KG_UNGATED, false, "the golden is of other work: bytes: 8192 -> 4096");
    kit->result.of.policy.against = true; /* the baseline judges */
    set_baseline(kit, 3, 25, 25);
    verdict_is(kit, KG_PASS, false);
    free(kit);
}

/* Of one case a shape, whether it is timed or not, unless another compiler made what was blessed. */
static void more_spills_fail(void **state)
{
    (void)state;
    struct kit *kit = kit_new(KG_CUDA);
    kit->result.n_compiled = 2;
    kit->result.compiled[0] = (kg_compiled){ .compiler = "NVRTC 13.0", .spill_store_bytes = 8 };
    kit->result.compiled[1] = (kg_compiled){ .compiler = "NVRTC 13.0", .spill_load_bytes = 12 };
    verdict_is(kit, KG_PASS, false); /* it does not know what was compiled */
    (void)strcpy(kit->golden.compiler, "NVRTC 13.0");
    kit->golden.spill_bytes = 20;
    verdict_is(kit, KG_PASS, false);
    kit->golden.spill_bytes = 21;
    verdict_is(kit, KG_PASS, false);
    kit->golden.spill_bytes = 19;
    decided(kit, &kit->golden, KG_FAIL, false, "spills of compiled kernels, bytes 19 -> 20");
    kit->result.of.policy.timed = false;
    verdict_is(kit, KG_FAIL, false);
    kit->result.outcome = KG_DEFERRED;
    verdict_is(kit, KG_PASS, false);
    kit->result.outcome = KG_RAN;
    kit->result.of.regime = &(const kg_regime){ .name = "poison" };
    verdict_is(kit, KG_PASS, false);
    kit->result.of.regime = NULL;
    (void)strcpy(kit->golden.compiler, "NVRTC 12.9");
    verdict_is(kit, KG_PASS, false);
    (void)strcpy(kit->golden.compiler, "NVRTC 13.0");
    const struct kg_expectation bless = { .golden = &kit->golden, .device_uuid = "GPU-1", .blesses = true };
    assert_false(kg_verdict_decide(&kit->result, &bless));
    assert_int_equal(kit->result.verdict, KG_PASS);
    const struct sized problem = { "row", 512, false };
    kit->result.of.suite = &sized_suite;
    kit->result.of.problem = &problem;
    (void)strcpy(kit->golden.problem, "n=8192");
    kit->result.of.policy.timed = true;
    verdict_is(kit, KG_UNGATED, false);
    free(kit);
}

static void knobs_are_a_note(void **state)
{
    (void)state;
    struct kit *kit = kit_new(KG_CUDA);
    (void)strcpy(kit->result.knobs, "tile=64");
    verdict_is(kit, KG_PASS, false);
    assert_null(strstr(kit->result.reason, "knobs")); /* it does not know its own */
    (void)strcpy(kit->golden.launch, "grid 1 block 32");
    decided(kit, &kit->golden, KG_PASS, false,
            "p50 25.0 us, golden 25.0 us (+0.0% ±0.3, threshold 2%), knobs differ from the golden's: tile=64");
    (void)strcpy(kit->golden.knobs, "tile=64");
    decided(kit, &kit->golden, KG_PASS, false, "p50 25.0 us, golden 25.0 us (+0.0% ±0.3, threshold 2%)");
    kit->result.knobs[0] = '\0';
    decided(kit, &kit->golden, KG_PASS, false,
            "p50 25.0 us, golden 25.0 us (+0.0% ±0.3, threshold 2%), knobs differ from the golden's: none");
    free(kit);
    kit = kit_new(KG_CUDA); /* the knobs of a library's engine are none of kgate's */
    (void)strcpy(kit->result.identity, "cuDNN 9.19.0 engine 2 knobs 24=7; kernel_7");
    (void)strcpy(kit->golden.identity, "cuDNN 9.19.0 engine 2 knobs 24=7; kernel_7");
    set_blocks(kit, 9, 26, 50);
    decided(kit, &kit->golden, KG_SLOW, false,
            "p50 26.0 us, golden 25.0 us (+4.0% ±0.1, threshold 2%), same code as the golden: environment");
    (void)strcpy(kit->golden.identity, "cuDNN 9.19.0 engine 2 knobs 24=32; kernel_32");
    decided(kit, &kit->golden, KG_SLOW, false,
            "p50 26.0 us, golden 25.0 us (+4.0% ±0.1, threshold 2%), cuDNN 9.19.0 engine 2 knobs 24=32 → 24=7");
    free(kit);
}

static void set_noisy(struct kit *kit, int count, double low_us, double high_us)
{
    set_blocks(kit, count, low_us, 50);
    for (int i = 0; i < count; i += 2)
        kit->result.blocks[i].p50_us = high_us;
    for (int i = 0; i < count; i++)
        kit->result.blocks[i].log_ratio = log(kit->result.blocks[i].p50_us / 50);
}

/* Code, launch and knobs of the golden: no change of code can have made it slower. */
static void unchanged_is_green_where_undecided(void **state)
{
    (void)state;
    struct kit *kit = kit_new(KG_CUDA);
    struct kg_launched *launched = kit->result.launch.launched;
    (void)strcpy(kit->golden.launch, "grid 7 block 32");
    *launched = (struct kg_launched){ .grid = { 7, 1, 1 }, .block = { 32, 1, 1 } };
    kit->result.launch.kernels = kit->result.launch.n_launched = 1;
    set_blocks(kit, 1, 25, 50);
    verdict_is(kit, KG_PASS, false); /* at once */
    (void)strcpy(kit->result.identity, "code:3");
    verdict_is(kit, KG_UNSURE, true);
    (void)strcpy(kit->result.identity, "code:1");
    set_noisy(kit, 3, 24.4, 26);
    verdict_is(kit, KG_UNSURE, true);
    set_noisy(kit, 6, 24.4, 26);
    verdict_is(kit, KG_PASS, false);
    assert_true(kit->result.judgement.unchanged);
    assert_non_null(strstr(kit->result.reason, "6 of at most 8 blocks do not decide: p50 "));
    assert_non_null(strstr(kit->result.reason, ", but nothing that is launched has changed since the golden"));
    launched->grid[0] = 8;
    verdict_is(kit, KG_UNSURE, true);
    assert_non_null(strstr(kit->result.reason, ", launch grid 7 block 32 → grid 8 block 32"));
    launched->grid[0] = 7;
    (void)strcpy(kit->result.knobs, "tile=64");
    verdict_is(kit, KG_UNSURE, true);
    kit->result.knobs[0] = 0;
    (void)strcpy(kit->result.identity, "code:3");
    verdict_is(kit, KG_UNSURE, true);
    assert_false(kit->result.judgement.unchanged);
    (void)strcpy(kit->result.identity, "code:1");
    kit->golden.launch[0] = 0; /* it does not know */
    verdict_is(kit, KG_UNSURE, true);
    (void)strcpy(kit->golden.launch, "grid 7 block 32");
    set_blocks(kit, 9, 26, 50); /* decided is decided */
    verdict_is(kit, KG_SLOW, false);
    set_blocks(kit, 3, 26, 50);
    add_blocks(kit, 3, 25.4, 50); /* and what raised an alarm is looked into */
    verdict_is(kit, KG_UNSURE, true);
    free(kit);
}

/* It is told by kernels' hashes, and by what a backend says of itself. */
static void unchanged_is_known_of_what_a_backend_says(void **state)
{
    (void)state;
    struct kit *kit = kit_new(KG_CUDA);
    (void)strcpy(kit->golden.launch, "host");
    (void)strcpy(kit->result.identity, "code=e4m3,lut=0; code:1");
    (void)strcpy(kit->golden.identity, kit->result.identity);
    set_blocks(kit, 1, 25, 50);
    verdict_is(kit, KG_PASS, false);
    (void)strcpy(kit->golden.identity, "code=e4m3,lut=1; code:1");
    verdict_is(kit, KG_UNSURE, true);
    free(kit);
}

/* Arguments, given inputs and what was staged are of a launch where golden and run both know them. */
static void other_arguments_are_a_change(void **state)
{
    static const struct {
        const char *golden;
        bool unchanged;
    } rows[] = {
        { "grid 7 block 32 arguments 00000005; grid 9 block 32; given 00000006; staged 00000007", true },
        { "grid 7 block 32; grid 9 block 32", true },
        { "grid 7 block 32; grid 9 block 32 arguments 00000001; staged 00000007", true },
        { "grid 7 block 32 arguments 00000004; grid 9 block 32; given 00000006; staged 00000007", false },
        { "grid 7 block 32 arguments 00000005; grid 9 block 32; given 00000001; staged 00000007", false },
        { "grid 7 block 32 arguments 00000005; grid 9 block 32; given 00000006; staged 00000001", false },
        { "grid 7 block 32 arguments 00000005; grid 9 block 32; 1 early start; given 00000006", false },
        { "grid 7 block 32 arguments 00000005; given 00000006; staged 00000007", false },
        { "grid 7 block 32 arguments 00000005; grid 9 block 3; given 00000006; staged 00000007", false },
    };
    (void)state;
    struct kit *kit = kit_new(KG_CUDA);
    kit->result.launch = (struct kg_launch_info){ .kernels = 2,
                                                  .given = 6,
                                                  .staged = 7,
                                                  .n_launched = 2,
                                                  .launched = { { "k", { 7, 1, 1 }, { 32, 1, 1 }, { 0 }, 0, 5 },
                                                                { "k", { 9, 1, 1 }, { 32, 1, 1 }, { 0 }, 0, 0 } } };
    set_noisy(kit, 6, 24.4, 26);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        (void)strcpy(kit->golden.launch, rows[i].golden);
        verdict_is(kit, rows[i].unchanged ? KG_PASS : KG_UNSURE, !rows[i].unchanged);
        assert_true(kit->result.judgement.unchanged == rows[i].unchanged);
    }
    assert_non_null(strstr(kit->result.reason, "staged 00000007 → grid 7 block 32 arguments 00000005; "));
    free(kit);
}

/* Ratios of one code differ from card to card. */
static void unchanged_is_green_within_what_cards_differ_by(void **state)
{
    (void)state;
    struct kit *kit = kit_new(KG_CUDA);
    kit->device_uuid = "GPU-2";
    kit->golden.quantity = KG_QUANTITY_RATIO;
    set_blocks(kit, 9, 26, 50);
    verdict_is(kit, KG_SLOW, false);
    (void)strcpy(kit->golden.launch, "host");
    verdict_is(kit, KG_PASS, false);
    assert_true(kit->result.judgement.threshold_pct == KG_CARD_SPREAD_PCT);
    set_blocks(kit, 9, 28, 50);
    verdict_is(kit, KG_SLOW, false);
    assert_non_null(strstr(kit->result.reason, "same code as the golden: environment"));
    (void)strcpy(kit->result.anchor_identity, "code:9"); /* nothing that it could be compared by, nor that changed */
    decided(kit, &kit->golden, KG_PASS, false,
            "the golden of another card can be compared by ratio only, and the anchor's code changed since the golden, "
            "but nothing that is launched has changed since the golden");
    free(kit);
}

/* What differs is said by name, where it may be the reason. */
static void changes_have_names(void **state)
{
    (void)state;
    static const struct {
        const char *was, *is, *driver, *said;
    } rows[] = {
        { "cuDNN 9.19.0 engine 2 knobs 24=7; k", "cuDNN 9.14.0 engine 2 knobs 24=7; k", "1", "cuDNN 9.19.0 → 9.14.0" },
        { "cuDNN 9.19.0 engine 2; k", "cuDNN 9.19.0 engine 12; k", "1", "cuDNN 9.19.0 engine 2 → 12" },
        { "cuBLAS 13.1.0; a; b:1", "cuBLAS 13.1.1; a; b:2", "2",
          "code changed since the golden, cuBLAS 13.1.0 → 13.1.1, driver 1 → 2" },
        { "module code 1; 2 linked libraries 5", "module code 1; 2 linked libraries 6", "1",
          "code changed since the golden" },
        { "cuBLAS 13.1.0; a; b:1", "cuBLAS 13.1.0; c; b:1", "1", "other kernels of the library" },
        { "code=linear,lut=0; k:1", "code=linear,lut=1; k:1", "1", "code changed since the golden" },
        { "scale 1.0; a", "a", "1", "scale 1.0 → none" },
        { "a", "scale 1.0; a", "1", "none → scale 1.0" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct kit *kit = kit_new(KG_CUDA);
        char said[400];
        (void)strcpy(kit->golden.identity, rows[i].was);
        (void)strcpy(kit->result.identity, rows[i].is);
        (void)strcpy(kit->golden.provenance.driver, "1");
        kit->driver = rows[i].driver;
        set_blocks(kit, 9, 26, 50);
        (void)snprintf(said, sizeof said, "p50 26.0 us, golden 25.0 us (+4.0%% ±0.1, threshold 2%%), %s", rows[i].said);
        decided(kit, &kit->golden, KG_SLOW, false, said);
        free(kit);
    }
}

static void ratio_judges_where_it_was_steadier(void **state)
{
    (void)state;
    struct kit *kit = kit_new(KG_CUDA);
    kit->golden.quantity = KG_QUANTITY_RATIO;
    set_blocks(kit, 3, 25.3, 50.6); /* both 1.2% slower: the card, not the code */
    decided(kit, &kit->golden, KG_PASS, false,
            "p50 25.3 us, golden 25.0 us (ratio to the anchor +0.0% ±0.3, threshold 2%)");
    set_blocks(kit, 9, 25.5, 49.1);
    verdict_is(kit, KG_SLOW, false); /* a ratio 3.9% up */
    assert_int_equal(kit->result.judgement.quantity, KG_QUANTITY_RATIO);
    free(kit);
}

/* A slower anchor must not hide a slower case: the ratio is left, and p50 judges. */
static void moved_anchor_is_not_used(void **state)
{
    (void)state;
    struct kit *kit = kit_new(KG_CUDA);
    kit->golden.quantity = KG_QUANTITY_RATIO;
    set_blocks(kit, 9, 26, 52);
    kit->result.identity[0] = 0;
    decided(kit, &kit->golden, KG_SLOW, false,
            "p50 26.0 us, golden 25.0 us (+4.0% ±0.1, threshold 2%); judged by p50: the anchor itself reads +4.0%");
    assert_int_equal(kit->result.judgement.quantity, KG_QUANTITY_RAW);
    set_blocks(kit, 3, 25, 48); /* nor may a faster one accuse a case */
    decided(kit, &kit->golden, KG_PASS, false,
            "p50 25.0 us, golden 25.0 us (+0.0% ±0.3, threshold 2%); judged by p50: the anchor itself reads -4.0%");
    set_blocks(kit, 9, 26, 50);
    (void)strcpy(kit->result.anchor_identity, "code:9");
    decided(kit, &kit->golden, KG_SLOW, false,
            "p50 26.0 us, golden 25.0 us (+4.0% ±0.1, threshold 2%); "
            "judged by p50: the anchor's code changed since the golden");
    (void)strcpy(kit->result.anchor_identity, "code:2");
    (void)strcpy(kit->golden.anchor, "flash");
    verdict_is(kit, KG_SLOW, false);
    assert_non_null(strstr(kit->result.reason, "the suite's anchor is another than the golden's"));
    (void)strcpy(kit->golden.anchor, "math");
    set_blocks(kit, 9, 26, 0);
    verdict_is(kit, KG_SLOW, false);
    assert_non_null(strstr(kit->result.reason, "the anchor was not timed"));

    kit->golden.blocks_us[0] = 24; /* the floor of raw times is their own: 4.7%, and +4% is in doubt */
    kit->golden.blocks_us[2] = 25.1;
    set_blocks(kit, 6, 26, 50);
    verdict_is(kit, KG_UNSURE, true);
    free(kit);
}

/* By ratio unchanged, and faster. */
static void anchor_ten_per_cent_slower_excuses_nothing(void **state)
{
    (void)state;
    struct kit *kit = kit_new(KG_CUDA);
    kit->golden.quantity = KG_QUANTITY_RATIO;
    set_blocks(kit, 9, 27.5, 55);
    decided(kit, &kit->golden, KG_SLOW, false,
            "p50 27.5 us, golden 25.0 us (+10.0% ±0.1, threshold 2%), same code as the golden: environment; "
            "judged by p50: the anchor itself reads +10.0%");
    set_blocks(kit, 9, 26.25, 55);
    decided(kit, &kit->golden, KG_SLOW, false,
            "p50 26.2 us, golden 25.0 us (+5.0% ±0.1, threshold 2%), same code as the golden: environment; "
            "judged by p50: the anchor itself reads +10.0%");
    set_blocks(kit, 3, 26.25, 55);
    verdict_is(kit, KG_UNSURE, true); /* to be confirmed */
    free(kit);

    kit = kit_new(KG_CPU);
    kit->result.of.policy.threshold_pct = 5;
    set_blocks(kit, 3, 27.5, 55);
    decided(kit, &kit->golden, KG_UNSURE, true,
            "p50 27.5 us, golden 25.0 us (ratio to the anchor +0.0% ±1.3, threshold 5%); the anchor itself reads "
            "+10%: this machine is slower, or both are; --against tells");
    set_blocks(kit, 3, 26.4, 55); /* +5.6%, FAST by its ratio */
    kit->result.of.policy.threshold_pct = 3.5;
    verdict_is(kit, KG_UNSURE, true);
    set_blocks(kit, 8, 26.4, 55);
    verdict_is(kit, KG_UNSURE, false);
    free(kit);
}

/* Whatever the slow-down of the case, the threshold and the noise of the golden's anchor: 10% slower it hides nothing.
 */
static void slower_anchor_never_passes_a_slower_case(void **state)
{
    (void)state;
    for (double threshold_pct = 0.5; threshold_pct <= 40; threshold_pct *= 2)
        for (double slower_pct = threshold_pct * 1.1; slower_pct < 60; slower_pct += threshold_pct)
            for (int noisy = 0; noisy < 2; noisy++) {
                struct kit *kit = kit_new(KG_CUDA);
                kit->golden.quantity = KG_QUANTITY_RATIO;
                kit->golden.best.p50_us = 25;
                kit->result.of.policy.threshold_pct = threshold_pct;
                kit->result.of.policy.creep_pct = 1000;
                (void)strcpy(kit->golden.creep, "1000");
                if (noisy) { /* an anchor of 46, 50 and 54 us; a case as unsteady, so that the ratio is not */
                    kit->golden.blocks_us[0] = 23;
                    kit->golden.blocks_us[2] = 27;
                }
                set_blocks(kit, 3, 25 * (1 + slower_pct / 100), 55);
                add_blocks(kit, 6, 25 * (1 + slower_pct / 100), 55);
                (void)decide(kit, &kit->golden);
                assert_int_equal(kit->result.judgement.quantity, KG_QUANTITY_RAW);
                if (kit->result.verdict != KG_SLOW && !(noisy && kit->result.verdict == KG_UNSURE))
                    fail_msg("+%g%% over %g%%: %s", slower_pct, threshold_pct, kg_verdict_name(kit->result.verdict));
                free(kit);
            }
}

/* What a power-limited card does to the anchor at every run is no reason to judge by the noisier quantity. */
static void anchor_moves_within_its_noise(void **state)
{
    (void)state;
    struct kit *kit = kit_new(KG_CUDA);
    kit->golden.quantity = KG_QUANTITY_RATIO;
    kit->result.of.policy.threshold_pct = 1;
    const double us[] = { 24.6, 25, 25.4 }; /* and the anchor with it: 3.2% */
    memcpy(kit->golden.blocks_us, us, sizeof us);
    set_blocks(kit, 3, 25.6, 51.2);
    decided(kit, &kit->golden, KG_PASS, false,
            "p50 25.6 us, golden 25.0 us (ratio to the anchor +0.0% ±0.3, threshold 1%)");
    kit->golden.blocks_us[0] = kit->golden.blocks_us[2] = 25;
    verdict_is(kit, KG_UNSURE, true); /* a steady anchor that reads +2.4%: p50 judges */
    assert_int_equal(kit->result.judgement.quantity, KG_QUANTITY_RAW);
    free(kit);
}

/* The first look says which quantity is judged: later blocks of the anchor do not change it half way. */
static void judge_stays_the_same(void **state)
{
    (void)state;
    struct kit *kit = kit_new(KG_CUDA);
    kit->golden.quantity = KG_QUANTITY_RATIO;
    set_blocks(kit, 3, 26, 50);
    add_blocks(kit, 6, 28, 53.8);
    verdict_is(kit, KG_SLOW, false);
    assert_int_equal(kit->result.judgement.quantity, KG_QUANTITY_RATIO);
    free(kit);
}

/* Another card of the same model: absolute times say nothing, and the threshold is at least the floor. */
static void another_card_judges_by_ratio(void **state)
{
    (void)state;
    struct kit *kit = kit_new(KG_CUDA);
    kit->device_uuid = "GPU-2";
    kit->golden.best.p50_us = 20; /* of the other card: its ratio counts */
    set_blocks(kit, 3, 27, 54);
    decided(kit, &kit->golden, KG_PASS, false,
            "p50 27.0 us, golden 25.0 us (ratio to the anchor +0.0% ±0.3, threshold 2%); "
            "golden of another card, --against is the sharp tool");
    set_blocks(kit, 9, 28.08, 54);
    verdict_is(kit, KG_SLOW, false);
    kit->result.of.policy.threshold_pct =
        0.5; /* cards differ by more: so much is the least, as threshold and as floor */
    verdict_is(kit, KG_SLOW, false);
    assert_true(kit->result.judgement.threshold_pct == 1.5 && kit->result.judgement.floor_pct == 1.5);
    set_blocks(kit, 6, 27.43, 54);
    verdict_is(kit, KG_UNSURE, true); /* +1.6% ±0.3 */
    kit->result.of.policy.threshold_pct = 2;
    set_blocks(kit, 6, 28.08, 54);
    kit->golden.floor_pct = 6;
    verdict_is(kit, KG_UNSURE, true);
    assert_true(kit->result.judgement.threshold_pct == 6);
    kit->golden.floor_pct = 0.2;
    kit->golden.anchor[0] = 0;
    set_blocks(kit, 9, 28.08, 54);
    /* The anchor itself has no ratio: its raw time may differ by what cards of one model differ by. */
    decided(kit, &kit->golden, KG_SLOW, false,
            "p50 28.1 us, golden 25.0 us (+12.3% ±0.1, threshold 10%), same code as the golden: environment; "
            "judged by p50: the golden has no anchor; golden of another card, --against is the sharp tool");
    set_blocks(kit, 3, 27, 0);
    verdict_is(kit, KG_PASS, false);
    kit->device_uuid = NULL; /* not known is another */
    verdict_is(kit, KG_PASS, false);
    free(kit);
}

static void cpu_is_judged_by_ratio(void **state)
{
    (void)state;
    struct kit *kit = kit_new(KG_CPU);
    (void)strcpy(kit->golden.launch, "host"); /* nothing that is launched has changed */
    kit->golden.best.p50_us = 10;             /* creep is for CUDA cards */
    kit->golden.best.ratio = 0.1;
    set_blocks(kit, 3, 25.5, 52);
    decided(kit, &kit->golden, KG_PASS, false,
            "p50 25.5 us, golden 25.0 us (ratio to the anchor -1.9% ±1.3, threshold 10%)");
    kit->golden.quantity = KG_QUANTITY_RAW; /* whatever the golden says */
    verdict_is(kit, KG_PASS, false);
    assert_int_equal(kit->result.judgement.quantity, KG_QUANTITY_RATIO);
    set_blocks(kit, 9, 60, 100);
    verdict_is(kit, KG_SLOW, false);
    kit->device_uuid = "another";
    set_blocks(kit, 3, 50, 100); /* half the speed of the golden's machine, or both are slower */
    verdict_is(kit, KG_UNSURE, true);
    set_blocks(kit, 3, 12.5, 25); /* twice the speed, the ratio the same */
    verdict_is(kit, KG_PASS, false);
    kit->golden.launch[0] = 0;
    (void)strcpy(kit->result.anchor_identity, "code:9");
    decided(kit, &kit->golden, KG_UNGATED, false,
            "the golden of another card can be compared by ratio only, and the anchor's code changed since the golden");
    kit->device_uuid = "GPU-1";
    decided(kit, &kit->golden, KG_UNGATED, false,
            "a CPU's time can be compared by ratio only, and the anchor's code changed since the golden");
    kit->golden.anchor[0] = 0; /* the anchor itself */
    set_blocks(kit, 3, 25, 0);
    decided(kit, &kit->golden, KG_PASS, false, "p50 25.0 us, golden 25.0 us (+0.0% ±1.3, threshold 10%)");
    free(kit);
}

/* Both may be slow in some processes alone, which few blocks would not show. */
static void cpu_code_that_changed_is_looked_at_often(void **state)
{
    (void)state;
    struct kit *kit = kit_new(KG_CPU);
    kit->result.of.policy.max_blocks = 12;
    set_blocks(kit, 3, 25, 50);
    decided(
        kit, &kit->golden, KG_UNSURE, true,
        "p50 25.0 us, golden 25.0 us (ratio to the anchor +0.0% ±1.3, threshold 10%); code that changed is looked at "
        "more often: both are slower in 0 rounds");
    add_blocks(kit, 6, 25, 50);
    verdict_is(kit, KG_PASS, false);
    set_blocks(kit, 1, 75, 150); /* in one of nine, and of twelve */
    add_blocks(kit, 8, 25, 50);
    verdict_is(kit, KG_UNSURE, true);
    add_blocks(kit, 3, 25, 50);
    verdict_is(kit, KG_PASS, false);
    set_blocks(kit, 3, 75, 150); /* in a quarter */
    add_blocks(kit, 9, 25, 50);
    verdict_is(kit, KG_UNSURE, false);
    free(kit);
}

/* On the machine of the golden, where both are slower than they were in every block, a ratio proves nothing. */
static void cpu_anchor_hides_nothing(void **state)
{
    (void)state;
    struct kit *kit = kit_new(KG_CPU);
    (void)strcpy(kit->golden.launch, "host"); /* nothing that is launched has changed */
    set_blocks(kit, 3, 28.5, 55.5);           /* case +14%, anchor +11%: a ratio of +2.7% */
    decided(
        kit, &kit->golden, KG_UNSURE, true,
        "p50 28.5 us, golden 25.0 us (ratio to the anchor +2.7% ±1.4, threshold 10%); the anchor itself reads +11%: "
        "this machine is slower, or both are; --against tells");
    add_blocks(kit, 5, 32.5, 65); /* nor do more such blocks, to the last */
    verdict_is(kit, KG_UNSURE, false);
    for (int i = 0; i < 3; i++)
        kit->result.blocks[i].anchor_p50_us = 51;
    verdict_is(kit, KG_UNSURE, false); /* slower in five of eight */
    kit->result.blocks[3].p50_us = 27;
    verdict_is(kit, KG_UNSURE, false); /* in half */
    kit->result.blocks[4].p50_us = 27;
    verdict_is(kit, KG_PASS, false); /* in most of them the anchor was as fast as ever, or the case was */
    for (int i = 0; i < 5; i++) {
        kit->result.blocks[i].anchor_p50_us = 65;
        kit->result.blocks[i].p50_us = 32.5;
    }
    kit->device_uuid = "another host";
    verdict_is(kit, KG_UNSURE, false);
    kit->device_uuid = "GPU-1";

    set_blocks(kit, 3, 27.8, 53.5); /* +11.2%, beside an anchor of +7% */
    verdict_is(kit, KG_UNSURE, true);
    set_blocks(kit, 3, 27.8, 52.4); /* +4.8%: less than half the threshold */
    verdict_is(kit, KG_PASS, false);
    set_blocks(kit, 3, 32.5, 85); /* the case 30% slower, FAST by its ratio */
    verdict_is(kit, KG_UNSURE, true);
    set_blocks(kit, 9, 32.5, 55); /* a ratio over the threshold is SLOW all the same */
    verdict_is(kit, KG_SLOW, false);
    set_blocks(kit, 3, 26, 65); /* the case is what it was */
    verdict_is(kit, KG_FAST, false);
    free(kit);
}

/* Each golden within 2% of the last, all of them 7% over the best. */
static void creep_is_slow(void **state)
{
    (void)state;
    struct kit *kit = kit_new(KG_CUDA);
    kit->golden.best.p50_us = 23.364;
    (void)strcpy(kit->result.identity, "code:3");
    decided(
        kit, &kit->golden, KG_UNSURE, true,
        "p50 25.0 us, golden 25.0 us (+0.0% ±0.3, threshold 2%); +7.0% ±0.4 over the best, 23.4 us at 0123456789ab of "
        "2025-01-02, creep budget 5%, to be confirmed, code changed since the golden");
    set_blocks(kit, 9, 25, 50);
    decided(
        kit, &kit->golden, KG_SLOW, false,
        "p50 25.0 us, golden 25.0 us (+0.0% ±0.3, threshold 2%); +7.0% ±0.2 over the best, 23.4 us at 0123456789ab of "
        "2025-01-02, creep budget 5%, code changed since the golden");
    set_blocks(kit, 3, 25, 50);
    add_blocks(kit, 6, 24, 50);
    decided(
        kit, &kit->golden, KG_PASS, false,
        "p50 24.0 us, golden 25.0 us (+0.0% ±0.3, threshold 2%); +2.7% ±0.2 over the best, 23.4 us at 0123456789ab of "
        "2025-01-02, creep budget 5%, after +7.0% in a first set of 3 rounds");
    assert_true(kit->result.judgement.alarm_blocks == 3 && kit->result.judgement.alarm_pct > 6.9);
    kit->golden.best.p50_us = 23.9; /* +4.6% */
    set_blocks(kit, 9, 25, 50);
    verdict_is(kit, KG_PASS, false);
    kit->golden.best.p50_us = 23.75; /* +5.26%, but the lower bound is 4.9 */
    verdict_is(kit, KG_PASS, false);
    kit->golden.best.p50_us = 20;
    set_blocks(kit, 9, 23, 50); /* faster than the golden, still 15% over the best */
    verdict_is(kit, KG_SLOW, false);
    set_blocks(kit, 2, 25, 50); /* too few blocks for that too */
    verdict_is(kit, KG_UNSURE, true);
    free(kit);
}

/* The table allows more than it did when the golden was blessed. */
static void a_wider_creep_budget(void **state)
{
    (void)state;
    struct kit *kit = kit_new(KG_CUDA);
    kit->golden.best.p50_us = 23.364;
    kit->result.of.policy.creep_pct = 50;
    set_blocks(kit, 9, 25, 50);
    verdict_is(kit, KG_SLOW, false);
    assert_non_null(strstr(kit->result.reason, ", the golden's creep budget 5%"));
    (void)strcpy(kit->golden.creep, "50"); /* the table had it when it was blessed */
    verdict_is(kit, KG_PASS, false);
    kit->result.of.policy.creep_pct = 5;
    verdict_is(kit, KG_SLOW, false);
    free(kit);
}

/* Golden and best are of two cards. On a card that is not the best's the ratios are held against one another, and what
 * the times are is no matter; on the best's the times. */
static void creep_over_the_best_of_another_card(void **state)
{
    (void)state;
    struct kit *kit = kit_new(KG_CUDA);
    (void)strcpy(kit->golden.provenance.uuid, "GPU-2");
    kit->golden.best.ratio = 0.5 / 1.07;
    kit->golden.best.p50_us = 20;
    kit->device_uuid = "GPU-2";
    set_blocks(kit, 3, 25, 50);
    decided(kit, &kit->golden, KG_UNSURE, true,
            "p50 25.0 us, golden 25.0 us (+0.0% ±0.3, threshold 2%); +7.0% ±0.4 over the best, a ratio of 0.4673 at "
            "0123456789ab of 2025-01-02 on another card, creep budget 5%, to be confirmed");
    set_blocks(kit, 9, 25, 50);
    decided(kit, &kit->golden, KG_SLOW, false,
            "p50 25.0 us, golden 25.0 us (+0.0% ±0.3, threshold 2%); +7.0% ±0.2 over the best, a ratio of 0.4673 at "
            "0123456789ab of 2025-01-02 on another card, creep budget 5%, same code as the golden: environment");
    kit->golden.best.p50_us = 30;
    verdict_is(kit, KG_SLOW, false);
    kit->device_uuid = "GPU-3"; /* of neither */
    verdict_is(kit, KG_SLOW, false);
    kit->golden.best.ratio = 0.5 / 1.04;
    verdict_is(kit, KG_PASS, false);
    kit->device_uuid = "GPU-1"; /* the best's */
    kit->golden.best.p50_us = 23.364;
    decided(kit, &kit->golden, KG_SLOW, false,
            "p50 25.0 us, golden 25.0 us (ratio to the anchor +0.0% ±0.3, threshold 2%); +7.0% ±0.2 over the best, "
            "23.4 us at 0123456789ab of 2025-01-02, creep budget 5%, same code as the golden: environment; golden of "
            "another card, --against is the sharp tool");
    kit->golden.best.p50_us = 25 / 1.04;
    verdict_is(kit, KG_PASS, false);
    free(kit);
}

/* The budget is at least what the ratios of two cards differ by, and the noise of the case. */
static void budget_on_another_card(void **state)
{
    (void)state;
    struct kit *kit = kit_new(KG_CUDA);
    (void)strcpy(kit->golden.best.uuid, "GPU-2");
    kit->result.of.policy.creep_pct = 0.5;
    kit->golden.best.ratio = 0.5 / 1.047;
    set_blocks(kit, 9, 25, 50);
    verdict_is(kit, KG_PASS, false);
    kit->golden.best.ratio = 0.5 / 1.06;
    decided(kit, &kit->golden, KG_SLOW, false,
            "p50 25.0 us, golden 25.0 us (+0.0% ±0.3, threshold 2%); +6.0% ±0.2 over the best, a ratio of 0.4717 at "
            "0123456789ab of 2025-01-02 on another card, creep budget 5%, same code as the golden: environment");
    kit->floor.floor_pct[KG_QUANTITY_RATIO] = 7;
    verdict_is(kit, KG_PASS, false);
    kit->golden.best.ratio = 0.5 / 1.08;
    verdict_is(kit, KG_SLOW, false);
    assert_non_null(strstr(kit->result.reason, "creep budget 7%"));
    free(kit);
}

/* On a card that is not the best's, where one of the ratios is not there, is to another anchor, or is to one that
 * moved: no creep, and the golden alone judges. */
static void best_that_cannot_be_compared(void **state)
{
    (void)state;
    static const char reason[] = "p50 25.0 us, golden 25.0 us (+0.0% ±0.3, threshold 2%)";
    struct kit *kit = kit_new(KG_CUDA);
    (void)strcpy(kit->golden.best.uuid, "GPU-2");
    kit->golden.best.ratio = 0.4;
    set_blocks(kit, 9, 25, 50);
    verdict_is(kit, KG_SLOW, false);
    (void)strcpy(kit->golden.best.anchor_identity, "code:9");
    decided(kit, &kit->golden, KG_PASS, false, reason);
    (void)strcpy(kit->golden.anchor_identity, "code:9"); /* the run's is another than both of them had */
    decided(kit, &kit->golden, KG_PASS, false, reason);
    (void)strcpy(kit->result.anchor_identity, "code:9");
    verdict_is(kit, KG_SLOW, false);
    (void)strcpy(kit->golden.best.anchor, "flash");
    decided(kit, &kit->golden, KG_PASS, false, reason);
    (void)strcpy(kit->golden.best.anchor, "math");
    set_blocks(kit, 9, 25, 52); /* 4% slower, and would hide as much */
    decided(kit, &kit->golden, KG_PASS, false, reason);
    set_blocks(kit, 9, 25, 0);
    decided(kit, &kit->golden, KG_PASS, false, reason);
    set_blocks(kit, 9, 25, 50);
    kit->golden.anchor[0] = 0;
    decided(kit, &kit->golden, KG_PASS, false, reason);
    (void)strcpy(kit->golden.anchor, "math");
    verdict_is(kit, KG_SLOW, false);
    kit->golden.best.anchor[0] = 0;
    kit->golden.best.ratio = 0;
    decided(kit, &kit->golden, KG_PASS, false, reason);
    free(kit);
}

/* A suite's own budget of 2%: half a per cent and two are allowed, three are not, each step being under the threshold.
 * The leaderboard's best is named. */
static void a_suite_holds_to_its_best(void **state)
{
    (void)state;
    struct kit *kit = kit_new(KG_CUDA);
    kit->result.of.policy.creep_pct = 2;
    kit->golden.best.p50_us = 25 / 1.018;
    set_blocks(kit, 9, 25, 50);
    verdict_is(kit, KG_PASS, false);
    set_blocks(kit, 9, 25.1, 50); /* +2.2%, and the lower bound of three blocks is under 2 */
    verdict_is(kit, KG_PASS, false);
    set_blocks(kit, 3, 25.3, 50);
    decided(kit, &kit->golden, KG_UNSURE, true,
            "p50 25.3 us, golden 25.0 us (+1.2% ±0.3, threshold 2%); +3.0% ±0.4 over the best, 24.6 us at 0123456789ab "
            "of 2025-01-02, creep budget 2%, to be confirmed");
    set_blocks(kit, 9, 25.3, 50);
    decided(kit, &kit->golden, KG_SLOW, false,
            "p50 25.3 us, golden 25.0 us (+1.2% ±0.3, threshold 2%); +3.0% ±0.2 over the best, 24.6 us at 0123456789ab "
            "of 2025-01-02, creep budget 2%, same code as the golden: environment");
    set_blocks(kit, 3, 25.3, 50); /* one slow set of rounds, then as ever: no SLOW */
    add_blocks(kit, 6, 24.8, 50);
    verdict_is(kit, KG_PASS, false);
    kit->result.of.policy.creep_pct = 5;
    set_blocks(kit, 9, 25.3, 50);
    verdict_is(kit, KG_PASS, false);
    free(kit);
}

/* A budget that the noise on this machine exceeds is as wide as that noise. */
static void a_budget_is_no_finer_than_the_noise(void **state)
{
    (void)state;
    struct kit *kit = kit_new(KG_CUDA);
    kit->result.of.policy.creep_pct = 2;
    kit->result.of.policy.threshold_pct = 5;
    kit->floor.floor_pct[KG_QUANTITY_RAW] = 4;
    kit->golden.best.p50_us = 25 / 1.035;
    set_blocks(kit, 9, 25, 50);
    decided(kit, &kit->golden, KG_PASS, false, "p50 25.0 us, golden 25.0 us (+0.0% ±0.3, threshold 5%)");
    kit->golden.best.p50_us = 25 / 1.05;
    decided(kit, &kit->golden, KG_SLOW, false,
            "p50 25.0 us, golden 25.0 us (+0.0% ±0.3, threshold 5%); +5.0% ±0.2 over the best, 23.8 us at 0123456789ab "
            "of 2025-01-02, creep budget 4%, same code as the golden: environment");
    free(kit);
}

/* ---- another build --------------------------------------------------------------------------------------------- */

static void baseline_judges_without_a_golden(void **state)
{
    (void)state;
    struct kit *kit = kit_new(KG_CUDA);
    kit->result.of.policy.against = true;
    kit->golden.best.p50_us = 10; /* goldens are not asked, not even for creep */
    (void)strcpy(kit->golden.contract.l2, "cold");
    (void)strcpy(kit->result.baseline_identity, "code:1");
    set_baseline(kit, 3, 25, 25);
    /* Class of 25 us: 0.1% worth 4 blocks, so 3.7074280 0.001 sqrt(4 / 6 / 3) = 0.17477% */
    decided(kit, NULL, KG_PASS, false, "p50 25.0 us, baseline 25.0 us (+0.0% ±0.2, threshold 2%)");
    const struct kg_judgement *judgement = &kit->result.judgement;
    assert_true(judgement->judged && judgement->quantity == KG_QUANTITY_AGAINST && judgement->golden_us == 25);
    assert_true(fabs(judgement->margin_pct - 0.17477) < 1e-5);
    assert_true(fabs(judgement->floor_pct - 100 * expm1(0.002)) < 1e-9);
    verdict_is(kit, KG_PASS, false);
    set_baseline(kit, 9, 26, 25);
    decided(kit, NULL, KG_SLOW, false,
            "p50 26.0 us, baseline 25.0 us (+4.0% ±0.1, threshold 2%), same code as the baseline: environment");
    (void)strcpy(kit->result.identity, "code:3");
    decided(kit, NULL, KG_SLOW, false,
            "p50 26.0 us, baseline 25.0 us (+4.0% ±0.1, threshold 2%), code differs from the baseline's");
    set_baseline(kit, 3, 24, 25);
    decided(kit, NULL, KG_FAST, false,
            "p50 24.0 us, baseline 25.0 us (-4.0% ±0.2, threshold 2%), code differs from the baseline's");
    set_baseline(kit, 3, 25, 25);
    kit->result.blocks[1].baseline_p50_us = 0;
    decided(kit, NULL, KG_ERROR, false, "block 2 has no usable time of the baseline: 0 us");
    free(kit);
}

/* Noise by class where nothing was measured: half-widths of 3.7074280 sd sqrt(4 / 6 / 3) = 1.7477 sd. */
static void baseline_prior_by_class(void **state)
{
    (void)state;
    static const struct {
        enum kg_device_kind kind;
        double baseline_us, sd;
    } rows[] = {
        { KG_CUDA, 9.9, 0.005 }, { KG_CUDA, 10, 0.0015 }, { KG_CUDA, 19.9, 0.0015 },
        { KG_CUDA, 20, 0.001 },  { KG_CUDA, 900, 0.001 }, { KG_CPU, 9, 0.01 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct kit *kit = kit_new(rows[i].kind);
        kit->result.of.policy.against = true;
        kit->result.of.policy.is_cpu_anchor =
            rows[i].kind == KG_CPU; /* beside another build it is a case like any other */
        set_baseline(kit, 3, rows[i].baseline_us, rows[i].baseline_us);
        verdict_is(kit, KG_PASS, false);
        assert_true(fabs(kit->result.judgement.margin_pct - 100 * sinh(1.747698330 * rows[i].sd)) < 1e-6);
        assert_true(fabs(kit->result.judgement.floor_pct - 100 * expm1(2 * rows[i].sd)) < 1e-9);
        free(kit);
    }
}

/* A verdict that this machine's floor made milder says so, and from when it is. */
static void a_milder_verdict_says_why(void **state)
{
    (void)state;
    struct kit *kit = kit_new(KG_CUDA);
    kit->result.of.policy.against = true;
    kit->floor.sd[KG_QUANTITY_AGAINST] = 0.004;
    kit->floor.n_blocks = 11;
    (void)strcpy(kit->floor.date, "2025-01-02T03:04:05Z");
    (void)strcpy(kit->floor.under, "0.03 threads of others");
    kit->floor.floor_pct[KG_QUANTITY_AGAINST] = 2;
    kit->result.of.policy.threshold_pct = 2;
    set_baseline(kit, 9, 25.6, 25);
    decided(kit, NULL, KG_UNSURE, true,
            "a first set of 8 rounds read +2.4%, 1 of at most 8 blocks after it do not decide: p50 25.6 us, baseline "
            "25.0 us (+2.4% ±1.3, threshold 2%), SLOW without the noise that selfcheck found here on 2025-01-02 (0.03 "
            "threads of others)");
    free(kit);
}

/* What selfcheck measured stands in place of the class. */
static void machine_noise_is_used(void **state)
{
    (void)state;
    struct kit *kit = kit_new(KG_CUDA);
    kit->result.of.policy.against = true;
    kit->floor.sd[KG_QUANTITY_AGAINST] = 0.004;
    kit->floor.n_blocks = 11;
    kit->floor.floor_pct[KG_QUANTITY_AGAINST] = 1.2;
    set_baseline(kit, 3, 25.3, 25); /* qt(0.995, 12) = 3.0545396; sd sqrt(10 / 12 / 3) = 0.0021082, so 0.64% */
    decided(kit, NULL, KG_PASS, false, "p50 25.3 us, baseline 25.0 us (+1.2% ±0.7, threshold 2%)");
    assert_true(kit->result.judgement.floor_pct == 1.2);
    kit->result.of.policy.threshold_pct = 1.1;
    decided(kit, NULL, KG_UNGATED, false,
            "threshold 1.1% is under this machine's floor of 1.2% for this case (kgate selfcheck)");
    assert_false(kit->result.judgement.judged);

    kit->result.of.policy.against = false; /* of p50 it says nothing */
    set_blocks(kit, 3, 25, 50);
    verdict_is(kit, KG_PASS, false);
    assert_true(kit->result.judgement.floor_pct == 0.2);
    kit->floor.sd[KG_QUANTITY_RAW] = 0.003;
    kit->floor.n_blocks = 11;
    kit->floor.floor_pct[KG_QUANTITY_RAW] = 0.6;
    verdict_is(kit, KG_PASS, false); /* 3.0545396 0.003 sqrt(10 / 12 (1 / 3 + 1 / 3)) */
    assert_true(fabs(kit->result.judgement.margin_pct - 100 * sinh(3.0545396 * 0.003 * sqrt(10 / 18.0))) < 1e-6);
    assert_true(kit->result.judgement.floor_pct == 0.6);
    kit->floor.n_blocks = 13;
    verdict_is(kit, KG_PASS, false);
    const double margin_pct = kit->result.judgement.margin_pct;
    kit->floor.n_blocks = 300; /* however much was seen then, what is seen now counts */
    verdict_is(kit, KG_PASS, false);
    assert_true(kit->result.judgement.margin_pct == margin_pct);
    kit->result.of.policy.threshold_pct = 0.5;
    verdict_is(kit, KG_UNGATED, false);
    free(kit);
}

/* Less noise than the golden's: the golden's stays. */
static void the_larger_noise_is_used(void **state)
{
    (void)state;
    struct kit *kit = kit_new(KG_CUDA);
    kit->floor.sd[KG_QUANTITY_RAW] = 0.0002;
    kit->floor.n_blocks = 11;
    kit->floor.floor_pct[KG_QUANTITY_RAW] = 0.04;
    verdict_is(kit, KG_PASS, false);
    assert_true(fabs(kit->result.judgement.margin_pct - 100 * sinh(4.604094871 * log(1.002) / 2 * sqrt(1 / 3.0))) <
                1e-6);
    assert_true(kit->result.judgement.floor_pct == 0.2);
    free(kit);
}

/* A window of 20 calls is told to a tick, so a call to a twentieth of it. */
static void a_tick_is_no_slowdown(void **state)
{
    (void)state;
    struct kit *kit = kit_new(KG_CUDA);
    set_blocks(kit, 9, 26, 50); /* +4%, and 4.8 or 3.8 a tick */
    kit->result.tick_us = 25;
    verdict_is(kit, KG_UNSURE, false);
    kit->result.tick_us = 20;
    verdict_is(kit, KG_SLOW, false);
    for (int i = 0; i < 9; i++)
        kit->result.blocks[i].calls = 1;
    verdict_is(kit, KG_UNSURE, false);
    kit->result.tick_us = 1; /* a single call between events */
    verdict_is(kit, KG_SLOW, false);
    free(kit);
}

static void new_case_is_gated_for_being_right(void **state)
{
    (void)state;
    struct kit *kit = kit_new(KG_CUDA);
    kit->result.of.policy.against = true;
    kit->result.is_new = true;
    set_blocks(kit, 0, 0, 0);
    decided(kit, NULL, KG_PASS, false, "right; new, the baseline has no such case");
    (void)strcpy(kit->result.note, "the baseline does not run here: no cuDNN");
    decided(kit, NULL, KG_PASS, false, "right; new, the baseline does not run here: no cuDNN");
    kit->result.note[0] = 0;
    kit->result.marks.max_abs = false;
    verdict_is(kit, KG_FAIL, false);
    kit->result.marks.max_abs = true;
    kit->result.is_new = false;
    decided(kit, NULL, KG_UNSURE, true, "right; no block was timed");
    free(kit);
}

static void expected_failures(void **state)
{
    (void)state;
    struct kit *kit = kit_new(KG_CUDA);
    kit->result.of.policy.xfail = "bug 7";
    decided(kit, &kit->golden, KG_LOST, false,
            "golden exists, but the table now expects a failure (bug 7; --bless --prune): p50 25.0 us, golden 25.0 us "
            "(+0.0% ±0.3, threshold 2%)");
    (void)strcpy(kit->golden.xfails, "huge,normal"); /* as old as the golden */
    decided(kit, &kit->golden, KG_XPASS, false,
            "must fail (bug 7), but is PASS: p50 25.0 us, golden 25.0 us (+0.0% ±0.3, threshold 2%)");
    decided(kit, NULL, KG_XPASS, false, "must fail (bug 7), but is UNGATED: right; no golden on this architecture");
    set_blocks(kit, 2, 25, 50);
    assert_true(decide(kit, &kit->golden)); /* doubt, and more could decide it */
    assert_int_equal(kit->result.verdict, KG_XPASS);
    set_blocks(kit, 9, 26, 50);
    assert_false(decide(kit, &kit->golden));
    assert_int_equal(kit->result.verdict, KG_XFAIL);
    kit->result.marks.rel_l2 = false;
    kit->result.comparison.rel_l2 = 1;
    decided(kit, &kit->golden, KG_XFAIL, false, "must fail (bug 7), and does: rel_l2 1 over 0.05");
    (void)strcpy(kit->result.note, "why");
    kit->result.outcome = KG_BROKEN;
    decided(kit, NULL, KG_XFAIL, false, "must fail (bug 7), and does: why");
    kit->result.outcome = KG_SKIPPED;
    decided(kit, NULL, KG_SKIP, false, "why");
    assert_false(decide(kit, &kit->golden));
    assert_int_equal(kit->result.verdict, KG_LOST);
    free(kit);
}

/* What a golden was blessed without excuses nothing; a bless says anew what it is blessed with. */
static void excuses_are_as_old_as_the_golden(void **state)
{
    static const kg_regime huge = { .name = "huge" };
    (void)state;
    struct kit *kit = kit_new(KG_CUDA);
    const struct kg_expectation blessing = { .golden = &kit->golden, .floor = &kit->floor, .blesses = true };
    kit->result.of.policy.xfail = "bug 7";
    kit->result.of.policy.timed = false;
    kit->result.of.regime = &huge;
    kit->result.marks.rel_l2 = false;
    kit->result.comparison.rel_l2 = 1;
    (void)strcpy(kit->golden.xfails, "huger,hug,normal");
    verdict_is(kit, KG_LOST, false);
    (void)kg_verdict_decide(&kit->result, &blessing);
    assert_int_equal(kit->result.verdict, KG_XFAIL);
    (void)strcpy(kit->golden.xfails, "normal,huge");
    verdict_is(kit, KG_XFAIL, false);
    free(kit);
}

static void timing_switched_off_is_lost(void **state)
{
    (void)state;
    struct kit *kit = kit_new(KG_CUDA);
    kg_suite untimed = suite;
    untimed.time.off = true;
    kit->result.of.suite = &untimed;
    kit->result.of.policy.timed = false;
    decided(kit, &kit->golden, KG_LOST, false,
            "golden exists, but the table has switched its timing off (--bless --prune removes it)");
    decided(kit, NULL, KG_PASS, false, "right; not timed");
    kit->result.of.suite = &suite; /* --no-time */
    decided(kit, &kit->golden, KG_PASS, false, "right; not timed");
    free(kit);
}

/* No golden judges an anchor of the CPU, so none is left behind by who becomes one. */
static void a_case_made_the_anchor_is_lost(void **state)
{
    (void)state;
    struct kit *kit = kit_new(KG_CPU);
    kit->result.of.policy.is_cpu_anchor = true;
    decided(kit, &kit->golden, KG_LOST, false,
            "golden exists, but the table has made it the anchor (--bless --prune removes it)");
    decided(kit, NULL, KG_PASS, false, "right; the anchor on a CPU, its time is not judged");
    free(kit);
}

/* The suite accepts zeros, and a hundredth more. */
static void make_weak(struct kit *kit)
{
    kit->result.strength = (struct kg_strength){
        .judged = true,
        .applies = (1u << KG_WRONGS) - 1,
        .accepted = 1u << KG_WRONG_ZEROS | 1u << KG_WRONG_FACTOR,
        .remedies = { [KG_WRONG_ZEROS] = { KG_LIMIT_MAX_ABS, 0.49, 1 },
                      [KG_WRONG_FACTOR] = { KG_LIMIT_REL_L2, 0.0099, 0.5 } },
    };
}

/* Gates that pass a wrong answer make what is right WEAK, but hide nothing that is worse. */
static void weak_gates(void **state)
{
    static const char weak[] = "weak: its gates pass zeros (max_abs 0.49 would see it; suite has 1), "
                               "factor (rel_l2 0.0099 would see it; suite has 0.5)";
    (void)state;
    struct kit *kit = kit_new(KG_CUDA);
    make_weak(kit);
    decided(kit, &kit->golden, KG_WEAK, false, weak); /* PASS */
    decided(kit, NULL, KG_WEAK, false, weak);         /* UNGATED */
    set_blocks(kit, 3, 20, 50);
    decided(kit, &kit->golden, KG_WEAK, false, weak); /* FAST */
    set_blocks(kit, 2, 25, 50);
    decided(kit, &kit->golden, KG_WEAK, true, weak); /* UNSURE, and more could decide it */
    set_blocks(kit, 9, 26, 50);
    assert_false(decide(kit, &kit->golden));
    assert_int_equal(kit->result.verdict, KG_SLOW);
    kit->result.marks.rel_l2 = false;
    kit->result.comparison.rel_l2 = 1;
    decided(kit, &kit->golden, KG_FAIL, false, "rel_l2 1 over 0.05");
    kit->result.of.policy.xfail = "bug 7";
    (void)strcpy(kit->golden.xfails, "normal");
    decided(kit, &kit->golden, KG_XFAIL, false, "must fail (bug 7), and does: rel_l2 1 over 0.05");
    kit->result.marks.rel_l2 = true;
    set_blocks(kit, 3, 25, 50);
    verdict_is(kit, KG_XPASS, false);
    (void)strcpy(kit->result.note, "why");
    kit->result.of.policy.xfail = NULL;
    kit->result.outcome = KG_BROKEN;
    decided(kit, &kit->golden, KG_ERROR, false, "why");
    kit->result.outcome = KG_SKIPPED;
    decided(kit, NULL, KG_SKIP, false, "why");
    free(kit);
}

static void what_is_excused_is_not_weak(void **state)
{
    (void)state;
    struct kit *kit = kit_new(KG_CUDA);
    make_weak(kit);
    kit->result.of.policy.excused = 1u << KG_WRONG_ZEROS | 1u << KG_WRONG_NOISE;
    decided(kit, &kit->golden, KG_WEAK, false,
            "weak: its gates pass factor (rel_l2 0.0099 would see it; suite has 0.5)");
    kit->result.of.policy.excused |= 1u << KG_WRONG_FACTOR;
    verdict_is(kit, KG_PASS, false);
    free(kit);
}

/* Text of any length stays inside the reason. */
static void long_notes_are_cut(void **state)
{
    (void)state;
    struct kit *kit = kit_new(KG_CUDA);
    memset(kit->result.note, 'x', sizeof kit->result.note - 1);
    kit->result.outcome = KG_BROKEN;
    kit->result.of.policy.xfail = "bug 7";
    assert_false(decide(kit, NULL));
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
        [KG_XPASS] = 1, [KG_SLOW] = 3, [KG_UNSURE] = 4, [KG_UNGATED] = 4, [KG_LOST] = 4, [KG_WEAK] = 4,
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

static void stopped(struct kit *kit, bool failed_fast, enum kg_verdict verdict, const char *reason)
{
    const struct kg_expectation expectation = {
        .golden = &kit->golden, .device_uuid = "GPU-1", .stopped = "interrupted", .failed_fast = failed_fast
    };
    (void)kg_verdict_decide(&kit->result, &expectation);
    assert_int_equal(kit->result.verdict, verdict);
    assert_int_equal(kit->result.stopped, verdict == KG_UNSURE);
    assert_string_equal(kit->result.reason, reason);
}

/* What is known of a case that the run did not get through does not decide it; what was decided stays. */
static void a_run_that_stopped(void **state)
{
    (void)state;
    struct kit *kit = kit_new(KG_CUDA);
    stopped(kit, false, KG_PASS, "p50 25.0 us, golden 25.0 us (+0.0% ±0.3, threshold 2%)");
    set_blocks(kit, 3, 26, 50);
    stopped(
        kit, false, KG_UNSURE,
        "the run was stopped (interrupted) before its time was decided; so far: a first set of 3 rounds read +4.0%, "
        "to be confirmed: p50 26.0 us, golden 25.0 us (+4.0% ±0.3, threshold 2%)");
    stopped(kit, true, KG_SKIP, "right; not timed: --fail-fast stopped the run");
    kit->result.n_blocks = 0;
    stopped(kit, false, KG_UNSURE, "the run was stopped (interrupted) before its time was measured; right");
    kit->result.marks.finite = false;
    kit->result.comparison.nonfinite = 3;
    for (int failed_fast = 0; failed_fast < 2; failed_fast++)
        stopped(kit, failed_fast, KG_FAIL, "3 of 100 elements not finite");
    kit->result.marks.finite = true;
    kit->result.compared = false;
    stopped(kit, false, KG_UNSURE, "the run was stopped (interrupted) before its output was compared");
    stopped(kit, true, KG_SKIP, "not run: --fail-fast stopped the run");
    kit->result.outcome = KG_BROKEN;
    (void)strcpy(kit->result.note, "died");
    stopped(kit, true, KG_ERROR, "died");
    free(kit);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(unchanged_passes),
    cmocka_unit_test(slow_says_what_changed),
    cmocka_unit_test(slow_says_why_where_it_is_close),
    cmocka_unit_test(times_have_the_units_of_reports),
    cmocka_unit_test(slow_is_confirmed_or_not_said),
    cmocka_unit_test(fast_suggests_a_bless),
    cmocka_unit_test(doubt_asks_for_more_until_rounds_run_out),
    cmocka_unit_test(what_did_not_run),
    cmocka_unit_test(every_failing_gate_is_named),
    cmocka_unit_test(impossible_and_unusable_times_are_errors),
    cmocka_unit_test(right_but_not_timed_passes),
    cmocka_unit_test(without_a_comparable_golden_ungated),
    cmocka_unit_test(golden_of_other_work_judges_nothing),
    cmocka_unit_test(more_spills_fail),
    cmocka_unit_test(knobs_are_a_note),
    cmocka_unit_test(other_arguments_are_a_change),
    cmocka_unit_test(unchanged_is_green_where_undecided),
    cmocka_unit_test(unchanged_is_green_within_what_cards_differ_by),
    cmocka_unit_test(unchanged_is_known_of_what_a_backend_says),
    cmocka_unit_test(changes_have_names),
    cmocka_unit_test(ratio_judges_where_it_was_steadier),
    cmocka_unit_test(moved_anchor_is_not_used),
    cmocka_unit_test(anchor_ten_per_cent_slower_excuses_nothing),
    cmocka_unit_test(slower_anchor_never_passes_a_slower_case),
    cmocka_unit_test(anchor_moves_within_its_noise),
    cmocka_unit_test(judge_stays_the_same),
    cmocka_unit_test(another_card_judges_by_ratio),
    cmocka_unit_test(cpu_is_judged_by_ratio),
    cmocka_unit_test(cpu_code_that_changed_is_looked_at_often),
    cmocka_unit_test(cpu_anchor_hides_nothing),
    cmocka_unit_test(creep_is_slow),
    cmocka_unit_test(a_wider_creep_budget),
    cmocka_unit_test(creep_over_the_best_of_another_card),
    cmocka_unit_test(budget_on_another_card),
    cmocka_unit_test(best_that_cannot_be_compared),
    cmocka_unit_test(a_suite_holds_to_its_best),
    cmocka_unit_test(a_budget_is_no_finer_than_the_noise),
    cmocka_unit_test(baseline_judges_without_a_golden),
    cmocka_unit_test(baseline_prior_by_class),
    cmocka_unit_test(machine_noise_is_used),
    cmocka_unit_test(a_milder_verdict_says_why),
    cmocka_unit_test(the_larger_noise_is_used),
    cmocka_unit_test(a_tick_is_no_slowdown),
    cmocka_unit_test(new_case_is_gated_for_being_right),
    cmocka_unit_test(expected_failures),
    cmocka_unit_test(excuses_are_as_old_as_the_golden),
    cmocka_unit_test(timing_switched_off_is_lost),
    cmocka_unit_test(a_case_made_the_anchor_is_lost),
    cmocka_unit_test(weak_gates),
    cmocka_unit_test(what_is_excused_is_not_weak),
    cmocka_unit_test(long_notes_are_cut),
    cmocka_unit_test(a_run_that_stopped),
    cmocka_unit_test(statuses),
};

int main(void)
{
    return cmocka_run_group_tests(tests, NULL, NULL);
}
