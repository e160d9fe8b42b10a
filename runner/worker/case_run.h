/* case_run.h -- what a worker holds, and the cases that it runs with that. */
#ifndef KG_CASE_RUN_H
#define KG_CASE_RUN_H

#include "worker/arms.h"

/* Who said KG_EUNSUPPORTED of the case at hand: the fixture for want of memory, of a regime or of a reference. */
enum kg_refusal { KG_REFUSED_BY_NOBODY, KG_REFUSED_BY_BUILD, KG_REFUSED_BY_FIXTURE };

struct kg_worker {
    FILE *out;
    const struct kg_job *job;
    struct kg_loaded module; /* under --against the baseline */
    struct kg_twin *twin;    /* and the build that is judged; NULL: the module is */
    struct kg_host_state host;
    kg_context *context;
    /* other: the same problem with other inputs; unseen: with some that hang on the run */
    struct kg_fixture fixture, other, unseen;
    struct kg_result ready;            /* what a READY message tells of the case at hand */
    enum kg_refusal refusal;           /* before its output was checked */
    enum kg_phase phase, part;         /* whose ranges are open, worker/phase.h; KG_NOT_RUN: none */
    enum kg_phase said;                /* to the parent, last */
    bool told;                         /* a backend's range is open within them */
    const struct kg_job_case *running; /* NULL: none */
};

/* Tells what became of it in messages, all but that it has ended, which is the caller's. Ends the process after a
 * device error on a GPU. */
void kg_run_case(struct kg_worker *worker, const struct kg_job_case *one);

struct kg_wire_job;

/* Reads the job, opens its module (the baseline where there is one) and its device. */
int kg_worker_open(struct kg_worker *worker, struct kg_wire_job *ret_job, kg_error *ret_error);

/* If the other build's process is gone the case is broken by that. */
bool kg_tell_death(struct kg_worker *worker, const struct kg_job_case *one);

/* KG_EDEVICE: something outside the outputs was overwritten. */
int kg_check_fixture(struct kg_worker *worker, kg_error *ret_error);

/* Of this case in this round. */
uint64_t kg_seed_of(const struct kg_worker *worker, const struct kg_job_case *one);

#endif
