/* sdpa_reference.c -- what the right answer is: the obvious loop, in double precision, for one query row at a time.
 * Read it and sdpa_weights.c beside the formula in sdpa.h. Speed belongs in backends, but for sums (row_sums.h). */
#include <stdlib.h>

#include "op/half.h"
#include "op/sdpa_weights.h"
#include "op/threads.h"

/* `weights` has room for one number a key, `sums` for two an element of the row. */
AVX2_TOO static void reference_row(const struct sdpa_floats *in, int64_t row, double *weights, double *sums, float *out)
{
    const int64_t D = in->problem->D;
    const struct sdpa_query at = sdpa_query_of(in, row);
    sdpa_query_scores(in, &at, sums + D, weights);
    sdpa_query_modify(in, &at, weights);
    const double row_sum = sdpa_weights_of(at.keys, weights);
    sdpa_row_sums(weights, in->v + at.first_key * D, at.keys, D, D, sums); /* what it does not see may be NaN */
    for (int64_t d = 0; d < D; d++)
        out[d] = row_sum == 0 ? 0 : (float)(sums[d] / row_sum);
}

int sdpa_reference_rows(const struct sdpa *p, const struct sdpa_scores *scores, const kg_tensor *tensors,
                        kg_error *ret_error)
{
    const int64_t rows = p->B * p->H * p->S, keys = sdpa_kv_length(p), stride = whole_vectors(keys),
                  scratch = stride + 2 * p->D; /* of one thread */
    const int n_threads = threads_for(0, sdpa_flops(p));
    float *out = tensors[SDPA_O].data;
    struct sdpa_floats in = { p, scores, half_load(&tensors[SDPA_Q]), NULL, half_load(&tensors[SDPA_V]) };
    float *k = half_load(&tensors[SDPA_K]);
    if (k)
        in.k = new_columns(k, p->B * sdpa_kv_heads(p), keys, p->D);
    double *all = calloc((size_t)(n_threads * scratch), sizeof *all);
    const bool made = in.q && in.k && in.v && all;
    if (made) {
#pragma omp parallel for num_threads(n_threads)
        for (int64_t row = 0; row < rows; row++) {
            double *weights = all + thread_index() * scratch;
            reference_row(&in, row, weights, weights + stride, out + row * p->D);
        }
    }
    free(k);
    free(in.q);
    free(in.k);
    free(in.v);
    free(all);
    return made ? KG_OK : kg_fail(ret_error, KG_ENOMEM, "no memory for the reference's rows");
}

int sdpa_reference_cpu(const void *problem, const kg_tensor *tensors, kg_error *ret_error)
{
    return sdpa_reference_rows(problem, NULL, tensors, ret_error);
}
