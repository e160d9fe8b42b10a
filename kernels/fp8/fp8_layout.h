/* fp8_layout.h -- what a workspace of the stage-C backends holds, on CPU and GPU alike: the codes of Q, K and V as the
 * tensors lie, then the scales of their heads, each piece at a multiple of 256 bytes. */
#ifndef FP8_LAYOUT_H
#define FP8_LAYOUT_H

#include "op/sdpa.h"

struct fp8_layout {
    int64_t heads;           /* B * H */
    int64_t lengths[SDPA_O]; /* elements of a head, of Q, K, V */
    size_t codes[SDPA_O];    /* where they begin */
    size_t scales[SDPA_O];   /* the same: one FP32 a head */
    size_t bytes;            /* of all */
};

static inline struct fp8_layout fp8_layout_of(const struct sdpa *p)
{
    struct fp8_layout layout = { .heads = p->B * p->H };
    for (int t = SDPA_Q; t < SDPA_O; t++) {
        layout.lengths[t] = (t == SDPA_Q ? p->S : sdpa_kv_length(p)) * p->D;
        layout.codes[t] = layout.bytes;
        layout.bytes += ((size_t)(layout.heads * layout.lengths[t]) + 255) / 256 * 256;
    }
    for (int t = SDPA_Q; t < SDPA_O; t++) {
        layout.scales[t] = layout.bytes;
        layout.bytes += ((size_t)layout.heads * sizeof(float) + 255) / 256 * 256;
    }
    return layout;
}

static inline uint8_t *fp8_codes(const struct fp8_layout *layout, const kg_tensor *tensors, int tensor)
{
    return (uint8_t *)tensors[SDPA_WORKSPACE].data + layout->codes[tensor];
}

static inline float *fp8_scales(const struct fp8_layout *layout, const kg_tensor *tensors, int tensor)
{
    return (float *)(void *)((char *)tensors[SDPA_WORKSPACE].data + layout->scales[tensor]);
}

/* What the stage-C contract covers. KG_EUNSUPPORTED and why; `name` is the backend's. */
static inline int fp8_contract(const char *name, const struct sdpa *p, kg_error *ret_error)
{
    if (p->dtype != KG_E4M3)
        return kg_fail(ret_error, KG_EUNSUPPORTED, "%s takes problems of dtype e4m3", name);
    if (p->D != 64)
        return kg_fail(ret_error, KG_EUNSUPPORTED, "%s is made for D 64, here %lld", name, (long long)p->D);
    if (p->causal || sdpa_kv_heads(p) != p->H)
        return kg_fail(ret_error, KG_EUNSUPPORTED, "%s has neither causal masks nor grouped heads", name);
    return KG_OK;
}

#endif
