/* recorded_block.h -- what is kept of a measured block: times as logarithms, so that ratios are differences. */
#ifndef KG_RECORDED_BLOCK_H
#define KG_RECORDED_BLOCK_H

#include "judge/result.h"

#define KG_SERIES_SAMPLES 8 /* windows of the case that are kept of a block */

struct kg_recorded_block {
    double log_p50;      /* of us */
    double log_ratio;    /* case / anchor; NAN: no anchor */
    double log_against;  /* case / baseline */
    double log_baseline; /* of us */
    double log_anchor;   /* of us; NAN: no anchor */
    double planted_pct;  /* of the arm beside the case, its windows longer by this; 0: none, and both logarithms NAN */
    double log_planted;  /* planted case / baseline */
    double log_planted_p50; /* of us */
    double busy_us;         /* in windows, the warm-up's too */
    int calls;
    int clock_mhz;                     /* at the end; -1: unknown */
    long long throttle;                /* reasons at either end, NVML's bits; -1: unknown */
    double samples[KG_SERIES_SAMPLES]; /* logarithms of us, evenly taken from the block's windows */
};

struct kg_recorded_block kg_recorded_block_of(const struct kg_block *block);

#endif
