/* series.c -- the op that the broken kernels of broken.c and broken_cuda.cu compute. */
#include "broken.h"

static const kg_field fields[] = {
    { "n", offsetof(struct series, n), KG_INT, .min = 1, .max = 1 << 26, .help = "elements" },
    { "std", offsetof(struct series, std), KG_REAL, .min = 1e-6, .max = 1e3, .fallback = 1, .help = "of the input" },
};

static int series_tensors(const void *problem, kg_tensor ret_tensors[KG_MAX_TENSORS], int *ret_count)
{
    const struct series *p = problem;
    ret_tensors[SERIES_X] =
        (kg_tensor){ .name = "x", .dtype = KG_F32, .role = KG_INPUT, .rank = 1, .dims = { p->n }, .std = p->std };
    ret_tensors[SERIES_Y] = (kg_tensor){ .name = "y", .dtype = KG_F32, .role = KG_OUTPUT, .rank = 1, .dims = { p->n } };
    *ret_count = 2;
    return KG_OK;
}

static int series_reference(const void *problem, const kg_tensor *tensors, kg_error *ret_error)
{
    const struct series *p = problem;
    const float *x = tensors[SERIES_X].data;
    float *y = tensors[SERIES_Y].data;
    (void)ret_error;
    for (int64_t i = 0; i < p->n; i++) {
        double sum = 0;
        for (int t = 0; t < TERMS; t++)
            sum = sum * 0.5 + x[i];
        y[i] = (float)sum;
    }
    return KG_OK;
}

static double series_flops(const void *problem)
{
    return 2.0 * TERMS * (double)((const struct series *)problem)->n;
}

static double series_bytes(const void *problem)
{
    return 8.0 * (double)((const struct series *)problem)->n;
}

#if KG_WITH_CUDA
int series_reference_cuda(const void *problem, const kg_device *device, const kg_tensor *tensors, void *stream,
                          kg_error *ret_error);
#define REFERENCE_CUDA series_reference_cuda
#else
#define REFERENCE_CUDA NULL
#endif

const kg_op series_op = {
    .name = "series",
    .help = "y = x + x/2 + x/4 + ...",
    .problem_size = sizeof(struct series),
    .fields = KG_LIST(fields),
    .tensors = series_tensors,
    .reference_cpu = series_reference,
    .reference_cuda = REFERENCE_CUDA,
    .flops = series_flops,
    .bytes = series_bytes,
};
