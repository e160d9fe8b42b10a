/* fixture.c -- inputs, reference and error scale of a case. */
#include "measure/fixture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "measure/inputs.h"
#include "measure/known.h"
#include "plan/problem.h"

static int describe(const struct kg_case *of, kg_tensor tensors[KG_MAX_TENSORS], int *ret_count, kg_error *ret_error)
{
    const kg_op *op = of->suite->op;
    int status = kg_problem_tensors(op, of->problem, tensors, ret_count, ret_error);
    if (status)
        return status;
    for (int i = 0; i < *ret_count; i++) {
        const kg_tensor *t = &tensors[i];
        if (t->given && (t->role != KG_INPUT || !op->give))
            return kg_fail(ret_error, KG_EINVAL, "op %s: tensor %s is given, but no input, or nothing gives it",
                           op->name, t->name);
        if (!(t->given && t->dtype == KG_I32) &&
            (t->dtype < KG_F32 || t->dtype > (t->role == KG_OUTPUT ? KG_E4M3 : KG_BF16)))
            return kg_fail(ret_error, KG_EINVAL,
                           "op %s: tensor %s must be f32, f16 or bf16; an output also e4m3, a given input i32",
                           op->name, t->name);
    }
    return KG_OK;
}

static int check_plan(const struct kg_case *of, const kg_tensor *tensors, int count, kg_error *ret_error)
{
    if (of->tensors && kg_tensors_digest(tensors, count) != of->tensors)
        return kg_fail(ret_error, KG_EINVAL, "op %s described other tensors when the case was planned",
                       of->suite->op->name);
    return KG_OK;
}

/* Whether the tensors are free to have, and in single precision what they are compared with: the reference's outputs
 * and their error scale. */
static int check_memory(kg_context *context, const struct kg_case *of, const kg_tensor *tensors, int count,
                        kg_error *ret_error)
{
    uint64_t needed = kg_buffers_room(tensors, count), available = 0;
    int status = context->ops->free_bytes(context, &available, ret_error);
    for (int i = 0; i < count; i++) {
        kg_tensor expected = tensors[i];
        expected.dtype = KG_F32;
        if (expected.role == KG_OUTPUT)
            needed += kg_buffers_room(&expected, 1) * (kg_case_has_scale(of) ? 2 : 1);
    }
    if (!status && needed > available)
        return kg_fail(ret_error, KG_EUNSUPPORTED, "needs %llu bytes of device memory, %llu are free",
                       (unsigned long long)needed, (unsigned long long)available);
    return status;
}

static int keep_problem(struct kg_fixture *fixture, kg_error *ret_error)
{
    const size_t bytes = fixture->of.suite->op->problem_size;
    fixture->problem = malloc(bytes ? bytes : 1);
    if (!fixture->problem)
        return kg_fail(ret_error, KG_ENOMEM, "no host memory for a problem");
    memcpy(fixture->problem, fixture->of.problem, bytes);
    return KG_OK;
}

/* A kernel that another problem would suit has it from the reference too. */
static int check_problem(const struct kg_fixture *fixture, kg_error *ret_error)
{
    const size_t bytes = fixture->of.suite->op->problem_size;
    if (memcmp(fixture->problem, fixture->of.problem, bytes) == 0)
        return KG_OK;
    return kg_fail(ret_error, KG_EDEVICE, "it changed its problem, which the reference is asked for too");
}

int kg_fixture_new(kg_context *context, const struct kg_case *of, struct kg_fixture *ret_fixture, kg_error *ret_error)
{
    kg_tensor tensors[KG_MAX_TENSORS] = { 0 };
    int count = 0;
    int status = describe(of, tensors, &count, ret_error);
    if (!status)
        status = check_plan(of, tensors, count, ret_error);
    if (!status)
        status = check_memory(context, of, tensors, count, ret_error);
    if (status)
        return status;
    struct kg_fixture f = { .context = context, .of = *of };
    const enum kg_guards guards = of->regime ? KG_GUARDS_LARGEST : KG_GUARDS_NAN;
    status = keep_problem(&f, ret_error);
    if (!status)
        status = kg_buffers_new(context, tensors, count, guards, &f.buffers, ret_error);
    if (!status)
        status = kg_inputs_draw(of, &f.buffers, ret_error);
    if (!status)
        status = kg_buffers_digest(&f.buffers, KG_INPUT, &f.input_digest, ret_error);
    if (status)
        kg_fixture_done(&f);
    else
        *ret_fixture = f;
    return status;
}

void kg_fixture_done(struct kg_fixture *fixture)
{
    kg_buffers_done(&fixture->buffers);
    kg_buffers_done(&fixture->expected);
    kg_buffers_done(&fixture->scale);
    free(fixture->problem);
    *fixture = (struct kg_fixture){ 0 };
}

bool kg_fixture_serves(const struct kg_fixture *fixture, const struct kg_case *of)
{
    return fixture->context && fixture->of.suite == of->suite && fixture->of.seed == of->seed &&
           fixture->of.problem == of->problem && fixture->of.regime == of->regime;
}

static bool same_tensor(const kg_tensor *a, const kg_tensor *b)
{
    bool same = a->role == b->role && a->given == b->given && a->dtype == b->dtype && a->rank == b->rank;
    for (int i = 0; i < a->rank && same; i++)
        same = a->dims[i] == b->dims[i];
    if (same && a->role == KG_OUTPUT)
        return kg_tensor_unit(a) == kg_tensor_unit(b);
    return same && (a->std != 0 ? a->std : 1) == (b->std != 0 ? b->std : 1);
}

int kg_fixture_admits(const struct kg_fixture *fixture, const struct kg_case *candidate, kg_error *ret_error)
{
    kg_tensor tensors[KG_MAX_TENSORS] = { 0 };
    const char *op = candidate->suite->op->name;
    int count = 0;
    int status = describe(candidate, tensors, &count, ret_error);
    if (status)
        return status;
    if (count != fixture->buffers.count)
        return kg_fail(ret_error, KG_EINVAL, "op %s has %d tensors here and %d in the baseline: judge by goldens", op,
                       count, fixture->buffers.count);
    for (int i = 0; i < count; i++)
        if (!same_tensor(&tensors[i], &fixture->buffers.tensors[i]))
            return kg_fail(ret_error, KG_EINVAL,
                           "tensor %s of op %s is not what it is in the baseline: judge by goldens", tensors[i].name,
                           op);
    return KG_OK;
}

/* The call's tensors, and for each output an FP32 one, of its shape, in its place. */
static int call_tensors(const struct kg_fixture *fixture, kg_tensor call[2 * KG_MAX_TENSORS],
                        kg_tensor outputs[KG_MAX_TENSORS])
{
    int n_outputs = 0;
    for (int i = 0; i < fixture->buffers.count; i++) {
        call[i] = fixture->buffers.tensors[i];
        if (call[i].role != KG_OUTPUT)
            continue;
        call[i].dtype = KG_F32;
        call[i].unit = 0;
        outputs[n_outputs] = call[i];
        if (fixture->expected.count)
            call[i] = fixture->expected.tensors[n_outputs];
        n_outputs++;
    }
    return n_outputs;
}

/* Runs by one of the op's functions; on its own stream. */
static int finish(const struct kg_fixture *fixture, int status, const struct kg_buffers *written, kg_error *ret_error)
{
    if (!status)
        status = fixture->context->ops->synchronize(fixture->context, ret_error);
    return status ? status : kg_buffers_check_guards(written, ret_error);
}

static int compute_expected(struct kg_fixture *fixture, kg_error *ret_error)
{
    const kg_op *op = fixture->of.suite->op;
    const kg_device *device = &fixture->context->device;
    kg_tensor outputs[KG_MAX_TENSORS], call[2 * KG_MAX_TENSORS];
    const int n_outputs = call_tensors(fixture, call, outputs);
    if (device->kind == KG_CUDA && !op->reference_cuda)
        return kg_fail(ret_error, KG_EUNSUPPORTED, "op %s has no reference for CUDA", op->name);
    int status = kg_buffers_new(fixture->context, outputs, n_outputs, KG_GUARDS_NAN, &fixture->expected, ret_error);
    if (!status)
        status = kg_buffers_poison(&fixture->expected, ret_error);
    if (status)
        return status;
    (void)call_tensors(fixture, call, outputs);
    if (device->kind == KG_CPU)
        status = op->reference_cpu(fixture->of.problem, call, ret_error);
    else
        status = op->reference_cuda(fixture->of.problem, device, call, fixture->context->ops->stream(fixture->context),
                                    ret_error);
    return finish(fixture, status, &fixture->expected, ret_error);
}

static int compute_scale(struct kg_fixture *fixture, kg_error *ret_error)
{
    const kg_op *op = fixture->of.suite->op;
    const kg_device *device = &fixture->context->device;
    kg_tensor outputs[KG_MAX_TENSORS], call[2 * KG_MAX_TENSORS];
    const int n_outputs = call_tensors(fixture, call, outputs);
    int status = kg_buffers_new(fixture->context, outputs, n_outputs, KG_GUARDS_NAN, &fixture->scale, ret_error);
    if (!status)
        status = kg_buffers_poison(&fixture->scale, ret_error);
    if (status)
        return status;
    for (int i = 0; i < n_outputs; i++)
        call[fixture->buffers.count + i] = fixture->scale.tensors[i];
    if (device->kind == KG_CPU)
        status = op->error_scale_cpu(fixture->of.problem, fixture->arithmetic, call, ret_error);
    else
        status = op->error_scale_cuda(fixture->of.problem, fixture->arithmetic, device, call,
                                      fixture->context->ops->stream(fixture->context), ret_error);
    return finish(fixture, status, &fixture->scale, ret_error);
}

/* Limits without an error scale grow with the outputs of a regime. */
static int find_largest(struct kg_fixture *fixture, kg_error *ret_error)
{
    const struct kg_buffers *expected = &fixture->expected;
    int status = KG_OK;
    for (int i = 0; i < expected->count && !status; i++) {
        struct kg_comparison own = { 0 };
        status = fixture->context->ops->compare(fixture->context, &expected->tensors[i], &expected->tensors[i], NULL,
                                                &fixture->of.suite->gates, &own, ret_error);
        fixture->largest = fmax(fixture->largest, own.largest);
    }
    return status;
}

void kg_fixture_set_arithmetic(struct kg_fixture *fixture, const void *arithmetic)
{
    if (fixture->arithmetic != arithmetic) {
        kg_buffers_done(&fixture->scale);
        fixture->strength.judged = false;
    }
    fixture->arithmetic = arithmetic;
}

int kg_fixture_reference(struct kg_fixture *fixture, kg_error *ret_error)
{
    const bool scaled = kg_case_has_scale(&fixture->of), first = !fixture->expected.count;
    int status = check_problem(fixture, ret_error);
    if (!status && first)
        status = compute_expected(fixture, ret_error);
    if (!status && scaled && !fixture->scale.count)
        status = compute_scale(fixture, ret_error);
    if (!status && first && fixture->of.regime && !scaled)
        status = find_largest(fixture, ret_error);
    if (!status && first)
        status = kg_known_check_reference(fixture, ret_error);
    if (status) {
        kg_buffers_done(&fixture->expected);
        kg_buffers_done(&fixture->scale);
    }
    return status;
}

/* Weighted by the number of elements; the worst element is the worst of all, indices counted through the outputs. */
void kg_comparison_merge(struct kg_comparison *all, const struct kg_comparison *one)
{
    double n = (double)all->count, m = (double)one->count, total = n + m;
    bool worse =
        all->count == 0 || (one->nonfinite && !all->nonfinite) || (!all->nonfinite && one->max_abs > all->max_abs);
    if (worse) {
        all->worst_index = all->count + one->worst_index;
        all->worst_got = one->worst_got;
        all->worst_expected = one->worst_expected;
    }
    all->mean_abs = (all->mean_abs * n + one->mean_abs * m) / total;
    all->bias = (all->bias * n + one->bias * m) / total;
    all->max_abs = fmax(all->max_abs, one->max_abs);
    all->max_rel = fmax(all->max_rel, one->max_rel);
    all->rel_l2 = fmax(all->rel_l2, one->rel_l2);
    all->max_scaled = fmax(all->max_scaled, one->max_scaled);
    all->scale_l2 = fmax(all->scale_l2, one->scale_l2);
    all->slope_scale = fmax(all->slope_scale, one->slope_scale);
    all->largest = fmax(all->largest, one->largest);
    all->expected_rms = sqrt((pow(all->expected_rms, 2) * n + pow(one->expected_rms, 2) * m) / total);
    if (all->count == 0 || !(fabs(one->slope - 1) <= fabs(all->slope - 1)))
        all->slope = one->slope;
    all->count += one->count;
    all->nonfinite += one->nonfinite;
    all->unwritten += one->unwritten;
    all->bad += one->bad;
    all->bad_pct = 100.0 * (double)all->bad / total;
}

int kg_fixture_compare(struct kg_fixture *fixture, const struct kg_buffers *got, struct kg_comparison *ret_comparison,
                       kg_error *ret_error)
{
    struct kg_comparison all = { 0 };
    int status = kg_fixture_reference(fixture, ret_error);
    const kg_gates gates = kg_case_gates(&fixture->of, fixture->largest);
    for (int i = 0, o = 0; i < got->count && !status; i++) {
        struct kg_comparison one = { 0 };
        if (got->tensors[i].role != KG_OUTPUT)
            continue;
        const kg_tensor *scale = fixture->scale.count ? &fixture->scale.tensors[o] : NULL;
        status = fixture->context->ops->compare(fixture->context, &got->tensors[i], &fixture->expected.tensors[o++],
                                                scale, &gates, &one, ret_error);
        kg_comparison_merge(&all, &one);
    }
    if (!status)
        *ret_comparison = all;
    return status;
}

bool kg_fixture_accepts(const struct kg_fixture *fixture, const struct kg_comparison *comparison)
{
    const kg_gates gates = kg_case_gates(&fixture->of, comparison->largest);
    return kg_gate_marks_all(kg_comparison_mark(comparison, &gates));
}

#define NEAR 4
#define NEAR_PCT 0.1 /* of bad elements more, for gates that allow none */

bool kg_fixture_nearly_accepts(const struct kg_fixture *fixture, const struct kg_comparison *comparison)
{
    kg_gates gates = kg_case_gates(&fixture->of, comparison->largest);
    gates.max_abs *= NEAR;
    gates.mean_abs *= NEAR;
    gates.bad_pct = gates.bad_pct * NEAR + NEAR_PCT;
    gates.rel_l2 *= NEAR;
    gates.scaled *= NEAR;
    gates.slope *= NEAR;
    return kg_gate_marks_all(kg_comparison_mark(comparison, &gates));
}
