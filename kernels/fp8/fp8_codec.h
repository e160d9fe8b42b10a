/* fp8_codec.h -- the two 8-bit codes of `fp8_sdpa`, the same bits on CPU and GPU, so it is shared by C and CUDA code.
 *
 * A head of a tensor has one scale, fp8_scale of its largest magnitude; x is coded as the code nearest to x / scale,
 * and a code stands for value(code) * step * scale. Values are exact in FP16, so that tensor cores multiply codes
 * without a second rounding, and steps and scales are left to FP32.
 *
 *     linear   value = code - 128, step 448/127: code and value are each other's inverse for all 256 codes
 *     e4m3     1 sign, 4 exponent, 3 mantissa bits, largest 448, no infinity; step 1; never 0x7f and 0xff, the NaNs
 *
 * A third code is a pair of functions and a step here, a codec in cpu_stage_c.c, and a branch in fp8_stage_c.cu and in
 * fp8_encode.cu.
 */
#ifndef FP8_CODEC_H
#define FP8_CODEC_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#ifdef __CUDACC__
#define FP8_BOTH static __host__ __device__ __forceinline__
#else
#define FP8_BOTH static inline
#endif

#define FP8_LARGEST 448.0f /* magnitude that the largest of a head is scaled to, in both codes */
#define FP8_LINEAR_STEP (FP8_LARGEST / 127)
#define FP8_E4M3_STEP 1.0f

FP8_BOTH float fp8_scale(float largest)
{
    return largest > 1e-6f ? largest / FP8_LARGEST : 1.0f;
}

/* `scaled` is x / scale. The largest may come out a rounding above 448; everything beyond takes the last code. Without
 * branches and calls, so that the CPU's loops vectorise. */
FP8_BOTH uint8_t fp8_linear_code(float scaled)
{
    const float nearest = rintf(scaled / FP8_LINEAR_STEP), above = nearest > -128 ? nearest : -128;
    return (uint8_t)((int)(above < 127 ? above : 127) + 128);
}

FP8_BOTH float fp8_linear_value(uint8_t code)
{
    return (float)((int)code - 128);
}

/* Round to nearest even. */
FP8_BOTH uint8_t fp8_e4m3_code(float scaled)
{
    const float size = fabsf(scaled), magnitude = size < FP8_LARGEST ? size : FP8_LARGEST;
    const uint32_t sign = scaled < 0 ? 0x80 : 0;
    const int tiny = (int)rintf(magnitude * 0x1p9f); /* subnormal: multiples of 2^-9; 8 of them are the first normal */
    uint32_t bits;
    memcpy(&bits, &magnitude, sizeof bits);
    bits += 0x7ffff + (bits >> 20 & 1);
    return (uint8_t)(sign | (magnitude < 0x1p-6f ? (uint32_t)tiny : (bits >> 20) - (120 << 3))); /* bias 127 to 7 */
}

FP8_BOTH float fp8_e4m3_value(uint8_t code)
{
    uint32_t exponent = code >> 3 & 15, mantissa = code & 7;
    float subnormal = (float)mantissa * 0x1p-9f, normal;
    uint32_t bits = (exponent + 120) << 23 | mantissa << 20;
    memcpy(&normal, &bits, sizeof normal);
    float magnitude = exponent ? normal : subnormal;
    return code & 0x80 ? -magnitude : magnitude;
}

#endif
