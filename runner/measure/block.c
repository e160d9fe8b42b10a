/* measure.c -- warms up until the medians stand still, then samples. Within warm-up and within each part of a block the
 * device has the next batch of windows before the last one's times are read: it does not wait for the host. */
#include "measure/block.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "measure/arm.h"
#include "measure/order.h"
#include "base/random.h"
#include "base/stats.h"

#define MIN_TURNS 8
#define MAX_TURNS 512
#define MOST_APART 4     /* calls of two lanes' windows that are made equally many */
#define PRECISE_PCT 0.06 /* standard error of a block's log ratio of two builds on a GPU, at which it ends */
#define LONGEST 4        /* times its usual length, at most */
#define WARM_TURNS 16    /* of a batch; fewer where they would last longer than WARM_MIN_US */
#define WARM_MIN_US 20e3
#define WARM_MAX_US 400e3
#define WARM_STILL 0.003 /* change of the median between two batches that counts as standing still */

_Static_assert(KG_LANES <= KG_ORDER_LANES, "orders of so many lanes");

/* Turns first..first+count, on the device or waiting for it. */
struct batch {
    const uint8_t *orders; /* a permutation a turn */
    int first, count;
};

struct bout {
    kg_context *context;
    struct kg_lane lanes[KG_LANES]; /* those that take part, the case first */
    int which[KG_LANES];            /* KG_LANE_…, of each */
    int n_lanes;
    struct batch flying[KG_MAX_FLYING];
    int n_flying;
    uint8_t *warm_orders, *orders;
    int room; /* turns that there is memory for */
    double start_us, end_us, busy_us;
};

static double now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return 1e6 * (double)now.tv_sec + 1e-3 * (double)now.tv_nsec;
}

/* ---- turns ------------------------------------------------------------------------------------------------- */

/* Waits for the oldest batch. Fills the lanes' us at the places of its turns. */
static int land(struct bout *b, kg_error *ret_error)
{
    double us[KG_MAX_BATCH];
    const struct batch batch = b->flying[0];
    int status = b->context->ops->collect(b->context, us, ret_error);
    if (status)
        return status;
    b->end_us = now_us();
    b->flying[0] = b->flying[1];
    b->n_flying--;
    for (int i = 0; i < batch.count * b->n_lanes; i++) {
        const int turn = batch.first + i / b->n_lanes;
        struct kg_lane *lane = &b->lanes[kg_order_lane(b->n_lanes, batch.orders[turn], i % b->n_lanes)];
        lane->us[turn] = us[i] / lane->calls;
        b->busy_us += us[i];
    }
    return KG_OK;
}

/* In a turn every lane runs one window, in the order of its permutation. */
static int launch(struct bout *b, struct batch batch, kg_error *ret_error)
{
    kg_window *windows[KG_MAX_BATCH];
    int status = b->n_flying == KG_MAX_FLYING ? land(b, ret_error) : KG_OK;
    if (status)
        return status;
    for (int i = 0; i < batch.count * b->n_lanes; i++) {
        const int turn = batch.first + i / b->n_lanes;
        const struct kg_lane *lane = &b->lanes[kg_order_lane(b->n_lanes, batch.orders[turn], i % b->n_lanes)];
        windows[i] = lane->windows[(turn + lane->ahead) % lane->n_windows];
    }
    if (b->start_us == 0)
        b->start_us = now_us();
    status = b->context->ops->enqueue(b->context, windows, batch.count * b->n_lanes, ret_error);
    if (!status)
        b->flying[b->n_flying++] = batch;
    return status;
}

static int land_all(struct bout *b, kg_error *ret_error)
{
    int status = KG_OK;
    while (b->n_flying && !status)
        status = land(b, ret_error);
    return status;
}

/* Turns from..from+count. The states (NULL: not wanted) are read while the first and the last batch run, since that is
 * when clocks mean something. */
static int run_turns(struct bout *b, const uint8_t *orders, int from, int count, struct kg_device_state *ret_before,
                     struct kg_device_state *ret_after, kg_error *ret_error)
{
    const int most = KG_MAX_BATCH / b->n_lanes;
    int status = KG_OK;
    for (int first = from; first < from + count && !status; first += most) {
        const int left = from + count - first;
        status = launch(b, (struct batch){ orders, first, left < most ? left : most }, ret_error);
        if (!status && first == from && ret_before)
            b->context->ops->state(b->context, ret_before);
    }
    while (b->n_flying > 1 && !status)
        status = land(b, ret_error);
    if (!status && ret_after)
        b->context->ops->state(b->context, ret_after);
    return status ? status : land_all(b, ret_error);
}

/* ---- warming up -------------------------------------------------------------------------------------------- */

struct calm {
    double turn_us; /* of the batch before */
    int still;      /* batches in a row that changed little */
    double spent_us;
};

/* A turn's time over all lanes, since what settles (clock, power) is common to them, and their noise partly cancels. */
static bool stands_still(struct bout *b, const struct batch *batch, struct calm *calm, double *ret_turn_us)
{
    double turn_us = 0;
    for (int i = 0; i < b->n_lanes; i++)
        turn_us += kg_median(b->lanes[i].us + batch->first, (size_t)batch->count) * b->lanes[i].calls;
    calm->still = fabs(turn_us / calm->turn_us - 1) < WARM_STILL ? calm->still + 1 : 0;
    calm->turn_us = turn_us;
    calm->spent_us += turn_us * batch->count;
    *ret_turn_us = turn_us;
    return calm->spent_us > WARM_MIN_US && calm->still >= 2;
}

static double first_turn_us(const struct bout *b)
{
    double us = 0;
    for (int i = 0; i < b->n_lanes; i++)
        us += b->lanes[i].window_us;
    return us;
}

/* In the same mixture that is measured, since a power-limited device settles on the mixture: until the medians of two
 * batches in a row stand still. Leaves a batch on its way, for the device to run until measuring begins. */
static int warm_up(struct bout *b, double *ret_turn_us, kg_error *ret_error)
{
    struct calm calm = { .still = 0 };
    const double fit = WARM_MIN_US / first_turn_us(b);
    const int count = fit > WARM_TURNS ? WARM_TURNS : fit < 2 ? 2 : (int)fit;
    const int places = b->lanes[0].n_windows;
    for (int launched = 0;; launched += count) {
        /* Every buffer set has its turn; then the first ones again, since only a set's own times can stand still. */
        const struct batch next = { b->warm_orders, launched < places ? launched : 0, count };
        int status = launch(b, next, ret_error);
        if (!status && b->n_flying < KG_MAX_FLYING)
            continue;
        const struct batch oldest = b->flying[0];
        if (!status)
            status = land(b, ret_error);
        if (status)
            return status;
        const bool still = stands_still(b, &oldest, &calm, ret_turn_us);
        if (launched >= places && (still || calm.spent_us >= WARM_MAX_US))
            return KG_OK;
    }
}

/* ---- the block --------------------------------------------------------------------------------------------- */

/* Mean over the buffer sets of each set's median: a median over all would jump with the share of slow placements. */
double kg_mean_of_medians(const double *values, size_t count, size_t places)
{
    double sum = 0, *one = malloc((count ? count : 1) * sizeof *one);
    size_t used = 0;
    for (size_t place = 0; one && place < places && place < count; place++) {
        size_t n = 0;
        for (size_t i = place; i < count; i += places)
            one[n++] = values[i];
        sum += kg_median(one, n);
        used++;
    }
    free(one);
    return used ? sum / (double)used : NAN;
}

static struct kg_lane *lane_of(struct bout *b, int which)
{
    for (int i = 0; i < b->n_lanes; i++)
        if (b->which[i] == which)
            return &b->lanes[i];
    return NULL;
}

/* 0 without the two lanes. Overwrites nothing. */
static double log_ratio(struct bout *b, int which, int to, int count)
{
    const struct kg_lane *lane = lane_of(b, which), *other = lane_of(b, to);
    if (!lane || !other)
        return 0;
    double *ratios = malloc((size_t)count * sizeof *ratios), result = NAN;
    for (int i = 0; ratios && i < count; i++)
        ratios[i] = log(lane->us[i] / other->us[i]);
    if (ratios)
        result = kg_mean_of_medians(ratios, (size_t)count, (size_t)lane->n_windows);
    free(ratios);
    return result;
}

/* Hands the samples over; 0 and no samples without the lane. */
static double p50_of(struct bout *b, int which, int count, double **ret_samples, size_t *ret_count)
{
    struct kg_lane *lane = lane_of(b, which);
    if (!lane)
        return 0;
    const double p50_us = kg_mean_of_medians(lane->us, (size_t)count, (size_t)lane->n_windows);
    if (ret_samples) {
        *ret_samples = lane->us;
        *ret_count = (size_t)count;
        lane->us = NULL;
    }
    return p50_us;
}

static void fill_block(struct bout *b, int count, double planted_pct, struct kg_block *block)
{
    block->calls = b->lanes[0].calls;
    block->log_ratio = log_ratio(b, KG_LANE_CASE, KG_LANE_ANCHOR, count);
    block->log_against = log_ratio(b, KG_LANE_CASE, KG_LANE_BASELINE, count);
    block->log_planted = log_ratio(b, KG_LANE_PLANTED, KG_LANE_BASELINE, count);
    block->planted_pct = lane_of(b, KG_LANE_PLANTED) ? planted_pct : 0;
    block->planted_p50_us = p50_of(b, KG_LANE_PLANTED, count, NULL, NULL);
    block->p50_us = p50_of(b, KG_LANE_CASE, count, &block->samples_us, &block->n_samples);
    block->anchor_p50_us = p50_of(b, KG_LANE_ANCHOR, count, &block->anchor_samples_us, &block->n_anchor_samples);
    block->baseline_p50_us =
        p50_of(b, KG_LANE_BASELINE, count, &block->baseline_samples_us, &block->n_baseline_samples);
    block->span_us = b->end_us - b->start_us;
    block->busy_us = b->busy_us;
}

/* As many sets as there is time for. */
static int places_for(const struct bout *b, double time_us)
{
    const double fit = time_us / first_turn_us(b);
    int places = fit > KG_MAX_PLACES ? KG_MAX_PLACES : fit < MIN_TURNS ? MIN_TURNS : (int)fit;
    for (int i = 0; i < b->n_lanes; i++) {
        const int sets = b->lanes[i].subject->n_ring;
        places = sets < places ? sets : places;
    }
    return places;
}

static bool is_of_case(const struct bout *b, int lane)
{
    return b->which[lane] != KG_LANE_ANCHOR;
}

/* A window's first calls take longer than its last, so lanes of the case whose windows held 3 and 4 calls would differ
 * by more than most changes do. A build that is slower by a multiple needs no such care, and would take very long. */
static int equalise_calls(struct bout *b, kg_error *ret_error)
{
    int most = 0, least = INT_MAX, status = KG_OK;
    for (int i = 0; i < b->n_lanes; i++) {
        if (!is_of_case(b, i))
            continue;
        most = b->lanes[i].calls > most ? b->lanes[i].calls : most;
        least = b->lanes[i].calls < least ? b->lanes[i].calls : least;
    }
    if (most > MOST_APART * least)
        return KG_OK;
    for (int i = 0; i < b->n_lanes && !status; i++)
        if (is_of_case(b, i))
            status = kg_lane_set_calls(b->context, &b->lanes[i], most, ret_error);
    return status;
}

/* The case's lanes use the same sets: or the second of two windows would find in the cache what the first left there.
 */
static void part_lanes(struct bout *b)
{
    int sharing = 0, before = 0;
    for (int i = 0; i < b->n_lanes; i++)
        sharing += is_of_case(b, i);
    for (int i = 0; i < b->n_lanes; i++)
        if (is_of_case(b, i))
            b->lanes[i].ahead = before++ * b->lanes[i].n_windows / sharing;
}

/* The first windows of all lanes, in an order that the seed picks; then as many buffer sets as the block has time for,
 * since what a set does to a time matters to short kernels. */
static int open_lanes(struct bout *b, double planted_pct, const struct kg_timing *timing, uint64_t seed,
                      kg_error *ret_error)
{
    /* One tick of the timer is at most a tenth of the threshold. */
    const double tick_limit_us = 10 * b->context->ops->timer_tick_us(b->context) / (timing->threshold_pct / 100);
    const double window_us = fmax(timing->window_us, fmin(tick_limit_us, 100 * timing->window_us));
    uint8_t order;
    int status = KG_OK;
    kg_order_balanced(seed, b->n_lanes, &order, 1);
    for (int i = 0; i < b->n_lanes && !status; i++) {
        struct kg_lane *lane = &b->lanes[kg_order_lane(b->n_lanes, order, i)];
        status = kg_lane_open(b->context, lane, window_us, ret_error);
    }
    if (!status)
        status = equalise_calls(b, ret_error);
    if (!status && lane_of(b, KG_LANE_PLANTED))
        status = kg_lane_plant(b->context, lane_of(b, KG_LANE_PLANTED), planted_pct, ret_error);
    const int places = places_for(b, timing->lane_us * b->n_lanes);
    for (int i = 0; i < b->n_lanes && !status; i++)
        status = kg_lane_spread(b->context, &b->lanes[kg_order_lane(b->n_lanes, order, i)], places, ret_error);
    part_lanes(b);
    return status;
}

/* Standard error of log_ratio of case and baseline, in per cent: of means over sets of medians of samples that scatter
 * around their set's median. A median's is about 1.25 times a mean's (of a normal distribution: √(π/2)). */
static double error_pct(struct bout *b, int count)
{
    const struct kg_lane *lane = lane_of(b, KG_LANE_CASE), *baseline = lane_of(b, KG_LANE_BASELINE);
    const int places = lane->n_windows;
    if (count <= places) /* one sample a set says nothing */
        return INFINITY;
    double *set = malloc((size_t)(count / places + 1) * sizeof *set), squares = 0;
    for (int place = 0; set && place < places; place++) {
        size_t n = 0;
        for (int i = place; i < count; i += places)
            set[n++] = log(lane->us[i] / baseline->us[i]);
        const double median = kg_median(set, n);
        for (size_t i = 0; i < n; i++)
            squares += (set[i] - median) * (set[i] - median);
    }
    free(set);
    return set ? 125 * sqrt(squares / (count - places) / count) : 0;
}

/* Where two builds are compared what scatters from window to window is all that a longer block can help against, and
 * only there it is much of what differs between blocks. Part by part, each of `count` turns; `most` in all. */
static int run_until_precise(struct bout *b, int count, int most, uint64_t seed, struct kg_block *block, int *ret_count,
                             kg_error *ret_error)
{
    const bool compared = lane_of(b, KG_LANE_BASELINE) && b->context->device.kind == KG_CUDA;
    int done = 0, status = KG_OK;
    do {
        kg_order_balanced(seed + (uint64_t)done, b->n_lanes, b->orders + done, count);
        status = run_turns(b, b->orders, done, count, done ? NULL : &block->before, &block->after, ret_error);
        done += count;
    } while (!status && compared && done + count <= most && error_pct(b, done) > PRECISE_PCT);
    *ret_count = done;
    return status;
}

static int measure_windows(struct bout *b, double planted_pct, const struct kg_timing *timing, uint64_t seed,
                           struct kg_block *block, kg_error *ret_error)
{
    double turn_us = 0;
    int status = open_lanes(b, planted_pct, timing, kg_mix64(seed), ret_error);
    if (status)
        return status;
    kg_order_balanced(seed, b->n_lanes, b->warm_orders, b->room);
    status = warm_up(b, &turn_us, ret_error);
    if (status)
        return status;
    const int places = b->lanes[0].n_windows;
    const double fit = timing->lane_us * b->n_lanes / turn_us;
    int count = fit > MAX_TURNS ? MAX_TURNS : (int)fit;
    count = count / places * places; /* every placement equally often */
    if (count < MIN_TURNS)
        count = places > MIN_TURNS ? places : MIN_TURNS;
    const int most = LONGEST * fit > b->room ? b->room : (int)(LONGEST * fit);
    status = run_until_precise(b, count, most, seed + 1, block, &count, ret_error);
    if (!status)
        fill_block(b, count, planted_pct, block);
    return status;
}

/* The older harnesses' way: each call alone between two events. */
static int measure_calls(struct bout *b, const struct kg_timing *timing, uint64_t seed, struct kg_block *block,
                         kg_error *ret_error)
{
    int status = KG_OK;
    for (int i = 0; i < b->n_lanes && !status; i++)
        status = kg_lane_open_call(b->context, &b->lanes[i], ret_error);
    kg_order_balanced(seed, b->n_lanes, b->warm_orders, b->room);
    for (int left = timing->warmup; left > 0 && !status; left -= b->room)
        status = run_turns(b, b->warm_orders, 0, left < b->room ? left : b->room, NULL, NULL, ret_error);
    kg_order_balanced(seed + 1, b->n_lanes, b->orders, timing->samples);
    if (!status)
        status = run_turns(b, b->orders, 0, timing->samples, &block->before, &block->after, ret_error);
    if (!status)
        fill_block(b, timing->samples, 0, block);
    return status;
}

static int bout_init(struct bout *b, struct kg_subject *const *subjects, const struct kg_timing *timing,
                     kg_error *ret_error)
{
    const bool event = timing->timer == KG_TIMER_EVENT;
    const bool planted = !event && subjects[KG_LANE_PLANTED];
    b->room = event && timing->samples > MAX_TURNS ? timing->samples : MAX_TURNS;
    b->warm_orders = malloc((size_t)b->room);
    b->orders = malloc((size_t)b->room);
    bool complete = b->warm_orders && b->orders;
    for (int which = 0; which < KG_LANES; which++) {
        if (!subjects[which] || (event && which > KG_LANE_BASELINE))
            continue;
        b->which[b->n_lanes] = which;
        struct kg_lane *lane = &b->lanes[b->n_lanes++];
        lane->subject = subjects[which];
        lane->spin_us = planted ? 0 : -1;
        lane->us = malloc((size_t)b->room * sizeof *lane->us);
        complete = lane->us && complete;
    }
    return complete ? KG_OK : kg_fail(ret_error, KG_ENOMEM, "out of memory for samples");
}

static void free_samples(struct kg_block *block)
{
    free(block->samples_us);
    free(block->anchor_samples_us);
    free(block->baseline_samples_us);
}

int kg_measure_block(kg_context *context, struct kg_subject *const subjects[KG_LANES], double planted_pct,
                     const struct kg_timing *timing, uint64_t order_seed, const struct kg_interlude *interlude,
                     struct kg_block *ret_block, kg_error *ret_error)
{
    struct kg_block block = { 0 };
    struct bout b = { .context = context };
    int status = bout_init(&b, subjects, timing, ret_error);
    if (!status)
        status = timing->timer == KG_TIMER_EVENT
                     ? measure_calls(&b, timing, order_seed, &block, ret_error)
                     : measure_windows(&b, planted_pct, timing, order_seed, &block, ret_error);
    if (!status && interlude)
        status = interlude->call(interlude->argument, context, &b.lanes[0], lane_of(&b, KG_LANE_BASELINE), ret_error);
    for (int i = 0; i < b.n_lanes; i++) {
        kg_lane_close(context, &b.lanes[i]);
        free(b.lanes[i].us);
    }
    free(b.warm_orders);
    free(b.orders);
    if (status)
        free_samples(&block);
    else
        *ret_block = block;
    return status;
}
