/* test_buffer.c -- guarded tensors and fixtures on the CPU device: a byte out of place shows, wherever it is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cpu_context.h"
#include "measure/fixture.h"

/* 12, 34 and 20 bytes: no one fills its padding. */
static const kg_tensor shapes[] = {
    { .name = "x", .dtype = KG_F32, .role = KG_INPUT, .rank = 1, .dims = { 3 } },
    { .name = "w", .dtype = KG_BF16, .role = KG_INPUT, .rank = 1, .dims = { 17 } },
    { .name = "y", .dtype = KG_F16, .role = KG_OUTPUT, .rank = 2, .dims = { 2, 5 } },
};

static struct kg_buffers buffers_new(void)
{
    struct kg_buffers buffers = { 0 };
    kg_error error = { 0 };
    assert_int_equal(kg_buffers_new(context, shapes, 3, KG_GUARDS_NAN, &buffers, &error), KG_OK);
    for (int i = 0; i < 3; i++)
        memset(buffers.tensors[i].data, 1 + i, kg_tensor_bytes(&buffers.tensors[i]));
    return buffers;
}

/* ---- guards ------------------------------------------------------------------------------------------------ */

static void buffers_are_as_described(void **state)
{
    (void)state;
    struct kg_buffers buffers = buffers_new();
    assert_int_equal(buffers.count, 3);
    assert_int_equal(kg_buffers_bytes(&buffers), 12 + 34 + 20);
    for (int i = 0; i < 3; i++) {
        const kg_tensor *tensor = &buffers.tensors[i];
        assert_string_equal(tensor->name, shapes[i].name);
        assert_true(tensor->dtype == shapes[i].dtype && tensor->role == shapes[i].role);
        assert_int_equal((uintptr_t)tensor->data % 256, 0);
        assert_int_equal(kg_tensor_count(tensor), kg_tensor_count(&shapes[i]));
    }
    assert_int_equal(kg_buffers_check_guards(&buffers, NULL), KG_OK); /* every byte of the data was written */
    kg_buffers_done(&buffers);
    kg_buffers_done(&buffers); /* zeroed: accepted */
}

static void check_finds(const struct kg_buffers *buffers, const char *what)
{
    kg_error error = { 0 };
    assert_int_equal(kg_buffers_check_guards(buffers, &error), KG_EDEVICE);
    assert_string_equal(error.text, what);
}

static void one_byte_out_of_place_shows(void **state)
{
    (void)state;
    struct kg_buffers buffers = buffers_new();
    for (int i = 0; i < 3; i++) {
        unsigned char *data = buffers.tensors[i].data;
        const ptrdiff_t bytes = (ptrdiff_t)kg_tensor_bytes(&buffers.tensors[i]);
        const ptrdiff_t places[] = { -1, -KG_GUARD_BYTES, -256, bytes, bytes + 1, 255, 256, 256 + KG_GUARD_BYTES - 1 };
        for (size_t j = 0; j < sizeof places / sizeof *places; j++) {
            char what[100];
            const unsigned char was = data[places[j]];
            assert_int_equal(was, places[j] & 1 ? 0xff : 0xa5); /* a NaN of every dtype of 16 bits or more */
            data[places[j]] ^= 0x10;
            snprintf(what, sizeof what, "wrote outside %s: %d bytes changed before it, %d after it",
                     buffers.tensors[i].name, places[j] < 0, places[j] >= 0);
            check_finds(&buffers, what);
            data[places[j]] = was;
            assert_int_equal(kg_buffers_check_guards(&buffers, NULL), KG_OK);
        }
    }
    memset((char *)buffers.tensors[1].data - 3, 0, 3);
    memset((char *)buffers.tensors[1].data + 34, 0, 5);
    check_finds(&buffers, "wrote outside w: 3 bytes changed before it, 5 after it");
    kg_buffers_done(&buffers);
}

static void tensors_that_fill_their_room(void **state)
{
    (void)state;
    const kg_tensor full = { .name = "f", .dtype = KG_F32, .role = KG_OUTPUT, .rank = 1, .dims = { 64 } };
    struct kg_buffers buffers;
    assert_int_equal(kg_buffers_new(context, &full, 1, KG_GUARDS_NAN, &buffers, NULL), KG_OK);
    assert_int_equal(kg_buffers_poison(&buffers, NULL), KG_OK);
    assert_int_equal(kg_buffers_check_guards(&buffers, NULL), KG_OK);
    ((char *)buffers.tensors[0].data)[256] = 0;
    check_finds(&buffers, "wrote outside f: 0 bytes changed before it, 1 after it");
    kg_buffers_done(&buffers);
}

static void poison_is_for_outputs(void **state)
{
    (void)state;
    struct kg_buffers buffers = buffers_new();
    assert_int_equal(kg_buffers_poison(&buffers, NULL), KG_OK);
    for (int i = 0; i < 3; i++)
        for (size_t j = 0; j < kg_tensor_bytes(&buffers.tensors[i]); j++)
            assert_int_equal(((unsigned char *)buffers.tensors[i].data)[j], i == 2 ? (int)(uint8_t)KG_POISON : 1 + i);
    assert_int_equal(kg_buffers_check_guards(&buffers, NULL), KG_OK);
    kg_buffers_done(&buffers);
}

/* ---- digests and copies ------------------------------------------------------------------------------------ */

static uint64_t digest(const struct kg_buffers *buffers, enum kg_role role)
{
    uint64_t value = 0;
    assert_int_equal(kg_buffers_digest(buffers, role, &value, NULL), KG_OK);
    return value;
}

static void digests_see_every_byte_of_their_role(void **state)
{
    (void)state;
    struct kg_buffers buffers = buffers_new();
    const uint64_t inputs = digest(&buffers, KG_INPUT), outputs = digest(&buffers, KG_OUTPUT);
    assert_true(inputs != outputs);
    for (int i = 0; i < 3; i++) {
        unsigned char *data = buffers.tensors[i].data;
        for (size_t j = 0; j < kg_tensor_bytes(&buffers.tensors[i]); j++) {
            data[j] ^= 0x80;
            assert_int_equal(digest(&buffers, KG_INPUT) == inputs, i == 2);
            assert_int_equal(digest(&buffers, KG_OUTPUT) == outputs, i != 2);
            data[j] ^= 0x80;
        }
    }
    assert_true(digest(&buffers, KG_INPUT) == inputs && digest(&buffers, KG_OUTPUT) == outputs);
    kg_buffers_done(&buffers);
}

/* Two inputs of a shape that change places are other inputs. */
static void digests_see_which_tensor_is_which(void **state)
{
    (void)state;
    const kg_tensor pairs[] = { shapes[0], shapes[0] };
    struct kg_buffers buffers;
    assert_int_equal(kg_buffers_new(context, pairs, 2, KG_GUARDS_NAN, &buffers, NULL), KG_OK);
    memset(buffers.tensors[0].data, 1, 12);
    memset(buffers.tensors[1].data, 2, 12);
    uint64_t before = digest(&buffers, KG_INPUT);
    memset(buffers.tensors[0].data, 2, 12);
    memset(buffers.tensors[1].data, 1, 12);
    assert_true(digest(&buffers, KG_INPUT) != before);
    kg_buffers_done(&buffers);
}

static void copies_are_of_inputs(void **state)
{
    (void)state;
    struct kg_buffers from = buffers_new(), to = buffers_new();
    for (int i = 0; i < 3; i++)
        memset(to.tensors[i].data, 0, kg_tensor_bytes(&to.tensors[i]));
    assert_int_equal(kg_buffers_copy_inputs(&to, &from, NULL), KG_OK);
    for (int i = 0; i < 2; i++)
        assert_memory_equal(to.tensors[i].data, from.tensors[i].data, kg_tensor_bytes(&to.tensors[i]));
    assert_int_equal(((char *)to.tensors[2].data)[0], 0);
    assert_int_equal(kg_buffers_check_guards(&to, NULL), KG_OK);
    kg_buffers_done(&from);
    kg_buffers_done(&to);
}

/* ---- no memory --------------------------------------------------------------------------------------------- */

static const struct kg_device_ops *real_ops;
static int n_allocations, n_left, fail_after;

static int scarce_allocate(kg_context *its_context, size_t bytes, void **ret_data, kg_error *ret_error)
{
    if (n_allocations++ == fail_after)
        return kg_fail(ret_error, KG_ENOMEM, "no more");
    n_left++;
    return real_ops->allocate(its_context, bytes, ret_data, ret_error);
}

static void scarce_release(kg_context *its_context, void *data)
{
    n_left--;
    real_ops->release(its_context, data);
}

static void half_made_buffers_are_released(void **state)
{
    (void)state;
    real_ops = context->ops;
    struct kg_device_ops scarce = *real_ops;
    scarce.allocate = scarce_allocate;
    scarce.release = scarce_release;
    context->ops = &scarce;
    for (fail_after = 0; fail_after < 3; fail_after++) {
        struct kg_buffers buffers = { .count = 77 };
        kg_error error = { 0 };
        n_allocations = n_left = 0;
        assert_int_equal(kg_buffers_new(context, shapes, 3, KG_GUARDS_NAN, &buffers, &error), KG_ENOMEM);
        assert_string_equal(error.text, "no more");
        assert_int_equal(n_left, 0);
        assert_int_equal(buffers.count, 77);
    }
    context->ops = real_ops;
}

/* ---- fixtures ---------------------------------------------------------------------------------------------- */

/* y = x, z = -x without its last two, and a reference that the test can make misbehave. */
struct problem {
    const char *name;
    int64_t n;
};

static int n_references, misbehave;

static int tensors(const void *problem, kg_tensor ret_tensors[KG_MAX_TENSORS], int *ret_count)
{
    const struct problem *p = problem;
    const kg_tensor x = { .name = "x", .dtype = KG_F32, .role = KG_INPUT, .rank = 1, .dims = { p->n }, .std = 1 };
    ret_tensors[0] = ret_tensors[1] = ret_tensors[2] = x;
    ret_tensors[1].role = ret_tensors[2].role = KG_OUTPUT;
    ret_tensors[1].name = "y";
    ret_tensors[2].name = "z";
    ret_tensors[2].dtype = p->n == 7 || p->n == 8 ? KG_E4M3 : KG_F16;
    if (p->n == 7)
        ret_tensors[2].role = KG_INPUT;
    ret_tensors[2].dims[0] = p->n - 2;
    *ret_count = p->n ? 3 : 9;
    return KG_OK;
}

static int reference(const void *problem, const kg_tensor *call, kg_error *ret_error)
{
    const struct problem *p = problem;
    n_references++;
    if (misbehave == 1)
        return kg_fail(ret_error, KG_EUNSUPPORTED, "cannot");
    for (int64_t i = 0; i < p->n; i++) {
        ((float *)call[1].data)[i] = ((const float *)call[0].data)[i];
        if (i < p->n - 2)
            ((float *)call[2].data)[i] = -((const float *)call[0].data)[i];
    }
    if (misbehave == 2)
        ((float *)call[1].data)[p->n] = 0;
    assert_int_equal(call[2].dtype, KG_F32); /* whatever the op's own dtype */
    return KG_OK;
}

static const kg_op op = { .name = "both", .tensors = tensors, .reference_cpu = reference };
static const kg_suite suite = {
    .name = "s",
    .op = &op,
    .gates = { .max_abs = 1, .mean_abs = 1, .bad_abs = 0.25, .bad_pct = 100, .rel_l2 = 1 },
};
static const struct problem five = { "five", 5 }, none = { "none", 0 }, coded = { "coded", 7 },
                            codes_out = { "codes_out", 8 };

static struct kg_case case_of(const struct problem *problem, uint64_t seed)
{
    return (
        struct kg_case){ .suite = &suite, .problem = problem, .shape = problem->name, .seed = seed, .kind = KG_CPU };
}

static uint64_t free_bytes;

static int few_bytes(kg_context *its_context, uint64_t *ret_bytes, kg_error *ret_error)
{
    (void)its_context, (void)ret_error;
    *ret_bytes = free_bytes;
    return KG_OK;
}

static int no_scale(const void *problem, const void *arithmetic, const kg_tensor *call, kg_error *ret_error)
{
    (void)problem, (void)arithmetic, (void)call;
    return kg_fail(ret_error, KG_EUNSUPPORTED, "none");
}

/* 256 bytes and two guard bands for each of x, y, z, y and z of the reference, and y and z of an error scale. */
static void fixtures_want_their_memory_free(void **state)
{
    const uint64_t a_tensor = 256 + 2 * KG_GUARD_BYTES;
    const struct kg_device_ops *usual = context->ops;
    struct kg_device_ops scarce = *usual;
    kg_op scaled_op = op;
    kg_suite scaled = suite;
    (void)state;
    scaled_op.error_scale_cpu = no_scale;
    scaled.op = &scaled_op;
    scarce.free_bytes = few_bytes;
    context->ops = &scarce;
    for (int n = 5; n <= 7; n += 2) {
        struct kg_case of = case_of(&five, 3);
        struct kg_fixture fixture = { 0 };
        kg_error error = { 0 };
        char text[128];
        of.suite = n == 5 ? &suite : &scaled;
        free_bytes = (uint64_t)n * a_tensor;
        assert_int_equal(kg_fixture_new(context, &of, &fixture, &error), KG_OK);
        kg_fixture_done(&fixture);
        free_bytes--;
        assert_int_equal(kg_fixture_new(context, &of, &fixture, &error), KG_EUNSUPPORTED);
        (void)snprintf(text, sizeof text, "needs %d bytes of device memory, %d are free", n * (int)a_tensor,
                       n * (int)a_tensor - 1);
        assert_string_equal(error.text, text);
        assert_null(fixture.context);
    }
    context->ops = usual;
}

static void fixtures_are_made_of_the_seed(void **state)
{
    (void)state;
    struct kg_case of = case_of(&five, 3), again = of, other = case_of(&five, 4), bad = case_of(&none, 3);
    struct kg_fixture a = { 0 }, b = { 0 }, c = { 0 }, d = { 0 };
    kg_error error = { 0 };
    assert_int_equal(kg_fixture_new(context, &of, &a, &error), KG_OK);
    assert_int_equal(kg_fixture_new(context, &again, &b, &error), KG_OK);
    assert_int_equal(kg_fixture_new(context, &other, &c, &error), KG_OK);
    assert_true(a.input_digest == b.input_digest && a.input_digest != c.input_digest);
    assert_true(a.input_digest == digest(&a.buffers, KG_INPUT));
    assert_true(kg_fixture_serves(&a, &again) && !kg_fixture_serves(&a, &other) && !kg_fixture_serves(&a, &bad));
    assert_false(kg_fixture_serves(&d, &of));
    assert_int_equal(kg_fixture_new(context, &bad, &d, &error), KG_EINVAL);
    assert_string_equal(error.text, "op both cannot describe its tensors");
    bad = case_of(&coded, 3); /* nothing fills codes */
    assert_int_equal(kg_fixture_new(context, &bad, &d, &error), KG_EINVAL);
    assert_string_equal(error.text,
                        "op both: tensor z must be f32, f16 or bf16; an output also e4m3, a given input i32");
    of = case_of(&codes_out, 3);
    assert_int_equal(kg_fixture_new(context, &of, &d, &error), KG_OK);
    kg_fixture_done(&a);
    kg_fixture_done(&b);
    kg_fixture_done(&c);
    kg_fixture_done(&d);
}

static void a_changed_problem_has_no_reference(void **state)
{
    (void)state;
    kg_op sized_op = op;
    kg_suite sized = suite;
    struct problem problem = five;
    struct kg_case of = case_of(&problem, 3);
    struct kg_fixture f = { 0 };
    kg_error error = { 0 };
    sized_op.problem_size = sizeof problem;
    sized.op = &sized_op;
    of.suite = &sized;
    assert_int_equal(kg_fixture_new(context, &of, &f, &error), KG_OK);
    problem.n++;
    assert_int_equal(kg_fixture_reference(&f, &error), KG_EDEVICE);
    assert_string_equal(error.text, "it changed its problem, which the reference is asked for too");
    problem.n--;
    assert_int_equal(kg_fixture_reference(&f, &error), KG_OK);
    kg_fixture_done(&f);
}

static void the_reference_runs_once(void **state)
{
    (void)state;
    struct kg_case of = case_of(&five, 3);
    struct kg_fixture f = { 0 };
    kg_error error = { 0 };
    assert_int_equal(kg_fixture_new(context, &of, &f, &error), KG_OK);
    n_references = 0;
    misbehave = 1;
    assert_int_equal(kg_fixture_reference(&f, &error), KG_EUNSUPPORTED);
    assert_string_equal(error.text, "cannot");
    misbehave = 2;
    assert_int_equal(kg_fixture_reference(&f, &error), KG_EDEVICE);
    assert_string_equal(error.text, "wrote outside y: 0 bytes changed before it, 4 after it");
    misbehave = 0;
    assert_int_equal(f.expected.count, 0);
    assert_int_equal(kg_fixture_reference(&f, &error), KG_OK);
    assert_int_equal(kg_fixture_reference(&f, &error), KG_OK);
    assert_int_equal(n_references, 3);
    assert_int_equal(f.expected.count, 2);
    kg_fixture_done(&f);
}

/* Outputs of five and three: figures are of all eight, and the worst element is counted through both. */
static void outputs_are_compared_together(void **state)
{
    (void)state;
    struct kg_case of = case_of(&five, 3);
    struct kg_fixture f = { 0 };
    struct kg_comparison comparison = { .count = 77 };
    assert_int_equal(kg_fixture_new(context, &of, &f, NULL), KG_OK);
    for (int i = 0; i < 5; i++)
        ((float *)f.buffers.tensors[0].data)[i] = (float)i;
    memcpy(f.buffers.tensors[1].data, f.buffers.tensors[0].data, 20);
    const uint16_t minus[] = { 0x8000, 0xbc00, 0xc000 }; /* 0, -1, -2 */
    memcpy(f.buffers.tensors[2].data, minus, sizeof minus);
    assert_int_equal(kg_fixture_compare(&f, &f.buffers, &comparison, NULL), KG_OK);
    assert_true(comparison.count == 8 && comparison.bad == 0 && comparison.max_abs == 0 && comparison.nonfinite == 0);
    ((float *)f.buffers.tensors[1].data)[2] = 2.5;
    ((uint16_t *)f.buffers.tensors[2].data)[1] = 0xc000; /* -2, one off */
    assert_int_equal(kg_fixture_compare(&f, &f.buffers, &comparison, NULL), KG_OK);
    assert_true(comparison.count == 8 && comparison.bad == 2 && comparison.bad_pct == 25 && comparison.max_abs == 1);
    assert_true(fabs(comparison.mean_abs - 1.5 / 8) < 1e-12 && fabs(comparison.bias + 0.5 / 8) < 1e-12);
    assert_true(comparison.worst_index == 6 && comparison.worst_got == -2 && comparison.worst_expected == -1);
    assert_true(fabs(comparison.rel_l2 - sqrt(1.0 / 5)) < 1e-12); /* of the worse output */
    assert_int_equal(kg_buffers_poison(&f.buffers, NULL), KG_OK);
    ((float *)f.buffers.tensors[1].data)[0] = 0;
    assert_int_equal(kg_fixture_compare(&f, &f.buffers, &comparison, NULL), KG_OK);
    assert_true(comparison.nonfinite == 7 && comparison.unwritten == 7 && comparison.bad == 7 &&
                comparison.worst_index == 1);
    kg_fixture_done(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(buffers_are_as_described),
        cmocka_unit_test(one_byte_out_of_place_shows),
        cmocka_unit_test(tensors_that_fill_their_room),
        cmocka_unit_test(poison_is_for_outputs),
        cmocka_unit_test(digests_see_every_byte_of_their_role),
        cmocka_unit_test(digests_see_which_tensor_is_which),
        cmocka_unit_test(copies_are_of_inputs),
        cmocka_unit_test(half_made_buffers_are_released),
        cmocka_unit_test(fixtures_want_their_memory_free),
        cmocka_unit_test(fixtures_are_made_of_the_seed),
        cmocka_unit_test(a_changed_problem_has_no_reference),
        cmocka_unit_test(the_reference_runs_once),
        cmocka_unit_test(outputs_are_compared_together),
    };
    return cmocka_run_group_tests(tests, open_device, close_device);
}
