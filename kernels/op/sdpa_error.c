/* sdpa_error.c -- the error scale (sdpa_error.h) on the CPU, for one query row at a time in double precision, as
 * sdpa_reference.c has the output. */
#include "op/sdpa_error.h"

#include <stdlib.h>
#include <string.h>

#include "op/half.h"
#include "op/sdpa_weights.h"
#include "op/threads.h"

const struct sdpa_arithmetic sdpa_linear_codes = { SDPA_LINEAR_HEAD, SDPA_F16_ROUNDING, SDPA_FP32_SUMS };
const struct sdpa_arithmetic sdpa_e4m3_codes = { SDPA_E4M3_HEAD, SDPA_F16_ROUNDING, SDPA_FP32_SUMS };
const struct sdpa_arithmetic sdpa_fp32_weights = { SDPA_UNCODED, { 0x1p-24, 0x1p-125 }, SDPA_FP32_SUMS };

struct sdpa_error_model sdpa_error_model_of(double scale, const struct sdpa_arithmetic *arithmetic, const kg_tensor *q,
                                            const kg_tensor *o)
{
    const struct sdpa_rounding f16 = SDPA_F16_ROUNDING, bf16 = SDPA_BF16_ROUNDING, e4m3 = SDPA_E4M3_ROUNDING;
    const struct sdpa_rounding plain = q->dtype == KG_BF16 ? bf16 : f16;
    const struct sdpa_rounding weights = arithmetic ? arithmetic->weights : plain, output = o->unit != 0 ? e4m3 : plain;
    const double sums = arithmetic ? arithmetic->sums : SDPA_FP32_SUMS, D = (double)q->dims[q->rank - 1];
    const double once = weights.half_ulp <= SDPA_FP32_SUMS ? 0.3 : 1;
    return (struct sdpa_error_model){
        .output = once * output.half_ulp,
        .output_floor = once * output.floor * kg_tensor_unit(o),
        .largest = o->unit != 0 ? SDPA_E4M3_LARGEST * o->unit : INFINITY,
        .weight = weights.half_ulp,
        .weight_floor = weights.floor,
        .sum = sums,
        .score = sums * sqrt(4 + D) * scale,
    };
}

/* ---- inputs as they are multiplied ---------------------------------------------------------------------------- */

/* `count` numbers with one scale: what their codes stand for. */
AVX2_TOO static void encode(enum sdpa_code code, float *x, int64_t count)
{
    float largest = 0;
#pragma omp simd reduction(max : largest)
    for (int64_t i = 0; i < count; i++)
        largest = fabsf(x[i]) > largest ? fabsf(x[i]) : largest;
    for (int64_t i = 0; i < count; i++)
        x[i] = sdpa_error_coded(code, x[i], largest);
}

/* The tensor in FP32, coded if it is; NULL: no memory. */
static float *load(const kg_tensor *tensor, const struct sdpa_arithmetic *arithmetic)
{
    const int64_t count = kg_tensor_count(tensor), head = tensor->dims[2] * tensor->dims[3];
    float *all = half_load(tensor);
    if (!all)
        return NULL;
    if (arithmetic && arithmetic->code == SDPA_E4M3_TENSOR)
        encode(arithmetic->code, all, count);
    else if (arithmetic && arithmetic->code != SDPA_UNCODED)
        for (int64_t first = 0; first < count; first += head)
            encode(arithmetic->code, all + first, head);
    return all;
}

/* ---- rows ------------------------------------------------------------------------------------------------------ */

struct inputs {
    struct sdpa_floats floats;
    struct sdpa_error_model model;
    bool coded;
    double *lengths; /* of keys */
};

static double length_of(const float *x, int64_t D)
{
    double square = 0;
#pragma omp simd reduction(+ : square)
    for (int64_t d = 0; d < D; d++)
        square += (double)x[d] * x[d];
    return sqrt(square);
}

static double *lengths_of(const float *k, int64_t n_keys, int64_t D)
{
    double *lengths = malloc((size_t)n_keys * sizeof *lengths);
    for (int64_t j = 0; j < n_keys && lengths; j++)
        lengths[j] = length_of(k + j * D, D);
    return lengths;
}

#define HIDDEN (-1.0)

ROW_SUMS(square_sums, double, SQUARED)

/* The weights of a query's keys, which sum to 1, and what modifying adds to the errors of their scores, or HIDDEN.
 * `q` has room for D numbers. Returns how many keys it sees. */
static int64_t weigh(const struct sdpa_floats *in, const struct sdpa_query *at, double *q, double *ret_weights,
                     double *ret_added)
{
    int64_t visible = 0;
    sdpa_query_scores(in, at, q, ret_weights);
    memcpy(ret_added, ret_weights, (size_t)at->keys * sizeof *ret_added);
    sdpa_query_modify(in, at, ret_weights);
    for (int64_t j = 0; j < at->keys; j++) {
        const bool hidden = ret_weights[j] == -INFINITY;
        const double added = in->scores ? SDPA_SCORE_ROUNDING * (1 + fabs(ret_added[j]) + fabs(ret_weights[j])) : 0;
        ret_added[j] = hidden ? HIDDEN : added;
        visible += !hidden;
    }
    const double sum = sdpa_weights_of(at->keys, ret_weights);
    for (int64_t j = 0; j < at->keys; j++)
        ret_weights[j] /= visible ? sum : 1;
    return visible;
}

/* What modifying adds becomes what scores are off by. */
AVX2_TOO static void grow(double score, const double *lengths, int64_t keys, double *added)
{
    double largest = 0;
#pragma omp simd reduction(max : largest)
    for (int64_t j = 0; j < keys; j++) {
        const double error = score * lengths[j] + added[j];
        added[j] = added[j] == HIDDEN ? HIDDEN : error;
        largest = added[j] > largest ? added[j] : largest;
    }
    const bool grows = sdpa_error_grown(largest) != largest;
    for (int64_t j = 0; j < keys && grows; j++)
        added[j] = sdpa_error_grown(added[j]);
}

/* Row `row` of [B * H * S]. `scratch` has room for two numbers a key and three an element of the row. */
AVX2_TOO static void scale_row(const struct inputs *in, const kg_tensor *tensors, int64_t row, double *scratch)
{
    const struct sdpa_floats *floats = &in->floats;
    const int64_t D = floats->problem->D, stride = whole_vectors(sdpa_kv_length(floats->problem));
    const struct sdpa_query at = sdpa_query_of(floats, row);
    const float *v = floats->v + at.first_key * D;
    const double score = in->model.score * length_of(floats->q + row * D, D);
    double *weights = scratch, *added = weights + stride, *of_values = added + stride, *coded = of_values + D,
           of_scores = 0;
    const int64_t keys = weigh(floats, &at, coded + D, weights, added);
    if (in->coded)
        sdpa_row_sums(weights, v, at.keys, D, D, coded);
    grow(score, in->lengths + at.first_key, at.keys, added);
#pragma omp simd reduction(+ : of_scores)
    for (int64_t j = 0; j < at.keys; j++) {
        double of_score;
        const double of_value = sdpa_error_key(&in->model, weights[j], added[j], (double)keys, &of_score);
        weights[j] = added[j] == HIDDEN ? 0 : of_value;
        of_scores += added[j] == HIDDEN ? 0 : of_score;
    }
    square_sums(weights, v, at.keys, D, D, of_values);
    const float *o = (const float *)tensors[SDPA_O].data + row * D;
    float *out = (float *)tensors[SDPA_ERROR].data + row * D;
    for (int64_t d = 0; d < D; d++)
        out[d] = sdpa_error_scale(&in->model, o[d], in->coded ? coded[d] : o[d], (double)keys, of_values[d], of_scores);
}

int sdpa_error_rows(const struct sdpa *p, const struct sdpa_scores *scores, const void *arithmetic,
                    const kg_tensor *tensors, kg_error *ret_error)
{
    const struct sdpa_arithmetic *own = arithmetic;
    const int64_t rows = p->B * p->H * p->S,
                  scratch = 2 * whole_vectors(sdpa_kv_length(p)) + 3 * p->D; /* of one thread */
    const int n_threads = threads_for(0, sdpa_flops(p));
    struct inputs in = {
        .floats = { p, scores, load(&tensors[SDPA_Q], own), NULL, load(&tensors[SDPA_V], own) },
        .model = sdpa_error_model_of(sdpa_scale(p), own, &tensors[SDPA_Q], &tensors[SDPA_O]),
        .coded = own && own->code != SDPA_UNCODED,
    };
    double *all = malloc((size_t)(n_threads * scratch) * sizeof *all);
    float *k = load(&tensors[SDPA_K], own);
    if (k) {
        in.lengths = lengths_of(k, p->B * sdpa_kv_heads(p) * sdpa_kv_length(p), p->D);
        in.floats.k = new_columns(k, p->B * sdpa_kv_heads(p), sdpa_kv_length(p), p->D);
    }
    const bool made = in.floats.q && in.floats.k && in.floats.v && in.lengths && all;
    if (made) {
#pragma omp parallel for num_threads(n_threads)
        for (int64_t row = 0; row < rows; row++)
            scale_row(&in, tensors, row, all + thread_index() * scratch);
    }
    free(k);
    free(in.floats.q);
    free(in.floats.k);
    free(in.floats.v);
    free(in.lengths);
    free(all);
    return made ? KG_OK : kg_fail(ret_error, KG_ENOMEM, "no memory for the error scale's rows");
}

int sdpa_error_scale_cpu(const void *problem, const void *arithmetic, const kg_tensor *tensors, kg_error *ret_error)
{
    return sdpa_error_rows(problem, NULL, arithmetic, tensors, ret_error);
}
