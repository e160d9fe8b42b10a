/* schedule.h -- which cases run in a round, and with what; and judging them when it is over. */
#ifndef KG_SCHEDULE_H
#define KG_SCHEDULE_H

#include "worker/job.h"
#include "run/session.h"
#include "judge/verdict.h"

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

struct kg_policy kg_schedule_policy(const struct kg_session *session, const struct kg_result *result);

/* The golden that judges a result; NULL: none. */
const struct kg_golden *kg_schedule_golden(const struct kg_session *session, const struct kg_result *result);

#endif
