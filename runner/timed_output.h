/* timed_output.h -- what the timed calls wrote, held against what was checked; and the case's windows once more on
 * other inputs, for a kernel whose calls copy what an earlier one wrote, or leave alone what is written already. */
#ifndef KG_TIMED_OUTPUT_H
#define KG_TIMED_OUTPUT_H

#include "measure.h"

struct kg_timed_output {
    struct kg_fixture *fixture;
    struct kg_fixture *other;              /* of the same problem and another seed; NULL: not asked on other inputs */
    struct kg_subject *subject, *baseline; /* baseline NULL: none */
    bool single;                           /* the windows run again are one call, on the first set */
    uint64_t digest;                       /* of the checked output */
    bool baseline_wrong;                   /* what failed is the baseline's output */
};

/* Every set that timed calls were given must hold the checked output, or one that is as right. Then puts the other
 * inputs into the case's sets, staged anew, and leaves the outputs as they are. KG_EDEVICE: an output is wrong. */
int kg_timed_output_check(void *timed_output, kg_error *ret_error);

/* After the case's windows ran on them: KG_EDEVICE where an output is not what the other inputs ask for. */
int kg_timed_output_check_other(const struct kg_timed_output *timed, kg_error *ret_error);

#endif
