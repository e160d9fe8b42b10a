/* classes.c -- the module that `kgate selfcheck` measures: one kernel of each class, bound by its launch, by
 * arithmetic, or by memory. Another class is another row. Kernels for a GPU: chain.cu. */
#include "classes/chain.h"
#include "kg_build.h"

#ifndef KG_WITH_CUDA
#define KG_WITH_CUDA 0
#endif
#if KG_WITH_CUDA
#include "kg_kernels.h"
#endif

/* ---- op -------------------------------------------------------------------------------------------------------- */

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

static const kg_op chain = {
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

static const kg_backend wide = { .name = "fma_cpu", .help = "strips of 64", .device = KG_CPU, .launch = launch_wide };
static const kg_backend narrow = { .name = "narrow_cpu", .help = "anchor", .device = KG_CPU, .launch = launch_narrow };

#if !KG_WITH_CUDA
static int supports(const kg_backend *self, const kg_device *device, const void *problem, kg_error *ret_error)
{
    (void)self, (void)device, (void)problem;
    return kg_fail(ret_error, KG_EUNSUPPORTED, "this build has no CUDA backends (configure with -Dcuda=enabled)");
}

static int launch_none(const kg_backend *self, void *state, const kg_tensor *args, void *stream, kg_error *ret_error)
{
    (void)state, (void)args, (void)stream;
    return supports(self, NULL, NULL, ret_error);
}

const kg_backend chain_fma_cuda = {
    .name = "fma", .help = "not in this build", .device = KG_CUDA, .supports = supports, .launch = launch_none
};
const kg_backend chain_scalar_cuda = {
    .name = "scalar", .help = "not in this build", .device = KG_CUDA, .supports = supports, .launch = launch_none
};
#endif

/* ---- suite ----------------------------------------------------------------------------------------------------- */

static const struct chain shapes[] = {
    { "launch", .n = 4096, .terms = 1 },        /* 2 us: what a launch costs */
    { "compute", .n = 1 << 19, .terms = 6144 }, /* 100 us on an H200, all of it multiply-adds */
    { "memory", .n = 1 << 26, .terms = 1 },     /* 512 MiB, several times any L2 cache */
};
static const struct chain cpu_shapes[] = {
    { "launch", .n = 64, .terms = 1 },
    { "compute", .n = 1024, .terms = 512 },
    { "memory", .n = 1 << 22, .terms = 1 }, /* 32 MiB */
};
static const uint64_t seeds[] = { 1 };
static const kg_backend *const backends[] = { &chain_fma_cuda, &wide };

static const kg_suite suite = {
    .name = "classes",
    .help = "one kernel bound by its launch, one by arithmetic, one by memory",
    .op = &chain,
    .shapes = KG_TABLE(shapes),
    .cpu_shapes = KG_TABLE(cpu_shapes),
    .seeds = KG_LIST(seeds),
    .backends = KG_LIST(backends),
    .anchor = &chain_scalar_cuda,
    .cpu_anchor = &narrow,
    /* Rounding adds up to 1e-5 over the longest chain; a hundredth of its terms lost changes results by 0.6%. */
    .gates = { .max_abs = 1e-3, .mean_abs = 1e-4, .bad_abs = 1e-4, .bad_rel = 1e-4, .bad_pct = 0, .rel_l2 = 1e-4 },
};
static const kg_suite *const suites[] = { &suite };

KG_EXPORT const struct kg_module kg_module = {
    KG_MODULE_SIZES,
    .name = "classes",
    .git_sha = KG_GIT_SHA,
    .git_dirty = KG_GIT_DIRTY,
    .flags = KG_BUILD_FLAGS,
    .suites = suites,
    .n_suites = sizeof suites / sizeof *suites,
#if KG_WITH_CUDA
    .kernels = kg_kernels,
    .n_kernels = KG_KERNEL_COUNT,
#endif
};
