/* sdpa_reference.c -- what the right answer is: the obvious loop, in double precision, for one query row at a time.
 *
 * Read it beside the formula in sdpa.h. It is not to be made clever, but for sums (row_sums.h); speed belongs in
 * backends.
 */
#include "op/half.h"
#include "op/row_sums.h"
#include "op/sdpa_scores.h"
#include "op/threads.h"

#include <math.h>
#include <stdlib.h>

/* Inputs as floats, which hold them exactly. */
struct inputs {
    const struct sdpa *problem;
    const struct sdpa_scores *scores; /* NULL: they are not modified */
    float *q, *k, *v;                 /* k by columns, each head by itself */
};

ROW_SUMS(row_sums, double, AS_IT_IS)

/* Row `row` of [B * H * S] into `out`. `weights` has room for one number a key, `sums` for two an element of the row.
 */
AVX2_TOO static void reference_row(const struct inputs *in, int64_t row, double *weights, double *sums, float *out)
{
    const struct sdpa *p = in->problem;
    const struct sdpa_scores *scores = in->scores;
    const int64_t D = p->D, Hkv = sdpa_kv_heads(p), Skv = sdpa_kv_length(p);
    const int64_t i = row % p->S, h = row / p->S % p->H, b = row / p->S / p->H;
    const int64_t head = b * Hkv + h / (p->H / Hkv), first_key = head * Skv; /* of K and V */
    const int64_t visible = scores ? Skv : sdpa_visible_keys(p, i);
    const double scale = sdpa_scale(p);
    const int64_t stride = whole_vectors(Skv);

    double *q = sums + D, row_max = -INFINITY;
    for (int64_t d = 0; d < D; d++)
        q[d] = in->q[row * D + d];
    row_sums(q, in->k + head * stride * D, D, stride, whole_vectors(visible), weights);
    for (int64_t j = 0; j < visible; j++) {
        weights[j] *= scale;
        if (scores)
            weights[j] = scores->modify(scores->of, weights[j], b, h, i, j);
        row_max = weights[j] > row_max ? weights[j] : row_max;
    }
    const double base = row_max == -INFINITY ? 0 : row_max; /* a row without a key */
    double row_sum = 0;
#pragma omp simd reduction(+ : row_sum)
    for (int64_t j = 0; j < visible; j++) {
        weights[j] = exp_down(weights[j] - base);
        row_sum += weights[j];
    }
    row_sums(weights, in->v + first_key * D, visible, D, D, sums); /* what it does not see may be NaN */
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
    struct inputs in = { p, scores, half_load(&tensors[SDPA_Q]), NULL, half_load(&tensors[SDPA_V]) };
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
