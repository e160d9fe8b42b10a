/* cap.h -- a soft cap: scores beyond it level off. Gemma Team, Gemma 2, 2024. */
#ifndef FLEX_CAP_H
#define FLEX_CAP_H

#include "flex/modifier.h"

FLEX_SCORE(cap)
{
    return FLEX_TANH(score, softcap);
}

#endif
