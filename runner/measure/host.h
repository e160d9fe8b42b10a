/* host.h -- the services that a module gets in a worker, and what the worker keeps for its backends: libraries, open
 * handles, knobs. */
#ifndef KG_HOST_H
#define KG_HOST_H

#include "kgate.h"
#include "measure/apart.h"

#define KG_MAX_BACKENDS 256 /* open ones, of two builds */
#define KG_MAX_KNOBS 16

struct kg_host_state {
    kg_host host; /* first: services get back from it to the state */
    const char *const *library_paths;
    size_t n_library_paths;
    const char *cache;        /* folder; "" : none */
    const char *const *knobs; /* name=value */
    size_t n_knobs;
    struct {
        const kg_backend *backend;
        void *library;
    } open[KG_MAX_BACKENDS];
    size_t n_open;
    struct kg_apart apart;                          /* none until kg_apart_start */
    void (*part)(void *argument, const char *what); /* who hears of parts; NULL: nobody */
    void *argument;
};

void kg_host_init(struct kg_host_state *state);
void kg_host_done(struct kg_host_state *state); /* closes the backends, last opened first */

/* The backend's handle, opened at the first call. */
int kg_host_open_backend(struct kg_host_state *state, const kg_backend *backend, const kg_device *device,
                         void **ret_library, kg_error *ret_error);

/* A knobs record with fallbacks and the settings that the backend knows; free() it. NULL where it declares none. */
int kg_host_knobs(const struct kg_host_state *state, const kg_backend *backend, void **ret_knobs, kg_error *ret_error);

#endif
