/* test_repeats.c -- what is round each launch of a repetition: poison, the three conditions by turns, staging. Its
 * device is the CPU's, whose disturbances are watched. The op copies x to y; its backend stages x and copies that. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "measure/repeat.h"

enum { N = 100, LAUNCHES = 10 };

static int tensors(const void *problem, kg_tensor ret_tensors[KG_MAX_TENSORS], int *ret_count)
{
    (void)problem;
    ret_tensors[0] = (kg_tensor){ .name = "x", .dtype = KG_F32, .role = KG_INPUT, .rank = 1, .dims = { N }, .std = 1 };
    ret_tensors[1] = (kg_tensor){ .name = "y", .dtype = KG_BF16, .role = KG_OUTPUT, .rank = 1, .dims = { N } };
    *ret_count = 2;
    return KG_OK;
}

static int reference(const void *problem, const kg_tensor *call, kg_error *ret_error)
{
    (void)problem, (void)ret_error;
    memcpy(call[1].data, call[0].data, N * sizeof(float));
    return KG_OK;
}

static const kg_op op = { .name = "copy", .tensors = tensors, .reference_cpu = reference };
static const kg_suite suite = {
    .name = "copies",
    .op = &op,
    .gates = { .max_abs = 0.1, .mean_abs = 1, .bad_abs = 1, .rel_l2 = 1 },
};
static const char *const problem = "one";

/* ---- a device that is watched ---- */

static const struct kg_device_ops *cpu_ops;
static int n_launches, n_staged, n_produced, n_competed, wrong_at; /* wrong_at: launches from 1; 0: never */
static bool produced, competing;                                   /* since the launch before */
static uint16_t wrong_bits;

static bool all_nan(const float *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!isnan(values[i]))
            return false;
    return true;
}

static int copy_slowly(kg_context *context, void *to, const void *from, size_t bytes, kg_error *ret_error)
{
    assert_true(all_nan(to, bytes / sizeof(float)));
    n_produced++;
    produced = true;
    return cpu_ops->copy(context, to, from, bytes, ret_error);
}

static int compete(kg_context *context, void *data, double us, uint64_t draw, kg_error *ret_error)
{
    (void)context, (void)data, (void)draw, (void)ret_error;
    assert_false(competing);
    assert_true(us > 0 && us <= 20000);
    n_competed++;
    competing = true;
    return KG_OK;
}

static int compete_end(kg_context *context, kg_error *ret_error)
{
    (void)context, (void)ret_error;
    assert_true(competing);
    competing = false;
    return KG_OK;
}

static struct kg_device_ops watched;

/* ---- a backend that stages ---- */

static size_t workspace(const kg_backend *self, const void *state)
{
    (void)self, (void)state;
    return 2 * N * sizeof(float); /* the second half stays poison */
}

static int stage(const kg_backend *self, void *state, const kg_tensor *call, void *stream, kg_error *ret_error)
{
    (void)self, (void)state, (void)stream, (void)ret_error;
    assert_true(all_nan(call[2].data, 2 * N));
    assert_false(produced); /* nothing stands between the producer and the launch */
    memcpy(call[2].data, call[0].data, N * sizeof(float));
    n_staged++;
    return KG_OK;
}

static uint16_t bf16(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return (uint16_t)(bits >> 16);
}

static int launch(const kg_backend *self, void *state, const kg_tensor *call, void *stream, kg_error *ret_error)
{
    const float *x = call[0].data, *staged = call[2].data;
    uint16_t *y = call[1].data;
    (void)self, (void)state, (void)stream, (void)ret_error;
    assert_true(all_nan(call[1].data, N / 2));
    assert_memory_equal(staged, x, N * sizeof *x);
    const int condition = n_launches++ % 3; /* alone, beside, behind */
    assert_int_equal(competing, condition == 1);
    assert_int_equal(produced, condition == 2);
    produced = false;
    for (int i = 0; i < N; i++)
        y[i] = bf16(staged[i]);
    if (n_launches == wrong_at)
        y[7] = wrong_bits;
    return KG_OK;
}

static const kg_backend staging = {
    .name = "staging", .device = KG_CPU, .workspace = workspace, .stage = stage, .launch = launch
};

/* ---- the fixture ---- */

static kg_context *context;
static struct kg_host_state host;
static struct kg_fixture fixture;
static struct kg_prepared prepared;
static kg_backend backend;

static int begin(void **state)
{
    (void)state;
    const struct kg_case of = { .suite = &suite, .problem = &problem, .shape = "one", .kind = KG_CPU };
    n_launches = n_staged = n_produced = n_competed = wrong_at = 0;
    produced = competing = false;
    kg_host_init(&host);
    if (kg_device_open(KG_CPU, 0, &context, NULL))
        return -1;
    cpu_ops = context->ops;
    watched = *cpu_ops;
    watched.copy_slowly = copy_slowly;
    watched.compete = compete;
    watched.compete_end = compete_end;
    context->ops = &watched;
    return kg_fixture_new(context, &of, &fixture, NULL);
}

static int end(void **state)
{
    (void)state;
    kg_prepared_done(&prepared);
    kg_fixture_done(&fixture);
    kg_host_done(&host);
    context->ops->close(context);
    return 0;
}

/* One launch, whose output is what the others are held to, and then the others. */
static int repeat(bool varies, struct kg_repeats *ret_repeats, kg_error *ret_error)
{
    struct kg_repeat asked = { .fixture = &fixture, .prepared = &prepared, .launches = LAUNCHES };
    backend = staging;
    backend.varies = varies;
    int status = kg_prepared_new(&host, &fixture, &backend, &problem, NULL, &prepared, ret_error);
    if (!status)
        status = kg_buffers_poison(&fixture.buffers, ret_error);
    if (!status)
        status = kg_prepared_launch(&prepared, 0, NULL, ret_error);
    if (!status)
        status = kg_buffers_digest(&fixture.buffers, KG_OUTPUT, &asked.digest, ret_error);
    n_launches = n_staged = 0;
    return status ? status : kg_repeat_check(&asked, ret_repeats, ret_error);
}

static void every_launch_is_poisoned_staged_and_disturbed_by_turns(void **state)
{
    (void)state;
    kg_error error = { 0 };
    struct kg_repeats repeats;
    assert_int_equal(repeat(false, &repeats, &error), KG_OK);
    assert_int_equal(n_launches, LAUNCHES);
    assert_int_equal(n_staged, LAUNCHES);
    assert_int_equal(n_competed, 3);
    assert_int_equal(n_produced, 3);
    assert_int_equal(repeats.launches, LAUNCHES);
    assert_int_equal(repeats.other_bits, 0);
    assert_string_equal(repeats.wrong, "");
}

static void the_first_wrong_launch_is_the_last(void **state)
{
    (void)state;
    kg_error error = { 0 };
    struct kg_repeats repeats;
    const float x = ((const float *)fixture.buffers.tensors[0].data)[7];
    wrong_at = 5;
    wrong_bits = bf16(x) ^ 1; /* the last bit: right by the gates */
    assert_int_equal(repeat(false, &repeats, &error), KG_OK);
    assert_int_equal(n_launches, 5);
    assert_int_equal(repeats.launches, 5);
    assert_int_equal(repeats.other_bits, 1);
    static const char start[] = "launch 5 of 10, beside busy threads, gave other bits: 1 of 100 elements differ, ";
    assert_memory_equal(repeats.wrong, start, sizeof start - 1);
    assert_non_null(strstr(repeats.wrong, "by the gates it is right"));
}

static void what_varies_is_held_to_the_gates(void **state)
{
    (void)state;
    kg_error error = { 0 };
    struct kg_repeats repeats;
    const float x = ((const float *)fixture.buffers.tensors[0].data)[7];
    wrong_at = 6;
    wrong_bits = bf16(x) ^ 1;
    assert_int_equal(repeat(true, &repeats, &error), KG_OK);
    assert_int_equal(repeats.launches, LAUNCHES);
    assert_int_equal(repeats.other_bits, 1);
    assert_string_equal(repeats.wrong, "");
}

static void what_varies_can_be_wrong(void **state)
{
    (void)state;
    kg_error error = { 0 };
    struct kg_repeats repeats;
    wrong_at = 6;
    wrong_bits = 0x7fff; /* NaN */
    assert_int_equal(repeat(true, &repeats, &error), KG_OK);
    assert_int_equal(repeats.launches, 6);
    assert_non_null(strstr(repeats.wrong, "launch 6 of 10, on inputs written anew, gave other bits"));
    assert_non_null(strstr(repeats.wrong, "max |difference| inf; by the gates it is wrong"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(every_launch_is_poisoned_staged_and_disturbed_by_turns),
        TEST(the_first_wrong_launch_is_the_last),
        TEST(what_varies_is_held_to_the_gates),
        TEST(what_varies_can_be_wrong),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
