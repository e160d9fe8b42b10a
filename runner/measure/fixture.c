/* fixture.c -- inputs from the counter-based generator, reference by the op. */
#include "measure/fixture.h"

#include <math.h>

#include "plan/problem.h"

static int describe(const struct kg_case *of, kg_tensor tensors[KG_MAX_TENSORS], int *ret_count, kg_error *ret_error)
{
    const kg_op *op = of->suite->op;
    if (kg_problem_tensors(op, of->problem, tensors, ret_count))
        return kg_fail(ret_error, KG_EINVAL, "op %s cannot describe its tensors", op->name);
    for (int i = 0; i < *ret_count; i++)
        if (tensors[i].dtype < KG_F32 || tensors[i].dtype > (tensors[i].role == KG_OUTPUT ? KG_E4M3 : KG_BF16))
            return kg_fail(ret_error, KG_EINVAL, "op %s: tensor %s must be f32, f16 or bf16; an output also e4m3",
                           op->name, tensors[i].name);
    return KG_OK;
}

int kg_fixture_new(kg_context *context, const struct kg_case *of, struct kg_fixture *ret_fixture, kg_error *ret_error)
{
    kg_tensor tensors[KG_MAX_TENSORS] = { 0 };
    int count = 0;
    int status = describe(of, tensors, &count, ret_error);
    if (status)
        return status;
    struct kg_fixture f = { .context = context, .of = *of };
    status = kg_buffers_new(context, tensors, count, &f.buffers, ret_error);
    for (int i = 0; i < count && !status; i++)
        if (tensors[i].role == KG_INPUT)
            status = context->ops->fill(context, &f.buffers.tensors[i], of->seed, (uint32_t)i, ret_error);
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
    *fixture = (struct kg_fixture){ 0 };
}

bool kg_fixture_serves(const struct kg_fixture *fixture, const struct kg_case *of)
{
    return fixture->context && fixture->of.suite == of->suite && fixture->of.seed == of->seed &&
           fixture->of.problem == of->problem;
}

static bool same_tensor(const kg_tensor *a, const kg_tensor *b)
{
    bool same = a->role == b->role && a->dtype == b->dtype && a->rank == b->rank;
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

int kg_fixture_reference(struct kg_fixture *fixture, kg_error *ret_error)
{
    if (fixture->expected.count)
        return KG_OK;
    const kg_op *op = fixture->of.suite->op;
    const kg_device *device = &fixture->context->device;
    kg_tensor outputs[KG_MAX_TENSORS], call[KG_MAX_TENSORS];
    int n_outputs = 0;
    for (int i = 0; i < fixture->buffers.count; i++) {
        call[i] = fixture->buffers.tensors[i];
        if (call[i].role == KG_OUTPUT) {
            outputs[n_outputs] = call[i];
            outputs[n_outputs++].dtype = KG_F32;
        }
    }
    struct kg_buffers expected = { 0 };
    int status = kg_buffers_new(fixture->context, outputs, n_outputs, &expected, ret_error);
    if (status)
        return status;
    for (int i = 0, o = 0; i < fixture->buffers.count; i++)
        if (call[i].role == KG_OUTPUT)
            call[i] = expected.tensors[o++];
    status = kg_buffers_poison(&expected, ret_error);
    if (!status && device->kind == KG_CPU)
        status = op->reference_cpu(fixture->of.problem, call, ret_error);
    else if (!status && !op->reference_cuda)
        status = kg_fail(ret_error, KG_EUNSUPPORTED, "op %s has no reference for CUDA", op->name);
    else if (!status)
        status = op->reference_cuda(fixture->of.problem, device, call, fixture->context->ops->stream(fixture->context),
                                    ret_error);
    if (!status)
        status = fixture->context->ops->synchronize(fixture->context, ret_error);
    if (!status)
        status = kg_buffers_check_guards(&expected, ret_error);
    if (status)
        kg_buffers_done(&expected);
    else
        fixture->expected = expected;
    return status;
}

/* Weighted by the number of elements; the worst element is the worst of all, indices counted through the outputs. */
static void merge(struct kg_comparison *all, const struct kg_comparison *one)
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
    for (int i = 0, o = 0; i < got->count && !status; i++) {
        struct kg_comparison one = { 0 };
        if (got->tensors[i].role != KG_OUTPUT)
            continue;
        status = fixture->context->ops->compare(fixture->context, &got->tensors[i], &fixture->expected.tensors[o++],
                                                &fixture->of.suite->gates, &one, ret_error);
        merge(&all, &one);
    }
    if (!status)
        *ret_comparison = all;
    return status;
}
