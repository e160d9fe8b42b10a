/* sdpa_weights.h -- the weights of a query's keys in double precision, by which the reference sums V
 * (sdpa_reference.c) and the error scale what keys are off by (sdpa_error.c). */
#ifndef SDPA_WEIGHTS_H
#define SDPA_WEIGHTS_H

#include "op/row_sums.h"
#include "op/sdpa_scores.h"

ROW_SUMS(sdpa_row_sums, double, AS_IT_IS)

/* Inputs as floats, which hold them exactly, or what their codes stand for; each in memory of its own. */
struct sdpa_floats {
    const struct sdpa *problem;
    const struct sdpa_scores *scores; /* NULL: they are not modified */
    float *q, *k, *v;                 /* k by columns (row_sums.h), each head by itself */
};

/* Row `row` of [B * H * S]: its place, and the keys that are walked over, of which modifying hides some. */
struct sdpa_query {
    int64_t row, b, h, i, keys;
    int64_t head, first_key; /* of K and V: of all batches; of all batches and heads */
};

struct sdpa_query sdpa_query_of(const struct sdpa_floats *in, int64_t row);

/* Its keys' scores, times the scale, [whole_vectors(keys)]; `q` has room for D numbers. */
void sdpa_query_scores(const struct sdpa_floats *in, const struct sdpa_query *at, double *q, double *ret_scores);

/* What becomes of them; -INFINITY: hidden. */
void sdpa_query_modify(const struct sdpa_floats *in, const struct sdpa_query *at, double *scores);

/* Scores become weights, the largest 1, a hidden key's 0. Returns their sum: 0 where the query sees no key. */
double sdpa_weights_of(int64_t keys, double *scores);

#endif
