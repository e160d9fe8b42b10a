/* process.h -- a worker process as the parent holds it: two pipes and a pid. */
#ifndef KG_PROCESS_H
#define KG_PROCESS_H

#include <sys/types.h>

#include "kgate.h"

struct kg_process {
    pid_t pid;
    int job;      /* write end; -1 once closed */
    int messages; /* read end */
    char *line;   /* partial line read so far */
    size_t used, room;
};

/* exec, not fork, of kgate itself: `kgate worker ARGUMENTS…`. stdout and stderr go to log_path, appended. */
int kg_process_start(const char *const *arguments, const char *log_path, struct kg_process *ret_process,
                     kg_error *ret_error);

enum kg_read { KG_READ_LINE, KG_READ_END, KG_READ_TIMEOUT };

/* The next line, without its newline and terminated by a zero; valid until the next call. */
enum kg_read kg_process_read_line(struct kg_process *process, double timeout_s, const char **ret_line,
                                  size_t *ret_length);

void kg_process_kill(struct kg_process *process);

/* Waits, frees, and says in words how it ended: "exited with status 3", "signal 11 (Segmentation fault)". */
void kg_process_finish(struct kg_process *process, char *ret_how, size_t size);

#endif
