/* made.c -- a module with a table of kernels as nvcc would have made them, for kgate resources: meson.build makes one
 * of each MADE_… below, the first and what is changed of it. Its one suite is never run. */
#include "kgate.h"

#define MADE_BASE 0
#define MADE_SPILLED 1
#define MADE_SLACK 2   /* more registers, but as many blocks */
#define MADE_OTHER 3   /* the second kernel gone, another there */
#define MADE_NEWER 4   /* by another nvcc */
#define MADE_NOTHING 5 /* no kernel at all */
#define MADE_BUILT 6   /* the table that kernel_table made: tests/build/resources.sh */

#ifndef MADE
#error "MADE is how it was made: one of the names above"
#endif
#define PICK(which, changed, base) (MADE == (which) ? (changed) : (base))

struct one {
    const char *name;
    int64_t n;
};

static int tensors(const void *problem, kg_tensor ret_tensors[KG_MAX_TENSORS], int *ret_count)
{
    (void)problem;
    ret_tensors[0] = (kg_tensor){ .name = "y", .dtype = KG_F32, .role = KG_OUTPUT, .rank = 1, .dims = { 1 } };
    *ret_count = 1;
    return KG_OK;
}

static int reference(const void *problem, const kg_tensor *call, kg_error *ret_error)
{
    (void)problem, (void)ret_error;
    *(float *)call[0].data = 0;
    return KG_OK;
}

static int launch(const kg_backend *self, void *state, const kg_tensor *call, void *stream, kg_error *ret_error)
{
    (void)self, (void)state, (void)stream;
    return reference(NULL, call, ret_error);
}

static double work(const void *problem)
{
    return (double)((const struct one *)problem)->n;
}

static const kg_field fields[] = {
    { "n", offsetof(struct one, n), KG_INT, .min = 1, .max = 2, .fallback = 1, .help = "nothing" },
};
static const kg_op op = { .name = "zero",
                          .problem_size = sizeof(struct one),
                          .fields = KG_LIST(fields),
                          .tensors = tensors,
                          .reference_cpu = reference,
                          .flops = work,
                          .bytes = work };
static const kg_backend plain = { .name = "plain", .device = KG_CPU, .launch = launch };
static const kg_backend *const backends[] = { &plain };
static const struct one rows[] = { { "one", 1 } };
static const uint64_t seeds[] = { 0 };
static const kg_suite suite = {
    .name = "zeros",
    .op = &op,
    .shapes = KG_TABLE(rows),
    .seeds = KG_LIST(seeds),
    .backends = KG_LIST(backends),
    .gates = { .max_abs = 0.1, .mean_abs = 0.1, .bad_abs = 0.1, .rel_l2 = 0.1 },
    .time = { .off = true },
};
static const kg_suite *const suites[] = { &suite };

#if MADE == MADE_BUILT
#include "kg_kernels.h"
#define TABLE kg_kernels
#define N_KERNELS KG_KERNEL_COUNT
#else
#define N_KERNELS PICK(MADE_NOTHING, 0, sizeof by_hand / sizeof *by_hand)
#define CODE PICK(MADE_BASE, "00000000000000aa", "00000000000000bb")
#define NVCC PICK(MADE_NEWER, "13.1.5", "13.0.88")
#define TABLE by_hand
static const kg_kernel by_hand[] = {
    { .name = "_Z5firstILi64EEvPf",
      .arch = "sm_90a",
      .code_hash = CODE,
      .compiler = NVCC,
      .notes = "",
      .registers = PICK(MADE_SLACK, 128, 120),
      .spill_store_bytes = PICK(MADE_SPILLED, 16, 0),
      .spill_load_bytes = PICK(MADE_SPILLED, 24, 0),
      .block_threads = 128,
      .tensor = { 64 },
      .tensor_sass = -1 },
    { .name = PICK(MADE_OTHER, "_Z5thirdPf", "_Z6secondPf"),
      .arch = "sm_90a",
      .code_hash = CODE,
      .compiler = NVCC,
      .notes = "",
      .registers = 32,
      .tensor_sass = -1 },
    { .name = "_Z5firstILi64EEvPf",
      .arch = "sm_80",
      .code_hash = CODE,
      .compiler = NVCC,
      .notes = "",
      .registers = 120,
      .block_threads = 128,
      .tensor = { 64 },
      .tensor_sass = -1 },
};
#endif

KG_EXPORT const struct kg_module kg_module = {
    KG_MODULE_SIZES,  .name = PICK(MADE_BUILT, "attention", "made"),
    .git_sha = "",    .flags = "",
    .suites = suites, .n_suites = 1,
    .kernels = TABLE, .n_kernels = N_KERNELS,
};
