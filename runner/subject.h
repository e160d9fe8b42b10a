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
    const struct kg_buffers *ring; /* sets that calls are given */
    int n_ring;
    bool rotates; /* every call takes the next set; otherwise all take set `place` */
    unsigned place;
    int n_used;                  /* leading sets that calls were given since the ring was made or measuring began */
    struct kg_buffers *own_ring; /* freed with the subject; NULL while it uses the fixture's buffers */
};

/* Opens (once a worker) and prepares. KG_EUNSUPPORTED: the backend's own reason. */
int kg_subject_new(struct kg_host_state *host, struct kg_fixture *fixture, const kg_backend *backend, const char *pin,
                   struct kg_subject *ret_subject, kg_error *ret_error);
void kg_subject_done(struct kg_subject *subject);

/* Fresh buffers for timing. Cold cache: a ring larger than twice the last-level cache, walked call by call. Warm: up to
 * `placements` sets, one a window, since where buffers lie changes the time of a small kernel by per cents. */
int kg_subject_make_ring(struct kg_subject *subject, const struct kg_fixture *fixture, bool cold, int placements,
                         kg_error *ret_error);

/* A kg_launch_fn over a subject. */
int kg_subject_launch(void *subject, int index, void *stream, kg_error *ret_error);

#endif
