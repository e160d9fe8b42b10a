/* changes.h -- files of a folder are changed by one process at a time, and what changed is said once it is true. */
#ifndef KG_CHANGES_H
#define KG_CHANGES_H

#include <stdio.h>

#include "kgate.h"

struct kg_changes {
    FILE *lines; /* what is written to it is printed at the end, or never */
    char *text;
    size_t length;
    int lock;
};

/* Takes the folder's lock, waiting for it. KG_EIO, KG_ENOMEM, KG_EINVAL (path too long): nothing is held. */
int kg_changes_begin(const char *folder, struct kg_changes *ret_changes, kg_error *ret_error);

/* Lets the lock go. The lines are printed on `out` where `status`, the whole change's, is KG_OK. Returns whether there
 * were any. */
bool kg_changes_end(struct kg_changes *changes, int status, FILE *out);

#endif
