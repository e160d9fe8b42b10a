/* bad.c -- modules that kgate must refuse: meson.build makes one of each BAD_… below, with one thing wrong in it.
 * To add one: a name in meson.build, its wrong line here, the refusal in tests/cli/badmodule.sh. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kgate.h"

#define BAD_NOTHING 0 /* all right: what the others differ from */
#define BAD_ROOT 1
#define BAD_ABI 2
#define BAD_SIZE 3
#define BAD_ROW_SIZE 4
#define BAD_ROW_TWICE 5
#define BAD_DIMENSION 6
#define BAD_SEEDS 7
#define BAD_SEED_TWICE 8
#define BAD_GATE 9
#define BAD_GATE_NAN 10
#define BAD_NAME 11
#define BAD_BACKEND_TWICE 12
#define BAD_SUITE_TWICE 13
#define BAD_ANCHOR 14
#define BAD_SYMBOL 15
#define BAD_OLD 16

#ifndef BAD
#error "BAD is what is wrong: one of the names above"
#endif
#define PICK(which, bad, good) (BAD == (which) ? (bad) : (good))

struct zeros {
    const char *name;
    int64_t n;
};

/* A table made for a longer problem: its row size betrays it. */
struct longer {
    struct zeros zeros;
    int64_t more;
};

static const kg_field fields[] = {
    { "n", offsetof(struct zeros, n), KG_INT, .min = 1, .max = 4096, .help = "elements" },
};

static int tensors(const void *problem, kg_tensor ret_tensors[KG_MAX_TENSORS], int *ret_count)
{
    const int64_t n = ((const struct zeros *)problem)->n;
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

#if BAD == BAD_SYMBOL
int kgate_has_no_such_function(void);
#endif

static int launch(const kg_backend *self, void *state, const kg_tensor *call, void *stream, kg_error *ret_error)
{
    (void)self, (void)state, (void)stream, (void)ret_error;
#if BAD == BAD_SYMBOL
    return kgate_has_no_such_function();
#endif
    return copy(call);
}

static double size(const void *problem)
{
    return (double)((const struct zeros *)problem)->n;
}

static const kg_op op = { .name = "copy", .problem_size = sizeof(struct zeros), .fields = KG_LIST(fields),
                          .tensors = tensors, .reference_cpu = reference, .flops = size, .bytes = size };
static const kg_backend plain = { .name = "plain", .device = KG_CPU, .launch = launch };
static const kg_backend plain_again = { .name = PICK(BAD_BACKEND_TWICE, "plain", "again"), .device = KG_CPU,
                                        .launch = launch };
static const kg_backend on_gpu = { .name = "on_gpu", .device = KG_CUDA, .launch = launch };
static const kg_backend *const backends[] = { &plain, &plain_again };

static const struct zeros rows[] = {
    { PICK(BAD_NAME, "one row", "one"), 1 },
    { PICK(BAD_ROW_TWICE, "one", "two"), PICK(BAD_DIMENSION, 0, 2) },
};
static const struct longer longer_rows[] = { { { "one", 1 }, 2 } };
static const uint64_t seeds[] = { 0, PICK(BAD_SEED_TWICE, 0, 1) };

static const kg_suite suite = {
    .name = "copies",
    .op = &op,
    .shapes = { PICK(BAD_ROW_SIZE, (const void *)longer_rows, (const void *)rows), PICK(BAD_ROW_SIZE, 1, 2),
                PICK(BAD_ROW_SIZE, sizeof *longer_rows, sizeof *rows) },
    .seeds = { seeds, PICK(BAD_SEEDS, 0, 2) },
    .backends = KG_LIST(backends),
    .cpu_anchor = PICK(BAD_ANCHOR, &on_gpu, &plain),
    .gates = { .max_abs = PICK(BAD_GATE_NAN, (double)NAN, 0.1), .mean_abs = 0.1, .bad_abs = 0.1,
               .rel_l2 = PICK(BAD_GATE, 0, 0.1) },
    .time = { .off = true },
};
static const kg_suite namesake = {
    .name = PICK(BAD_SUITE_TWICE, "copies", "others"),
    .op = &op,
    .shapes = { rows, 1, sizeof *rows },
    .seeds = { seeds, 1 },
    .backends = KG_LIST(backends),
    .gates = { .max_abs = 0.1, .mean_abs = 0.1, .bad_abs = 0.1, .rel_l2 = 0.1 },
    .time = { .off = true },
};
static const kg_suite *const suites[] = { &suite, &namesake };

#if BAD == BAD_ROOT
#define THE_ROOT by_another_name
KG_EXPORT extern const struct kg_module by_another_name;
#else
#define THE_ROOT kg_module
#endif
KG_EXPORT const struct kg_module THE_ROOT = {
    .abi = PICK(BAD_OLD, 4, KG_ABI + PICK(BAD_ABI, 1, 0)),
    .module_size = sizeof(struct kg_module),
    .suite_size = sizeof(kg_suite) + PICK(BAD_SIZE, 8, 0),
    .op_size = sizeof(kg_op),
    .backend_size = sizeof(kg_backend),
    .kernel_size = sizeof(kg_kernel),
    .field_size = sizeof(kg_field),
    .xfail_size = sizeof(kg_xfail),
    .name = "bad",
    .git_sha = "",
    .flags = "",
    .suites = suites,
    .n_suites = 2,
};
