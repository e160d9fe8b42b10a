/* facts.h -- what reports derive from a result and all mean the same by. Pure; nothing here allocates or prints.
 * A LOST result may have no suite, backend or problem: the id is then all there is. */
#ifndef KG_FACTS_H
#define KG_FACTS_H

#include "format.h"
#include "report.h"

#define KG_LINE 1200 /* bytes of a line that the functions below write */

struct kg_text kg_fact_suite(const struct kg_result *result);
bool kg_fact_same_suite(const struct kg_result *a, const struct kg_result *b);
/* No result before it is of its suite: where a report that groups by suite begins a group. */
bool kg_fact_first_of_suite(const struct kg_run *run, size_t index);
const char *kg_fact_rest(const struct kg_result *result);     /* the id after suite/ */
struct kg_text kg_fact_shape(const struct kg_result *result); /* the row's name */
const char *kg_fact_backend(const struct kg_result *result);  /* the case's own name */
const char *kg_fact_resolved(const struct kg_result *result); /* what ran */
const char *kg_fact_why(const struct kg_result *result);      /* reason of the verdict, else the note; "" */
const char *kg_fact_anchor(const struct kg_result *result);   /* name; "" where there is none */

/* Commit that was measured: the module's, or the run's (--git-sha) where the build saw no repository. */
const char *kg_fact_sha(const struct kg_run *run);
bool kg_fact_dirty(const struct kg_run *run);

bool kg_fact_timed(const struct kg_result *result);
/* The case is in order as far as this run is asked. LOST is not, even where undecided cases are allowed. */
bool kg_fact_fine(const struct kg_run *run, const struct kg_result *result);

/* Over 1 is faster; NAN where there is nothing to compare with. */
double kg_fact_golden_speedup(const struct kg_result *result);
double kg_fact_anchor_speedup(const struct kg_result *result);
double kg_fact_utilisation_pct(const struct kg_result *result); /* mean over blocks; NAN where it cannot be read */
double kg_fact_device_seconds(const struct kg_result *result);  /* sum of the timed windows of the case */
size_t kg_fact_samples(const struct kg_result *result);

/* The row of the module's kernel table that this device loads; NULL where the kernel is not the module's. */
const kg_kernel *kg_fact_kernel(const struct kg_run *run, const char *name);

/* How steady the machine was, over the blocks of all results. */
struct kg_steadiness {
    size_t blocks, throttled, shared; /* shared: another process computed on the device */
    int64_t throttle_reasons;         /* union, what is no throttling left out */
    int clock_min_mhz, clock_max_mhz; /* 0 where not known */
};
struct kg_steadiness kg_fact_steadiness(const struct kg_run *run);
void kg_fact_throttle_names(int64_t reasons, char *ret_text, size_t size); /* "power cap, thermal" */

/* Length of the program's name at the start of run->command. */
int kg_fact_program(const struct kg_run *run);

/* Lines, KG_LINE bytes. "" where there is nothing to say. */
void kg_fact_problem(const struct kg_result *result, char *ret_line); /* B=1 H=8 S=512 D=64 dtype=f16 */
/* O[0,3,17,5]: got nan, expected 0.12; only where a gate does not hold. */
void kg_fact_worst(const struct kg_result *result, char *ret_line);
void kg_fact_figures(const struct kg_result *result, char *ret_line); /* max_abs … mean_abs … of N elements */
void kg_fact_time(const struct kg_result *result, char *ret_line); /* p50 26.0 us, p90 …, 1500 samples in 3 blocks */
/* `kgate run … ID` with what the case needs besides; `options` come before the id. */
void kg_fact_command(const struct kg_run *run, const struct kg_result *result, const char *options, char *ret_line);

#endif
