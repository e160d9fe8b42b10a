/* lost.h -- goldens whose case is gone from the table become results of their own. */
#ifndef KG_LOST_H
#define KG_LOST_H

#include "run/session.h"

/* Adds a LOST result for every golden that the selection covers and the plan lacks. */
int kg_lost_add(struct kg_session *session, kg_error *ret_error);

void kg_lost_done(struct kg_result *result); /* of any result */

#endif
