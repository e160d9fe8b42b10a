/* test_tables.c -- what the tables of a module must hold whatever is in them: no suite's gates let zeros through, the
 * share of bad elements can fire before the largest error does, no two names of a suite are one backend, every listed
 * backend is in a suite, and every kernel has its figures of ptxas.
 *
 *     test_tables MODULE.so
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "backends.h"
#include "plan/module.h"

static struct kg_loaded module;

static const kg_suite *const *suites_end(void)
{
    return module.root->suites + module.root->n_suites;
}

/* ||0 - ref|| / ||ref|| is 1 for any reference at any length, so a limit under 1 refuses zeros where every absolute
 * limit is wider than the output. A half of the rows left out has at least 0.7. */
static void zeros_are_refused(void **state)
{
    (void)state;
    for (const kg_suite *const *suite = module.root->suites; suite < suites_end(); suite++)
        if (!((*suite)->gates.rel_l2 <= 0.5))
            fail_msg("%s: rel_l2 %g", (*suite)->name, (*suite)->gates.rel_l2);
}

/* Where the reference is about 0 the limit of an element is bad_abs alone. */
static void share_fires_alone(void **state)
{
    (void)state;
    for (const kg_suite *const *suite = module.root->suites; suite < suites_end(); suite++)
        if (!((*suite)->gates.bad_abs < (*suite)->gates.max_abs))
            fail_msg("%s: bad_abs %g, max_abs %g", (*suite)->name, (*suite)->gates.bad_abs, (*suite)->gates.max_abs);
}

/* A backend that this build lacks is skipped by a function that all of these share. */
static bool is_absent(const kg_backend *backend)
{
    return backend->help && !strcmp(backend->help, "not in this build");
}

static bool is_one(const kg_backend *a, const kg_backend *b)
{
    return a->device == b->device && a->launch == b->launch && a->prepare == b->prepare && a->open == b->open &&
           a->stage == b->stage && a->data == b->data && a->knobs.items == b->knobs.items &&
           a->candidates == b->candidates;
}

static void names_are_backends(void **state)
{
    size_t pairs = 0;
    (void)state;
    for (const kg_suite *const *suite = module.root->suites; suite < suites_end(); suite++) {
        const kg_backends *backends = &(*suite)->backends;
        for (size_t i = 0; i < backends->count; i++)
            for (size_t j = 0; j < i; j++) {
                const kg_backend *a = backends->items[j], *b = backends->items[i];
                pairs += !is_absent(a) && !is_absent(b);
                if (!is_absent(a) && !is_absent(b) && is_one(a, b))
                    fail_msg("%s: %s and %s are one backend", (*suite)->name, a->name, b->name);
            }
    }
    assert_true(pairs > 0);
}

/* A backend of the list in kernels/meson.build that no suite names would never run. */
static void listed_backends_are_in_a_suite(void **state)
{
#define NAME(symbol, its_name, is_untimed) its_name,
    static const char *const names[] = { PLAIN_BACKENDS(NAME) CUDA_BACKENDS(NAME) CUDNN_BACKENDS(NAME) };
#undef NAME
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const kg_suite *const *suite = module.root->suites;
        while (suite < suites_end() && !kg_suite_backend(*suite, names[i]))
            suite++;
        if (suite == suites_end())
            fail_msg("no suite has %s", names[i]);
    }
}

/* A chooser that chooses from itself, or from what its suite does not time, names nothing that can be compared. */
static void choosers_choose_from_their_suite(void **state)
{
    (void)state;
    for (const kg_suite *const *suite = module.root->suites; suite < suites_end(); suite++)
        for (size_t i = 0; i < (*suite)->backends.count; i++)
            for (const kg_backend *const *c = (*suite)->backends.items[i]->candidates; c && *c; c++)
                if ((*c)->candidates || kg_suite_backend(*suite, (*c)->name) != *c)
                    fail_msg("%s: %s may become %s", (*suite)->name, (*suite)->backends.items[i]->name, (*c)->name);
}

/* What ptxas said of each kernel is there, not only promised: no kernel does without a register. */
static void kernels_have_figures(void **state)
{
    (void)state;
    for (size_t i = 0; i < module.root->n_kernels; i++) {
        const kg_kernel *kernel = &module.root->kernels[i];
        if (!(kernel->registers > 0 && kernel->registers <= 255 && strlen(kernel->code_hash) == 16 &&
              *kernel->compiler))
            fail_msg("%s/%s: %d registers, code %s, nvcc %s", kernel->arch, kernel->name, kernel->registers,
                     kernel->code_hash, kernel->compiler);
    }
}

/* What only this suite asks for, in a module that has it with its CUDA backends: a creep of 2%, and flash against
 * cuDNN. */
static void fa_s512_asks_for_more(void **state)
{
    (void)state;
    const kg_suite *suite = kg_module_suite(module.root, "fa_s512");
    if (!suite)
        skip();
    assert_true(suite->time.creep_pct == 2);
    assert_non_null(suite->contest.ours);
    assert_non_null(suite->contest.baseline);
    assert_string_equal(suite->contest.ours->name, "flash");
    assert_string_equal(suite->contest.baseline->name, "cudnn");
}

int main(int argc, char *argv[])
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(zeros_are_refused),
        cmocka_unit_test(share_fires_alone),
        cmocka_unit_test(names_are_backends),
        cmocka_unit_test(choosers_choose_from_their_suite),
        cmocka_unit_test(listed_backends_are_in_a_suite),
        cmocka_unit_test(kernels_have_figures),
        cmocka_unit_test(fa_s512_asks_for_more),
    };
    kg_error error = { 0 };
    if (argc != 2 || kg_module_open(argv[1], &module, &error)) {
        fprintf(stderr, "test_tables MODULE.so: %s\n", error.text);
        return 2;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
