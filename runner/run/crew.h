/* crew.h -- a job of correctness shared out among several workers on one device. */
#ifndef KG_CREW_H
#define KG_CREW_H

#include "run/dispatch.h"

/* Workers that a device bears at once: on a CPU one for each of the process's cores and each 4 GiB of memory, at most
 * four; on a GPU for each two cores and each 9 GiB of its memory, at most eight. At least one. */
int kg_crew_size(const kg_device *device);

/* kg_dispatch_run by so many workers at once, cases of a shape by one of them; cases that are to be `alone` come after
 * the rest, by one. Calls of `options` never overlap. */
int kg_crew_run(const struct kg_job *job, int n_workers, const struct kg_dispatch_options *options,
                struct kg_result *results, size_t n_results, bool *ret_stopped, kg_error *ret_error);

#endif
