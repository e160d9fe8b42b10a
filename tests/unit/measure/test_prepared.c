/* test_prepared.c -- staging: once a buffer set, before its first launch, and launches find what was staged; and the
 * ring of sets that calls of a cold cache walk. The op copies x to y; its backend stages x * 2 and writes half of that.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "measure/prepared.h"

enum { N = 100 };

static int tensors(const void *problem, kg_tensor ret_tensors[KG_MAX_TENSORS], int *ret_count)
{
    (void)problem;
    ret_tensors[0] = (kg_tensor){ .name = "x", .dtype = KG_F32, .role = KG_INPUT, .rank = 1, .dims = { N }, .std = 1 };
    ret_tensors[1] = (kg_tensor){ .name = "y", .dtype = KG_F32, .role = KG_OUTPUT, .rank = 1, .dims = { N } };
    *ret_count = 2;
    return KG_OK;
}

static const kg_op op = { .name = "copy", .tensors = tensors };
static const kg_suite suite = { .name = "copies", .op = &op };
static const char *const problem = "one";

static int n_staged, fails_at, drifts_at; /* counted from 1; 0: never */

static size_t workspace(const kg_backend *self, const void *state)
{
    (void)self, (void)state;
    return N * sizeof(float);
}

static int stage(const kg_backend *self, void *state, const kg_tensor *call, void *stream, kg_error *ret_error)
{
    (void)self, (void)state, (void)stream;
    const float *x = call[0].data;
    float *staged = call[2].data;
    assert_int_equal(call[2].role, KG_WORKSPACE);
    if (++n_staged == fails_at)
        return kg_fail(ret_error, KG_EDEVICE, "no staging today");
    for (int i = 0; i < N; i++)
        staged[i] = 2 * x[i];
    staged[0] += n_staged == drifts_at;
    return KG_OK;
}

static int launch(const kg_backend *self, void *state, const kg_tensor *call, void *stream, kg_error *ret_error)
{
    (void)self, (void)state, (void)stream, (void)ret_error;
    const float *staged = call[2].data;
    float *y = call[1].data;
    for (int i = 0; i < N; i++)
        y[i] = staged[i] / 2;
    return KG_OK;
}

static const kg_backend staging = {
    .name = "staging", .device = KG_CPU, .workspace = workspace, .stage = stage, .launch = launch
};

static kg_context *context;
static struct kg_host_state host;
static struct kg_fixture fixture;
static struct kg_prepared prepared;

static int begin(void **state)
{
    (void)state;
    const struct kg_case of = { .suite = &suite, .problem = &problem, .shape = "one", .kind = KG_CPU };
    n_staged = fails_at = drifts_at = 0;
    kg_host_init(&host);
    return kg_device_open(KG_CPU, 0, &context, NULL) || kg_fixture_new(context, &of, &fixture, NULL);
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

static int open_prepared(kg_error *ret_error)
{
    return kg_prepared_new(&host, &fixture, &staging, &problem, NULL, &prepared, ret_error);
}

static int make_ring(int sets, kg_error *ret_error)
{
    struct kg_prepared *const one[] = { &prepared };
    const struct kg_ring_plan plan = { .sets = sets, .seed = 1 };
    return kg_prepared_make_rings(one, 1, &plan, ret_error);
}

static void every_set_is_staged_once(void **state)
{
    (void)state;
    kg_error error = { 0 };
    assert_int_equal(open_prepared(&error), KG_OK);
    assert_int_equal(n_staged, 1);
    for (int i = 0; i < 3; i++)
        assert_int_equal(kg_prepared_launch(&prepared, i, NULL, &error), KG_OK);
    assert_memory_equal(fixture.buffers.tensors[1].data, fixture.buffers.tensors[0].data, N * sizeof(float));
    assert_int_equal(kg_prepared_check_workspace(&prepared, 0, &error), KG_OK);
    assert_int_equal(n_staged, 1);

    assert_int_equal(make_ring(3, &error), KG_OK);
    assert_int_equal(n_staged, 4);
    for (prepared.set = 0; prepared.set < 3; prepared.set++) {
        const struct kg_buffers *set = &prepared.ring[prepared.set];
        assert_int_equal(kg_prepared_launch(&prepared, 0, NULL, &error), KG_OK);
        assert_memory_equal(set->tensors[1].data, fixture.buffers.tensors[0].data, N * sizeof(float));
        assert_int_equal(kg_prepared_check_workspace(&prepared, (int)prepared.set, &error), KG_OK);
    }
    assert_int_equal(n_staged, 4);
}

/* One ring for both, of its first; what is staged is each one's own, since two builds may stage differently. */
static void a_shared_ring_is_staged_by_each(void **state)
{
    (void)state;
    kg_error error = { 0 };
    struct kg_prepared other = { 0 };
    struct kg_prepared *const both[] = { &prepared, &other };
    const struct kg_ring_plan plan = { .sets = 3, .shared = 2, .seed = 1 };
    assert_int_equal(open_prepared(&error), KG_OK);
    assert_int_equal(kg_prepared_new(&host, &fixture, &staging, &problem, NULL, &other, &error), KG_OK);
    assert_int_equal(kg_prepared_make_rings(both, 2, &plan, &error), KG_OK);
    assert_ptr_equal(other.ring, prepared.ring);
    assert_true(other.n_ring == 3 && !other.borrows && other.workspaces != prepared.workspaces);
    assert_int_equal(n_staged, 2 + 6);
    for (int at = 0; at < 3; at++)
        assert_int_equal(kg_prepared_check_workspace(&other, at, &error), KG_OK);
    ((float *)other.workspaces[1].tensors[0].data)[0] += 1;
    assert_int_equal(kg_prepared_check_workspace(&prepared, 1, &error), KG_OK);
    assert_int_equal(kg_prepared_check_workspace(&other, 1, &error), KG_EDEVICE);
    kg_prepared_done(&other);
    assert_int_equal(kg_prepared_launch(&prepared, 0, NULL, &error), KG_OK);
}

static void a_shared_ring_has_shared_workspaces(void **state)
{
    (void)state;
    static const kg_backend plain = { .name = "plain", .device = KG_CPU, .workspace = workspace, .launch = launch };
    kg_error error = { 0 };
    struct kg_prepared other = { 0 };
    struct kg_prepared *const both[] = { &prepared, &other };
    const struct kg_ring_plan plan = { .sets = 2, .shared = 2, .seed = 1 };
    assert_int_equal(kg_prepared_new(&host, &fixture, &plain, &problem, NULL, &prepared, &error), KG_OK);
    assert_int_equal(kg_prepared_new(&host, &fixture, &plain, &problem, NULL, &other, &error), KG_OK);
    assert_int_equal(kg_prepared_make_rings(both, 2, &plan, &error), KG_OK);
    assert_true(other.borrows && other.workspaces == prepared.workspaces && !prepared.borrows);
    kg_prepared_done(&other);
    assert_int_equal(kg_prepared_check_workspace(&prepared, 1, &error), KG_OK);
    assert_int_equal(kg_prepared_launch(&prepared, 0, NULL, &error), KG_OK);
}

static void what_was_staged_must_stay(void **state)
{
    (void)state;
    kg_error error = { 0 };
    assert_int_equal(open_prepared(&error), KG_OK);
    assert_int_equal(make_ring(2, &error), KG_OK);
    ((float *)prepared.workspaces[1].tensors[0].data)[N - 1] += 1;
    assert_int_equal(kg_prepared_check_workspace(&prepared, 0, &error), KG_OK);
    assert_int_equal(kg_prepared_check_workspace(&prepared, 1, &error), KG_EDEVICE);
    assert_string_equal(error.text, "the workspace does not hold what was staged");
}

static void sets_of_the_same_inputs_are_staged_alike(void **state)
{
    (void)state;
    kg_error error = { 0 };
    assert_int_equal(open_prepared(&error), KG_OK);
    drifts_at = 3;
    assert_int_equal(make_ring(2, &error), KG_EDEVICE);
    assert_string_equal(error.text, "the workspace does not hold what was staged");
}

static void a_failure_to_stage_is_one_to_prepare(void **state)
{
    (void)state;
    kg_error error = { 0 };
    fails_at = 1;
    assert_int_equal(open_prepared(&error), KG_EDEVICE);
    assert_string_equal(error.text, "no staging today");
    assert_null(prepared.backend);
}

/* Another seed's inputs in every set, staged once more; the outputs stay until the next launch. */
static void exchanged_inputs_are_staged_anew(void **state)
{
    (void)state;
    kg_error error = { 0 };
    struct kg_fixture other;
    struct kg_case of = fixture.of;
    of.seed = 1;
    assert_int_equal(kg_fixture_new(context, &of, &other, &error), KG_OK);
    const float *before = fixture.buffers.tensors[0].data, *after = other.buffers.tensors[0].data;
    assert_memory_not_equal(before, after, N * sizeof *before);
    assert_int_equal(open_prepared(&error), KG_OK);
    assert_int_equal(make_ring(3, &error), KG_OK);
    for (prepared.set = 0; prepared.set < 3; prepared.set++)
        assert_int_equal(kg_prepared_launch(&prepared, 0, NULL, &error), KG_OK);

    assert_int_equal(kg_prepared_exchange_inputs(&prepared, 0, 3, &other, &error), KG_OK);
    assert_int_equal(n_staged, 1 + 3 + 3);
    for (prepared.set = 0; prepared.set < 3; prepared.set++) {
        const struct kg_buffers *set = &prepared.ring[prepared.set];
        assert_int_equal(kg_prepared_check_workspace(&prepared, (int)prepared.set, &error), KG_OK);
        assert_memory_equal(set->tensors[1].data, before, N * sizeof *before);
        assert_int_equal(kg_prepared_launch(&prepared, 0, NULL, &error), KG_OK);
        assert_memory_equal(set->tensors[1].data, after, N * sizeof *after);
    }

    assert_int_equal(kg_prepared_exchange_inputs(&prepared, 1, 1, &fixture, &error), KG_OK); /* one set back */
    assert_int_equal(kg_prepared_check_workspace(&prepared, 1, &error), KG_OK);
    assert_memory_equal(prepared.ring[1].tensors[0].data, before, N * sizeof *before);
    assert_memory_equal(prepared.ring[2].tensors[0].data, after, N * sizeof *after);
    drifts_at = n_staged + 2;
    assert_int_equal(kg_prepared_exchange_inputs(&prepared, 0, 3, &fixture, &error), KG_EDEVICE);
    kg_fixture_done(&other);
}

/* Whatever a call touched last has been pushed out by the sets of the calls between. */
static void a_cold_ring_is_larger_than_the_cache(void **state)
{
    (void)state;
    kg_error error = { 0 };
    struct kg_prepared *const one[] = { &prepared };
    context->device.l2_bytes = 20000;
    assert_int_equal(open_prepared(&error), KG_OK);
    const struct kg_ring_plan plan = { .cold = true, .sets = 1, .seed = 1 };
    assert_int_equal(kg_prepared_make_rings(one, 1, &plan, &error), KG_OK);
    const size_t set_bytes = kg_buffers_bytes(&fixture.buffers);
    assert_true(prepared.n_ring > 2 && (size_t)(prepared.n_ring - 1) * set_bytes > 2 * context->device.l2_bytes);
    for (int i = 0; i < 2 * prepared.n_ring; i++) {
        float *y = prepared.ring[i % prepared.n_ring].tensors[1].data;
        memset(y, 0, N * sizeof *y);
        assert_int_equal(kg_prepared_launch(&prepared, 0, NULL, &error), KG_OK);
        assert_memory_equal(y, fixture.buffers.tensors[0].data, N * sizeof *y); /* call i took set i */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_set_is_staged_once, begin, end),
        cmocka_unit_test_setup_teardown(a_shared_ring_is_staged_by_each, begin, end),
        cmocka_unit_test_setup_teardown(a_shared_ring_has_shared_workspaces, begin, end),
        cmocka_unit_test_setup_teardown(what_was_staged_must_stay, begin, end),
        cmocka_unit_test_setup_teardown(sets_of_the_same_inputs_are_staged_alike, begin, end),
        cmocka_unit_test_setup_teardown(a_failure_to_stage_is_one_to_prepare, begin, end),
        cmocka_unit_test_setup_teardown(exchanged_inputs_are_staged_anew, begin, end),
        cmocka_unit_test_setup_teardown(a_cold_ring_is_larger_than_the_cache, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
