/* block.c -- warms up until the medians stand still, then samples. Within warm-up and within each part of a block the
 * device has the next batch of windows before the last one's times are read: it does not wait for the host. */
#include "measure/block.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "measure/arm.h"
#include "measure/order.h"
#include "base/random.h"
#include "base/stats.h"

#define MIN_TURNS 8
#define MAX_TURNS 512
#define MOST_APART 4     /* calls of two arms' windows that are made equally many */
#define PRECISE_PCT 0.06 /* standard error of a block's log ratio of two builds on a GPU, at which it ends */
#define LONGEST 4        /* times its usual length, at most */
#define WARM_TURNS 16    /* of a batch; fewer where they would last longer than WARM_MIN_US */
#define WARM_MIN_US 20e3
#define WARM_MAX_US 400e3
#define WARM_STILL 0.003 /* change of the median between two batches that counts as standing still */

_Static_assert(KG_ARMS <= KG_ORDER_ARMS, "orders of so many arms");

/* Turns first..first+count, on the device or waiting for it. */
struct batch {
    const uint8_t *orders; /* a permutation a turn */
    int first, count;
};

struct block_run {
    kg_context *context;
    struct kg_arm arms[KG_ARMS]; /* those that take part, the case first */
    int which[KG_ARMS];          /* KG_ARM_…, of each */
    int n_arms;
    bool apart; /* arms are in two processes, which hand the device over window by window */
    struct batch in_flight[KG_MAX_IN_FLIGHT];
    int n_in_flight;
    uint8_t *warm_orders, *orders;
    int room; /* turns that there is memory for */
    double start_us, end_us, busy_us;
};

/* Where arms take turns a window's first run is for the caches of the device's new owner. */
static int runs_a_window(const struct block_run *b)
{
    return b->apart ? 2 : 1;
}

/* ---- turns ------------------------------------------------------------------------------------------------- */

static struct kg_arm *arm_in_turn(struct block_run *b, const struct batch *batch, int i, int *ret_turn)
{
    *ret_turn = batch->first + i / b->n_arms;
    return &b->arms[kg_order_arm(b->n_arms, batch->orders[*ret_turn], i % b->n_arms)];
}

/* One window after the other, each by itself. */
static int run_apart(struct block_run *b, const struct batch *batch, double *ret_us, kg_error *ret_error)
{
    double us[2] = { 0 };
    int turn, status = KG_OK;
    for (int i = 0; i < batch->count * b->n_arms && !status; i++) {
        struct kg_arm *arm = arm_in_turn(b, batch, i, &turn);
        status = kg_arm_take_turn(arm, turn, us, ret_error);
        ret_us[i] = us[1];
        b->busy_us += us[0];
    }
    return status;
}

/* Waits for the oldest batch. Fills the arms' us at the indices of its turns. */
static int collect(struct block_run *b, kg_error *ret_error)
{
    double us[KG_MAX_BATCH];
    int turn;
    const struct batch batch = b->in_flight[0];
    int status = b->apart ? run_apart(b, &batch, us, ret_error) : b->context->ops->collect(b->context, us, ret_error);
    if (status)
        return status;
    b->end_us = 1e6 * kg_now_s();
    b->in_flight[0] = b->in_flight[1];
    b->n_in_flight--;
    for (int i = 0; i < batch.count * b->n_arms; i++) {
        struct kg_arm *arm = arm_in_turn(b, &batch, i, &turn);
        arm->us[turn] = us[i] / arm->calls;
        b->busy_us += us[i];
    }
    return KG_OK;
}

/* In a turn every arm runs one window, in the order of its permutation. */
static int launch(struct block_run *b, struct batch batch, kg_error *ret_error)
{
    kg_window *windows[KG_MAX_BATCH];
    int turn, status = b->n_in_flight == KG_MAX_IN_FLIGHT ? collect(b, ret_error) : KG_OK;
    if (status)
        return status;
    for (int i = 0; i < batch.count * b->n_arms; i++) {
        const struct kg_arm *arm = arm_in_turn(b, &batch, i, &turn);
        windows[i] = kg_arm_window(arm, turn);
    }
    if (b->start_us == 0)
        b->start_us = 1e6 * kg_now_s();
    if (!b->apart)
        status = b->context->ops->enqueue(b->context, windows, batch.count * b->n_arms, ret_error);
    if (!status)
        b->in_flight[b->n_in_flight++] = batch;
    return status;
}

static int collect_all(struct block_run *b, kg_error *ret_error)
{
    int status = KG_OK;
    while (b->n_in_flight && !status)
        status = collect(b, ret_error);
    return status;
}

/* Turns from..from+count. The states (NULL: not wanted) are read while the first and the last batch run, since that is
 * when clocks mean something. */
static int run_turns(struct block_run *b, const uint8_t *orders, int from, int count,
                     struct kg_device_state *ret_before, struct kg_device_state *ret_after, kg_error *ret_error)
{
    const int most = KG_MAX_BATCH / b->n_arms;
    int status = KG_OK;
    for (int first = from; first < from + count && !status; first += most) {
        const int left = from + count - first;
        status = launch(b, (struct batch){ orders, first, left < most ? left : most }, ret_error);
        if (!status && first == from && ret_before)
            b->context->ops->state(b->context, ret_before);
    }
    while (b->n_in_flight > 1 && !status)
        status = collect(b, ret_error);
    if (!status && ret_after)
        b->context->ops->state(b->context, ret_after);
    return status ? status : collect_all(b, ret_error);
}

/* ---- warming up -------------------------------------------------------------------------------------------- */

struct settling {
    double turn_us; /* of the batch before */
    int still;      /* batches in a row that changed little */
    double spent_us;
};

/* A turn's time over all arms, since what settles (clock, power) is common to them, and their noise partly cancels. */
static bool stands_still(struct block_run *b, const struct batch *batch, struct settling *settling, double *ret_turn_us)
{
    double turn_us = 0;
    for (int i = 0; i < b->n_arms; i++)
        turn_us += kg_median(b->arms[i].us + batch->first, (size_t)batch->count) * b->arms[i].calls;
    settling->still = fabs(turn_us / settling->turn_us - 1) < WARM_STILL ? settling->still + 1 : 0;
    settling->turn_us = turn_us;
    settling->spent_us += turn_us * batch->count * runs_a_window(b);
    *ret_turn_us = turn_us;
    return settling->spent_us > WARM_MIN_US && settling->still >= 2;
}

static double first_turn_us(const struct block_run *b)
{
    double us = 0;
    for (int i = 0; i < b->n_arms; i++)
        us += b->arms[i].window_us * runs_a_window(b);
    return us;
}

/* Runs the mixture that is measured, since a power-limited device settles on a mixture, until the medians of two
 * batches in a row stand still. Leaves a batch on its way, for the device to run until measuring begins. */
static int warm_up(struct block_run *b, double *ret_turn_us, kg_error *ret_error)
{
    struct settling settling = { .still = 0 };
    const double fit = WARM_MIN_US / first_turn_us(b);
    const int count = fit > WARM_TURNS ? WARM_TURNS : fit < 2 ? 2 : (int)fit;
    const int sets = b->arms[0].n_windows;
    for (int launched = 0;; launched += count) {
        /* Every buffer set has its turn; then the first ones again, since only a set's own times can stand still. */
        const struct batch next = { b->warm_orders, launched < sets ? launched : 0, count };
        int status = launch(b, next, ret_error);
        if (!status && b->n_in_flight < KG_MAX_IN_FLIGHT)
            continue;
        const struct batch oldest = b->in_flight[0];
        if (!status)
            status = collect(b, ret_error);
        if (status)
            return status;
        const bool still = stands_still(b, &oldest, &settling, ret_turn_us);
        if (launched >= sets && (still || settling.spent_us >= WARM_MAX_US))
            return KG_OK;
    }
}

/* ---- the block --------------------------------------------------------------------------------------------- */

/* A median over all would jump with the share of slow sets, and one of two values with every window that a dip of the
 * clock meets. */
double kg_center_of_sets(const double *values, size_t count, size_t sets)
{
    if (count < 3 * sets)
        return kg_trimmed_mean(values, count);
    double *one = malloc((count ? count : 1) * sizeof *one), sum = one ? 0 : NAN;
    for (size_t set = 0; one && set < sets; set++) {
        size_t n = 0;
        for (size_t i = set; i < count; i += sets)
            one[n++] = values[i];
        sum += kg_median(one, n);
    }
    free(one);
    return sum / (double)sets;
}

static struct kg_arm *arm_of(struct block_run *b, int which)
{
    for (int i = 0; i < b->n_arms; i++)
        if (b->which[i] == which)
            return &b->arms[i];
    return NULL;
}

/* 0 without the two arms. Overwrites nothing. */
static double log_ratio(struct block_run *b, int which, int to, int count)
{
    const struct kg_arm *arm = arm_of(b, which), *other = arm_of(b, to);
    if (!arm || !other)
        return 0;
    double *ratios = malloc((size_t)count * sizeof *ratios), result = NAN;
    for (int i = 0; ratios && i < count; i++)
        ratios[i] = log(arm->us[i] / other->us[i]);
    if (ratios)
        result = kg_center_of_sets(ratios, (size_t)count, (size_t)arm->n_windows);
    free(ratios);
    return result;
}

/* Hands the samples over; 0 and no samples without the arm. */
static double p50_of(struct block_run *b, int which, int count, double **ret_samples, size_t *ret_count)
{
    struct kg_arm *arm = arm_of(b, which);
    if (!arm)
        return 0;
    const double p50_us = kg_center_of_sets(arm->us, (size_t)count, (size_t)arm->n_windows);
    if (ret_samples) {
        *ret_samples = arm->us;
        *ret_count = (size_t)count;
        arm->us = NULL;
    }
    return p50_us;
}

static void fill_block(struct block_run *b, int count, double planted_pct, struct kg_block *block)
{
    block->calls = b->arms[0].calls;
    block->log_ratio = log_ratio(b, KG_ARM_CASE, KG_ARM_ANCHOR, count);
    block->log_against = log_ratio(b, KG_ARM_CASE, KG_ARM_BASELINE, count);
    block->log_planted = log_ratio(b, KG_ARM_PLANTED, KG_ARM_BASELINE, count);
    block->planted_pct = arm_of(b, KG_ARM_PLANTED) ? planted_pct : 0;
    block->planted_p50_us = p50_of(b, KG_ARM_PLANTED, count, NULL, NULL);
    block->p50_us = p50_of(b, KG_ARM_CASE, count, &block->samples_us, &block->n_samples);
    block->anchor_p50_us = p50_of(b, KG_ARM_ANCHOR, count, &block->anchor_samples_us, &block->n_anchor_samples);
    block->baseline_p50_us = p50_of(b, KG_ARM_BASELINE, count, &block->baseline_samples_us, &block->n_baseline_samples);
    block->span_us = b->end_us - b->start_us;
    block->busy_us = b->busy_us;
}

/* As many sets as there is time for. */
static int sets_for(const struct block_run *b, double time_us)
{
    const double fit = time_us / first_turn_us(b);
    int sets = fit > KG_MAX_SETS ? KG_MAX_SETS : fit < MIN_TURNS ? MIN_TURNS : (int)fit;
    for (int i = 0; i < b->n_arms; i++) {
        const int there = b->arms[i].prepared->n_ring;
        sets = there < sets ? there : sets;
    }
    return sets;
}

static bool is_of_case(const struct block_run *b, int arm)
{
    return b->which[arm] != KG_ARM_ANCHOR;
}

/* A window's first calls take longer than its last, so arms of the case whose windows held 3 and 4 calls would differ
 * by more than most changes do. A build that is slower by a multiple needs no such care, and would take very long. */
static int equalise_calls(struct block_run *b, kg_error *ret_error)
{
    int most = 0, least = INT_MAX, status = KG_OK;
    for (int i = 0; i < b->n_arms; i++) {
        if (!is_of_case(b, i))
            continue;
        most = b->arms[i].calls > most ? b->arms[i].calls : most;
        least = b->arms[i].calls < least ? b->arms[i].calls : least;
    }
    if (most > MOST_APART * least)
        return KG_OK;
    for (int i = 0; i < b->n_arms && !status; i++)
        if (is_of_case(b, i))
            status = kg_arm_set_calls(&b->arms[i], most, ret_error);
    return status;
}

/* The case's arms use the same sets: or the second of two windows would find in the cache what the first left there.
 */
static void part_arms(struct block_run *b)
{
    int sharing = 0, before = 0;
    for (int i = 0; i < b->n_arms; i++)
        sharing += is_of_case(b, i);
    for (int i = 0; i < b->n_arms; i++)
        if (is_of_case(b, i))
            b->arms[i].ahead = before++ * b->arms[i].n_windows / sharing;
}

/* The first windows of all arms, in an order that the seed picks; then as many buffer sets as the block has time for,
 * since what a set does to a time matters to short kernels. */
static int open_arms(struct block_run *b, double planted_pct, const struct kg_policy *policy, uint64_t seed,
                     kg_error *ret_error)
{
    /* One tick of the timer is at most a tenth of the threshold. */
    const double tick_limit_us = 10 * b->context->ops->timer_tick_us(b->context) / (policy->threshold_pct / 100);
    const double window_us = fmax(policy->window_us, fmin(tick_limit_us, 100 * policy->window_us));
    uint8_t order;
    int status = KG_OK;
    kg_order_balanced(seed, b->n_arms, &order, 1);
    for (int i = 0; i < b->n_arms && !status; i++) {
        struct kg_arm *arm = &b->arms[kg_order_arm(b->n_arms, order, i)];
        status = kg_arm_open(arm, window_us, ret_error);
    }
    if (!status)
        status = equalise_calls(b, ret_error);
    if (!status && arm_of(b, KG_ARM_PLANTED))
        status = kg_arm_plant(arm_of(b, KG_ARM_PLANTED), planted_pct, ret_error);
    const int sets = sets_for(b, policy->arm_us * b->n_arms);
    for (int i = 0; i < b->n_arms && !status; i++)
        status = kg_arm_spread(&b->arms[kg_order_arm(b->n_arms, order, i)], sets, ret_error);
    part_arms(b);
    return status;
}

/* Standard error of log_ratio of case and baseline, in per cent: of means over sets of medians of samples that scatter
 * around their set's median. A median's is about 1.25 times a mean's (of a normal distribution: √(π/2)). */
static double error_pct(struct block_run *b, int count)
{
    const struct kg_arm *arm = arm_of(b, KG_ARM_CASE), *baseline = arm_of(b, KG_ARM_BASELINE);
    const int sets = arm->n_windows;
    if (count <= sets) /* one sample a set says nothing */
        return INFINITY;
    double *logs = malloc((size_t)(count / sets + 1) * sizeof *logs), squares = 0;
    for (int set = 0; logs && set < sets; set++) {
        size_t n = 0;
        for (int i = set; i < count; i += sets)
            logs[n++] = log(arm->us[i] / baseline->us[i]);
        const double median = kg_median(logs, n);
        for (size_t i = 0; i < n; i++)
            squares += (logs[i] - median) * (logs[i] - median);
    }
    free(logs);
    return logs ? 125 * sqrt(squares / (count - sets) / count) : 0;
}

/* Where two builds are compared what scatters from window to window is all that a longer block can help against, and
 * only there it is much of what differs between blocks. Part by part, each of `count` turns; `most` in all. */
static int run_until_precise(struct block_run *b, int count, int most, uint64_t seed, struct kg_block *block,
                             int *ret_count, kg_error *ret_error)
{
    const bool compared = arm_of(b, KG_ARM_BASELINE) && b->context->device.kind == KG_CUDA;
    int done = 0, status = KG_OK;
    do {
        kg_order_balanced(seed + (uint64_t)done, b->n_arms, b->orders + done, count);
        status = run_turns(b, b->orders, done, count, done ? NULL : &block->before, &block->after, ret_error);
        done += count;
    } while (!status && compared && done + count <= most && error_pct(b, done) > PRECISE_PCT);
    *ret_count = done;
    return status;
}

static int measure_windows(struct block_run *b, double planted_pct, const struct kg_policy *policy, uint64_t seed,
                           struct kg_block *block, kg_error *ret_error)
{
    double turn_us = 0;
    int status = open_arms(b, planted_pct, policy, kg_mix64(seed), ret_error);
    if (status)
        return status;
    kg_order_balanced(seed, b->n_arms, b->warm_orders, b->room);
    status = warm_up(b, &turn_us, ret_error);
    if (status)
        return status;
    const int sets = b->arms[0].n_windows;
    const double fit = policy->arm_us * b->n_arms / (turn_us * runs_a_window(b));
    int count = fit > MAX_TURNS ? MAX_TURNS : (int)fit;
    count = count / sets * sets; /* every set equally often */
    if (count < MIN_TURNS)
        count = sets > MIN_TURNS ? sets : MIN_TURNS;
    const int most = LONGEST * fit > b->room ? b->room : (int)(LONGEST * fit);
    status = run_until_precise(b, count, most, seed + 1, block, &count, ret_error);
    if (!status)
        fill_block(b, count, planted_pct, block);
    return status;
}

/* The older harnesses' way: each call alone between two events. */
static int measure_calls(struct block_run *b, const struct kg_policy *policy, uint64_t seed, struct kg_block *block,
                         kg_error *ret_error)
{
    int status = KG_OK;
    for (int i = 0; i < b->n_arms && !status; i++)
        status = kg_arm_open_call(&b->arms[i], ret_error);
    kg_order_balanced(seed, b->n_arms, b->warm_orders, b->room);
    for (int left = policy->warmup; left > 0 && !status; left -= b->room)
        status = run_turns(b, b->warm_orders, 0, left < b->room ? left : b->room, NULL, NULL, ret_error);
    kg_order_balanced(seed + 1, b->n_arms, b->orders, policy->samples);
    if (!status)
        status = run_turns(b, b->orders, 0, policy->samples, &block->before, &block->after, ret_error);
    if (!status)
        fill_block(b, policy->samples, 0, block);
    return status;
}

static int block_run_init(struct block_run *b, struct kg_prepared *const *prepared, const struct kg_policy *policy,
                          kg_error *ret_error)
{
    const bool event = policy->timer == KG_TIMER_EVENT;
    const bool planted = !event && prepared[KG_ARM_PLANTED];
    b->room = event && policy->samples > MAX_TURNS ? policy->samples : MAX_TURNS;
    b->warm_orders = malloc((size_t)b->room);
    b->orders = malloc((size_t)b->room);
    bool complete = b->warm_orders && b->orders;
    for (int which = 0; which < KG_ARMS; which++) {
        if (!prepared[which] || (event && which > KG_ARM_BASELINE))
            continue;
        b->which[b->n_arms] = which;
        struct kg_arm *arm = &b->arms[b->n_arms++];
        arm->prepared = prepared[which];
        b->apart = b->apart || arm->prepared->context != b->context;
        arm->spin_us = planted ? 0 : -1;
        arm->us = malloc((size_t)b->room * sizeof *arm->us);
        complete = arm->us && complete;
    }
    return complete ? KG_OK : kg_fail(ret_error, KG_ENOMEM, "out of memory for samples");
}

static void free_samples(struct kg_block *block)
{
    free(block->samples_us);
    free(block->anchor_samples_us);
    free(block->baseline_samples_us);
}

int kg_measure_block(kg_context *context, struct kg_prepared *const prepared[KG_ARMS], double planted_pct,
                     const struct kg_policy *policy, uint64_t order_seed, const struct kg_interlude *interlude,
                     struct kg_block *ret_block, kg_error *ret_error)
{
    struct kg_block block = { 0 };
    struct block_run b = { .context = context };
    int status = block_run_init(&b, prepared, policy, ret_error);
    if (!status)
        status = policy->timer == KG_TIMER_EVENT
                     ? measure_calls(&b, policy, order_seed, &block, ret_error)
                     : measure_windows(&b, planted_pct, policy, order_seed, &block, ret_error);
    struct kg_arm *anchor = arm_of(&b, KG_ARM_ANCHOR);
    if (anchor && anchor->prepared->context == b.arms[0].prepared->context)
        b.arms[0].anchor = anchor;
    if (!status && interlude)
        status = interlude->call(interlude->argument, &b.arms[0], arm_of(&b, KG_ARM_BASELINE), ret_error);
    for (int i = 0; i < b.n_arms; i++) {
        kg_arm_close(&b.arms[i]);
        free(b.arms[i].us);
    }
    free(b.warm_orders);
    free(b.orders);
    if (status)
        free_samples(&block);
    else
        *ret_block = block;
    return status;
}
