/* no_cuda.c -- what stands for the CUDA backends in a build without CUDA: their cases are listed, and skipped aloud.
 *
 * A new CUDA backend gets a line here, or a CPU build does not link.
 */
#include "op/sdpa_fp8.h"

static int supports(const kg_backend *self, const kg_device *device, const void *problem, kg_error *ret_error)
{
    (void)self, (void)device, (void)problem;
    return kg_fail(ret_error, KG_EUNSUPPORTED, "this build has no CUDA backends (configure with -Dcuda=enabled)");
}

static int launch(const kg_backend *self, void *state, const kg_tensor *tensors, void *stream, kg_error *ret_error)
{
    (void)state, (void)tensors, (void)stream;
    return supports(self, NULL, NULL, ret_error);
}

#define ABSENT(...)                                                                                                    \
    {                                                                                                                  \
        .help = "not in this build", .device = KG_CUDA, .supports = supports, .launch = launch, .name = __VA_ARGS__    \
    }

const kg_backend sdpa_math = ABSENT("math");
const kg_backend sdpa_cudnn = ABSENT("cudnn");
const kg_backend sdpa_cudnn_best = ABSENT("cudnn_best");
const kg_backend cudnn_fp8 = ABSENT("cudnn_fp8");
const kg_backend sdpa_flash = ABSENT("flash");
const kg_backend sdpa_fa1 = ABSENT("fa1");
const kg_backend fa_v3_32x64 = ABSENT("fa_v3_32x64");
const kg_backend fa_v3_32x32 = ABSENT("fa_v3_32x32");
const kg_backend fa_v3_48x64 = ABSENT("fa_v3_48x64");
const kg_backend fa_v3_repaired = ABSENT("fa_v3_repaired");
const kg_backend pathology_clean = ABSENT("clean");
const kg_backend pathology_strided_loads = ABSENT("strided_loads");
const kg_backend pathology_no_staging = ABSENT("no_staging");
const kg_backend pathology_extra_barriers = ABSENT("extra_barriers");
const kg_backend pathology_divergence = ABSENT("divergence");
const kg_backend pathology_over_unrolled = ABSENT("over_unrolled");
const kg_backend pathology_tiny_blocks = ABSENT("tiny_blocks");
const kg_backend pathology_serial_batch = ABSENT("serial_batch");
const kg_backend stage_c = ABSENT("stage_c");
const kg_backend stage_c_lut = ABSENT("stage_c_lut");
const kg_backend stage_c_nocp = ABSENT("stage_c_nocp");
const kg_backend stage_c_lut_nocp = ABSENT("stage_c_lut_nocp");
const kg_backend stage_c_e4m3 = ABSENT("stage_c_e4m3");
const kg_backend stage_c_e4m3_lut = ABSENT("stage_c_e4m3_lut");
const kg_backend stage_c_e4m3_nocp = ABSENT("stage_c_e4m3_nocp");
const kg_backend stage_c_e4m3_lut_nocp = ABSENT("stage_c_e4m3_lut_nocp");
const kg_backend stage_c_debug_print = ABSENT("stage_c_debug_print", .untimed = true);
