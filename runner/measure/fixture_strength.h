/* fixture_strength.h -- how strong a fixture's gates are: wrong answers are made of its reference and judged. */
#ifndef KG_FIXTURE_STRENGTH_H
#define KG_FIXTURE_STRENGTH_H

#include "measure/fixture.h"

/* Kept in the fixture, for its arithmetic. Runs the reference unless it has run. Of several
 * outputs one at a time is wrong: an answer is accepted if it passes in any. */
int kg_fixture_strength(struct kg_fixture *fixture, kg_error *ret_error);

#endif
