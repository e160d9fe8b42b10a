/* decay.h -- a bonus for near keys, e^(-distance / doc_span). */
#ifndef FLEX_DECAY_H
#define FLEX_DECAY_H

#include "flex/modifier.h"

FLEX_SCORE(decay)
{
    return score + flex_exp(-(real)flex_distance(q, k) * (1 / (real)aux->doc_span));
}

#endif
