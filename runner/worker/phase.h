/* phase.h -- how far a case is: told to the parent, and to a profiler as NVTX ranges of the domain `kgate`. */
#ifndef KG_PHASE_H
#define KG_PHASE_H

#include "worker/case_run.h"

/* Prepare, correctness and timing follow one another, each a range `PHASE CASE-ID`; other phases are ranges within the
 * one that they are begun in. To begin a phase again says to the parent that the case is alive. */
void kg_phase_begin(struct kg_worker *worker, const struct kg_job_case *one, enum kg_phase phase);

/* What a backend says that it does, within the phase (kg_host.part). `worker` is a struct kg_worker. */
void kg_phase_part(void *worker, const char *what);

/* The case has ended, in whichever phase. Closes what is open. */
void kg_phase_end(struct kg_worker *worker, const struct kg_job_case *one);

#endif
