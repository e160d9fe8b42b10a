/* stop.h -- what ends a run before it is through: Ctrl-C, SIGTERM, a terminal that closes, a limit of time, or a
 * failure under --fail-fast. */
#ifndef KG_STOP_H
#define KG_STOP_H

#include <signal.h>
#include <stdatomic.h>

#include "kgate.h"

struct kg_stop {
    const volatile sig_atomic_t *signalled;
    double timeout_s;
    double deadline_s;  /* kg_now_s(); 0: none */
    bool fail_fast;     /* the first failure ends the run */
    atomic_bool failed; /* and has */
};

/* From now on the first SIGINT, SIGTERM or SIGHUP is only noted, and the next one ends the process at once. A signal
 * that the process was started to ignore stays ignored. timeout_s counts from now; 0: no limit. */
struct kg_stop kg_stop_arm(double timeout_s);

/* A case is finally wrong or slow, though its table does not expect it. */
void kg_stop_at_failure(struct kg_stop *stop);

/* Why the run was stopped: "--fail-fast", "interrupted", "timeout of 60 s". */
void kg_stop_why(const struct kg_stop *stop, char *ret_text, size_t size);

#endif
