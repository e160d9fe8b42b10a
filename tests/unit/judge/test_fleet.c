/* test_fleet.c -- goldens of many cards: their files, which blocks judge on which card, and how far two cards may
 * differ. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <sys/stat.h>

#include "judge/fleet.h"
#include "judge/judge.h"
#include "scratch.h"

#define assert_near(value, wanted) assert_true(fabs((value) - (wanted)) <= 1e-9)

static int scratch_setup(void **state)
{
    static char folder[SCRATCH_SIZE];
    scratch_new(folder);
    *state = folder;
    return 0;
}

static int scratch_teardown(void **state)
{
    scratch_free(*state);
    return 0;
}

/* Three blocks of us_each round `us`, beside an anchor of 50 us; without one where `anchor` is "". */
static struct kg_golden golden_of(const char *key, const char *uuid, const char *identity, double us,
                                  const char *anchor)
{
    struct kg_golden golden = { .n_blocks = 3, .p50_us = us, .quantity = KG_QUANTITY_RAW, .floor_pct = 0.2 };
    (void)snprintf(golden.key, sizeof golden.key, "%s", key);
    (void)snprintf(golden.identity, sizeof golden.identity, "%s", identity);
    (void)snprintf(golden.anchor, sizeof golden.anchor, "%s", anchor);
    (void)snprintf(golden.launch, sizeof golden.launch, "host");
    (void)snprintf(golden.provenance.uuid, sizeof golden.provenance.uuid, "%s", uuid);
    (void)snprintf(golden.provenance.git_sha, sizeof golden.provenance.git_sha, "0123456789abcdef");
    (void)snprintf(golden.provenance.date, sizeof golden.provenance.date, "2025-01-02");
    golden.contract = (struct kg_contract){ "graph", "warm", 200, "irwin-hall-8" };
    golden.anchor_p50_us = *anchor ? 50 : 0;
    for (int i = 0; i < 3; i++) {
        golden.blocks_us[i] = us + (i - 1) * 0.001;
        golden.blocks_ratio[i] = *anchor ? us / 50 : 0;
    }
    golden.best = kg_golden_as_best(&golden);
    return golden;
}

static void add(struct kg_fleet *fleet, const char *uuid, const char *identity, double us, const char *anchor)
{
    const struct kg_golden golden = golden_of("suite/a/fast", uuid, identity, us, anchor);
    assert_int_equal(kg_fleet_put(fleet, &golden, NULL), 0);
}

static struct kg_goldens goldens_of(const struct kg_golden *golden)
{
    struct kg_goldens goldens = { .arch = "h200" };
    assert_int_equal(kg_goldens_put(&goldens, golden, false, NULL), 0);
    return goldens;
}

/* ---- files ---- */

static void a_card_has_a_file(void **state)
{
    const char *folder = *state;
    struct kg_golden a = golden_of("suite/a/fast", "GPU-1", "k:1", 25, "math"), b = a, gone = a;
    (void)strcpy(b.key, "suite/b/fast");
    (void)strcpy(gone.key, "suite/gone/fast");
    struct kg_goldens goldens = goldens_of(&a);
    struct kg_fleet fleet = { .count = 0 }, read = { .count = 0 };
    assert_int_equal(kg_goldens_put(&goldens, &b, false, NULL), 0);
    assert_int_equal(kg_goldens_save(&goldens, folder, NULL), 0);
    char *before = scratch_read(folder, "expectations_h200.json");
    (void)strcpy(b.provenance.uuid, "GPU-2");
    (void)strcpy(a.provenance.uuid, "GPU-2");
    (void)strcpy(gone.provenance.uuid, "GPU-2");
    assert_int_equal(kg_fleet_put(&fleet, &gone, NULL), 0);
    assert_int_equal(kg_fleet_put(&fleet, &b, NULL), 0);
    assert_int_equal(kg_fleet_put(&fleet, &a, NULL), 0);
    assert_int_equal(kg_fleet_put(&fleet, &a, NULL), 0); /* again: in its place */
    assert_int_equal(kg_fleet_save(&fleet, "GPU-2", &goldens, folder, NULL), 0);
    assert_int_equal(kg_fleet_save(&fleet, "GPU-3", &goldens, folder, NULL), 0); /* it has none */
    assert_int_equal(kg_fleet_load(folder, "h200", &read, NULL), 0);
    assert_true(read.count == 1 && !strcmp(read.cards[0].uuid, "GPU-2") && read.cards[0].count == 2);
    assert_string_equal(read.cards[0].items[0].key, "suite/a/fast");
    assert_string_equal(read.cards[0].items[1].key, "suite/b/fast");
    assert_string_equal(read.cards[0].items[1].identity, "k:1");
    assert_true(read.cards[0].items[1].n_blocks == 3 && read.cards[0].items[1].blocks_us[2] == 25.001);
    char *after = scratch_read(folder, "expectations_h200.json");
    assert_string_equal(before, after);
    free(before), free(after);
    kg_fleet_done(&read);
    assert_int_equal(kg_fleet_load(folder, "h20", &read, NULL), 0); /* another architecture */
    assert_int_equal(read.count, 0);
    struct kg_goldens *sets = NULL;
    size_t count = 0;
    assert_int_equal(kg_goldens_load_all(folder, &sets, &count, NULL), 0); /* a card is no architecture */
    assert_int_equal(count, 1);
    kg_goldens_free_all(sets, count);
    kg_fleet_done(&fleet), kg_goldens_done(&goldens);
}

static void damaged_files_are_refused(void **state)
{
    static const struct {
        const char *from, *to, *said;
    } edits[] = {
        { "suite/b/fast", "suite/a/fast", "not sorted by key, or repeated" },
        { "[24.999,", "[-24.999,", "blocks_us" },
        { "\"schema\": 1", "\"schema\": 9", "schema" },
        { "\"key\"", "\"kay\"", "kay" },
    };
    const char *folder = *state;
    struct kg_golden a = golden_of("suite/a/fast", "GPU-2", "k:1", 25, "math"), b = a;
    (void)strcpy(b.key, "suite/b/fast");
    struct kg_goldens goldens = goldens_of(&a);
    struct kg_fleet fleet = { .count = 0 };
    assert_int_equal(kg_goldens_put(&goldens, &b, false, NULL), 0);
    assert_int_equal(kg_fleet_put(&fleet, &a, NULL), 0);
    assert_int_equal(kg_fleet_put(&fleet, &b, NULL), 0);
    assert_int_equal(kg_fleet_save(&fleet, "GPU-2", &goldens, folder, NULL), 0);
    char *good = scratch_read(folder, "expectations_h200.GPU-2.json");
    for (size_t i = 0; i < sizeof edits / sizeof *edits; i++) {
        char text[1 << 14];
        kg_error error = { 0 };
        struct kg_fleet read = { .count = 0 };
        const char *at = strstr(good, edits[i].from);
        assert_non_null(at);
        (void)snprintf(text, sizeof text, "%.*s%s%s", (int)(at - good), good, edits[i].to, at + strlen(edits[i].from));
        scratch_write(folder, "expectations_h200.GPU-2.json", text);
        assert_int_equal(kg_fleet_load(folder, "h200", &read, &error), KG_EINVAL);
        if (!strstr(error.text, "expectations_h200.GPU-2.json") || !strstr(error.text, edits[i].said))
            fail_msg("%s", error.text);
    }
    free(good);
    kg_fleet_done(&fleet), kg_goldens_done(&goldens);
}

/* ---- which blocks judge ---- */

static void a_card_is_judged_by_its_own_blocks(void **state)
{
    (void)state;
    const struct kg_golden golden = golden_of("suite/a/fast", "GPU-1", "k:1", 25, "math");
    struct kg_goldens goldens = goldens_of(&golden);
    struct kg_fleet fleet = { .count = 0 };
    add(&fleet, "GPU-2", "k:1", 26, "math");
    add(&fleet, "GPU-3", "k:0", 30, "math"); /* of older code */
    kg_fleet_fit(&fleet, "GPU-2", &goldens);
    assert_string_equal(goldens.items[0].provenance.uuid, "GPU-2");
    assert_true(goldens.items[0].p50_us == 26 && goldens.items[0].blocks_ratio[0] == 0.52);
    assert_int_equal(goldens.items[0].n_cards, 0);
    kg_goldens_done(&goldens);
    goldens = goldens_of(&golden);
    kg_fleet_fit(&fleet, "GPU-3", &goldens);
    assert_string_equal(goldens.items[0].provenance.uuid, "GPU-1");
    assert_int_equal(goldens.items[0].n_cards, 2);
    kg_fleet_done(&fleet), kg_goldens_done(&goldens);
}

/* Means of ln(1/2) and 1% more; a prior of 0.75% worth 4 cards. Of the older code two cards differ by 3%. */
static void cards_are_pooled(void **state)
{
    (void)state;
    const struct kg_golden golden = golden_of("suite/a/fast", "GPU-1", "k:1", 25, "math");
    struct kg_goldens goldens = goldens_of(&golden);
    struct kg_fleet fleet = { .count = 0 };
    add(&fleet, "GPU-2", "k:1", 25 * exp(0.01), "math");
    add(&fleet, "GPU-3", "k:0", 25 * exp(0.20), "math");
    add(&fleet, "GPU-4", "k:0", 25 * exp(0.23), "math");
    add(&fleet, "GPU-1", "k:1", 99, "math"); /* the golden's own card speaks by the golden */
    kg_fleet_fit(&fleet, "GPU-9", &goldens);
    const struct kg_golden *it = &goldens.items[0];
    assert_int_equal(it->n_cards, 2);
    assert_near(it->card_means[0], log(0.5));
    assert_near(it->card_means[1], log(0.5) + 0.01);
    assert_near(it->card_sd, sqrt((4 * 0.0075 * 0.0075 + 0.01 * 0.01 / 2 + 0.03 * 0.03 / 2) / (4 + 2)));
    kg_fleet_done(&fleet), kg_goldens_done(&goldens);
}

static void only_the_same_work_is_of_one_golden(void **state)
{
    (void)state;
    const struct kg_golden old = golden_of("suite/a/fast", "GPU-1", "k:1", 25, "math");
    struct kg_golden golden = golden_of("suite/a/fast", "GPU-2", "k:1", 27, "math");
    assert_true(kg_fleet_takes(&old, &golden));
    (void)strcpy(golden.identity, "k:2");
    assert_false(kg_fleet_takes(&old, &golden));
    golden = golden_of("suite/a/fast", "GPU-2", "k:1", 27, "math");
    (void)strcpy(golden.launch, "grid 2 block 32");
    assert_false(kg_fleet_takes(&old, &golden));
    golden = golden_of("suite/a/fast", "GPU-1", "k:1", 27, "math"); /* its own card: in its place */
    assert_false(kg_fleet_takes(&old, &golden));
    golden = golden_of("suite/a/fast", "GPU-2", "k:1", 27, "");
    assert_false(kg_fleet_takes(&old, &golden));
}

/* One of before kgate kept digests and answers learns them of another card's; then it is held to them. */
static void a_golden_learns_its_work(void **state)
{
    (void)state;
    struct kg_golden old = golden_of("suite/a/fast", "GPU-1", "k:1", 25, "math");
    struct kg_golden golden = golden_of("suite/a/fast", "GPU-2", "k:1", 27, "math");
    (void)strcpy(old.problem, "n=1"), (void)strcpy(golden.problem, "n=1");
    assert_false(kg_golden_learn(&old, &golden));
    golden.tensors = 7, golden.given = 8;
    (void)strcpy(golden.answer, "seed 42 rms 0.5");
    assert_true(kg_fleet_takes(&old, &golden));
    assert_true(kg_golden_learn(&old, &golden));
    assert_int_equal(old.tensors, 7);
    assert_int_equal(old.given, 8);
    assert_string_equal(old.answer, "seed 42 rms 0.5");
    assert_near(old.p50_us, 25);
    assert_false(kg_golden_learn(&old, &golden));
    golden.tensors = 9;
    assert_false(kg_fleet_takes(&old, &golden));
    golden.tensors = 7, (void)strcpy(golden.answer, "seed 42 rms 0.4");
    assert_false(kg_fleet_takes(&old, &golden));
    (void)strcpy(golden.answer, "seed 41 rms 0.4"); /* other inputs */
    assert_true(kg_fleet_takes(&old, &golden));
}

/* ---- what a run says by them ---- */

static const kg_backend math = { .name = "math", .device = KG_CUDA };
static const kg_suite suite = { .name = "suite", .anchor = &math };

static enum kg_verdict judged(const struct kg_golden *golden, const char *identity, double us,
                              double *ret_threshold_pct)
{
    struct kg_result *result = calloc(1, sizeof *result);
    const struct kg_expectation expectation = { .golden = golden, .device_uuid = "GPU-9" };
    result->of = (struct kg_case){ .suite = &suite, .backend = &math, .kind = KG_CUDA };
    result->of.policy = (struct kg_policy){
        .timer = KG_TIMER_GRAPH, .window_us = 200, .threshold_pct = 2, .creep_pct = 50, .max_blocks = 16, .timed = true
    };
    result->compared = true;
    result->marks = (struct kg_gate_marks){ true, true, true, true, true, true, true, true };
    result->tick_us = 0.03;
    (void)strcpy(result->identity, identity);
    result->n_blocks = 9;
    result->time_us.p50 = us;
    for (int i = 0; i < 9; i++)
        result->blocks[i] =
            (struct kg_block){ .calls = 20, .p50_us = us, .anchor_p50_us = 50, .log_ratio = log(us / 50) };
    (void)kg_verdict_decide(result, &expectation);
    const enum kg_verdict verdict = result->verdict;
    *ret_threshold_pct = result->judgement.threshold_pct;
    free(result);
    return verdict;
}

/* Eight cards, their ratios apart by so much in turn. */
static struct kg_golden fleet_of(double apart)
{
    const struct kg_golden golden = golden_of("suite/a/fast", "GPU-1", "k:1", 25, "math");
    struct kg_goldens goldens = goldens_of(&golden);
    struct kg_fleet fleet = { .count = 0 };
    for (int i = 2; i < 9; i++) {
        char uuid[16];
        (void)snprintf(uuid, sizeof uuid, "GPU-%d", i);
        add(&fleet, uuid, "k:1", 25 * exp(i % 2 ? 0 : apart), "math");
    }
    kg_fleet_fit(&fleet, "GPU-9", &goldens);
    const struct kg_golden fitted = goldens.items[0];
    kg_fleet_done(&fleet), kg_goldens_done(&goldens);
    return fitted;
}

static void what_cards_differ_by_is_measured(void **state)
{
    (void)state;
    double alone_pct = 0, close_pct = 0, apart_pct = 0;
    const struct kg_golden alone = golden_of("suite/a/fast", "GPU-1", "k:1", 25, "math"), close = fleet_of(0),
                           apart = fleet_of(0.08);
    /* other code, over the threshold where cards agree */
    assert_int_equal(judged(&close, "k:2", 25 * 1.021, &close_pct), KG_SLOW);
    assert_near(close_pct, 2);
    assert_int_equal(judged(&alone, "k:2", 25 * 1.021, &alone_pct), KG_SLOW);
    /* cards that differ by 8%: 5% over their mean is nothing, 20% is */
    assert_int_equal(judged(&apart, "k:2", 25 * exp(0.04) * 1.05, &apart_pct), KG_PASS);
    assert_true(apart_pct > 6 && apart_pct < 9);
    assert_int_equal(judged(&apart, "k:2", 25 * exp(0.04) * 1.2, &apart_pct), KG_SLOW);
    assert_int_equal(judged(&alone, "k:2", 25 * exp(0.04) * 1.05, &alone_pct), KG_SLOW);
    /* the same code: at least what any two cards were seen to differ by, of one card alone more */
    assert_int_equal(judged(&close, "k:1", 25 * 1.04, &close_pct), KG_PASS);
    assert_near(close_pct, KG_CARD_RATIO_SPREAD_PCT);
    assert_int_equal(judged(&close, "k:1", 25 * 1.08, &close_pct), KG_SLOW);
    assert_int_equal(judged(&alone, "k:1", 25 * 1.08, &alone_pct), KG_PASS);
    assert_int_equal(judged(&alone, "k:1", 25 * 1.2, &alone_pct), KG_SLOW);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_card_has_a_file, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(damaged_files_are_refused, scratch_setup, scratch_teardown),
        cmocka_unit_test(a_card_is_judged_by_its_own_blocks),
        cmocka_unit_test(cards_are_pooled),
        cmocka_unit_test(only_the_same_work_is_of_one_golden),
        cmocka_unit_test(a_golden_learns_its_work),
        cmocka_unit_test(what_cards_differ_by_is_measured),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
