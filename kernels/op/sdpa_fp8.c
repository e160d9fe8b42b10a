/* sdpa_fp8.c -- the op sdpa_fp8_forward: fields, tensors, and what one call costs. The semantics stand in sdpa_fp8.h.
 *
 * References, error scale, FLOPs and queries are those of sdpa_forward: they read the struct sdpa that comes first, but
 * its dtype.
 */
#include "op/sdpa_fp8.h"

#include <string.h>

#define FIELD(member, kind, low, high, text)                                                                           \
    {                                                                                                                  \
        .name = #member, .offset = offsetof(struct sdpa_fp8, attention.member), .type = kind, .min = low, .max = high, \
        .help = text                                                                                                   \
    }

_Static_assert(offsetof(struct sdpa_fp8, attention) == 0, "what is sdpa_forward's is given the whole");

static const kg_field fields[] = {
    SDPA_SIZE_FIELDS,
    SDPA_MASK_FIELDS,
    { .name = "o_scale",
      .offset = offsetof(struct sdpa_fp8, o_scale),
      .type = KG_REAL,
      .min = 0x1p-20,
      .max = 0x1p20,
      .fallback = 128, /* inputs are within 4.9 standard deviations, so |V| < 2.5 and 448 / 2.5 > 128 */
      .help = "factor on o before it is coded to e4m3" },
};

/* The same attention with inputs and output in FP16, for what sdpa_forward says of it. */
static struct sdpa attention_of(const void *problem)
{
    struct sdpa attention = ((const struct sdpa_fp8 *)problem)->attention;
    attention.dtype = KG_E4M3;
    return attention;
}

static int check(const void *problem, kg_error *ret_error)
{
    const struct sdpa attention = attention_of(problem);
    return sdpa_forward.check(&attention, ret_error);
}

static int tensors(const void *problem, kg_tensor ret_tensors[KG_MAX_TENSORS], int *ret_count)
{
    const struct sdpa attention = attention_of(problem);
    int status = sdpa_forward.tensors(&attention, ret_tensors, ret_count);
    if (status != KG_OK)
        return status;
    const double o_scale = ((const struct sdpa_fp8 *)problem)->o_scale;
    ret_tensors[SDPA_V].std = o_scale > 1024 ? 64 / o_scale : 0.5; /* small values are what a large scale is for */
    ret_tensors[SDPA_O].dtype = KG_E4M3;
    ret_tensors[SDPA_O].unit = 1 / o_scale;
    return KG_OK;
}

static double bytes(const void *problem)
{
    const struct sdpa_fp8_layout layout = sdpa_fp8_layout_of(problem);
    return (double)(2 * layout.counts[SDPA_Q] + layout.counts[SDPA_K] + layout.counts[SDPA_V]);
}

struct sdpa_fp8_layout sdpa_fp8_layout_of(const struct sdpa_fp8 *p)
{
    const struct sdpa *a = &p->attention;
    const int64_t keys = a->B * sdpa_kv_heads(a) * sdpa_kv_length(a) * a->D;
    struct sdpa_fp8_layout layout = { .counts = { [SDPA_Q] = a->B * a->H * a->S * a->D, keys, keys } };
    for (int t = SDPA_Q; t < SDPA_O; t++) {
        layout.codes[t] = layout.bytes;
        layout.bytes += ((size_t)layout.counts[t] + 255) / 256 * 256;
    }
    for (int t = SDPA_Q; t < SDPA_O; t++) {
        layout.descales[t] = layout.bytes;
        layout.bytes += 256;
    }
    return layout;
}

static double peak_ratio(const void *problem)
{
    (void)problem;
    return 2;
}

/* The reference's output is FP32; its error scale is that of e4m3. */
static void give_unit(const void *problem, const kg_tensor *tensors, kg_tensor ret_tensors[SDPA_ERROR + 1])
{
    memcpy(ret_tensors, tensors, (SDPA_ERROR + 1) * sizeof *tensors);
    ret_tensors[SDPA_O].unit = 1 / ((const struct sdpa_fp8 *)problem)->o_scale;
}

static int error_scale_cpu(const void *problem, const void *arithmetic, const kg_tensor *tensors, kg_error *ret_error)
{
    kg_tensor own[SDPA_ERROR + 1];
    give_unit(problem, tensors, own);
    return sdpa_error_scale_cpu(problem, arithmetic, own, ret_error);
}

#ifdef KG_WITH_CUDA
static int error_scale_cuda(const void *problem, const void *arithmetic, const kg_device *device,
                            const kg_tensor *tensors, void *stream, kg_error *ret_error)
{
    kg_tensor own[SDPA_ERROR + 1];
    give_unit(problem, tensors, own);
    return sdpa_error_scale_cuda(problem, arithmetic, device, own, stream, ret_error);
}
#endif

const kg_op sdpa_fp8_forward = {
    .name = "sdpa_fp8_forward",
    .help = "scaled dot-product attention, forward, in e4m3 with a scale a tensor",
    .problem_size = sizeof(struct sdpa_fp8),
    SDPA_OP(error_scale_cpu, error_scale_cuda),
};
