/* arm.c -- finds how many calls fill a window, makes the windows, and calibrates the spin of a planted slowdown. */
#include "measure/arm.h"

#include <math.h>

#include "base/stats.h"

#define MAX_CALLS 20000
#define SPIN_PAIRS 32     /* windows with and without a spin, in a batch */
#define SPIN_SHARE 0.1    /* of the window: the spin that shows how long spins are */
#define SPIN_WARM_US 20e3 /* the clock is up after this time in windows */
#define SPIN_TRIES 4      /* something else on the machine may hide a spin */

/* Calls are captured and replayed. */
static bool replays(const struct kg_arm *arm)
{
    return arm->prepared->context->device.kind == KG_CUDA;
}

static void free_window(const struct kg_arm *arm, kg_window *window)
{
    arm->prepared->context->ops->window_free(arm->prepared->context, window);
}

static int launch_on_set(void *argument, int index, void *stream, kg_error *ret_error)
{
    const struct kg_set_calls *calls = argument;
    if (!calls->prepared->rotates)
        calls->prepared->set = calls->set;
    return kg_prepared_launch(calls->prepared, index, stream, ret_error);
}

/* Cold rings are walked whole, so that every window starts at the same slice. */
static int round_up_to_ring(const struct kg_prepared *prepared, double calls)
{
    int n = calls < 1 ? 1 : calls > MAX_CALLS ? MAX_CALLS : (int)ceil(calls);
    return prepared->rotates ? (n + prepared->n_ring - 1) / prepared->n_ring * prepared->n_ring : n;
}

static int make_window(struct kg_arm *arm, int set, int calls, bool graph, double spin_us, kg_window **ret_window,
                       kg_error *ret_error)
{
    arm->of_set[set] = (struct kg_set_calls){ arm->prepared, (unsigned)set };
    if (arm->prepared->rotates)
        arm->prepared->set = 0;
    return arm->prepared->context->ops->window_new(arm->prepared->context, launch_on_set, &arm->of_set[set], calls,
                                                   graph, spin_us, ret_window, ret_error);
}

static int time_window(struct kg_arm *arm, int calls, bool graph, kg_window **ret_window, double *ret_us,
                       kg_error *ret_error)
{
    double us[4];
    kg_window *window = NULL;
    int status = make_window(arm, 0, calls, graph, arm->spin_us, &window, ret_error);
    kg_window *const order[4] = { window, window, window, window };
    if (!status)
        status = kg_device_measure(arm->prepared->context, order, 4, us, ret_error);
    if (status) {
        free_window(arm, window);
        return status;
    }
    *ret_us = kg_median(us + 1, 3);
    *ret_window = window;
    return KG_OK;
}

/* From one call's time, corrected by the window's own time, since a launch by itself costs more than a node of a
 * graph. */
int kg_arm_open(struct kg_arm *arm, double window_us, kg_error *ret_error)
{
    double us = 0;
    kg_window *window = NULL;
    int status = time_window(arm, 1, false, &window, &us, ret_error);
    if (status)
        return status;
    free_window(arm, window);
    arm->calls = round_up_to_ring(arm->prepared, window_us / us);
    for (int attempt = 0;; attempt++) {
        status = time_window(arm, arm->calls, replays(arm), &window, &us, ret_error);
        if (status)
            return status;
        if (us >= window_us || arm->calls >= MAX_CALLS || attempt == 3)
            break;
        free_window(arm, window);
        arm->calls = round_up_to_ring(arm->prepared, 1.1 * arm->calls * window_us / (us > 0 ? us : 1));
    }
    arm->window_us = us;
    arm->windows[arm->n_windows++] = window;
    return KG_OK;
}

int kg_arm_set_calls(struct kg_arm *arm, int calls, kg_error *ret_error)
{
    kg_window *window = NULL;
    double us = 0;
    const bool graph = replays(arm);
    int status = calls == arm->calls ? KG_OK : time_window(arm, calls, graph, &window, &us, ret_error);
    if (status || !window)
        return status;
    free_window(arm, arm->windows[0]);
    arm->windows[0] = window;
    arm->window_us = us;
    arm->calls = calls;
    return KG_OK;
}

/* Plain windows and windows with a spin, in turns until the clock is up; the medians of the last batch. */
static int compare_spin(const struct kg_arm *arm, kg_window *plain, kg_window *spun, double window_us,
                        double *ret_plain_us, double *ret_spun_us, kg_error *ret_error)
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
        status = kg_device_measure(arm->prepared->context, order, 2 * pairs, us, ret_error);
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
int kg_arm_plant(struct kg_arm *arm, double planted_pct, kg_error *ret_error)
{
    const bool graph = replays(arm);
    const double share_us = SPIN_SHARE * arm->window_us;
    double plain_us = 0, spun_us = 0;
    kg_window *spun = NULL;
    int status = make_window(arm, 0, arm->calls, graph, share_us, &spun, ret_error);
    for (int i = 0; i < SPIN_TRIES && !status && !(spun_us > plain_us); i++)
        status = compare_spin(arm, arm->windows[0], spun, arm->window_us, &plain_us, &spun_us, ret_error);
    free_window(arm, spun);
    if (!status && !(spun_us > plain_us))
        status = kg_fail(ret_error, KG_EDEVICE, "a planted spin of %.3g us took no time", share_us);
    if (status)
        return status;
    const double us_per_us = graph ? (spun_us - plain_us) / share_us : 1;
    arm->spin_us = planted_pct / 100 * plain_us / us_per_us;
    kg_window *planted = NULL;
    status = make_window(arm, 0, arm->calls, graph, arm->spin_us, &planted, ret_error);
    if (status)
        return status;
    free_window(arm, arm->windows[0]);
    arm->windows[0] = planted;
    return KG_OK;
}

int kg_arm_spread(struct kg_arm *arm, int wanted, kg_error *ret_error)
{
    const int sets = arm->prepared->rotates ? 1 : arm->prepared->n_ring;
    const int most = wanted < KG_MAX_SETS ? wanted : KG_MAX_SETS;
    int status = KG_OK;
    for (int i = 1; i < sets && i < most && !status; i++) {
        status = make_window(arm, i, arm->calls, replays(arm), arm->spin_us, &arm->windows[i], ret_error);
        arm->n_windows += !status;
    }
    return status;
}

int kg_arm_open_call(struct kg_arm *arm, kg_error *ret_error)
{
    arm->prepared->set = 0; /* inspection took a set and wrote nothing */
    arm->prepared->n_used = 0;
    arm->calls = 1;
    int status = make_window(arm, 0, 1, false, arm->spin_us, &arm->windows[0], ret_error);
    arm->n_windows = !status;
    return status;
}

int kg_arm_replay(struct kg_arm *arm, kg_error *ret_error)
{
    kg_window *order[2 * KG_MAX_SETS];
    double us[2 * KG_MAX_SETS];
    int n = 0;
    if (arm->prepared->rotates)
        arm->prepared->set = 0;
    for (int i = 0; i < arm->n_windows; i++) {
        if (arm->anchor)
            order[n++] = arm->anchor->windows[i % arm->anchor->n_windows];
        order[n++] = arm->windows[i];
    }
    return kg_device_measure(arm->prepared->context, order, n, us, ret_error);
}

int kg_arm_take_turn(struct kg_arm *arm, int turn, double ret_us[2], kg_error *ret_error)
{
    kg_window *window = kg_arm_window(arm, turn), *const twice[] = { window, window };
    int status = kg_device_measure(arm->prepared->context, twice, 2, ret_us, ret_error);
    arm->prepared->failed = arm->prepared->failed || status;
    return status;
}

int kg_arm_single(struct kg_arm *arm, int set, kg_window **ret_window, kg_error *ret_error)
{
    kg_context *context = arm->prepared->context;
    struct kg_set_calls *calls = &arm->of_single;
    const bool rotates = arm->prepared->rotates;
    *calls = (struct kg_set_calls){ arm->prepared, (unsigned)set };
    arm->prepared->rotates = false; /* of a cold ring too the set that is asked for */
    int status = context->ops->window_new(context, launch_on_set, calls, 1, replays(arm), -1, ret_window, ret_error);
    arm->prepared->rotates = rotates;
    return status;
}

void kg_arm_free_single(struct kg_arm *arm, kg_window *window)
{
    free_window(arm, window);
}

int kg_arm_run_single(struct kg_arm *arm, kg_window *window, bool behind, kg_error *ret_error)
{
    kg_window *const both[] = { arm->windows[0], window };
    const bool rotates = arm->prepared->rotates;
    double us[2];
    arm->prepared->rotates = false; /* where nothing captures it is called now */
    int status = kg_device_measure(arm->prepared->context, behind ? both : both + 1, behind ? 2 : 1, us, ret_error);
    arm->prepared->rotates = rotates;
    return status;
}

void kg_arm_close(struct kg_arm *arm)
{
    for (int i = 0; i < arm->n_windows; i++)
        free_window(arm, arm->windows[i]);
    arm->n_windows = 0;
}
