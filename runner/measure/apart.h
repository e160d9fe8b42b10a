/* apart.h -- a process that answers a module's questions with nothing open but the module (kg_host's ask_apart). */
#ifndef KG_APART_H
#define KG_APART_H

#include "kgate.h"

struct kg_apart {
    int socket; /* -1: there is none */
    int pid;
};

/* Forks it off: once the module is loaded, before devices, libraries and threads. `host` is what functions get there.
 * It ends with this process, or when the socket is closed. KG_EIO, KG_ENOMEM. */
int kg_apart_start(const kg_host *host, struct kg_apart *ret_apart, kg_error *ret_error);
void kg_apart_end(struct kg_apart *apart);

/* As ask_apart has it. */
int kg_apart_ask(const struct kg_apart *apart, kg_apart_fn *function, const void *asked, size_t size, void **ret_answer,
                 size_t *ret_size, kg_error *ret_error);

#endif
