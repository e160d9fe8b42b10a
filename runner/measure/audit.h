/* audit.h -- a kernel that knows its inputs is faster on those that it has seen. */
#ifndef KG_AUDIT_H
#define KG_AUDIT_H

#include "measure/arm.h"

/* Single calls of an arm on normal inputs, written anew in one way before each: by turns the fixture's own, and others
 * that no call has seen. Alone, of a drawn set; then of the last set right behind a window on the first, which has the
 * fixture's. KG_EDEVICE: on others a call takes longer, by over 5% and 1 us in nearly each of 15 turns, and of 15 more;
 * or some on the own are quicker by 30% than all on others; or, of a CPU that stages, those by turns where the
 * inputs were written and nothing was staged; or its output is wrong. The inputs of sets are others when it returns.
 *
 * `unseen`, with its reference, has inputs that one of the first calls is given, in a turn that is drawn: that output
 * is held to its gates, four times as wide. NULL: no output is looked at. */
int kg_audit_inputs(struct kg_arm *arm, const struct kg_fixture *fixture, struct kg_fixture *unseen, uint64_t seed,
                    kg_error *ret_error);

/* Right after a block's windows, when each set has been called hundreds of times on the fixture's inputs: set by set a
 * window more, and a call on these, written anew; a window, and a call on others. KG_EDEVICE: on others it takes longer
 * by as much on every set, and so it does twice more after as many calls. Sets hold other inputs when it returns. */
int kg_audit_kept(struct kg_arm *arm, const struct kg_fixture *fixture, uint64_t seed, kg_error *ret_error);

#endif
