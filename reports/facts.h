/* facts.h -- what reports derive from a result and all mean the same by; of a run: run_facts.h. Pure; nothing here
 * allocates or prints.
 * A LOST result may have no suite, backend or problem: the id is then all there is. */
#ifndef KG_FACTS_H
#define KG_FACTS_H

#include "reports/format.h"
#include "judge/noise.h"
#include "reports/report.h"

#define KG_LINE 1200 /* bytes of a line that the functions below write */

struct kg_text kg_fact_suite(const struct kg_result *result);
bool kg_fact_same_suite(const struct kg_result *a, const struct kg_result *b);
const char *kg_fact_rest(const struct kg_result *result);     /* the id after suite/ */
struct kg_text kg_fact_shape(const struct kg_result *result); /* the row's name */
const char *kg_fact_backend(const struct kg_result *result);  /* the case's own name */
const char *kg_fact_resolved(const struct kg_result *result); /* what ran */
const char *kg_fact_why(const struct kg_result *result);      /* reason of the verdict, else the note; "" */
const char *kg_fact_anchor(const struct kg_result *result);   /* name; "" where there is none */

bool kg_fact_timed(const struct kg_result *result);
/* The case is in order as far as this run is asked. LOST is not, even where undecided cases are allowed, and neither is
 * what a stopped run did not reach. */
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

/* Length of the program's name at the start of run->command. */
int kg_fact_program(const struct kg_run *run);

/* Lines, KG_LINE bytes. "" where there is nothing to say. */
void kg_fact_problem(const struct kg_result *result, char *ret_line); /* B=1 H=8 S=512 D=64 dtype=f16 */
/* O[0,3,17,5]: got nan, expected 0.12; only where a gate does not hold. */
void kg_fact_worst(const struct kg_result *result, char *ret_line);
void kg_fact_figures(const struct kg_result *result, char *ret_line); /* max_abs … mean_abs … of N elements */
void kg_fact_time(const struct kg_result *result, char *ret_line);  /* p50 26.0 us, p90 …, 1500 samples in 3 blocks */
void kg_fact_noise(const struct kg_result *result, char *ret_line); /* "power cap, clocks moved" */
void kg_fact_alarm(const struct kg_result *result, char *ret_line); /* +4.0% after 3 blocks, not confirmed by … */
/* `kgate run … ID` with what the case needs besides; `options` come before the id. */
void kg_fact_command(const struct kg_run *run, const struct kg_result *result, const char *options, char *ret_line);

#endif
