/* twin.h -- under --against the build that is judged, in a process of its own. The worker, which has the baseline, asks
 * it to prepare, stage, launch and time its backends on the worker's buffers: what a build sets in its process, what it
 * loads and what it breaks stays there. The two never work at the same time. */
#ifndef KG_TWIN_H
#define KG_TWIN_H

#include "measure/prepared.h"
#include "worker/job.h"

struct cJSON;
struct kg_twin;

/* Starts `kgate worker twin` for the job's module, which opens its device meanwhile. `as_json`: the job as it was read.
 */
int kg_twin_start(const struct cJSON *as_json, const struct kg_job *job, struct kg_twin **ret_twin,
                  kg_error *ret_error);

/* The memory of the worker's context is shared from now on, so nothing may have been allocated before. */
void kg_twin_share(struct kg_twin *twin, kg_context *context);

/* Its libraries are closed and it ends; kg_twin_death says of what, if not by itself. */
void kg_twin_close(struct kg_twin *twin);

/* Prepares there, for arm KG_ARM_CASE or KG_ARM_PLANTED, the case's backend (`only`: of its candidates). What comes
 * back stays valid until it is released, and is launched, staged and timed as any other. KG_EINVAL: the case has other
 * tensors there. */
int kg_twin_prepare(struct kg_twin *twin, int arm, const struct kg_job_case *one, const char *only, const char *pin,
                    struct kg_host_state *host, struct kg_fixture *fixture, struct kg_prepared *ret_prepared,
                    kg_error *ret_error);

/* kg_identity_of, and its knobs as a text, of one that was prepared there. */
int kg_twin_identity(const struct kg_prepared *prepared, struct kg_launch_info *ret_launch, char *ret_text, size_t size,
                     kg_error *ret_error);
const char *kg_twin_knobs(const struct kg_prepared *prepared);

/* Why nothing more can be asked of it: "the worker died: …", "hangs: …". NULL: it lives, or there is none. */
const char *kg_twin_death(const struct kg_twin *twin);

/* The process itself: `kgate worker twin`. Returns the exit status. */
int kg_twin_worker(void);

#endif
