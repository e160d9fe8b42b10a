/* random.h -- input values, the same bits on CPU and GPU, so it is shared by C and CUDA code.
 *
 * Element i of tensor t under a seed: two 64-bit words by a counter-based mix (splitmix64's finaliser over key and
 * counter), the sum of their eight 16-bit parts (Irwin-Hall: bell-shaped, within 4.9 standard deviations), centred as
 * an exact integer, times one float constant, rounded to the dtype by its bits. One multiplication, whose sign is taken
 * off before anything is added, so no contraction can differ. */
#ifndef KG_RANDOM_H
#define KG_RANDOM_H

#include <stdint.h>
#include <string.h>

#ifdef __CUDACC__
#define KG_BOTH static __host__ __device__ inline
#else
#define KG_BOTH static inline
#endif

KG_BOTH uint64_t kg_mix64(uint64_t x)
{
    x ^= x >> 30;
    x *= 0xbf58476d1ce4e5b9u;
    x ^= x >> 27;
    x *= 0x94d049bb133111ebu;
    x ^= x >> 31;
    return x;
}

/* An int over 0, as members of files are; 0 is left to mean that there is none. */
static inline int kg_digest_31(uint64_t digest)
{
    return (int)(kg_mix64(digest) >> 33) | 1;
}

KG_BOTH uint64_t kg_random_key(uint64_t seed, uint32_t ordinal)
{
    return kg_mix64(seed + 0x9e3779b97f4a7c15u) ^ kg_mix64(0xd1b54a32d192ed03u * (ordinal + 1u));
}

/* The constant that gives the values the standard deviation `std`: that of the sum is sqrt(8 (2^32 - 1) / 12), and the
 * centred sum is doubled to stay an integer. Computed once, on the host. */
KG_BOTH float kg_random_scale(double std)
{
    return (float)(std / (2.0 * 53509.91992145008));
}

KG_BOTH float kg_random_value(uint64_t key, uint64_t index, float scale)
{
    uint64_t a = kg_mix64(key + 0x9e3779b97f4a7c15u * (2 * index + 1));
    uint64_t b = kg_mix64(key + 0x9e3779b97f4a7c15u * (2 * index + 2));
    const uint64_t low = 0x0000ffff0000ffffu; /* of both words of 32 bits, which have room for the sums */
    const uint64_t sums = (a & low) + (a >> 16 & low) + (b & low) + (b >> 16 & low);
    const int32_t sum = (int32_t)(uint32_t)sums + (int32_t)(sums >> 32);
    return (float)(2 * sum - 8 * 65535) * scale;
}

KG_BOTH uint32_t kg_float_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

KG_BOTH float kg_float_from_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Round to nearest even, without a branch, so that loops vectorise. Any float; NaN stays NaN. */
KG_BOTH uint16_t kg_bf16_from_float(float value)
{
    const uint32_t bits = kg_float_bits(value), rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    return (uint16_t)((bits & 0x7fffffff) > 0x7f800000 ? bits >> 16 | 0x40 : rounded);
}

KG_BOTH uint16_t kg_f16_from_float(float value)
{
    const uint32_t bits = kg_float_bits(value), magnitude = bits & 0x7fffffff;
    const uint32_t normal = (magnitude - 0x38000000 + 0xfff + (magnitude >> 13 & 1)) >> 13;
    /* Units in the last place of 0.5 are 2^-24, the subnormals' step: the addition rounds. */
    const uint32_t subnormal = kg_float_bits(kg_float_from_bits(magnitude) + 0.5f) - kg_float_bits(0.5f);
    const uint32_t finite = magnitude < 0x38800000 ? subnormal : normal;
    const uint32_t result = magnitude >= 0x477ff000 ? 0x7c00 : finite; /* 65520 rounds to infinity */
    return (uint16_t)((bits >> 16 & 0x8000) | (magnitude > 0x7f800000 ? 0x7e00 : result));
}

KG_BOTH float kg_float_from_bf16(uint16_t bits)
{
    return kg_float_from_bits((uint32_t)bits << 16);
}

KG_BOTH float kg_float_from_f16(uint16_t half)
{
    uint32_t sign = (uint32_t)(half & 0x8000) << 16, exponent = half >> 10 & 31, mantissa = half & 0x3ff;
    if (exponent == 31)
        return kg_float_from_bits(sign | 0x7f800000 | mantissa << 13);
    if (exponent)
        return kg_float_from_bits(sign | (exponent + 112) << 23 | mantissa << 13);
    float value = (float)mantissa * 0x1p-24f;
    return sign ? -value : value;
}

/* Exponent bias 7, 3 bits of mantissa, no infinity; 0x7f and 0xff are NaN. */
KG_BOTH float kg_float_from_e4m3(uint8_t byte)
{
    uint32_t sign = (uint32_t)(byte & 0x80) << 24, exponent = byte >> 3 & 15, mantissa = byte & 7;
    if ((byte & 0x7f) == 0x7f)
        return kg_float_from_bits(sign | 0x7fc00000);
    if (exponent)
        return kg_float_from_bits(sign | (exponent + 120) << 23 | mantissa << 20);
    float value = (float)mantissa * 0x1p-9f;
    return sign ? -value : value;
}

/* Memory painted with a pattern holds its bytes by address, the lowest at multiples of 4. */
KG_BOTH uint8_t kg_pattern_byte(uint32_t pattern, uintptr_t address)
{
    return (uint8_t)(pattern >> 8 * (address & 3));
}

/* Summand of a digest: word `index` of the data, eight bytes, the last one padded with zeros. */
KG_BOTH uint64_t kg_digest_word(uint64_t word, uint64_t index)
{
    return kg_mix64(word + kg_mix64(index + 0x9e3779b97f4a7c15u));
}

#endif
