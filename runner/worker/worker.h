/* worker.h -- the process that runs kernels: reads a job, sends messages, dies alone. */
#ifndef KG_WORKER_H
#define KG_WORKER_H

#include "kgate.h"

#define KG_WORKER_JOB 3      /* file descriptor that the job is read from */
#define KG_WORKER_MESSAGES 4 /* and that messages are written to */

/* Entry points of `kgate worker run` and `kgate worker probe cpu|cuda [INDEX]`: the device that is put to work for a
 * moment, NULL for none. Return the exit status. */
int kg_worker_run(void);
int kg_worker_probe(const char *kind, const char *work);

#endif
