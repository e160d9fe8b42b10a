/* renewed.h -- what a state keeps of one call must not show in the next. */
#ifndef KG_RENEWED_H
#define KG_RENEWED_H

#include "measure/prepared.h"

#define KG_RENEWED_BYTES (16u << 20) /* of buffers: larger cases are not asked, their references cost too much */

/* Launches once more on the inputs of `other`, whose reference has run, in the fixture's set, whose inputs are of a
 * seed alone and are as they were when it returns. KG_EDEVICE: by the gates of `other` the output is wrong. */
int kg_renewed_check(struct kg_prepared *prepared, struct kg_fixture *fixture, struct kg_fixture *other,
                     kg_error *ret_error);

/* Launches on the inputs of `other` before the fixture's are asked; NULL: on the fixture's in stripes
 * (measure/buffer.h), which what knows inputs by some of their elements takes for the fixture's. NaN stays where sums
 * are not set to 0, the largest value where a scale only rises. What it writes then, nobody asks. The fixture's set and
 * its workspace are as they were when it returns. */
int kg_renewed_before(struct kg_prepared *prepared, const struct kg_fixture *fixture, const struct kg_fixture *other,
                      kg_error *ret_error);

#endif
