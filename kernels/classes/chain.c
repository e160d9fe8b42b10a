/* chain.c -- the op, its reference on the CPU, and the CPU's backends: strips of elements that advance together. */
#include "classes/chain.h"

#ifndef KG_WITH_CUDA
#define KG_WITH_CUDA 0
#endif

static const kg_field fields[] = {
    { .name = "n", .offset = offsetof(struct chain, n), .type = KG_INT, .min = 1, .max = 1 << 28, .help = "elements" },
    { .name = "terms",
      .offset = offsetof(struct chain, terms),
      .type = KG_INT,
      .min = 1,
      .max = 1 << 20,
      .help = "multiply-adds for each element" },
};

static int tensors(const void *problem, kg_tensor ret_tensors[KG_MAX_TENSORS], int *ret_count)
{
    const int64_t n = ((const struct chain *)problem)->n;
    ret_tensors[CHAIN_X] = (kg_tensor){ .name = "x", .dtype = KG_F32, .role = KG_INPUT, .rank = 1, .dims = { n } };
    ret_tensors[CHAIN_Y] = (kg_tensor){ .name = "y", .dtype = KG_F32, .role = KG_OUTPUT, .rank = 1, .dims = { n } };
    *ret_count = 2;
    return KG_OK;
}

static int reference(const void *problem, const kg_tensor *call, kg_error *ret_error)
{
    const struct chain *chain = problem;
    const float *x = call[CHAIN_X].data;
    float *y = call[CHAIN_Y].data;
    const double factor = chain_factor(chain);
    (void)ret_error;
    for (int64_t i = 0; i < chain->n; i++) {
        double sum = 0;
        for (int64_t t = 0; t < chain->terms; t++)
            sum = sum * factor + x[i];
        y[i] = (float)(sum / (double)chain->terms);
    }
    return KG_OK;
}

static double flops(const void *problem)
{
    const struct chain *chain = problem;
    return 2.0 * (double)chain->n * (double)chain->terms;
}

static double bytes(const void *problem)
{
    return 8.0 * (double)((const struct chain *)problem)->n;
}

const kg_op chain = {
    .name = "chain",
    .help = "a chain of multiply-adds for each element",
    .problem_size = sizeof(struct chain),
    .fields = KG_LIST(fields),
    .tensors = tensors,
    .reference_cpu = reference,
#if KG_WITH_CUDA
    .reference_cuda = chain_reference_cuda,
#endif
    .flops = flops,
    .bytes = bytes,
};

/* ---- backends -------------------------------------------------------------------------------------------------- */

/* Elements i to i + count advance together, so that their chains overlap. */
static inline void advance(const float *x, float *y, int count, int64_t terms, float factor)
{
    float sums[64] = { 0 };
    const float share = 1.0f / (float)terms;
    for (int64_t t = 0; t < terms; t++)
        for (int k = 0; k < count; k++)
            sums[k] = sums[k] * factor + x[k];
    for (int k = 0; k < count; k++)
        y[k] = sums[k] * share;
}

static int by_strips(const kg_call *call, const kg_tensor *args, const int strip)
{
    const struct chain *problem = call->problem;
    const float factor = chain_factor(problem), *x = args[CHAIN_X].data;
    float *y = args[CHAIN_Y].data;
    int64_t i = 0;
    for (; i + strip <= problem->n; i += strip)
        advance(x + i, y + i, strip, problem->terms, factor);
    if (i < problem->n)
        advance(x + i, y + i, (int)(problem->n - i), problem->terms, factor);
    return KG_OK;
}

static int launch_wide(const kg_backend *self, void *state, const kg_tensor *args, void *stream, kg_error *ret_error)
{
    (void)self, (void)stream, (void)ret_error;
    return by_strips(state, args, 64);
}

static int launch_narrow(const kg_backend *self, void *state, const kg_tensor *args, void *stream, kg_error *ret_error)
{
    (void)self, (void)stream, (void)ret_error;
    return by_strips(state, args, 32);
}

const kg_backend chain_wide = { .name = "fma_cpu", .help = "strips of 64", .device = KG_CPU, .launch = launch_wide };
const kg_backend chain_narrow = { .name = "narrow_cpu", .help = "anchor", .device = KG_CPU, .launch = launch_narrow };
