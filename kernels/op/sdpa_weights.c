/* sdpa_weights.c -- scores by the formula in sdpa.h, and their softmax but for the division. */
#include "op/sdpa_weights.h"

#include <math.h>

#include "op/threads.h"

struct sdpa_query sdpa_query_of(const struct sdpa_floats *in, int64_t row)
{
    const struct sdpa *p = in->problem;
    const int64_t Skv = sdpa_kv_length(p);
    struct sdpa_query at = { .row = row, .b = row / p->S / p->H, .h = row / p->S % p->H, .i = row % p->S };
    at.head = at.b * sdpa_kv_heads(p) + at.h / sdpa_group(p);
    at.first_key = at.head * Skv;
    at.keys = in->scores ? Skv : sdpa_visible_keys(p, at.i);
    return at;
}

void sdpa_query_scores(const struct sdpa_floats *in, const struct sdpa_query *at, double *q, double *ret_scores)
{
    const int64_t D = in->problem->D, stride = whole_vectors(sdpa_kv_length(in->problem));
    const double scale = sdpa_scale(in->problem);
    for (int64_t d = 0; d < D; d++)
        q[d] = in->q[at->row * D + d];
    sdpa_row_sums(q, in->k + at->head * stride * D, D, stride, whole_vectors(at->keys), ret_scores);
    for (int64_t j = 0; j < at->keys; j++)
        ret_scores[j] *= scale;
}

void sdpa_query_modify(const struct sdpa_floats *in, const struct sdpa_query *at, double *scores)
{
    for (int64_t j = 0; j < at->keys && in->scores; j++)
        scores[j] = in->scores->modify(in->scores->of, scores[j], at->b, at->h, at->i, j);
}

AVX2_TOO double sdpa_weights_of(int64_t keys, double *scores)
{
    double row_max = -INFINITY, row_sum = 0;
    for (int64_t j = 0; j < keys; j++)
        row_max = scores[j] > row_max ? scores[j] : row_max;
    const double base = row_max == -INFINITY ? 0 : row_max;
#pragma omp simd reduction(+ : row_sum)
    for (int64_t j = 0; j < keys; j++) {
        scores[j] = exp_down(scores[j] - base);
        row_sum += scores[j];
    }
    return row_sum;
}
