/* test_arms.c -- the arms of a case on the CPU: who is prepared with what, and whose buffers are whose. The other
 * build's process is tests/cli's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "worker/arms.h"

struct problem {
    const char *name;
    int64_t n;
};

/* ---- two builds of one module ------------------------------------------------------------------------------ */

static int n_prepared;
static const void *problem_of[16]; /* by order of preparing */
static const char *pin_of[16];

static int tensors(const void *problem, kg_tensor ret_tensors[KG_MAX_TENSORS], int *ret_count)
{
    const int64_t n = ((const struct problem *)problem)->n;
    ret_tensors[0] = (kg_tensor){ .name = "x", .dtype = KG_F32, .role = KG_INPUT, .rank = 1, .dims = { n } };
    ret_tensors[1] = (kg_tensor){ .name = "y", .dtype = KG_F32, .role = KG_OUTPUT, .rank = 1, .dims = { n } };
    *ret_count = 2;
    return KG_OK;
}

static int prepare(const kg_backend *self, const kg_call *call, void **ret_state, kg_identity *ret_identity,
                   kg_error *ret_error)
{
    (void)ret_error;
    problem_of[n_prepared] = call->problem;
    pin_of[n_prepared++] = call->pin;
    snprintf(ret_identity->text, sizeof ret_identity->text, "library of %s", self->name);
    snprintf(ret_identity->pin, sizeof ret_identity->pin, "chosen");
    *ret_state = (void *)self;
    return KG_OK;
}

static int launch(const kg_backend *self, void *state, const kg_tensor *call, void *stream, kg_error *ret_error)
{
    (void)stream, (void)ret_error;
    assert_ptr_equal(self, state);
    memcpy(call[1].data, call[0].data, kg_tensor_bytes(&call[1]));
    return KG_OK;
}

static int refuses(const kg_backend *self, const kg_device *device, const void *problem, kg_error *ret_error)
{
    (void)self, (void)device, (void)problem;
    return kg_fail(ret_error, KG_EUNSUPPORTED, "not today");
}

#define BACKEND(its_name)                                                                                              \
    {                                                                                                                  \
        .name = its_name, .device = KG_CPU, .prepare = prepare, .launch = launch                                       \
    }

static const kg_op op = { .name = "copy", .problem_size = sizeof(struct problem), .tensors = tensors };
static const kg_backend fast = BACKEND("fast"), plain = BACKEND("plain");
static const kg_backend picky = { .name = "picky", .device = KG_CPU, .supports = refuses };
static const kg_backend *const candidates[] = { &picky, &plain, &fast, NULL };
static const kg_backend automatic = { .name = "auto", .device = KG_CPU, .candidates = candidates };
static const kg_suite suite = { .name = "main", .op = &op, .cpu_anchor = &plain };
static const struct problem problem = { "row", 1000 };
static struct kg_loaded build = { .path = "/proc/self/exe" };

static struct kg_case case_of(const kg_backend *backend)
{
    return (struct kg_case){
        .suite = &suite, .backend = backend, .problem = &problem, .shape = "row", .seed = 7, .kind = KG_CPU
    };
}

static kg_context *context;
static struct kg_host_state host;
static struct kg_fixture fixture;
static struct kg_job_case one;
static struct kg_arms arms;

static void set_arms(const kg_backend *its)
{
    kg_error error = { 0 };
    one = (struct kg_job_case){ .of = case_of(its) };
    snprintf(one.pin, sizeof one.pin, "its pin");
    snprintf(one.baseline_pin, sizeof one.baseline_pin, "other pin");
    assert_int_equal(kg_fixture_new(context, &one.of, &fixture, &error), KG_OK);
    arms = (struct kg_arms){ .host = &host, .fixture = &fixture, .one = &one, .module = &build };
    n_prepared = 0;
}

static int open_all(void **state)
{
    (void)state;
    kg_host_init(&host);
    return kg_device_open(KG_CPU, 0, &context, NULL);
}

static int close_all(void **state)
{
    (void)state;
    kg_arms_done(&arms);
    kg_fixture_done(&fixture);
    kg_host_done(&host);
    context->ops->close(context);
    return 0;
}

/* ---- who gets what ------------------------------------------------------------------------------------------ */

static void each_arm_has_its_backend_and_pin(void **state)
{
    (void)state;
    kg_error error = { 0 };
    set_arms(&fast);
    assert_int_equal(kg_arms_case(&arms, &error), KG_OK);
    assert_int_equal(kg_arms_baseline(&arms, &error), KG_OK);
    assert_int_equal(kg_arms_anchor(&arms, &error), KG_OK);
    assert_int_equal(kg_arms_planted(&arms, &error), KG_OK);
    const kg_backend *const wanted[KG_ARMS] = { &fast, &fast, &plain, &fast };
    for (int arm = 0; arm < KG_ARMS; arm++)
        assert_ptr_equal(arms.prepared[arm].backend, wanted[arm]);
    for (int i = 0; i < KG_ARMS; i++)
        assert_ptr_equal(problem_of[i], &problem);
    assert_string_equal(pin_of[0], "its pin");
    assert_string_equal(pin_of[1], "other pin");
    assert_string_equal(pin_of[3], "chosen"); /* what the case took */
    kg_arms_done(&arms);
    for (int arm = 0; arm < KG_ARMS; arm++)
        assert_null(arms.prepared[arm].backend);
}

static void an_anchor_is_not_its_own(void **state)
{
    (void)state;
    kg_error error = { 0 };
    set_arms(&plain);
    assert_int_equal(kg_arms_case(&arms, &error), KG_OK);
    assert_int_equal(kg_arms_anchor(&arms, &error), KG_ENOTFOUND);
    assert_null(arms.prepared[KG_ARM_ANCHOR].backend);
}

/* Of the candidates the first that runs, or the one that an earlier worker took. */
static void automatic_resolves(void **state)
{
    (void)state;
    kg_error error = { 0 };
    char text[1024] = "";
    const struct kg_policy policy = { .sets = 2 };
    set_arms(&automatic);
    snprintf(one.backend, sizeof one.backend, "fast");
    assert_int_equal(kg_arms_case(&arms, &error), KG_OK);
    assert_int_equal(kg_arms_baseline(&arms, &error), KG_OK);
    assert_ptr_equal(arms.prepared[KG_ARM_CASE].backend, &fast);
    assert_ptr_equal(arms.prepared[KG_ARM_BASELINE].backend, &plain);
    assert_int_equal(kg_arms_make_rings(&arms, &policy, 1, &error), KG_OK);
    assert_int_equal(kg_arms_identity(&arms, KG_ARM_BASELINE, text, sizeof text, &error), KG_OK);
    assert_memory_equal(text, "plain: library of plain; module code ", 37);
    kg_arms_drop(&arms, KG_ARM_CASE);
    snprintf(one.backend, sizeof one.backend, "picky");
    assert_int_equal(kg_arms_case(&arms, &error), KG_EUNSUPPORTED);
    assert_string_equal(error.text, "not today");
}

/* ---- buffers ------------------------------------------------------------------------------------------------- */

/* Where sets lie is no difference between the two. */
static void the_planted_case_has_the_cases_sets(void **state)
{
    (void)state;
    enum { SETS = 16 };
    kg_error error = { 0 };
    const struct kg_policy policy = { .sets = SETS };
    struct kg_prepared *prepared[KG_ARMS];
    uint64_t digest = 0;
    set_arms(&fast);
    assert_int_equal(kg_arms_case(&arms, &error), KG_OK);
    assert_int_equal(kg_arms_planted(&arms, &error), KG_OK);
    assert_int_equal(kg_arms_make_rings(&arms, &policy, 3, &error), KG_OK);
    kg_arms_prepared(&arms, prepared);
    assert_true(prepared[KG_ARM_ANCHOR] == NULL && prepared[KG_ARM_BASELINE] == NULL);
    for (int arm = 0; arm < KG_ARMS; arm += KG_ARM_PLANTED) {
        assert_int_equal(prepared[arm]->n_ring, SETS);
        for (int set = 0; set < SETS; set++) {
            assert_int_equal(kg_buffers_digest(&prepared[arm]->ring[set], KG_INPUT, &digest, &error), KG_OK);
            assert_true(digest == fixture.input_digest);
            assert_ptr_equal(prepared[0]->ring[set].tensors[0].data, prepared[arm]->ring[set].tensors[0].data);
        }
    }
}

static void anchor_and_baseline_have_their_own(void **state)
{
    (void)state;
    kg_error error = { 0 };
    const struct kg_policy policy = { .sets = 3 };
    set_arms(&fast);
    assert_int_equal(kg_arms_case(&arms, &error), KG_OK);
    assert_int_equal(kg_arms_anchor(&arms, &error), KG_OK);
    assert_int_equal(kg_arms_baseline(&arms, &error), KG_OK);
    assert_int_equal(kg_arms_make_rings(&arms, &policy, 3, &error), KG_OK);
    for (int set = 0; set < 3; set++)
        for (int arm = KG_ARM_BASELINE; arm <= KG_ARM_ANCHOR; arm++)
            assert_ptr_not_equal(arms.prepared[KG_ARM_CASE].ring[set].tensors[0].data,
                                 arms.prepared[arm].ring[set].tensors[0].data);
}

/* An anchor that is another case has inputs of its own, and as many sets. */
static void another_case_has_its_own_inputs(void **state)
{
    static const struct problem other_rows[] = { { "long", 3000 } };
    static const kg_backend *const backends[] = { &plain };
    static const kg_suite other = {
        .name = "other", .op = &op, .shapes = KG_TABLE(other_rows), .backends = KG_LIST(backends)
    };
    static const kg_suite without = { .name = "main", .op = &op, .anchor_case = "other/long/plain" };
    static const kg_suite *const suites[] = { &without, &other };
    static const struct kg_module module = { KG_MODULE_SIZES, .name = "copies", .suites = suites, .n_suites = 2 };
    (void)state;
    kg_error error = { 0 };
    const struct kg_policy policy = { .sets = 3 };
    set_arms(&plain);
    one.of.suite = &without;
    build.root = &module;
    assert_int_equal(kg_arms_case(&arms, &error), KG_OK);
    assert_int_equal(kg_arms_anchor(&arms, &error), KG_OK);
    const struct kg_prepared *its = &arms.prepared[KG_ARM_ANCHOR];
    assert_int_equal(kg_arms_make_rings(&arms, &policy, 3, &error), KG_OK);
    assert_int_equal(its->n_ring, arms.prepared[KG_ARM_CASE].n_ring);
    assert_int_equal(kg_arms_launch(&arms, KG_ARM_ANCHOR, &error), KG_OK);
    assert_int_equal(its->ring[0].tensors[1].dims[0], 3000);
    assert_memory_equal(its->ring[0].tensors[1].data, arms.beside.buffers.tensors[0].data, 3000 * sizeof(float));
    assert_int_equal(arms.prepared[KG_ARM_CASE].ring[0].tensors[1].dims[0], 1000);
    kg_arms_drop(&arms, KG_ARM_ANCHOR);
    assert_true(!arms.beside_problem && !arms.beside.context);
    build.root = NULL;
}

/* What the device hands out, in order. */
static const void *handed_out[128];
static int n_handed_out;
static const struct kg_device_ops *usual;

static int allocate(kg_context *its, size_t bytes, void **ret_data, kg_error *ret_error)
{
    int status = usual->allocate(its, bytes, ret_data, ret_error);
    handed_out[n_handed_out++] = *ret_data;
    return status;
}

/* Half of the sets the case first, the other half the anchor, in another order by every seed. */
static void who_is_first_is_drawn_for_each_set(void **state)
{
    (void)state;
    enum { SETS = 16, SEEDS = 20, A_SET = 2 * 2 };
    const struct kg_policy policy = { .sets = SETS };
    struct kg_device_ops watched = *context->ops;
    kg_error error = { 0 };
    int same = 0;
    bool first[SETS], before[SETS] = { false };
    usual = context->ops;
    watched.allocate = allocate;
    context->ops = &watched;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        int n_first = 0;
        set_arms(&fast);
        assert_int_equal(kg_arms_case(&arms, &error), KG_OK);
        assert_int_equal(kg_arms_anchor(&arms, &error), KG_OK);
        n_handed_out = 0;
        assert_int_equal(kg_arms_make_rings(&arms, &policy, seed, &error), KG_OK);
        assert_int_equal(n_handed_out, SETS * A_SET);
        for (int set = 0; set < SETS; set++) {
            const struct kg_prepared *its = &arms.prepared[KG_ARM_CASE], *other = &arms.prepared[KG_ARM_ANCHOR];
            first[set] = its->ring[set].blocks[0] == handed_out[set * A_SET];
            assert_true(first[set] || other->ring[set].blocks[0] == handed_out[set * A_SET]);
            n_first += first[set];
        }
        assert_int_equal(n_first, SETS / 2);
        same += !memcmp(first, before, sizeof first);
        memcpy(before, first, sizeof first);
        kg_arms_done(&arms);
        kg_fixture_done(&fixture);
    }
    assert_true(same <= 1);
    context->ops = usual;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_all, close_all)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(each_arm_has_its_backend_and_pin),
        TEST(an_anchor_is_not_its_own),
        TEST(automatic_resolves),
        TEST(the_planted_case_has_the_cases_sets),
        TEST(anchor_and_baseline_have_their_own),
        TEST(another_case_has_its_own_inputs),
        TEST(who_is_first_is_drawn_for_each_set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
