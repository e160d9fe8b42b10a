/* flex_reference.cu -- reference and error scale on the GPU: sdpa's, with the problem's modifiers in double precision.
 * The CPU's are flex_reference.c. */
#define FLEX_DOUBLE
#include "op/sdpa_error.cuh"
#include "op/sdpa_reference.cuh"

extern "C" {
#include "flex/flex.h"
}
#include "flex/modifiers.h"

struct flex_scores {
    static constexpr bool MODIFIED = true;
    int H;
    flex_aux aux;

    __device__ __forceinline__ double modify(const sdpa_tiles &of, int64_t head, int row, int key, double score) const
    {
        if (row >= of.S || key >= of.Skv)
            return -CUDART_INF;
        const int b = (int)(head / H), h = (int)(head % H);
        return flex_mask(b, h, row, key, &aux) ? flex_score(score, b, h, row, key, &aux) : -CUDART_INF;
    }
};

/* Every row sees all keys, but for what modifiers hide. */
static sdpa_tiles tiles_of(const struct flex *p)
{
    sdpa_tiles of = sdpa_tiles_of(&p->attention);
    of.first_keys = of.Skv;
    return of;
}

static flex_scores scores_of(const struct flex *p, const kg_tensor *tensors)
{
    return { (int)p->attention.H, flex_aux_of(p, tensors) };
}

extern "C" int flex_reference_cuda(const void *problem, const kg_device *device, const kg_tensor *tensors, void *stream,
                                   kg_error *ret_error)
{
    const struct flex *p = (const struct flex *)problem;
    const struct sdpa *a = &p->attention;
    const double flop = 4.0 * (double)(a->B * a->H * a->S * sdpa_kv_length(a) * a->D); /* hidden pairs too */
    return sdpa_reference_run(a, flop, scores_of(p, tensors), tiles_of(p), device, tensors, stream, ret_error);
}

extern "C" int flex_error_scale_cuda(const void *problem, const void *arithmetic, const kg_device *device,
                                     const kg_tensor *tensors, void *stream, kg_error *ret_error)
{
    const struct flex *p = (const struct flex *)problem;
    kg_tensor own[SDPA_ERROR + 1];
    (void)device;
    flex_attention_tensors(p, tensors, own);
    return sdpa_error_run(&p->attention, scores_of(p, tensors), tiles_of(p), (const struct sdpa_arithmetic *)arithmetic,
                          own, stream, ret_error);
}
