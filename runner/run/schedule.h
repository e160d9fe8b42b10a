/* schedule.h -- which cases run in a round, and with what. */
#ifndef KG_SCHEDULE_H
#define KG_SCHEDULE_H

#include "worker/job.h"
#include "run/session.h"

/* Settings of the run that every job shares; `cases` is empty. */
struct kg_job kg_schedule_job(const struct kg_session *session);

/* All cases that can run, in the table's order, with the pins of their goldens. `room`: n_results of them. */
void kg_schedule_correctness(const struct kg_session *session, struct kg_job_case *room, struct kg_job *job);

/* After correctness: of the seeds of one (suite, shape, backend), the first is timed when all are right, and the others
 * refer to it. Fills `ret_timed`, a flag a result; with --time-every-seed every right case is timed. */
void kg_schedule_choose_timed(struct kg_session *session, bool *ret_timed);

/* The flagged cases, shape by shape, both in an order shuffled by the round. */
void kg_schedule_round(const struct kg_session *session, const bool *timed, int round, struct kg_job_case *room,
                       struct kg_job *job);

#endif
