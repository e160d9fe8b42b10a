/* policy.h -- how the cases of a suite are timed: the suite's policy with the command line's overrides. Pure. */
#ifndef KG_TIMING_H
#define KG_TIMING_H

#include "judge/golden.h"
#include "kgate.h"

/* Blocks of a case: as many are measured at least, at most unless --rounds says otherwise, and for a bless. */
#define KG_MIN_ROUNDS 3
#define KG_MAX_ROUNDS 16
#define KG_BLESS_ROUNDS 8

/* Negative: not given. */
struct kg_timing_overrides {
    int timer, l2, warmup, samples;
    double threshold_pct;
};

struct kg_timing {
    enum kg_timer timer;
    enum kg_l2 l2;
    int warmup, samples; /* KG_TIMER_EVENT: calls */
    double window_us;    /* KG_TIMER_GRAPH: shortest window; on the CPU too, where it is a loop of calls */
    int sets;            /* warm cache: buffer sets that a block's windows take turns on */
    double arm_us;       /* time in windows that each arm of a block aims at: the case, its anchor, its baseline. Two
                          * builds' blocks may last longer, see measure.c */
    double threshold_pct;
    double creep_pct; /* over the best ever blessed */
};

struct kg_timing kg_timing_of(const kg_suite *suite, enum kg_device_kind kind,
                              const struct kg_timing_overrides *overrides);
struct kg_contract kg_timing_contract(const struct kg_timing *timing);

#endif
