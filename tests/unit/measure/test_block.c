/* test_block.c -- timing blocks over a device of the test's own, whose windows last as long as the test says.
 * Every window that ran stands in `ran`, in order: what a block claims is held against that. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "measure/arm.h"
#include "measure/block.h"
#include "measure/order.h"
#include "base/random.h"
#include "device/device_parts.h"

#define near(value, wanted) (fabs((value) - (wanted)) <= 1e-9 * fabs(wanted))

/* ---- the device -------------------------------------------------------------------------------------------- */

enum { MAX_RAN = 20000, MAX_SETS = 40 };

/* A launch costs cost_us, and more on the sets that `slow_set` names; times drift by drift_us a window. */
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
    int n_ran, n_windows, n_states, ran_at_state[2], in_flight_at_state[2];
    double in_flight_us[KG_MAX_IN_FLIGHT][KG_MAX_BATCH];
    int in_flight[KG_MAX_IN_FLIGHT], n_in_flight, most_in_flight,
        n_idle; /* windows of each batch; how often none was left */
    double tick_us, launch_us, drift_us, wobble, scatter;
    double spin_pace; /* us that a spin of one us takes */
    int n_spun;       /* windows made with a spin */
    int hides_spins;  /* windows whose spin does not show, of those that run first */
    int fail_after;   /* calls of window_new, enqueue and collect that succeed; negative: all */
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
    if (window->spin_us > 0)
        running_us += window->spin_us * fake.spin_pace;
    struct ran ran = { running, running_us, window->calls, running->first_set, running->last_set, running->whole_walk };
    running->n_launched = 0;
    return ran;
}

static int window_new(kg_context *context, kg_launch_fn *launch, void *argument, int calls, bool graph, double spin_us,
                      kg_window **ret_window, kg_error *ret_error)
{
    assert_true(context == &fake.base && calls >= 1);
    if (fails(ret_error))
        return KG_EDEVICE;
    kg_window *window = calloc(1, sizeof *window);
    *window = (kg_window){ .launch = launch, .argument = argument, .calls = calls, .spin_us = spin_us };
    fake.n_spun += spin_us >= 0;
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

static int enqueue(kg_context *context, kg_window *const *order, int count, kg_error *ret_error)
{
    assert_true(context == &fake.base && count >= 1 && count <= KG_MAX_BATCH && fake.n_in_flight < KG_MAX_IN_FLIGHT);
    if (fails(ret_error))
        return KG_EDEVICE;
    for (int i = 0; i < count; i++) {
        assert_true(fake.n_ran < MAX_RAN);
        struct ran ran = order[i]->replay ? *(struct ran *)order[i]->replay : run_calls(order[i]);
        if (!order[i]->replay)
            ran.us += order[i]->calls * fake.launch_us;
        if (order[i]->spin_us > 0 && fake.hides_spins > 0) {
            ran.us -= order[i]->spin_us * fake.spin_pace;
            fake.hides_spins--;
        }
        ran.us += fake.drift_us * fake.n_ran;
        ran.us *= fake.n_ran / 64 % 2 ? 1 + fake.wobble : 1;
        ran.us *= 1 + fake.scatter * ((double)(kg_mix64((uint64_t)fake.n_ran) % 2001) / 1000 - 1);
        fake.in_flight_us[fake.n_in_flight][i] = ran.us;
        fake.ran[fake.n_ran++] = ran;
    }
    fake.in_flight[fake.n_in_flight++] = count;
    fake.most_in_flight = fake.n_in_flight > fake.most_in_flight ? fake.n_in_flight : fake.most_in_flight;
    return KG_OK;
}

static int collect(kg_context *context, double *ret_us, kg_error *ret_error)
{
    assert_true(context == &fake.base && fake.n_in_flight > 0);
    if (fails(ret_error))
        return KG_EDEVICE;
    memcpy(ret_us, fake.in_flight_us[0], (size_t)fake.in_flight[0] * sizeof *ret_us);
    memcpy(fake.in_flight_us[0], fake.in_flight_us[1], sizeof fake.in_flight_us[0]);
    fake.in_flight[0] = fake.in_flight[1];
    fake.n_in_flight--;
    fake.n_idle += fake.n_in_flight == 0;
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
    const int at = fake.n_states < 2 ? fake.n_states : 1; /* a block that goes on reads the last one again */
    fake.in_flight_at_state[at] = fake.n_in_flight;
    fake.ran_at_state[at] = fake.n_ran;
    fake.n_states++;
    *ret_state = (struct kg_device_state){ .sm_clock_mhz = fake.n_states };
}

static const struct kg_device_ops fake_ops = { .window_new = window_new,
                                               .window_free = window_free,
                                               .enqueue = enqueue,
                                               .collect = collect,
                                               .timer_tick_us = timer_tick_us,
                                               .state = device_state };

/* ---- prepared ---------------------------------------------------------------------------------------------- */

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
static struct fake_kernel kernel, anchor_kernel, baseline_kernel, planted_kernel;
static struct kg_prepared prepared, anchor, baseline, planted;
static struct kg_policy policy;

static struct kg_prepared prepared_of(struct fake_kernel *its_kernel, int n_sets, bool rotates)
{
    return (struct kg_prepared){ .backend = &backend,
                                 .context = &fake.base,
                                 .state = its_kernel,
                                 .ring = sets,
                                 .n_ring = n_sets,
                                 .rotates = rotates };
}

/* On a CPU: a call of the case takes 3 us, of its anchor 5. */
static int device_new(void **state)
{
    (void)state;
    memset(&fake, 0, sizeof fake);
    fake.base = (kg_context){ .ops = &fake_ops, .device = { .kind = KG_CPU } };
    fake.tick_us = 0.01;
    fake.fail_after = -1;
    fake.spin_pace = 1;
    for (int i = 0; i < MAX_SETS; i++)
        sets[i].tensors[0].dims[0] = i;
    kernel = (struct fake_kernel){ .cost_us = 3, .slow_set = -1 };
    anchor_kernel = (struct fake_kernel){ .cost_us = 5, .slow_set = -1 };
    baseline_kernel = (struct fake_kernel){ .cost_us = 4, .slow_set = -1 };
    planted_kernel = (struct fake_kernel){ .cost_us = 3, .slow_set = -1 };
    prepared = prepared_of(&kernel, 4, false);
    anchor = prepared_of(&anchor_kernel, 4, false);
    baseline = prepared_of(&baseline_kernel, 4, false);
    planted = prepared_of(&planted_kernel, 4, false);
    policy = (struct kg_policy){ .timer = KG_TIMER_GRAPH, .window_us = 200, .arm_us = 10e3, .threshold_pct = 2 };
    return 0;
}

static struct kg_block measured_with(struct kg_prepared *its_baseline, struct kg_prepared *its_anchor,
                                     struct kg_prepared *its_planted, double planted_pct)
{
    struct kg_block block = { 0 };
    kg_error error = { 0 };
    struct kg_prepared *const all[KG_ARMS] = { &prepared, its_baseline, its_anchor, its_planted };
    if (kg_measure_block(&fake.base, all, planted_pct, &policy, 11, NULL, &block, &error))
        fail_msg("not measured: %s", error.text);
    assert_int_equal(fake.n_windows, 0);
    assert_int_equal(fake.n_in_flight, 0);
    assert_true(block.before.sm_clock_mhz == 1 && block.after.sm_clock_mhz == fake.n_states && fake.n_states >= 2);
    assert_true(block.span_us > 0 && block.busy_us > 0); /* not of one clock here */
    return block;
}

static struct kg_block measured(struct kg_prepared *its_anchor)
{
    return measured_with(NULL, its_anchor, NULL, 0);
}

static void block_free(struct kg_block *block)
{
    free(block->samples_us);
    free(block->anchor_samples_us);
    free(block->baseline_samples_us);
}

/* Every sample is one window's time, by pair, the case's of the case and the anchor's of the anchor. Gives in how many
 * pairs the anchor was first. */
static int check_pairs(const struct kg_block *block)
{
    int anchor_first = 0, n = (int)block->n_samples, first = fake.n_ran - 2 * n;
    assert_int_equal(block->n_anchor_samples, n);
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

static int ran_before, interlude_says;

static int call_again(void *argument, struct kg_arm *arm, struct kg_arm *its_baseline, kg_error *ret_error)
{
    assert_null(its_baseline);
    assert_ptr_equal(argument, &ran_before);
    assert_int_equal(fake.n_in_flight, 0);
    assert_ptr_equal(arm->prepared, &prepared);
    ran_before = fake.n_ran;
    if (interlude_says)
        return kg_fail(ret_error, interlude_says, "no more");
    const int windows = fake.n_windows;
    kg_window *single = NULL;
    int status = kg_arm_replay(arm, ret_error);
    if (!status)
        status = kg_arm_single(arm, 2, &single, ret_error);
    for (int i = 0; i < 2 && !status; i++)
        status = kg_arm_run_single(arm, single, false, ret_error);
    kg_arm_free_single(arm, single);
    assert_int_equal(fake.n_windows, windows);
    return status;
}

/* The case's windows once each and set by set, one of the anchor's before each, as in turns; then single calls. The
 * block's figures are of before. */
static void an_interlude_may_replay_the_case(void **state)
{
    (void)state;
    struct kg_prepared *const all[KG_ARMS] = { &prepared, NULL, &anchor, NULL };
    const struct kg_interlude interlude = { call_again, &ran_before };
    struct kg_block block = { 0 };
    kg_error error = { 0 };
    interlude_says = KG_OK;
    assert_int_equal(kg_measure_block(&fake.base, all, 0, &policy, 11, &interlude, &block, &error), KG_OK);
    assert_int_equal(fake.n_ran - ran_before, 10);
    for (int i = 0; i < 10; i++) {
        const struct ran *ran = &fake.ran[ran_before + i];
        const int set = i < 8 ? i / 2 : 2;
        const bool of_case = i >= 8 || i % 2;
        assert_true((ran->kernel == &kernel) == of_case && ran->first_set == set && ran->last_set == set);
        assert_true(!of_case || ran->calls == (i < 8 ? block.calls : 1));
    }
    assert_int_equal(fake.n_windows, 0);
    block_free(&block);

    interlude_says = KG_EDEVICE;
    fake.n_states = 0;
    block = (struct kg_block){ 0 };
    assert_int_equal(kg_measure_block(&fake.base, all, 0, &policy, 11, &interlude, &block, &error), KG_EDEVICE);
    assert_string_equal(error.text, "no more");
    assert_int_equal(fake.n_ran, ran_before);
    assert_int_equal(fake.n_windows, 0);
    assert_null(block.samples_us);
}

static void without_an_anchor(void **state)
{
    (void)state;
    struct kg_block block = measured(NULL);
    assert_int_equal(block.n_samples, 48); /* 49 windows of 201 us fit */
    assert_true(block.n_anchor_samples == 0 && block.anchor_samples_us == NULL);
    assert_true(block.n_baseline_samples == 0 && block.baseline_samples_us == NULL);
    assert_true(block.baseline_p50_us == 0 && block.log_against == 0 && block.log_planted == 0);
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
        struct kg_prepared *const all[KG_ARMS] = { [KG_ARM_CASE] = &prepared, [KG_ARM_ANCHOR] = &anchor };
        assert_int_equal(kg_measure_block(&fake.base, all, 0, &policy, i < 2 ? 11 : 12, NULL, &block, NULL), KG_OK);
        for (int pair = 0; pair < 48; pair++)
            first[i > 0][pair] = fake.ran[fake.n_ran - 96 + 2 * pair].kernel == &anchor_kernel;
        block_free(&block);
        if (i == 1)
            assert_memory_equal(first[0], first[1], sizeof first[0]);
        if (i == 2)
            assert_memory_not_equal(first[0], first[1], sizeof first[0]);
    }
}

/* The device has a batch to run whenever the host looks at another's times, and while the states are read. */
static void the_device_does_not_wait(void **state)
{
    (void)state;
    fake.base.device.kind = KG_CUDA;
    policy.arm_us = 30e3; /* 148 pairs, five batches */
    struct kg_block block = measured(&anchor);
    int first = fake.n_ran - 2 * (int)block.n_samples;
    assert_int_equal(block.n_samples, 148);
    assert_int_equal(fake.most_in_flight, 2);
    assert_int_equal(fake.n_idle, 4 + 1); /* each arm's windows when they were made, and the end */
    assert_int_equal(fake.ran_at_state[0], first + 64);
    assert_int_equal(fake.ran_at_state[1], fake.n_ran);
    assert_true(fake.in_flight_at_state[0] == 2 && fake.in_flight_at_state[1] == 1);
    double us = 0;
    for (int i = 0; i < fake.n_ran; i++)
        us += fake.ran[i].us;
    /* All but those that found the number of calls: two times four windows an arm. */
    assert_true(block.busy_us < us && block.busy_us > us - 2 * 2 * 4 * 250);
    block_free(&block);
}

/* ---- more arms -------------------------------------------------------------------------------------------- */

static const struct fake_kernel *const by_arm[KG_ARMS] = { &kernel, &baseline_kernel, &anchor_kernel, &planted_kernel };

/* Every turn runs every arm once, and all orders come equally often, but for a remainder. */
static void check_turns(const struct kg_block *block, const struct fake_kernel *const *arms, int n_arms)
{
    int n = (int)block->n_samples, first = fake.n_ran - n_arms * n;
    int seen[KG_ORDER_PERMUTATIONS] = { 0 }, permutations = kg_order_permutations(n_arms);
    for (int turn = 0; turn < n; turn++) {
        int match = -1;
        for (int p = 0; p < permutations; p++) {
            bool same = true;
            for (int i = 0; i < n_arms; i++)
                same = same && fake.ran[first + turn * n_arms + i].kernel == arms[kg_order_arm(n_arms, p, i)];
            match = same ? p : match;
        }
        assert_true(match >= 0);
        seen[match]++;
    }
    for (int p = 0; p < permutations; p++)
        assert_true(seen[p] == n / permutations || seen[p] == n / permutations + 1);
}

static void a_baseline_is_an_arm(void **state)
{
    (void)state;
    struct kg_block block = measured_with(&baseline, NULL, NULL, 0);
    check_turns(&block, by_arm, 2);
    assert_true(near(block.p50_us, 3.0) && near(block.baseline_p50_us, 4.0) && near(block.log_against, log(0.75)));
    assert_true(block.anchor_p50_us == 0 && block.log_ratio == 0 && block.n_anchor_samples == 0);
    assert_int_equal(block.n_baseline_samples, block.n_samples);
    assert_int_equal(fake.n_spun, 0); /* no window has a spin where none is planted */
    block_free(&block);
}

static void three_arms(void **state)
{
    (void)state;
    fake.drift_us = 1e-5;
    struct kg_block block = measured_with(&baseline, &anchor, NULL, 0);
    check_turns(&block, by_arm, 3);
    assert_true(fabs(block.log_against - log(0.75)) < 1e-3 && fabs(block.log_ratio - log(0.6)) < 1e-3);
    int first = fake.n_ran - 3 * (int)block.n_samples;
    for (int i = 0; i < 3 * (int)block.n_samples; i++) { /* every sample is its arm's window of that turn */
        const struct ran *ran = &fake.ran[first + i];
        const double *us = ran->kernel == &kernel            ? block.samples_us
                           : ran->kernel == &baseline_kernel ? block.baseline_samples_us
                                                             : block.anchor_samples_us;
        assert_true(near(us[i / 3], ran->us / ran->calls));
    }
    block_free(&block);
}

/* Case, baseline and planted case all run on every set, never on the same one in a turn. */
static void builds_are_measured_on_the_same_sets(void **state)
{
    (void)state;
    struct kg_block block = measured_with(&baseline, &anchor, &planted, 3);
    const struct fake_kernel *const of[] = { &kernel, &baseline_kernel, &planted_kernel };
    int times[3][4] = { { 0 } }, turns = (int)block.n_samples, first = fake.n_ran - 4 * turns;
    for (int turn = 0; turn < turns; turn++) {
        unsigned used = 0;
        for (int i = 0; i < 4; i++) {
            const struct ran *ran = &fake.ran[first + 4 * turn + i];
            for (int arm = 0; arm < 3; arm++)
                times[arm][ran->first_set] += ran->kernel == of[arm];
            if (ran->kernel == &anchor_kernel)
                continue;
            assert_false(used >> ran->first_set & 1);
            used |= 1u << ran->first_set;
            assert_int_equal(ran->calls, block.calls);
        }
    }
    for (int i = 0; i < 12; i++)
        assert_int_equal(times[i / 4][i % 4], turns / 4);
    block_free(&block);
}

/* 67 calls of 3 us fill a window, 50 of 4 us: both take 67, as the first calls of a window take longer. */
static void windows_of_a_case_are_of_equally_many_calls(void **state)
{
    (void)state;
    struct kg_block block = measured_with(&baseline, &anchor, NULL, 0);
    for (int i = fake.n_ran - 3 * (int)block.n_samples; i < fake.n_ran; i++)
        assert_int_equal(fake.ran[i].calls, fake.ran[i].kernel == &anchor_kernel ? 40 : 67);
    block_free(&block);
}

static size_t samples_of(enum kg_device_kind kind, double scatter, struct kg_prepared *its_baseline)
{
    (void)device_new(NULL);
    fake.base.device.kind = kind;
    fake.scatter = scatter;
    struct kg_block block = { 0 };
    kg_error error = { 0 };
    struct kg_prepared *const all[KG_ARMS] = { &prepared, its_baseline, NULL, NULL };
    assert_int_equal(kg_measure_block(&fake.base, all, 0, &policy, 11, NULL, &block, &error), KG_OK);
    assert_true(!its_baseline || block.n_baseline_samples == block.n_samples);
    block_free(&block);
    return block.n_samples;
}

/* Uniform over ±3%: 1.7% a window, 2.4% a ratio, so 0.06% wants far more turns than the most. */
static void a_comparison_that_scatters_lasts_longer(void **state)
{
    (void)state;
    const size_t usual = samples_of(KG_CUDA, 0, &baseline);
    assert_true(samples_of(KG_CUDA, 0.03, &baseline) > 3 * usual);
    assert_true(samples_of(KG_CUDA, 0.03, &baseline) <= 4 * usual + 4);
    assert_true(samples_of(KG_CUDA, 0.0001, &baseline) <= usual + 4);
    assert_true(samples_of(KG_CUDA, 0.03, NULL) <= samples_of(KG_CUDA, 0, NULL) + 4);
    assert_true(samples_of(KG_CPU, 0.03, &baseline) <= samples_of(KG_CPU, 0, &baseline) + 4);
}

/* Windows of 300 us on 32 sets: 33 turns fit in the usual time, one a set, and one alone says nothing of its scatter.
 */
static void one_sample_a_set_is_not_precise(void **state)
{
    (void)state;
    size_t samples[2];
    for (int i = 0; i < 2; i++) {
        (void)device_new(NULL);
        fake.base.device.kind = KG_CUDA;
        fake.scatter = i ? 0.03 : 0;
        kernel.cost_us = baseline_kernel.cost_us = 300;
        prepared.n_ring = baseline.n_ring = 32;
        policy.arm_us = 10e3;
        struct kg_block block = measured_with(&baseline, NULL, NULL, 0);
        samples[i] = block.n_samples;
        block_free(&block);
    }
    assert_int_equal(samples[0], 64);
    assert_int_equal(samples[1], 128);
}

/* 67 calls of the case fill a window, 14 of a baseline of 15 us: were both 67, the slower would take a millisecond. */
static void calls_far_apart_stay_so(void **state)
{
    (void)state;
    baseline_kernel.cost_us = 15;
    struct kg_block block = measured_with(&baseline, NULL, NULL, 0);
    for (int i = fake.n_ran - 2 * (int)block.n_samples; i < fake.n_ran; i++)
        assert_int_equal(fake.ran[i].calls, fake.ran[i].kernel == &baseline_kernel ? 14 : 67);
    block_free(&block);
}

/* On a device whose spins take another time than they are told to, as a GPU's at a lower clock. */
static void a_planted_lane_is_slower_by_that(void **state)
{
    (void)state;
    const double paces[] = { 1, 1.6, 0.8 };
    for (int i = 0; i < 3; i++) {
        (void)device_new(NULL);
        fake.base.device.kind = KG_CUDA;
        fake.spin_pace = paces[i];
        struct kg_block block = measured_with(&baseline, &anchor, &planted, 3);
        check_turns(&block, by_arm, 4);
        assert_true(block.planted_pct == 3);
        assert_true(near(block.p50_us, 3.0) && near(block.log_against, log(0.75)) && near(block.log_ratio, log(0.6)));
        assert_true(fabs(block.planted_p50_us / 3.09 - 1) < 1e-9);
        assert_true(fabs(block.log_planted - log(3.09 / 4)) < 1e-9);
        assert_true(fake.n_spun >= 4 * 4); /* every window of the block */
        block_free(&block);
    }
    (void)device_new(NULL);
    fake.base.device.kind = KG_CUDA;
    fake.spin_pace = 0;
    struct kg_block block = { 0 };
    kg_error error = { 0 };
    struct kg_prepared *const all[KG_ARMS] = { &prepared, &baseline, NULL, &planted };
    assert_int_equal(kg_measure_block(&fake.base, all, 3, &policy, 11, NULL, &block, &error), KG_EDEVICE);
    assert_string_equal(error.text, "a planted spin of 20.1 us took no time");
    assert_int_equal(fake.n_windows, 0);
    (void)device_new(NULL);
    fake.base.device.kind = KG_CUDA;
    fake.hides_spins = 3 * 32; /* a spin that does not show in three batches of pairs is tried again */
    block = measured_with(&baseline, &anchor, &planted, 3);
    assert_int_equal(fake.hides_spins, 0);
    assert_true(fabs(block.planted_p50_us / 3.09 - 1) < 1e-9);
    block_free(&block);
}

/* ---- a device of the real kind ------------------------------------------------------------------------------- */

static int work(const kg_backend *self, void *state, const kg_tensor *tensors, void *stream, kg_error *ret_error)
{
    volatile double *x = state;
    (void)self, (void)tensors, (void)stream, (void)ret_error;
    for (int i = 0; i < 4000; i++)
        *x = *x * 1.0000001 + 1e-9;
    return KG_OK;
}

/* Half as long again, so that a busy machine does not hide it; no time is counted twice. */
static void planted_on_the_cpu(void **state)
{
    (void)state;
    const kg_backend busy = { .name = "busy", .launch = work };
    volatile double values[3] = { 1, 1, 1 };
    struct kg_prepared three[3];
    for (int i = 0; i < 3; i++) {
        three[i] = prepared_of(NULL, 2, false);
        three[i].backend = &busy;
        three[i].state = (void *)&values[i];
    }
    struct kg_prepared *const all[KG_ARMS] = { &three[0], &three[1], NULL, &three[2] };
    kg_context *cpu = NULL;
    kg_error error = { 0 };
    struct kg_block block = { 0 };
    assert_int_equal(kg_device_open(KG_CPU, 0, &cpu, &error), KG_OK);
    for (int i = 0; i < 3; i++)
        three[i].context = cpu;
    assert_int_equal(kg_measure_block(cpu, all, 50, &policy, 5, NULL, &block, &error), KG_OK);
    print_message("planted 50%%: read %.2f%%; a copy: %+.2f%%; busy %.1f of %.1f ms\n", 100 * expm1(block.log_planted),
                  100 * expm1(block.log_against), 1e-3 * block.busy_us, 1e-3 * block.span_us);
    assert_true(block.log_planted > log(1.35) && block.log_planted < log(1.65));
    assert_true(fabs(block.log_against) < log(1.15));
    assert_true(block.busy_us <= block.span_us && block.busy_us > 0.5 * block.span_us);
    block_free(&block);
    cpu->ops->close(cpu);
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
    policy.arm_us = 20e3;
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
    (void)device_new(NULL); /* a slow kernel's time does not hang on a set: eight of them, once each */
    prepared = prepared_of(&kernel, 32, false);
    kernel.cost_us = 1e5;
    block = measured(NULL);
    assert_int_equal(block.n_samples, 8);
    for (int i = 0; i < 8; i++)
        assert_int_equal(fake.ran[fake.n_ran - 8 + i].first_set, i);
    block_free(&block);
}

/* 67 calls would leave a ring of 7 in the middle: 70 walk it ten times, and every window starts at the first set. */
static void cold_rings_are_walked_whole(void **state)
{
    (void)state;
    for (int captured = 0; captured < 2; captured++) {
        (void)device_new(NULL);
        fake.base.device.kind = captured ? KG_CUDA : KG_CPU;
        prepared = prepared_of(&kernel, 7, true);
        anchor = prepared_of(&anchor_kernel, 3, true);
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
    policy.window_us = 50; /* a batch takes 1.6 ms, and one runs on after the last look */
    struct kg_block block = measured(&anchor);
    assert_true(warm_up_us(&block) > 20e3 && warm_up_us(&block) < 27e3); /* still from the start: 20 ms suffice */
    block_free(&block);
    (void)device_new(NULL);
    fake.wobble = 0.05; /* never still */
    block = measured(&anchor);
    assert_true(warm_up_us(&block) > 400e3 && warm_up_us(&block) < 445e3);
    block_free(&block);
}

/* ---- single calls ------------------------------------------------------------------------------------------ */

static void events_time_single_calls(void **state)
{
    (void)state;
    policy.timer = KG_TIMER_EVENT;
    policy.warmup = 100;
    policy.samples = 131;
    fake.drift_us = 0.01;
    prepared = prepared_of(&kernel, 5, true);
    struct kg_block block = measured_with(NULL, &anchor, &planted, 3); /* which are not used */
    assert_int_equal(fake.n_ran, 231);
    assert_int_equal(block.calls, 1);
    assert_int_equal(block.n_samples, 131);
    assert_true(block.n_anchor_samples == 0 && block.anchor_p50_us == 0 && block.planted_pct == 0);
    assert_true(fake.ran_at_state[0] == 164 && fake.ran_at_state[1] == 231);
    for (int i = 0; i < 231; i++) {
        assert_true(fake.ran[i].kernel == &kernel && fake.ran[i].calls == 1);
        assert_int_equal(fake.ran[i].first_set, i % 5); /* cold: every call on the next set */
        assert_true(i < 100 || near(block.samples_us[i - 100], 3 + 0.01 * i));
    }
    assert_true(near(block.p50_us, 3 + 0.01 * 165));
    block_free(&block);
    (void)device_new(NULL);
    policy.timer = KG_TIMER_EVENT;
    policy.warmup = 1000; /* more than are timed */
    policy.samples = 600;
    block = measured_with(&baseline, NULL, NULL, 0);
    assert_int_equal(fake.n_ran, 2 * 1600);
    assert_int_equal(block.n_baseline_samples, 600);
    check_turns(&block, by_arm, 2);
    assert_true(near(block.log_against, log(0.75)));
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
            policy.timer = event ? KG_TIMER_EVENT : KG_TIMER_GRAPH;
            policy.samples = policy.warmup = 200;
            struct kg_prepared *const all[KG_ARMS] = { &prepared, &baseline, &anchor, &planted };
            status = kg_measure_block(&fake.base, all, 1, &policy, 1, NULL, &block, &error);
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

/* Every arm stands once in every permutation, and no two permutations are the same. */
static void permutations_are_all_there(void **state)
{
    (void)state;
    const int wanted[] = { 1, 1, 2, 6, 24 };
    for (int arms = 1; arms <= KG_ORDER_ARMS; arms++) {
        const int n = kg_order_permutations(arms);
        int numbers[KG_ORDER_PERMUTATIONS];
        assert_int_equal(n, wanted[arms]);
        for (int p = 0; p < n; p++) {
            unsigned seen = 0;
            numbers[p] = 0;
            for (int i = 0; i < arms; i++) {
                seen |= 1u << kg_order_arm(arms, p, i);
                numbers[p] = 10 * numbers[p] + kg_order_arm(arms, p, i);
            }
            assert_int_equal(seen, (1u << arms) - 1);
            for (int q = 0; q < p; q++)
                assert_true(numbers[q] != numbers[p]);
        }
    }
    assert_true(kg_order_arm(3, 0, 0) == 0 && kg_order_arm(3, 5, 0) == 2 && kg_order_arm(3, 5, 2) == 0);
}

static void orders_are_balanced(void **state)
{
    uint8_t order[71], again[71];
    (void)state;
    for (int arms = 1; arms <= KG_ORDER_ARMS; arms++) {
        const int n = kg_order_permutations(arms);
        int more[KG_ORDER_PERMUTATIONS] = { 0 };
        double wanted = 0;
        for (int count = 0; count <= 70; count++) {
            wanted += 64.0 * (count % n) / n;
            for (uint64_t seed = 64 * (uint64_t)count; seed < 64 * (uint64_t)count + 64; seed++) {
                int seen[KG_ORDER_PERMUTATIONS] = { 0 };
                kg_order_balanced(seed, arms, order, count);
                kg_order_balanced(seed, arms, again, count);
                assert_memory_equal(order, again, (size_t)count);
                for (int i = 0; i < count; i++) {
                    assert_true(order[i] < n);
                    seen[order[i]]++;
                }
                for (int p = 0; p < n; p++) {
                    assert_true(seen[p] == count / n || (count % n && seen[p] == count / n + 1));
                    more[p] += seen[p] > count / n;
                }
            }
        }
        for (int p = 0; p < n; p++) /* who comes once more is drawn (4 standard errors) */
            assert_true(fabs(more[p] - wanted) < 4 * sqrt(wanted + 1));
    }
}

/* Each place has each order about equally often (4 standard errors), and seeds differ. */
static void orders_are_shuffled(void **state)
{
    enum { COUNT = 18, SEEDS = 6000 };
    (void)state;
    for (int arms = 2; arms <= 3; arms++) {
        const int n = kg_order_permutations(arms);
        int seen[COUNT][KG_ORDER_PERMUTATIONS] = { { 0 } }, same = 0;
        uint8_t order[COUNT], before[COUNT] = { 0 };
        for (uint64_t seed = 0; seed < SEEDS; seed++) {
            kg_order_balanced(seed, arms, order, COUNT);
            for (int i = 0; i < COUNT; i++)
                seen[i][order[i]]++;
            same += !memcmp(order, before, sizeof order);
            memcpy(before, order, sizeof order);
        }
        const double each = (double)SEEDS / n;
        for (int i = 0; i < COUNT; i++)
            for (int p = 0; p < n; p++)
                assert_true(fabs(seen[i][p] - each) < 4 * sqrt(each * (1 - 1.0 / n)));
        assert_true(same < 5);
    }
}

static void centers_of_sets_by_hand(void **state)
{
    (void)state;
    const double values[] = { 1, 10, 2, 40, 30, 20 };
    assert_true(near(kg_center_of_sets(values, 6, 1), 15.0)); /* 1 2 10 20 30 40 */
    assert_true(near(kg_center_of_sets(values, 6, 2), 11.0)); /* 1 2 30 and 10 40 20 */
    assert_true(near(kg_center_of_sets(values, 5, 2), 14.0)); /* fewer than three a set: 2 10 30, without the ends */
    assert_true(near(kg_center_of_sets(values, 2, 6), 5.5));
    assert_true(isnan(kg_center_of_sets(values, 0, 6)));
    assert_true(isnan(kg_center_of_sets(values, 6, 0)));
}

#define TEST(name) cmocka_unit_test_setup(name, device_new)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_pair_is_a_case_and_its_anchor),
        TEST(windows_take_turns_on_the_sets),
        TEST(an_interlude_may_replay_the_case),
        TEST(without_an_anchor),
        TEST(the_seed_makes_the_order),
        TEST(the_device_does_not_wait),
        TEST(a_baseline_is_an_arm),
        TEST(three_arms),
        TEST(builds_are_measured_on_the_same_sets),
        TEST(windows_of_a_case_are_of_equally_many_calls),
        TEST(a_comparison_that_scatters_lasts_longer),
        TEST(one_sample_a_set_is_not_precise),
        TEST(calls_far_apart_stay_so),
        TEST(a_planted_lane_is_slower_by_that),
        TEST(planted_on_the_cpu),
        TEST(calls_fill_the_window),
        TEST(a_coarse_timer_widens_the_window),
        TEST(kernels_too_fast_and_too_slow),
        TEST(cold_rings_are_walked_whole),
        TEST(warms_up_until_it_stands_still),
        TEST(events_time_single_calls),
        TEST(every_failure_is_clean),
        TEST(permutations_are_all_there),
        TEST(orders_are_balanced),
        TEST(orders_are_shuffled),
        TEST(centers_of_sets_by_hand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
