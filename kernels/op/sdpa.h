/* sdpa.h -- the op: scaled dot-product attention, forward. O = softmax(scale * Q K^T + mask) V.
 *
 * Q [B, H, S, D], K and V [B, Hkv, Skv, D], O [B, H, S, D], all packed and of one dtype. Query head h reads key head
 * h / (H / Hkv). A causal mask is aligned top-left, query i sees keys j <= i, or bottom-right, keys j <= i + Skv - S:
 * the last query sees all. A row that sees no key gives zeros. The reference sees the inputs as the dtype holds them,
 * so the gates bound the kernel's own error. Dtype e4m3 is the exception: Q, K and V are given as FP16 and O is FP16;
 * backends for it code Q, K and V to 8 bits with one FP32 scale a head and tensor (fp8_codec.h: e4m3 or a linear code)
 * before they are timed. The reference and every other backend see the FP16 inputs, so the gates bound the error of
 * coding and kernel together.
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
    double scale;      /* 0: 1/sqrt(D) */
    bool bottom_right; /* causal: alignment of the mask */
};

extern const kg_op sdpa_forward;

/* Tensors of a call, in this order. */
enum sdpa_tensor { SDPA_Q, SDPA_K, SDPA_V, SDPA_O, SDPA_TENSORS, SDPA_WORKSPACE = SDPA_TENSORS };
#define SDPA_ERROR SDPA_TENSORS /* the error scale, where an op's functions for it are called */

static inline int64_t sdpa_kv_heads(const struct sdpa *p)
{
    return p->Hkv ? p->Hkv : p->H;
}

static inline int64_t sdpa_kv_length(const struct sdpa *p)
{
    return p->Skv ? p->Skv : p->S;
}

/* Keys that query 0 sees, and each query after it one more; below 0, the first queries see none. */
static inline int64_t sdpa_first_keys(const struct sdpa *p)
{
    return !p->causal ? sdpa_kv_length(p) : p->bottom_right ? sdpa_kv_length(p) - p->S + 1 : 1;
}

/* Keys that query `i` of a head sees: the first ones, 0 to Skv of them. */
static inline int64_t sdpa_visible_keys(const struct sdpa *p, int64_t i)
{
    const int64_t Skv = sdpa_kv_length(p), seen = sdpa_first_keys(p) + i;
    return seen < 0 ? 0 : seen < Skv ? seen : Skv;
}

/* Of all four tensors of a call. */
static inline enum kg_dtype sdpa_tensor_dtype(const struct sdpa *p)
{
    return p->dtype == KG_E4M3 ? KG_F16 : p->dtype;
}

/* Query heads that share a key head. */
static inline int64_t sdpa_group(const struct sdpa *p)
{
    return p->H / sdpa_kv_heads(p);
}

double sdpa_scale(const struct sdpa *p);
float sdpa_scale_log2(const struct sdpa *p); /* times log2(e), for a softmax that works in powers of two */

/* Score pairs that no mask hides, over all batches and heads. */
double sdpa_visible_pairs(const struct sdpa *p);

/* What both ops have among their fields, where each defines FIELD. */
#define SDPA_SIZE_FIELDS                                                                                               \
    FIELD(B, KG_INT, 1, 65535, "batch size"), FIELD(H, KG_INT, 1, 65535, "query heads"),                               \
        FIELD(Hkv, KG_INT, 0, 65535, "key heads, a divisor of H; 0: H"), FIELD(S, KG_INT, 1, 1 << 20, "query length"), \
        FIELD(Skv, KG_INT, 0, 1 << 20, "key length; 0: S"), FIELD(D, KG_INT, 1, 256, "head dimension")
#define SDPA_MASK_FIELDS                                                                                               \
    FIELD(causal, KG_BOOL, 0, 0, "query i sees keys j <= i"),                                                          \
        FIELD(scale, KG_REAL, 0, 1024, "factor on the scores; 0: 1/sqrt(D)"),                                          \
        FIELD(bottom_right, KG_BOOL, 0, 0, "causal: query i sees keys j <= i + Skv - S")

/* What a file of an op defines, by these names, and what both ops have but for the error scale. */
#define SDPA_OP(error_cpu, error_cuda)                                                                                 \
    .fields = KG_LIST(fields), .check = check, .tensors = tensors, .reference_cpu = sdpa_reference_cpu,                \
    .reference_cuda = SDPA_CUDA(sdpa_reference_cuda), .flops = sdpa_flops, .bytes = bytes, .queries = sdpa_queries,    \
    .peak_ratio = peak_ratio, .regimes = KG_LIST(sdpa_regimes), .error_scale_cpu = error_cpu,                          \
    .error_scale_cuda = SDPA_CUDA(error_cuda)
#ifdef KG_WITH_CUDA
#define SDPA_CUDA(function) function
#else
#define SDPA_CUDA(function) NULL
#endif

#define SDPA_REGIMES 37
extern const kg_regime sdpa_regimes[SDPA_REGIMES];

/* The references: double-precision accumulation, output FP32. */
int sdpa_reference_cpu(const void *problem, const kg_tensor *tensors, kg_error *ret_error);
int sdpa_reference_cuda(const void *problem, const kg_device *device, const kg_tensor *tensors, void *stream,
                        kg_error *ret_error);

/* The error scale (sdpa_error.h). `arithmetic` is a struct sdpa_arithmetic, or NULL. An output that is e4m3 has its
 * unit here, another one none. */
int sdpa_error_scale_cpu(const void *problem, const void *arithmetic, const kg_tensor *tensors, kg_error *ret_error);
int sdpa_error_scale_cuda(const void *problem, const void *arithmetic, const kg_device *device,
                          const kg_tensor *tensors, void *stream, kg_error *ret_error);

/* What a call costs, as the op asks: `problem` is a struct sdpa, whose dtype is not read. */
double sdpa_flops(const void *problem);
double sdpa_queries(const void *problem);

#endif
