/* saxpy.c -- a whole module in one file: y = a x + y0. Copy it to start your own. --knob repeat=2 slows `plain`.
 * Problem, op, two backends, suite, root, in that order. (clang-format would need three screens for it.) */
/* clang-format off */
#include "kgate.h"

struct saxpy { const char *name; int64_t n; double a; };
struct knobs { int64_t repeat; }; enum { X, Y0, Y };

static int tensors(const void *problem, kg_tensor ret_tensors[KG_MAX_TENSORS], int *ret_count)
{
    int64_t n = ((const struct saxpy *)problem)->n;
    ret_tensors[X] = (kg_tensor){ .name = "x", .dtype = KG_F32, .role = KG_INPUT, .rank = 1, .dims = { n } };
    ret_tensors[Y0] = (kg_tensor){ .name = "y0", .dtype = KG_F32, .role = KG_INPUT, .rank = 1, .dims = { n } };
    ret_tensors[Y] = (kg_tensor){ .name = "y", .dtype = KG_F32, .role = KG_OUTPUT, .rank = 1, .dims = { n } };
    return *ret_count = 3, KG_OK;
}
static int reference(const void *problem, const kg_tensor *t, kg_error *ret_error)
{
    const struct saxpy *p = problem;
    const float *x = t[X].data, *y0 = t[Y0].data;
    for (int64_t i = 0; i < p->n; i++)
        ((float *)t[Y].data)[i] = (float)(p->a * x[i] + y0[i]);
    return (void)ret_error, KG_OK;
}
static double flops(const void *problem) { return 2.0 * (double)((const struct saxpy *)problem)->n; }
static double bytes(const void *problem) { return 12.0 * (double)((const struct saxpy *)problem)->n; }
static int loop(const kg_backend *self, void *state, const kg_tensor *t, void *stream, kg_error *ret_error)
{
    return (void)self, (void)stream, reference(((const kg_call *)state)->problem, t, ret_error);
}
static int plain(const kg_backend *self, void *state, const kg_tensor *t, void *stream, kg_error *ret_error)
{
    const struct saxpy *p = ((const kg_call *)state)->problem;
    const int64_t repeat = ((const struct knobs *)((const kg_call *)state)->knobs)->repeat;
    float *x = t[X].data, *y0 = t[Y0].data, *y = t[Y].data;
    double step = p->a / (double)repeat;
    for (int64_t r = 0; r < repeat; r++) /* each pass adds its share to the last one's result: none can be left out */
        for (int64_t i = 0; i < p->n; i++)
            y[i] = (float)((r ? y[i] : y0[i]) + step * x[i]);
    return (void)self, (void)stream, (void)ret_error, KG_OK;
}
static const kg_field fields[] = { { "n", offsetof(struct saxpy, n), KG_INT, 1, 1 << 24, 1, NULL, "elements" },
                                   { "a", offsetof(struct saxpy, a), KG_REAL, -100, 100, 1, NULL, "factor of x" } };
static const kg_field knobs[] = { { "repeat", 0, KG_INT, 1, 64, 1, NULL, "passes that share the work's result" } };
static const kg_op op = { .name = "saxpy", .problem_size = sizeof(struct saxpy), .fields = KG_LIST(fields),
                          .tensors = tensors, .reference_cpu = reference, .flops = flops, .bytes = bytes };
static const kg_backend plain_c = { .name = "plain", .device = KG_CPU, .knobs = KG_LIST(knobs),
                                    .knobs_size = sizeof(struct knobs), .launch = plain };
static const kg_backend reference_loop = { .name = "reference_loop", .device = KG_CPU, .launch = loop };
static const struct saxpy shapes[] = { { "in_cache", 4099, -2.5 } }; /* 48 KiB: a busy neighbour core costs it least */
static const uint64_t seeds[] = { 1 };
static const kg_backend *const backends[] = { &plain_c, &reference_loop };
static const kg_suite_regime regimes[] = { { "poison", NULL }, { "outliers", NULL }, { "sparse", NULL } };
static const kg_suite suite = { .name = "saxpy", .op = &op, .shapes = KG_TABLE(shapes), .seeds = KG_LIST(seeds),
    .backends = KG_LIST(backends), .cpu_anchor = &reference_loop, .regimes = KG_LIST(regimes),
    .gates = { .max_abs = 1e-4, .mean_abs = 1e-5, .bad_abs = 2e-5, .bad_rel = 1e-5, .rel_l2 = 1e-5 } };
static const kg_suite *const suites[] = { &suite };
const struct kg_module kg_module = { KG_MODULE_SIZES, .name = "saxpy", .git_sha = "", .flags = "",
                                     .suites = suites, .n_suites = 1 };
