/* test_instances.c -- images of one module, and lanes that are measured with an instance of each. The module is
 * counting.c's, the device a CPU that calls itself a GPU and says what a launch puts on it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "counting.h"
#include "lineup.h"
#include "module_copy.h"
#include "scratch.h"

enum { SETS = 8 };

static const char *module_path;
static char folder[SCRATCH_SIZE];
static struct kg_loaded module, baseline; /* a fresh copy each, so that all counts begin at 0 */

/* ---- the device ---------------------------------------------------------------------------------------------- */

static struct kg_device_ops device_ops;
static struct kg_subject *renamed; /* its launches run another kernel on set 2 */
static int n_kernels;

static int inspect(kg_context *context, kg_launch_fn *launch, void *argument, struct kg_launch_info *ret_info,
                   kg_error *ret_error)
{
    struct kg_subject *subject = argument;
    struct kg_launch_info info = { .kernels = n_kernels, .n_names = 1 };
    (void)context;
    snprintf(info.names[0], sizeof info.names[0], "%s", renamed == subject && subject->place == 2 ? "other" : "usual");
    *ret_info = info;
    return launch(argument, 0, NULL, ret_error);
}

/* ---- lanes --------------------------------------------------------------------------------------------------- */

static kg_context *context;
static struct kg_host_state host;
static struct kg_fixture fixture;
static struct kg_job_case one;
static struct kg_lineup lineup;
static const struct kg_timing timing = { .timer = KG_TIMER_GRAPH, .l2 = KG_L2_WARM, .placements = SETS };
static const void *prepared[64]; /* whose image, in order */
static int n_prepared;

KG_PRINTF(2, 3)
static void note(const kg_host *its, const char *format, ...)
{
    va_list arguments;
    (void)its, (void)format;
    va_start(arguments, format);
    prepared[n_prepared++] = va_arg(arguments, void *);
    va_end(arguments);
}

static void open_copy(const char *name, struct kg_loaded *ret_loaded)
{
    char path[2 * SCRATCH_SIZE];
    kg_error error = { 0 };
    snprintf(path, sizeof path, "%s/%s.so", folder, name);
    assert_int_equal(kg_module_copy(module_path, path, &error), KG_OK);
    assert_int_equal(kg_module_open(path, ret_loaded, &error), KG_OK);
}

static struct counts *counts_of(struct kg_loaded *its, int n)
{
    const struct kg_module *root = NULL;
    kg_error error = { 0 };
    if (kg_module_image(its, n, &root, &error))
        fail_msg("no image: %s", error.text);
    return (struct counts *)kg_suite_backend(root->suites[0], "counting")->data;
}

static struct kg_case case_of(const struct kg_loaded *its, const char *backend)
{
    const kg_suite *suite = its->root->suites[0];
    return (struct kg_case){ .suite = suite,
                             .backend = kg_suite_backend(suite, backend),
                             .problem = suite->shapes.rows,
                             .shape = "row",
                             .seed = 1,
                             .kind = KG_CUDA };
}

/* Case, baseline and planted case, with rings; the candidate is `auto`. */
static void line_up(int placements)
{
    kg_error error = { 0 };
    struct kg_timing its = timing;
    its.placements = placements;
    one = (struct kg_job_case){ .of = case_of(&baseline, "counting"), .candidate = case_of(&module, "auto") };
    assert_int_equal(kg_fixture_new(context, &one.of, &fixture, &error), KG_OK);
    lineup =
        (struct kg_lineup){ .host = &host, .fixture = &fixture, .one = &one, .module = &module, .baseline = &baseline };
    assert_int_equal(kg_lineup_case(&lineup, &error), KG_OK);
    assert_int_equal(kg_lineup_baseline(&lineup, &error), KG_OK);
    assert_int_equal(kg_lineup_planted(&lineup, &error), KG_OK);
    assert_int_equal(kg_lineup_make_rings(&lineup, &its, 1, &error), KG_OK);
    n_prepared = 0;
}

static void take_down(void)
{
    kg_lineup_done(&lineup);
    kg_fixture_done(&fixture);
}

static int add_instances(const struct kg_timing *its, uint64_t seed, int *ret_lane, kg_error *ret_error)
{
    *ret_lane = -1;
    return kg_lineup_add_instances(&lineup, its, seed, ret_lane, ret_error);
}

static int open_all(void **state)
{
    kg_error error = { 0 };
    (void)state;
    scratch_new(folder);
    open_copy("module", &module);
    open_copy("baseline", &baseline);
    kg_host_init(&host);
    host.host.log = note;
    if (kg_device_open(KG_CPU, 0, &context, &error))
        return -1;
    device_ops = *context->ops;
    device_ops.inspect = inspect;
    context->ops = &device_ops;
    context->device.kind = KG_CUDA;
    renamed = NULL;
    n_kernels = 2;
    return 0;
}

static int close_all(void **state)
{
    (void)state;
    take_down();
    kg_host_done(&host);
    context->ops->close(context);
    scratch_free(folder);
    return 0;
}

/* ---- images -------------------------------------------------------------------------------------------------- */

static void images_are_distinct(void **state)
{
    (void)state;
    const struct kg_module *roots[KG_INSTANCES], *again = NULL;
    kg_error error = { 0 };
    for (int n = 0; n < KG_INSTANCES; n++) {
        assert_int_equal(kg_module_image(&module, n, &roots[n], &error), KG_OK);
        assert_int_equal(kg_module_image(&module, n, &again, &error), KG_OK);
        assert_ptr_equal(again, roots[n]);
        assert_string_equal(roots[n]->name, "counting");
        for (int other = 0; other < n; other++) {
            assert_ptr_not_equal(roots[n], roots[other]);
            assert_ptr_not_equal(counts_of(&module, n), counts_of(&module, other));
        }
        assert_int_equal(counts_of(&module, n)->launched, 0); /* not what the one before counted */
        counts_of(&module, n)->launched = 100 + n;
    }
    assert_ptr_equal(roots[0], module.root);
    assert_int_equal(counts_of(&module, 0)->launched, 100);
}

static void a_file_that_is_gone_has_no_further_image(void **state)
{
    (void)state;
    const struct kg_module *root = NULL;
    kg_error error = { 0 };
    assert_int_equal(unlink(module.path), 0);
    assert_int_equal(kg_module_image(&module, 1, &root, &error), KG_EIO);
    assert_non_null(strstr(error.text, "no further image of "));
    assert_non_null(strstr(error.text, "No such file"));
    scratch_write(folder, "module.so", "no longer a module");
    assert_int_equal(kg_module_image(&module, 1, &root, &error), KG_EIO);
    assert_non_null(strstr(error.text, "not a module"));
    assert_null(root);
    assert_int_equal(kg_module_image(&module, 0, &root, &error), KG_OK);
}

/* ---- how many ------------------------------------------------------------------------------------------------ */

static void several_nodes_want_several(void **state)
{
    (void)state;
    const struct kg_launch_info none = { 0 }, kernel = { .kernels = 1 }, kernels = { .kernels = 3 },
                                cleared = { .kernels = 1, .memory_nodes = 1 },
                                other = { .kernels = 1, .other_nodes = 1 };
    const struct kg_timing event = { .timer = KG_TIMER_EVENT }, cold = { .l2 = KG_L2_COLD };
    assert_int_equal(kg_instances_of(&none, KG_CUDA, &timing), 1);
    assert_int_equal(kg_instances_of(&kernel, KG_CUDA, &timing), 1);
    assert_int_equal(kg_instances_of(&kernels, KG_CUDA, &timing), KG_INSTANCES);
    assert_int_equal(kg_instances_of(&cleared, KG_CUDA, &timing), KG_INSTANCES);
    assert_int_equal(kg_instances_of(&other, KG_CUDA, &timing), KG_INSTANCES);
    assert_int_equal(kg_instances_of(&kernels, KG_CPU, &timing), 1);
    assert_int_equal(kg_instances_of(&kernels, KG_CUDA, &event), 1);
    assert_int_equal(kg_instances_of(&kernels, KG_CUDA, &cold), 1);
}

static void one_node_opens_nothing(void **state)
{
    (void)state;
    kg_error error = { 0 };
    int lane;
    line_up(SETS);
    n_kernels = 1;
    assert_int_equal(add_instances(&timing, 1, &lane, &error), KG_OK);
    for (int i = 0; i < KG_LANES; i++)
        assert_int_equal(lineup.subjects[i].n_more, 0);
    assert_true(n_prepared == 0 && !module.more[0] && !baseline.more[0]);
}

static void no_more_than_sets(void **state)
{
    (void)state;
    kg_error error = { 0 };
    int lane;
    line_up(2);
    assert_int_equal(add_instances(&timing, 1, &lane, &error), KG_OK);
    assert_int_equal(lineup.subjects[KG_LANE_CASE].n_more, 1);
    assert_true(module.more[0] && !module.more[1]);
}

/* ---- what they are ------------------------------------------------------------------------------------------- */

static void every_set_has_its_instance(void **state)
{
    (void)state;
    kg_error error = { 0 };
    int lane;
    line_up(SETS);
    assert_int_equal(add_instances(&timing, 1, &lane, &error), KG_OK);
    assert_int_equal(n_prepared, 3 * (KG_INSTANCES - 1));
    for (int i = 0; i < KG_LANES; i++)
        assert_int_equal(lineup.subjects[i].n_more, i == KG_LANE_ANCHOR ? 0 : KG_INSTANCES - 1);
    for (int n = 0; n < KG_INSTANCES; n++) {
        struct counts *its = counts_of(&module, n), *other = counts_of(&baseline, n);
        assert_true(its->opened == 1 && its->prepared == 2); /* the case and the planted case share an image */
        assert_true(other->opened == 1 && other->prepared == 1);
        assert_string_equal(its->pin, "chosen"); /* what the first took */
        assert_string_equal(other->pin, n ? "chosen" : "");
    }
    for (int set = 0; set < SETS; set++) {
        struct kg_subject *subject = &lineup.subjects[KG_LANE_CASE];
        const float *y = subject->ring[set].tensors[1].data;
        int before[KG_INSTANCES];
        for (int n = 0; n < KG_INSTANCES; n++)
            before[n] = counts_of(&module, n)->launched;
        assert_true(isnan(y[0])); /* nothing is left of the launch that showed what it runs */
        subject->place = (unsigned)set;
        assert_int_equal(kg_subject_launch(subject, 0, NULL, &error), KG_OK);
        for (int n = 0; n < KG_INSTANCES; n++)
            assert_int_equal(counts_of(&module, n)->launched - before[n], n == set % KG_INSTANCES);
        assert_int_equal(subject->n_used, set + 1 > KG_INSTANCES ? set + 1 : KG_INSTANCES);
        assert_true(y[0] == 1);
        assert_int_equal(kg_buffers_check_guards(&subject->ring[set], &error), KG_OK);
        assert_int_equal(kg_subject_check_workspace(subject, set, &error), KG_OK);
    }
}

static void all_are_released_then_closed(void **state)
{
    (void)state;
    kg_error error = { 0 };
    int lane;
    for (int round = 1; round <= 2; round++) {
        line_up(SETS);
        assert_int_equal(add_instances(&timing, 1, &lane, &error), KG_OK);
        take_down();
        for (int n = 0; n < KG_INSTANCES; n++) {
            assert_int_equal(counts_of(&module, n)->prepared, 2 * round);
            assert_int_equal(counts_of(&module, n)->released, 2 * round);
            assert_int_equal(counts_of(&baseline, n)->released, round);
            assert_true(counts_of(&module, n)->opened == 1 && counts_of(&module, n)->closed == 0); /* once a worker */
        }
    }
    kg_host_done(&host);
    for (int n = 0; n < KG_INSTANCES; n++)
        assert_true(counts_of(&module, n)->closed == 1 && counts_of(&baseline, n)->closed == 1);
}

/* Which build is first at each image is drawn, and drawn again by another seed. */
static void the_order_is_drawn(void **state)
{
    (void)state;
    enum { SEEDS = 24 };
    kg_error error = { 0 };
    int lane, first[KG_INSTANCES] = { 0 };
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        line_up(SETS);
        kg_lineup_drop(&lineup, KG_LANE_PLANTED);
        assert_int_equal(add_instances(&timing, seed, &lane, &error), KG_OK);
        assert_int_equal(n_prepared, 2 * (KG_INSTANCES - 1));
        for (int n = 1; n < KG_INSTANCES; n++) {
            const void *its = counts_of(&module, n), *other = counts_of(&baseline, n);
            const void *const *pair = &prepared[2 * (n - 1)];
            assert_true((pair[0] == its && pair[1] == other) || (pair[0] == other && pair[1] == its));
            first[n] += pair[0] == its;
        }
        take_down();
    }
    for (int n = 1; n < KG_INSTANCES; n++)
        assert_true(first[n] > SEEDS / 8 && first[n] < SEEDS * 7 / 8);
}

/* ---- what goes wrong ----------------------------------------------------------------------------------------- */

/* Whose it is, and not a skip: the first one ran. */
static void failures_name_the_lane(void **state)
{
    (void)state;
    kg_error error = { 0 };
    int lane;
    line_up(SETS);
    counts_of(&baseline, 2)->refuses = true;
    assert_int_equal(add_instances(&timing, 1, &lane, &error), KG_EINVAL);
    assert_string_equal(error.text, "in image 3 of 4: not here");
    assert_int_equal(lane, KG_LANE_BASELINE);
    take_down();
    counts_of(&baseline, 2)->refuses = false;
    line_up(SETS);
    counts_of(&module, 1)->differs = true;
    assert_int_equal(add_instances(&timing, 1, &lane, &error), KG_EINVAL);
    assert_string_equal(error.text,
                        "in image 2 of 4: prepared once more it is another: counting otherwise, not counting");
    assert_true(lane == KG_LANE_CASE || lane == KG_LANE_PLANTED);
    take_down();
    assert_int_equal(counts_of(&module, 1)->released, counts_of(&module, 1)->prepared);
    counts_of(&module, 1)->differs = false;
    line_up(SETS);
    renamed = &lineup.subjects[KG_LANE_BASELINE];
    assert_int_equal(add_instances(&timing, 1, &lane, &error), KG_EINVAL);
    assert_string_equal(error.text, "image 3 of 4 runs other code: counting; other, not counting; usual");
    assert_int_equal(lane, KG_LANE_BASELINE);
}

static void no_image_no_time(void **state)
{
    (void)state;
    kg_error error = { 0 };
    int lane;
    line_up(SETS);
    assert_int_equal(unlink(baseline.path), 0);
    assert_int_equal(add_instances(&timing, 1, &lane, &error), KG_EIO);
    assert_int_equal(lane, KG_LANE_BASELINE);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_all, close_all)

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        TEST(images_are_distinct),
        TEST(a_file_that_is_gone_has_no_further_image),
        TEST(several_nodes_want_several),
        TEST(one_node_opens_nothing),
        TEST(no_more_than_sets),
        TEST(every_set_has_its_instance),
        TEST(all_are_released_then_closed),
        TEST(the_order_is_drawn),
        TEST(failures_name_the_lane),
        TEST(no_image_no_time),
    };
    if (count != 2)
        return 2;
    module_path = arguments[1];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
