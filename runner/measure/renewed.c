/* renewed.c -- a second call on other inputs, with the state of the first. */
#include "measure/renewed.h"

#include "measure/inputs.h"

/* Outputs are left: a call that writes nothing leaves what is wrong now. */
static int launch_on(struct kg_prepared *prepared, const struct kg_fixture *other, kg_error *ret_error)
{
    kg_context *context = other->context;
    int status = kg_prepared_exchange_inputs(prepared, 0, 1, other, ret_error);
    if (!status)
        status = kg_prepared_launch(prepared, 0, context->ops->stream(context), ret_error);
    return status ? status : context->ops->synchronize(context, ret_error);
}

int kg_renewed_check(struct kg_prepared *prepared, struct kg_fixture *fixture, struct kg_fixture *other,
                     kg_error *ret_error)
{
    struct kg_comparison comparison;
    int status = launch_on(prepared, other, ret_error);
    if (!status)
        status = kg_fixture_compare(other, &fixture->buffers, &comparison, ret_error);
    if (!status && !kg_fixture_accepts(other, &comparison))
        status = kg_fail(ret_error, KG_EDEVICE, "called once more, on other inputs, it gave a wrong output");
    return status ? status : kg_inputs_fill(&fixture->buffers, fixture->of.seed, ret_error);
}
