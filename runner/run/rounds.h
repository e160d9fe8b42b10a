/* rounds.h -- the engine of a run: one round of correctness, then rounds of timing over the cases that are still open.
 * It stops between two messages of a worker when it is told to. */
#ifndef KG_ROUNDS_H
#define KG_ROUNDS_H

#include "run/progress.h"
#include "run/dispatch.h"
#include "run/session.h"
#include "run/stop.h"

struct kg_rounds {
    struct kg_session *session;
    struct kg_stop stop;
    bool *timed;  /* a flag a result: its time is measured */
    bool *open;   /* of these, the ones that more blocks could still decide */
    bool stopped; /* it ended before it was through */

    struct kg_job_case *room;
    struct kg_progress progress;
    struct kg_dispatch_options options;
    char log_path[KG_PATH_SIZE + 32];
};

/* Arms `stop`: --timeout counts from here. */
int kg_rounds_init(struct kg_rounds *rounds, struct kg_session *session, kg_error *ret_error);

/* Rounds until nothing is open, the last look is done, or it is told to stop (KG_OK, and `stopped`). Results that were
 * measured hold their summary; verdicts are the caller's to take. */
int kg_rounds_run(struct kg_rounds *rounds, kg_error *ret_error);
void kg_rounds_done(struct kg_rounds *rounds);

#endif
