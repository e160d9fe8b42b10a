/* test_plan.c -- from tables and a selection to the list of cases, by a small module of its own.
 * A test writes the ids it expects, in order; `plan` fails by showing those it got. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "plan/axis.h"
#include "plan/module.h"
#include "plan/plan.h"

struct problem {
    const char *name;
    int64_t n, heads;
    double scale;
    int dtype;
};

static const char *const dtypes[] = { "", "f16", "bf16", NULL };
static const kg_field fields[] = {
    { "n", offsetof(struct problem, n), KG_INT, .min = 1, .max = 4096 },
    { "heads", offsetof(struct problem, heads), KG_INT, .min = 1, .max = 64, .fallback = 8 },
    { "scale", offsetof(struct problem, scale), KG_REAL, .min = 0, .max = 4, .fallback = 1 },
    { "dtype", offsetof(struct problem, dtype), KG_CHOICE, .fallback = 1, .choices = dtypes },
};
static const kg_field other_fields[] = {
    { "n", offsetof(struct problem, n), KG_INT, .min = 1, .max = 4096 },
};

static int check(const void *problem, kg_error *ret_error)
{
    const struct problem *p = problem;
    if (p->n % 2)
        return kg_fail(ret_error, KG_EINVAL, "n is odd");
    return p->n == 64 && p->heads == 64 ? kg_fail(ret_error, KG_EINVAL, "as many heads as n") : KG_OK;
}

static const kg_op op = {
    .name = "copy", .problem_size = sizeof(struct problem), .fields = KG_LIST(fields), .check = check
};
static const kg_op other_op = { .name = "shift",
                                .problem_size = sizeof(struct problem),
                                .fields = KG_LIST(other_fields) };

static const kg_backend fast = { .name = "fast", .device = KG_CUDA }, plain = { .name = "plain", .device = KG_CUDA },
                        loops = { .name = "loops", .device = KG_CPU };
static const kg_backend *const backends[] = { &loops, &fast, &plain }, *const cpu_backends[] = { &loops };
static const struct problem rows[] = { { .name = "big", .n = 4096 }, { .name = "big2", .n = 64, .heads = 2 } },
                            cpu_rows[] = { { .name = "big", .n = 2 } }, other_rows[] = { { .name = "row", .n = 10 } };
static const uint64_t seeds[] = { 0, 7 }, one_seed[] = { 3 };
static const kg_variable environment[] = { { "HEADS", "heads" }, { "DTYPE", "dtype" }, { "N", "n" } };
static const kg_xfail xfails[] = { { "main/big2/*/fast", "known: 12" }, { "main/big/s7", "second" }, { "*", "never" } };

/* Rows for both kinds; a suite whose rows serve the CPU alone; a name that starts as the first one's does. */
static const kg_suite main_suite = { .name = "main",
                                     .op = &op,
                                     .shapes = KG_TABLE(rows),
                                     .cpu_shapes = KG_TABLE(cpu_rows),
                                     .seeds = KG_LIST(seeds),
                                     .backends = KG_LIST(backends),
                                     .xfails = { xfails, 2 },
                                     .environment = KG_LIST(environment) },
                      mainly = { .name = "mainly",
                                 .op = &other_op,
                                 .shapes = KG_TABLE(other_rows),
                                 .seeds = KG_LIST(one_seed),
                                 .backends = KG_LIST(cpu_backends) };
static const kg_suite *const suites[] = { &main_suite, &mainly };
static const struct kg_module module = { KG_MODULE_SIZES, .name = "plans", .suites = suites, .n_suites = 2 };

/* ---- help ---------------------------------------------------------------------------------------------------- */

#define LIST(...) (const char *const[]){ __VA_ARGS__ }, sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *)
#define PATTERNS(...)                                                                                                  \
    .patterns = (const char *const[]){ __VA_ARGS__ },                                                                  \
    .n_patterns = sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *)
#define EXCLUDES(...)                                                                                                  \
    .excludes = (const char *const[]){ __VA_ARGS__ },                                                                  \
    .n_excludes = sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *)
#define BACKENDS(...)                                                                                                  \
    .backends = (const char *const[]){ __VA_ARGS__ },                                                                  \
    .n_backends = sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *)
#define SEEDS(...)                                                                                                     \
    .seeds = (const uint64_t[]){ __VA_ARGS__ }, .n_seeds = sizeof((const uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t)
#define SWEEPS(...)                                                                                                    \
    .sweeps = (const struct kg_sweep[]){ __VA_ARGS__ },                                                                \
    .n_sweeps = sizeof((const struct kg_sweep[]){ __VA_ARGS__ }) / sizeof(struct kg_sweep)
#define SELECTION(...)                                                                                                 \
    &(const struct kg_selection)                                                                                       \
    {                                                                                                                  \
        __VA_ARGS__                                                                                                    \
    }

static struct kg_plan made(const struct kg_selection *selection)
{
    struct kg_plan plan = { 0 };
    kg_error error = { 0 };
    if (kg_plan_make(&module, selection, &plan, &error))
        fail_msg("refused: %s", error.text);
    return plan;
}

static void ids_of(const struct kg_plan *plan, char *ret_ids, size_t size)
{
    size_t used = 0;
    ret_ids[0] = '\0';
    for (size_t i = 0; i < plan->count; i++) {
        char id[KG_ID_SIZE];
        kg_case_id(&plan->cases[i], id, sizeof id);
        used += (size_t)snprintf(ret_ids + used, size - used, "%s%s", i ? " " : "", id);
        assert_true(used < size);
    }
}

static void plan(const struct kg_selection *selection, const char *ids)
{
    struct kg_plan p = made(selection);
    char got[4096];
    ids_of(&p, got, sizeof got);
    assert_string_equal(got, ids);
    kg_plan_done(&p);
    assert_true(p.count == 0 && p.cases == NULL && p.shapes == NULL);
}

static void refused(const struct kg_selection *selection, const char *why)
{
    struct kg_plan p = { .count = 77 };
    kg_error error = { 0 };
    assert_int_equal(kg_plan_make(&module, selection, &p, &error), KG_EINVAL);
    assert_string_equal(error.text, why);
    assert_int_equal(p.count, 77);
}

/* ---- expansion --------------------------------------------------------------------------------------------- */

#define MAIN_CUDA                                                                                                      \
    "main/big/s0/fast main/big/s0/plain main/big/s7/fast main/big/s7/plain "                                           \
    "main/big2/s0/fast main/big2/s0/plain main/big2/s7/fast main/big2/s7/plain"
#define MAIN_CPU "main/big/s0/loops main/big/s7/loops"
#define MAINLY "mainly/row/s3/loops"

static void the_tables_order(void **state)
{
    (void)state;
    plan(SELECTION(0), MAIN_CUDA " " MAIN_CPU " " MAINLY);
    plan(SELECTION(.kind = KG_CUDA), MAIN_CUDA);
    plan(SELECTION(.kind = KG_CPU), MAIN_CPU " " MAINLY);
}

static void cases_carry_their_problem(void **state)
{
    (void)state;
    struct kg_plan p = made(SELECTION(0));
    assert_int_equal(p.count, 11);
    assert_int_equal(p.n_shapes, 4);
    for (size_t i = 0; i < p.count; i++) {
        const struct kg_case *one = &p.cases[i];
        const struct problem *problem = one->problem;
        assert_int_equal(one->kind, one->backend->device);
        assert_string_equal(problem->name, one->shape);
        assert_int_equal(problem->heads, one->suite == &mainly ? 0 : strcmp(one->shape, "big2") ? 8 : 2);
        assert_int_equal(problem->n, one->suite == &mainly         ? 10
                                     : !strcmp(one->shape, "big2") ? 64
                                     : one->kind == KG_CPU         ? 2
                                                                   : 4096);
        for (size_t j = 0; j < i; j++) { /* a shape is an ordinal, a name and a problem of its own */
            bool same = p.cases[j].shape_ordinal == one->shape_ordinal;
            assert_int_equal(same, p.cases[j].problem == one->problem);
            assert_int_equal(same, p.cases[j].suite == one->suite && p.cases[j].kind == one->kind &&
                                       !strcmp(p.cases[j].shape, one->shape));
        }
    }
    char key[KG_ID_SIZE];
    kg_case_key(&p.cases[0], "other", key, sizeof key);
    assert_string_equal(key, "main/big/other");
    kg_plan_done(&p);
}

static void backends_and_seeds(void **state)
{
    (void)state;
    plan(SELECTION(BACKENDS("plain")), "main/big/s0/plain main/big/s7/plain main/big2/s0/plain main/big2/s7/plain");
    plan(SELECTION(BACKENDS("loops", "plain"), SEEDS(7), PATTERNS("main/big")), "main/big/s7/plain main/big/s7/loops");
    plan(SELECTION(SEEDS(9, 1, UINT64_MAX), PATTERNS("mainly")),
         "mainly/row/s9/loops mainly/row/s1/loops mainly/row/s18446744073709551615/loops");
    refused(SELECTION(BACKENDS("fast", "nosuch")), "unknown backend nosuch; kgate list shows them");
    refused(SELECTION(BACKENDS("fast"), .kind = KG_CPU), "no case selected");
    refused(SELECTION(BACKENDS("fast"), PATTERNS("mainly")), "no case matches mainly");
}

/* ---- patterns ---------------------------------------------------------------------------------------------- */

static void patterns(void **state)
{
    (void)state;
    plan(SELECTION(PATTERNS("mainly")), MAINLY);
    plan(SELECTION(PATTERNS("main")), MAIN_CUDA " " MAIN_CPU);
    plan(SELECTION(PATTERNS("main/big/s7")), "main/big/s7/fast main/big/s7/plain main/big/s7/loops");
    plan(SELECTION(PATTERNS("*/loops")), MAIN_CPU " " MAINLY);
    plan(SELECTION(PATTERNS("*/s[!0]/loops")), "main/big/s7/loops " MAINLY);
    plan(SELECTION(PATTERNS("main/big?/s?/fast")), "main/big2/s0/fast main/big2/s7/fast");
    plan(SELECTION(PATTERNS("mainly", "main/big/s0/fast")), "main/big/s0/fast " MAINLY);
    plan(SELECTION(PATTERNS("mainly", "*/fast"), .kind = KG_CPU), MAINLY); /* one of the other kind has matched too */
    plan(SELECTION(PATTERNS("main"), EXCLUDES("*/s0/*", "*/plain")),
         "main/big/s7/fast main/big2/s7/fast main/big/s7/loops");
    plan(SELECTION(EXCLUDES("main")), MAINLY);
    refused(SELECTION(PATTERNS("mai")), "no case matches mai");
    refused(SELECTION(PATTERNS("main/bi")), "no case matches main/bi");
    refused(SELECTION(PATTERNS("main", "other/*")), "no case matches other/*");
    refused(SELECTION(EXCLUDES("*")), "no case selected");
    refused(SELECTION(PATTERNS("mainly"), EXCLUDES("mainly")), "no case selected"); /* it did match */
}

static void globs_that_are_none(void **state)
{
    (void)state;
    refused(SELECTION(PATTERNS("")), "bad pattern: it is empty");
    refused(SELECTION(PATTERNS("main", "main/[ab")), "bad pattern main/[ab: [ without ]");
    refused(SELECTION(EXCLUDES("[!]")), "bad pattern [!]: [ without ]");
    refused(SELECTION(PATTERNS("main\\")), "bad pattern main\\: it ends in a backslash");
    static const char *const good[] = { "a", "[]]", "[!]a]", "[^]]", "\\[", "a]", "[a-z]*", "\\\\" };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_int_equal(kg_pattern_check(good[i], NULL), KG_OK);
}

static void a_leading_part_selects_all_below(void **state)
{
    (void)state;
    const char *id = "main/big@n=64/s0/fast";
    static const char *const yes[] = { "main",       "main/big@n=64", "main/big@n=64/s0", "main/big@n=64/s0/fast",
                                       "*",          "main/big",      "main/big/s0",      "main/big/s0/fast",
                                       "main/big@*", "m*n",           "main/big/*/fast",  "*@n=64/*",
                                       "main/b?g" };
    static const char *const no[] = { "mai",          "main/",          "main/bi",   "big",  "main/big/s",
                                      "main/big@n=6", "main/big@n=64/", "main/big2", "fast", "main/big/s0/fast/",
                                      "main/b?g?" };
    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++)
        if (!kg_pattern_matches(yes[i], id))
            fail_msg("%s does not select %s", yes[i], id);
    for (size_t i = 0; i < sizeof no / sizeof *no; i++)
        if (kg_pattern_matches(no[i], id))
            fail_msg("%s selects %s", no[i], id);
}

/* ---- sweeps ------------------------------------------------------------------------------------------------ */

static void sweeps(void **state)
{
    (void)state;
    plan(SELECTION(PATTERNS("main/*/s0/fast"), SWEEPS({ "n", LIST("64", "0128") })),
         "main/big@n=64/s0/fast main/big@n=128/s0/fast main/big2@n=64/s0/fast main/big2@n=128/s0/fast");
    plan(SELECTION(PATTERNS("main/big/s7/plain"),
                   SWEEPS({ "dtype", LIST("bf16", "f16") }, { "scale", LIST(".5", "2.0") })),
         "main/big@dtype=bf16,scale=0.5/s7/plain main/big@dtype=bf16,scale=2/s7/plain "
         "main/big@dtype=f16,scale=0.5/s7/plain main/big@dtype=f16,scale=2/s7/plain");
    plan(SELECTION(PATTERNS("main/big@n=128/s0/fast"), SWEEPS({ "n", LIST("64", "128") })), "main/big@n=128/s0/fast");
    plan(SELECTION(PATTERNS("mainly"), EXCLUDES("*@n=4/*"), SWEEPS({ "n", LIST("2", "4", "6") })),
         "mainly/row@n=2/s3/loops mainly/row@n=6/s3/loops");
}

static void swept_problems(void **state)
{
    (void)state;
    struct kg_plan p = made(SELECTION(PATTERNS("main/*/s0/fast"), SWEEPS({ "scale", LIST("0.3", "2") })));
    assert_int_equal(p.count, 4);
    assert_int_equal(p.n_shapes, 4); /* those that nothing selected are gone */
    for (size_t i = 0; i < p.count; i++) {
        const struct problem *problem = p.cases[i].problem;
        assert_true(problem->scale == (i % 2 ? 2 : 0.3));
        assert_int_equal(problem->n, i < 2 ? 4096 : 64);
        assert_int_equal(problem->heads, i < 2 ? 8 : 2);
        assert_int_equal(p.cases[i].shape_ordinal, i);
    }
    kg_plan_done(&p);
}

static void sweeps_that_are_refused(void **state)
{
    (void)state;
    refused(SELECTION(PATTERNS("main"), SWEEPS({ "n", LIST("64", "64") })), "--set n=64 stands twice");
    refused(SELECTION(PATTERNS("main"), SWEEPS({ "n", LIST("64", "0064") })), "--set n=64 stands twice");
    refused(SELECTION(PATTERNS("main"), SWEEPS({ "n", LIST("63") })), "suite main, row big@n=63: n is odd");
    refused(SELECTION(PATTERNS("main"), SWEEPS({ "n", LIST("0") })), "--set n=0 is outside 1 to 4096");
    refused(SELECTION(PATTERNS("main"), SWEEPS({ "n", LIST("x") })), "--set n=x is not an integer");
    refused(SELECTION(PATTERNS("main"), SWEEPS({ "depth", LIST("1") })),
            "--set depth: op copy of suite main has no such field, but n, heads, scale, dtype");
    refused(SELECTION(SWEEPS({ "heads", LIST("2") })),
            "--set heads: op shift of suite mainly has no such field, but n");
    plan(SELECTION(PATTERNS("main/big/s0/fast"), SWEEPS({ "heads", LIST("2") })), "main/big@heads=2/s0/fast");
    static const char *const value[] = { "64" };
    struct kg_sweep many[17];
    for (size_t i = 0; i < 17; i++)
        many[i] = (struct kg_sweep){ "n", value, 1 };
    refused(SELECTION(.sweeps = many, .n_sweeps = 17), "more than 16 fields swept");
}

/* What the op refuses in a row that is not selected is nobody's concern. */
static void rows_that_an_op_refuses(void **state)
{
    (void)state;
    refused(SELECTION(PATTERNS("main"), SWEEPS({ "heads", LIST("64") })),
            "suite main, row big2@heads=64: as many heads as n");
    plan(SELECTION(PATTERNS("main/big/s0/fast"), SWEEPS({ "heads", LIST("64") })), "main/big@heads=64/s0/fast");
    plan(SELECTION(PATTERNS("main/*/s0/fast"), EXCLUDES("main/big2"), SWEEPS({ "heads", LIST("64") })),
         "main/big@heads=64/s0/fast");
}

/* ---- variables --------------------------------------------------------------------------------------------- */

static const char *const *variables; /* names, each before its text */

static char *variable(const char *name)
{
    for (const char *const *at = variables; *at; at += 2)
        if (!strcmp(at[0], name))
            return (char *)at[1];
    return NULL;
}

#define VARIABLES(...)                                                                                                 \
    variables = (const char *const[])                                                                                  \
    {                                                                                                                  \
        __VA_ARGS__, NULL                                                                                              \
    }
#define OF_FAST PATTERNS("main/*/s0/fast"), .variable = variable

static void variables_set_fields(void **state)
{
    (void)state;
    VARIABLES("N", "64"); /* which big2 has anyway */
    plan(SELECTION(OF_FAST), "main/big@n=64/s0/fast main/big2/s0/fast");
    plan(SELECTION(PATTERNS("main/*/s0/fast")), "main/big/s0/fast main/big2/s0/fast");
    plan(SELECTION(PATTERNS("mainly"), .variable = variable), MAINLY); /* which declares none */
    VARIABLES("N", "", "OTHER", "2");
    plan(SELECTION(OF_FAST), "main/big/s0/fast main/big2/s0/fast");
    VARIABLES("DTYPE", "bf16", "HEADS", "4,08"); /* in the table's order; 8 is what big falls back to */
    plan(SELECTION(OF_FAST), "main/big@heads=4,dtype=bf16/s0/fast main/big@dtype=bf16/s0/fast "
                             "main/big2@heads=4,dtype=bf16/s0/fast main/big2@heads=8,dtype=bf16/s0/fast");
    VARIABLES("N", "x"); /* of a suite that nothing selects */
    plan(SELECTION(PATTERNS("mainly"), .variable = variable), MAINLY);
}

static void options_come_before_variables(void **state)
{
    const struct kg_selection *both = SELECTION(OF_FAST, SWEEPS({ "n", LIST("64") })),
                              *other = SELECTION(OF_FAST, SWEEPS({ "scale", LIST(".5") }));
    (void)state;
    VARIABLES("N", "128,256");
    plan(both, "main/big@n=64/s0/fast main/big2@n=64/s0/fast");
    assert_null(kg_selection_variable(both, &environment[2]));
    assert_null(kg_selection_variable(other, &environment[1]));
    assert_string_equal(kg_selection_variable(other, &environment[2]), "128,256");
    VARIABLES("N", "64");
    plan(other, "main/big@n=64,scale=0.5/s0/fast main/big2@scale=0.5/s0/fast");
}

/* They say what changed them, and a worker makes the same of their names. */
static void cases_carry_their_variables(void **state)
{
    static const char *const wanted[] = { "HEADS=2,N=64", "HEADS=2,N=256", "", "N=256" };
    (void)state;
    VARIABLES("HEADS", "2", "N", "64,256");
    struct kg_plan p = made(SELECTION(OF_FAST));
    assert_int_equal(p.count, 4);
    for (size_t i = 0; i < p.count; i++) {
        void *problem = NULL;
        assert_string_equal(p.cases[i].environment, wanted[i]);
        assert_int_equal(kg_plan_problem(p.cases[i].suite, p.cases[i].kind, p.cases[i].shape, &problem, NULL), KG_OK);
        assert_memory_equal(problem, p.cases[i].problem, sizeof(struct problem));
        free(problem);
    }
    kg_plan_done(&p);
    p = made(SELECTION(PATTERNS("main/*/s0/fast"), SWEEPS({ "n", LIST("32") })));
    assert_string_equal(p.cases[0].environment, "");
    kg_plan_done(&p);
}

static void variables_that_are_refused(void **state)
{
    const struct kg_selection *all = SELECTION(PATTERNS("main"), .variable = variable);
    (void)state;
    VARIABLES("N", "x");
    refused(all, "N=x: n=x is not an integer");
    VARIABLES("N", "64,0");
    refused(all, "N=64,0: n=0 is outside 1 to 4096");
    VARIABLES("DTYPE", "f8");
    refused(all, "DTYPE=f8: dtype=f8 is none of f16, bf16");
    VARIABLES("N", "64,0064");
    refused(all, "N=64,0064: n=64 stands twice");
    VARIABLES("N", "64,,2");
    refused(all, "N=64,,2: an empty value between commas");
    VARIABLES("N", "2,");
    refused(all, "N=2,: an empty value between commas");
    VARIABLES("N", "0000000000000000000000000000000000000000000000000000000000000064");
    refused(all, "N=0000000000000000000000000000000000000000000000000000000000000064: a value too long");
    VARIABLES("N", "63");
    refused(all, "N=63: suite main, row big@n=63: n is odd");
    VARIABLES("HEADS", "64");
    refused(all, "HEADS=64: suite main, row big2@heads=64: as many heads as n");
    plan(SELECTION(PATTERNS("main/big/s0/fast"), .variable = variable), "main/big@heads=64/s0/fast");
}

/* ---- shards ------------------------------------------------------------------------------------------------ */

static void shards_part_the_shapes(void **state)
{
    (void)state;
    plan(SELECTION(.shard = 1, .n_shards = 1), MAIN_CUDA " " MAIN_CPU " " MAINLY);
    plan(SELECTION(.shard = 1, .n_shards = 2),
         "main/big/s0/fast main/big/s0/plain main/big/s7/fast main/big/s7/plain " MAIN_CPU);
    plan(SELECTION(.shard = 2, .n_shards = 2),
         "main/big2/s0/fast main/big2/s0/plain main/big2/s7/fast main/big2/s7/plain " MAINLY);
    plan(SELECTION(.shard = 4, .n_shards = 4), MAINLY);
    refused(SELECTION(.shard = 5, .n_shards = 5), "no case selected: shard 5/5 is empty");
}

/* More cases than the lists' first room, so that names and problems have moved meanwhile. */
static void many_cases(void **state)
{
    (void)state;
    static char text[200][8];
    const char *values[200];
    for (size_t i = 0; i < 200; i++) {
        (void)snprintf(text[i], sizeof text[i], "%zu", 2 * i + 2);
        values[i] = text[i];
    }
    struct kg_sweep sweep = { "n", values, 200 };
    struct kg_plan p = made(SELECTION(.sweeps = &sweep, .n_sweeps = 1, PATTERNS("main"), BACKENDS("fast")));
    assert_int_equal(p.count, 2 * 2 * 200);
    assert_int_equal(p.n_shapes, 400);
    for (size_t i = 0; i < p.count; i++) {
        char shape[32];
        (void)snprintf(shape, sizeof shape, "big%s@n=%zu", i < 400 ? "" : "2", i % 400 / 2 * 2 + 2);
        assert_string_equal(p.cases[i].shape, shape);
        assert_int_equal(((const struct problem *)p.cases[i].problem)->n, i % 400 / 2 * 2 + 2);
        assert_int_equal(p.cases[i].shape_ordinal, i / 2);
    }
    kg_plan_done(&p);
}

/* ---- a problem by its name --------------------------------------------------------------------------------- */

static void problem_is(enum kg_device_kind kind, const char *shape, int64_t n, int64_t heads, double scale)
{
    void *problem = NULL;
    kg_error error = { 0 };
    if (kg_plan_problem(&main_suite, kind, shape, &problem, &error))
        fail_msg("%s: %s", shape, error.text);
    const struct problem *p = problem;
    assert_true(p->n == n && p->heads == heads && p->scale == scale && p->dtype == 1);
    free(problem);
}

static void no_problem(const char *shape, const char *why)
{
    void *problem = &problem;
    kg_error error = { 0 };
    assert_int_equal(kg_plan_problem(&main_suite, KG_CUDA, shape, &problem, &error), KG_EINVAL);
    assert_string_equal(error.text, why);
    assert_ptr_equal(problem, &problem);
}

static void problems_by_name(void **state)
{
    (void)state;
    problem_is(KG_CUDA, "big", 4096, 8, 1);
    problem_is(KG_CPU, "big", 2, 8, 1);
    problem_is(KG_CUDA, "big2", 64, 2, 1);
    problem_is(KG_CUDA, "big@n=64", 64, 8, 1);
    problem_is(KG_CUDA, "big@scale=0", 4096, 8, 0); /* a zero that is asked for is no fallback */
    problem_is(KG_CUDA, "big@n=64,scale=0.5,heads=3", 64, 3, 0.5);
    no_problem("bi", "suite main has no row bi");
    no_problem("big3@n=64", "suite main has no row big3@n=64");
    no_problem("", "suite main has no row ");
    no_problem("big@n", "row big@n: no = after @");
    no_problem("big@n=5000", "--set n=5000 is outside 1 to 4096");
    no_problem("big@n=63", "suite main, row big@n=63: n is odd");
    no_problem("big@depth=1", "--set depth: op copy of suite main has no such field, but n, heads, scale, dtype");
    void *problem = NULL;
    assert_int_equal(kg_plan_problem(&main_suite, KG_CPU, "big2", &problem, NULL), KG_EINVAL); /* a CUDA row */
    char name[300] = "big@n=64"; /* too long for an id: refused, not cut */
    while (strlen(name) < 200)
        strcat(name, ",n=64");
    assert_int_equal(kg_plan_problem(&main_suite, KG_CUDA, name, &problem, NULL), KG_EINVAL);
    assert_null(problem);
}

/* What the plan made and what a worker makes of the name are one problem. */
static void a_worker_finds_the_plans_problem(void **state)
{
    (void)state;
    struct kg_plan p = made(SELECTION(PATTERNS("main"), SWEEPS({ "scale", LIST("0", "0.1", "0.123456789012", "3") })));
    for (size_t i = 0; i < p.count; i++) {
        void *problem = NULL;
        assert_int_equal(kg_plan_problem(p.cases[i].suite, p.cases[i].kind, p.cases[i].shape, &problem, NULL), KG_OK);
        assert_memory_equal(problem, p.cases[i].problem, sizeof(struct problem));
        free(problem);
    }
    kg_plan_done(&p);
}

/* ---- regimes ------------------------------------------------------------------------------------------------- */

static const kg_regime own_regimes[] = { { .name = "sink" }, { .name = "poison", .help = "the op's own" } };
static const kg_op regime_op = { .name = "regimes",
                                 .problem_size = sizeof(struct problem),
                                 .fields = KG_LIST(fields),
                                 .regimes = KG_LIST(own_regimes) };
static const kg_suite_regime suite_regimes[] = { { "sink", "big" }, { "poison", NULL } };
static const kg_suite regime_suite = { .name = "drawn",
                                       .op = &regime_op,
                                       .shapes = KG_TABLE(rows),
                                       .seeds = KG_LIST(seeds),
                                       .backends = KG_LIST(cpu_backends),
                                       .regimes = KG_LIST(suite_regimes) };
static const kg_suite *const regime_suites[] = { &regime_suite };
static const struct kg_module regime_module = { KG_MODULE_SIZES, .name = "regimes", .suites = regime_suites,
                                                .n_suites = 1 };
#define REGIMES(...)                                                                                                   \
    .regimes = (const char *const[]){ __VA_ARGS__ },                                                                   \
    .n_regimes = sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *)

static void drawn(const struct kg_selection *selection, const char *ids)
{
    struct kg_plan p = { 0 };
    char got[4096];
    kg_error error = { 0 };
    if (kg_plan_make(&regime_module, selection, &p, &error))
        fail_msg("refused: %s", error.text);
    ids_of(&p, got, sizeof got);
    assert_string_equal(got, ids);
    kg_plan_done(&p);
}

#define BIG_NORMAL "drawn/big/s0/loops drawn/big/s7/loops"
#define BIG2_NORMAL "drawn/big2/s0/loops drawn/big2/s7/loops"

/* With the suite's first seed, or with each that was named, after the normal ones of a row. */
static void regimes_are_drawn(void **state)
{
    (void)state;
    drawn(SELECTION(0),
          BIG_NORMAL " drawn/big/s0-sink/loops drawn/big/s0-poison/loops " BIG2_NORMAL " drawn/big2/s0-poison/loops");
    drawn(SELECTION(SEEDS(5, 6), PATTERNS("drawn/big2")),
          "drawn/big2/s5/loops drawn/big2/s6/loops drawn/big2/s5-poison/loops drawn/big2/s6-poison/loops");
    drawn(SELECTION(REGIMES("none")), BIG_NORMAL " " BIG2_NORMAL);
    drawn(SELECTION(REGIMES("sink")), "drawn/big/s0-sink/loops");
    drawn(SELECTION(REGIMES("sink", "normal"), SEEDS(9)),
          "drawn/big/s9/loops drawn/big/s9-sink/loops drawn/big2/s9/loops");
    drawn(SELECTION(PATTERNS("drawn/*/s0-*")),
          "drawn/big/s0-sink/loops drawn/big/s0-poison/loops drawn/big2/s0-poison/loops");
    drawn(SELECTION(PATTERNS("drawn/big/s7")), "drawn/big/s7/loops");
    drawn(SELECTION(SWEEPS({ "n", LIST("64") }), REGIMES("sink")), "drawn/big@n=64/s0-sink/loops");
    struct kg_plan p = { 0 };
    kg_error error = { 0 };
    assert_int_equal(kg_plan_make(&regime_module, SELECTION(REGIMES("sunk")), &p, &error), KG_EINVAL);
    assert_string_equal(error.text, "no suite has regime sunk");
}

/* A bless of one case checks all that its row has. */
static void every_regime_comes_along(void **state)
{
    (void)state;
    drawn(SELECTION(PATTERNS("drawn/big/s0/loops"), .every_regime = true),
          "drawn/big/s0/loops drawn/big/s0-sink/loops drawn/big/s0-poison/loops");
    drawn(SELECTION(PATTERNS("drawn/big2"), EXCLUDES("*-poison/*"), .every_regime = true),
          BIG2_NORMAL " drawn/big2/s0-poison/loops");
}

static void cases_carry_their_regime(void **state)
{
    struct kg_plan p = { 0 };
    (void)state;
    assert_int_equal(kg_plan_make(&regime_module, SELECTION(PATTERNS("drawn/big")), &p, NULL), KG_OK);
    assert_null(p.cases[1].regime);
    assert_ptr_equal(p.cases[2].regime, &own_regimes[0]);
    assert_ptr_equal(p.cases[3].regime, &own_regimes[1]); /* before the host's of that name */
    assert_true(p.cases[2].seed == 0 && p.cases[2].problem == p.cases[0].problem);
    kg_plan_done(&p);
}

static void regimes_alone_expect_no_golden(void **state)
{
    (void)state;
    assert_true(kg_selection_covers_key(&regime_module, SELECTION(0), "drawn/gone/loops"));
    assert_true(kg_selection_covers_key(&regime_module, SELECTION(REGIMES("none")), "drawn/gone/loops"));
    assert_false(kg_selection_covers_key(&regime_module, SELECTION(REGIMES("sink")), "drawn/gone/loops"));
}

/* ---- keys and reasons -------------------------------------------------------------------------------------- */

static bool covers(const struct kg_selection *selection, const char *key)
{
    return kg_selection_covers_key(&module, selection, key);
}

static void keys_that_a_selection_covers(void **state)
{
    (void)state;
    assert_true(covers(SELECTION(0), "main/big/fast"));
    assert_true(covers(SELECTION(0), "main/gone/fast"));
    assert_true(covers(SELECTION(0), "gone/row/fast")); /* a whole suite that is no more */
    assert_true(covers(SELECTION(PATTERNS("main")), "main/gone/gone"));
    assert_false(covers(SELECTION(PATTERNS("main")), "mainly/gone/loops"));
    assert_true(covers(SELECTION(PATTERNS("main/*/s7/fast")), "main/gone/fast")); /* by one of its seeds */
    assert_false(covers(SELECTION(PATTERNS("main/*/s8/fast")), "main/gone/fast"));
    assert_true(covers(SELECTION(PATTERNS("main/*/s8/fast"), SEEDS(8)), "main/gone/fast"));
    assert_true(covers(SELECTION(PATTERNS("gone/*/s0/fast")), "gone/row/fast"));
    assert_true(covers(SELECTION(PATTERNS("*/s1/*")), "gone/row/fast")); /* of which no table says the seeds */
    assert_true(covers(SELECTION(PATTERNS("gone/*/s2024")), "gone/row/fast"));
    assert_true(covers(SELECTION(EXCLUDES("*/s0/*", "*/s1/*")), "gone/row/fast"));
    assert_false(covers(SELECTION(EXCLUDES("*/s*/*")), "gone/row/fast"));
    assert_false(covers(SELECTION(PATTERNS("*/s1/*"), SEEDS(0)), "gone/row/fast"));
    assert_false(covers(SELECTION(EXCLUDES("*/fast")), "main/gone/fast"));
    assert_true(covers(SELECTION(EXCLUDES("*/s0/*")), "main/gone/fast"));
    assert_false(covers(SELECTION(EXCLUDES("*/s0/*", "*/s7/*")), "main/gone/fast"));
    assert_true(covers(SELECTION(BACKENDS("plain", "fast")), "main/gone/fast"));
    assert_false(covers(SELECTION(BACKENDS("plain")), "main/gone/fast"));
    assert_true(covers(SELECTION(.shard = 1, .n_shards = 3), "main/gone/fast")); /* the first answers for the lost */
    assert_false(covers(SELECTION(.shard = 2, .n_shards = 3), "main/gone/fast"));
    assert_false(covers(SELECTION(SWEEPS({ "n", LIST("64") })), "main/gone/fast"));
    assert_false(covers(SELECTION(0), "main/big@n=64/fast"));
    assert_false(covers(SELECTION(0), "main/fast"));
    assert_false(covers(SELECTION(0), "main"));
}

/* ---- anchors ------------------------------------------------------------------------------------------------- */

static int launch(const kg_backend *self, void *state, const kg_tensor *call, void *stream, kg_error *ret_error)
{
    (void)self, (void)state, (void)call, (void)stream;
    return kg_fail(ret_error, KG_EINVAL, "not run here");
}

static const kg_backend timed = { .name = "timed", .device = KG_CPU, .launch = launch },
                        steady = { .name = "steady", .device = KG_CPU, .launch = launch };
static const kg_backend *const both[] = { &timed, &steady };
static const kg_suite alone = { .name = "alone",
                                .op = &op,
                                .shapes = KG_TABLE(rows),
                                .seeds = KG_LIST(one_seed),
                                .backends = KG_LIST(both),
                                .cpu_anchor = &steady,
                                .anchor_case = "apart/row/steady" },
                      apart = { .name = "apart",
                                .op = &other_op,
                                .shapes = KG_TABLE(other_rows),
                                .seeds = KG_LIST(one_seed),
                                .backends = KG_LIST(both),
                                .anchor_case = "apart/row/steady" };
static const kg_suite *const anchored[] = { &alone, &apart };
static const struct kg_module anchored_module = { KG_MODULE_SIZES, .name = "anchored", .suites = anchored,
                                                  .n_suites = 2 };

/* What stands beside the backend of the suite's first row. */
static int anchor_of(const kg_suite *suite, const char *backend, enum kg_device_kind kind, struct kg_case *ret_anchor,
                     void **ret_problem)
{
    const struct kg_case of = {
        .suite = suite, .problem = rows, .shape = kg_row_name(suite->shapes.rows), .kind = kind
    };
    return kg_plan_anchor(&anchored_module, &of, backend, ret_anchor, ret_problem, NULL);
}

static void what_stands_beside_a_case(void **state)
{
    struct kg_case anchor;
    void *problem;
    (void)state;
    assert_int_equal(anchor_of(&alone, "timed", KG_CPU, &anchor, &problem), KG_OK);
    assert_true(anchor.suite == &alone && anchor.backend == &steady && anchor.problem == rows && !problem);
    assert_int_equal(anchor_of(&alone, "steady", KG_CPU, &anchor, &problem), KG_OK); /* an anchor has another case */
    assert_true(anchor.suite == &apart && anchor.backend == &steady && anchor.problem == problem);
    assert_int_equal(((const struct problem *)problem)->n, 10);
    free(problem);
    assert_int_equal(anchor_of(&apart, "timed", KG_CPU, &anchor, &problem), KG_OK); /* a suite without one, too */
    assert_true(anchor.backend == &steady && problem);
    free(problem);
    assert_int_equal(anchor_of(&apart, "steady", KG_CPU, &anchor, &problem), KG_ENOTFOUND); /* but not itself */
    assert_int_equal(anchor_of(&alone, "fast", KG_CUDA, &anchor, &problem), KG_ENOTFOUND);  /* nor of another kind */
    assert_null(problem);
}

static void anchors_by_name(void **state)
{
    const struct kg_case by_suite = { .suite = &alone, .shape = "big", .kind = KG_CPU },
                         by_case = { .suite = &apart, .shape = "row", .kind = KG_CPU };
    (void)state;
    assert_string_equal(kg_case_anchor(&by_suite, "timed"), "steady");
    assert_string_equal(kg_case_anchor(&by_suite, "steady"), "apart/row/steady");
    assert_string_equal(kg_case_anchor(&by_case, "timed"), "apart/row/steady");
    assert_string_equal(kg_case_anchor(&by_case, "steady"), "");
    assert_string_equal(kg_case_anchor(&(struct kg_case){ .kind = KG_CPU }, "timed"), ""); /* a suite that is gone */
}

static const char *reason(const kg_suite *suite, const char *id)
{
    return kg_case_xfail(&(struct kg_case){ .suite = suite }, id);
}

static void cases_that_must_fail(void **state)
{
    (void)state;
    assert_string_equal(reason(&main_suite, "main/big2/s0/fast"), "known: 12");
    assert_string_equal(reason(&main_suite, "main/big2@n=64/s0/fast"), "known: 12");
    assert_string_equal(reason(&main_suite, "main/big/s7/plain"), "second");
    assert_null(reason(&main_suite, "main/big2/s0/plain"));
    assert_null(reason(&main_suite, "main/big/s0/fast"));
    assert_null(reason(&mainly, "mainly/row/s3/loops"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_tables_order),
        cmocka_unit_test(cases_carry_their_problem),
        cmocka_unit_test(backends_and_seeds),
        cmocka_unit_test(patterns),
        cmocka_unit_test(globs_that_are_none),
        cmocka_unit_test(a_leading_part_selects_all_below),
        cmocka_unit_test(sweeps),
        cmocka_unit_test(swept_problems),
        cmocka_unit_test(sweeps_that_are_refused),
        cmocka_unit_test(rows_that_an_op_refuses),
        cmocka_unit_test(variables_set_fields),
        cmocka_unit_test(options_come_before_variables),
        cmocka_unit_test(cases_carry_their_variables),
        cmocka_unit_test(variables_that_are_refused),
        cmocka_unit_test(shards_part_the_shapes),
        cmocka_unit_test(many_cases),
        cmocka_unit_test(problems_by_name),
        cmocka_unit_test(a_worker_finds_the_plans_problem),
        cmocka_unit_test(regimes_are_drawn),
        cmocka_unit_test(every_regime_comes_along),
        cmocka_unit_test(cases_carry_their_regime),
        cmocka_unit_test(regimes_alone_expect_no_golden),
        cmocka_unit_test(keys_that_a_selection_covers),
        cmocka_unit_test(cases_that_must_fail),
        cmocka_unit_test(what_stands_beside_a_case),
        cmocka_unit_test(anchors_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
