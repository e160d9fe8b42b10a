/* rounds.h -- the engine of a run: one round of correctness, then rounds of timing over the cases that are still open.
 * A case is judged when it has ended in a round, and that answer stands until it is measured again. */
#ifndef KG_ROUNDS_H
#define KG_ROUNDS_H

#include "run/crew.h"
#include "run/progress.h"
#include "run/session.h"
#include "run/stop.h"

struct kg_rounds {
    struct kg_session *session;
    struct kg_stop stop;
    bool *timed;          /* a flag a result: its time is measured */
    bool *open;           /* of these, the ones that more blocks could still decide */
    bool *answered;       /* it has been judged since it last changed */
    bool *more;           /* and the answer was that more blocks could still decide it */
    bool *waits;          /* its further rounds wait for what a duel comes to */
    int round;            /* the last one */
    bool stopped;         /* it ended before it was through, but not by --fail-fast */
    double extra_until_s; /* kg_now_s(): blocks past --rounds are measured until then; 0: none was wanted yet */

    struct kg_job_case *room;
    struct kg_progress progress;
    struct kg_dispatch_options options;
    char log_path[KG_PATH_SIZE + 32];
};

/* Arms `stop`: --timeout counts from here. */
int kg_rounds_init(struct kg_rounds *rounds, struct kg_session *session, kg_error *ret_error);

/* Rounds until nothing is open, the last look is done, or it is told to stop (KG_OK, and why in session->run.partial).
 * Every result has its verdict then; of those that wait for a duel it is of few blocks. */
int kg_rounds_run(struct kg_rounds *rounds, kg_error *ret_error);

/* Something else than rounds gave result `i` its verdict. */
void kg_rounds_settle(struct kg_rounds *rounds, size_t i);

/* The further rounds of those that still wait. */
int kg_rounds_resume(struct kg_rounds *rounds, kg_error *ret_error);
void kg_rounds_done(struct kg_rounds *rounds);

#endif
