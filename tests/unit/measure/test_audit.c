/* test_audit.c -- kernels that take their time by whether they had their inputs before; the op is y = x. Time is told
 * by this file, so that no other process is in it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "measure/audit.h"

enum { N = 64 };
enum kind { HONEST, KNOWS, KNOWS_LAST, KNOWS_A_LITTLE, FORGETS, LIES };

static int tensors(const void *problem, kg_tensor ret_tensors[KG_MAX_TENSORS], int *ret_count)
{
    (void)problem;
    ret_tensors[0] = (kg_tensor){ .name = "x", .dtype = KG_F32, .role = KG_INPUT, .rank = 1, .dims = { N } };
    ret_tensors[1] = (kg_tensor){ .name = "y", .dtype = KG_F32, .role = KG_OUTPUT, .rank = 1, .dims = { N } };
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
    .gates = { .max_abs = 1e-6, .mean_abs = 1e-6, .bad_abs = 1e-6, .bad_rel = 1e-6, .rel_l2 = 1e-6 }
};
static const char *const problem = "one";

static bool seen(enum kind kind, float first)
{
    static const int outputs[] = {
        [HONEST] = 1, [KNOWS] = 256, [KNOWS_LAST] = 1, [KNOWS_A_LITTLE] = 256, [FORGETS] = 256, [LIES] = 256
    };
    static float had[256];
    static int count;
    for (int i = 0; i < outputs[kind]; i++)
        if (had[i] == first)
            return true;
    had[count++ % outputs[kind]] = first;
    return false;
}

static atomic_llong now_ns;

int clock_gettime(clockid_t id, struct timespec *ret_now)
{
    const long long ns = atomic_fetch_add(&now_ns, 20);
    (void)id;
    *ret_now = (struct timespec){ .tv_sec = (time_t)(ns / 1000000000), .tv_nsec = (long)(ns % 1000000000) };
    return 0;
}

static int launch(const kg_backend *self, void *state, const kg_tensor *call, void *stream, kg_error *ret_error)
{
    static const long unseen_us[] = {
        [HONEST] = 300, [KNOWS] = 600, [KNOWS_LAST] = 600, [KNOWS_A_LITTLE] = 301, [FORGETS] = 100, [LIES] = 300
    };
    const enum kind kind = *(const enum kind *)self->data;
    const float *x = call[0].data;
    (void)state, (void)stream, (void)ret_error;
    const bool known = seen(kind, x[0]);
    atomic_fetch_add(&now_ns, 1000 * (known ? 300 : unseen_us[kind]));
    memcpy(call[1].data, x, N * sizeof *x);
    if (kind == LIES && !known)
        memset(call[1].data, 0, sizeof *x);
    return KG_OK;
}

static int audit(enum kind kind, kg_error *ret_error)
{
    const kg_backend backend = { .name = "copies", .device = KG_CPU, .data = &kind, .launch = launch };
    const struct kg_case of = { .suite = &suite, .problem = &problem, .shape = "one", .kind = KG_CPU, .seed = 5 };
    kg_context *context = NULL;
    struct kg_host_state host;
    struct kg_fixture fixture = { 0 }, unseen = { 0 };
    struct kg_case of_unseen = of;
    struct kg_prepared prepared = { 0 };
    kg_host_init(&host);
    assert_int_equal(kg_device_open(KG_CPU, 0, &context, ret_error), KG_OK);
    assert_int_equal(kg_fixture_new(context, &of, &fixture, ret_error), KG_OK);
    of_unseen.seed = 1000 + kind;
    assert_int_equal(kg_fixture_new(context, &of_unseen, &unseen, ret_error), KG_OK);
    assert_int_equal(kg_fixture_reference(&unseen, ret_error), KG_OK);
    assert_int_equal(kg_prepared_new(&host, &fixture, &backend, &problem, NULL, &prepared, ret_error), KG_OK);
    struct kg_arm arm = { .prepared = &prepared, .spin_us = -1 };
    assert_int_equal(kg_arm_open(&arm, 1000, ret_error), KG_OK);
    const int status = kg_audit_inputs(&arm, &fixture, &unseen, 77 + kind, ret_error);
    kg_arm_close(&arm);
    kg_prepared_done(&prepared);
    kg_fixture_done(&fixture);
    kg_fixture_done(&unseen);
    kg_host_done(&host);
    context->ops->close(context);
    return status;
}

static void slower_on_unseen_inputs_is_an_error(void **state)
{
    kg_error error = { 0 };
    (void)state;
    for (enum kind kind = KNOWS; kind <= KNOWS_LAST; kind++) {
        assert_int_equal(audit(kind, &error), KG_EDEVICE);
        assert_non_null(strstr(error.text, " us on inputs that were seen before, "));
    }
}

static void a_gap_that_is_small_or_the_other_way_is_none(void **state)
{
    kg_error error = { 0 };
    (void)state;
    assert_int_equal(audit(HONEST, &error), KG_OK);
    assert_int_equal(audit(KNOWS_A_LITTLE, &error), KG_OK);
    assert_int_equal(audit(FORGETS, &error), KG_OK);
}

static void a_wrong_output_on_unseen_inputs_is_an_error(void **state)
{
    kg_error error = { 0 };
    (void)state;
    assert_int_equal(audit(LIES, &error), KG_EDEVICE);
    assert_non_null(strstr(error.text, "on inputs of this run, it gave a wrong output"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slower_on_unseen_inputs_is_an_error),
        cmocka_unit_test(a_gap_that_is_small_or_the_other_way_is_none),
        cmocka_unit_test(a_wrong_output_on_unseen_inputs_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
