/* regime.h -- the input regimes: those of an op, and the host's for any op. Pure functions on values. */
#ifndef KG_REGIME_H
#define KG_REGIME_H

#include "kgate.h"

/* For any op. They read KG_MAX_TENSORS tensors; those that the op has not must be zeros. */
extern const kg_regimes kg_host_regimes;

/* The op's own come first. NULL: there is none of this name. */
const kg_regime *kg_regime_find(const kg_op *op, const char *name);

/* Is it the name of no regime: normal, or none? */
bool kg_regime_is_normal(const char *name);

/* "s0", "s0-sink". */
void kg_regime_seed_name(uint64_t seed, const kg_regime *regime, char *ret_name, size_t size);

#endif
