/* subject.h -- a prepared backend with the buffer sets that its calls rotate through: what is launched and timed. */
#ifndef KG_SUBJECT_H
#define KG_SUBJECT_H

#include "fixture.h"
#include "host.h"

struct kg_subject {
    const kg_backend *backend;
    kg_call call;
    void *state;
    void *knobs;
    kg_identity identity;
    const struct kg_buffers *ring; /* set `next % n_ring` serves the next call */
    int n_ring;
    unsigned next;
    struct kg_buffers *own_ring; /* freed with the subject; NULL while it uses the fixture's buffers */
};

/* Opens (once a worker) and prepares. KG_EUNSUPPORTED: the backend's own reason. */
int kg_subject_new(struct kg_host_state *host, struct kg_fixture *fixture, const kg_backend *backend, const char *pin,
                   struct kg_subject *ret_subject, kg_error *ret_error);
void kg_subject_done(struct kg_subject *subject);

/* Fresh buffers for timing: one set, or, for a cold cache, a ring of sets larger than twice the last-level cache. */
int kg_subject_make_ring(struct kg_subject *subject, const struct kg_fixture *fixture, bool cold, kg_error *ret_error);

/* A kg_launch_fn over a subject. */
int kg_subject_launch(void *subject, int index, void *stream, kg_error *ret_error);

#endif
