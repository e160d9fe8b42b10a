/* test_fixture_strength.c -- wrong answers of a fixture with two outputs, judged as the case would be. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "cpu_context.h"
#include "measure/fixture_strength.h"

enum { N = 4096, FEW = 64 };

static int references; /* run */

/* y is x, and z its first elements, a hundredth in size. */
static int tensors(const void *problem, kg_tensor ret_tensors[KG_MAX_TENSORS], int *ret_count)
{
    (void)problem;
    ret_tensors[0] = (kg_tensor){ .name = "x", .dtype = KG_F32, .role = KG_INPUT, .rank = 1, .dims = { N } };
    ret_tensors[1] = (kg_tensor){ .name = "y", .dtype = KG_F16, .role = KG_OUTPUT, .rank = 2, .dims = { N / 64, 64 } };
    ret_tensors[2] = (kg_tensor){ .name = "z", .dtype = KG_F32, .role = KG_OUTPUT, .rank = 1, .dims = { FEW } };
    *ret_count = 3;
    return KG_OK;
}

static int reference(const void *problem, const kg_tensor *call, kg_error *ret_error)
{
    (void)problem, (void)ret_error;
    references++;
    memcpy(call[1].data, call[0].data, N * sizeof(float));
    for (int i = 0; i < FEW; i++)
        ((float *)call[2].data)[i] = ((const float *)call[0].data)[i] / 100;
    return KG_OK;
}

static const char *const problem = "one";
static const kg_op op = {
    .name = "copy", .problem_size = sizeof problem, .tensors = tensors, .reference_cpu = reference
};

static struct kg_strength strength_of(kg_gates gates)
{
    const kg_suite suite = { .name = "suite", .op = &op, .gates = gates };
    const struct kg_case of = { .suite = &suite, .problem = &problem, .shape = "one", .kind = KG_CPU };
    struct kg_fixture fixture = { 0 };
    kg_error error = { 0 };
    references = 0;
    assert_int_equal(kg_fixture_new(context, &of, &fixture, &error), KG_OK);
    assert_int_equal(kg_fixture_strength(&fixture, &error), KG_OK);
    const struct kg_strength strength = fixture.strength;
    assert_int_equal(kg_fixture_strength(&fixture, &error), KG_OK);
    assert_int_equal(references, 1);
    kg_fixture_done(&fixture);
    assert_true(strength.judged);
    return strength;
}

static void all_outputs_are_held(void **state)
{
    (void)state;
    const struct kg_strength strength =
        strength_of((kg_gates){ .max_abs = 1e-4, .mean_abs = 1e-4, .bad_abs = 1e-4, .rel_l2 = 1e-4 });
    assert_int_equal(strength.applies, (1u << KG_WRONGS) - 1);
    assert_int_equal(strength.accepted, 0);
}

/* Limits that fit y let a small z be anything; y itself is held. */
static void one_output_that_is_not_is_seen(void **state)
{
    kg_gates gates = { .max_abs = 0.1, .mean_abs = 0.01, .bad_abs = 0.1, .rel_l2 = INFINITY };
    (void)state;
    struct kg_strength strength = strength_of(gates);
    assert_true(strength.accepted >> KG_WRONG_ZEROS & 1);
    assert_int_equal(strength.remedies[KG_WRONG_ZEROS].limit, KG_LIMIT_MAX_ABS);
    assert_false(strength.accepted >> KG_WRONG_NAN & 1);
    gates.rel_l2 = 0.5; /* of outputs the worst counts, so z's holds */
    strength = strength_of(gates);
    assert_false(strength.accepted >> KG_WRONG_ZEROS & 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_outputs_are_held),
        cmocka_unit_test(one_output_that_is_not_is_seen),
    };
    return cmocka_run_group_tests(tests, open_device, close_device);
}
