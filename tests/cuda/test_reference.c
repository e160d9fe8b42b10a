/* test_reference.c -- the GPU's reference and error scale against the CPU's, and the time of long ones. Exits with 77
 * without a GPU.
 *
 *     test_reference ATTENTION.so
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "flex/flex.h"
#include "measure/fixture.h"
#include "plan/module.h"
#include "op/sdpa_fp8.h"

#define LIMIT_S 2.0
#define SCALE_LIMIT 2.5      /* what the error scale may take, over the reference */
#define SCALE_TOLERANCE 1e-3 /* relative: both compute in double, and round to FP32 */
#define TOLERANCE 2e-6       /* both accumulate in double and round once to FP32; outputs are a few units at most */

static int failures;

static void check(bool holds, const char *name, const char *what)
{
    if (!holds) {
        failures++;
        printf("FAIL %s: %s\n", name, what);
    }
}

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static struct kg_case case_of(const kg_suite *suite, const void *problem)
{
    return (struct kg_case){ .suite = suite, .problem = problem, .shape = *(const char *const *)problem, .seed = 7 };
}

static const void *arithmetic_of(const kg_suite *suite, const char *backend)
{
    for (size_t i = 0; i < suite->backends.count; i++)
        if (strcmp(suite->backends.items[i]->name, backend) == 0)
            return suite->backends.items[i]->arithmetic;
    return NULL;
}

/* Fixture with its reference and error scale computed. */
static bool reference_on(kg_context *context, const struct kg_case *of, const void *arithmetic,
                         struct kg_fixture *ret_fixture, kg_error *error)
{
    if (kg_fixture_new(context, of, ret_fixture, error))
        return false;
    kg_fixture_set_arithmetic(ret_fixture, arithmetic);
    return !kg_fixture_reference(ret_fixture, error);
}

/* Largest difference between a tensor of the CPU and one of the GPU; relative to the first where that is asked for. */
static double difference_of(kg_context *cuda, const kg_tensor *wanted, const kg_tensor *got, bool relative,
                            const char *name)
{
    const float *on_cpu = wanted->data;
    float *copy = malloc(kg_tensor_bytes(got));
    kg_error error = { 0 };
    double worst = 0;
    check(copy && !cuda->ops->copy_to_host(cuda, copy, got->data, kg_tensor_bytes(got), &error), name, error.text);
    for (int64_t i = 0; i < kg_tensor_count(wanted) && copy; i++) {
        const double e = fabs((double)copy[i] - (double)on_cpu[i]) / (relative ? fabs((double)on_cpu[i]) : 1);
        worst = fmax(worst, e <= 1e30 ? e : INFINITY);
    }
    free(copy);
    return worst;
}

static void compare_devices(kg_context *cpu, kg_context *cuda, const kg_suite *suite, const void *problem,
                            const char *backend)
{
    const struct kg_case of = case_of(suite, problem);
    const void *arithmetic = backend ? arithmetic_of(suite, backend) : NULL;
    struct kg_fixture on_cpu = { 0 }, on_cuda = { 0 };
    kg_error error = { 0 };
    check(!backend || arithmetic, of.shape, "the backend has no arithmetic");
    bool both =
        reference_on(cpu, &of, arithmetic, &on_cpu, &error) && reference_on(cuda, &of, arithmetic, &on_cuda, &error);
    check(both, of.shape, error.text);
    if (both) {
        check(on_cpu.input_digest == on_cuda.input_digest, of.shape, "inputs differ between the devices");
        const double worst = difference_of(cuda, on_cpu.expected.tensors, on_cuda.expected.tensors, false, of.shape);
        check(worst <= TOLERANCE, of.shape, "the references differ");
        check(on_cpu.scale.count == 1 && on_cuda.scale.count == 1, of.shape, "no error scale");
        const double of_scale = difference_of(cuda, on_cpu.scale.tensors, on_cuda.scale.tensors, true, of.shape);
        check(of_scale <= SCALE_TOLERANCE, of.shape, "the error scales differ");
        printf("%-16s %8lld elements, largest difference %.2g, of error scales %.2g\n", of.shape,
               (long long)kg_tensor_count(on_cpu.expected.tensors), worst, of_scale);
    }
    kg_fixture_done(&on_cpu);
    kg_fixture_done(&on_cuda);
}

/* One of the op's functions on the GPU, once to load it and once timed. */
static double time_of(kg_context *cuda, const struct kg_case *of, kg_tensor *call, bool error_scale, kg_error *error)
{
    const kg_op *op = of->suite->op;
    void *stream = cuda->ops->stream(cuda);
    double start_s = 0;
    for (int i = 0; i < 2; i++) {
        start_s = now_s();
        int status = error_scale ? op->error_scale_cuda(of->problem, NULL, &cuda->device, call, stream, error)
                                 : op->reference_cuda(of->problem, &cuda->device, call, stream, error);
        if (status || cuda->ops->synchronize(cuda, error))
            return INFINITY;
    }
    return now_s() - start_s;
}

static void time_long(kg_context *cuda, const kg_suite *suite)
{
    static const struct sdpa problem = { "long", .B = 1, .H = 16, .S = 16384, .D = 128, .dtype = KG_BF16 };
    const struct kg_case of = case_of(suite, &problem);
    struct kg_fixture fixture = { 0 };
    kg_error error = { 0 };
    if (!reference_on(cuda, &of, NULL, &fixture, &error)) {
        check(false, problem.name, error.text);
        return;
    }
    kg_tensor call[SDPA_ERROR + 1];
    memcpy(call, fixture.buffers.tensors, sizeof call);
    call[SDPA_O] = fixture.expected.tensors[0];
    call[SDPA_ERROR] = fixture.scale.tensors[0];
    const double took_s = time_of(cuda, &of, call, false, &error), scale_s = time_of(cuda, &of, call, true, &error);
    printf("B=1 H=16 S=16384 D=128: %.3f s, %.1f TFLOP/s; its error scale %.3f s\n", took_s,
           suite->op->flops(&problem) / took_s / 1e12, scale_s);
    check(took_s <= LIMIT_S, problem.name, "slower than 2 s");
    check(scale_s <= SCALE_LIMIT * took_s, problem.name, "its error scale takes 2.5 times as long");
    kg_fixture_done(&fixture);
}

/* Where double precision is cut down, the refusal says so. */
static void refuse_slow(const kg_device *device, const kg_suite *suite)
{
    static const struct sdpa problem = { "long", .B = 1, .H = 16, .S = 16384, .D = 128, .dtype = KG_BF16 };
    kg_device cut = *device;
    kg_tensor tensors[KG_MAX_TENSORS];
    int count = 0;
    kg_error error = { 0 };
    cut.fp64_ratio = 64;
    cut.units = 58;
    suite->op->tensors(&problem, tensors, &count);
    int status = suite->op->reference_cuda(&problem, &cut, tensors, NULL, &error);
    check(status == KG_EUNSUPPORTED && strstr(error.text, "double"), "1/64", "not refused");
    printf("on a GPU of 1/64: %s\n", error.text);
}

static const struct sdpa shapes[] = {
    { "one", .B = 1, .H = 1, .S = 1, .D = 64, .dtype = KG_F16 },
    { "odd", .B = 2, .H = 3, .S = 77, .D = 64, .dtype = KG_F16 },
    { "odd_causal", .B = 2, .H = 3, .S = 77, .D = 128, .dtype = KG_BF16, .causal = true },
    { "grouped", .B = 1, .H = 8, .Hkv = 2, .S = 130, .D = 128, .dtype = KG_F16 },
    { "short_keys", .B = 1, .H = 2, .S = 200, .Skv = 77, .D = 64, .dtype = KG_BF16, .causal = true },
    { "decode", .B = 2, .H = 2, .S = 1, .Skv = 77, .D = 64, .dtype = KG_F16, .causal = true, .bottom_right = true },
    { "bottom_right", .B = 1, .H = 2, .S = 70, .Skv = 200, .D = 64, .dtype = KG_F16, .causal = true,
      .bottom_right = true },
    { "empty_rows", .B = 1, .H = 2, .S = 200, .Skv = 40, .D = 80, .dtype = KG_BF16, .causal = true,
      .bottom_right = true },
    { "long_keys", .B = 1, .H = 2, .S = 33, .Skv = 513, .D = 80, .dtype = KG_F16 },
    { "odd_dimension", .B = 1, .H = 1, .S = 40, .D = 7, .dtype = KG_F16, .causal = true },
    { "wide", .B = 1, .H = 2, .S = 65, .D = 256, .dtype = KG_BF16, .scale = 0.25 },
};
static const struct sdpa coded[] = {
    { "coded", .B = 2, .H = 3, .S = 77, .Skv = 130, .D = 64, .dtype = KG_E4M3 },
    { "coded_long", .B = 1, .H = 1, .S = 5, .Skv = 3000, .D = 64, .dtype = KG_E4M3 },
};
static const struct sdpa_fp8 fp8 = { { "fp8", .B = 2, .H = 4, .Hkv = 2, .S = 77, .Skv = 90, .D = 128, .causal = true },
                                     .o_scale = 128 };

#define FLEX(label, causal_mask, ...)                                                                                  \
    {                                                                                                                  \
        .attention = { label,                                                                                          \
                       .B = 2,                                                                                         \
                       .H = 4,                                                                                         \
                       .Hkv = 2,                                                                                       \
                       .S = 150,                                                                                       \
                       .Skv = 200,                                                                                     \
                       .D = 64,                                                                                        \
                       .dtype = KG_BF16,                                                                               \
                       .causal = causal_mask,                                                                          \
                       .bottom_right = causal_mask },                                                                  \
        .softcap = 3, .window = 40, .prefix_keys = 70, .doc_span = 50, .reach = 30, .block_size = 64, __VA_ARGS__      \
    }
static const struct flex flexes[] = {
    FLEX("cap", false, .cap = true),
    FLEX("alibi", true, .alibi = true),
    FLEX("relative", false, .relative = true, .prefix = true),
    FLEX("decay_document", false, .decay = true, .document = true),
    FLEX("cap_sliding", true, .cap = true, .sliding = true),
};

int main(int argc, char *argv[])
{
    struct kg_loaded module;
    kg_context *cpu = NULL, *cuda = NULL;
    kg_error error = { 0 };
    if (argc != 2 || kg_module_open(argv[1], &module, &error) || kg_device_open(KG_CPU, 0, &cpu, &error)) {
        fprintf(stderr, "test_reference ATTENTION.so: %s\n", error.text);
        return 2;
    }
    if (kg_device_open(KG_CUDA, 0, &cuda, &error)) {
        printf("skipped: %s\n", error.text);
        return 77;
    }
    const kg_suite *suite = kg_module_suite(module.root, "sdpa_parity");
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        compare_devices(cpu, cuda, suite, &shapes[i], NULL);
    for (size_t i = 0; i < sizeof coded / sizeof *coded; i++) {
        compare_devices(cpu, cuda, kg_module_suite(module.root, "fp8_sdpa"), &coded[i], "cpu_stage_c");
        compare_devices(cpu, cuda, kg_module_suite(module.root, "fp8_sdpa_e4m3"), &coded[i], "cpu_stage_c_e4m3");
    }
    compare_devices(cpu, cuda, kg_module_suite(module.root, "fp8_cudnn"), &fp8, "cpu_fp8");
    for (size_t i = 0; i < sizeof flexes / sizeof *flexes; i++)
        compare_devices(cpu, cuda, kg_module_suite(module.root, "flex_parity"), &flexes[i], NULL);
    time_long(cuda, suite);
    refuse_slow(&cuda->device, suite);
    cuda->ops->close(cuda);
    cpu->ops->close(cpu);
    if (failures)
        printf("%d failures\n", failures);
    else
        printf("all checks passed\n");
    return failures != 0;
}
