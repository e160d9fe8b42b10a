/* fp8_variants.c -- the stage-C backends: a binary of fp8_stage_c.cu for each setting of its switches, and a name for
 * each.
 *
 * The switches are compiled in, never read from the environment: two names cannot run one binary. To add a variant: a
 * line here, and one in kernels/meson.build: its flags, under the same name.
 */
#include "fp8/fp8_stage_c.h"
#include "op/sdpa_error.h"

#define VARIANT(id, encoder, codes, prints, its_help)                                                                  \
    stage_c_enqueue_fn id##_enqueue; /* of fp8_stage_c.cu, compiled with -DSTAGE_C_NAME=id */                          \
    extern const char id##_toggles[];                                                                                  \
    const kg_backend id = { .name = #id,                                                                               \
                            .help = its_help,                                                                          \
                            .data = &(const struct stage_c_variant){ id##_enqueue, encoder, prints },                  \
                            .toggles = id##_toggles,                                                                   \
                            .untimed = prints,                                                                         \
                            .arithmetic = &codes,                                                                      \
                            STAGE_C_BACKEND }

VARIANT(stage_c, fp8_encode_linear, sdpa_linear_codes, false, "WMMA on linear 8-bit codes");
VARIANT(stage_c_lut, fp8_encode_linear, sdpa_linear_codes, false, "the same, K and V decoded by table");
VARIANT(stage_c_nocp, fp8_encode_linear, sdpa_linear_codes, false, "the same, without cp.async");
VARIANT(stage_c_lut_nocp, fp8_encode_linear, sdpa_linear_codes, false, "the same, by table, without cp.async");

VARIANT(stage_c_e4m3, fp8_encode_e4m3, sdpa_e4m3_codes, false, "WMMA on e4m3 codes");
VARIANT(stage_c_e4m3_lut, fp8_encode_e4m3, sdpa_e4m3_codes, false, "the same, K and V decoded by table");
VARIANT(stage_c_e4m3_nocp, fp8_encode_e4m3, sdpa_e4m3_codes, false, "the same, without cp.async");
VARIANT(stage_c_e4m3_lut_nocp, fp8_encode_e4m3, sdpa_e4m3_codes, false, "the same, by table, without cp.async");

VARIANT(stage_c_debug_print, fp8_encode_linear, sdpa_linear_codes, true,
        "stage_c that tells the log what it computes for the first query; never timed");
