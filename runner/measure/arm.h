/* lane.h -- one of the subjects of a block with its windows: one a buffer set, or one over the whole ring of a cold
 * cache, all of equally many calls. */
#ifndef KG_LANE_H
#define KG_LANE_H

#include "measure/prepared.h"

#define KG_MAX_PLACES 32

/* A window's calls take one buffer set (captured now, or, where nothing captures, at every run). */
struct kg_placed {
    struct kg_subject *subject;
    unsigned place;
};

struct kg_lane {
    struct kg_subject *subject;
    kg_window *windows[KG_MAX_PLACES];
    struct kg_placed places[KG_MAX_PLACES];
    int n_windows, calls;
    double window_us; /* the first window's time when it was made */
    double spin_us;   /* at the end of every window; negative: none */
    double *us;       /* samples by turn: time of a call. Owned by who measures */
    int ahead;        /* in turn i it runs window i + ahead: lanes on the same sets never use one of them in one turn */
};

/* Makes the first window, of calls that last at least window_us together. A subject and spin_us are set. */
int kg_lane_open(kg_context *context, struct kg_lane *lane, double window_us, kg_error *ret_error);

/* Makes the first window anew of so many calls. */
int kg_lane_set_calls(kg_context *context, struct kg_lane *lane, int calls, kg_error *ret_error);

/* Makes the first window anew with a spin that makes it longer by `planted_pct`; it must end with a spin of 0 before.
 */
int kg_lane_plant(kg_context *context, struct kg_lane *lane, double planted_pct, kg_error *ret_error);

/* The windows of the other buffer sets, up to `places` in all. */
int kg_lane_spread(kg_context *context, struct kg_lane *lane, int places, kg_error *ret_error);

/* For single calls: one window of one call that is launched, not replayed. */
int kg_lane_open_call(kg_context *context, struct kg_lane *lane, kg_error *ret_error);

/* All windows once more, untimed. */
int kg_lane_replay(kg_context *context, struct kg_lane *lane, kg_error *ret_error);

/* One call alone on a buffer set, captured anew where calls are captured. */
int kg_lane_call_once(kg_context *context, struct kg_lane *lane, int set, kg_error *ret_error);

void kg_lane_close(kg_context *context, struct kg_lane *lane); /* a zeroed one is accepted */

#endif
