/* renewed.c -- a second call on other inputs, with the state of the first; and such a call before it. */
#include "measure/renewed.h"

#include "measure/inputs.h"

static int launch(struct kg_prepared *prepared, kg_context *context, kg_error *ret_error)
{
    int status = kg_prepared_launch(prepared, 0, context->ops->stream(context), ret_error);
    return status ? status : context->ops->synchronize(context, ret_error);
}

/* Outputs are left: a call that writes nothing leaves what is wrong now. */
static int launch_on(struct kg_prepared *prepared, const struct kg_fixture *other, kg_error *ret_error)
{
    int status = kg_prepared_exchange_inputs(prepared, 0, 1, other, ret_error);
    return status ? status : launch(prepared, other->context, ret_error);
}

int kg_renewed_check(struct kg_prepared *prepared, struct kg_fixture *fixture, struct kg_fixture *other,
                     kg_error *ret_error)
{
    struct kg_comparison comparison;
    int status = launch_on(prepared, other, ret_error);
    if (!status)
        status = kg_fixture_compare(other, &fixture->buffers, &comparison, ret_error);
    if (!status && !kg_fixture_accepts(other, &comparison))
        status = kg_fail(ret_error, KG_EDEVICE,
                         "called once more, on other inputs, it gave a wrong output: max %.4g mean %.4g bad %.2f%%, "
                         "%.3g times the error scale",
                         comparison.max_abs, comparison.mean_abs, comparison.bad_pct, comparison.max_scaled);
    return status ? status : kg_inputs_fill(&fixture->buffers, fixture->of.seed, ret_error);
}

/* The set's inputs, put aside meanwhile: a regime's are drawn slowly. */
static int launch_before(struct kg_prepared *prepared, const struct kg_fixture *fixture, const struct kg_fixture *other,
                         const struct kg_buffers *aside, kg_error *ret_error)
{
    const struct kg_buffers *set = &fixture->buffers;
    kg_context *context = set->context;
    int status = kg_buffers_copy_inputs(aside, set, ret_error);
    if (status)
        return status;
    status =
        other ? kg_buffers_copy_inputs(set, &other->buffers, ret_error) : kg_buffers_poison_stripes(set, ret_error);
    if (!status)
        status = kg_prepared_restage(prepared, 0, context, ret_error);
    if (!status)
        status = launch(prepared, context, ret_error);
    kg_error unsaid = { 0 }; /* who refuses leaves the set to the other build */
    const int back = kg_buffers_copy_inputs(set, aside, status ? &unsaid : ret_error);
    status = status ? status : back;
    if (!status)
        status = kg_prepared_renew_workspace(prepared, 0, context, ret_error);
    return status ? status : kg_prepared_restage(prepared, 0, context, ret_error);
}

int kg_renewed_before(struct kg_prepared *prepared, const struct kg_fixture *fixture, const struct kg_fixture *other,
                      kg_error *ret_error)
{
    const struct kg_buffers *own = &fixture->buffers;
    struct kg_buffers aside;
    int status = kg_buffers_new(own->context, own->tensors, own->count, own->guards, &aside, ret_error);
    if (status)
        return status;
    status = launch_before(prepared, fixture, other, &aside, ret_error);
    kg_buffers_done(&aside);
    return status;
}
