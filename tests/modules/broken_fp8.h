/* broken_fp8.h -- the CUDA half of broken_fp8.c: the same defects in the kernels that ship. */
#ifndef BROKEN_FP8_H
#define BROKEN_FP8_H

#include "kgate.h"

/* What the stage-C task once did: x in [-1, 1] coded as round((x + 1) * 127.5), but decoded as (code - 128) / 127. */
#define MISMATCHED_CODE(scaled) ((uint8_t)fminf(fmaxf(rintf(((scaled) / FP8_LARGEST + 1) * 127.5f), 0), 255))

#if KG_WITH_CUDA
extern const kg_backend cuda_right, cuda_mismatched, cuda_half_table, cuda_last_early, cuda_zero, cuda_told;
#endif

#define TOLD_NS 10000

#ifdef __cplusplus
extern "C" {
#endif

/* Beside the right kernel's staging and launch: TOLD_NS longer, once after each staging. A cudaError_t. */
int told_stage(void *stream);
int told_launch(void *stream);

#ifdef __cplusplus
}
#endif

#endif
