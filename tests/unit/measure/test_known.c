/* test_known.c -- inputs of regimes on the CPU, and what a regime knows of outputs. The op scales: y = 2 x. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cpu_context.h"
#include "measure/inputs.h"
#include "measure/known.h"
#include "plan/regime.h"

enum { COUNT = 1000, KEPT = 600 };

struct problem {
    const char *name;
};

static const struct problem problem = { "row" };
static double reference_factor = 2, kernel_factor = 2;
static bool looks_ahead;           /* the kernel lets what is behind KEPT count */
static int written_calls = 1 << 30; /* it writes nothing in those after */
static enum kg_dtype dtype = KG_F16;

/* ---- the op ---- */

static int tensors(const void *of, kg_tensor ret_tensors[KG_MAX_TENSORS], int *ret_count)
{
    (void)of;
    ret_tensors[0] = (kg_tensor){ .name = "x", .dtype = dtype, .role = KG_INPUT, .rank = 1, .dims = { COUNT } };
    ret_tensors[1] = (kg_tensor){ .name = "y", .dtype = KG_F32, .role = KG_OUTPUT, .rank = 1, .dims = { COUNT } };
    *ret_count = 2;
    return KG_OK;
}

static int multiply(const kg_tensor *call, double factor, bool ahead, kg_error *ret_error)
{
    float x[COUNT];
    int status = kg_tensor_read(context, &call[0], x, ret_error);
    for (int i = 0; i < COUNT && !status; i++)
        ((float *)call[1].data)[i] = (float)(factor * x[i] + (ahead ? 1e-3 * x[COUNT - 1] : 0));
    return status;
}

static int reference(const void *of, const kg_tensor *call, kg_error *ret_error)
{
    (void)of;
    return multiply(call, reference_factor, false, ret_error);
}

static int launch(const kg_backend *self, void *state, const kg_tensor *call, void *stream, kg_error *ret_error)
{
    (void)self, (void)state, (void)stream;
    if (written_calls-- <= 0)
        return KG_OK;
    return multiply(call, kernel_factor, looks_ahead, ret_error);
}

static double one(const void *of)
{
    (void)of;
    return 1;
}

/* ---- its regimes ---- */

static int change(const void *data, const void *of, uint64_t seed, const kg_tensor *call, kg_error *ret_error)
{
    float *x = call[0].data;
    (void)of, (void)seed;
    if (call[0].dtype != KG_F32 || call[1].data || !data)
        return kg_fail(ret_error, KG_EUNSUPPORTED, "not here");
    for (int i = KEPT; i < COUNT; i++)
        x[i] = *(const float *)data;
    return KG_OK;
}

static int answer(const void *data, const void *of, uint64_t seed, const kg_tensor *call, kg_error *ret_error)
{
    const float *x = call[0].data;
    (void)data, (void)of, (void)seed, (void)ret_error;
    for (int i = KEPT; i < COUNT; i++)
        ((float *)call[1].data)[i] = x[i] + x[i];
    return KG_OK;
}

static int same(const void *data, const void *of, uint64_t seed, const kg_tensor *call, kg_error *ret_error)
{
    (void)data, (void)of, (void)seed, (void)ret_error;
    for (int i = 0; i < KEPT; i++)
        ((float *)call[1].data)[i] = 1;
    return KG_OK;
}

static const float three = 3, beyond = 1e30f;
static const kg_regime threes = { .name = "threes", .data = &three, .change = change, .answer = answer, .same = same },
                       vast = { .name = "vast", .data = &beyond, .change = change },
                       refuses = { .name = "refuses", .change = change }, alike = { .name = "alike" };
static const kg_op op = { .name = "twice",
                          .problem_size = sizeof problem,
                          .tensors = tensors,
                          .reference_cpu = reference,
                          .flops = one,
                          .bytes = one };
static const kg_suite suite = {
    .name = "suite",
    .op = &op,
    .gates = { .max_abs = 0.1, .mean_abs = 0.1, .bad_abs = 0.1, .rel_l2 = 0.1 },
};
static const kg_backend backend = { .name = "loop", .device = KG_CPU, .launch = launch };

static struct kg_fixture drawn(const kg_regime *regime)
{
    const struct kg_case of = {
        .suite = &suite, .problem = &problem, .shape = "row", .seed = 5, .regime = regime, .kind = KG_CPU
    };
    struct kg_fixture fixture = { 0 };
    kg_error error = { 0 };
    if (kg_fixture_new(context, &of, &fixture, &error))
        fail_msg("%s", error.text);
    return fixture;
}

static void values(const struct kg_fixture *fixture, float ret_values[COUNT])
{
    assert_int_equal(kg_tensor_read(context, &fixture->buffers.tensors[0], ret_values, NULL), KG_OK);
}

/* ---- drawing ---- */

/* Before the change the host's draw has the bits of the device's. */
static void values_are_normal_where_they_are_not_changed(void **state)
{
    static const enum kg_dtype dtypes[] = { KG_F32, KG_F16, KG_BF16 };
    static const float largest[] = { 1e30f, 65504, 1e30f };
    (void)state;
    for (size_t d = 0; d < 3; d++) {
        float normal[COUNT], changed[COUNT], clamped[COUNT];
        dtype = dtypes[d];
        struct kg_fixture a = drawn(NULL), b = drawn(&threes), c = drawn(&vast), e = drawn(&alike);
        values(&a, normal);
        values(&b, changed);
        values(&c, clamped);
        assert_memory_equal(normal, changed, KEPT * sizeof *normal);
        for (int i = KEPT; i < COUNT; i++)
            assert_true(changed[i] == 3 && fabsf(clamped[i] / largest[d] - 1) < 0.01f);
        assert_true(a.input_digest == e.input_digest && a.input_digest != b.input_digest);
        assert_true(a.buffers.guards == KG_GUARDS_NAN && e.buffers.guards == KG_GUARDS_LARGEST);
        assert_false(kg_fixture_serves(&a, &b.of));
        kg_fixture_done(&a);
        kg_fixture_done(&b);
        kg_fixture_done(&c);
        kg_fixture_done(&e);
    }
    dtype = KG_F16;
}

static void a_regime_may_refuse(void **state)
{
    const struct kg_case of = {
        .suite = &suite, .problem = &problem, .shape = "row", .regime = &refuses, .kind = KG_CPU
    };
    struct kg_fixture fixture = { 0 };
    kg_error error = { 0 };
    (void)state;
    assert_int_equal(kg_fixture_new(context, &of, &fixture, &error), KG_EUNSUPPORTED);
    assert_string_equal(error.text, "not here");
}

/* ---- known outputs ---- */

static void the_reference_is_held_to_answers(void **state)
{
    kg_error error = { 0 };
    (void)state;
    struct kg_fixture fixture = drawn(&threes);
    reference_factor = 2.001;
    assert_int_equal(kg_fixture_reference(&fixture, &error), KG_EINVAL);
    assert_string_equal(error.text,
                        "the reference is wrong, or the regime: y[600] must be 6, the reference has 6.00299978");
    assert_int_equal(fixture.expected.count, 0); /* nothing is compared with it */
    reference_factor = 2;
    assert_int_equal(kg_fixture_reference(&fixture, &error), KG_OK);
    kg_fixture_done(&fixture);
}

static int check_same(const kg_regime *regime, kg_error *ret_error)
{
    struct kg_host_state host = { 0 };
    struct kg_fixture fixture = drawn(regime);
    struct kg_prepared prepared = { 0 };
    uint64_t inputs = 0;
    assert_int_equal(kg_prepared_new(&host, &fixture, &backend, &problem, NULL, &prepared, ret_error), KG_OK);
    int status = kg_known_check_same(&prepared, &fixture, ret_error);
    assert_int_equal(kg_buffers_digest(&fixture.buffers, KG_INPUT, &inputs, NULL), KG_OK);
    assert_int_equal(inputs, fixture.input_digest); /* the regime's inputs are there again */
    kg_prepared_done(&prepared);
    kg_fixture_done(&fixture);
    return status;
}

static void outputs_that_must_stay_are_held_to_their_bits(void **state)
{
    kg_error error = { 0 };
    (void)state;
    assert_int_equal(check_same(&threes, &error), KG_OK);
    assert_int_equal(check_same(&alike, &error), KG_OK);
    looks_ahead = true;
    assert_int_equal(check_same(&threes, &error), KG_EDEVICE);
    assert_non_null(strstr(error.text, "where only inputs were changed that do not count for it"));
    assert_int_equal(strncmp(error.text, "y[0] is ", 8), 0);
    looks_ahead = false;
    written_calls = 0;
    assert_int_equal(check_same(&threes, &error), KG_EDEVICE);
    assert_string_equal(error.text, "called once more, on the same inputs, it gave a wrong output");
    written_calls = 1 << 30;
}

/* Without an error scale limits grow with the outputs of a regime, and only then. */
static void limits_follow_a_regimes_outputs(void **state)
{
    struct kg_comparison found = { 0 };
    (void)state;
    struct kg_fixture normal = drawn(NULL), large = drawn(&vast);
    kernel_factor = 2.001;
    for (int i = 0; i < 2; i++) {
        struct kg_fixture *fixture = i ? &large : &normal;
        assert_int_equal(launch(&backend, NULL, fixture->buffers.tensors, NULL, NULL), KG_OK);
        assert_int_equal(kg_fixture_compare(fixture, &fixture->buffers, &found, NULL), KG_OK);
        assert_true(kg_fixture_accepts(fixture, &found));
        assert_true(found.bad == 0 && (found.max_abs > 0.1) == i);
        assert_true(fabs(found.slope - 1.0005) < 1e-6 && found.max_scaled == 0);
    }
    kernel_factor = 2;
    kg_fixture_done(&normal);
    kg_fixture_done(&large);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_normal_where_they_are_not_changed),
        cmocka_unit_test(a_regime_may_refuse),
        cmocka_unit_test(the_reference_is_held_to_answers),
        cmocka_unit_test(outputs_that_must_stay_are_held_to_their_bits),
        cmocka_unit_test(limits_follow_a_regimes_outputs),
    };
    return cmocka_run_group_tests(tests, open_device, close_device);
}
