/* measure.c -- finds how many calls fill a window, warms up until the median stands still, then samples. */
#include "measure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "random.h"
#include "stats.h"

#define MAX_CALLS 20000
#define MIN_PAIRS 5
#define MAX_PAIRS 512
#define WARM_CHUNK 8
#define WARM_MIN_US 20e3
#define WARM_MAX_US 400e3
#define WARM_STILL 0.003 /* change of the median between two chunks that counts as standing still */

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

/* Cold rings are walked whole, so that every window starts at the same slice. */
static int round_up_to_ring(const struct kg_subject *subject, double calls)
{
    int n = calls < 1 ? 1 : calls > MAX_CALLS ? MAX_CALLS : (int)ceil(calls);
    return (n + subject->n_ring - 1) / subject->n_ring * subject->n_ring;
}

/* A window that lasts at least window_us: from one call's time, corrected by the window's own time, since a launch by
 * itself costs more than a node of a graph. */
static int make_window(kg_context *context, struct kg_subject *subject, double window_us, kg_window **ret_window,
                       int *ret_calls, kg_error *ret_error)
{
    const bool graph = context->device.kind == KG_CUDA;
    double us[4];
    kg_window *window = NULL;
    int status = context->ops->window_new(context, kg_subject_launch, subject, 1, false, &window, ret_error);
    if (!status)
        status = run_chunk(context, window, 4, us, ret_error);
    context->ops->window_free(context, window);
    if (status)
        return status;
    int calls = round_up_to_ring(subject, window_us / kg_median(us + 1, 3));
    for (int attempt = 0; attempt < 4; attempt++) {
        window = NULL;
        subject->next = 0;
        status = context->ops->window_new(context, kg_subject_launch, subject, calls, graph, &window, ret_error);
        if (!status)
            status = run_chunk(context, window, 4, us, ret_error);
        double took = status ? 0 : kg_median(us + 1, 3);
        if (!status && (took >= window_us || calls >= MAX_CALLS || attempt == 3)) {
            *ret_window = window;
            *ret_calls = calls;
            return KG_OK;
        }
        context->ops->window_free(context, window);
        if (status)
            return status;
        calls = round_up_to_ring(subject, 1.1 * calls * window_us / (took > 0 ? took : 1));
    }
    return KG_EDEVICE;
}

/* By time, until the median of a chunk stands still. ret_us: of one window. */
static int warm_up(kg_context *context, kg_window *window, double *ret_us, kg_error *ret_error)
{
    double before = 0, spent_us = 0, us[WARM_CHUNK];
    int still = 0;
    while (spent_us < WARM_MAX_US) {
        int count = before > WARM_MIN_US ? 2 : WARM_CHUNK;
        int status = run_chunk(context, window, count, us, ret_error);
        if (status)
            return status;
        double median = kg_median(us, (size_t)count);
        spent_us += median * count;
        still = fabs(median / before - 1) < WARM_STILL ? still + 1 : 0;
        before = median;
        if (spent_us > WARM_MIN_US && still >= 2)
            break;
    }
    *ret_us = before;
    return KG_OK;
}

struct pairs {
    kg_window *window, *anchor; /* anchor NULL: single windows */
    int calls, anchor_calls;
    int count;
    bool *anchor_first;
    double *us, *anchor_us; /* of whole windows, then of calls */
};

static int run_pairs(kg_context *context, struct pairs *p, kg_error *ret_error)
{
    const int per_pair = p->anchor ? 2 : 1, batch = KG_MAX_BATCH / per_pair;
    for (int start = 0; start < p->count; start += batch) {
        kg_window *order[KG_MAX_BATCH];
        double us[KG_MAX_BATCH];
        int pairs = p->count - start < batch ? p->count - start : batch;
        for (int i = 0; i < pairs; i++) {
            bool first = p->anchor && p->anchor_first[start + i];
            order[per_pair * i] = first ? p->anchor : p->window;
            if (p->anchor)
                order[2 * i + 1] = first ? p->window : p->anchor;
        }
        int status = context->ops->measure(context, order, per_pair * pairs, us, ret_error);
        if (status)
            return status;
        for (int i = 0; i < pairs; i++) {
            bool first = p->anchor && p->anchor_first[start + i];
            p->us[start + i] = us[per_pair * i + (first ? 1 : 0)] / p->calls;
            if (p->anchor)
                p->anchor_us[start + i] = us[2 * i + (first ? 0 : 1)] / p->anchor_calls;
        }
    }
    return KG_OK;
}

static void fill_block(const struct pairs *p, struct kg_block *block)
{
    size_t count = (size_t)p->count;
    block->calls = p->calls;
    block->samples_us = p->us;
    block->n_samples = count;
    block->p50_us = kg_median(p->us, count);
    if (!p->anchor)
        return;
    block->anchor_samples_us = p->anchor_us;
    block->n_anchor_samples = count;
    block->anchor_p50_us = kg_median(p->anchor_us, count);
    double ratios[MAX_PAIRS];
    for (size_t i = 0; i < count; i++)
        ratios[i] = log(p->us[i] / p->anchor_us[i]);
    block->log_ratio = kg_median(ratios, count);
}

static int pairs_allocate(struct pairs *p, int count, uint64_t order_seed, kg_error *ret_error)
{
    p->count = count;
    p->us = malloc((size_t)count * sizeof *p->us);
    p->anchor_us = p->anchor ? malloc((size_t)count * sizeof *p->anchor_us) : NULL;
    p->anchor_first = malloc((size_t)count * sizeof *p->anchor_first);
    if (!p->us || !p->anchor_first || (p->anchor && !p->anchor_us))
        return kg_fail(ret_error, KG_ENOMEM, "out of memory for samples");
    kg_balanced_order(order_seed, p->anchor_first, count);
    return KG_OK;
}

static void pairs_done(kg_context *context, struct pairs *p, bool failed)
{
    context->ops->window_free(context, p->window);
    context->ops->window_free(context, p->anchor);
    free(p->anchor_first);
    if (failed) {
        free(p->us);
        free(p->anchor_us);
    }
}

static int measure_windows(kg_context *context, struct kg_subject *subject, struct kg_subject *anchor,
                           const struct kg_timing *timing, uint64_t order_seed, struct kg_block *block,
                           kg_error *ret_error)
{
    struct pairs p = { 0 };
    /* One tick of the timer is at most a tenth of the threshold. */
    double tick_limit_us = 10 * context->ops->timer_tick_us(context) / (timing->threshold_pct / 100);
    double window_us = fmax(timing->window_us, fmin(tick_limit_us, 100 * timing->window_us));
    double us = 0, anchor_us = 0;
    int status = make_window(context, subject, window_us, &p.window, &p.calls, ret_error);
    if (!status && anchor)
        status = make_window(context, anchor, window_us, &p.anchor, &p.anchor_calls, ret_error);
    if (!status && anchor)
        status = warm_up(context, p.anchor, &anchor_us, ret_error);
    if (!status)
        status = warm_up(context, p.window, &us, ret_error);
    if (!status) {
        double pairs = timing->block_us / (us + anchor_us);
        int count = pairs < MIN_PAIRS ? MIN_PAIRS : pairs > MAX_PAIRS ? MAX_PAIRS : (int)pairs;
        status = pairs_allocate(&p, count, order_seed, ret_error);
    }
    context->ops->state(context, &block->before);
    if (!status)
        status = run_pairs(context, &p, ret_error);
    context->ops->state(context, &block->after);
    if (!status)
        fill_block(&p, block);
    pairs_done(context, &p, status != KG_OK);
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
