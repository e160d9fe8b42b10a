/* older.c -- a module that was built against an older kgate.h: ABI 5's, which is kept beside this file, or today's
 * without the last members of its structs. Backends are members of structs of the module's own, by which they know
 * their factor: what the host hands them must be theirs and no copy. */
#ifdef SHORTER
#include "kgate_shorter.h"
#else
#include "kgate_abi5.h"
#endif

struct scaled {
    const char *name;
    int64_t n;
    bool odd;
};
struct knobs {
    int64_t passes;
};
struct mine {
    kg_backend backend;
    float factor;
};

static int tensors(const void *problem, kg_tensor ret_tensors[KG_MAX_TENSORS], int *ret_count)
{
    const int64_t n = ((const struct scaled *)problem)->n;
    ret_tensors[0] = (kg_tensor){ .name = "x", .dtype = KG_F32, .role = KG_INPUT, .rank = 1, .dims = { n } };
    ret_tensors[1] = (kg_tensor){ .name = "y", .dtype = KG_F32, .role = KG_OUTPUT, .rank = 1, .dims = { n } };
    *ret_count = 2;
    return KG_OK;
}

static void scale(const kg_tensor *call, float factor)
{
    for (int64_t i = 0; i < kg_tensor_count(&call[0]); i++)
        ((float *)call[1].data)[i] = factor * ((const float *)call[0].data)[i];
}

static int reference(const void *problem, const kg_tensor *call, kg_error *ret_error)
{
    (void)problem, (void)ret_error;
    scale(call, 2);
    return KG_OK;
}

static double size(const void *problem)
{
    return (double)((const struct scaled *)problem)->n;
}

static const struct mine twice, thrice;

static int supports(const kg_backend *self, const kg_device *device, const void *problem, kg_error *ret_error)
{
    (void)device, (void)problem;
    if (self != &twice.backend && self != &thrice.backend)
        return kg_fail(ret_error, KG_EINVAL, "not one of this module's backends");
    return KG_OK;
}

static int open_library(const kg_backend *self, const kg_host *host, const kg_device *device, void **ret_library,
                        kg_error *ret_error)
{
    (void)host;
    *ret_library = (void *)self;
    return supports(self, device, NULL, ret_error);
}

static int launch(const kg_backend *self, void *state, const kg_tensor *call, void *stream, kg_error *ret_error)
{
    const kg_call *prepared = state;
    (void)stream;
    if (prepared->library != self || ((const struct knobs *)prepared->knobs)->passes != 1)
        return kg_fail(ret_error, KG_EINVAL, "not what was opened, or not its knobs");
    scale(call, ((const struct mine *)self)->factor);
    return KG_OK;
}

static const kg_field fields[] = {
    { .name = "n", .offset = offsetof(struct scaled, n), .type = KG_INT, .min = 1, .max = 4096 },
    { .name = "odd", .offset = offsetof(struct scaled, odd), .type = KG_BOOL },
};
static const kg_field knobs[] = { { .name = "passes", .type = KG_INT, .min = 1, .max = 1, .fallback = 1 } };
static const kg_op op = { .name = "twice",
                          .problem_size = sizeof(struct scaled),
                          .fields = KG_LIST(fields),
                          .tensors = tensors,
                          .reference_cpu = reference,
                          .flops = size,
                          .bytes = size };

#define MINE                                                                                                           \
    .device = KG_CPU, .knobs = KG_LIST(knobs), .knobs_size = sizeof(struct knobs), .supports = supports,               \
    .open = open_library, .launch = launch
static const struct mine twice = { { .name = "twice", MINE }, 2 };
static const struct mine thrice = { { .name = "thrice", MINE }, 3 };
static const kg_backend *const candidates[] = { &twice.backend, NULL };
static const kg_backend any = { .name = "any", .device = KG_CPU, .candidates = candidates };

static const struct scaled rows[] = { { "few", 7, true }, { "many", 4096, false } };
static const uint64_t seeds[] = { 1 };
static const kg_backend *const backends[] = { &twice.backend, &thrice.backend, &any };
static const kg_xfail xfails[] = { { "*/thrice", "its factor is another" }, { "older/nothing", "no such case" } };
#define SUITE                                                                                                          \
    .op = &op, .shapes = KG_TABLE(rows), .seeds = KG_LIST(seeds), .backends = KG_LIST(backends),                       \
    .cpu_anchor = &twice.backend, .xfails = KG_LIST(xfails), .contest = { &thrice.backend, &twice.backend },           \
    .gates = { .max_abs = 1e-6, .mean_abs = 1e-6, .bad_abs = 1e-6, .rel_l2 = 1e-6 }
static const kg_suite older = { .name = "older", SUITE };
static const kg_suite another = { .name = "another", SUITE };
static const kg_suite *const suites[] = { &older, &another };

const struct kg_module kg_module = { KG_MODULE_SIZES, .name = "older",  .git_sha = "",
                                     .flags = "",     .suites = suites, .n_suites = 2 };
