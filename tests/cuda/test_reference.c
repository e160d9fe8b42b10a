/* test_reference.c -- the GPU's reference against the CPU's, and the time of a long one. Exits with 77 without a GPU.
 *
 *     test_reference ATTENTION.so
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "measure/fixture.h"
#include "plan/module.h"
#include "op/sdpa.h"

#define LIMIT_S 2.0
#define TOLERANCE 2e-6 /* both accumulate in double and round once to FP32; outputs are a few units at most */

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

static struct kg_case case_of(const kg_suite *suite, const struct sdpa *problem)
{
    return (struct kg_case){ .suite = suite, .problem = problem, .shape = problem->name, .seed = 7 };
}

/* Fixture with its reference computed. */
static bool reference_on(kg_context *context, const struct kg_case *of, struct kg_fixture *ret_fixture, kg_error *error)
{
    return !kg_fixture_new(context, of, ret_fixture, error) && !kg_fixture_reference(ret_fixture, error);
}

static void compare_devices(kg_context *cpu, kg_context *cuda, const kg_suite *suite, const struct sdpa *problem)
{
    const struct kg_case of = case_of(suite, problem);
    struct kg_fixture on_cpu = { 0 }, on_cuda = { 0 };
    kg_error error = { 0 };
    bool both = reference_on(cpu, &of, &on_cpu, &error) && reference_on(cuda, &of, &on_cuda, &error);
    check(both, problem->name, error.text);
    if (both) {
        const kg_tensor *wanted = &on_cpu.expected.tensors[0], *got = &on_cuda.expected.tensors[0];
        const int64_t count = kg_tensor_count(wanted);
        float *copy = malloc(kg_tensor_bytes(got));
        double worst = 0;
        check(on_cpu.input_digest == on_cuda.input_digest, problem->name, "inputs differ between the devices");
        check(copy && !cuda->ops->copy_to_host(cuda, copy, got->data, kg_tensor_bytes(got), &error), problem->name,
              error.text);
        for (int64_t i = 0; i < count && copy; i++)
            worst = fmax(worst, !(fabs(copy[i] - ((const float *)wanted->data)[i]) <= 1e30)
                                    ? INFINITY
                                    : fabs(copy[i] - ((const float *)wanted->data)[i]));
        printf("%-16s %8lld elements, largest difference %.2g\n", problem->name, (long long)count, worst);
        check(worst <= TOLERANCE, problem->name, "the references differ");
        free(copy);
    }
    kg_fixture_done(&on_cpu);
    kg_fixture_done(&on_cuda);
}

static void time_long(kg_context *cuda, const kg_suite *suite)
{
    static const struct sdpa problem = { "long", .B = 1, .H = 16, .S = 16384, .D = 128, .dtype = KG_BF16 };
    const struct kg_case of = case_of(suite, &problem);
    struct kg_fixture fixture = { 0 };
    kg_error error = { 0 };
    bool made = !kg_fixture_new(cuda, &of, &fixture, &error);
    double start_s = now_s();
    bool ran = made && !kg_fixture_reference(&fixture, &error);
    double took_s = now_s() - start_s;
    check(ran, problem.name, error.text);
    printf("B=1 H=16 S=16384 D=128: %.3f s, %.1f TFLOP/s\n", took_s, suite->op->flops(&problem) / took_s / 1e12);
    check(took_s <= LIMIT_S, problem.name, "slower than 2 s");
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

int main(int argc, char *argv[])
{
    static const struct sdpa shapes[] = {
        { "one", .B = 1, .H = 1, .S = 1, .D = 64, .dtype = KG_F16 },
        { "odd", .B = 2, .H = 3, .S = 77, .D = 64, .dtype = KG_F16 },
        { "odd_causal", .B = 2, .H = 3, .S = 77, .D = 128, .dtype = KG_BF16, .causal = true },
        { "grouped", .B = 1, .H = 8, .Hkv = 2, .S = 130, .D = 128, .dtype = KG_F16 },
        { "short_keys", .B = 1, .H = 2, .S = 200, .Skv = 77, .D = 64, .dtype = KG_BF16, .causal = true },
        { "long_keys", .B = 1, .H = 2, .S = 33, .Skv = 513, .D = 80, .dtype = KG_F16 },
        { "odd_dimension", .B = 1, .H = 1, .S = 40, .D = 7, .dtype = KG_F16, .causal = true },
        { "wide", .B = 1, .H = 2, .S = 65, .D = 256, .dtype = KG_BF16, .scale = 0.25 },
    };
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
        compare_devices(cpu, cuda, suite, &shapes[i]);
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
