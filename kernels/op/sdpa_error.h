/* sdpa_error.h -- the error scale of attention: how far off honest arithmetic may be expected, element by element. Each
 * rounding counts with its bound, half an ulp, about two standard deviations; what rounds independently is added as
 * squares. Shared by C and CUDA code.
 *
 *     E^2 = (output o)^2 + output_floor^2                     the output is rounded
 *         + sum_j v_j^2 ((weight p_j)^2 + weight_floor^2)     weights are, for the second product
 *         + sum_j v_j^2 p_j min(1, n p_j)
 *           (32 2^-24 + sum n/128)^2                          exponentials and sums, of n keys
 *         + (sum n/16 o)^2                                    tensor cores cut a running sum off, towards zero
 *         + sum_j 2 (p_j (1 - p_j) ds_j)^2 (v_j^2 + o^2)      scores are off by ds_j
 *         + (coded - o)^2                                     8-bit codes
 *
 * Exponentials and sums may all be off to one side, by sum_j p_j |v_j|, whose square is at most twice the sum above.
 *
 * Weights of equal keys are rounded alike. Where as many equal values go with them, E is too small: no regime has both.
 *
 * Beside weights in FP32 the output's rounding is all there is, one, of half an ulp at most: it then counts 0.3 of
 * that, so that four E are hardly more.
 *
 * Scores: an error ds_j moves o by p_j ds_j (v_j - o), and v_j - o is 1 - p_j times what lies between v_j and the
 * others' mean: what all scores of a row have in common does no harm, nor what befalls a lone winner. ds_j is rounding
 * of sums of D products, which grow to scale |q| |k_j|: as many half ulps of that as the root of 4 + D. Where that is
 * over 1 it may choose another winner, so exp(ds_j) stands for 1 + ds_j.
 *
 * Codes: an error of q is common to all keys of a row, and where values follow keys all that it does adds up, so no sum
 * of variances is both safe and sharp. But codes are a contract (fp8_codec.h), so what they do is known: p and v above
 * are those of the coded inputs, and `coded` is the sum of p_j v_j, cut to what the output can hold.
 */
#ifndef SDPA_ERROR_H
#define SDPA_ERROR_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "kgate.h"

#ifdef __CUDACC__
#define SDPA_BOTH static __host__ __device__ __forceinline__
#else
#define SDPA_BOTH static inline
#endif

/* To half_ulp * |x|, and where x is small to `floor`. */
struct sdpa_rounding {
    double half_ulp, floor;
};

/* clang-format off */
#define SDPA_F16_ROUNDING { 0x1p-11, 0x1p-25 }
#define SDPA_BF16_ROUNDING { 0x1p-8, 0x1p-125 } /* where FP32 ends: some stop there, some flush to zero */
#define SDPA_E4M3_ROUNDING { 0x1p-4, 0x1p-10 }
#define SDPA_FP8_WEIGHTS { 0x1p-4, 0x1p-10 / 256 } /* e4m3, times SDPA_FP8_S_SCALE */
/* clang-format on */

/* Of q, k and v, all three: nearest codes (fp8_codec.h), and what has a scale of its own. */
enum sdpa_code { SDPA_UNCODED, SDPA_LINEAR_HEAD, SDPA_E4M3_HEAD, SDPA_E4M3_TENSOR };

/* What `.arithmetic` of a backend points to. NULL: no codes, weights in the dtype of the inputs, sums in FP32. */
struct sdpa_arithmetic {
    enum sdpa_code code;
    struct sdpa_rounding weights;
    double sums; /* half ulp of the products' sums */
};

#define SDPA_FP32_SUMS 0x1p-24

/* What modifying a score adds to ds_j, times 1, for what a bias is, the score and what becomes
 * of it: a few operations in FP32, functions to 2^-21. */
#define SDPA_SCORE_ROUNDING 0x1p-21

/* Codes with a scale a head, and the rest in FP16: stage_c's. */
extern const struct sdpa_arithmetic sdpa_linear_codes, sdpa_e4m3_codes;

/* No codes, and weights in FP32 to the end: the CPU's plain kernels. */
extern const struct sdpa_arithmetic sdpa_fp32_weights;

/* The formula's constants for a problem. */
struct sdpa_error_model {
    double output, output_floor, largest; /* `largest`: outputs beyond are cut to it */
    double weight, weight_floor, sum;
    double score; /* ds_j = score * |q| |k_j| */
};

/* `o` is the op's output. One with a unit is e4m3, as sdpa_fp8.h has it, else it has the dtype of q. */
struct sdpa_error_model sdpa_error_model_of(double scale, const struct sdpa_arithmetic *arithmetic, const kg_tensor *q,
                                            const kg_tensor *o);

#define SDPA_E4M3_LARGEST 448.0f

/* The smaller number; fminf would be a call on the CPU. */
SDPA_BOTH float sdpa_error_least(float x, float y)
{
    return x < y ? x : y;
}

/* The power of two that x >= 0 begins with; 0 below the normal numbers. */
SDPA_BOTH float sdpa_error_power(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits &= 0x7f800000;
    memcpy(&x, &bits, sizeof bits);
    return x;
}

/* What the code nearest to x stands for, by the scale of the largest magnitude: fp8_codec.h's contract, told anew, so
 * that a mistake there is none here. */
SDPA_BOTH float sdpa_error_coded(enum sdpa_code code, float x, float largest)
{
    const float scale = largest > 1e-6f ? largest / SDPA_E4M3_LARGEST : 1.0f, scaled = x / scale;
    if (code == SDPA_LINEAR_HEAD) {
        const float step = SDPA_E4M3_LARGEST / 127, nearest = rintf(scaled / step);
        return -sdpa_error_least(-sdpa_error_least(nearest, 127.0f), 128.0f) * (step * scale);
    }
    const float magnitude = sdpa_error_least(fabsf(scaled), SDPA_E4M3_LARGEST);
    const float eighth = sdpa_error_power(magnitude) / 8; /* 3 bits follow the first, down to steps of 2^-9 */
    const float step = eighth > 0x1p-9f ? eighth : 0x1p-9f;
    return copysignf(rintf(magnitude / step) * step, x) * scale;
}

/* exp(ds_j) for 1 + ds_j, where that is another. */
SDPA_BOTH double sdpa_error_grown(double score_error)
{
    return score_error < 0.1 ? score_error : sinh(score_error < 700 ? score_error : 700);
}

/* What v_j^2 is multiplied with. `keys`: n; `grown`: ds_j. */
SDPA_BOTH double sdpa_error_key(const struct sdpa_error_model *m, double p, double grown, double keys,
                                double *ret_of_score)
{
    const double weight = m->weight * p, sum = 32 * SDPA_FP32_SUMS + m->sum * keys / 128;
    const double moving = p * (1 - p) * grown, moved = moving < 1 ? moving : 1;
    *ret_of_score = 2 * moved * moved;
    return weight * weight + m->weight_floor * m->weight_floor + p * (keys * p < 1 ? keys * p : 1) * sum * sum +
           *ret_of_score;
}

/* E. `of_values`: the sum of v_j^2 times the above; `of_scores`: that of its second part. */
SDPA_BOTH float sdpa_error_scale(const struct sdpa_error_model *m, double o, double coded, double keys,
                                 double of_values, double of_scores)
{
    const double rounded = m->output * o, cut = m->sum * keys / 16 * o;
    const double moved = fmin(fmax(coded, -m->largest), m->largest) - o;
    return (float)sqrt(rounded * rounded + m->output_floor * m->output_floor + cut * cut + of_values +
                       of_scores * o * o + moved * moved);
}

#endif
