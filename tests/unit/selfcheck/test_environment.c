/* test_environment.c -- recorded blocks of cards, made slower as a whole: what runs of unchanged code say of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reports/facts.h"
#include "selfcheck/gate.h"

enum { FEWEST = 20, CASES = 64 };

static const char *recordings;

/* As a lower clock does: case, baseline and anchor alike. */
static void slow_down(struct kg_series_set *set, double pct)
{
    const double by = log1p(pct / 100);
    for (size_t i = 0; i < set->count; i++)
        for (int k = 0; k < set->items[i].n_blocks; k++) {
            struct kg_recorded_block *block = &set->items[i].blocks[k];
            block->log_p50 += by;
            block->log_baseline += by;
            block->log_anchor += by;
        }
}

static struct kg_gate_blocks blocks_of(const struct kg_series *series, int from, int most)
{
    struct kg_gate_blocks blocks = { .series = series };
    for (int i = from; i < series->n_blocks && blocks.count < most; i++)
        blocks.of[blocks.count++] = &series->blocks[i];
    return blocks;
}

/* The case's series on the card of the start, or on another card of it. */
static const struct kg_series *find(const struct kg_series_set *set, const struct kg_series *like, bool same_card)
{
    for (size_t i = 0; i < set->count; i++)
        if (!strcmp(set->items[i].key, like->key) && !strcmp(set->items[i].start, like->start) &&
            (strcmp(set->items[i].uuid, like->uuid) == 0) == same_card)
            return &set->items[i];
    return NULL;
}

/* Every case that was recorded on the first card of a start, by goldens of as many earlier blocks. Returns how many
 * could be judged. */
static size_t judge_all(const struct kg_series_set *goldens, const struct kg_series_set *slower, const char *start,
                        bool same_card, struct kg_result *ret_results)
{
    const struct kg_gate_rule rule = {
        .same_card = same_card, .unchanged = true, .threshold_pct = 2, .max_blocks = 16
    };
    const struct kg_series *first = NULL;
    size_t n = 0;
    for (size_t i = 0; i < slower->count && n < CASES; i++) {
        const struct kg_series *now = &slower->items[i];
        struct kg_golden golden;
        if (strcmp(now->start, start) != 0 || (first && strcmp(now->uuid, first->uuid) != 0) || now->n_blocks < FEWEST)
            continue;
        first = now;
        const struct kg_series *then = find(goldens, now, same_card);
        if (!then)
            continue;
        const struct kg_gate_blocks old = blocks_of(then, 0, KG_GATE_GOLDEN);
        const struct kg_gate_blocks run = blocks_of(now, KG_GATE_GOLDEN, KG_MAX_BLOCKS);
        if (kg_gate_bless(&old, &golden, NULL) == KG_OK)
            n += kg_gate_run(&run, &golden, &rule, &ret_results[n]).verdict != KG_UNGATED;
    }
    return n;
}

static size_t count_slow(const struct kg_result *results, size_t count)
{
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        if (results[i].verdict != KG_SLOW)
            continue;
        n++;
        if (!strstr(results[i].reason, ": environment"))
            fail_msg("a slow case does not say environment: %s", results[i].reason);
    }
    return n;
}

/* Every start has one card whose goldens are its own, and one whose ratios to anchors are as before. */
static void a_slower_card_is_the_environment(void **state)
{
    static const char *const starts[] = { "start 1", "start 2", "start 3", "start 4" };
    struct kg_series_set goldens = { 0 }, slower = { 0 };
    struct kg_result *results = calloc(CASES, sizeof *results);
    char line[KG_LINE];
    (void)state;
    assert_non_null(results);
    assert_int_equal(kg_series_read(recordings, &goldens, NULL), KG_OK);
    assert_int_equal(kg_series_read(recordings, &slower, NULL), KG_OK);
    slow_down(&slower, 6);
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
        struct kg_run run = { .results = results };
        run.n_results = judge_all(&goldens, &slower, starts[i], true, results);
        const size_t slow = count_slow(results, run.n_results);
        print_message("%s: of %zu cases %zu slow\n", starts[i], run.n_results, slow);
        assert_true(run.n_results >= 15 && slow * 10 >= run.n_results * 9);
        assert_non_null(strstr(kg_fact_environment(&run, line), "slow cases launch what their goldens did"));
        run.n_results = judge_all(&goldens, &slower, starts[i], false, results);
        assert_true(run.n_results >= 15);
        assert_int_equal(count_slow(results, run.n_results), 0);
        assert_string_equal(kg_fact_environment(&run, line), "");
    }
    free(results);
    kg_series_set_done(&goldens);
    kg_series_set_done(&slower);
}

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(a_slower_card_is_the_environment) };
    if (count != 2)
        return 2;
    recordings = arguments[1];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
