/* prepared.h -- a prepared backend with the buffer sets that its calls rotate through: what is launched and timed. */
#ifndef KG_PREPARED_H
#define KG_PREPARED_H

#include "measure/fixture.h"
#include "measure/host.h"
#include "plan/module.h"

struct kg_prepared {
    const kg_backend *backend;
    const struct kg_fixture *fixture; /* whose inputs its buffers have; NULL: kg_prepared_open alone */
    kg_context *context;              /* whose windows its calls go into: the fixture's, or another process's */
    kg_call call;
    void *state;
    void *knobs;
    kg_identity identity;
    double prepare_ms;             /* the backend's own, its library open already */
    const struct kg_buffers *ring; /* sets that calls are given */
    int n_ring;
    bool rotates; /* every call takes the next set; otherwise all take set `set` */
    unsigned set;
    int n_used;                  /* leading sets that calls were given since the ring was made or measuring began */
    struct kg_buffers *own_ring; /* freed with this; NULL while it uses the fixture's buffers */
    size_t workspace_bytes;
    struct kg_buffers *workspaces; /* one for each set of the ring; NULL: the backend wants none */
    bool borrows;                  /* the ring's, which another one frees */
    bool failed;                   /* one of its launches, its staging or its windows did */
    uint64_t staged_digest;        /* of every workspace that the backend staged: all sets have the same inputs */
};

/* What kg_prepared_new does without buffers: of `call` problem, tensors and pin are read, and it stays where it is. Of
 * a backend with candidates it takes the first that runs. */
int kg_prepared_open(struct kg_host_state *host, kg_context *context, const kg_backend *backend, const kg_call *call,
                     struct kg_prepared *ret_prepared, kg_error *ret_error);

/* Opens (once a worker) and prepares for `problem`, the fixture's own or another build's of it. KG_EUNSUPPORTED: the
 * backend's own reason. */
int kg_prepared_new(struct kg_host_state *host, struct kg_fixture *fixture, const kg_backend *backend,
                    const void *problem, const char *pin, struct kg_prepared *ret_prepared, kg_error *ret_error);
void kg_prepared_done(struct kg_prepared *prepared);

struct kg_ring_plan {
    bool cold;       /* a ring larger than twice the last-level cache, walked call by call */
    int sets;        /* warm: up to so many sets, one a window, since where buffers lie changes the time of a kernel */
    unsigned shared; /* bit by index of those that use the ring of the first */
    uint64_t seed;   /* draws for each set who is allocated first, so that nobody always gets the earlier addresses */
};

/* Fresh buffers for timing, equally many sets for all; NULLs are left out. Backends that share a ring share its
 * workspaces too where these are of one size and nobody stages; the first is then released after the others. */
int kg_prepared_make_rings(struct kg_prepared *const *prepared, int count, const struct kg_ring_plan *plan,
                           kg_error *ret_error);

/* Gives sets first..first+count of its own the inputs of another fixture of the same tensors, and stages them anew.
 * Outputs stay. */
int kg_prepared_exchange_inputs(struct kg_prepared *prepared, int first, int count, const struct kg_fixture *other,
                                kg_error *ret_error);

/* Stages set `at` anew, after its inputs changed. */
int kg_prepared_restage(struct kg_prepared *prepared, int at, kg_context *context, kg_error *ret_error);

/* The workspace that goes with set `at` of the ring. KG_EDEVICE: it was written past, or does not hold what was staged.
 */
int kg_prepared_check_workspace(const struct kg_prepared *prepared, int at, kg_error *ret_error);

/* The same workspace as if it were new, and staged, which is only enqueued. */
int kg_prepared_renew_workspace(struct kg_prepared *prepared, int at, kg_context *context, kg_error *ret_error);

/* What surrounds the outputs of set `at` is as it was: guards, workspace, inputs of the fixture. KG_EDEVICE: it is not,
 * and `spoilt` says of inputs who wrote into them. */
int kg_prepared_check_surroundings(const struct kg_prepared *prepared, const struct kg_fixture *fixture, int at,
                                   const char *spoilt, kg_error *ret_error);

/* Enqueues its staging of set `at`, if it stages. */
int kg_prepared_stage(struct kg_prepared *prepared, int at, void *stream, kg_error *ret_error);

/* The tensors that a call on set `at` is given, the set's and behind them a workspace; `room` may hold them. Returns
 * how many. */
int kg_prepared_call(const struct kg_prepared *prepared, int at, kg_tensor room[KG_MAX_TENSORS + 1],
                     const kg_tensor **ret_tensors);

/* A kg_launch_fn over a struct kg_prepared. */
int kg_prepared_launch(void *prepared, int index, void *stream, kg_error *ret_error);

#endif
