/* alibi.h -- a penalty on the distance, steeper by head. Press et al., Train Short, Test Long, 2022. */
#ifndef FLEX_ALIBI_H
#define FLEX_ALIBI_H

#include "flex/modifier.h"

FLEX_SCORE(alibi)
{
    return score - flex_at(aux->slopes, h) * flex_distance_real(q, k);
}

#endif
