/* relative.h -- a bias by distance and head from a table; what is further than its reach has the last one. Raffel et
 * al., T5, 2020. */
#ifndef FLEX_RELATIVE_H
#define FLEX_RELATIVE_H

#include "flex/modifier.h"

FLEX_SCORE(relative)
{
    const int reach = aux->reach, distance = k - q < -reach ? -reach : k - q > reach ? reach : k - q;
    return score + flex_at(aux->bias, h * (2 * reach + 1) + reach + distance);
}

#endif
