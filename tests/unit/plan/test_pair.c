/* test_pair.c -- two builds' plans beside each other. A test gives the candidate's table what a change would do to it,
 * and writes the union with a letter a case: b both, n new, g gone, c changed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "plan/pair.h"

struct old_problem {
    const char *name;
    int64_t n;
    int dtype;
};

/* The candidate's has its members elsewhere, and one more. */
struct new_problem {
    const char *name;
    double scale;
    int dtype;
    int64_t n;
};

static const char *const dtypes[] = { "", "f16", "bf16", NULL };
static const kg_field old_fields[] = {
    { "n", offsetof(struct old_problem, n), KG_INT, .min = 1, .max = 4096 },
    { "dtype", offsetof(struct old_problem, dtype), KG_CHOICE, .fallback = 1, .choices = dtypes },
};
static const kg_field new_fields[] = {
    { "scale", offsetof(struct new_problem, scale), KG_REAL, .max = 4, .fallback = 1 },
    { "n", offsetof(struct new_problem, n), KG_INT, .min = 1, .max = 4096 },
    { "dtype", offsetof(struct new_problem, dtype), KG_CHOICE, .fallback = 1, .choices = dtypes },
};

static int64_t skipped_elements; /* of the candidate's description */
static double made_unit;         /* of its output */

static int describe(int64_t n, kg_tensor *ret_tensors, int *ret_count)
{
    ret_tensors[0] = (kg_tensor){ .name = "x", .dtype = KG_F32, .role = KG_INPUT, .rank = 1, .dims = { n } };
    ret_tensors[1] = (kg_tensor){ .name = "y", .dtype = KG_F32, .role = KG_OUTPUT, .rank = 1, .dims = { n } };
    *ret_count = 2;
    return KG_OK;
}

static int old_tensors(const void *problem, kg_tensor ret_tensors[KG_MAX_TENSORS], int *ret_count)
{
    return describe(((const struct old_problem *)problem)->n, ret_tensors, ret_count);
}

static int new_tensors(const void *problem, kg_tensor ret_tensors[KG_MAX_TENSORS], int *ret_count)
{
    int status = describe(((const struct new_problem *)problem)->n - skipped_elements, ret_tensors, ret_count);
    ret_tensors[1].unit = made_unit;
    return status;
}

static const kg_op old_op = {
    .name = "copy", .problem_size = sizeof(struct old_problem), .fields = KG_LIST(old_fields), .tensors = old_tensors
};
static const kg_backend fast = { .name = "fast", .device = KG_CPU }, plain = { .name = "plain", .device = KG_CPU },
                        added = { .name = "added", .device = KG_CPU },
                        cuda_fast = { .name = "fast", .device = KG_CUDA };
static const kg_backend *const backends[] = { &fast, &plain };
static const struct old_problem rows[] = { { .name = "big", .n = 512 }, { .name = "small", .n = 8, .dtype = 2 } };
static const uint64_t seeds[] = { 0, 1 };
static const kg_suite old_suite = {
    .name = "main", .op = &old_op, .shapes = KG_TABLE(rows), .seeds = { seeds, 1 }, .backends = KG_LIST(backends)
};
static const kg_suite *const old_suites[] = { &old_suite };
static const struct kg_module baseline = { KG_MODULE_SIZES, .name = "old", .suites = old_suites, .n_suites = 1 };

/* The candidate: as the baseline, until a test says otherwise. */
static struct candidate {
    struct new_problem rows[3];
    const kg_backend *backends[3];
    kg_op op;
    kg_suite suite;
    const kg_suite *suites[1];
    struct kg_module module;
} c;

static struct kg_selection selection;
static struct kg_plan plan;
static struct kg_pairs pairs;

static int tables_new(void **state)
{
    (void)state;
    skipped_elements = 0;
    selection = (struct kg_selection){ .n_patterns = 0 };
    c = (struct candidate){
        .rows = { { .name = "big", .n = 512 }, { .name = "small", .n = 8, .dtype = 2 }, { .name = "added", .n = 2 } },
        .backends = { &fast, &plain, &added },
        .suites = { &c.suite }
    };
    c.op = (kg_op){
        .name = "copy", .problem_size = sizeof *c.rows, .fields = KG_LIST(new_fields), .tensors = new_tensors
    };
    c.suite = (kg_suite){ .name = "main",
                          .op = &c.op,
                          .shapes = { c.rows, 2, sizeof *c.rows },
                          .seeds = { seeds, 1 },
                          .backends = { c.backends, 2 } };
    c.module = (struct kg_module){ KG_MODULE_SIZES, .name = "new", .suites = c.suites, .n_suites = 1 };
    return 0;
}

static int tables_free(void **state)
{
    (void)state;
    kg_plan_done(&plan);
    kg_pairs_done(&pairs);
    return 0;
}

static void made(const char *wanted)
{
    static const char letters[] = {
        [KG_PAIR_BOTH] = 'b', [KG_PAIR_NEW] = 'n', [KG_PAIR_REMOVED] = 'g', [KG_PAIR_CHANGED] = 'c'
    };
    char got[2048] = "";
    kg_error error = { 0 };
    tables_free(NULL);
    if (kg_pairs_make(&baseline, &c.module, &selection, &plan, &pairs, &error))
        fail_msg("refused: %s", error.text);
    assert_int_equal(plan.count, pairs.count);
    for (size_t i = 0; i < plan.count; i++) {
        char id[KG_ID_SIZE];
        size_t used = strlen(got);
        kg_case_id(&plan.cases[i], id, sizeof id);
        (void)snprintf(got + used, sizeof got - used, "%s%s:%c", i ? " " : "", id, letters[pairs.items[i].fate]);
    }
    assert_string_equal(got, wanted);
}

static void refused(const char *why)
{
    kg_error error = { 0 };
    assert_int_equal(kg_pairs_make(&baseline, &c.module, &selection, &plan, &pairs, &error), KG_EINVAL);
    assert_string_equal(error.text, why);
}

#define SAME "main/big/s0/fast:b main/big/s0/plain:b main/small/s0/fast:b main/small/s0/plain:b"

/* ---- which cases ----------------------------------------------------------------------------------------------- */

static void nothing_changed_but_the_layout(void **state)
{
    (void)state;
    made(SAME);
    for (size_t i = 0; i < plan.count; i++) {
        const struct kg_case *theirs = &pairs.items[i].candidate;
        assert_ptr_equal(plan.cases[i].suite, &old_suite); /* gates, thresholds and xfails are the baseline's */
        assert_ptr_equal(theirs->suite, &c.suite);
        assert_string_equal(theirs->shape, plan.cases[i].shape);
        assert_int_equal(((const struct new_problem *)theirs->problem)->n,
                         ((const struct old_problem *)plan.cases[i].problem)->n);
        assert_true(((const struct new_problem *)theirs->problem)->scale == 1);
    }
}

static void rows_gone_new_and_renamed(void **state)
{
    (void)state;
    c.suite.shapes.count = 1;
    made("main/big/s0/fast:b main/big/s0/plain:b main/small/s0/fast:g main/small/s0/plain:g");
    c.suite.shapes.count = 3;
    made(SAME " main/added/s0/fast:n main/added/s0/plain:n");
    assert_ptr_equal(plan.cases[4].suite, &c.suite);
    assert_int_equal(plan.cases[4].shape_ordinal, 4); /* after the baseline's two, and the candidate's other two */
    assert_int_equal(plan.cases[4].shape_ordinal, plan.cases[5].shape_ordinal);
    c.suite.shapes.count = 2;
    c.rows[1].name = "tiny";
    made("main/big/s0/fast:b main/big/s0/plain:b main/small/s0/fast:g main/small/s0/plain:g "
         "main/tiny/s0/fast:n main/tiny/s0/plain:n");
}

static void backends_seeds_and_suites(void **state)
{
    (void)state;
    c.suite.backends.count = 1;
    made("main/big/s0/fast:b main/big/s0/plain:g main/small/s0/fast:b main/small/s0/plain:g");
    c.suite.backends.count = 3;
    made(SAME " main/big/s0/added:n main/small/s0/added:n");
    c.suite.backends.count = 2;
    c.suite.seeds.count = 2;
    made(SAME " main/big/s1/fast:n main/big/s1/plain:n main/small/s1/fast:n main/small/s1/plain:n");
    c.suite.seeds = (kg_seeds){ seeds + 1, 1 };
    c.suite.shapes.count = c.suite.backends.count = 1;
    made("main/big/s0/fast:g main/big/s0/plain:g main/small/s0/fast:g main/small/s0/plain:g main/big/s1/fast:n");
    c.suite.name = "other";
    made("main/big/s0/fast:g main/big/s0/plain:g main/small/s0/fast:g main/small/s0/plain:g other/big/s1/fast:n");
}

/* ---- the same name for another problem ------------------------------------------------------------------------- */

static void changed(size_t i, const char *change)
{
    assert_int_equal(pairs.items[i].fate, KG_PAIR_CHANGED);
    assert_string_equal(pairs.items[i].change, change);
}

static void rows_changed(void **state)
{
    (void)state;
    c.rows[0].n = 256;
    made("main/big/s0/fast:c main/big/s0/plain:c main/small/s0/fast:b main/small/s0/plain:b");
    changed(0, "n=512 -> n=256");
    c.rows[0].n = 512;
    c.rows[1].dtype = 0; /* falls back to f16 */
    made("main/big/s0/fast:b main/big/s0/plain:b main/small/s0/fast:c main/small/s0/plain:c");
    changed(2, "dtype=bf16 -> dtype=f16");
    c.rows[1].dtype = 2;
    c.rows[1].scale = 3; /* the baseline knows nothing of it */
    made(SAME);
}

static void ops_changed(void **state)
{
    (void)state;
    c.op.fields.count = 2;
    made("main/big/s0/fast:c main/big/s0/plain:c main/small/s0/fast:c main/small/s0/plain:c");
    changed(0, "field dtype is gone");
    c.op.fields.count = 3;
    c.op.name = "shift";
    made("main/big/s0/fast:c main/big/s0/plain:c main/small/s0/fast:c main/small/s0/plain:c");
    changed(0, "op copy -> op shift");
    c.op.name = "copy";
    skipped_elements = 1; /* the row says what it said, and the op makes less of it */
    made("main/big/s0/fast:c main/big/s0/plain:c main/small/s0/fast:c main/small/s0/plain:c");
    changed(3, "tensor x has another type, unit, role or shape");
    skipped_elements = 0;
    made_unit = 0.5; /* of what the candidate's output stands for */
    made("main/big/s0/fast:c main/big/s0/plain:c main/small/s0/fast:c main/small/s0/plain:c");
    changed(3, "tensor y has another type, unit, role or shape");
    made_unit = 0;
    c.backends[0] = &cuda_fast;
    made("main/big/s0/fast:c main/big/s0/plain:b main/small/s0/fast:c main/small/s0/plain:b");
    changed(0, "for the CPU -> for the GPU");
    selection.kind = KG_CPU;
    made("main/big/s0/fast:g main/big/s0/plain:b main/small/s0/fast:g main/small/s0/plain:b");
}

/* ---- selections over both -------------------------------------------------------------------------------------- */

static void patterns_match_either(void **state)
{
    const char *patterns[] = { "main/added", "main/small/*/plain" };
    const char *names[] = { "added" };
    (void)state;
    selection.patterns = patterns;
    selection.n_patterns = 2;
    refused("no case matches main/added");
    c.suite.shapes.count = 3;
    made("main/small/s0/plain:b main/added/s0/fast:n main/added/s0/plain:n");
    c.rows[1].name = "tiny";
    made("main/small/s0/plain:g main/added/s0/fast:n main/added/s0/plain:n");
    selection.n_patterns = 1; /* the baseline's plan is empty */
    made("main/added/s0/fast:n main/added/s0/plain:n");
    patterns[0] = "main/nothing";
    refused("no case matches main/nothing");
    selection.n_patterns = 0;
    selection.backends = names;
    selection.n_backends = 1;
    c.suite.backends.count = 3;
    made("main/big/s0/added:n main/tiny/s0/added:n main/added/s0/added:n");
    names[0] = "nosuch";
    refused("unknown backend nosuch; kgate list shows them");
}

/* Each case of the union is in one shard, though a row that is gone moves the candidate's others up. */
static void shards_of_the_union(void **state)
{
    (void)state;
    c.rows[0] = c.rows[1];
    c.rows[1] = c.rows[2];
    selection.n_shards = 2;
    selection.shard = 1;
    made("main/big/s0/fast:g main/big/s0/plain:g");
    selection.shard = 2;
    made("main/small/s0/fast:b main/small/s0/plain:b main/added/s0/fast:n main/added/s0/plain:n");
    selection.shard = selection.n_shards = 9;
    refused("no case selected: shard 9/9 is empty");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, tables_new, tables_free)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(nothing_changed_but_the_layout),
        TEST(rows_gone_new_and_renamed),
        TEST(backends_seeds_and_suites),
        TEST(rows_changed),
        TEST(ops_changed),
        TEST(patterns_match_either),
        TEST(shards_of_the_union),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
