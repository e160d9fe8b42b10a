/* arm.h -- a prepared backend in a block, with its windows: one a buffer set, or one over the whole ring of a cold
 * cache, all of equally many calls. */
#ifndef KG_ARM_H
#define KG_ARM_H

#include "measure/prepared.h"

#define KG_MAX_SETS 32

/* A window's calls take one buffer set (captured now, or, where nothing captures, at every run). */
struct kg_set_calls {
    struct kg_prepared *prepared;
    unsigned set;
};

struct kg_arm {
    struct kg_prepared *prepared;
    kg_window *windows[KG_MAX_SETS];
    struct kg_set_calls of_set[KG_MAX_SETS], of_single;
    int n_windows, calls;
    double window_us;      /* the first window's time when it was made */
    double spin_us;        /* at the end of every window; negative: none */
    double *us;            /* samples by turn: time of a call. Owned by who measures */
    struct kg_arm *anchor; /* that runs a window before each of kg_arm_replay, as in its turns; NULL: none */
    int ahead; /* in turn i it runs window i + ahead: arms on the same sets never use one of them in one turn */
};

/* Makes the first window, of calls that last at least window_us together. `prepared` and `spin_us` are set. */
int kg_arm_open(struct kg_arm *arm, double window_us, kg_error *ret_error);

/* Makes the first window anew of so many calls. */
int kg_arm_set_calls(struct kg_arm *arm, int calls, kg_error *ret_error);

/* Makes the first window anew with a spin that makes it longer by `planted_pct`; it must end with a spin of 0 before.
 */
int kg_arm_plant(struct kg_arm *arm, double planted_pct, kg_error *ret_error);

/* The windows of the other buffer sets, up to `wanted` in all. */
int kg_arm_spread(struct kg_arm *arm, int wanted, kg_error *ret_error);

/* For single calls: one window of one call that is launched, not replayed. */
int kg_arm_open_call(struct kg_arm *arm, kg_error *ret_error);

/* Which window it runs in a turn. */
static inline kg_window *kg_arm_window(const struct kg_arm *arm, int turn)
{
    return arm->windows[(turn + arm->ahead) % arm->n_windows];
}

/* The times of that window twice, of which the second counts: before it another process had the device. */
int kg_arm_take_turn(struct kg_arm *arm, int turn, double ret_us[2], kg_error *ret_error);

/* All windows once more, untimed, behind windows of its anchor. */
int kg_arm_replay(struct kg_arm *arm, kg_error *ret_error);

/* A window of one call on a buffer set, captured where calls are. kg_arm_free_single frees it; NULL is accepted. */
int kg_arm_single(struct kg_arm *arm, int set, kg_window **ret_window, kg_error *ret_error);
void kg_arm_free_single(struct kg_arm *arm, kg_window *window);

/* Its call: alone, or right behind the calls of the first window, without a pause that a kernel could tell it by. */
int kg_arm_run_single(struct kg_arm *arm, kg_window *window, bool behind, kg_error *ret_error);

void kg_arm_close(struct kg_arm *arm); /* a zeroed one is accepted */

#endif
