/* prepared.c -- prepare, launch and release of one backend on one fixture. */
#include "measure/prepared.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "measure/order.h"

int kg_prepared_call(const struct kg_prepared *prepared, int at, kg_tensor room[KG_MAX_TENSORS + 1],
                     const kg_tensor **ret_tensors)
{
    const struct kg_buffers *set = &prepared->ring[at];
    *ret_tensors = prepared->workspaces ? room : set->tensors;
    if (!prepared->workspaces)
        return set->count;
    memcpy(room, set->tensors, (size_t)set->count * sizeof *room);
    room[set->count] = prepared->workspaces[at].tensors[0];
    return set->count + 1;
}

static const kg_tensor *call_tensors(const struct kg_prepared *s, int at, kg_tensor room[KG_MAX_TENSORS + 1])
{
    const kg_tensor *tensors;
    (void)kg_prepared_call(s, at, room, &tensors);
    return tensors;
}

int kg_prepared_launch(void *prepared, int index, void *stream, kg_error *ret_error)
{
    struct kg_prepared *s = prepared;
    kg_tensor room[KG_MAX_TENSORS + 1];
    (void)index;
    const int at = (int)(s->set % (unsigned)s->n_ring);
    s->n_used = at < s->n_used ? s->n_used : at + 1;
    s->set += s->rotates;
    int status = s->backend->launch(kg_backend_own(s->backend), s->state, call_tensors(s, at, room), stream, ret_error);
    s->failed = s->failed || status;
    return status;
}

int kg_prepared_check_workspace(const struct kg_prepared *prepared, int at, kg_error *ret_error)
{
    uint64_t digest = 0;
    int status = prepared->workspaces ? kg_buffers_check_guards(&prepared->workspaces[at], ret_error) : KG_OK;
    if (status || !prepared->backend->stage)
        return status;
    status = kg_buffers_digest(&prepared->workspaces[at], KG_WORKSPACE, &digest, ret_error);
    if (!status && digest != prepared->staged_digest)
        status = kg_fail(ret_error, KG_EDEVICE, "the workspace does not hold what was staged");
    return status;
}

int kg_prepared_check_surroundings(const struct kg_prepared *prepared, const struct kg_fixture *fixture, int at,
                                   const char *spoilt, kg_error *ret_error)
{
    uint64_t inputs = 0;
    int status = kg_buffers_check_guards(&prepared->ring[at], ret_error);
    if (!status)
        status = kg_prepared_check_workspace(prepared, at, ret_error);
    if (!status)
        status = kg_buffers_digest(&prepared->ring[at], KG_INPUT, &inputs, ret_error);
    if (!status && inputs != fixture->input_digest)
        status = kg_fail(ret_error, KG_EDEVICE, "%s", spoilt);
    return status;
}

int kg_prepared_stage(struct kg_prepared *prepared, int at, void *stream, kg_error *ret_error)
{
    struct kg_prepared *s = prepared;
    kg_tensor room[KG_MAX_TENSORS + 1];
    if (!s->backend->stage)
        return KG_OK;
    int status = s->backend->stage(kg_backend_own(s->backend), s->state, call_tensors(s, at, room), stream, ret_error);
    s->failed = s->failed || status;
    return status;
}

int kg_prepared_renew_workspace(struct kg_prepared *prepared, int at, kg_context *context, kg_error *ret_error)
{
    int status = prepared->workspaces ? kg_buffers_poison(&prepared->workspaces[at], ret_error) : KG_OK;
    return status ? status : kg_prepared_stage(prepared, at, context->ops->stream(context), ret_error);
}

/* `first`: its digest is what the others are held to. */
static int stage(struct kg_prepared *s, kg_context *context, int at, bool first, kg_error *ret_error)
{
    if (!s->backend->stage)
        return KG_OK;
    int status = kg_prepared_stage(s, at, context->ops->stream(context), ret_error);
    if (!status)
        status = context->ops->synchronize(context, ret_error);
    if (!status && first)
        status = kg_buffers_digest(&s->workspaces[at], KG_WORKSPACE, &s->staged_digest, ret_error);
    if (!status)
        status = kg_prepared_check_workspace(s, at, ret_error);
    s->failed = s->failed || status;
    return status;
}

static void drop_workspaces(struct kg_prepared *prepared, int count)
{
    for (int i = 0; prepared->workspaces && !prepared->borrows && i < count; i++)
        kg_buffers_done(&prepared->workspaces[i]);
    if (!prepared->borrows)
        free(prepared->workspaces);
    prepared->workspaces = NULL;
}

static int new_workspaces(struct kg_prepared *prepared, size_t count, kg_error *ret_error)
{
    if (!prepared->workspace_bytes)
        return KG_OK;
    prepared->workspaces = calloc(count, sizeof *prepared->workspaces);
    return prepared->workspaces ? KG_OK : kg_fail(ret_error, KG_ENOMEM, "out of memory for %zu workspaces", count);
}

static int fill_workspace(struct kg_prepared *prepared, kg_context *context, size_t at, kg_error *ret_error)
{
    if (!prepared->workspaces)
        return KG_OK;
    const kg_tensor tensor = { .name = "the workspace",
                               .dtype = KG_F32,
                               .role = KG_WORKSPACE,
                               .rank = 1,
                               .dims = { (int64_t)((prepared->workspace_bytes + 3) / 4) } };
    int status = kg_buffers_new(context, &tensor, 1, prepared->ring->guards, &prepared->workspaces[at], ret_error);
    return status ? status : kg_buffers_poison(&prepared->workspaces[at], ret_error);
}

/* Without prepare the state is the call itself, which must stay where it is. */
static int prepare(struct kg_host_state *host, struct kg_prepared *s, kg_error *ret_error)
{
    const kg_backend *backend = s->backend;
    int status = kg_host_open_backend(host, backend, s->call.device, &s->call.library, ret_error);
    s->state = &s->call;
    if (status || !backend->prepare)
        return status;
    s->state = NULL;
    const double began_s = kg_now_s();
    status = backend->prepare(kg_backend_own(backend), &s->call, &s->state, &s->identity, ret_error);
    s->prepare_ms = 1e3 * (kg_now_s() - began_s);
    return status;
}

static int open_one(struct kg_host_state *host, kg_context *context, const kg_backend *backend, const kg_call *call,
                    struct kg_prepared *ret_prepared, kg_error *ret_error)
{
    struct kg_prepared *s = ret_prepared;
    *s = (struct kg_prepared){ .backend = backend, .context = context, .call = *call };
    int status = KG_OK;
    if (backend->supports)
        status = backend->supports(kg_backend_own(backend), &context->device, call->problem, ret_error);
    if (!status)
        status = kg_host_knobs(host, backend, &s->knobs, ret_error);
    s->call.host = &host->host;
    s->call.device = &context->device;
    s->call.knobs = s->knobs;
    s->call.stream = context->ops->stream(context);
    if (!status)
        status = prepare(host, s, ret_error);
    if (!status && backend->workspace)
        s->workspace_bytes = backend->workspace(kg_backend_own(backend), s->state);
    if (status) {
        free(s->knobs);
        *s = (struct kg_prepared){ 0 };
    }
    return status;
}

/* Of several candidates the first that prepares; what the others said is kept for the reason. */
int kg_prepared_open(struct kg_host_state *host, kg_context *context, const kg_backend *backend, const kg_call *call,
                     struct kg_prepared *ret_prepared, kg_error *ret_error)
{
    char reasons[400] = "";
    if (!backend->candidates)
        return open_one(host, context, backend, call, ret_prepared, ret_error);
    for (const kg_backend *const *c = backend->candidates; *c; c++) {
        kg_error cause = { 0 };
        int status = open_one(host, context, *c, call, ret_prepared, &cause);
        if (status && status != KG_EUNSUPPORTED)
            *ret_error = cause;
        if (status != KG_EUNSUPPORTED)
            return status;
        kg_text_join(reasons, sizeof reasons, "; ", "%s: %.120s", (*c)->name, cause.text);
    }
    return kg_fail(ret_error, KG_EUNSUPPORTED, "no candidate runs here: %s", reasons);
}

int kg_prepared_new(struct kg_host_state *host, struct kg_fixture *fixture, const kg_backend *backend,
                    const void *problem, const char *pin, struct kg_prepared *ret_prepared, kg_error *ret_error)
{
    struct kg_prepared *s = ret_prepared;
    const kg_call call = { .problem = problem,
                           .tensors = fixture->buffers.tensors,
                           .n_tensors = fixture->buffers.count,
                           .pin = pin && *pin ? pin : NULL };
    int status = kg_prepared_open(host, fixture->context, backend, &call, s, ret_error);
    if (status)
        return status;
    s->fixture = fixture;
    s->ring = &fixture->buffers;
    s->n_ring = 1;
    if (s->backend->workspace)
        status = new_workspaces(s, 1, ret_error);
    if (!status)
        status = fill_workspace(s, fixture->context, 0, ret_error);
    if (!status)
        status = stage(s, fixture->context, 0, true, ret_error);
    if (status)
        kg_prepared_done(s);
    return status;
}

static void drop_ring(struct kg_prepared *prepared)
{
    drop_workspaces(prepared, prepared->n_ring);
    for (int i = 0; prepared->own_ring && i < prepared->n_ring; i++)
        kg_buffers_done(&prepared->own_ring[i]);
    free(prepared->own_ring);
    prepared->own_ring = NULL;
}

void kg_prepared_done(struct kg_prepared *prepared)
{
    if (!prepared->backend)
        return;
    if (prepared->backend->release && prepared->backend->prepare)
        prepared->backend->release(kg_backend_own(prepared->backend), prepared->state);
    drop_ring(prepared);
    free(prepared->knobs);
    *prepared = (struct kg_prepared){ 0 };
}

/* Cold, as many as one of them needs; else as many as each has room for, but no more than an eighth of the memory. */
static size_t ring_sets(struct kg_prepared *const *prepared, int count, const struct kg_ring_plan *plan)
{
    size_t most = plan->cold ? 1 : (size_t)plan->sets;
    for (int i = 0; i < count; i++) {
        if (!prepared[i])
            continue;
        const kg_device *device = &prepared[i]->fixture->context->device;
        const size_t set_bytes = kg_buffers_bytes(&prepared[i]->fixture->buffers);
        const size_t cold = (size_t)(2 * device->l2_bytes / set_bytes) + 2;
        const size_t room = device->memory_bytes / 8 / (set_bytes + prepared[i]->workspace_bytes);
        if (plan->cold ? cold > most : room < most)
            most = plan->cold ? cold : room;
    }
    return most > 1 ? most : 1;
}

static int new_ring(struct kg_prepared *prepared, struct kg_prepared *owner, size_t sets, bool cold,
                    kg_error *ret_error)
{
    drop_workspaces(prepared, prepared->n_ring);
    prepared->borrows = owner && owner->workspace_bytes == prepared->workspace_bytes && !owner->backend->stage &&
                        !prepared->backend->stage;
    prepared->own_ring = owner ? NULL : calloc(sets, sizeof *prepared->own_ring);
    prepared->ring = owner ? owner->ring : prepared->own_ring;
    if (!prepared->ring)
        return kg_fail(ret_error, KG_ENOMEM, "out of memory for a ring of %zu buffer sets", sets);
    prepared->n_ring = (int)sets;
    prepared->rotates = cold;
    prepared->set = 0;
    prepared->n_used = 0;
    if (!prepared->borrows)
        return new_workspaces(prepared, sets, ret_error);
    prepared->workspaces = owner->workspaces;
    return KG_OK;
}

static int fill_set(struct kg_prepared *prepared, size_t at, kg_error *ret_error)
{
    const struct kg_fixture *fixture = prepared->fixture;
    int status = KG_OK;
    if (prepared->own_ring) {
        struct kg_buffers *set = &prepared->own_ring[at];
        status = kg_buffers_new(fixture->context, fixture->buffers.tensors, fixture->buffers.count,
                                fixture->buffers.guards, set, ret_error);
        if (!status)
            status = kg_buffers_copy_inputs(set, &fixture->buffers, ret_error);
        if (!status)
            status = kg_buffers_poison(set, ret_error);
    }
    return status || prepared->borrows ? status : fill_workspace(prepared, fixture->context, at, ret_error);
}

/* Staged when all have their buffers, which one may share. */
static int fill_sets(struct kg_prepared *const *prepared, int n, size_t at, uint8_t order, kg_error *ret_error)
{
    int status = KG_OK;
    for (int i = 0; i < n && !status; i++)
        status = fill_set(prepared[kg_order_arm(n, order, i)], at, ret_error);
    for (int i = 0; i < n && !status; i++)
        status = stage(prepared[i], prepared[i]->fixture->context, (int)at, false, ret_error);
    return status;
}

int kg_prepared_make_rings(struct kg_prepared *const *prepared, int count, const struct kg_ring_plan *plan,
                           kg_error *ret_error)
{
    struct kg_prepared *there[KG_ORDER_ARMS];
    const size_t sets = ring_sets(prepared, count, plan);
    uint8_t *orders = malloc(sets);
    int n = 0, status = orders ? KG_OK : kg_fail(ret_error, KG_ENOMEM, "out of memory for buffer sets");
    for (int i = 0; i < count && !status; i++) {
        if (!prepared[i])
            continue;
        struct kg_prepared *owner = n > 0 && plan->shared >> i & 1 ? there[0] : NULL;
        there[n++] = prepared[i];
        status = new_ring(prepared[i], owner, sets, plan->cold, ret_error);
    }
    if (!status)
        kg_order_balanced(plan->seed, n, orders, (int)sets);
    for (size_t set = 0; set < sets && !status; set++)
        status = fill_sets(there, n, set, orders[set], ret_error);
    free(orders);
    return status;
}

int kg_prepared_restage(struct kg_prepared *prepared, int at, kg_context *context, kg_error *ret_error)
{
    return stage(prepared, context, at, true, ret_error);
}

int kg_prepared_exchange_inputs(struct kg_prepared *prepared, int first, int count, const struct kg_fixture *other,
                                kg_error *ret_error)
{
    int status = KG_OK;
    for (int at = first; at < first + count && !status; at++) {
        status = kg_buffers_copy_inputs(&prepared->ring[at], &other->buffers, ret_error);
        if (!status)
            status = stage(prepared, other->context, at, at == first, ret_error);
    }
    return status ? status : other->context->ops->synchronize(other->context, ret_error);
}
