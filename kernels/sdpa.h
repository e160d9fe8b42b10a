/* sdpa.h -- the op: scaled dot-product attention, forward. O = softmax(scale * Q K^T + mask) V.
 *
 * Q [B, H, S, D], K and V [B, Hkv, Skv, D], O [B, H, S, D], all packed and of one dtype. Query head h reads key head
 * h / (H / Hkv). Causal masks are aligned top-left: query i sees keys j <= i. A row that sees no key gives zeros.
 * The reference sees the inputs as the dtype holds them, so the gates bound the kernel's own error.
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
enum sdpa_tensor { SDPA_Q, SDPA_K, SDPA_V, SDPA_O, SDPA_TENSORS };

static inline int64_t sdpa_kv_heads(const struct sdpa *p)
{
    return p->Hkv ? p->Hkv : p->H;
}

static inline int64_t sdpa_kv_length(const struct sdpa *p)
{
    return p->Skv ? p->Skv : p->S;
}

double sdpa_scale(const struct sdpa *p);

/* Score pairs that no mask hides, over all batches and heads. */
double sdpa_visible_pairs(const struct sdpa *p);

/* The reference on the GPU (sdpa_reference.cu), double-precision accumulation, output FP32. */
int sdpa_reference_cuda(const void *problem, const kg_device *device, const kg_tensor *tensors, void *stream,
                        kg_error *ret_error);

/* The backends: cpu_math.c cpu_flash.c math.c cudnn.c flash.cu. */
extern const kg_backend cpu_math, cpu_flash, sdpa_math, sdpa_cudnn, sdpa_cudnn_best, sdpa_flash, sdpa_auto;

#endif
