/* test_module_layout.c -- tables of an older layout, each in memory of just its size: what they lack reads as 0, what
 * they share is shared, and nothing beyond them is read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "plan/module.h"

/* What stands in others by value, or in arrays that both sides fill, is as large as it was at ABI 5. */
_Static_assert(sizeof(kg_tensor) == 120 && sizeof(kg_gates) == 80 && sizeof(kg_time_policy) == 80 &&
                   sizeof(kg_fields) == 16 && sizeof(kg_table) == 24 && sizeof(kg_seeds) == 16 &&
                   sizeof(kg_backends) == 16 && sizeof(kg_xfails) == 16 && sizeof(kg_contest) == 16 &&
                   sizeof(kg_compiled) == 368,
               "a module of ABI 5 would be read wrongly");

#define LACKS 8 /* the last bytes of every struct: its last member, or two */

static void *pieces[32];
static size_t n_pieces;

/* `count` structs without their last bytes, and not a byte behind them. */
static void *older(const void *now, size_t count, size_t size)
{
    char *then = malloc(count * (size - LACKS));
    assert_non_null(then);
    for (size_t i = 0; i < count; i++)
        memcpy(then + i * (size - LACKS), (const char *)now + i * size, size - LACKS);
    return pieces[n_pieces++] = then;
}

static int drop_pieces(void **state)
{
    (void)state;
    while (n_pieces)
        free(pieces[--n_pieces]);
    return 0;
}

static double one(const void *problem)
{
    (void)problem;
    return 1;
}

static const kg_field fields[] = { { .name = "n", .help = "lost" }, { .name = "m", .min = 3, .help = "lost" } };
static const kg_kernel kernels[] = { { .name = "a", .tensor_sass = 7 }, { .name = "b", .registers = 5 } };
static const kg_xfail xfails[] = { { "a/*", "lost" }, { "b/*", "lost" } };
static int give(const void *problem, const kg_tensor *tensors, kg_error *ret_error)
{
    (void)problem, (void)tensors, (void)ret_error;
    return KG_OK;
}

static const kg_op op = { .name = "op", .fields = KG_LIST(fields), .peak_ratio = one, .give = give };
static const kg_backend plain = { .name = "plain", .knobs = KG_LIST(fields), .knobs_size = 16, .self = &plain };

/* A module of two suites over one op and backends, one of which has itself among its candidates. */
static struct kg_module older_module(const kg_backend **ret_plain)
{
    static const kg_backend *backends[2], *candidates[3];
    static const kg_suite *suites[2];
    kg_backend choosing = { .name = "any", .candidates = candidates };
    kg_op its_op = op;
    kg_backend knobbed = plain;
    its_op.fields.items = knobbed.knobs.items = older(fields, 2, sizeof *fields);
    backends[0] = candidates[1] = *ret_plain = older(&knobbed, 1, sizeof knobbed);
    backends[1] = candidates[0] = older(&choosing, 1, sizeof choosing);
    kg_suite suite = { .name = "a",
                       .op = older(&its_op, 1, sizeof its_op),
                       .backends = KG_LIST(backends),
                       .cpu_anchor = backends[0],
                       .gates = { .rel_l2 = 3 },
                       .xfails = { older(xfails, 2, sizeof *xfails), 2 },
                       .contest = { backends[1], backends[0] },
                       .clean = backends[0],
                       .anchor_case = "b/row/plain" };
    suites[0] = older(&suite, 1, sizeof suite);
    suite.name = "b";
    suites[1] = older(&suite, 1, sizeof suite);
    return (struct kg_module){ .abi = 5,
                               .module_size = sizeof(struct kg_module),
                               .suite_size = sizeof(kg_suite) - LACKS,
                               .op_size = sizeof(kg_op) - LACKS,
                               .backend_size = sizeof(kg_backend) - LACKS,
                               .kernel_size = sizeof(kg_kernel) - LACKS,
                               .field_size = sizeof(kg_field) - LACKS,
                               .xfail_size = sizeof(kg_xfail) - LACKS,
                               .name = "older",
                               .suites = suites,
                               .n_suites = 2,
                               .kernels = older(kernels, 2, sizeof *kernels),
                               .n_kernels = 2 };
}

static const struct kg_module *laid_out(const struct kg_module *own)
{
    const struct kg_module *module = NULL;
    kg_error error = { 0 };
    if (kg_module_lay_out(own, &module, &error))
        fail_msg("refused: %s", error.text);
    return module;
}

static void what_is_missing_is_0(void **state)
{
    const kg_backend *own;
    (void)state;
    struct kg_module older_one = older_module(&own);
    const struct kg_module *module = laid_out(&older_one);
    const kg_suite *suite = module->suites[1];
    assert_string_equal(module->name, "older");
    assert_string_equal(suite->name, "b");
    assert_true(suite->gates.rel_l2 == 3);
    assert_ptr_equal(suite->clean, suite->backends.items[0]);
    assert_null(suite->anchor_case);
    assert_ptr_equal(suite->op->peak_ratio, one);
    assert_true(suite->op->give == NULL);
    const kg_fields lists[] = { suite->op->fields, suite->backends.items[0]->knobs };
    for (int i = 0; i < 2; i++) {
        assert_string_equal(lists[i].items[1].name, "m");
        assert_true(lists[i].items[1].min == 3 && lists[i].items[1].help == NULL);
    }
    assert_string_equal(suite->xfails.items[1].pattern, "b/*");
    assert_null(suite->xfails.items[1].reason);
    assert_string_equal(module->kernels[1].name, "b");
    assert_int_equal(module->kernels[1].registers, 5);
    assert_int_equal(module->kernels[0].tensor_sass, 0);
}

static void what_is_shared_stays_so(void **state)
{
    const kg_backend *own;
    (void)state;
    struct kg_module older_one = older_module(&own);
    const struct kg_module *module = laid_out(&older_one);
    const kg_suite *a = module->suites[0], *b = module->suites[1];
    const kg_backend *first = a->backends.items[0], *any = a->backends.items[1];
    assert_ptr_equal(a->op, b->op);
    assert_ptr_equal(b->backends.items[0], first);
    assert_ptr_equal(b->cpu_anchor, first);
    assert_true(b->contest.ours == any && b->contest.baseline == first);
    assert_true(any->candidates[0] == any && any->candidates[1] == first && any->candidates[2] == NULL);
    assert_true(first != own && kg_backend_own(first) == own);
    assert_null(a->anchor);
}

static void a_root_that_ends_earlier(void **state)
{
    const kg_backend *own;
    (void)state;
    struct kg_module older_one = older_module(&own);
    older_one.module_size -= LACKS;
    const struct kg_module *module = laid_out(older(&older_one, 1, sizeof older_one));
    assert_int_equal(module->n_kernels, 0);
    assert_string_equal(module->suites[0]->op->name, "op");
}

static void the_same_layout_is_used_in_place(void **state)
{
    static const struct kg_module now = { KG_MODULE_SIZES, .name = "now" };
    static const kg_backend here = { .name = "here" };
    (void)state;
    assert_ptr_equal(laid_out(&now), &now);
    assert_ptr_equal(kg_backend_own(&here), &here);
}

static void a_known_suite_is_held_to_the_baselines_gates(void **state)
{
    static const kg_suite old = { .name = "a", .gates = { .rel_l2 = 3 } };
    static const kg_suite loose = { .name = "a", .op = &op, .gates = { .rel_l2 = 9 }, .xfails = KG_LIST(xfails) };
    static const kg_suite fresh = { .name = "b", .gates = { .rel_l2 = 9 }, .xfails = KG_LIST(xfails) };
    static const kg_suite *const old_suites[] = { &old }, *const suites[] = { &fresh, &loose };
    static const struct kg_module baseline = { KG_MODULE_SIZES, .suites = old_suites, .n_suites = 1 };
    static const struct kg_module candidate = { KG_MODULE_SIZES, .suites = suites, .n_suites = 2 };
    const struct kg_module *held = &candidate;
    (void)state;
    assert_int_equal(kg_module_hold_to(&baseline, &held, NULL), KG_OK);
    assert_ptr_equal(held->suites[0], &fresh); /* the baseline says nothing of it */
    assert_true(held->suites[1]->gates.rel_l2 == 3 && held->suites[1]->xfails.count == 0);
    assert_ptr_equal(held->suites[1]->op, &op);
    assert_true(loose.gates.rel_l2 == 9);
}

static void refused(struct kg_module module, const char *why)
{
    const struct kg_module *none = NULL;
    kg_error error = { 0 };
    assert_int_equal(kg_module_lay_out(&module, &none, &error), KG_EUNSUPPORTED);
    assert_string_equal(error.text, why);
    assert_null(none);
}

static void other_numbers_and_larger_structs(void **state)
{
    static const char larger[] = "module built against another kgate.h: rebuild the module";
    const struct kg_module now = { KG_MODULE_SIZES };
    (void)state;
    refused((struct kg_module){ .abi = 4 }, "module of ABI 4, this kgate has 8: rebuild the module");
    refused((struct kg_module){ .abi = 99 }, "module of ABI 99, this kgate has 8: take a newer kgate");
    for (size_t i = 0; i < 7; i++) {
        struct kg_module one = now;
        (&one.module_size)[i]++;
        refused(one, larger);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(what_is_missing_is_0, drop_pieces),
        cmocka_unit_test_teardown(what_is_shared_stays_so, drop_pieces),
        cmocka_unit_test_teardown(a_root_that_ends_earlier, drop_pieces),
        cmocka_unit_test(the_same_layout_is_used_in_place),
        cmocka_unit_test(a_known_suite_is_held_to_the_baselines_gates),
        cmocka_unit_test(other_numbers_and_larger_structs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
