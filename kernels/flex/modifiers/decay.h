/* decay.h -- a bonus for near keys, e^(-distance / doc_span). */
#ifndef FLEX_DECAY_H
#define FLEX_DECAY_H

#include "flex/modifier.h"

FLEX_SCORE(decay)
{
    return score + flex_exp(-FLEX_OVER(flex_distance_real(q, k), doc_span));
}

#endif
