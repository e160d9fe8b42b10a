/* guarded.h -- what lies past a tensor's ends must not show in an output. */
#ifndef KG_GUARDED_H
#define KG_GUARDED_H

#include "measure/prepared.h"

/* Of inputs that the op gives, whose functions reference and kernel share, so that both read what is past them:
 * launches between guard bands of the lowest and of the largest values, then as before. `digest`: of the output that
 * was right. KG_EDEVICE: its bits changed, and not by themselves. Guard bands are as they were when it returns. */
int kg_guarded_check(struct kg_prepared *prepared, struct kg_fixture *fixture, uint64_t digest, kg_error *ret_error);

#endif
