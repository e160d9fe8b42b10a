/* test_suite_check.c -- a table with one thing wrong is refused, in words that name it.
 * A table is made right by table_new; a test spoils one thing. A new rule gets its line here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "plan/module.h"
#include "plan/plan.h"
#include "plan/wrong.h"

struct problem {
    const char *name;
    int64_t n, even;
};

static int tensors(const void *problem, kg_tensor ret_tensors[KG_MAX_TENSORS], int *ret_count)
{
    (void)problem, (void)ret_tensors, (void)ret_count;
    return KG_EINVAL;
}

static int reference(const void *problem, const kg_tensor *call, kg_error *ret_error)
{
    (void)problem, (void)call;
    return kg_fail(ret_error, KG_EINVAL, "not run here");
}

static int launch(const kg_backend *self, void *state, const kg_tensor *call, void *stream, kg_error *ret_error)
{
    (void)self, (void)state, (void)call, (void)stream;
    return kg_fail(ret_error, KG_EINVAL, "not run here");
}

static double size(const void *problem)
{
    return (double)((const struct problem *)problem)->n;
}

static int check(const void *problem, kg_error *ret_error)
{
    if (((const struct problem *)problem)->even % 2)
        return kg_fail(ret_error, KG_EINVAL, "even is odd");
    return KG_OK;
}

/* Everything that a test may spoil. */
static struct {
    kg_field fields[2], knobs[1];
    kg_op op;
    struct problem rows[3], cpu_rows[2];
    uint64_t seeds[3];
    kg_backend on_gpu, on_cpu, chooser;
    const kg_backend *backends[3];
    kg_suite suite, other;
    const kg_suite *suites[2];
    struct kg_module module;
} t;

static const kg_backend *const candidates[] = { &t.on_gpu, NULL };

static int table_new(void **state)
{
    (void)state;
    memset(&t, 0, sizeof t);
    t.fields[0] = (kg_field){ "n", offsetof(struct problem, n), KG_INT, .min = 1, .max = 64, .fallback = 8 };
    t.fields[1] = (kg_field){ "even", offsetof(struct problem, even), KG_INT, .min = 0, .max = 64 };
    t.knobs[0] = (kg_field){ "tile", 0, KG_INT, .min = 1, .max = 64, .fallback = 8 };
    t.op = (kg_op){ .name = "copy",
                    .problem_size = sizeof(struct problem),
                    .fields = KG_LIST(t.fields),
                    .check = check,
                    .tensors = tensors,
                    .reference_cpu = reference,
                    .flops = size,
                    .bytes = size };
    memcpy(t.rows, (struct problem[]){ { "one", 1, 0 }, { "two", 64, 2 }, { "zero", 0, 0 } }, sizeof t.rows);
    memcpy(t.cpu_rows, (struct problem[]){ { "one", 2, 0 }, { "small", 1, 0 } }, sizeof t.cpu_rows);
    memcpy(t.seeds, (uint64_t[]){ 0, 1, UINT64_MAX }, sizeof t.seeds);
    t.on_gpu = (kg_backend){
        .name = "on_gpu", .device = KG_CUDA, .launch = launch, .knobs = KG_LIST(t.knobs), .knobs_size = sizeof(int64_t)
    };
    t.on_cpu = (kg_backend){ .name = "on_cpu", .device = KG_CPU, .launch = launch };
    t.chooser = (kg_backend){ .name = "chooser", .device = KG_CUDA, .candidates = candidates };
    memcpy(t.backends, (const kg_backend *[]){ &t.on_gpu, &t.on_cpu, &t.chooser }, sizeof t.backends);
    t.suite = (kg_suite){ .name = "copies",
                          .op = &t.op,
                          .shapes = KG_TABLE(t.rows),
                          .cpu_shapes = KG_TABLE(t.cpu_rows),
                          .seeds = KG_LIST(t.seeds),
                          .backends = KG_LIST(t.backends),
                          .anchor = &t.on_gpu,
                          .cpu_anchor = &t.on_cpu,
                          .gates = { .max_abs = 1, .mean_abs = INFINITY, .bad_abs = 1, .rel_l2 = 1 } };
    t.other = t.suite;
    t.other.name = "others";
    t.suites[0] = &t.suite;
    t.suites[1] = &t.other;
    t.module = (struct kg_module){ KG_MODULE_SIZES, .name = "tables",   .git_sha = "",
                                   .flags = "",     .suites = t.suites, .n_suites = 2 };
    return 0;
}

static void accepted(void)
{
    kg_error error = { 0 };
    if (kg_suite_check(&t.suite, &error))
        fail_msg("refused: %s", error.text);
    (void)table_new(NULL);
}

static void refused(const char *why)
{
    kg_error error = { 0 };
    assert_int_equal(kg_suite_check(&t.suite, &error), KG_EINVAL);
    assert_string_equal(error.text, why);
    assert_int_equal(error.code, KG_EINVAL);
    (void)table_new(NULL); /* for the next line of the test */
}

static void right_tables(void **state)
{
    (void)state;
    accepted();
    t.suite.cpu_shapes = (kg_table){ 0 };
    accepted();
    t.suite.shapes = (kg_table){ 0 };
    accepted();
    t.suite.anchor = t.suite.cpu_anchor = NULL;
    accepted();
    t.op.check = NULL;
    t.rows[1].even = 3;
    accepted();
    t.suite.gates = (kg_gates){ .max_abs = INFINITY,
                                .mean_abs = INFINITY,
                                .bad_abs = INFINITY,
                                .bad_rel = INFINITY,
                                .bad_pct = 100,
                                .rel_l2 = INFINITY };
    accepted();
}

static const char sixty_four[] = "abcdefghijklmnopqrstuvwxyz0123456789abcdefghijklmnopqrstuvwxyz12";

static void the_suite_and_its_op(void **state)
{
    static const char op_lacks[] = "suite copies: its op lacks a name, tensors, reference, flops or bytes";
    (void)state;
    kg_error error = { 0 };
    assert_int_equal(kg_suite_check(NULL, &error), KG_EINVAL);
    assert_string_equal(error.text, "a suite without a well-formed name");
    t.suite.name = "two words";
    refused("a suite without a well-formed name");
    t.suite.name = NULL;
    refused("a suite without a well-formed name");
    t.suite.name = sixty_four;
    refused("suite abcdefghijklmnopqrstuvwxyz0123456789abcdefghijklmnopqrstuvwxyz12...: name too long");
    t.suite.op = NULL;
    refused(op_lacks);
    t.op.name = "";
    refused(op_lacks);
    t.op.tensors = NULL;
    refused(op_lacks);
    t.op.reference_cpu = NULL;
    refused(op_lacks);
    t.op.flops = NULL;
    refused(op_lacks);
    t.op.bytes = NULL;
    refused(op_lacks);
    t.fields[1].name = "n";
    refused("op copy: field n stands twice");
}

static void rows(void **state)
{
    (void)state;
    t.suite.shapes.count = t.suite.cpu_shapes.count = 0;
    refused("suite copies has no rows");
    t.suite.shapes.row_size = 8;
    refused("suite copies: rows of 8 bytes, but a problem of op copy has 24");
    t.suite.cpu_shapes.row_size = 32;
    refused("suite copies: rows of 32 bytes, but a problem of op copy has 24");
    t.rows[1].name = "one";
    refused("suite copies, row one: stands twice");
    t.rows[2].name = "one"; /* not neighbours */
    refused("suite copies, row one: stands twice");
    t.cpu_rows[0].name = "small";
    refused("suite copies, row small: stands twice");
    t.rows[1].name = "two words";
    refused("suite copies: a row is named 'two words'; letters, digits, _ - . only");
    t.rows[1].name = NULL;
    refused("suite copies: a row is named ''; letters, digits, _ - . only");
    t.rows[1].n = 65;
    refused("suite copies, row two: n=65 is outside 1 to 64");
    t.rows[1].n = -1;
    refused("suite copies, row two: n=-1 is outside 1 to 64");
    t.cpu_rows[1].n = 65;
    refused("suite copies, row small: n=65 is outside 1 to 64");
    t.fields[0].fallback = 0;
    refused("suite copies, row zero: n=0 is outside 1 to 64");
    t.rows[1].even = 3;
    refused("suite copies, row two: even is odd");
    t.cpu_rows[1].even = 3;
    refused("suite copies, row small: even is odd");
}

static void backends(void **state)
{
    (void)state;
    t.suite.backends.count = 0;
    refused("suite copies has no backends");
    t.backends[1] = NULL;
    refused("suite copies: a backend without a well-formed name");
    t.on_cpu.name = sixty_four;
    refused("suite copies, backend abcdefghijklmnopqrstuvwxyz0123456789abcdefghijklmnopqrstuvwxyz12...: name too long");
    t.on_cpu.name = "on/cpu";
    refused("suite copies: a backend without a well-formed name");
    t.on_cpu.device = (enum kg_device_kind)0;
    refused("suite copies, backend on_cpu: no kind of device");
    t.on_cpu.device = (enum kg_device_kind)3;
    refused("suite copies, backend on_cpu: no kind of device");
    t.on_cpu.launch = NULL;
    refused("suite copies, backend on_cpu: neither launch nor candidates");
    t.on_cpu.stage = launch;
    refused("suite copies, backend on_cpu: stages without a workspace");
    t.knobs[0].offset = 1;
    refused("backend on_gpu: field tile lies outside its record of 8 bytes");
    t.chooser.name = "on_gpu";
    refused("suite copies, backend on_gpu: stands twice");
    t.suite.anchor = &t.on_cpu;
    refused("suite copies: anchor on_cpu cannot anchor this kind of device");
    t.suite.anchor = &t.chooser;
    refused("suite copies: anchor chooser cannot anchor this kind of device");
    t.suite.cpu_anchor = &t.on_gpu;
    refused("suite copies: anchor on_gpu cannot anchor this kind of device");
    t.on_cpu.untimed = true; /* an anchor is there to be timed */
    refused("suite copies: anchor on_cpu cannot anchor this kind of device");
}

static void no_anchor_case(const char *key)
{
    kg_error error = { 0 };
    char why[200];
    t.suite.anchor_case = key;
    (void)snprintf(why, sizeof why, "suite copies: anchor_case %s is no case that can be timed", key);
    assert_int_equal(kg_module_check(&t.module, &error), KG_EINVAL);
    assert_string_equal(error.text, why);
}

static void anchor_cases(void **state)
{
    static const char *const none[] = { "",
                                        "nobody/one/on_gpu",
                                        "others/three/on_gpu",
                                        "others/small/on_gpu", /* a row of the CPU alone */
                                        "others/two/on_cpu",
                                        "others/one/nobody",
                                        "others/one/chooser",
                                        "others/one/on_gpu/more",
                                        "others/one" };
    (void)state;
    t.suite.anchor_case = "others/one/on_gpu";
    assert_int_equal(kg_module_check(&t.module, NULL), KG_OK);
    t.suite.anchor_case = "copies/small/on_cpu";
    assert_int_equal(kg_module_check(&t.module, NULL), KG_OK);
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        no_anchor_case(none[i]);
    t.other.time.off = true;
    no_anchor_case("others/one/on_gpu");
}

static void gates(void **state)
{
    static const char given[] = "suite copies: max_abs, mean_abs, bad_abs and rel_l2 must all be given";
    static const char range[] = "suite copies: bad_rel or bad_pct out of range";
    (void)state;
    const double bad[] = { 0, -1, NAN };
    for (int i = 0; i < 3; i++) {
        t.suite.gates.max_abs = bad[i];
        refused(given);
        t.suite.gates.mean_abs = bad[i];
        refused(given);
        t.suite.gates.bad_abs = bad[i];
        refused(given);
        t.suite.gates.rel_l2 = bad[i];
        refused(given);
    }
    t.suite.gates.bad_rel = -0.1;
    refused(range);
    t.suite.gates.bad_rel = NAN;
    refused(range);
    t.suite.gates.bad_pct = -1;
    refused(range);
    t.suite.gates.bad_pct = 100.1;
    refused(range);
    t.suite.gates.bad_pct = NAN;
    refused(range);
}

static void time_and_seeds(void **state)
{
    static const char negative[] = "suite copies: a negative or infinite number in .time";
    (void)state;
    t.suite.time.regress_pct = -1;
    refused(negative);
    t.suite.time.regress_pct = NAN;
    refused(negative);
    t.suite.time.cpu_regress_pct = -1;
    refused(negative);
    t.suite.time.creep_pct = -1;
    refused(negative);
    t.suite.time.creep_pct = NAN;
    refused(negative);
    t.suite.time.cpu_regress_pct = INFINITY;
    refused(negative);
    t.suite.time.warmup = -1;
    refused(negative);
    t.suite.time.samples = -1;
    refused(negative);
    t.suite.seeds.count = 0;
    refused("suite copies has no seeds");
    t.seeds[2] = 0;
    refused("suite copies: seed 0 stands twice");
    t.seeds[1] = UINT64_MAX;
    refused("suite copies: seed 18446744073709551615 stands twice");
}

static void contests(void **state)
{
    static const char sides[] = "suite copies: a contest is of two backends of one kind of device";
    static const char untimed[] = "suite copies: a side of its contest is not timed in it";
    static const kg_backend elsewhere = { .device = KG_CUDA }; /* not of the suite, and without a name */
    (void)state;
    t.suite.contest = (kg_contest){ .ours = &t.on_gpu, .baseline = &t.chooser };
    accepted();
    t.suite.contest = (kg_contest){ .ours = &t.on_gpu };
    refused(sides);
    t.suite.contest = (kg_contest){ .baseline = &t.on_gpu };
    refused(sides);
    t.suite.contest = (kg_contest){ &t.on_gpu, &t.on_gpu };
    refused(sides);
    t.suite.contest = (kg_contest){ &t.on_gpu, &t.on_cpu };
    refused(sides);
    t.suite.contest = (kg_contest){ &t.on_gpu, &elsewhere };
    refused(untimed);
    t.suite.contest = (kg_contest){ &elsewhere, &t.on_gpu };
    refused(untimed);
    t.suite.contest = (kg_contest){ &t.on_gpu, &t.chooser };
    t.chooser.untimed = true;
    refused(untimed);
    t.suite.contest = (kg_contest){ &t.on_gpu, &t.chooser };
    t.suite.time.off = true;
    refused(untimed);
}

static void clean_backends(void **state)
{
    static const char untimed[] = "suite copies: its clean backend is not timed in it";
    static const kg_backend elsewhere = { .device = KG_CUDA };
    (void)state;
    t.suite.clean = &t.on_gpu;
    accepted();
    t.suite.clean = &elsewhere;
    refused(untimed);
    t.suite.clean = &t.chooser;
    t.chooser.untimed = true;
    refused(untimed);
    t.suite.time.off = true;
    t.suite.clean = &t.on_cpu;
    refused(untimed);
}

static void module_refused(const char *why)
{
    kg_error error = { 0 };
    assert_int_equal(kg_module_check(&t.module, &error), KG_EINVAL);
    assert_string_equal(error.text, why);
    (void)table_new(NULL);
}

static void regimes_of_rows(void **state)
{
    static const kg_suite_regime unknown[] = { { "sunk", NULL } }, unnamed[] = { { NULL, NULL } },
                                 no_row[] = { { "poison", "nobody" } },
                                 twice[] = { { "poison", NULL }, { "poison", "*" } }, right[] = { { "poison", "*" } };
    static const kg_regime bad_name[] = { { .name = "a-b" } }, taken[] = { { .name = "normal" } };
    (void)state;
    t.suite.regimes = (kg_suite_regimes)KG_LIST(unknown);
    refused("suite copies: there is no regime 'sunk'");
    t.suite.regimes = (kg_suite_regimes)KG_LIST(unnamed);
    refused("suite copies: there is no regime ''");
    t.suite.regimes = (kg_suite_regimes)KG_LIST(no_row);
    refused("suite copies, regime poison: no row is named so");
    t.suite.regimes = (kg_suite_regimes)KG_LIST(twice);
    refused("suite copies, regime poison: a row has it twice");
    t.suite.regimes = (kg_suite_regimes)KG_LIST(right);
    accepted();
    t.op.regimes = (kg_regimes)KG_LIST(bad_name);
    refused("op copy: regime 'a-b' is no name for one");
    t.op.regimes = (kg_regimes)KG_LIST(taken);
    refused("op copy: regime 'normal' is no name for one");
    t.op.regimes = (kg_regimes){ 0 };
    t.suite.gates.scaled = 4;
    refused("suite copies: a limit over the error scale, but op copy gives none");
    t.suite.gates.scaled = -1;
    refused("suite copies: scaled or slope out of range");
}

static void xfails_and_kinds_of_time(void **state)
{
    static const kg_xfail no_reason[] = { { "*", NULL } }, no_glob[] = { { "a[", "known" } },
                          right[] = { { "*", "known" } };
    (void)state;
    t.suite.xfails = (kg_xfails)KG_LIST(no_reason);
    refused("suite copies: an xfail without a pattern or a reason");
    t.suite.xfails = (kg_xfails)KG_LIST(no_glob);
    refused("suite copies, xfails: bad pattern a[: [ without ]");
    t.suite.xfails = (kg_xfails)KG_LIST(right);
    accepted();
    t.suite.time.timer = (enum kg_timer)7;
    refused("suite copies: an unknown timer or L2 state in .time");
    t.suite.time.l2 = (enum kg_l2)7;
    refused("suite copies: an unknown timer or L2 state in .time");
}

static void excuses_of_gates(void **state)
{
    static const kg_excuse no_reason[] = { { "zeros", "*", "" } }, no_pattern[] = { { "zeros", NULL, "known" } },
                           no_wrong[] = { { NULL, "*", "known" } }, unknown[] = { { "zero", "*", "known" } },
                           no_glob[] = { { "zeros", "a[", "known" } }, right[] = { { "zeros", "copies/one", "known" } };
    static const char lacks[] = "suite copies: an excuse without a wrong answer, a pattern or a reason";
    (void)state;
    t.suite.excuses = (kg_excuses)KG_LIST(no_reason);
    refused(lacks);
    t.suite.excuses = (kg_excuses)KG_LIST(no_pattern);
    refused(lacks);
    t.suite.excuses = (kg_excuses)KG_LIST(no_wrong);
    refused(lacks);
    t.suite.excuses = (kg_excuses)KG_LIST(unknown);
    refused("suite copies, excuses: there is no wrong answer zero");
    t.suite.excuses = (kg_excuses)KG_LIST(no_glob);
    refused("suite copies, excuses: bad pattern a[: [ without ]");
    t.suite.excuses = (kg_excuses)KG_LIST(right);
    accepted();
}

static void variables_of_fields(void **state)
{
    static const kg_variable no_name[] = { { NULL, "n" } }, empty[] = { { "", "n" } }, lower[] = { { "block", "n" } },
                             digit[] = { { "2N", "n" } }, no_field[] = { { "N", NULL } },
                             unknown[] = { { "_N2", "n" }, { "M", "m" } },
                             name_twice[] = { { "N", "n" }, { "N", "even" } },
                             field_twice[] = { { "N", "n" }, { "M", "n" } },
                             right[] = { { "N", "n" }, { "M_2", "even" } };
    (void)state;
    t.suite.environment = (kg_variables)KG_LIST(no_name);
    refused("suite copies: '' is no name for an environment variable");
    t.suite.environment = (kg_variables)KG_LIST(empty);
    refused("suite copies: '' is no name for an environment variable");
    t.suite.environment = (kg_variables)KG_LIST(lower);
    refused("suite copies: 'block' is no name for an environment variable");
    t.suite.environment = (kg_variables)KG_LIST(digit);
    refused("suite copies: '2N' is no name for an environment variable");
    t.suite.environment = (kg_variables)KG_LIST(no_field);
    refused("suite copies, variable N: op copy has no field ");
    t.suite.environment = (kg_variables)KG_LIST(unknown);
    refused("suite copies, variable M: op copy has no field m");
    t.suite.environment = (kg_variables)KG_LIST(name_twice);
    refused("suite copies, variable N: it or its field stands twice");
    t.suite.environment = (kg_variables)KG_LIST(field_twice);
    refused("suite copies, variable M: it or its field stands twice");
    t.suite.environment = (kg_variables)KG_LIST(right);
    accepted();
}

/* An excuse is of inputs, whichever backend gets them. */
static void which_cases_are_excused(void **state)
{
    static const kg_excuse excuses[] = { { "zeros", "copies/one", "known" },
                                         { "noise", "copies/*/s1", "known" },
                                         { "bias", "*/fast", "no backend is meant" } };
    const kg_suite suite = { .name = "copies", .excuses = KG_LIST(excuses) };
    const struct kg_case of = { .suite = &suite };
    (void)state;
    assert_int_equal(kg_case_excused(&of, "copies/one/s0/fast"), 1u << KG_WRONG_ZEROS);
    assert_int_equal(kg_case_excused(&of, "copies/one/s1/fast"), 1u << KG_WRONG_ZEROS | 1u << KG_WRONG_NOISE);
    assert_int_equal(kg_case_excused(&of, "copies/two/s1/fast"), 1u << KG_WRONG_NOISE);
    assert_int_equal(kg_case_excused(&of, "copies/two/s0/fast"), 0);
    assert_ptr_equal(kg_case_excuse(&of, "copies/one/s0/fast", KG_WRONG_ZEROS), &excuses[0]);
}

static void the_module(void **state)
{
    static const char lacks[] = "module without a name or suites";
    (void)state;
    assert_int_equal(kg_module_check(&t.module, NULL), KG_OK);
    t.module.name = NULL;
    module_refused(lacks);
    t.module.suites = NULL;
    module_refused(lacks);
    t.module.n_suites = 0;
    module_refused(lacks);
    t.other.name = "copies";
    module_refused("suite copies stands twice");
    t.other.seeds.count = 0;
    module_refused("suite others has no seeds");
}

static void what_is_looked_up(void **state)
{
    (void)state;
    assert_ptr_equal(kg_module_suite(&t.module, "others"), &t.other);
    assert_null(kg_module_suite(&t.module, "other"));
    assert_ptr_equal(kg_suite_backend(&t.suite, "on_cpu"), &t.on_cpu);
    assert_null(kg_suite_backend(&t.suite, "on"));
    assert_ptr_equal(kg_suite_rows(&t.suite, KG_CUDA).rows, t.rows);
    assert_ptr_equal(kg_suite_rows(&t.suite, KG_CPU).rows, t.cpu_rows);
    assert_ptr_equal(kg_suite_anchor(&t.suite, KG_CUDA), &t.on_gpu);
    assert_ptr_equal(kg_suite_anchor(&t.suite, KG_CPU), &t.on_cpu);
    t.suite.cpu_shapes.count = 0;
    assert_ptr_equal(kg_suite_rows(&t.suite, KG_CPU).rows, t.rows);
    assert_string_equal(kg_row_name(&t.rows[1]), "two");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(right_tables, table_new),
        cmocka_unit_test_setup(the_suite_and_its_op, table_new),
        cmocka_unit_test_setup(rows, table_new),
        cmocka_unit_test_setup(backends, table_new),
        cmocka_unit_test_setup(anchor_cases, table_new),
        cmocka_unit_test_setup(gates, table_new),
        cmocka_unit_test_setup(time_and_seeds, table_new),
        cmocka_unit_test_setup(regimes_of_rows, table_new),
        cmocka_unit_test_setup(xfails_and_kinds_of_time, table_new),
        cmocka_unit_test_setup(what_is_looked_up, table_new),
        cmocka_unit_test_setup(the_module, table_new),
        cmocka_unit_test_setup(excuses_of_gates, table_new),
        cmocka_unit_test(which_cases_are_excused),
        cmocka_unit_test_setup(variables_of_fields, table_new),
        cmocka_unit_test_setup(contests, table_new),
        cmocka_unit_test_setup(clean_backends, table_new),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
