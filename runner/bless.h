/* bless.h -- renewing goldens from a run. */
#ifndef KG_BLESS_H
#define KG_BLESS_H

#include "session.h"

/* Before anything is measured: the tree is clean, the module was built from its HEAD, or --allow-dirty. */
int kg_bless_check(const struct kg_session *session, kg_error *ret_error);

/* After the last round: refuses when a case is wrong; writes what is steady; says old -> new on `out`. What it could
 * not bless gets UNSURE and the reason. The session's goldens are the new ones afterwards. */
int kg_bless(struct kg_session *session, const bool *timed, FILE *out, kg_error *ret_error);

#endif
