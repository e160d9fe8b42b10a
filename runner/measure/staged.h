/* staged.h -- what `stage` may make of a call's inputs: of each by itself, outside of timing, as a code is. */
#ifndef KG_STAGED_H
#define KG_STAGED_H

#include "measure/prepared.h"

/* Stages the fixture's inputs into a workspace of its own, then each of those that were drawn while the others of them
 * hold NaN. KG_EDEVICE: a byte is as in the first of these in no other, so it was made of several inputs, which is
 * launch's work; or a launch on these bytes, at another address, is wrong; or the op has but one drawn input. Inputs
 * that the op gives stay: they are the problem's. The workspace of the set that will be launched is staged anew. */
int kg_staged_check(struct kg_prepared *prepared, struct kg_fixture *fixture, kg_error *ret_error);

#endif
