/* subject.c -- prepare, launch and release of one backend on one fixture. */
#include "measure/prepared.h"

#include <stdlib.h>
#include <string.h>

#include "measure/order.h"

/* Tensors of set `at`; with its workspace after them, in `room`. */
static const kg_tensor *call_tensors(const struct kg_subject *s, int at, kg_tensor room[KG_MAX_TENSORS + 1])
{
    const struct kg_buffers *set = &s->ring[at];
    if (!s->workspaces)
        return set->tensors;
    memcpy(room, set->tensors, (size_t)set->count * sizeof *room);
    room[set->count] = s->workspaces[at].tensors[0];
    return room;
}

int kg_subject_launch(void *subject, int index, void *stream, kg_error *ret_error)
{
    struct kg_subject *s = subject;
    kg_tensor room[KG_MAX_TENSORS + 1];
    (void)index;
    const int at = (int)(s->place % (unsigned)s->n_ring);
    s->n_used = at < s->n_used ? s->n_used : at + 1;
    s->place += s->rotates;
    int status = s->backend->launch(s->backend, s->state, call_tensors(s, at, room), stream, ret_error);
    s->failed = s->failed || status;
    return status;
}

int kg_subject_check_workspace(const struct kg_subject *subject, int at, kg_error *ret_error)
{
    uint64_t digest = 0;
    int status = subject->workspaces ? kg_buffers_check_guards(&subject->workspaces[at], ret_error) : KG_OK;
    if (status || !subject->backend->stage)
        return status;
    status = kg_buffers_digest(&subject->workspaces[at], KG_WORKSPACE, &digest, ret_error);
    if (!status && digest != subject->staged_digest)
        status = kg_fail(ret_error, KG_EDEVICE, "the workspace does not hold what was staged");
    return status;
}

/* `first`: its digest is what the others are held to. */
static int stage(struct kg_subject *s, kg_context *context, int at, bool first, kg_error *ret_error)
{
    kg_tensor room[KG_MAX_TENSORS + 1];
    if (!s->backend->stage)
        return KG_OK;
    void *stream = context->ops->stream(context);
    int status = s->backend->stage(s->backend, s->state, call_tensors(s, at, room), stream, ret_error);
    if (!status)
        status = context->ops->synchronize(context, ret_error);
    if (!status && first)
        status = kg_buffers_digest(&s->workspaces[at], KG_WORKSPACE, &s->staged_digest, ret_error);
    if (!status)
        status = kg_subject_check_workspace(s, at, ret_error);
    s->failed = s->failed || status;
    return status;
}

static void drop_workspaces(struct kg_subject *subject, int count)
{
    for (int i = 0; subject->workspaces && !subject->borrows && i < count; i++)
        kg_buffers_done(&subject->workspaces[i]);
    if (!subject->borrows)
        free(subject->workspaces);
    subject->workspaces = NULL;
}

static int new_workspaces(struct kg_subject *subject, size_t count, kg_error *ret_error)
{
    if (!subject->workspace_bytes)
        return KG_OK;
    subject->workspaces = calloc(count, sizeof *subject->workspaces);
    return subject->workspaces ? KG_OK : kg_fail(ret_error, KG_ENOMEM, "out of memory for %zu workspaces", count);
}

static int fill_workspace(struct kg_subject *subject, kg_context *context, size_t at, kg_error *ret_error)
{
    if (!subject->workspaces)
        return KG_OK;
    const kg_tensor tensor = { .name = "the workspace",
                               .dtype = KG_F32,
                               .role = KG_WORKSPACE,
                               .rank = 1,
                               .dims = { (int64_t)((subject->workspace_bytes + 3) / 4) } };
    int status = kg_buffers_new(context, &tensor, 1, &subject->workspaces[at], ret_error);
    return status ? status : kg_buffers_poison(&subject->workspaces[at], ret_error);
}

/* Without prepare the state is the call itself, which must stay where it is. */
static int prepare(struct kg_host_state *host, const kg_backend *backend, kg_call *call, void **ret_state,
                   kg_identity *ret_identity, kg_error *ret_error)
{
    int status = kg_host_open_backend(host, backend, call->device, &call->library, ret_error);
    if (status)
        return status;
    if (backend->prepare)
        return backend->prepare(backend, call, ret_state, ret_identity, ret_error);
    *ret_state = call;
    return KG_OK;
}

int kg_subject_new(struct kg_host_state *host, struct kg_fixture *fixture, const kg_backend *backend,
                   const void *problem, const char *pin, struct kg_subject *ret_subject, kg_error *ret_error)
{
    struct kg_subject *s = ret_subject;
    kg_context *context = fixture->context;
    *s = (struct kg_subject){ .backend = backend, .ring = &fixture->buffers, .n_ring = 1 };
    int status = KG_OK;
    if (backend->supports)
        status = backend->supports(backend, &context->device, problem, ret_error);
    if (!status)
        status = kg_host_knobs(host, backend, &s->knobs, ret_error);
    if (status)
        goto out;
    s->call.host = &host->host;
    s->call.device = &context->device;
    s->call.problem = problem;
    s->call.knobs = s->knobs;
    s->call.tensors = fixture->buffers.tensors;
    s->call.n_tensors = fixture->buffers.count;
    s->call.stream = context->ops->stream(context);
    s->call.pin = pin && *pin ? pin : NULL;
    status = prepare(host, backend, &s->call, &s->state, &s->identity, ret_error);
    if (!status && backend->workspace) {
        s->workspace_bytes = backend->workspace(backend, s->state);
        status = new_workspaces(s, 1, ret_error);
        if (!status)
            status = fill_workspace(s, context, 0, ret_error);
        if (!status)
            status = stage(s, context, 0, true, ret_error);
        if (status) {
            kg_subject_done(s);
            return status;
        }
    }
out:
    if (status) {
        free(s->knobs);
        *s = (struct kg_subject){ 0 };
    }
    return status;
}

static void drop_ring(struct kg_subject *subject)
{
    drop_workspaces(subject, subject->n_ring);
    for (int i = 0; subject->own_ring && i < subject->n_ring; i++)
        kg_buffers_done(&subject->own_ring[i]);
    free(subject->own_ring);
    subject->own_ring = NULL;
}

void kg_subject_done(struct kg_subject *subject)
{
    if (!subject->backend)
        return;
    if (subject->backend->release && subject->backend->prepare)
        subject->backend->release(subject->backend, subject->state);
    drop_ring(subject);
    free(subject->knobs);
    *subject = (struct kg_subject){ 0 };
}

static size_t ring_sets(const struct kg_fixture *fixture, size_t workspace_bytes, bool cold, int placements)
{
    const kg_device *device = &fixture->context->device;
    const size_t set_bytes = kg_buffers_bytes(&fixture->buffers);
    if (cold)
        return (size_t)(2 * device->l2_bytes / set_bytes) + 2;
    const size_t sets =
        device->memory_bytes / 8 / (set_bytes + workspace_bytes); /* no more than an eighth of the memory */
    return sets < 1 ? 1 : sets > (size_t)placements ? (size_t)placements : sets;
}

static int new_ring(struct kg_subject *subject, struct kg_subject *owner, size_t sets, bool cold, kg_error *ret_error)
{
    drop_workspaces(subject, subject->n_ring);
    subject->borrows = owner && owner->workspace_bytes == subject->workspace_bytes && !owner->backend->stage &&
                       !subject->backend->stage;
    subject->own_ring = owner ? NULL : calloc(sets, sizeof *subject->own_ring);
    subject->ring = owner ? owner->ring : subject->own_ring;
    if (!subject->ring)
        return kg_fail(ret_error, KG_ENOMEM, "out of memory for a ring of %zu buffer sets", sets);
    subject->n_ring = (int)sets;
    subject->rotates = cold;
    subject->place = 0;
    subject->n_used = 0;
    if (!subject->borrows)
        return new_workspaces(subject, sets, ret_error);
    subject->workspaces = owner->workspaces;
    return KG_OK;
}

static int fill_set(const struct kg_fixture *fixture, struct kg_subject *subject, size_t at, kg_error *ret_error)
{
    int status = KG_OK;
    if (subject->own_ring) {
        struct kg_buffers *set = &subject->own_ring[at];
        status = kg_buffers_new(fixture->context, fixture->buffers.tensors, fixture->buffers.count, set, ret_error);
        if (!status)
            status = kg_buffers_copy_inputs(set, &fixture->buffers, ret_error);
        if (!status)
            status = kg_buffers_poison(set, ret_error);
    }
    return status || subject->borrows ? status : fill_workspace(subject, fixture->context, at, ret_error);
}

/* Staged when all have their buffers, which one may share. */
static int fill_sets(const struct kg_fixture *fixture, struct kg_subject *const *subjects, int n, size_t at,
                     uint8_t order, kg_error *ret_error)
{
    int status = KG_OK;
    for (int i = 0; i < n && !status; i++)
        status = fill_set(fixture, subjects[kg_order_lane(n, order, i)], at, ret_error);
    for (int i = 0; i < n && !status; i++)
        status = stage(subjects[i], fixture->context, (int)at, false, ret_error);
    return status;
}

static size_t largest_workspace(struct kg_subject *const *subjects, int count)
{
    size_t bytes = 0;
    for (int i = 0; i < count; i++)
        if (subjects[i] && subjects[i]->workspace_bytes > bytes)
            bytes = subjects[i]->workspace_bytes;
    return bytes;
}

int kg_subjects_make_rings(struct kg_subject *const *subjects, int count, const struct kg_fixture *fixture,
                           const struct kg_ring_plan *plan, kg_error *ret_error)
{
    struct kg_subject *there[KG_ORDER_LANES];
    const size_t sets = ring_sets(fixture, largest_workspace(subjects, count), plan->cold, plan->placements);
    uint8_t *orders = malloc(sets);
    int n = 0, status = orders ? KG_OK : kg_fail(ret_error, KG_ENOMEM, "out of memory for buffer sets");
    for (int i = 0; i < count && !status; i++) {
        if (!subjects[i])
            continue;
        struct kg_subject *owner = n > 0 && plan->shared >> i & 1 ? there[0] : NULL;
        there[n++] = subjects[i];
        status = new_ring(subjects[i], owner, sets, plan->cold, ret_error);
    }
    if (!status)
        kg_order_balanced(plan->seed, n, orders, (int)sets);
    for (size_t set = 0; set < sets && !status; set++)
        status = fill_sets(fixture, there, n, set, orders[set], ret_error);
    free(orders);
    return status;
}

int kg_subject_renew_sets(const struct kg_subject *subject, const struct kg_fixture *fixture, kg_error *ret_error)
{
    int status = KG_OK;
    for (int at = 0; at < subject->n_ring && !status; at++) {
        const struct kg_buffers *set = &subject->ring[at];
        status = kg_buffers_copy_inputs(set, &fixture->buffers, ret_error);
        if (!status)
            status = kg_buffers_poison(set, ret_error);
        if (!status)
            status = kg_buffers_paint_guards(set, ret_error);
        if (!status && subject->workspaces)
            status = kg_buffers_paint_guards(&subject->workspaces[at], ret_error);
    }
    return status;
}

int kg_subject_exchange_inputs(struct kg_subject *subject, int first, int count, const struct kg_fixture *other,
                               kg_error *ret_error)
{
    int status = KG_OK;
    for (int at = first; at < first + count && !status; at++) {
        status = kg_buffers_copy_inputs(&subject->ring[at], &other->buffers, ret_error);
        if (!status)
            status = stage(subject, other->context, at, at == first, ret_error);
    }
    return status ? status : other->context->ops->synchronize(other->context, ret_error);
}
