/* test_given.c -- inputs that an op gives: the same for all seeds and regimes, and refused where nothing gives them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cpu_context.h"
#include "measure/guarded.h"
#include "measure/inputs.h"
#include "plan/problem.h"
#include "plan/regime.h"

enum { COUNT = 300 };

struct problem {
    const char *name;
    enum kg_role role;
    enum kg_dtype dtype;
};

static const struct problem good = { "good", KG_INPUT, KG_I32 }, output = { "output", KG_OUTPUT, KG_F32 },
                            codes = { "codes", KG_INPUT, KG_E4M3 };

static int tensors(const void *problem, kg_tensor ret_tensors[KG_MAX_TENSORS], int *ret_count)
{
    const struct problem *p = problem;
    ret_tensors[0] = (kg_tensor){ .name = "x", .dtype = KG_F16, .role = KG_INPUT, .rank = 1, .dims = { COUNT } };
    ret_tensors[1] =
        (kg_tensor){ .name = "i", .dtype = p->dtype, .role = p->role, .rank = 1, .dims = { COUNT }, .given = 1 };
    ret_tensors[2] = (kg_tensor){ .name = "y", .dtype = KG_F32, .role = KG_OUTPUT, .rank = 1, .dims = { COUNT } };
    *ret_count = 3;
    return KG_OK;
}

/* x[COUNT - 1 - i]: from the end. */
static int give(const void *problem, const kg_tensor *call, kg_error *ret_error)
{
    (void)problem;
    if (call[0].data || call[2].data || call[1].dtype != KG_I32)
        return kg_fail(ret_error, KG_EINVAL, "not what is given");
    for (int32_t i = 0; i < COUNT; i++)
        ((int32_t *)call[1].data)[i] = COUNT - 1 - i;
    return KG_OK;
}

static kg_op op = { .name = "gather", .tensors = tensors, .give = give };
static const kg_suite suite = { .name = "s", .op = &op };

static struct kg_fixture made(const struct problem *problem, uint64_t seed, const char *regime)
{
    const struct kg_case of = { .suite = &suite,
                                .problem = problem,
                                .shape = problem->name,
                                .seed = seed,
                                .regime = regime ? kg_regime_find(&op, regime) : NULL,
                                .kind = KG_CPU };
    struct kg_fixture fixture = { 0 };
    kg_error error = { 0 };
    assert_int_equal(kg_fixture_new(context, &of, &fixture, &error), KG_OK);
    return fixture;
}

static void given_inputs_are_the_ops(void **state)
{
    static const char *const regimes[] = { NULL, NULL, "constant", "outliers" };
    uint16_t first[COUNT] = { 0 };
    (void)state;
    for (uint64_t i = 0; i < 4; i++) {
        struct kg_fixture fixture = made(&good, i < 2 ? i : 0, regimes[i]);
        const int32_t *indices = fixture.buffers.tensors[1].data;
        for (int32_t k = 0; k < COUNT; k++)
            assert_int_equal(indices[k], COUNT - 1 - k);
        if (i == 0)
            memcpy(first, fixture.buffers.tensors[0].data, sizeof first);
        else
            assert_memory_not_equal(fixture.buffers.tensors[0].data, first, sizeof first);
        kg_fixture_done(&fixture);
    }
}

/* As functions of regimes read them. */
static void indices_are_read_as_numbers(void **state)
{
    struct kg_fixture fixture = made(&good, 0, NULL);
    float values[COUNT];
    kg_error error = { 0 };
    (void)state;
    assert_int_equal(kg_tensor_read(context, &fixture.buffers.tensors[1], values, &error), KG_OK);
    assert_true(values[0] == COUNT - 1 && values[COUNT - 1] == 0);
    kg_fixture_done(&fixture);
}

static void what_nothing_gives_is_refused(void **state)
{
    const struct kg_case of = { .suite = &suite, .problem = &good, .shape = "good", .kind = KG_CPU };
    const struct kg_case of_output = { .suite = &suite, .problem = &output, .shape = "output", .kind = KG_CPU };
    const struct kg_case of_codes = { .suite = &suite, .problem = &codes, .shape = "codes", .kind = KG_CPU };
    const char *text = "op gather: tensor i is given, but no input, or nothing gives it";
    struct kg_fixture fixture = { 0 };
    kg_error error = { 0 };
    (void)state;
    assert_int_equal(kg_fixture_new(context, &of_output, &fixture, &error), KG_EINVAL);
    assert_string_equal(error.text, text);
    op.give = NULL;
    assert_int_equal(kg_fixture_new(context, &of, &fixture, &error), KG_EINVAL);
    assert_string_equal(error.text, text);
    op.give = give;
    assert_int_equal(kg_fixture_new(context, &of_codes, &fixture, &error), KG_EINVAL);
}

/* What was planned is what is computed: an op may say otherwise in another process. */
static void tensors_are_those_of_the_plan(void **state)
{
    struct kg_fixture fixture = { 0 };
    struct kg_case planned = { .suite = &suite, .problem = &good, .shape = "good", .kind = KG_CPU };
    kg_tensor described[KG_MAX_TENSORS];
    kg_error error = { 0 };
    int count = 0;
    (void)state;
    assert_int_equal(kg_problem_tensors(&op, &good, described, &count, &error), KG_OK);
    planned.tensors = kg_tensors_digest(described, count);
    assert_int_equal(kg_fixture_new(context, &planned, &fixture, &error), KG_OK);
    kg_fixture_done(&fixture);
    planned.tensors++;
    assert_int_equal(kg_fixture_new(context, &planned, &fixture, &error), KG_EINVAL);
    assert_string_equal(error.text, "op gather described other tensors when the case was planned");
}

/* ---- what lies past its end ---- */

enum reading { WITHIN, PAST, BEFORE, LOW_PAST, HIGH_PAST, EVERY_CALL_ANOTHER };

/* Of an f16, whether it is a number. */
static bool is_finite(uint16_t bits)
{
    return (bits & 0x7c00) != 0x7c00;
}

/* y[i] = x[index[i]], where a number past the index, as reference and kernel would read it alike, says that it counts.
 */
static int launch(const kg_backend *self, void *state, const kg_tensor *call, void *stream, kg_error *ret_error)
{
    static int calls;
    const enum reading reading = *(const enum reading *)self->data;
    const int32_t *index = call[1].data;
    float x[COUNT], *y = call[2].data;
    (void)state, (void)stream;
    int status = kg_tensor_read(context, &call[0], x, ret_error);
    const int32_t other = reading == PAST ? index[COUNT] : reading == BEFORE ? index[-1] : 0;
    for (int i = 0; i < COUNT && !status; i++)
        y[i] = other < -COUNT ? 0 : x[index[i]];
    const uint16_t past = ((const uint16_t *)call[0].data)[COUNT];
    y[0] += is_finite(past) && reading == (past >> 15 ? LOW_PAST : HIGH_PAST) ? 1 : 0;
    y[0] += reading == EVERY_CALL_ANOTHER ? (float)++calls : 0;
    return status;
}

static int check_guarded(enum reading reading, kg_error *ret_error)
{
    const kg_backend backend = { .name = "gathers", .device = KG_CPU, .data = &reading, .launch = launch };
    struct kg_fixture fixture = made(&good, 0, NULL);
    struct kg_host_state host;
    struct kg_prepared prepared = { 0 };
    uint64_t digest = 0;
    kg_host_init(&host);
    assert_int_equal(kg_prepared_new(&host, &fixture, &backend, &good, NULL, &prepared, ret_error), KG_OK);
    assert_int_equal(kg_prepared_launch(&prepared, 0, NULL, ret_error), KG_OK);
    assert_int_equal(kg_buffers_digest(&fixture.buffers, KG_OUTPUT, &digest, ret_error), KG_OK);
    const int status = kg_guarded_check(&prepared, &fixture, digest, ret_error);
    kg_error spoilt = { 0 };
    assert_int_equal(kg_buffers_check_guards(&fixture.buffers, &spoilt), KG_OK);
    kg_prepared_done(&prepared);
    kg_fixture_done(&fixture);
    kg_host_done(&host);
    return status;
}

static void what_lies_past_given_inputs_shows(void **state)
{
    kg_error error = { 0 };
    (void)state;
    assert_int_equal(check_guarded(WITHIN, &error), KG_OK);
    assert_int_equal(check_guarded(EVERY_CALL_ANOTHER, &error), KG_OK);
    assert_int_equal(check_guarded(PAST, &error), KG_EDEVICE);
    assert_int_equal(check_guarded(BEFORE, &error), KG_EDEVICE);
    assert_int_equal(check_guarded(LOW_PAST, &error), KG_EDEVICE);
    assert_int_equal(check_guarded(HIGH_PAST, &error), KG_EDEVICE);
    assert_string_equal(error.text, "its output is another one where other bytes lie past its inputs' ends");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(given_inputs_are_the_ops),          cmocka_unit_test(indices_are_read_as_numbers),
        cmocka_unit_test(what_nothing_gives_is_refused),     cmocka_unit_test(tensors_are_those_of_the_plan),
        cmocka_unit_test(what_lies_past_given_inputs_shows),
    };
    return cmocka_run_group_tests(tests, open_device, close_device);
}
