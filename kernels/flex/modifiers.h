/* modifiers.h -- the list of modifiers, and a problem's own put together. A new one: its file in modifiers/, an include
 * and a line here, its fields in flex.h and flex.c, what it reads in flex_aux.h.
 *
 * Scores are changed in the order of the list; a key is seen where all masks of the problem agree.
 */
#ifndef FLEX_MODIFIERS_H
#define FLEX_MODIFIERS_H

#include "flex/modifier.h"

#include "flex/modifiers/alibi.h"
#include "flex/modifiers/cap.h"
#include "flex/modifiers/causal.h"
#include "flex/modifiers/decay.h"
#include "flex/modifiers/document.h"
#include "flex/modifiers/prefix.h"
#include "flex/modifiers/relative.h"
#include "flex/modifiers/sliding.h"

/* X(name, what of a struct flex `p` says that the problem has it) */
#define FLEX_SCORES(X) X(cap, p->cap) X(alibi, p->alibi) X(relative, p->relative) X(decay, p->decay)
#define FLEX_MASKS(X)                                                                                                  \
    X(causal, p->attention.causal) X(prefix, p->prefix) X(sliding, p->sliding) X(document, p->document)

#define FLEX_BIT(name, has) | 1u << FLEX_NUMBER_##name
#define FLEX_MASK_BITS (0u FLEX_MASKS(FLEX_BIT))
#define FLEX_MASKS_BY_HEAD 0u /* bits of those that look at `h`; others are asked once for all heads */

#define FLEX_NUMBER(name, has) FLEX_NUMBER_##name,
enum { FLEX_SCORES(FLEX_NUMBER) FLEX_MASKS(FLEX_NUMBER) FLEX_MODIFIERS };
#undef FLEX_NUMBER

/* For kernels that serve several problems: `uses` says at run time which modifiers there are. */
FLEX_FUNCTION real flex_score(real score, FLEX_OF)
{
#define APPLY(name, has)                                                                                               \
    if (aux->uses >> FLEX_NUMBER_##name & 1)                                                                           \
        score = name##_score(score, b, h, q, k, aux);
    FLEX_SCORES(APPLY)
#undef APPLY
    return score;
}

FLEX_FUNCTION bool flex_mask(FLEX_OF)
{
#define HIDES(name, has)                                                                                               \
    if ((aux->uses >> FLEX_NUMBER_##name & 1) && !name##_mask(b, h, q, k, aux))                                        \
        return false;
    FLEX_MASKS(HIDES)
#undef HIDES
    return true;
}

#endif
