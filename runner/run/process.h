/* process.h -- a worker process as the parent holds it: two pipes and a pid. */
#ifndef KG_PROCESS_H
#define KG_PROCESS_H

#include <signal.h>
#include <sys/types.h>

#include "kgate.h"

struct kg_process {
    pid_t pid;
    int job;      /* write end; -1 once closed */
    int messages; /* read end */
    bool closed;  /* the worker's end of it is */
    char *line;   /* partial line read so far */
    size_t used, room;
    const char *log; /* NULL: none */
};

/* exec, not fork, of kgate itself, in a process group of its own: `kgate worker ARGUMENTS…`. stdout and stderr go to
 * log_path, appended, of which the first 16 MiB are kept; it stays the caller's. `settings`: each NAME=value of its
 * environment where this process's has no NAME; ends with NULL; NULL: none. */
int kg_process_start(const char *const *arguments, const char *const *settings, const char *log_path,
                     struct kg_process *ret_process, kg_error *ret_error);

/* What ends the waiting for a line. */
struct kg_patience {
    double timeout_s;                  /* of this line */
    double deadline_s;                 /* kg_now_s() at which everything stops; 0: none */
    const volatile sig_atomic_t *stop; /* set by a signal's handler; NULL: none */
};

enum kg_read { KG_READ_LINE, KG_READ_END, KG_READ_TIMEOUT, KG_READ_STOPPED };

/* The next line, without its newline and terminated by a zero; valid until the next call. A line that has arrived
 * whole is given even when it is time to stop. KG_READ_END: the worker has ended, whoever else holds the pipe. */
enum kg_read kg_process_read_line(struct kg_process *process, const struct kg_patience *patience, const char **ret_line,
                                  size_t *ret_length);

bool kg_patience_over(const struct kg_patience *patience); /* its deadline has passed, or it was told to stop */

/* Kills what is left of the worker and all that it left running, frees, and says in words how the worker ended: "exited
 * with status 3", "signal 11 (Segmentation fault)". */
void kg_process_finish(struct kg_process *process, char *ret_how, size_t size);

#endif
