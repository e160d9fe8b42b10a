/* test_leaderboard.c -- who stands where, from goldens made here. `golden` adds one: key, p50 and best of it, card. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "commands/leaderboard.h"

struct row {
    const char *name;
};

static int tensors(const void *problem, kg_tensor ret_tensors[KG_MAX_TENSORS], int *ret_count)
{
    (void)problem, (void)ret_tensors, (void)ret_count;
    return KG_EINVAL;
}

static double size(const void *problem)
{
    (void)problem;
    return 1;
}

static const kg_op op = {
    .name = "op", .problem_size = sizeof(struct row), .tensors = tensors, .flops = size, .bytes = size
};
static const kg_backend loops = { .name = "loops", .device = KG_CPU }, fast = { .name = "fast", .device = KG_CUDA },
                        plain = { .name = "plain", .device = KG_CUDA }, third = { .name = "third", .device = KG_CUDA },
                        prints = { .name = "prints", .device = KG_CUDA, .untimed = true },
                        chooser = { .name = "chooser",
                                    .device = KG_CUDA,
                                    .candidates = (const kg_backend *const[]){ &fast, NULL } };
static const kg_backend *const backends[] = { &plain, &fast, &loops, &third, &prints, &chooser };
static const struct row rows[] = { { "a" }, { "b" } };
static const uint64_t seeds[] = { 0, 1 };
static const kg_suite suite = { .name = "suite",
                                .op = &op,
                                .shapes = KG_TABLE(rows),
                                .seeds = KG_LIST(seeds),
                                .backends = KG_LIST(backends),
                                .cpu_anchor = &loops };
static const kg_suite *const suites[] = { &suite };
static const struct kg_module module = { KG_MODULE_SIZES, .name = "module", .suites = suites, .n_suites = 1 };

static struct kg_plan plan;
static struct kg_goldens sets[2];
static struct kg_leaderboard board;

static int setup(void **state)
{
    (void)state;
    kg_error error = { 0 };
    memset(sets, 0, sizeof sets);
    (void)strcpy(sets[0].arch, "h200");
    (void)strcpy(sets[1].arch, "l4");
    board = (struct kg_leaderboard){ .n_boards = 0 };
    return kg_plan_make(&module, &(struct kg_selection){ .n_patterns = 0 }, &plan, &error);
}

static int teardown(void **state)
{
    (void)state;
    kg_leaderboard_done(&board);
    kg_goldens_done(&sets[0]);
    kg_goldens_done(&sets[1]);
    kg_plan_done(&plan);
    return 0;
}

static struct kg_golden golden(const char *key, double p50_us, double best_us, const char *date)
{
    struct kg_golden one = { .p50_us = p50_us,
                             .best = { .p50_us = best_us, .git_sha = "0123456789abcdef", .uuid = "GPU-1" },
                             .contract = { "graph", "warm", 200, "irwin-hall-8" },
                             .provenance = { .uuid = "GPU-1", .device = "NVIDIA H200" } };
    (void)strcpy(one.key, key);
    (void)strcpy(one.best.date, date);
    return one;
}

static void put(int set, struct kg_golden one)
{
    assert_int_equal(kg_goldens_put(&sets[set], &one, false, NULL), KG_OK);
}

static void make(void)
{
    assert_int_equal(kg_leaderboard_make(&plan, sets, 2, &board, NULL), KG_OK);
}

static void stands(const struct kg_board *of, size_t place, const char *name, int rank, double over_best_pct)
{
    assert_true(place < of->count);
    const struct kg_standing *one = &of->standings[place];
    assert_string_equal(one->backend->name, name);
    assert_int_equal(one->rank, rank);
    if (!(fabs(one->over_best_pct - over_best_pct) < 1e-9))
        fail_msg("%s is %g%% over the best", name, one->over_best_pct);
}

/* The best was once fast's, which has got slower since; plain leads now. */
static void a_best_is_not_the_leader(void **state)
{
    (void)state;
    put(0, golden("suite/a/fast", 30, 20, "2025-01-02"));
    put(0, golden("suite/a/plain", 25, 24, "2025-01-03"));
    put(0, golden("suite/gone/fast", 1, 1, "2025-01-03")); /* of no case */
    put(0, golden("other/a/fast", 1, 1, "2025-01-03"));
    make();
    assert_int_equal(board.n_boards, 1);
    assert_string_equal(board.boards[0].of->shape, "a");
    assert_ptr_equal(board.boards[0].set, &sets[0]);
    assert_string_equal(board.boards[0].best.backend->name, "fast");
    assert_true(board.boards[0].best.golden->best.p50_us == 20);
    assert_int_equal(board.boards[0].count, 2);
    stands(&board.boards[0], 0, "plain", 1, 25);
    stands(&board.boards[0], 1, "fast", 2, 50);
    assert_int_equal(board.boards[0].n_without, 1); /* each seed's case once; not what prints or chooses */
    assert_string_equal(board.boards[0].without[0]->name, "third");
    assert_false(board.boards[0].several_cards);
    kg_leaderboard_done(&board);
    sets[0].items[1].best.uuid[4] = '2';
    make();
    assert_true(board.boards[0].several_cards);
}

static void equal_times_share_a_rank(void **state)
{
    (void)state;
    put(0, golden("suite/b/fast", 10, 8, "2024-12-31"));
    put(0, golden("suite/b/plain", 10, 8, "2025-01-02"));
    put(0, golden("suite/b/third", 12, 12, "2025-01-02"));
    sets[0].items[2].provenance.uuid[4] = '2';
    make();
    stands(&board.boards[0], 0, "plain", 1, 25); /* in the table's order */
    stands(&board.boards[0], 1, "fast", 1, 25);
    stands(&board.boards[0], 2, "third", 3, 50);
    assert_string_equal(board.boards[0].best.backend->name, "fast"); /* who was first */
    assert_true(board.boards[0].several_cards);
    assert_int_equal(board.boards[0].n_without, 0);
}

static void contracts_are_not_compared(void **state)
{
    (void)state;
    struct kg_golden cold = golden("suite/a/fast", 50, 50, "2025-01-02");
    (void)strcpy(cold.contract.l2, "cold");
    put(0, cold);
    put(0, golden("suite/a/plain", 25, 25, "2025-01-02"));
    put(0, golden("suite/a/third", 20, 20, "2025-01-02"));
    make();
    assert_int_equal(board.n_boards, 2);
    stands(&board.boards[0], 0, "third", 1, 0);
    stands(&board.boards[0], 1, "plain", 2, 25);
    assert_int_equal(board.boards[1].count, 1);
    stands(&board.boards[1], 0, "fast", 1, 0);
}

static void architectures_stand_apart(void **state)
{
    (void)state;
    put(0, golden("suite/a/fast", 10, 10, "2025-01-02"));
    put(0, golden("suite/b/fast", 11, 11, "2025-01-02"));
    put(1, golden("suite/a/fast", 90, 90, "2025-01-02"));
    put(1, golden("suite/a/loops", 5, 5, "2025-01-02")); /* a backend of the other kind is no rival */
    make();
    assert_int_equal(board.n_boards, 4);
    stands(&board.boards[0], 0, "fast", 1, 0);
    assert_string_equal(board.boards[1].of->shape, "b");
    assert_ptr_equal(board.boards[2].set, &sets[1]);
    stands(&board.boards[2], 0, "fast", 1, 0);
    stands(&board.boards[3], 0, "loops", 1, 0);
    assert_int_equal(board.boards[3].n_without, 0);
}

/* A selection shows less, and changes no rank. */
static void what_is_shown_keeps_its_rank(void **state)
{
    (void)state;
    struct kg_plan selected;
    const char *const names[] = { "plain", "third" }, *const patterns[] = { "*/s1/*" };
    put(0, golden("suite/a/fast", 20, 20, "2025-01-02"));
    put(0, golden("suite/a/plain", 25, 25, "2025-01-02"));
    put(0, golden("suite/b/fast", 20, 20, "2025-01-02"));
    make();
    assert_int_equal(kg_plan_make(&module,
                                  &(struct kg_selection){
                                      .backends = names, .n_backends = 2, .patterns = patterns, .n_patterns = 1 },
                                  &selected, NULL),
                     KG_OK);
    kg_leaderboard_select(&board, &selected);
    kg_plan_done(&selected);
    assert_int_equal(board.n_boards, 1); /* of b no golden is left */
    assert_int_equal(board.boards[0].count, 1);
    stands(&board.boards[0], 0, "plain", 2, 25);
    assert_string_equal(board.boards[0].best.backend->name, "fast");
    assert_int_equal(board.boards[0].n_without, 1);
}

/* What has no golden is named wherever its shape is shown, though the board that named it is not. */
static void without_a_golden_moves_with_its_shape(void **state)
{
    (void)state;
    struct kg_plan selected;
    const char *const names[] = { "fast", "third" };
    struct kg_golden cold = golden("suite/a/fast", 50, 50, "2025-01-02");
    (void)strcpy(cold.contract.l2, "cold");
    put(0, cold);
    put(0, golden("suite/a/plain", 25, 25, "2025-01-02"));
    make();
    assert_int_equal(board.n_boards, 2);
    assert_string_equal(board.boards[0].standings[0].backend->name, "plain");
    assert_int_equal(
        kg_plan_make(&module, &(struct kg_selection){ .backends = names, .n_backends = 2 }, &selected, NULL), KG_OK);
    kg_leaderboard_select(&board, &selected);
    kg_plan_done(&selected);
    assert_int_equal(board.n_boards, 1);
    stands(&board.boards[0], 0, "fast", 1, 0);
    assert_int_equal(board.boards[0].n_without, 1);
    assert_string_equal(board.boards[0].without[0]->name, "third");
}

static void nothing_to_show(void **state)
{
    (void)state;
    make();
    assert_int_equal(board.n_boards, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_best_is_not_the_leader, setup, teardown),
        cmocka_unit_test_setup_teardown(equal_times_share_a_rank, setup, teardown),
        cmocka_unit_test_setup_teardown(contracts_are_not_compared, setup, teardown),
        cmocka_unit_test_setup_teardown(architectures_stand_apart, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_shown_keeps_its_rank, setup, teardown),
        cmocka_unit_test_setup_teardown(without_a_golden_moves_with_its_shape, setup, teardown),
        cmocka_unit_test_setup_teardown(nothing_to_show, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
