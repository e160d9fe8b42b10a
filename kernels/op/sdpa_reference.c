/* sdpa_reference.c -- what the right answer is: the obvious loop, in double precision, for one query row at a time.
 *
 * Read it beside the formula in sdpa.h. It is not to be made clever; speed belongs in backends.
 */
#include "op/half.h"
#include "op/sdpa_scores.h"
#include "op/threads.h"

#include <math.h>
#include <stdlib.h>

static double element(const kg_tensor *tensor, int64_t index)
{
    uint16_t half = ((const uint16_t *)tensor->data)[index];
    return tensor->dtype == KG_BF16 ? float_from_bf16(half) : float_from_f16(half);
}

/* Row `row` of [B * H * S]. `weights` has room for one number a key, `sums` for one an element of the row. */
static void reference_row(const struct sdpa *p, const struct sdpa_scores *scores, const kg_tensor *tensors, int64_t row,
                          double *weights, double *sums)
{
    int64_t D = p->D, Hkv = sdpa_kv_heads(p), Skv = sdpa_kv_length(p);
    int64_t i = row % p->S, h = row / p->S % p->H, b = row / p->S / p->H;
    int64_t first_key = (b * Hkv + h / (p->H / Hkv)) * Skv;
    int64_t visible = scores ? Skv : sdpa_visible_keys(p, i);

    double row_max = -INFINITY;
    for (int64_t j = 0; j < visible; j++) {
        double dot = 0;
        for (int64_t d = 0; d < D; d++)
            dot += element(&tensors[SDPA_Q], row * D + d) * element(&tensors[SDPA_K], (first_key + j) * D + d);
        weights[j] = sdpa_scale(p) * dot;
        if (scores)
            weights[j] = scores->modify(scores->of, weights[j], b, h, i, j);
        row_max = fmax(row_max, weights[j]);
    }
    double row_sum = 0;
    for (int64_t d = 0; d < D; d++)
        sums[d] = 0;
    for (int64_t j = 0; j < visible; j++) {
        if (scores && weights[j] == -INFINITY)
            continue;
        double weight = exp(weights[j] - row_max);
        row_sum += weight;
        for (int64_t d = 0; d < D; d++)
            sums[d] += weight * element(&tensors[SDPA_V], (first_key + j) * D + d);
    }
    float *out = (float *)tensors[SDPA_O].data + row * D;
    for (int64_t d = 0; d < D; d++)
        out[d] = row_sum == 0 ? 0 : (float)(sums[d] / row_sum);
}

int sdpa_reference_rows(const struct sdpa *p, const struct sdpa_scores *scores, const kg_tensor *tensors,
                        kg_error *ret_error)
{
    int64_t rows = p->B * p->H * p->S;
    int64_t scratch = sdpa_kv_length(p) + p->D; /* of one thread */
    int n_threads = threads_for(0, sdpa_flops(p));
    double *all = calloc((size_t)(n_threads * scratch), sizeof *all);
    if (!all)
        return kg_fail(ret_error, KG_ENOMEM, "no memory for the reference's score rows");
#pragma omp parallel for num_threads(n_threads)
    for (int64_t row = 0; row < rows; row++) {
        double *weights = all + thread_index() * scratch;
        reference_row(p, scores, tensors, row, weights, weights + sdpa_kv_length(p));
    }
    free(all);
    return KG_OK;
}

int sdpa_reference_cpu(const void *problem, const kg_tensor *tensors, kg_error *ret_error)
{
    return sdpa_reference_rows(problem, NULL, tensors, ret_error);
}
