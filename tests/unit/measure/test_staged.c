/* test_staged.c -- what may be staged: each drawn input by itself. The op is y[i] = a[index[i]] + b[i]. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "measure/staged.h"

enum { N = 100 };
enum { A, B, INDEX, Y, WORKSPACE };

static bool b_is_given;

static int tensors(const void *problem, kg_tensor ret_tensors[KG_MAX_TENSORS], int *ret_count)
{
    (void)problem;
    ret_tensors[A] = (kg_tensor){ .name = "a", .dtype = KG_F32, .role = KG_INPUT, .rank = 1, .dims = { N } };
    ret_tensors[B] =
        (kg_tensor){ .name = "b", .dtype = KG_F32, .role = KG_INPUT, .rank = 1, .dims = { N }, .given = b_is_given };
    ret_tensors[INDEX] =
        (kg_tensor){ .name = "index", .dtype = KG_I32, .role = KG_INPUT, .rank = 1, .dims = { N }, .given = 1 };
    ret_tensors[Y] = (kg_tensor){ .name = "y", .dtype = KG_F32, .role = KG_OUTPUT, .rank = 1, .dims = { N } };
    *ret_count = 4;
    return KG_OK;
}

static int give(const void *problem, const kg_tensor *call, kg_error *ret_error)
{
    (void)problem, (void)ret_error;
    for (int32_t i = 0; i < N; i++)
        ((int32_t *)call[INDEX].data)[i] = N - 1 - i;
    for (int i = 0; i < N && b_is_given; i++)
        ((float *)call[B].data)[i] = 1;
    return KG_OK;
}

static int reference(const void *problem, const kg_tensor *call, kg_error *ret_error)
{
    (void)problem, (void)ret_error;
    const float *a = call[A].data, *b = call[B].data;
    for (int i = 0; i < N; i++)
        ((float *)call[Y].data)[i] = a[((const int32_t *)call[INDEX].data)[i]] + b[i];
    return KG_OK;
}

#define GATES                                                                                                          \
    {                                                                                                                  \
        .max_abs = 1e-5, .mean_abs = 1e-5, .bad_abs = 1e-5, .bad_pct = 1, .rel_l2 = 1e-5                               \
    }

static const kg_op op = { .name = "gather and add", .tensors = tensors, .give = give, .reference_cpu = reference };
static const kg_suite suite = { .name = "sums", .op = &op, .gates = GATES };
static const char *const problem = "one";

enum kind { EACH_GATHERED, SUM, ONE_BYTE, KEPT_THERE, KEPT_LAST };

/* What a stage of KEPT_… keeps by itself, and for which workspace. */
static float kept[N];
static const void *kept_for;

static size_t workspace(const kg_backend *self, const void *state)
{
    (void)self, (void)state;
    return 2 * N * sizeof(float);
}

static int launch(const kg_backend *self, void *state, const kg_tensor *call, void *stream, kg_error *ret_error)
{
    (void)self, (void)state, (void)stream, (void)ret_error;
    const float *staged = call[WORKSPACE].data;
    const enum kind kind = *(const enum kind *)self->data;
    const bool copies = kind == KEPT_LAST || (kind == KEPT_THERE && kept_for == call[WORKSPACE].data);
    for (int i = 0; i < N; i++)
        ((float *)call[Y].data)[i] = copies ? kept[i] : staged[i] + staged[N + i];
    return KG_OK;
}

/* 2 N values, of which the first N are of `a`, or of both. */
static int stage(const kg_backend *self, void *state, const kg_tensor *call, void *stream, kg_error *ret_error)
{
    (void)state, (void)stream, (void)ret_error;
    const float *a = call[A].data, *b = call[B].data;
    const int32_t *index = call[INDEX].data;
    const enum kind kind = *(const enum kind *)self->data;
    float *to = call[WORKSPACE].data;
    for (int i = 0; i < N; i++) {
        to[i] = a[index[i]] + (kind == SUM ? b[i] : 0);
        to[N + i] = kind == SUM ? 0 : b[i];
        kept[i] = a[index[i]] + b[i];
    }
    kept_for = to;
    if (kind == ONE_BYTE)
        to[N - 1] += 0 * b[0];
    return KG_OK;
}

static int check(enum kind kind, kg_error *ret_error)
{
    const kg_backend backend = {
        .name = "staging", .device = KG_CPU, .data = &kind, .workspace = workspace, .stage = stage, .launch = launch
    };
    const struct kg_case of = { .suite = &suite, .problem = &problem, .shape = "one", .kind = KG_CPU };
    kg_context *context = NULL;
    struct kg_host_state host;
    struct kg_fixture fixture = { 0 };
    struct kg_prepared prepared = { 0 };
    uint64_t inputs = 0;
    kg_host_init(&host);
    assert_int_equal(kg_device_open(KG_CPU, 0, &context, ret_error), KG_OK);
    assert_int_equal(kg_fixture_new(context, &of, &fixture, ret_error), KG_OK);
    assert_int_equal(kg_prepared_new(&host, &fixture, &backend, &problem, NULL, &prepared, ret_error), KG_OK);
    const int status = kg_staged_check(&prepared, &fixture, ret_error);
    assert_int_equal(kg_buffers_digest(&fixture.buffers, KG_INPUT, &inputs, ret_error), KG_OK);
    assert_true(inputs == fixture.input_digest);
    assert_int_equal(kg_prepared_check_workspace(&prepared, 0, ret_error), KG_OK);
    kg_prepared_done(&prepared);
    kg_fixture_done(&fixture);
    kg_host_done(&host);
    context->ops->close(context);
    return status;
}

static void each_input_by_itself(void **state)
{
    kg_error error = { 0 };
    (void)state;
    assert_int_equal(check(EACH_GATHERED, &error), KG_OK); /* what is given is no input to hide */
}

static void the_answer_is_launchs_work(void **state)
{
    kg_error error = { 0 };
    (void)state;
    assert_int_equal(check(SUM, &error), KG_EDEVICE);
    assert_non_null(strstr(error.text, " of 800 bytes of several inputs, which is launch's work"));
    assert_int_equal(check(ONE_BYTE, &error), KG_EDEVICE);
}

static void an_answer_may_not_be_kept_elsewhere(void **state)
{
    kg_error error = { 0 };
    (void)state;
    assert_int_equal(check(KEPT_LAST, &error), KG_EDEVICE);
    assert_non_null(strstr(error.text, "at another address, it gave a wrong output"));
    assert_int_equal(check(KEPT_THERE, &error), KG_EDEVICE);
}

static void one_input_is_no_stages(void **state)
{
    kg_error error = { 0 };
    (void)state;
    b_is_given = true;
    assert_int_equal(check(EACH_GATHERED, &error), KG_EDEVICE);
    assert_non_null(strstr(error.text, "an op with one drawn input"));
    b_is_given = false;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_input_by_itself),
        cmocka_unit_test(the_answer_is_launchs_work),
        cmocka_unit_test(an_answer_may_not_be_kept_elsewhere),
        cmocka_unit_test(one_input_is_no_stages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
