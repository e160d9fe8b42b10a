/* lock.h -- what one process at a time may do: change a folder's files, measure on a device. */
#ifndef KG_LOCK_H
#define KG_LOCK_H

#include <stdio.h>

#include "kgate.h"

/* Lock for read-modify-write of a folder's files, on FOLDER/.lock; waits. Makes the folder, its last part alone.
 * Released by kg_folder_unlock (which accepts -1) or by exit. KG_EIO, KG_EINVAL (path too long): nothing is held. */
int kg_folder_lock(const char *folder, int *ret_lock, kg_error *ret_error);
void kg_folder_unlock(int lock);

/* The same, with lines that say what changed: they are printed once that is true. */
struct kg_changes {
    FILE *lines; /* what is written to it is printed at the end, or never */
    char *text;
    size_t length;
    int lock;
};

/* KG_EIO, KG_ENOMEM, KG_EINVAL: nothing is held. */
int kg_changes_begin(const char *folder, struct kg_changes *ret_changes, kg_error *ret_error);

/* Lets the lock go. The lines are printed on `out` where `status`, the whole change's, is KG_OK. Returns whether there
 * were any. */
bool kg_changes_end(struct kg_changes *changes, int status, FILE *out);

/* Told by who waits for another run, at once, after 10 seconds, and each time that it has waited twice as long.
 * `holder`: "123: kgate run …", or "" where that could not be read. */
typedef void kg_waiting_fn(const char *holder, double waited_s);

/* Takes the lock of a device by its UUID; waits for another run. Held until the process ends. */
int kg_lock_device(const char *uuid, kg_waiting_fn *waiting, kg_error *ret_error);

#endif
