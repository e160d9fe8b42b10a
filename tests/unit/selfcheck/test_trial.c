/* test_trial.c -- gates of hand-made series: a planted slowdown is found, nothing changed is not, no block serves
 * twice. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "selfcheck/goal.h"
#include "selfcheck/record.h"
#include "selfcheck/trial.h"

#define NOISE 0.0005

/* A deterministic deviation, the same for every run of the test: sums of two sines look irregular enough. */
static double noise(int i, int which)
{
    return NOISE * (sin(12.9898 * (i + 1) + which) + sin(78.233 * (i + 1) + 2 * which));
}

/* Blocks of 100 us, unchanged, and beside each the same slowed down by planted_pct[i / 9 % n]. */
static struct kg_series series_of(const char *start, int n_blocks, const double *planted_pct, int n_planted)
{
    struct kg_series series = { .key = "suite/shape/backend",
                                .kind = KG_CUDA,
                                .device = "a GPU",
                                .uuid = "GPU-1",
                                .contract = { "graph", "warm", 200, "irwin-hall-8" } };
    (void)snprintf(series.start, sizeof series.start, "%s", start);
    for (int i = 0; i < n_blocks; i++) {
        struct kg_recorded_block block = { .calls = 20, .log_p50 = log(100) + noise(i, 1), .busy_us = 400e3 };
        block.log_anchor = log(50) + noise(i, 2);
        block.log_ratio = log(2) + noise(i, 3);
        block.log_against = noise(i, 4) / 2;
        block.log_baseline = block.log_p50 - block.log_against;
        block.planted_pct = n_planted ? planted_pct[i / 9 % n_planted] : 0;
        block.log_planted = n_planted ? log1p(block.planted_pct / 100) + noise(i, 5) / 2 : NAN;
        block.log_planted_p50 = n_planted ? block.log_baseline + block.log_planted : NAN;
        for (int k = 0; k < KG_SERIES_SAMPLES; k++)
            block.samples[k] = block.log_p50 + noise(i, 10 + k);
        assert_int_equal(kg_series_add_block(&series, &block, NULL), KG_OK);
    }
    return series;
}

static const struct kg_trial_options usual = { .threshold_pct = KG_GOAL_PCT, .fine = true, .max_blocks = 12 };

static struct kg_trials tried(struct kg_series *series, size_t count, struct kg_trial_options options)
{
    const struct kg_series_set set = { series, count };
    struct kg_trials trials;
    kg_error error = { 0 };
    if (kg_trials_of(&set, &options, &trials, &error))
        fail_msg("%s", error.text);
    return trials;
}

static const struct kg_rate *rates_of(const struct kg_trials *trials, enum kg_trial_row row)
{
    return trials->rows[row].rates;
}

static void expect_rate(const struct kg_rate *rate, size_t gates, size_t slow, size_t blocks)
{
    assert_int_equal(kg_rate_gates(rate), gates);
    assert_int_equal(rate->slow, slow);
    assert_int_equal(rate->blocks, blocks);
}

/* 33 blocks: three goldens of eight with runs of three; eleven runs of three against the baseline. */
static void nothing_changed_is_not_slow(void **state)
{
    (void)state;
    struct kg_series series = series_of("one", 33, NULL, 0);
    struct kg_trials trials = tried(&series, 1, usual);
    expect_rate(rates_of(&trials, KG_ROW_GOLDEN), 3, 0, 9);
    expect_rate(rates_of(&trials, KG_ROW_AGAINST), 11, 0, 33);
    assert_int_equal(rates_of(&trials, KG_ROW_GOLDEN)->pass, 3);
    assert_int_equal(rates_of(&trials, KG_ROW_AGAINST)->pass, 11);
    expect_rate(rates_of(&trials, KG_ROW_RULES), 3, 0, 3);
    /* Four goldens, each with the other 25 blocks: eight runs of three, and one block is left. */
    expect_rate(rates_of(&trials, KG_ROW_GOLDEN_ALL), 32, 0, 96);
    assert_int_equal(trials.n_blocks, 33);
    assert_int_equal(trials.n_unblessed + trials.n_ungated + trials.n_short, 0);
    for (int row = 0; row < KG_TRIAL_ROWS; row++)
        assert_true(rates_of(&trials, row)->shared + rates_of(&trials, row)->cut == 0);
    kg_trials_done(&trials), free(series.blocks);
}

/* Of nine blocks with a size: an alarm after three, confirmed by the other six. */
static void planted_slowdowns_are_found(void **state)
{
    (void)state;
    const double sizes[] = { 0.5, 1, 3, 5, 2 };
    struct kg_series series = series_of("one", 45, sizes, 5);
    struct kg_trials trials = tried(&series, 1, usual);
    const struct kg_rate *golden = rates_of(&trials, KG_ROW_GOLDEN), *against = rates_of(&trials, KG_ROW_AGAINST);
    expect_rate(&golden[5], 1, 1, 9);
    expect_rate(&against[5], 1, 1, 9);
    expect_rate(&golden[4], 1, 1, 9);
    expect_rate(&against[4], 1, 1, 9);
    assert_int_equal(golden[1].slow + against[1].slow + golden[2].slow + against[2].slow, 0); /* under 2% */
    expect_rate(&rates_of(&trials, KG_ROW_HALF_LONG)[2], 1, 1, 9);
    expect_rate(&rates_of(&trials, KG_ROW_QUARTER_LONG)[1], 1, 1, 9);
    kg_trials_done(&trials);
    trials = tried(&series, 1, (struct kg_trial_options){ .threshold_pct = 4, .max_blocks = 12 });
    assert_int_equal(rates_of(&trials, KG_ROW_AGAINST)[4].slow, 0);
    assert_int_equal(rates_of(&trials, KG_ROW_AGAINST)[5].slow, 1);
    assert_int_equal(kg_rate_row_gates(&trials.rows[KG_ROW_HALF]),
                     0); /* a threshold that is asked for is the only one */
    kg_trials_done(&trials), free(series.blocks);
}

/* One series of a case that tells is enough: others were recorded before it was asked. */
static void launches_of_several_nodes_are_told_apart(void **state)
{
    (void)state;
    const double size = 0.5;
    struct kg_series series[2] = { series_of("one", 18, &size, 1), series_of("one", 18, &size, 1) };
    (void)snprintf(series[1].start, sizeof series[1].start, "start 2");
    series[1].nodes = 1;
    struct kg_trials trials = tried(series, 2, usual);
    assert_int_equal(kg_rate_gates(&rates_of(&trials, KG_ROW_QUARTER_LONG)[1]), 4);
    assert_int_equal(kg_rate_row_gates(&trials.rows[KG_ROW_QUARTER_SEVERAL]), 0);
    kg_trials_done(&trials);
    series[1].nodes = 3;
    trials = tried(series, 2, usual);
    assert_int_equal(kg_rate_row_gates(&trials.rows[KG_ROW_QUARTER_LONG]), 0);
    assert_int_equal(kg_rate_gates(&rates_of(&trials, KG_ROW_QUARTER_SEVERAL)[1]), 4);
    kg_trials_done(&trials), free(series[0].blocks), free(series[1].blocks);
}

/* One size in all 33: its run from block 1 has a golden of the last eight, runs from blocks 10 and 19 of the first. */
static void one_size_all_along(void **state)
{
    (void)state;
    const double sizes[] = { 5 };
    struct kg_series series = series_of("one", 33, sizes, 1);
    struct kg_trials trials = tried(&series, 1, usual);
    expect_rate(&rates_of(&trials, KG_ROW_GOLDEN)[5], 3, 3, 27);
    /* A fourth gate of the last six, and three that have served; four goldens of three such gates each. */
    expect_rate(&rates_of(&trials, KG_ROW_AGAINST)[5], 4, 4, 36);
    assert_int_equal(rates_of(&trials, KG_ROW_AGAINST)[5].shared, 1);
    expect_rate(&rates_of(&trials, KG_ROW_GOLDEN_ALL)[5], 12, 12, 108);
    kg_trials_done(&trials);
    for (int i = 25; i < 33; i++) { /* a golden that is 5% slower itself */
        series.blocks[i].log_p50 += log1p(0.05);
        series.blocks[i].log_ratio += log1p(0.05);
    }
    trials = tried(&series, 1, usual);
    assert_int_equal(rates_of(&trials, KG_ROW_GOLDEN)[5].slow, 2);
    kg_trials_done(&trials), free(series.blocks);
}

/* Without an anchor it is the p50 that is judged. */
static void planted_slowdowns_are_found_by_p50(void **state)
{
    (void)state;
    const double sizes[] = { 5, 1 };
    struct kg_series series = series_of("one", 36, sizes, 2);
    for (int i = 0; i < 36; i++)
        series.blocks[i].log_anchor = series.blocks[i].log_ratio = NAN;
    struct kg_trials trials = tried(&series, 1, usual);
    expect_rate(&rates_of(&trials, KG_ROW_GOLDEN)[5], 2, 2, 18);
    assert_int_equal(rates_of(&trials, KG_ROW_GOLDEN)[2].slow, 0);
    assert_int_equal(trials.n_spreads, 0);
    kg_trials_done(&trials), free(series.blocks);
}

/* One wild block of 33 can spoil one gate, unless it serves two. */
static void no_block_serves_two_gates(void **state)
{
    (void)state;
    for (int wild = 0; wild < 30; wild++) {
        struct kg_series series = series_of("one", 33, NULL, 0);
        series.blocks[wild].log_against += 0.2;
        series.blocks[wild].log_p50 += 0.2;
        series.blocks[wild].log_ratio += 0.2;
        struct kg_trials trials = tried(&series, 1, usual);
        const struct kg_rate *against = rates_of(&trials, KG_ROW_AGAINST), *golden = rates_of(&trials, KG_ROW_GOLDEN);
        const size_t doubtful = kg_rate_gates(golden) - golden->pass;
        assert_true(against->blocks <= 33 || against->shared == 1);
        assert_true(kg_rate_gates(against) - against->pass <= 1 && against->slow == 0);
        assert_true(golden->blocks + 8 * (kg_rate_gates(golden) + trials.n_unblessed) <= 33 || golden->shared);
        assert_true(doubtful + trials.n_unblessed <= 1 || golden->shared);
        kg_trials_done(&trials), free(series.blocks);
    }
}

/* A gate at the end of the chain goes on at its beginning, so that it is not cut and has the same chance as others. */
static void the_last_gate_goes_on_with_others_blocks(void **state)
{
    (void)state;
    struct kg_series series = series_of("one", 33, NULL, 0);
    for (int i = 30; i < 33; i++)
        series.blocks[i].log_against += 0.05; /* an alarm; the six blocks that follow in the circle do not confirm it */
    struct kg_trials trials = tried(&series, 1, usual);
    const struct kg_rate *against = rates_of(&trials, KG_ROW_AGAINST);
    expect_rate(against, 11, 0, 39);
    assert_true(against->pass == 11 && against->unconfirmed == 1 && against->shared == 1 && against->cut == 0);
    kg_trials_done(&trials), free(series.blocks);
}

static void blocks_that_run_out_leave_it_unsure(void **state)
{
    (void)state;
    struct kg_series series = series_of("one", 6, NULL, 0);
    for (int i = 3; i < 6; i++)
        series.blocks[i].log_against += 0.05; /* an alarm, and three blocks in all that could confirm it */
    struct kg_trials trials = tried(&series, 1, usual);
    const struct kg_rate *against = rates_of(&trials, KG_ROW_AGAINST);
    expect_rate(against, 2, 0, 9);
    assert_true(against->unsure == 1 && against->unconfirmed == 1 && against->cut == 1 && against->shared == 1);
    kg_trials_done(&trials), free(series.blocks);
}

static void sets_too_short_are_not_used(void **state)
{
    (void)state;
    const double sizes[] = { 5, 3 };
    struct kg_series series = series_of("one", 15, sizes, 2); /* nine of 5%, but six others for a golden; six of 3% */
    struct kg_trials trials = tried(&series, 1, usual);
    assert_int_equal(kg_rate_gates(&rates_of(&trials, KG_ROW_AGAINST)[5]), 1);
    assert_int_equal(kg_rate_gates(&rates_of(&trials, KG_ROW_AGAINST)[4]), 0);
    assert_int_equal(kg_rate_gates(&rates_of(&trials, KG_ROW_GOLDEN)[5]), 0);
    assert_int_equal(trials.n_short, 3);
    kg_trials_done(&trials), free(series.blocks);
}

/* Blocks of one case over its starts and cards make one chain: nine, though neither series has them. */
static void chains_go_over_starts(void **state)
{
    (void)state;
    const double sizes[] = { 5 };
    struct kg_series pair[] = { series_of("one", 5, sizes, 1), series_of("two", 4, sizes, 1) };
    struct kg_trials trials = tried(pair, 2, usual);
    expect_rate(&rates_of(&trials, KG_ROW_AGAINST)[5], 1, 1, 9);
    expect_rate(&rates_of(&trials, KG_ROW_AGAINST)[0], 3, 0, 9);
    kg_trials_done(&trials), free(pair[0].blocks), free(pair[1].blocks);
}

/* Six cases on two cards, the second of which has a ratio of its own in one of them. */
static struct kg_run_rates runs_of(double card_pct, double noise_of_duel)
{
    const double sizes[] = { 3 };
    struct kg_series series[12];
    for (int i = 0; i < 12; i++) {
        series[i] = series_of("one", 9, i < 6 ? NULL : sizes, i >= 6);
        (void)snprintf(series[i].key, sizeof series[i].key, "suite/shape%d/backend", i % 6);
        (void)snprintf(series[i].uuid, sizeof series[i].uuid, "GPU-%d", i / 6);
        for (int k = 0; k < 9; k++) {
            series[i].blocks[k].log_ratio += i == 8 ? log1p(card_pct / 100) : 0;
            series[i].blocks[k].log_planted += k % 2 ? noise_of_duel : 0;
        }
    }
    struct kg_trials trials = tried(series, 12, usual);
    const struct kg_run_rates runs = trials.runs;
    kg_trials_done(&trials);
    for (int i = 0; i < 12; i++)
        free(series[i].blocks);
    return runs;
}

static void runs_are_red_where_one_case_is(void **state)
{
    (void)state;
    struct kg_run_rates runs = runs_of(0, 0);
    assert_true(runs.n_pairs == 2 && runs.n_gates == 2 * 6 * KG_RUN_DRAWS);
    assert_true(kg_rate_gates(&runs.red) == KG_RUNS && runs.red.slow == 0 && runs.rules[0].slow == 0);
    assert_true(runs.found.slow == kg_rate_gates(&runs.found) && runs.found.slow > KG_RUNS / 3);
    runs = runs_of(4, 0); /* within what cards differ by */
    assert_int_equal(runs.red.slow, 0);
    runs = runs_of(13, -0.06); /* beyond it, on one card of two; and blocks that say nothing of the change */
    assert_true(runs.red.slow > 0.45 * KG_RUNS && runs.red.slow < 0.55 * KG_RUNS);
    assert_true(runs.found.slow < kg_rate_gates(&runs.found));
}

static void goldens_of_another_card_judge_by_ratio(void **state)
{
    (void)state;
    const double sizes[] = { 5 };
    struct kg_series pair[] = { series_of("one", 33, NULL, 0), series_of("one", 33, sizes, 1) };
    (void)snprintf(pair[1].uuid, sizeof pair[1].uuid, "GPU-2");
    for (int i = 0; i < 33; i++) { /* on the other card all is 8% slower, the anchor too, and the ratio is 1% higher */
        pair[1].blocks[i].log_p50 += 0.09;
        pair[1].blocks[i].log_anchor += 0.08;
        pair[1].blocks[i].log_ratio += 0.01;
        pair[1].blocks[i].log_planted_p50 += 0.09;
    }
    struct kg_trials trials = tried(pair, 2, usual);
    expect_rate(&rates_of(&trials, KG_ROW_CARD)[0], 4, 0, 12);
    expect_rate(&rates_of(&trials, KG_ROW_CARD_ALL)[0], 8, 0, 24);
    assert_int_equal(rates_of(&trials, KG_ROW_CARD_RULES)[0].slow, 4); /* one way, not the other */
    expect_rate(&rates_of(&trials, KG_ROW_CARD)[5], 3, 3, 27);
    expect_rate(&rates_of(&trials, KG_ROW_CARD_ALLOWED)[5], 3, 3, 27);
    assert_int_equal(kg_rate_row_gates(&trials.rows[KG_ROW_DAY_ALL]), 0);
    assert_true(trials.n_starts == 1 && trials.n_cards == 2 && trials.n_cases == 1);
    assert_int_equal(trials.cases[0].n_blocks, 66);
    assert_true(trials.n_spreads == 1 && trials.spreads[0].n_cards == 2);
    assert_true(fabs(trials.spreads[0].worst_ratio_pct - 100 * expm1(0.01)) < 1e-9);
    assert_true(fabs(trials.spreads[0].ratio_pct - 1 / sqrt(2)) < 1e-9);
    kg_trials_done(&trials);
    for (int i = 0; i < 33; i++) /* without an anchor there is no ratio, and no gate across cards */
        pair[0].blocks[i].log_anchor = pair[0].blocks[i].log_ratio = NAN;
    trials = tried(pair, 2, usual);
    assert_int_equal(trials.n_no_ratio, 2);
    assert_int_equal(kg_rate_row_gates(&trials.rows[KG_ROW_CARD_ALL]), 0);
    kg_trials_done(&trials), free(pair[0].blocks), free(pair[1].blocks);
}

/* The card's own golden of another day judges as any of its goldens. */
static void goldens_of_another_start(void **state)
{
    (void)state;
    const double sizes[] = { 5 };
    struct kg_series pair[] = { series_of("one", 33, NULL, 0), series_of("two", 33, sizes, 1) };
    struct kg_trials trials = tried(pair, 2, usual);
    expect_rate(&rates_of(&trials, KG_ROW_DAY_ALL)[0], 8, 0, 24);
    expect_rate(&rates_of(&trials, KG_ROW_DAY_ALL)[5], 3, 3, 27);
    assert_int_equal(kg_rate_row_gates(&trials.rows[KG_ROW_CARD_ALL]), 0);
    assert_true(trials.n_starts == 2 && trials.n_cards == 1);
    kg_trials_done(&trials), free(pair[0].blocks), free(pair[1].blocks);
}

static void what_a_case_is_told_about(void **state)
{
    (void)state;
    struct kg_series series = series_of("one", 30, NULL, 0);
    struct kg_trials trials = tried(&series, 1, usual);
    const struct kg_case_noise *it = &trials.cases[0];
    double logs[30];
    for (int i = 0; i < 30; i++)
        logs[i] = noise(i, 4) / 2;
    assert_true(fabs(it->sd[KG_QUANTITY_AGAINST] - kg_stats_of(logs, 30).std) < 1e-12);
    assert_true(fabs(it->floor_pct[KG_QUANTITY_AGAINST] - 200 * it->sd[KG_QUANTITY_AGAINST]) < 1e-9);
    assert_true(fabs(it->p50_us - 100) < 0.1);
    assert_true(fabs(it->clear_s - 3 * 0.4 * 2 / 3) < 1e-9); /* case and baseline of three arms */
    assert_true(it->detectable_pct >= 2 * it->floor_pct[KG_QUANTITY_AGAINST]);
    assert_int_equal(kg_rate_gates(&it->drawn[0]), 0);
    assert_true(it->detectable_pct <= 5 * it->floor_pct[KG_QUANTITY_AGAINST]);
    struct kg_floor floor;
    assert_int_equal(kg_case_noise_floor(it, &floor), KG_OK);
    assert_int_equal(floor.n_blocks, 30);
    kg_trials_done(&trials);
    /* Too steady for its floor to be believed: the least floor, and the smallest change that clears it. */
    for (int i = 0; i < 30; i++)
        series.blocks[i].log_against /= 100;
    trials = tried(&series, 1, usual);
    assert_true(trials.cases[0].floor_pct[KG_QUANTITY_AGAINST] == 0.05);
    assert_true(trials.cases[0].detectable_pct == 0.1);
    kg_trials_done(&trials);
    series.n_blocks = 5;
    trials = tried(&series, 1, usual);
    assert_int_equal(kg_case_noise_floor(&trials.cases[0], &floor), KG_EINVAL);
    kg_trials_done(&trials), free(series.blocks);
}

/* Of a short recording: all sizes, from the blocks of nothing changed. */
static void gates_are_drawn(void **state)
{
    (void)state;
    struct kg_series series = series_of("one", 12, NULL, 0);
    const struct kg_series_set set = { &series, 1 };
    struct kg_trials trials;
    kg_error error = { 0 };
    struct kg_trial_options options = usual;
    options.drawn = true;
    assert_int_equal(kg_trials_of(&set, &options, &trials, &error), KG_OK);
    const struct kg_rate *drawn = trials.cases[0].drawn;
    for (int planted = 0; planted < KG_PLANTED; planted++)
        assert_int_equal(kg_rate_gates(&drawn[planted]), KG_DRAWN_GATES);
    assert_true(drawn[0].slow + drawn[1].slow + drawn[2].slow == 0);
    assert_true(drawn[4].slow == KG_DRAWN_GATES && drawn[5].slow == KG_DRAWN_GATES);
    assert_true(drawn[3].slow > 0); /* of 2% itself, by the threshold of 2%, about half */
    kg_trials_done(&trials), free(series.blocks);
}

static void mixed_or_no_series_are_refused(void **state)
{
    (void)state;
    struct kg_series pair[] = { series_of("one", 3, NULL, 0), series_of("two", 3, NULL, 0) };
    const struct kg_series_set none = { 0 }, mixed = { pair, 2 };
    struct kg_trials trials;
    kg_error error = { 0 };
    pair[1].kind = KG_CPU;
    assert_int_equal(kg_trials_of(&none, &usual, &trials, &error), KG_EINVAL);
    assert_int_equal(kg_trials_of(&mixed, &usual, &trials, &error), KG_EINVAL);
    free(pair[0].blocks), free(pair[1].blocks);
}

/* To a file: one size all along, another for the next case and the next seed. Else nine rounds each. */
static void sizes_that_are_planted(void **state)
{
    (void)state;
    for (int round = 1; round <= 36; round++)
        assert_true(kg_record_planted_pct(8, 0, round, true) == 0.5);
    assert_true(kg_record_planted_pct(8, 1, 1, true) == 1 && kg_record_planted_pct(9, 1, 1, true) == 3);
    assert_true(kg_record_planted_pct(8, 3, 1, true) == 5 && kg_record_planted_pct(8, 4, 1, true) == 0.5);
    assert_true(kg_record_planted_pct(8, 0, 9, false) == 0.5 && kg_record_planted_pct(8, 0, 10, false) == 1);
    assert_true(kg_record_planted_pct(8, 0, 36, false) == 5 && kg_record_planted_pct(8, 1, 36, false) == 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_changed_is_not_slow),
        cmocka_unit_test(planted_slowdowns_are_found),
        cmocka_unit_test(launches_of_several_nodes_are_told_apart),
        cmocka_unit_test(one_size_all_along),
        cmocka_unit_test(planted_slowdowns_are_found_by_p50),
        cmocka_unit_test(no_block_serves_two_gates),
        cmocka_unit_test(the_last_gate_goes_on_with_others_blocks),
        cmocka_unit_test(blocks_that_run_out_leave_it_unsure),
        cmocka_unit_test(sets_too_short_are_not_used),
        cmocka_unit_test(chains_go_over_starts),
        cmocka_unit_test(runs_are_red_where_one_case_is),
        cmocka_unit_test(goldens_of_another_card_judge_by_ratio),
        cmocka_unit_test(goldens_of_another_start),
        cmocka_unit_test(what_a_case_is_told_about),
        cmocka_unit_test(gates_are_drawn),
        cmocka_unit_test(sizes_that_are_planted),
        cmocka_unit_test(mixed_or_no_series_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
