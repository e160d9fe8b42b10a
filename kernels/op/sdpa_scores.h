/* sdpa_scores.h -- reference and error scale of attention whose scores are modified, for ops that have a struct sdpa
 * within. */
#ifndef SDPA_SCORES_H
#define SDPA_SCORES_H

#include "op/sdpa.h"

/* What becomes of the scaled score of query i and key j, in query head h of batch b; -INFINITY: i does not see j. */
typedef double sdpa_modify_fn(const void *of, double score, int64_t b, int64_t h, int64_t i, int64_t j);

struct sdpa_scores {
    sdpa_modify_fn *modify;
    const void *of;
};

/* As sdpa_reference_cpu and sdpa_error_scale_cpu, which call them without `scores`: NULL means the mask of the struct
 * sdpa alone. With it that mask is not read. */
int sdpa_reference_rows(const struct sdpa *p, const struct sdpa_scores *scores, const kg_tensor *tensors,
                        kg_error *ret_error);
int sdpa_error_rows(const struct sdpa *p, const struct sdpa_scores *scores, const void *arithmetic,
                    const kg_tensor *tensors, kg_error *ret_error);

#endif
