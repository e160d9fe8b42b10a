/* known.h -- what a regime knows of outputs without the reference. */
#ifndef KG_KNOWN_H
#define KG_KNOWN_H

#include "measure/fixture.h"
#include "measure/prepared.h"

/* Holds the reference, which has run, to the answers that the regime knows. KG_EINVAL: they differ, so one of the two
 * is wrong. */
int kg_known_check_reference(const struct kg_fixture *fixture, kg_error *ret_error);

/* Where the regime says which outputs must be those of the normal inputs: launches on those, then on the regime's, in
 * the fixture's set, which holds the latter when it returns, and compares bits. KG_EDEVICE: one differs, or the last
 * output is not right. */
int kg_known_check_same(struct kg_prepared *prepared, struct kg_fixture *fixture, kg_error *ret_error);

#endif
