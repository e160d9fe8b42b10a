/* renewed.c -- a second call on other inputs, with the state of the first; and such a call before it. */
#include "measure/renewed.h"

static int launch(struct kg_prepared *prepared, kg_context *context, kg_error *ret_error)
{
    int status = kg_prepared_launch(prepared, 0, context->ops->stream(context), ret_error);
    return status ? status : context->ops->synchronize(context, ret_error);
}

/* The set's inputs, for which a regime's take long to be drawn again. */
static int put_aside(const struct kg_buffers *set, struct kg_buffers *ret_aside, kg_error *ret_error)
{
    int status = kg_buffers_new(set->context, set->tensors, set->count, set->guards, ret_aside, ret_error);
    if (status)
        return status;
    status = kg_buffers_copy_inputs(ret_aside, set, ret_error);
    if (status)
        kg_buffers_done(ret_aside);
    return status;
}

/* Who refuses leaves the set to the other build. */
static int put_back(int status, const struct kg_buffers *set, struct kg_buffers *aside, kg_error *ret_error)
{
    kg_error unsaid = { 0 };
    const int back = kg_buffers_copy_inputs(set, aside, status ? &unsaid : ret_error);
    kg_buffers_done(aside);
    return status ? status : back;
}

/* Outputs are left: a call that writes nothing leaves what is wrong now. */
static int check_on(struct kg_prepared *prepared, const struct kg_buffers *set, struct kg_fixture *other,
                    kg_error *ret_error)
{
    struct kg_comparison comparison;
    int status = kg_prepared_exchange_inputs(prepared, 0, 1, other, ret_error);
    if (!status)
        status = launch(prepared, set->context, ret_error);
    if (!status)
        status = kg_fixture_compare(other, set, &comparison, ret_error);
    if (status || kg_fixture_accepts(other, &comparison))
        return status;
    return kg_fail(ret_error, KG_EDEVICE,
                   "called once more, on other inputs, it gave a wrong output: max %.4g mean %.4g bad %.2f%%, "
                   "%.3g times the error scale",
                   comparison.max_abs, comparison.mean_abs, comparison.bad_pct, comparison.max_scaled);
}

int kg_renewed_check(struct kg_prepared *prepared, const struct kg_fixture *fixture, struct kg_fixture *other,
                     kg_error *ret_error)
{
    struct kg_buffers aside;
    int status = put_aside(&fixture->buffers, &aside, ret_error);
    return status ? status
                  : put_back(check_on(prepared, &fixture->buffers, other, ret_error), &fixture->buffers, &aside,
                             ret_error);
}

static int launch_before(struct kg_prepared *prepared, const struct kg_buffers *set, const struct kg_fixture *other,
                         kg_error *ret_error)
{
    int status =
        other ? kg_buffers_copy_inputs(set, &other->buffers, ret_error) : kg_buffers_poison_stripes(set, ret_error);
    if (!status)
        status = kg_prepared_restage(prepared, 0, set->context, ret_error);
    return status ? status : launch(prepared, set->context, ret_error);
}

int kg_renewed_before(struct kg_prepared *prepared, const struct kg_fixture *fixture, const struct kg_fixture *other,
                      kg_error *ret_error)
{
    const struct kg_buffers *set = &fixture->buffers;
    struct kg_buffers aside;
    int status = put_aside(set, &aside, ret_error);
    if (status)
        return status;
    status = put_back(launch_before(prepared, set, other, ret_error), set, &aside, ret_error);
    if (!status)
        status = kg_prepared_renew_workspace(prepared, 0, set->context, ret_error);
    return status ? status : kg_prepared_restage(prepared, 0, set->context, ret_error);
}
