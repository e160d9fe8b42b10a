/* variables.c -- a suite that declares environment variables: which were read is in the id, in the work done, and in a
 * line of the log. tests/cli/variables.sh asks. */
#include "kgate.h"

#include "module.h"
#include "spin.h"

struct problem {
    const char *name;
    int64_t n, block_size, doc_span;
    int compile_mode;
};

static const char *const modes[] = { "default", "reduce-overhead", "max-autotune", NULL };
static const kg_field fields[] = {
    { "n", offsetof(struct problem, n), KG_INT, .min = 1, .max = 1 << 20 },
    { "block_size", offsetof(struct problem, block_size), KG_INT, .min = 16, .max = 256, .fallback = 64 },
    { "doc_span", offsetof(struct problem, doc_span), KG_INT, .min = 0, .max = 1 << 20, .help = "0: no limit" },
    { "compile_mode", offsetof(struct problem, compile_mode), KG_CHOICE, .choices = modes },
};

static int check(const void *problem, kg_error *ret_error)
{
    const struct problem *p = problem;
    return p->n % p->block_size ? kg_fail(ret_error, KG_EINVAL, "block_size does not divide n") : KG_OK;
}

static int tensors(const void *problem, kg_tensor ret_tensors[KG_MAX_TENSORS], int *ret_count)
{
    const struct problem *p = problem;
    ret_tensors[0] = (kg_tensor){ .name = "x", .dtype = KG_F32, .role = KG_INPUT, .rank = 1, .dims = { p->n } };
    ret_tensors[1] = (kg_tensor){ .name = "y", .dtype = KG_F32, .role = KG_OUTPUT, .rank = 1, .dims = { p->n } };
    *ret_count = 2;
    return KG_OK;
}

/* Sums of what lies before in the block, and in the span. */
static void sum(const struct problem *p, const float *x, float *y)
{
    for (int64_t i = 0; i < p->n; i++) {
        int64_t first = i / p->block_size * p->block_size;
        if (p->doc_span && first < i + 1 - p->doc_span)
            first = i + 1 - p->doc_span;
        double of_them = 0;
        for (int64_t j = first; j <= i; j++)
            of_them += x[j];
        y[i] = (float)of_them;
    }
}

static int reference(const void *problem, const kg_tensor *call, kg_error *ret_error)
{
    (void)ret_error;
    sum(problem, call[0].data, call[1].data);
    return KG_OK;
}

static double size(const void *problem)
{
    const struct problem *p = problem;
    return (double)(p->n * p->block_size);
}

static const kg_op op = { .name = "sums",
                          .problem_size = sizeof(struct problem),
                          .fields = KG_LIST(fields),
                          .check = check,
                          .tensors = tensors,
                          .reference_cpu = reference,
                          .flops = size,
                          .bytes = size };

static int prepare(const kg_backend *self, const kg_call *call, void **ret_state, kg_identity *ret_identity,
                   kg_error *ret_error)
{
    const struct problem *p = call->problem;
    (void)self, (void)ret_identity, (void)ret_error;
    call->host->log(call->host, "sums of %s: %d %d %s", p->name, (int)p->block_size, (int)p->doc_span,
                    modes[p->compile_mode]);
    *ret_state = (void *)call->problem;
    return KG_OK;
}

static int launch(const kg_backend *self, void *state, const kg_tensor *call, void *stream, kg_error *ret_error)
{
    const int64_t end_ns = now_ns() + 2000000;
    (void)self, (void)stream, (void)ret_error;
    sum(state, call[0].data, call[1].data);
    spin_until(end_ns);
    return KG_OK;
}

static const kg_backend kernel = { .name = "kernel", .device = KG_CPU, .prepare = prepare, .launch = launch };
static const kg_backend *const backends[] = { &kernel };
static const kg_variable variables[] = { { "BLOCK_SIZE", "block_size" },
                                         { "DOC_SPAN", "doc_span" },
                                         { "TORCH_COMPILE_MODE", "compile_mode" } };
static const struct problem shapes[] = { { "long", .n = 12288 },
                                         { "short", .n = 4224, .block_size = 128, .doc_span = 32 } };
static const uint64_t seeds[] = { 0 };
static const kg_suite sums = {
    .name = "sums",
    .op = &op,
    .shapes = KG_TABLE(shapes),
    .seeds = KG_LIST(seeds),
    .backends = KG_LIST(backends),
    .gates = { .max_abs = 0.1, .mean_abs = 0.01, .bad_abs = 0.02, .bad_pct = 1.0, .rel_l2 = 0.05 },
    .environment = KG_LIST(variables),
};

static const kg_suite *const suites[] = { &sums };

MODULE_ROOT("variables");
