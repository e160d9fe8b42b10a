/* dispatch.h -- the parent's side of workers: starts one, reads its messages, and starts another where one died. */
#ifndef KG_DISPATCH_H
#define KG_DISPATCH_H

#include "worker/job.h"
#include "judge/result.h"
#include "run/stop.h"

struct kg_dispatch_options {
    double timeout_s;     /* a case's phase; then the worker is killed and the case is broken */
    int threads;          /* of OpenMP in a worker that times nothing; 0: as many as it takes */
    const char *log_path; /* what workers print is appended here; NULL: discarded */
    /* Called after every message; NULL: none. */
    void (*progress)(void *argument, size_t index, enum kg_phase phase);
    void *progress_argument;
    /* Called once a case of the job, when it has ended or was blamed; it may ask for a stop. NULL: none. */
    void (*ended)(void *argument, size_t index);
    void *ended_argument;
    const struct kg_stop *stop; /* NULL: nothing stops it */
};

/* Runs the job's cases and writes into results[case.index]. A crash or a hang costs the case whose phase had begun;
 * a new worker takes the rest. Told to stop, or past the deadline: the worker is killed, the results keep what had
 * arrived, and no case is blamed; KG_OK and *ret_stopped (may be NULL). KG_EIO: no worker could be started at all. */
int kg_dispatch_run(const struct kg_job *job, const struct kg_dispatch_options *options, struct kg_result *results,
                    size_t n_results, bool *ret_stopped, kg_error *ret_error);

/* Devices of a kind and how they are, found by a worker of their own. Device number `work` (-1: none) is put to work
 * for a moment if it is idle. KG_EUNSUPPORTED and why. */
int kg_dispatch_probe(enum kg_device_kind kind, int work, kg_device *ret_devices, struct kg_device_health *ret_healths,
                      int max, int *ret_count, kg_error *ret_error);

#endif
