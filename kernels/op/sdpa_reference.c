/* sdpa_reference.c -- what the right answer is: the obvious loop, in double precision, for one query row at a time.
 *
 * Read it beside the formula in sdpa.h. It is not to be made clever; speed belongs in backends.
 */
#include "op/half.h"
#include "op/sdpa_scores.h"
#include "op/threads.h"

#include <math.h>
#include <stdlib.h>

/* Inputs as floats, which hold them exactly. */
struct inputs {
    const struct sdpa *problem;
    const struct sdpa_scores *scores; /* NULL: they are not modified */
    float *q, *k, *v;
};

/* Four keys at once, since the additions of one sum wait for each other; past the end the last key stands in. */
AVX2_TOO void sdpa_dots(const float *q, const float *k, int64_t keys, int64_t D, double *ret_dots)
{
    for (int64_t j = 0; j < keys; j += 4) {
        const int64_t n = keys - j < 4 ? keys - j : 4;
        const float *k0 = k + j * D, *k1 = k0 + (n > 1) * D, *k2 = k1 + (n > 2) * D, *k3 = k2 + (n > 3) * D;
        double dot0 = 0, dot1 = 0, dot2 = 0, dot3 = 0;
#pragma omp simd reduction(+ : dot0, dot1, dot2, dot3)
        for (int64_t d = 0; d < D; d++) {
            dot0 += (double)q[d] * k0[d];
            dot1 += (double)q[d] * k1[d];
            dot2 += (double)q[d] * k2[d];
            dot3 += (double)q[d] * k3[d];
        }
        const double dots[4] = { dot0, dot1, dot2, dot3 };
        memcpy(ret_dots + j, dots, (size_t)n * sizeof *dots);
    }
}

/* Row `row` of [B * H * S] into `out`. `weights` has room for one number a key, `sums` for one an element of the row.
 */
AVX2_TOO static void reference_row(const struct inputs *in, int64_t row, double *weights, double *sums, float *out)
{
    const struct sdpa *p = in->problem;
    const struct sdpa_scores *scores = in->scores;
    const int64_t D = p->D, Hkv = sdpa_kv_heads(p), Skv = sdpa_kv_length(p);
    const int64_t i = row % p->S, h = row / p->S % p->H, b = row / p->S / p->H;
    const int64_t first_key = (b * Hkv + h / (p->H / Hkv)) * Skv;
    const int64_t visible = scores ? Skv : sdpa_visible_keys(p, i);
    const double scale = sdpa_scale(p);

    double row_max = -INFINITY;
    sdpa_dots(in->q + row * D, in->k + first_key * D, visible, D, weights);
    for (int64_t j = 0; j < visible; j++) {
        weights[j] *= scale;
        if (scores)
            weights[j] = scores->modify(scores->of, weights[j], b, h, i, j);
        row_max = weights[j] > row_max ? weights[j] : row_max;
    }
    double row_sum = 0;
    for (int64_t d = 0; d < D; d++)
        sums[d] = 0;
    for (int64_t j = 0; j < visible; j++) {
        if (scores && weights[j] == -INFINITY)
            continue;
        const double weight = exp(weights[j] - row_max);
        const float *v = in->v + (first_key + j) * D;
        row_sum += weight;
#pragma omp simd
        for (int64_t d = 0; d < D; d++)
            sums[d] += weight * v[d];
    }
    for (int64_t d = 0; d < D; d++)
        out[d] = row_sum == 0 ? 0 : (float)(sums[d] / row_sum);
}

int sdpa_reference_rows(const struct sdpa *p, const struct sdpa_scores *scores, const kg_tensor *tensors,
                        kg_error *ret_error)
{
    const int64_t rows = p->B * p->H * p->S, keys = sdpa_kv_length(p), scratch = keys + p->D; /* of one thread */
    const int n_threads = threads_for(0, sdpa_flops(p));
    float *out = tensors[SDPA_O].data;
    const struct inputs in = { p, scores, half_load(&tensors[SDPA_Q]), half_load(&tensors[SDPA_K]),
                               half_load(&tensors[SDPA_V]) };
    double *all = calloc((size_t)(n_threads * scratch), sizeof *all);
    const bool made = in.q && in.k && in.v && all;
    if (made) {
#pragma omp parallel for num_threads(n_threads)
        for (int64_t row = 0; row < rows; row++) {
            double *weights = all + thread_index() * scratch;
            reference_row(&in, row, weights, weights + keys, out + row * p->D);
        }
    }
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
