/* flex_reference.c -- what the right answer is: sdpa's references, with the problem's modifiers in double precision. */
#define FLEX_DOUBLE
#include "flex/flex.h"
#include "flex/modifiers.h"
#include "op/sdpa_scores.h"

static double modify(const void *of, double score, int64_t b, int64_t h, int64_t i, int64_t j)
{
    const struct flex_aux *aux = of;
    if (!flex_mask((int)b, (int)h, (int)i, (int)j, aux))
        return -INFINITY;
    return flex_score(score, (int)b, (int)h, (int)i, (int)j, aux);
}

int flex_reference_cpu(const void *problem, const kg_tensor *tensors, kg_error *ret_error)
{
    const struct flex *p = problem;
    const struct flex_aux aux = flex_aux_of(p, tensors);
    const struct sdpa_scores scores = { modify, &aux };
    return sdpa_reference_rows(&p->attention, &scores, tensors, ret_error);
}

int flex_error_scale_cpu(const void *problem, const void *arithmetic, const kg_tensor *tensors, kg_error *ret_error)
{
    const struct flex *p = problem;
    const struct flex_aux aux = flex_aux_of(p, tensors);
    const struct sdpa_scores scores = { modify, &aux };
    kg_tensor own[SDPA_ERROR + 1];
    flex_attention_tensors(p, tensors, own);
    return sdpa_error_rows(&p->attention, &scores, arithmetic, own, ret_error);
}
