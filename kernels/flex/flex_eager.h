/* flex_eager.h -- between the backend `flex_eager` and its kernel. */
#ifndef FLEX_EAGER_H
#define FLEX_EAGER_H

#include "flex/flex_aux.h"
#include "math/softmax.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Scores become probabilities by the modifiers that `aux` says; H: query heads of a batch; scale: on the scores. As
 * softmax_launch otherwise; scale_log2 and first_keys are not read. Scores are overwritten. */
int flex_softmax_launch(const struct softmax_args *args, const struct flex_aux *aux, int H, float scale, int dtype,
                        void *stream);

#ifdef __cplusplus
}
#endif

#endif
