/* two_builds.h -- what a worker does where a case has a baseline beside it. Each function is told of a status, KG_OK
 * included, and hands it on. */
#ifndef KG_TWO_BUILDS_H
#define KG_TWO_BUILDS_H

#include "worker/case_run.h"
#include "worker/wire.h"

/* Nothing is judged where the fault is not the candidate's; the reason says so. */
int kg_blame_baseline(struct kg_worker *worker, int status, kg_error *error);
bool kg_failed_by_baseline(const struct kg_arms *arms);
int kg_note_refusal(struct kg_worker *worker, enum kg_refusal by, int status);

/* The case, and where it is timed or the job asks for it its baseline. */
int kg_prepare_both(struct kg_worker *worker, struct kg_arms *arms, kg_error *ret_error);
int kg_launch_both(struct kg_worker *worker, struct kg_arms *arms, kg_error *ret_error);
/* After the case was right: is the baseline, where nothing will be timed that would tell? */
int kg_check_baseline(struct kg_worker *worker, struct kg_arms *arms, kg_error *ret_error);
int kg_identify_baseline(struct kg_worker *worker, struct kg_arms *arms, kg_error *ret_error);

/* A case that this build refuses is skipped, unless the baseline runs it. Returns the status of what failed last. */
int kg_find_fault(struct kg_worker *worker, struct kg_arms *arms, int status, enum kg_message_type *ret_type,
                  kg_error *error);

#endif
