/* cpu_fp8_encode.h -- FP16 numbers to 8-bit codes under one scale, on the CPU: for a head (cpu_stage_c.c) or a whole
 * tensor (cpu_fp8.c). The GPU's are fp8_encode.cu and fp8_encode_tensor.cu. */
#ifndef CPU_FP8_ENCODE_H
#define CPU_FP8_ENCODE_H

#include <math.h>
#include <stdint.h>

#include "fp8/fp8_codec.h"
#include "op/half.h"

/* codes[i] = code(x[i] / scale), i < count, by the scale of the largest magnitude; returns the scale. */
static inline float cpu_fp8_encode(uint8_t (*code)(float scaled), const uint16_t *x, int64_t count, uint8_t *codes)
{
    float largest = 0;
    for (int64_t i = 0; i < count; i++)
        largest = fmaxf(largest, fabsf(float_from_f16(x[i])));
    float scale = fp8_scale(largest);
    for (int64_t i = 0; i < count; i++)
        codes[i] = code(float_from_f16(x[i]) / scale);
    return scale;
}

#endif
