/* sdpa_fp8.h -- the op: attention in 8 bits with one scale a tensor. O = e4m3(o_scale * softmax(scale * Q K^T + mask)
 * V).
 *
 * Shapes, masks and grouped heads are those of sdpa.h. Q, K and V are given as FP16; a backend codes each to e4m3 with
 * one FP32 scale, its largest magnitude / 448 (fp8_codec.h), before it is timed. O is e4m3: an element stands for its
 * value / o_scale, which is how it is compared, beyond 448 it is the largest. The reference sees the FP16 inputs, so
 * the gates bound the errors of coding, kernel and output together.
 *
 * o_scale is given, as in use, where it comes from calibration: |O| is at most V's largest magnitude, so 448 over that
 * is safe. V has half the standard deviation of Q and K, so that exchanged scales show.
 */
#ifndef SDPA_FP8_H
#define SDPA_FP8_H

#include "op/sdpa.h"

struct sdpa_fp8 {
    struct sdpa attention; /* its dtype is not read; its reference and costs are this op's too */
    double o_scale;
};

extern const kg_op sdpa_fp8_forward;

/* What a workspace holds, on CPU and GPU alike: the codes of Q, K and V as the tensors lie, then what a code of 1 of
 * each stands for, an FP32 number; each piece at a multiple of 256 bytes. */
struct sdpa_fp8_layout {
    int64_t counts[SDPA_O]; /* elements of Q, K, V */
    size_t codes[SDPA_O];   /* where they begin */
    size_t descales[SDPA_O];
    size_t bytes; /* of all */
};

struct sdpa_fp8_layout sdpa_fp8_layout_of(const struct sdpa_fp8 *p);

static inline uint8_t *sdpa_fp8_codes(const struct sdpa_fp8_layout *layout, const kg_tensor *tensors, int tensor)
{
    return (uint8_t *)tensors[SDPA_WORKSPACE].data + layout->codes[tensor];
}

static inline float *sdpa_fp8_descale(const struct sdpa_fp8_layout *layout, const kg_tensor *tensors, int tensor)
{
    return (float *)(void *)((char *)tensors[SDPA_WORKSPACE].data + layout->descales[tensor]);
}

/* Weights lie in 0 to 1 and are coded to e4m3 too, times this: a power of two, so that no error comes of it. */
#define SDPA_FP8_S_SCALE 256.0f

#endif
