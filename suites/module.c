/* module.c -- the root of the attention module: what the runner finds when it loads attention.so.
 *
 * A new suite is one line below.
 */
#include "kg_build.h"
#include "kg_kernels.h"
#include "suites.h"

static const kg_suite *const suites[] = {
    &cudnn_sdpa,       &attention_matrix, &sdpa_parity,   &fa_s512,   &flex_attention, &flex_attention_static,
    &flex_parity,      &fp8_sdpa,         &fp8_sdpa_e4m3, &fp8_cudnn, &fp8_parity,     &fp8_parity_e4m3,
    &fp8_cudnn_parity, &pathology,        &plain_parity,
};

SUITES_ROOT("attention");
