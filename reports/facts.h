/* facts.h -- what reports derive from a result (facts.c) or from the whole run (run_facts.c), and all mean the same by.
 * Pure; nothing here allocates or prints.
 * A LOST result may have no suite, backend or problem: the id is then all there is. */
#ifndef KG_FACTS_H
#define KG_FACTS_H

#include "base/format.h"
#include "judge/noise.h"
#include "reports/report.h"

/* ---- of a result ---- */

struct kg_text kg_fact_suite(const struct kg_result *result);
bool kg_fact_same_suite(const struct kg_result *a, const struct kg_result *b);
const char *kg_fact_rest(const struct kg_result *result);     /* the id after suite/ */
struct kg_text kg_fact_shape(const struct kg_result *result); /* the row's name */
bool kg_fact_same_shape(const struct kg_result *a, const struct kg_result *b);
const char *kg_fact_regime(const struct kg_result *result);   /* "normal" where there is none */
const char *kg_fact_backend(const struct kg_result *result);  /* the case's own name */
const char *kg_fact_resolved(const struct kg_result *result); /* what ran */
const char *kg_fact_why(const struct kg_result *result);      /* reason of the verdict, else the note; "" */
const char *kg_fact_anchor(const struct kg_result *result);   /* its suite's, by name; "" : none */
const char *kg_fact_judge(const struct kg_result *result);    /* raw, ratio, against; "" where it was not judged */

bool kg_fact_timed(const struct kg_result *result);
/* It was timed, and is not wrong, broken or impossible: its time can be set against another's. */
bool kg_fact_usable(const struct kg_result *result);
/* The case is in order as far as this run is asked: the exit status asks it too. What a stopped run did not reach is
 * not, whatever is allowed. */
bool kg_fact_fine(const struct kg_run *run, const struct kg_result *result);

/* Of a judged result: "+4.1%" and "±0.2"; one digit more where the threshold is below 1%. */
struct kg_text kg_fact_change(const struct kg_result *result);
struct kg_text kg_fact_margin(const struct kg_result *result);

/* Over 1 is faster; NAN where there is nothing to compare with. */
double kg_fact_golden_speedup(const struct kg_result *result); /* or over the baseline, where that judged */
double kg_fact_anchor_speedup(const struct kg_result *result);
double kg_fact_baseline_us(const struct kg_result *result);     /* --against: median of the blocks' p50s */
double kg_fact_utilisation_pct(const struct kg_result *result); /* mean over blocks; NAN where it cannot be read */
double kg_fact_device_seconds(const struct kg_result *result);  /* sum of the timed windows of the case */
size_t kg_fact_samples(const struct kg_result *result);
/* What held during its blocks, but for how the device is set up, which is the run's. */
kg_noise_set kg_fact_noises(const struct kg_result *result);

bool kg_fact_flaked(const struct kg_result *result); /* a first set of rounds said SLOW, and a second did not */

/* Lines, KG_LINE bytes. "" where there is nothing to say. */
typedef void kg_fact_fn(const struct kg_result *result, char *ret_line);
kg_fact_fn kg_fact_problem; /* B=1 H=8 S=512 D=64 dtype=f16 */
kg_fact_fn kg_fact_worst;   /* O[0,3,17,5]: got nan, expected 0.12; only where a gate does not hold */
kg_fact_fn kg_fact_figures; /* max_abs … mean_abs … of N elements */
kg_fact_fn kg_fact_repeats; /* 200 further launches, of which 3 gave other bits */
kg_fact_fn kg_fact_time;    /* p50 26.0 us, p90 …, 1500 samples in 3 blocks */
kg_fact_fn kg_fact_runs;    /* identity of what ran; */
kg_fact_fn kg_fact_against; /* and of the baseline */
kg_fact_fn kg_fact_knobs;   /* tile=64,stages=2 */
kg_fact_fn kg_fact_noise;   /* "power cap, clocks moved" */
kg_fact_fn kg_fact_alarm;   /* +4.0% after 3 blocks, not confirmed by … */

/* ---- of a run ---- */

/* `kgate run … ID` with what the case needs besides; `options` come before the id. KG_LINE bytes. */
void kg_fact_command(const struct kg_run *run, const struct kg_result *result, const char *options, char *ret_line);

/* Commit that was measured: the module's, or the run's (--git-sha) where the build saw no repository. */
const char *kg_fact_sha(const struct kg_run *run);
bool kg_fact_dirty(const struct kg_run *run);
struct kg_text kg_fact_build(const struct kg_run *run);          /* 9f3c1e2-dirty */
struct kg_text kg_fact_baseline_build(const struct kg_run *run); /* of the baseline that there is */

/* Whether a case of it was timed: without --no-time it may still have been only cases that failed, skipped, or are
 * never timed. */
bool kg_fact_run_timed(const struct kg_run *run);
/* How it was timed: "graph, L2 warm, windows of 200.0 us". */
struct kg_text kg_fact_timer(const struct kg_run *run);

/* No result before it is of its suite: where a report that groups by suite begins a group. */
bool kg_fact_first_of_suite(const struct kg_run *run, size_t index);

/* The first result of a backend at a row of its suite; of the seed, where one is given. `usable`: only what can be set
 * against another. NULL: none. */
const struct kg_result *kg_fact_find(const struct kg_run *run, const kg_suite *suite, const kg_backend *backend,
                                     const char *shape, const uint64_t *seed, bool usable);
/* Of the contest's baseline beside `result`, which is the contest's ours, both usable; NULL where they are not. */
const struct kg_result *kg_fact_rival(const struct kg_run *run, const struct kg_result *result);

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
/* "all 12 slow cases launch what their goldens did: …", where two or more are slow and all say so; else "". */
const char *kg_fact_environment(const struct kg_run *run, char ret_line[KG_LINE]);

#endif
