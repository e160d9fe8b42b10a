/* run_facts.h -- what reports derive from a whole run and all mean the same by. Pure. */
#ifndef KG_RUN_FACTS_H
#define KG_RUN_FACTS_H

#include "judge/noise.h"
#include "reports/report.h"

/* Commit that was measured: the module's, or the run's (--git-sha) where the build saw no repository. */
const char *kg_fact_sha(const struct kg_run *run);
bool kg_fact_dirty(const struct kg_run *run);

/* Whether a case of it was timed: without --no-time it may still have been only cases that failed, skipped, or are
 * never timed. */
bool kg_fact_run_timed(const struct kg_run *run);

/* No result before it is of its suite: where a report that groups by suite begins a group. */
bool kg_fact_first_of_suite(const struct kg_run *run, size_t index);

/* The row of the module's kernel table that this device loads; NULL where the kernel is not the module's. */
const kg_kernel *kg_fact_kernel(const struct kg_run *run, const char *name);

/* How steady the machine was, over the blocks of all results. */
struct kg_steadiness {
    size_t blocks, throttled, shared; /* shared: another process computed on the device */
    kg_noise_set throttles;           /* union of what lowered the clock */
    kg_noise_set setting;             /* how the device is set up: "clocks not locked", "passthrough" */
    int clock_min_mhz, clock_max_mhz; /* 0 where not known */
};
struct kg_steadiness kg_fact_steadiness(const struct kg_run *run);

/* How well the device was kept at work between the first window of a block and its last, warm-up included. */
struct kg_device_use {
    size_t blocks;
    double span_s, busy_s; /* host's clock; of it, the device in windows */
    double idle_pct;       /* NAN: not known */
};
struct kg_device_use kg_fact_use(const struct kg_run *run, int round); /* round 0: of all rounds */
int kg_fact_rounds(const struct kg_run *run);                          /* rounds of timing */
size_t kg_fact_stopped(const struct kg_run *run);                      /* results without a decision: the run ended */

#endif
