/* sliding.h -- keys nearer than the window, on either side. */
#ifndef FLEX_SLIDING_H
#define FLEX_SLIDING_H

#include "flex/modifier.h"

FLEX_MASK(sliding)
{
    return flex_distance(q, k) < aux->window;
}

#endif
