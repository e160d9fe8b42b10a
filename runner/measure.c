/* measure.c -- finds how many calls fill a window, warms up until the medians stand still, then samples. */
#include "measure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "random.h"
#include "stats.h"

#define MAX_CALLS 20000
#define MIN_PAIRS 8
#define MAX_PAIRS 512
#define MAX_PLACES 32
#define WARM_PAIRS 16
#define WARM_MIN_US 20e3
#define WARM_MAX_US 400e3
#define WARM_STILL 0.003 /* change of the median between two batches that counts as standing still */

void kg_balanced_order(uint64_t seed, bool *ret_first, int count)
{
    for (int i = 0; i < count; i++)
        ret_first[i] = i < count / 2 || (i == count - 1 && count % 2 && (kg_mix64(seed) & 1));
    for (int i = count - 1; i > 0; i--) {
        int j = (int)(kg_mix64(seed + (uint64_t)i * 0x9e3779b97f4a7c15u) % (uint64_t)(i + 1));
        bool kept = ret_first[i];
        ret_first[i] = ret_first[j];
        ret_first[j] = kept;
    }
}

static int run_chunk(kg_context *context, kg_window *window, int count, double *ret_us, kg_error *ret_error)
{
    kg_window *order[KG_MAX_BATCH];
    for (int i = 0; i < count; i++)
        order[i] = window;
    return context->ops->measure(context, order, count, ret_us, ret_error);
}

/* A window's calls take one buffer set (captured now, or, where nothing captures, at every run). */
struct placed {
    struct kg_subject *subject;
    unsigned place;
};

static int launch_placed(void *argument, int index, void *stream, kg_error *ret_error)
{
    const struct placed *placed = argument;
    if (!placed->subject->rotates)
        placed->subject->place = placed->place;
    return kg_subject_launch(placed->subject, index, stream, ret_error);
}

/* A subject's windows, of equally many calls: one a buffer set, or one over the whole ring of a cold cache. */
struct lane {
    struct kg_subject *subject; /* NULL: no anchor */
    kg_window *windows[MAX_PLACES];
    struct placed places[MAX_PLACES];
    int n_windows, calls;
    double *us; /* samples: of whole windows, then of calls */
};

/* Cold rings are walked whole, so that every window starts at the same slice. */
static int round_up_to_ring(const struct kg_subject *subject, double calls)
{
    int n = calls < 1 ? 1 : calls > MAX_CALLS ? MAX_CALLS : (int)ceil(calls);
    return subject->rotates ? (n + subject->n_ring - 1) / subject->n_ring * subject->n_ring : n;
}

static int time_window(kg_context *context, struct placed *placed, int calls, bool graph, kg_window **ret_window,
                       double *ret_us, kg_error *ret_error)
{
    double us[4];
    kg_window *window = NULL;
    placed->subject->place = 0;
    int status = context->ops->window_new(context, launch_placed, placed, calls, graph, &window, ret_error);
    if (!status)
        status = run_chunk(context, window, 4, us, ret_error);
    if (status) {
        context->ops->window_free(context, window);
        return status;
    }
    *ret_us = kg_median(us + 1, 3);
    *ret_window = window;
    return KG_OK;
}

/* Calls that last at least window_us: from one call's time, corrected by the window's own time, since a launch by
 * itself costs more than a node of a graph. */
static int first_window(kg_context *context, struct lane *lane, double window_us, kg_error *ret_error)
{
    double us = 0;
    kg_window *window = NULL;
    int status = time_window(context, &lane->places[0], 1, false, &window, &us, ret_error);
    if (status)
        return status;
    context->ops->window_free(context, window);
    lane->calls = round_up_to_ring(lane->subject, window_us / us);
    for (int attempt = 0;; attempt++) {
        status = time_window(context, &lane->places[0], lane->calls, context->device.kind == KG_CUDA, &window, &us,
                             ret_error);
        if (status)
            return status;
        if (us >= window_us || lane->calls >= MAX_CALLS || attempt == 3)
            break;
        context->ops->window_free(context, window);
        lane->calls = round_up_to_ring(lane->subject, 1.1 * lane->calls * window_us / (us > 0 ? us : 1));
    }
    lane->windows[lane->n_windows++] = window;
    return KG_OK;
}

static int lane_open(kg_context *context, struct kg_subject *subject, double window_us, struct lane *lane,
                     kg_error *ret_error)
{
    lane->subject = subject;
    if (!subject)
        return KG_OK;
    for (int i = 0; i < MAX_PLACES; i++)
        lane->places[i] = (struct placed){ subject, (unsigned)i };
    int status = first_window(context, lane, window_us, ret_error);
    int places = subject->rotates ? 1 : subject->n_ring;
    for (int i = 1; i < places && i < MAX_PLACES && !status; i++) {
        status = context->ops->window_new(context, launch_placed, &lane->places[i], lane->calls,
                                          context->device.kind == KG_CUDA, &lane->windows[i], ret_error);
        lane->n_windows += !status;
    }
    return status;
}

static void lane_close(kg_context *context, struct lane *lane)
{
    for (int i = 0; i < lane->n_windows; i++)
        context->ops->window_free(context, lane->windows[i]);
    lane->n_windows = 0;
}

/* Pairs first..first+count of windows in the order given; single windows without an anchor. Fills both lanes' us. */
static int run_batch(kg_context *context, struct lane *it, struct lane *anchor, const bool *anchor_first, int first,
                     int count, kg_error *ret_error)
{
    kg_window *order[KG_MAX_BATCH] = { NULL };
    double us[KG_MAX_BATCH];
    const int per_pair = anchor->subject ? 2 : 1;
    for (int i = 0; i < count; i++) {
        const int pair = first + i, swap = per_pair == 2 && anchor_first[pair];
        order[per_pair * i + swap] = it->windows[pair % it->n_windows];
        if (per_pair == 2)
            order[2 * i + !swap] = anchor->windows[pair % anchor->n_windows];
    }
    int status = context->ops->measure(context, order, per_pair * count, us, ret_error);
    for (int i = 0; i < count && !status; i++) {
        const int pair = first + i, swap = per_pair == 2 && anchor_first[pair];
        it->us[pair] = us[per_pair * i + swap] / it->calls;
        if (per_pair == 2)
            anchor->us[pair] = us[2 * i + !swap] / anchor->calls;
    }
    return status;
}

/* In the same mixture that is measured, since a power-limited device settles on the mixture: until the medians of two
 * batches in a row stand still. ret_us: of one pair. */
static int warm_up(kg_context *context, struct lane *it, struct lane *anchor, const bool *anchor_first, double *ret_us,
                   kg_error *ret_error)
{
    double before = 0, before_anchor = 0, spent_us = 0;
    int still = 0, count = WARM_PAIRS, done = 0;
    /* Every buffer set has its turn; then the first ones again, since only a set's own times can stand still. */
    while (done < it->n_windows || (spent_us < WARM_MAX_US && !(spent_us > WARM_MIN_US && still >= 2))) {
        int first = done < it->n_windows ? done : 0;
        int status = run_batch(context, it, anchor, anchor_first, first, count, ret_error);
        if (status)
            return status;
        double us = kg_median(it->us + first, (size_t)count);
        double anchor_us = anchor->subject ? kg_median(anchor->us + first, (size_t)count) : 0;
        done += count;
        bool stands = fabs(us / before - 1) < WARM_STILL &&
                      (!anchor->subject || fabs(anchor_us / before_anchor - 1) < WARM_STILL);
        still = stands ? still + 1 : 0;
        before = us;
        before_anchor = anchor_us;
        *ret_us = us * it->calls + anchor_us * anchor->calls;
        spent_us += *ret_us * count;
        if (*ret_us * count > WARM_MIN_US && count > 2)
            count = 2;
    }
    return KG_OK;
}

static int run_pairs(kg_context *context, struct lane *it, struct lane *anchor, const bool *anchor_first, int count,
                     kg_error *ret_error)
{
    const int batch = anchor->subject ? KG_MAX_BATCH / 2 : KG_MAX_BATCH;
    int status = KG_OK;
    for (int first = 0; first < count && !status; first += batch)
        status = run_batch(context, it, anchor, anchor_first, first, count - first < batch ? count - first : batch,
                           ret_error);
    return status;
}

/* Mean over the buffer sets of each set's median: a median over all would jump with the share of slow placements. */
double kg_mean_of_medians(const double *values, size_t count, size_t places)
{
    double sum = 0, one[MAX_PAIRS];
    size_t used = 0;
    for (size_t place = 0; place < places && place < count; place++) {
        size_t n = 0;
        for (size_t i = place; i < count && n < MAX_PAIRS; i += places)
            one[n++] = values[i];
        sum += kg_median(one, n);
        used++;
    }
    return used ? sum / (double)used : NAN;
}

static void fill_block(const struct lane *it, const struct lane *anchor, int count, struct kg_block *block)
{
    const size_t n = (size_t)count, places = (size_t)it->n_windows;
    block->calls = it->calls;
    block->samples_us = it->us;
    block->n_samples = n;
    block->p50_us = kg_mean_of_medians(it->us, n, places);
    if (!anchor->subject)
        return;
    block->anchor_samples_us = anchor->us;
    block->n_anchor_samples = n;
    block->anchor_p50_us = kg_mean_of_medians(anchor->us, n, (size_t)anchor->n_windows);
    double ratios[MAX_PAIRS];
    for (size_t i = 0; i < n; i++)
        ratios[i] = log(it->us[i] / anchor->us[i]);
    block->log_ratio = kg_mean_of_medians(ratios, n, places);
}

static int measure_lanes(kg_context *context, struct lane *it, struct lane *anchor, bool *anchor_first, double block_us,
                         uint64_t order_seed, struct kg_block *block, kg_error *ret_error)
{
    double pair_us = 0;
    kg_balanced_order(order_seed, anchor_first, MAX_PAIRS);
    int status = warm_up(context, it, anchor, anchor_first, &pair_us, ret_error);
    if (status)
        return status;
    double wanted = block_us / pair_us;
    int count = wanted > MAX_PAIRS ? MAX_PAIRS : (int)wanted;
    count = count / it->n_windows * it->n_windows; /* every placement equally often */
    if (count < MIN_PAIRS)
        count = it->n_windows > MIN_PAIRS ? it->n_windows : MIN_PAIRS;
    kg_balanced_order(order_seed + 1, anchor_first, count);
    context->ops->state(context, &block->before);
    status = run_pairs(context, it, anchor, anchor_first, count, ret_error);
    context->ops->state(context, &block->after);
    if (!status)
        fill_block(it, anchor, count, block);
    return status;
}

static int measure_windows(kg_context *context, struct kg_subject *subject, struct kg_subject *anchor,
                           const struct kg_timing *timing, uint64_t order_seed, struct kg_block *block,
                           kg_error *ret_error)
{
    bool anchor_first[MAX_PAIRS];
    struct lane it = { .us = malloc(MAX_PAIRS * sizeof *it.us) };
    struct lane other = { .us = anchor ? malloc(MAX_PAIRS * sizeof *other.us) : NULL };
    /* One tick of the timer is at most a tenth of the threshold. */
    double tick_limit_us = 10 * context->ops->timer_tick_us(context) / (timing->threshold_pct / 100);
    double window_us = fmax(timing->window_us, fmin(tick_limit_us, 100 * timing->window_us));
    int status = KG_OK;
    if (!it.us || (anchor && !other.us))
        status = kg_fail(ret_error, KG_ENOMEM, "out of memory for samples");
    if (!status)
        status = lane_open(context, anchor, window_us, &other, ret_error);
    if (!status)
        status = lane_open(context, subject, window_us, &it, ret_error);
    if (!status)
        status = measure_lanes(context, &it, &other, anchor_first, timing->block_us, order_seed, block, ret_error);
    lane_close(context, &it);
    lane_close(context, &other);
    if (status) {
        free(it.us);
        free(other.us);
    }
    return status;
}

/* The older harnesses' way: each call alone between two events. */
static int measure_calls(kg_context *context, struct kg_subject *subject, const struct kg_timing *timing,
                         struct kg_block *block, kg_error *ret_error)
{
    kg_window *window = NULL;
    double discarded[KG_MAX_BATCH];
    double *us = malloc((size_t)timing->samples * sizeof *us);
    if (!us)
        return kg_fail(ret_error, KG_ENOMEM, "out of memory for samples");
    subject->place = 0; /* inspection took a set and wrote nothing */
    subject->n_used = 0;
    int status = context->ops->window_new(context, kg_subject_launch, subject, 1, false, &window, ret_error);
    for (int done = 0; done < timing->warmup && !status; done += KG_MAX_BATCH) {
        int left = timing->warmup - done;
        status = run_chunk(context, window, left < KG_MAX_BATCH ? left : KG_MAX_BATCH, discarded, ret_error);
    }
    context->ops->state(context, &block->before);
    for (int done = 0; done < timing->samples && !status; done += KG_MAX_BATCH) {
        int left = timing->samples - done;
        status = run_chunk(context, window, left < KG_MAX_BATCH ? left : KG_MAX_BATCH, us + done, ret_error);
    }
    context->ops->state(context, &block->after);
    context->ops->window_free(context, window);
    if (status) {
        free(us);
        return status;
    }
    block->calls = 1;
    block->samples_us = us;
    block->n_samples = (size_t)timing->samples;
    block->p50_us = kg_median(us, block->n_samples);
    return KG_OK;
}

int kg_measure_block(kg_context *context, struct kg_subject *subject, struct kg_subject *anchor,
                     const struct kg_timing *timing, uint64_t order_seed, struct kg_block *ret_block,
                     kg_error *ret_error)
{
    struct kg_block block = { 0 };
    int status = timing->timer == KG_TIMER_EVENT
                     ? measure_calls(context, subject, timing, &block, ret_error)
                     : measure_windows(context, subject, anchor, timing, order_seed, &block, ret_error);
    if (!status)
        *ret_block = block;
    return status;
}
