/* causal.h -- keys up to the query, aligned top-left or bottom-right (sdpa.h). */
#ifndef FLEX_CAUSAL_H
#define FLEX_CAUSAL_H

#include "flex/modifier.h"

FLEX_MASK(causal)
{
    return k < aux->first_keys + q;
}

#endif
