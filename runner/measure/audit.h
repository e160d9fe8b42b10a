/* audit.h -- a kernel that knows its inputs is faster on those that it has seen. */
#ifndef KG_AUDIT_H
#define KG_AUDIT_H

#include "measure/arm.h"

/* Single calls of an arm on normal inputs, each behind a window and after its set's inputs were written anew in one
 * way: by turns the fixture's own, as those of the window, and others that no call has seen, neither the window's.
 * KG_EDEVICE: those take longer, by over 5% and 1 us in nearly each of 15 turns, and of 15 more. The set's inputs are
 * others when it returns. */
int kg_audit_inputs(struct kg_arm *arm, const struct kg_fixture *fixture, uint64_t seed, kg_error *ret_error);

#endif
