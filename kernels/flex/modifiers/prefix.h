/* prefix.h -- a prefix that every query sees, and keys up to the query. */
#ifndef FLEX_PREFIX_H
#define FLEX_PREFIX_H

#include "flex/modifier.h"

FLEX_MASK(prefix)
{
    return k < aux->prefix_keys || k <= q;
}

#endif
