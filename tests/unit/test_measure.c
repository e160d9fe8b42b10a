/* test_measure.c -- timing blocks over a device of the test's own, whose windows last as long as the test says.
 * Every window that ran stands in `ran`, in order: what a block claims is held against that. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "measure.h"
#include "window.h"

#define near(value, wanted) (fabs((value) - (wanted)) <= 1e-9 * fabs(wanted))

/* ---- the device -------------------------------------------------------------------------------------------- */

enum { MAX_RAN = 20000, MAX_SETS = 40 };

/* A subject's launch costs cost_us, and more on the sets that `slow_set` names; times drift by drift_us a window. */
struct fake_kernel {
    double cost_us, slow_us;
    int slow_set; /* -1: none */
    int n_launched;
    int first_set, last_set; /* of the window that is running */
    bool whole_walk;         /* the sets followed one another */
};

struct ran {
    const struct fake_kernel *kernel;
    double us;
    int calls, first_set, last_set;
    bool whole_walk;
};

static struct {
    kg_context base;
    struct ran ran[MAX_RAN];
    int n_ran, n_windows, n_states, ran_at_state[2];
    double tick_us, launch_us, drift_us, wobble;
    int fail_after; /* calls of window_new and measure that succeed; negative: all */
} fake;

static int fails(kg_error *ret_error)
{
    if (fake.fail_after == 0)
        return kg_fail(ret_error, KG_EDEVICE, "as the test wants");
    fake.fail_after -= fake.fail_after > 0;
    return KG_OK;
}

static struct fake_kernel *running; /* whose launch was called last */
static double running_us;

static struct ran run_calls(kg_window *window)
{
    running = NULL;
    running_us = 0;
    for (int i = 0; i < window->calls; i++)
        assert_int_equal(window->launch(window->argument, i, NULL, NULL), KG_OK);
    assert_non_null(running);
    struct ran ran = { running, running_us, window->calls, running->first_set, running->last_set, running->whole_walk };
    running->n_launched = 0;
    return ran;
}

static int window_new(kg_context *context, kg_launch_fn *launch, void *argument, int calls, bool graph,
                      kg_window **ret_window, kg_error *ret_error)
{
    assert_true(context == &fake.base && calls >= 1);
    if (fails(ret_error))
        return KG_EDEVICE;
    kg_window *window = calloc(1, sizeof *window);
    *window = (kg_window){ .launch = launch, .argument = argument, .calls = calls };
    if (graph) { /* what a captured window replays */
        struct ran *captured = calloc(1, sizeof *captured);
        *captured = run_calls(window);
        window->replay = captured;
    }
    fake.n_windows++;
    *ret_window = window;
    return KG_OK;
}

static void window_free(kg_context *context, kg_window *window)
{
    (void)context;
    if (!window)
        return;
    free(window->replay);
    free(window);
    fake.n_windows--;
}

static int measure(kg_context *context, kg_window *const *order, int count, double *ret_us, kg_error *ret_error)
{
    assert_true(context == &fake.base && count >= 1 && count <= KG_MAX_BATCH);
    if (fails(ret_error))
        return KG_EDEVICE;
    for (int i = 0; i < count; i++) {
        assert_true(fake.n_ran < MAX_RAN);
        struct ran ran = order[i]->replay ? *(struct ran *)order[i]->replay : run_calls(order[i]);
        if (!order[i]->replay)
            ran.us += order[i]->calls * fake.launch_us;
        ran.us += fake.drift_us * fake.n_ran;
        ran.us *= fake.n_ran / 64 % 2 ? 1 + fake.wobble : 1;
        ret_us[i] = ran.us;
        fake.ran[fake.n_ran++] = ran;
    }
    return KG_OK;
}

static double timer_tick_us(kg_context *context)
{
    (void)context;
    return fake.tick_us;
}

static void device_state(kg_context *context, struct kg_device_state *ret_state)
{
    (void)context;
    assert_true(fake.n_states < 2);
    fake.ran_at_state[fake.n_states++] = fake.n_ran;
    *ret_state = (struct kg_device_state){ .sm_clock_mhz = fake.n_states };
}

static const struct kg_device_ops fake_ops = { .window_new = window_new,
                                               .window_free = window_free,
                                               .measure = measure,
                                               .timer_tick_us = timer_tick_us,
                                               .state = device_state };

/* ---- subjects ---------------------------------------------------------------------------------------------- */

static int launch(const kg_backend *self, void *state, const kg_tensor *tensors, void *stream, kg_error *ret_error)
{
    struct fake_kernel *kernel = state;
    int set = (int)tensors[0].dims[0];
    (void)self, (void)stream, (void)ret_error;
    if (kernel->n_launched++ == 0) {
        kernel->first_set = set;
        kernel->whole_walk = true;
    } else if (set != kernel->last_set + 1 && !(set == 0 && kernel->last_set > 0)) {
        kernel->whole_walk = false;
    }
    kernel->last_set = set;
    running = kernel;
    running_us += kernel->cost_us + (set == kernel->slow_set ? kernel->slow_us : 0);
    return KG_OK;
}

static const kg_backend backend = { .name = "fake", .launch = launch };
static struct kg_buffers sets[MAX_SETS];
static struct fake_kernel kernel, anchor_kernel;
static struct kg_subject subject, anchor;
static struct kg_timing timing;

static struct kg_subject subject_of(struct fake_kernel *its_kernel, int n_sets, bool rotates)
{
    return (struct kg_subject){
        .backend = &backend, .state = its_kernel, .ring = sets, .n_ring = n_sets, .rotates = rotates
    };
}

/* On a CPU: a call of the case takes 3 us, of its anchor 5. */
static int device_new(void **state)
{
    (void)state;
    memset(&fake, 0, sizeof fake);
    fake.base = (kg_context){ .ops = &fake_ops, .device = { .kind = KG_CPU } };
    fake.tick_us = 0.01;
    fake.fail_after = -1;
    for (int i = 0; i < MAX_SETS; i++)
        sets[i].tensors[0].dims[0] = i;
    kernel = (struct fake_kernel){ .cost_us = 3, .slow_set = -1 };
    anchor_kernel = (struct fake_kernel){ .cost_us = 5, .slow_set = -1 };
    subject = subject_of(&kernel, 4, false);
    anchor = subject_of(&anchor_kernel, 4, false);
    timing = (struct kg_timing){ .timer = KG_TIMER_GRAPH, .window_us = 200, .block_us = 20e3, .threshold_pct = 2 };
    return 0;
}

static struct kg_block measured(struct kg_subject *beside)
{
    struct kg_block block = { 0 };
    kg_error error = { 0 };
    if (kg_measure_block(&fake.base, &subject, beside, &timing, 11, &block, &error))
        fail_msg("not measured: %s", error.text);
    assert_int_equal(fake.n_windows, 0);
    assert_int_equal(fake.n_states, 2);
    assert_true(block.before.sm_clock_mhz == 1 && block.after.sm_clock_mhz == 2);
    return block;
}

static void block_free(struct kg_block *block)
{
    free(block->samples_us);
    free(block->anchor_samples_us);
}

/* Every sample is one window's time, by pair, the case's of the case and the anchor's of the anchor. Gives in how many
 * pairs the anchor was first. */
static int check_pairs(const struct kg_block *block)
{
    int anchor_first = 0, n = (int)block->n_samples, first = fake.n_ran - 2 * n;
    assert_int_equal(block->n_anchor_samples, n);
    assert_true(fake.ran_at_state[0] == first && fake.ran_at_state[1] == fake.n_ran);
    for (int i = 0; i < n; i++) {
        const struct ran *a = &fake.ran[first + 2 * i], *b = a + 1;
        bool swapped = a->kernel == &anchor_kernel;
        const struct ran *its = swapped ? b : a, *other = swapped ? a : b;
        assert_true(its->kernel == &kernel && other->kernel == &anchor_kernel);
        assert_true(near(block->samples_us[i], its->us / its->calls));
        assert_true(near(block->anchor_samples_us[i], other->us / other->calls));
        assert_int_equal(its->calls, block->calls);
        anchor_first += swapped;
    }
    return anchor_first;
}

/* ---- pairs ------------------------------------------------------------------------------------------------- */

/* 67 calls of 3 us fill 200 us, 40 of 5 us: a pair takes 401, so 49 fit into 20 ms, and 48 take four sets in turns. */
static void a_pair_is_a_case_and_its_anchor(void **state)
{
    (void)state;
    fake.drift_us = 1e-4; /* makes every window's time another */
    struct kg_block block = measured(&anchor);
    assert_int_equal(block.calls, 67);
    assert_int_equal(block.n_samples, 48);
    assert_int_equal(check_pairs(&block), 24);
    assert_int_equal(fake.ran[fake.n_ran - 1].calls + fake.ran[fake.n_ran - 2].calls, 67 + 40);
    assert_true(fabs(block.p50_us - 3) < 0.01 && fabs(block.anchor_p50_us - 5) < 0.01);
    assert_true(fabs(block.log_ratio - log(3.0 / 5.0)) < 1e-3);
    block_free(&block);
}

static void windows_take_turns_on_the_sets(void **state)
{
    (void)state;
    kernel.slow_set = anchor_kernel.slow_set = 2;
    kernel.slow_us = 3;
    anchor_kernel.slow_us = 20;
    struct kg_block block = measured(&anchor);
    int first = fake.n_ran - 2 * (int)block.n_samples;
    for (int i = 0; i < 2 * (int)block.n_samples; i++) {
        assert_int_equal(fake.ran[first + i].first_set, i / 2 % 4);
        assert_int_equal(fake.ran[first + i].last_set, i / 2 % 4); /* a window stays on its set */
    }
    /* Means over the sets of their medians: three at 3 and one at 6, three at 5 and one at 25. */
    assert_true(near(block.p50_us, 3.75) && near(block.anchor_p50_us, 10.0));
    assert_true(near(block.log_ratio, (3 * log(3.0 / 5.0) + log(6.0 / 25.0)) / 4));
    block_free(&block);
}

static void without_an_anchor(void **state)
{
    (void)state;
    struct kg_block block = measured(NULL);
    assert_int_equal(block.n_samples, 96); /* 99 windows of 201 us fit */
    assert_true(block.n_anchor_samples == 0 && block.anchor_samples_us == NULL);
    assert_true(block.anchor_p50_us == 0 && block.log_ratio == 0);
    assert_true(near(block.p50_us, 3.0));
    for (size_t i = 0; i < block.n_samples; i++)
        assert_true(near(block.samples_us[i], 3.0));
    block_free(&block);
}

static void the_seed_makes_the_order(void **state)
{
    bool first[2][48];
    (void)state;
    for (int i = 0; i < 3; i++) {
        (void)device_new(NULL);
        struct kg_block block = { 0 };
        assert_int_equal(kg_measure_block(&fake.base, &subject, &anchor, &timing, i < 2 ? 11 : 12, &block, NULL),
                         KG_OK);
        for (int pair = 0; pair < 48; pair++)
            first[i > 0][pair] = fake.ran[fake.n_ran - 96 + 2 * pair].kernel == &anchor_kernel;
        block_free(&block);
        if (i == 1)
            assert_memory_equal(first[0], first[1], sizeof first[0]);
        if (i == 2)
            assert_memory_not_equal(first[0], first[1], sizeof first[0]);
    }
}

/* ---- windows ----------------------------------------------------------------------------------------------- */

/* A launch by itself takes 10 us more than a node of a graph: the window, not the call, says when it is full. */
static void calls_fill_the_window(void **state)
{
    (void)state;
    fake.base.device.kind = KG_CUDA;
    fake.launch_us = 10;
    struct kg_block block = measured(&anchor);
    assert_true(block.calls * 3 >= 200 && block.calls * 3 <= 260);
    const struct ran *last = &fake.ran[fake.n_ran - 1];
    for (int i = 0; i < 2; i++) /* one is the anchor's */
        assert_true(last[-i].us >= 200 && last[-i].us <= 260);
    assert_true(near(block.p50_us, 3.0) && near(block.anchor_p50_us, 5.0));
    assert_int_equal(check_pairs(&block), block.n_samples / 2);
    block_free(&block);
}

/* A tenth of the threshold holds a tick: 1 us by 2 per cent wants 500 us. A tick that is worse still is met half way.
 */
static void a_coarse_timer_widens_the_window(void **state)
{
    (void)state;
    fake.tick_us = 1;
    struct kg_block block = measured(&anchor);
    assert_int_equal(block.calls, 167);
    block_free(&block);
    (void)device_new(NULL);
    fake.tick_us = 1e6;
    kernel.cost_us = anchor_kernel.cost_us = 30;
    block = measured(NULL);
    assert_int_equal(block.calls, 667); /* a hundred windows */
    block_free(&block);
}

static void kernels_too_fast_and_too_slow(void **state)
{
    (void)state;
    fake.base.device.kind = KG_CUDA; /* captured, so that not every call of every window is made */
    kernel.cost_us = 1e-4;
    struct kg_block block = measured(NULL);
    assert_int_equal(block.calls, 20000);
    assert_int_equal(block.n_samples, 512);
    block_free(&block);
    (void)device_new(NULL);
    kernel.cost_us = 1e5;
    block = measured(&anchor);
    assert_int_equal(block.calls, 1);
    assert_int_equal(block.n_samples, 8);
    assert_int_equal(check_pairs(&block), 4);
    block_free(&block);
    (void)device_new(NULL); /* every set is seen, however slow */
    subject = subject_of(&kernel, 32, false);
    kernel.cost_us = 1e5;
    block = measured(NULL);
    assert_int_equal(block.n_samples, 32);
    block_free(&block);
}

/* 67 calls would leave a ring of 7 in the middle: 70 walk it ten times, and every window starts at the first set. */
static void cold_rings_are_walked_whole(void **state)
{
    (void)state;
    for (int captured = 0; captured < 2; captured++) {
        (void)device_new(NULL);
        fake.base.device.kind = captured ? KG_CUDA : KG_CPU;
        subject = subject_of(&kernel, 7, true);
        anchor = subject_of(&anchor_kernel, 3, true);
        struct kg_block block = measured(&anchor);
        assert_int_equal(block.calls, 70);
        assert_int_equal(check_pairs(&block), block.n_samples / 2);
        for (int i = fake.n_ran - 2 * (int)block.n_samples; i < fake.n_ran; i++) {
            const struct ran *ran = &fake.ran[i];
            assert_true(ran->whole_walk && ran->first_set == 0);
            assert_int_equal(ran->calls, ran->kernel == &kernel ? 70 : 42);
            assert_int_equal(ran->last_set, ran->kernel == &kernel ? 6 : 2);
        }
        block_free(&block);
    }
}

/* ---- warming up -------------------------------------------------------------------------------------------- */

static double warm_up_us(const struct kg_block *block)
{
    double us = 0;
    for (int i = 0; i < fake.n_ran - 2 * (int)block->n_samples; i++)
        us += fake.ran[i].us;
    return us;
}

static void warms_up_until_it_stands_still(void **state)
{
    (void)state;
    timing.window_us = 50; /* three batches take 5 ms */
    struct kg_block block = measured(&anchor);
    assert_true(warm_up_us(&block) > 20e3 && warm_up_us(&block) < 25e3); /* still from the start: 20 ms suffice */
    block_free(&block);
    (void)device_new(NULL);
    fake.wobble = 0.05; /* never still */
    block = measured(&anchor);
    assert_true(warm_up_us(&block) > 400e3 && warm_up_us(&block) < 425e3);
    block_free(&block);
}

/* ---- single calls ------------------------------------------------------------------------------------------ */

static void events_time_single_calls(void **state)
{
    (void)state;
    timing.timer = KG_TIMER_EVENT;
    timing.warmup = 100;
    timing.samples = 131;
    fake.drift_us = 0.01;
    subject = subject_of(&kernel, 5, true);
    struct kg_block block = measured(&anchor); /* which is not used */
    assert_int_equal(fake.n_ran, 231);
    assert_int_equal(block.calls, 1);
    assert_int_equal(block.n_samples, 131);
    assert_true(block.n_anchor_samples == 0 && block.anchor_p50_us == 0);
    assert_true(fake.ran_at_state[0] == 100 && fake.ran_at_state[1] == 231);
    for (int i = 0; i < 231; i++) {
        assert_true(fake.ran[i].kernel == &kernel && fake.ran[i].calls == 1);
        assert_int_equal(fake.ran[i].first_set, i % 5); /* cold: every call on the next set */
        assert_true(i < 100 || near(block.samples_us[i - 100], 3 + 0.01 * i));
    }
    assert_true(near(block.p50_us, 3 + 0.01 * 165));
    block_free(&block);
}

/* ---- failures ---------------------------------------------------------------------------------------------- */

/* Whatever call of the device fails: the block is not touched, and no window is left. */
static void every_failure_is_clean(void **state)
{
    (void)state;
    for (int event = 0; event < 2; event++) {
        int status = KG_EDEVICE, failures = -1;
        for (int after = 0; status != KG_OK; after++, failures++) {
            struct kg_block block = { .round = 77 };
            kg_error error = { 0 };
            (void)device_new(NULL);
            fake.fail_after = after;
            timing.timer = event ? KG_TIMER_EVENT : KG_TIMER_GRAPH;
            timing.samples = timing.warmup = 200;
            status = kg_measure_block(&fake.base, &subject, &anchor, &timing, 1, &block, &error);
            assert_int_equal(fake.n_windows, 0);
            if (status == KG_OK) {
                block_free(&block);
                continue;
            }
            assert_int_equal(status, KG_EDEVICE);
            assert_string_equal(error.text, "as the test wants");
            assert_true(block.round == 77 && block.samples_us == NULL && block.n_samples == 0);
        }
        assert_true(failures >= 8); /* windows, warm-up and samples have all failed once */
    }
}

/* ---- pure parts -------------------------------------------------------------------------------------------- */

static int count_true(const bool *flags, int count)
{
    int n = 0;
    for (int i = 0; i < count; i++)
        n += flags[i];
    return n;
}

static void orders_are_balanced(void **state)
{
    bool flags[71], again[71];
    (void)state;
    for (int count = 0; count <= 70; count++) {
        int more = 0;
        for (uint64_t seed = 0; seed < 64; seed++) {
            memset(flags, 2, sizeof flags);
            kg_balanced_order(seed, flags, count);
            kg_balanced_order(seed, again, count);
            assert_memory_equal(flags, again, (size_t)count);
            int n = count_true(flags, count);
            assert_true(n == count / 2 || n == (count + 1) / 2);
            more += n > count / 2;
        }
        assert_true(count % 2 ? more > 8 && more < 56 : more == 0); /* the odd one falls both ways */
    }
}

/* Each place is first about as often as not (4 standard errors), and seeds differ. */
static void orders_are_shuffled(void **state)
{
    enum { COUNT = 16, SEEDS = 4000 };
    int first[COUNT] = { 0 }, same = 0;
    bool flags[COUNT], before[COUNT] = { false };
    (void)state;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        kg_balanced_order(seed, flags, COUNT);
        for (int i = 0; i < COUNT; i++)
            first[i] += flags[i];
        same += !memcmp(flags, before, sizeof flags);
        memcpy(before, flags, sizeof flags);
    }
    for (int i = 0; i < COUNT; i++)
        assert_true(fabs(first[i] - SEEDS / 2.0) < 4 * sqrt(SEEDS / 4.0));
    assert_true(same < 5);
}

static void means_of_medians_by_hand(void **state)
{
    (void)state;
    const double values[] = { 1, 10, 2, 40, 30, 20 };
    assert_true(near(kg_mean_of_medians(values, 6, 1), 15.0)); /* 1 2 10 20 30 40 */
    assert_true(near(kg_mean_of_medians(values, 6, 2), 11.0)); /* 1 2 30 and 10 40 20 */
    assert_true(near(kg_mean_of_medians(values, 5, 2), 13.5)); /* 1 2 30 and 10 40 */
    assert_true(near(kg_mean_of_medians(values, 6, 3), (20.5 + 20 + 11) / 3));
    assert_true(near(kg_mean_of_medians(values, 6, 6), 103.0 / 6));
    assert_true(near(kg_mean_of_medians(values, 2, 6), 5.5)); /* sets without a value do not count */
    assert_true(isnan(kg_mean_of_medians(values, 0, 6)));
    assert_true(isnan(kg_mean_of_medians(values, 6, 0)));
}

#define TEST(name) cmocka_unit_test_setup(name, device_new)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_pair_is_a_case_and_its_anchor),
        TEST(windows_take_turns_on_the_sets),
        TEST(without_an_anchor),
        TEST(the_seed_makes_the_order),
        TEST(calls_fill_the_window),
        TEST(a_coarse_timer_widens_the_window),
        TEST(kernels_too_fast_and_too_slow),
        TEST(cold_rings_are_walked_whole),
        TEST(warms_up_until_it_stands_still),
        TEST(events_time_single_calls),
        TEST(every_failure_is_clean),
        TEST(orders_are_balanced),
        TEST(orders_are_shuffled),
        TEST(means_of_medians_by_hand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
