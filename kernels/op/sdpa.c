/* sdpa.c -- the op sdpa_forward: fields, tensors, and what one call costs. The semantics stand in sdpa.h.
 *
 * A new problem field is a member and a FIELD in sdpa.h; the references and each backend's supports() must
 * then know it.
 */
#include "op/sdpa.h"

#include <math.h>

/* 8 GiB of 16-bit elements, 16 GiB as the reference's floats. */
static const int64_t tensor_count_max = INT64_C(1) << 32;

#define FIELD(member, kind, low, high, text)                                                                           \
    {                                                                                                                  \
        .name = #member, .offset = offsetof(struct sdpa, member), .type = kind, .min = low, .max = high, .help = text  \
    }

static const kg_field fields[] = {
    SDPA_SIZE_FIELDS,
    { .name = "dtype",
      .offset = offsetof(struct sdpa, dtype),
      .type = KG_CHOICE,
      .choices = KG_DTYPE_NAMES,
      .help = "of all four tensors: f16 or bf16; e4m3: q, k and v in 8 bits, o in f16" },
    SDPA_MASK_FIELDS,
};

_Static_assert(sizeof(enum kg_dtype) == sizeof(int), "KG_CHOICE reads an int");

static int64_t query_rows(const struct sdpa *p)
{
    return p->B * p->H * p->S;
}

static int64_t key_rows(const struct sdpa *p)
{
    return p->B * sdpa_kv_heads(p) * sdpa_kv_length(p);
}

double sdpa_scale(const struct sdpa *p)
{
    return p->scale != 0 ? p->scale : 1 / sqrt((double)p->D);
}

float sdpa_scale_log2(const struct sdpa *p)
{
    return (float)(sdpa_scale(p) * M_LOG2E);
}

double sdpa_visible_pairs(const struct sdpa *p)
{
    /* Some rows see `first`, one more, …, `last` keys; before them are rows that see none, or after them as many. */
    const double first = (double)sdpa_visible_keys(p, 0), last = (double)sdpa_visible_keys(p, p->S - 1);
    const double sloped = last - first + 1, others = (double)p->S - sloped;
    return (double)(p->B * p->H) * (sloped * (first + last) / 2 + others * (first > 0 ? last : 0));
}

static int check(const void *problem, kg_error *ret_error)
{
    const struct sdpa *p = problem;
    if (p->dtype != KG_F16 && p->dtype != KG_BF16 && p->dtype != KG_E4M3)
        return kg_fail(ret_error, KG_EINVAL, "dtype must be f16, bf16 or e4m3");
    if (p->H % sdpa_kv_heads(p) != 0)
        return kg_fail(ret_error, KG_EINVAL, "H is %lld, not divisible by Hkv = %lld", (long long)p->H,
                       (long long)sdpa_kv_heads(p));
    if (p->bottom_right && !p->causal)
        return kg_fail(ret_error, KG_EINVAL, "bottom_right is said of causal masks, and this problem has none");
    if (query_rows(p) * p->D > tensor_count_max || key_rows(p) * p->D > tensor_count_max)
        return kg_fail(ret_error, KG_EINVAL, "a tensor would have more than %lld elements",
                       (long long)tensor_count_max);
    return KG_OK;
}

static int tensors(const void *problem, kg_tensor ret_tensors[KG_MAX_TENSORS], int *ret_count)
{
    const struct sdpa *p = problem;
    int64_t Hkv = sdpa_kv_heads(p), Skv = sdpa_kv_length(p);
    enum kg_dtype dtype = sdpa_tensor_dtype(p);
    kg_tensor q = { .name = "q", .dtype = dtype, .role = KG_INPUT, .rank = 4, .dims = { p->B, p->H, p->S, p->D } };
    kg_tensor k = { .name = "k", .dtype = dtype, .role = KG_INPUT, .rank = 4, .dims = { p->B, Hkv, Skv, p->D } };
    q.std = k.std = 1;
    ret_tensors[SDPA_Q] = q;
    ret_tensors[SDPA_K] = k;
    ret_tensors[SDPA_V] = k;
    ret_tensors[SDPA_V].name = "v";
    ret_tensors[SDPA_O] = q;
    ret_tensors[SDPA_O].name = "o";
    ret_tensors[SDPA_O].role = KG_OUTPUT;
    ret_tensors[SDPA_O].std = 0;
    *ret_count = SDPA_TENSORS;
    return KG_OK;
}

/* Two products, each a multiplication and an addition for every visible pair and element. Softmax is not counted. */
double sdpa_flops(const void *problem)
{
    const struct sdpa *p = problem;
    return 4 * sdpa_visible_pairs(p) * (double)p->D;
}

static double bytes(const void *problem)
{
    const struct sdpa *p = problem;
    size_t in = kg_dtype_bytes(p->dtype), out = kg_dtype_bytes(sdpa_tensor_dtype(p));
    return (double)(query_rows(p) + 2 * key_rows(p)) * (double)(p->D * (int64_t)in) +
           (double)query_rows(p) * (double)(p->D * (int64_t)out);
}

/* A query is one row of Q: B * H * S of them. */
double sdpa_queries(const void *problem)
{
    return (double)query_rows(problem);
}

/* A backend for 8-bit codes may multiply them as such. */
static double peak_ratio(const void *problem)
{
    return ((const struct sdpa *)problem)->dtype == KG_E4M3 ? 2 : 1;
}

const kg_op sdpa_forward = {
    .name = "sdpa_forward",
    .help = "scaled dot-product attention, forward",
    .problem_size = sizeof(struct sdpa),
    SDPA_OP(sdpa_error_scale_cpu, sdpa_error_scale_cuda),
};
