/* counting.c -- a module for test_instances.c whose one backend, `counting` (`auto` is made of it), counts what is
 * asked of it in static memory. Its output is 1, and its workspace is painted. */
#include "counting.h"

#include <string.h>

struct row {
    const char *name;
    int64_t n;
};

static struct counts counts;

static int tensors(const void *problem, kg_tensor ret_tensors[KG_MAX_TENSORS], int *ret_count)
{
    const int64_t n = ((const struct row *)problem)->n;
    ret_tensors[0] = (kg_tensor){ .name = "x", .dtype = KG_F32, .role = KG_INPUT, .rank = 1, .dims = { n } };
    ret_tensors[1] = (kg_tensor){ .name = "y", .dtype = KG_F32, .role = KG_OUTPUT, .rank = 1, .dims = { n } };
    return *ret_count = 2, KG_OK;
}

static int reference(const void *problem, const kg_tensor *call, kg_error *ret_error)
{
    float *y = call[1].data;
    (void)problem, (void)ret_error;
    for (int64_t i = 0; i < kg_tensor_count(&call[1]); i++)
        y[i] = 1;
    return KG_OK;
}

static double one_each(const void *problem)
{
    return (double)((const struct row *)problem)->n;
}

static int open_library(const kg_backend *self, const kg_host *host, const kg_device *device, void **ret_library,
                        kg_error *ret_error)
{
    (void)self, (void)host, (void)device, (void)ret_error;
    counts.opened++;
    return *ret_library = &counts, KG_OK;
}

static void close_library(const kg_backend *self, void *library)
{
    (void)self;
    ((struct counts *)library)->closed++;
}

static int prepare(const kg_backend *self, const kg_call *call, void **ret_state, kg_identity *ret_identity,
                   kg_error *ret_error)
{
    if (counts.refuses)
        return kg_fail(ret_error, KG_EUNSUPPORTED, "not here");
    counts.prepared++;
    call->host->log(call->host, "%p", self->data);
    (void)snprintf(counts.pin, sizeof counts.pin, "%s", call->pin ? call->pin : "");
    (void)snprintf(ret_identity->text, sizeof ret_identity->text, "counting%s", counts.differs ? " otherwise" : "");
    (void)snprintf(ret_identity->pin, sizeof ret_identity->pin, "chosen");
    return *ret_state = call->library, KG_OK;
}

static size_t workspace(const kg_backend *self, const void *state)
{
    return (void)self, (void)state, 256;
}

static int launch(const kg_backend *self, void *state, const kg_tensor *call, void *stream, kg_error *ret_error)
{
    (void)self, (void)stream;
    ((struct counts *)state)->launched++;
    memset(call[2].data, 1, kg_tensor_bytes(&call[2]));
    return reference(NULL, call, ret_error);
}

static void release(const kg_backend *self, void *state)
{
    (void)self;
    ((struct counts *)state)->released++;
}

static const kg_backend counting = { .name = "counting",
                                     .device = KG_CPU,
                                     .data = &counts,
                                     .open = open_library,
                                     .close = close_library,
                                     .prepare = prepare,
                                     .workspace = workspace,
                                     .launch = launch,
                                     .release = release };
static const kg_backend *const candidates[] = { &counting, NULL };
static const kg_backend automatic = { .name = "auto", .device = KG_CPU, .candidates = candidates };
static const kg_field fields[] = {
    { "n", offsetof(struct row, n), KG_INT, .min = 1, .max = 1 << 20, .help = "elements" },
};
static const kg_op op = { .name = "ones",
                          .problem_size = sizeof(struct row),
                          .fields = KG_LIST(fields),
                          .tensors = tensors,
                          .reference_cpu = reference,
                          .flops = one_each,
                          .bytes = one_each };
static const struct row rows[] = { { "row", 100 } };
static const uint64_t seeds[] = { 1 };
static const kg_backend *const backends[] = { &counting, &automatic };
static const kg_suite suite = { .name = "counted",
                                .op = &op,
                                .shapes = KG_TABLE(rows),
                                .seeds = KG_LIST(seeds),
                                .backends = KG_LIST(backends),
                                .cpu_anchor = &counting,
                                .gates = { 1, 1, 1, 1, 1, 1 } };
static const kg_suite *const suites[] = { &suite };

KG_EXPORT const struct kg_module kg_module = { KG_MODULE_SIZES, .name = "counting", .git_sha = "",
                                               .flags = "",     .suites = suites,   .n_suites = 1 };
