/* half.h -- f16 and bf16 on the CPU: to float exactly, from float to nearest even.
 *
 * Branch-free integer code, so that loops over a row vectorise. A new 16-bit type needs a pair of functions here and a
 * branch in the two row functions.
 */
#ifndef HALF_H
#define HALF_H

#include "kgate.h"

#include <stdlib.h>
#include <string.h>

static inline uint32_t float_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline float float_of_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline float float_from_bf16(uint16_t half)
{
    return float_of_bits((uint32_t)half << 16);
}

static inline uint16_t bf16_from_float(float value)
{
    uint32_t bits = float_bits(value);
    uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    uint32_t quiet_nan = bits >> 16 | 0x40; /* rounding could carry a NaN into infinity */
    return (uint16_t)((bits & 0x7fffffff) > 0x7f800000 ? quiet_nan : rounded);
}

static inline float float_from_f16(uint16_t half)
{
    uint32_t sign = (uint32_t)(half & 0x8000) << 16;
    uint32_t magnitude = half & 0x7fff;
    uint32_t shifted = magnitude << 13;
    /* Exponent bias 15 becomes 127; once more for infinity and NaN, whose exponent is all ones in both formats. */
    uint32_t normal = shifted + (112u << 23) + ((0 - (uint32_t)(magnitude >= 0x7c00)) & 112u << 23);
    /* A subnormal f is placed in the mantissa of 2^-14 (1 + f): taking 2^-14 off again is exact. */
    uint32_t subnormal = float_bits(float_of_bits((113u << 23) | shifted) - 0x1p-14f);
    uint32_t is_subnormal = 0 - (uint32_t)(magnitude < 0x0400); /* a mask: gcc makes a branch of a choice */
    return float_of_bits(sign | (subnormal & is_subnormal) | (normal & ~is_subnormal));
}

static inline uint16_t f16_from_float(float value)
{
    uint32_t bits = float_bits(value);
    uint32_t sign = bits >> 16 & 0x8000;
    uint32_t magnitude = bits & 0x7fffffff;
    uint32_t normal = (magnitude - (112u << 23) + 0xfff + (magnitude >> 13 & 1)) >> 13;
    /* Units in the last place of 0.5 are 2^-24, the subnormals' step: the addition rounds. */
    uint32_t subnormal = float_bits(float_of_bits(magnitude) + 0.5f) - float_bits(0.5f);
    uint32_t finite = magnitude < 0x38800000 ? subnormal : normal;
    uint32_t result = magnitude >= 0x477ff000 ? 0x7c00 : finite; /* from 65520 on, halfway past the largest */
    return (uint16_t)(sign | (magnitude > 0x7f800000 ? 0x7e00 : result));
}

/* `n` elements of a tensor from index `first` on, times `factor`. */
static inline void half_load_row(const kg_tensor *tensor, int64_t first, int64_t n, float factor, float *ret_row)
{
    const uint16_t *half = (const uint16_t *)tensor->data + first;
    if (tensor->dtype == KG_BF16)
#pragma omp simd
        for (int64_t i = 0; i < n; i++)
            ret_row[i] = float_from_bf16(half[i]) * factor;
    else
#pragma omp simd
        for (int64_t i = 0; i < n; i++)
            ret_row[i] = float_from_f16(half[i]) * factor;
}

/* The whole tensor; NULL: no memory. The caller frees it. */
static inline float *half_load(const kg_tensor *tensor)
{
    const int64_t count = kg_tensor_count(tensor);
    float *all = malloc((size_t)count * sizeof *all);
    if (all)
        half_load_row(tensor, 0, count, 1, all);
    return all;
}

static inline void half_store_row(const kg_tensor *tensor, int64_t first, int64_t n, const float *row, float factor)
{
    uint16_t *half = (uint16_t *)tensor->data + first;
    if (tensor->dtype == KG_BF16)
        for (int64_t i = 0; i < n; i++)
            half[i] = bf16_from_float(row[i] * factor);
    else
        for (int64_t i = 0; i < n; i++)
            half[i] = f16_from_float(row[i] * factor);
}

#endif
