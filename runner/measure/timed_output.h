/* timed_output.h -- what the timed calls wrote, held against what was checked; and the case once more on other inputs,
 * for a kernel whose calls copy what an earlier one wrote, leave alone what is written already, or do not all work. */
#ifndef KG_TIMED_OUTPUT_H
#define KG_TIMED_OUTPUT_H

#include "measure/arm.h"

struct kg_timed_output {
    struct kg_fixture *fixture;
    struct kg_fixture *other;  /* of the same problem and another seed; NULL: not asked on other inputs */
    struct kg_fixture *unseen; /* the same of inputs that no run before had (audit.h); NULL: not asked on those */
    uint64_t digest;           /* of the checked output */
    uint64_t other_digest;     /* of one on the other inputs that an earlier round found right; 0: none, and set here */
    uint64_t seed;             /* of how often a set is called before its inputs are exchanged */
    bool baseline_wrong;       /* what failed is the baseline's output */
};

/* A kg_interlude's call. Every set that timed calls were given must hold the checked output, or one that is as right.
 *
 * With other inputs, all sets then get them, staged anew, their outputs stay, and the case's windows must make the
 * outputs right. Then, set by set: none to three calls alone, inputs exchanged again, and one call, which must make the
 * output right. Last, such a call behind a window, for a kernel that goes by the clock, or works on when it has
 * returned. Where an earlier round did that the windows alone are asked. KG_EDEVICE: an output is wrong. */
int kg_timed_output_check(void *timed_output, struct kg_arm *arm, struct kg_arm *baseline, kg_error *ret_error);

#endif
