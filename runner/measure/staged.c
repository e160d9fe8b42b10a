/* staged.c -- holds what a backend stages to one input a byte. */
#include "measure/staged.h"

#include <stdlib.h>
#include <string.h>

struct staging {
    struct kg_prepared *prepared;
    struct kg_fixture *fixture;
    struct kg_buffers inputs, workspace;
    size_t bytes;
    uint8_t *whole, *part;
    bool *owned; /* byte by byte: an input by itself makes it */
};

static bool is_drawn(const kg_tensor *tensor)
{
    return tensor->role == KG_INPUT && !tensor->given;
}

static int count_drawn(const struct kg_buffers *set)
{
    int n = 0;
    for (int i = 0; i < set->count; i++)
        n += is_drawn(&set->tensors[i]);
    return n;
}

static int open_staging(struct staging *s, kg_error *ret_error)
{
    const struct kg_buffers *own = s->prepared->workspaces, *set = &s->fixture->buffers;
    s->bytes = kg_buffers_bytes(own);
    s->whole = malloc(s->bytes);
    s->part = malloc(s->bytes);
    s->owned = calloc(s->bytes, sizeof *s->owned);
    if (!s->whole || !s->part || !s->owned)
        return kg_fail(ret_error, KG_ENOMEM, "out of memory for what is staged");
    int status = kg_buffers_new(set->context, set->tensors, set->count, set->guards, &s->inputs, ret_error);
    return status ? status
                  : kg_buffers_new(own->context, own->tensors, own->count, own->guards, &s->workspace, ret_error);
}

static void close_staging(struct staging *s)
{
    kg_buffers_done(&s->inputs);
    kg_buffers_done(&s->workspace);
    free(s->whole);
    free(s->part);
    free(s->owned);
}

/* `alone`: the one input that is there; -1: all are. */
static int stage(struct staging *s, int alone, uint8_t *ret_staged, kg_error *ret_error)
{
    const kg_backend *backend = s->prepared->backend;
    kg_context *context = s->inputs.context;
    kg_tensor call[KG_MAX_TENSORS + 1];
    int status = kg_buffers_copy_inputs(&s->inputs, &s->fixture->buffers, ret_error);
    for (int i = 0; i < s->inputs.count && !status && alone >= 0; i++)
        if (i != alone && is_drawn(&s->inputs.tensors[i]))
            status = context->ops->paint(context, s->inputs.tensors[i].data, kg_tensor_bytes(&s->inputs.tensors[i]),
                                         KG_POISON, ret_error);
    if (!status)
        status = kg_buffers_poison(&s->workspace, ret_error);
    memcpy(call, s->inputs.tensors, (size_t)s->inputs.count * sizeof *call);
    call[s->inputs.count] = s->workspace.tensors[0];
    if (!status)
        status =
            backend->stage(kg_backend_own(backend), s->prepared->state, call, context->ops->stream(context), ret_error);
    if (!status)
        status = context->ops->synchronize(context, ret_error);
    return status ? status
                  : context->ops->copy_to_host(context, ret_staged, s->workspace.tensors[0].data, s->bytes, ret_error);
}

static int check(struct staging *s, kg_error *ret_error)
{
    size_t left = 0;
    int status = stage(s, -1, s->whole, ret_error);
    for (int t = 0; t < s->inputs.count && !status; t++) {
        if (!is_drawn(&s->inputs.tensors[t]))
            continue;
        status = stage(s, t, s->part, ret_error);
        for (size_t i = 0; i < s->bytes; i++)
            s->owned[i] |= s->part[i] == s->whole[i];
    }
    for (size_t i = 0; i < s->bytes; i++)
        left += !s->owned[i];
    if (!status && left)
        status = kg_fail(ret_error, KG_EDEVICE,
                         "stage makes %zu of %zu bytes of several inputs, which is launch's work", left, s->bytes);
    return status;
}

/* One launch on what was staged, brought to a workspace that was last staged of other inputs. */
static int launch_elsewhere(struct staging *s, kg_error *ret_error)
{
    struct kg_prepared *prepared = s->prepared;
    const struct kg_buffers own = prepared->workspaces[0];
    kg_context *context = s->fixture->context;
    int status = context->ops->copy_from_host(context, s->workspace.tensors[0].data, s->whole, s->bytes, ret_error);
    if (!status)
        status = kg_buffers_poison(&s->fixture->buffers, ret_error);
    prepared->workspaces[0] = s->workspace;
    if (!status)
        status = kg_prepared_launch(prepared, 0, context->ops->stream(context), ret_error);
    if (!status)
        status = context->ops->synchronize(context, ret_error);
    prepared->workspaces[0] = own;
    return status;
}

/* A stage that keeps an answer in memory of its own gives that of the inputs that it had last, or had there. */
static int check_elsewhere(struct staging *s, kg_error *ret_error)
{
    struct kg_comparison comparison;
    int status = launch_elsewhere(s, ret_error);
    if (!status)
        status = kg_fixture_compare(s->fixture, &s->fixture->buffers, &comparison, ret_error);
    if (!status && !kg_fixture_accepts(s->fixture, &comparison))
        status = kg_fail(ret_error, KG_EDEVICE,
                         "on what was staged, at another address, it gave a wrong output: max |err| %.3g",
                         comparison.max_abs);
    return status;
}

int kg_staged_check(struct kg_prepared *prepared, struct kg_fixture *fixture, kg_error *ret_error)
{
    struct staging s = { .prepared = prepared, .fixture = fixture };
    kg_context *context = fixture->context;
    if (!prepared->backend->stage || !prepared->workspaces)
        return KG_OK;
    if (count_drawn(&fixture->buffers) < 2)
        return kg_fail(ret_error, KG_EDEVICE, "stage of an op with one drawn input could do all of launch's work");
    int status = open_staging(&s, ret_error);
    if (!status)
        status = check(&s, ret_error);
    if (!status)
        status = check_elsewhere(&s, ret_error);
    close_staging(&s);
    if (!status)
        status = kg_prepared_renew_workspace(prepared, 0, context, ret_error);
    if (!status)
        status = context->ops->synchronize(context, ret_error);
    return status ? status : kg_prepared_check_workspace(prepared, 0, ret_error);
}
