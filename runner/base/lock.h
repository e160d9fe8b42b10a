/* lock.h -- two runs on one device take turns. */
#ifndef KG_LOCK_H
#define KG_LOCK_H

#include "kgate.h"

/* Takes the lock of a device by its UUID; waits for another run, and calls `waiting` once if it has to. Held until the
 * process ends. */
int kg_lock_device(const char *uuid, void (*waiting)(const char *holder), kg_error *ret_error);

#endif
