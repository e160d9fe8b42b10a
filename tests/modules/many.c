/* many.c -- 10,000 cases of little work, for what depends on their number alone: how long `kgate list` takes, what
 * a run of them needs, and a golden file that takes a while to write. 1,000 rows, 5 seeds, 2 backends. --set n=… makes
 * them larger than any memory. */
#include <stdio.h>
#include <string.h>

#include "kgate.h"
#include "spin.h"

#define ROWS 1000

/* The module says that it was built from the commit that tests/cli/bless.sh makes in a repository of its own. */
#ifndef MANY_SHA
#error "MANY_SHA is the commit that the module claims"
#endif

struct count {
    const char *name;
    int64_t n;
};

static const kg_field fields[] = {
    { "n", offsetof(struct count, n), KG_INT, .min = 1, .max = 0x1p44, .help = "elements" },
};

static int tensors(const void *problem, kg_tensor ret_tensors[KG_MAX_TENSORS], int *ret_count)
{
    const int64_t n = ((const struct count *)problem)->n;
    ret_tensors[0] = (kg_tensor){ .name = "x", .dtype = KG_F32, .role = KG_INPUT, .rank = 1, .dims = { n } };
    ret_tensors[1] = (kg_tensor){ .name = "y", .dtype = KG_F32, .role = KG_OUTPUT, .rank = 1, .dims = { n } };
    *ret_count = 2;
    return KG_OK;
}

static int copy(const kg_tensor *call)
{
    memcpy(call[1].data, call[0].data, kg_tensor_bytes(&call[0]));
    return KG_OK;
}

static int reference(const void *problem, const kg_tensor *call, kg_error *ret_error)
{
    (void)problem, (void)ret_error;
    return copy(call);
}

static int launch(const kg_backend *self, void *state, const kg_tensor *call, void *stream, kg_error *ret_error)
{
    const int64_t end_ns = now_ns() + 5000;
    (void)self, (void)state, (void)stream, (void)ret_error;
    const int status = copy(call);
    spin_until(end_ns);
    return status;
}

static double size(const void *problem)
{
    return (double)((const struct count *)problem)->n;
}

static const kg_op op = { .name = "copy", .problem_size = sizeof(struct count), .fields = KG_LIST(fields),
                          .tensors = tensors, .reference_cpu = reference, .flops = size, .bytes = size };
static const kg_backend here = { .name = "here", .device = KG_CPU, .launch = launch };
static const kg_backend there = { .name = "there", .device = KG_CPU, .launch = launch };
static const kg_backend *const backends[] = { &here, &there };
static const uint64_t seeds[] = { 0, 1, 2, 3, 4 };
#define GATES { .max_abs = 1e-6, .mean_abs = 1e-6, .bad_abs = 1e-6, .rel_l2 = 1e-6 }

static struct count rows[ROWS];
static char names[ROWS][8];

__attribute__((constructor)) static void fill_rows(void)
{
    for (int i = 0; i < ROWS; i++) {
        (void)snprintf(names[i], sizeof names[i], "r%03d", i);
        rows[i] = (struct count){ names[i], 64 + i };
    }
}

static const kg_suite suite = { .name = "many", .op = &op, .shapes = KG_TABLE(rows), .seeds = KG_LIST(seeds),
                                .backends = KG_LIST(backends), .cpu_anchor = &there, .gates = GATES };
static const kg_suite *const suites[] = { &suite };

KG_EXPORT const struct kg_module kg_module = {
    KG_MODULE_SIZES,
    .name = "many",
    .git_sha = MANY_SHA,
    .flags = "",
    .suites = suites,
    .n_suites = 1,
};
