/* linked.c -- a module whose kernel is linked to it, linked_kernel.c. tests/cli/files.sh compiles both as its tests
 * need them: FACTOR is a number of the module's read-only data, SHA the commit that it names. With OPENED it is opened
 * where --library-path says, and the identity says which one it was. WAIT in the environment is what a call
 * takes, in microseconds; FALLS is a file that a call touches before it aborts. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kgate.h"

#ifdef OPENED
static void (*scale)(float *y, const float *x, long n);
#else
void scale(float *y, const float *x, long n);
#endif

struct row {
    const char *name;
    int64_t n;
};

static const float factor[16] = { 0, 1, FACTOR, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233, 377, 610, 987 };
static volatile float seen;

static int tensors(const void *problem, kg_tensor ret_tensors[KG_MAX_TENSORS], int *ret_count)
{
    const int64_t n = ((const struct row *)problem)->n;
    ret_tensors[0] = (kg_tensor){ .name = "x", .dtype = KG_F32, .role = KG_INPUT, .rank = 1, .dims = { n } };
    ret_tensors[1] = (kg_tensor){ .name = "y", .dtype = KG_F32, .role = KG_OUTPUT, .rank = 1, .dims = { n } };
    *ret_count = 2;
    return KG_OK;
}

static int reference(const void *problem, const kg_tensor *call, kg_error *ret_error)
{
    (void)ret_error;
    for (int64_t i = 0; i < ((const struct row *)problem)->n; i++)
        ((float *)call[1].data)[i] = 2 * ((const float *)call[0].data)[i];
    return KG_OK;
}

static int launch(const kg_backend *self, void *state, const kg_tensor *call, void *stream, kg_error *ret_error)
{
    (void)self, (void)state, (void)stream, (void)ret_error;
    if (getenv("WAIT"))
        usleep((useconds_t)atoi(getenv("WAIT")));
    if (getenv("FALLS")) {
        (void)utimensat(AT_FDCWD, getenv("FALLS"), NULL, 0);
        abort();
    }
    seen = factor[call[0].dims[0] / 3 & 15];
    scale(call[1].data, call[0].data, kg_tensor_count(&call[1]));
    return KG_OK;
}

#ifdef OPENED
static const char *version;

static int open_library(const kg_backend *self, const kg_host *host, const kg_device *device, void **ret_library,
                        kg_error *ret_error)
{
    (void)self, (void)device;
    int status = host->library_open(host, "libscale.so", ret_library, ret_error);
    if (!status)
        status = host->library_symbol(*ret_library, "scale", (void **)&scale, ret_error);
    return status ? status : host->library_symbol(*ret_library, "scale_version", (void **)&version, ret_error);
}

static int prepare(const kg_backend *self, const kg_call *call, void **ret_state, kg_identity *ret_identity,
                   kg_error *ret_error)
{
    (void)self, (void)call, (void)ret_state, (void)ret_error;
    strcat(strcpy(ret_identity->text, "scale "), version);
    return KG_OK;
}
#endif

static double work(const void *problem)
{
    return (double)((const struct row *)problem)->n;
}

static const kg_field fields[] = { { "n", offsetof(struct row, n), KG_INT, .min = 1, .max = 1e6, .fallback = 1 } };
static const kg_op op = { .name = "scale",
                          .problem_size = sizeof(struct row),
                          .fields = KG_LIST(fields),
                          .tensors = tensors,
                          .reference_cpu = reference,
                          .flops = work,
                          .bytes = work };
static const kg_backend plain = {
    .name = "plain",
    .device = KG_CPU,
#ifdef OPENED
    .open = open_library,
    .prepare = prepare,
#endif
    .launch = launch,
};
static const kg_backend *const backends[] = { &plain };
static const struct row rows[] = { { "row", 8192 }, { "long", 131072 } };
static const uint64_t seeds[] = { 0 };
static const kg_suite suite = {
    .name = "linked",
    .op = &op,
    .shapes = KG_TABLE(rows),
    .seeds = KG_LIST(seeds),
    .backends = KG_LIST(backends),
    .gates = { .max_abs = 1e-6, .mean_abs = 1e-6, .bad_abs = 1e-6, .bad_rel = 1e-6, .rel_l2 = 1e-6 },
};
static const kg_suite *const suites[] = { &suite };

KG_EXPORT const struct kg_module kg_module = { KG_MODULE_SIZES, .name = "linked", .git_sha = SHA,
                                               .flags = "",     .suites = suites, .n_suites = 1 };
