/* subject.c -- prepare, launch and release of one backend on one fixture. */
#include "subject.h"

#include <stdlib.h>
#include <string.h>

int kg_subject_launch(void *subject, int index, void *stream, kg_error *ret_error)
{
    struct kg_subject *s = subject;
    (void)index;
    const int at = (int)(s->place % (unsigned)s->n_ring);
    const struct kg_buffers *set = &s->ring[at];
    s->n_used = at < s->n_used ? s->n_used : at + 1;
    s->place += s->rotates;
    return s->backend->launch(s->backend, s->state, set->tensors, stream, ret_error);
}

int kg_subject_new(struct kg_host_state *host, struct kg_fixture *fixture, const kg_backend *backend, const char *pin,
                   struct kg_subject *ret_subject, kg_error *ret_error)
{
    struct kg_subject *s = ret_subject;
    kg_context *context = fixture->context;
    *s = (struct kg_subject){ .backend = backend, .ring = &fixture->buffers, .n_ring = 1 };
    int status = KG_OK;
    if (backend->supports)
        status = backend->supports(backend, &context->device, fixture->of.problem, ret_error);
    if (!status)
        status = kg_host_knobs(host, backend, &s->knobs, ret_error);
    if (!status)
        status = kg_host_open_backend(host, backend, &context->device, &s->call.library, ret_error);
    if (status)
        goto out;
    s->call.host = &host->host;
    s->call.device = &context->device;
    s->call.problem = fixture->of.problem;
    s->call.knobs = s->knobs;
    s->call.tensors = fixture->buffers.tensors;
    s->call.n_tensors = fixture->buffers.count;
    s->call.stream = context->ops->stream(context);
    s->call.pin = pin && *pin ? pin : NULL;
    if (backend->prepare)
        status = backend->prepare(backend, &s->call, &s->state, &s->identity, ret_error);
    else
        s->state = &s->call;
out:
    if (status) {
        free(s->knobs);
        *s = (struct kg_subject){ 0 };
    }
    return status;
}

static void drop_ring(struct kg_subject *subject)
{
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

int kg_subject_make_ring(struct kg_subject *subject, const struct kg_fixture *fixture, bool cold, int placements,
                         kg_error *ret_error)
{
    const uint64_t wanted = 2 * fixture->context->device.l2_bytes;
    const size_t set_bytes = kg_buffers_bytes(&fixture->buffers);
    size_t sets = (size_t)(wanted / set_bytes) + 2;
    if (!cold) /* no more than an eighth of the memory */
        sets = fixture->context->device.memory_bytes / 8 / set_bytes;
    if (!cold && sets > (size_t)placements)
        sets = (size_t)placements;
    if (sets < 1)
        sets = 1;
    struct kg_buffers *ring = calloc(sets, sizeof *ring);
    if (!ring)
        return kg_fail(ret_error, KG_ENOMEM, "out of memory for a ring of %zu buffer sets", sets);
    subject->own_ring = ring;
    subject->n_ring = (int)sets;
    subject->ring = ring;
    subject->rotates = cold;
    subject->place = 0;
    subject->n_used = 0;
    int status = KG_OK;
    for (size_t i = 0; i < sets && !status; i++) {
        status =
            kg_buffers_new(fixture->context, fixture->buffers.tensors, fixture->buffers.count, &ring[i], ret_error);
        if (!status)
            status = kg_buffers_copy_inputs(&ring[i], &fixture->buffers, ret_error);
        if (!status)
            status = kg_buffers_poison(&ring[i], ret_error);
    }
    return status;
}
