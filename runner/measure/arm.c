/* lane.c -- finds how many calls fill a window, makes the windows, and calibrates the spin of a planted slowdown. */
#include "measure/arm.h"

#include <math.h>

#include "base/stats.h"

#define MAX_CALLS 20000
#define SPIN_PAIRS 32     /* windows with and without a spin, in a batch */
#define SPIN_SHARE 0.1    /* of the window: the spin that shows how long spins are */
#define SPIN_WARM_US 20e3 /* the clock is up after this time in windows */
#define SPIN_TRIES 4      /* something else on the machine may hide a spin */

static int launch_placed(void *argument, int index, void *stream, kg_error *ret_error)
{
    const struct kg_placed *placed = argument;
    if (!placed->subject->rotates)
        placed->subject->place = placed->place;
    return kg_subject_launch(placed->subject, index, stream, ret_error);
}

/* Cold rings are walked whole, so that every window starts at the same slice. */
static int round_up_to_ring(const struct kg_subject *subject, double calls)
{
    int n = calls < 1 ? 1 : calls > MAX_CALLS ? MAX_CALLS : (int)ceil(calls);
    return subject->rotates ? (n + subject->n_ring - 1) / subject->n_ring * subject->n_ring : n;
}

static int make_window(kg_context *context, struct kg_lane *lane, int place, int calls, bool graph, double spin_us,
                       kg_window **ret_window, kg_error *ret_error)
{
    lane->places[place] = (struct kg_placed){ lane->subject, (unsigned)place };
    if (lane->subject->rotates)
        lane->subject->place = 0;
    return context->ops->window_new(context, launch_placed, &lane->places[place], calls, graph, spin_us, ret_window,
                                    ret_error);
}

static int time_window(kg_context *context, struct kg_lane *lane, int calls, bool graph, kg_window **ret_window,
                       double *ret_us, kg_error *ret_error)
{
    double us[4];
    kg_window *window = NULL;
    int status = make_window(context, lane, 0, calls, graph, lane->spin_us, &window, ret_error);
    kg_window *const order[4] = { window, window, window, window };
    if (!status)
        status = kg_device_measure(context, order, 4, us, ret_error);
    if (status) {
        context->ops->window_free(context, window);
        return status;
    }
    *ret_us = kg_median(us + 1, 3);
    *ret_window = window;
    return KG_OK;
}

/* From one call's time, corrected by the window's own time, since a launch by itself costs more than a node of a
 * graph. */
int kg_lane_open(kg_context *context, struct kg_lane *lane, double window_us, kg_error *ret_error)
{
    double us = 0;
    kg_window *window = NULL;
    int status = time_window(context, lane, 1, false, &window, &us, ret_error);
    if (status)
        return status;
    context->ops->window_free(context, window);
    lane->calls = round_up_to_ring(lane->subject, window_us / us);
    for (int attempt = 0;; attempt++) {
        status = time_window(context, lane, lane->calls, context->device.kind == KG_CUDA, &window, &us, ret_error);
        if (status)
            return status;
        if (us >= window_us || lane->calls >= MAX_CALLS || attempt == 3)
            break;
        context->ops->window_free(context, window);
        lane->calls = round_up_to_ring(lane->subject, 1.1 * lane->calls * window_us / (us > 0 ? us : 1));
    }
    lane->window_us = us;
    lane->windows[lane->n_windows++] = window;
    return KG_OK;
}

int kg_lane_set_calls(kg_context *context, struct kg_lane *lane, int calls, kg_error *ret_error)
{
    kg_window *window = NULL;
    double us = 0;
    const bool graph = context->device.kind == KG_CUDA;
    int status = calls == lane->calls ? KG_OK : time_window(context, lane, calls, graph, &window, &us, ret_error);
    if (status || !window)
        return status;
    context->ops->window_free(context, lane->windows[0]);
    lane->windows[0] = window;
    lane->window_us = us;
    lane->calls = calls;
    return KG_OK;
}

/* Plain windows and windows with a spin, in turns until the clock is up; the medians of the last batch. */
static int compare_spin(kg_context *context, kg_window *plain, kg_window *spun, double window_us, double *ret_plain_us,
                        double *ret_spun_us, kg_error *ret_error)
{
    kg_window *order[2 * SPIN_PAIRS];
    double us[2 * SPIN_PAIRS], plain_us[SPIN_PAIRS], spun_us[SPIN_PAIRS];
    const double fit = SPIN_WARM_US / (2 * window_us);
    const int pairs = fit > SPIN_PAIRS ? SPIN_PAIRS : fit < 4 ? 4 : (int)fit;
    for (int i = 0; i < pairs; i++) {
        order[2 * i] = plain;
        order[2 * i + 1] = spun;
    }
    int status = KG_OK;
    for (int batch = 0; batch < 3 && !status; batch++)
        status = kg_device_measure(context, order, 2 * pairs, us, ret_error);
    if (status)
        return status;
    for (int i = 0; i < pairs; i++) {
        plain_us[i] = us[2 * i];
        spun_us[i] = us[2 * i + 1];
    }
    *ret_plain_us = kg_median(plain_us, (size_t)pairs);
    *ret_spun_us = kg_median(spun_us, (size_t)pairs);
    return KG_OK;
}

/* A GPU's spin counts cycles, and how long one is depends on the clock that these windows run at: a spin of a tenth of
 * the window beside windows without one says it. On the CPU a spin watches the clock itself. */
int kg_lane_plant(kg_context *context, struct kg_lane *lane, double planted_pct, kg_error *ret_error)
{
    const bool graph = context->device.kind == KG_CUDA;
    const double share_us = SPIN_SHARE * lane->window_us;
    double plain_us = 0, spun_us = 0;
    kg_window *spun = NULL;
    int status = make_window(context, lane, 0, lane->calls, graph, share_us, &spun, ret_error);
    for (int i = 0; i < SPIN_TRIES && !status && !(spun_us > plain_us); i++)
        status = compare_spin(context, lane->windows[0], spun, lane->window_us, &plain_us, &spun_us, ret_error);
    context->ops->window_free(context, spun);
    if (!status && !(spun_us > plain_us))
        status = kg_fail(ret_error, KG_EDEVICE, "a planted spin of %.3g us took no time", share_us);
    if (status)
        return status;
    const double us_per_us = graph ? (spun_us - plain_us) / share_us : 1;
    lane->spin_us = planted_pct / 100 * plain_us / us_per_us;
    kg_window *planted = NULL;
    status = make_window(context, lane, 0, lane->calls, graph, lane->spin_us, &planted, ret_error);
    if (status)
        return status;
    context->ops->window_free(context, lane->windows[0]);
    lane->windows[0] = planted;
    return KG_OK;
}

int kg_lane_spread(kg_context *context, struct kg_lane *lane, int places, kg_error *ret_error)
{
    const int sets = lane->subject->rotates ? 1 : lane->subject->n_ring;
    const int most = places < KG_MAX_PLACES ? places : KG_MAX_PLACES;
    int status = KG_OK;
    for (int i = 1; i < sets && i < most && !status; i++) {
        status = make_window(context, lane, i, lane->calls, context->device.kind == KG_CUDA, lane->spin_us,
                             &lane->windows[i], ret_error);
        lane->n_windows += !status;
    }
    return status;
}

int kg_lane_open_call(kg_context *context, struct kg_lane *lane, kg_error *ret_error)
{
    lane->subject->place = 0; /* inspection took a set and wrote nothing */
    lane->subject->n_used = 0;
    lane->calls = 1;
    int status = make_window(context, lane, 0, 1, false, lane->spin_us, &lane->windows[0], ret_error);
    lane->n_windows = !status;
    return status;
}

int kg_lane_replay(kg_context *context, struct kg_lane *lane, kg_error *ret_error)
{
    double us[KG_MAX_PLACES];
    if (lane->subject->rotates)
        lane->subject->place = 0;
    return kg_device_measure(context, lane->windows, lane->n_windows, us, ret_error);
}

int kg_lane_call_once(kg_context *context, struct kg_lane *lane, int set, kg_error *ret_error)
{
    double us;
    kg_window *window = NULL;
    struct kg_placed placed = { lane->subject, (unsigned)set };
    const bool rotates = lane->subject->rotates;
    lane->subject->rotates = false; /* of a cold ring too the set that is asked for */
    int status = context->ops->window_new(context, launch_placed, &placed, 1, context->device.kind == KG_CUDA, -1,
                                          &window, ret_error);
    if (!status)
        status = kg_device_measure(context, &window, 1, &us, ret_error);
    context->ops->window_free(context, window);
    lane->subject->rotates = rotates;
    return status;
}

void kg_lane_close(kg_context *context, struct kg_lane *lane)
{
    for (int i = 0; i < lane->n_windows; i++)
        context->ops->window_free(context, lane->windows[i]);
    lane->n_windows = 0;
}
