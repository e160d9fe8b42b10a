/* detectable.h -- gates of blocks that are drawn from a case's own, with replacement: what later runs on this machine
 * would find, at sizes that no block has. Pure. */
#ifndef KG_DETECTABLE_H
#define KG_DETECTABLE_H

#include "selfcheck/gate.h"

#define KG_DETECTABLE_GATES 1000
#define KG_DETECTABLE_SHARE 0.99

/* Judged by --against. */
struct kg_draw {
    const double *logs; /* candidate / baseline of unchanged blocks */
    int count;
    const struct kg_series *like; /* what else a block holds */
    double sd, floor_pct;         /* that later runs on this machine will know of the case */
    int max_blocks;               /* of a set of rounds */
};

/* The same seed draws the same blocks at every size. */
struct kg_gate_answer kg_draw_gate(const struct kg_draw *draw, double change_pct, double threshold_pct, uint64_t seed);

/* Smallest of a ladder of sizes that at least KG_DETECTABLE_SHARE of the gates call SLOW, the threshold being half of
 * it. 0: none. */
double kg_detectable_pct(const struct kg_draw *draw);

#endif
