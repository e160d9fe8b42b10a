/* sdpa.h -- the op: scaled dot-product attention, forward. O = softmax(scale * Q K^T + mask) V.
 *
 * Q [B, H, S, D], K and V [B, Hkv, Skv, D], O [B, H, S, D], all packed and of one dtype. Query head h reads key head
 * h / (H / Hkv). Causal masks are aligned top-left: query i sees keys j <= i. A row that sees no key gives zeros.
 * The reference sees the inputs as the dtype holds them, so the gates bound the kernel's own error. Dtype e4m3 is the
 * exception: Q, K and V are given as FP16 and O is FP16; backends for it code Q, K and V to 8 bits with one FP32 scale
 * a head and tensor (fp8_codec.h: e4m3 or a linear code) before they are timed. The reference and every other backend
 * see the FP16 inputs, so the gates bound the error of coding and kernel together.
 */
#ifndef SDPA_H
#define SDPA_H

#include "kgate.h"

struct sdpa {
    const char *name;
    int64_t B, H; /* batch, query heads */
    int64_t Hkv;  /* key heads; 0: H */
    int64_t S;    /* query length */
    int64_t Skv;  /* key length; 0: S */
    int64_t D;    /* head dimension */
    enum kg_dtype dtype;
    bool causal;
    double scale; /* 0: 1/sqrt(D) */
};

extern const kg_op sdpa_forward;

/* Tensors of a call, in this order. */
enum sdpa_tensor { SDPA_Q, SDPA_K, SDPA_V, SDPA_O, SDPA_TENSORS, SDPA_WORKSPACE = SDPA_TENSORS };

static inline int64_t sdpa_kv_heads(const struct sdpa *p)
{
    return p->Hkv ? p->Hkv : p->H;
}

static inline int64_t sdpa_kv_length(const struct sdpa *p)
{
    return p->Skv ? p->Skv : p->S;
}

/* Of all four tensors of a call. */
static inline enum kg_dtype sdpa_tensor_dtype(const struct sdpa *p)
{
    return p->dtype == KG_E4M3 ? KG_F16 : p->dtype;
}

double sdpa_scale(const struct sdpa *p);

/* Score pairs that no mask hides, over all batches and heads. */
double sdpa_visible_pairs(const struct sdpa *p);

/* The reference on the GPU (sdpa_reference.cu), double-precision accumulation, output FP32. */
int sdpa_reference_cuda(const void *problem, const kg_device *device, const kg_tensor *tensors, void *stream,
                        kg_error *ret_error);

/* The backends: cpu_math.c cpu_flash.c math.c cudnn.c flash.cu fa1.cu. */
extern const kg_backend cpu_math, cpu_flash, sdpa_math, sdpa_cudnn, sdpa_cudnn_best, sdpa_flash, sdpa_fa1, sdpa_auto;

/* Slow on purpose, and repaired: fa_v3.cu, fa_v3_repaired.cu. */
extern const kg_backend fa_v3_32x64, fa_v3_32x32, fa_v3_48x64, fa_v3_repaired;

/* Plain attention, and the same with something slow planted: pathology_variants.c, pathology.cu. */
extern const kg_backend pathology_clean, pathology_strided_loads, pathology_no_staging, pathology_extra_barriers;
extern const kg_backend pathology_divergence, pathology_over_unrolled, pathology_tiny_blocks, pathology_serial_batch;

/* For dtype e4m3, by code: cpu_stage_c.c; fp8_variants.c and fp8_stage_c.cu. */
extern const kg_backend cpu_stage_c, cpu_stage_c_e4m3;
extern const kg_backend stage_c, stage_c_lut, stage_c_nocp, stage_c_lut_nocp, stage_c_debug_print;
extern const kg_backend stage_c_e4m3, stage_c_e4m3_lut, stage_c_e4m3_nocp, stage_c_e4m3_lut_nocp;

#endif
