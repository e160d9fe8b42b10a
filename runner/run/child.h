/* child.h -- the processes that this one starts, and what they leave running: once its parent has ended that is a child
 * of this one, whatever group or session it is in. */
#ifndef KG_CHILD_H
#define KG_CHILD_H

#include <spawn.h>
#include <sys/types.h>

/* posix_spawn of a process that kg_child_end ends. From the first on, orphans of all descendants come to this process;
 * children that it had by then are let be. */
int kg_child_start(pid_t *ret_pid, const char *path, const posix_spawn_file_actions_t *actions,
                   const posix_spawnattr_t *attributes, char *const *arguments, char *const *environment);

/* Kills the process, its group, and every child that has come to this one. Returns how the process ended, as waitpid
 * says it. */
int kg_child_end(pid_t pid);

/* Until the next kg_child_start orphans are not this process's: a program of the user's may leave a daemon. */
void kg_child_adopt_none(void);

#endif
