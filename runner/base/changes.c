/* changes.c -- the lines wait in memory for the end: a file that could not be written must not have been announced. */
#include "base/changes.h"

#include <stdlib.h>

#include "base/file_replace.h"

int kg_changes_begin(const char *folder, struct kg_changes *ret_changes, kg_error *ret_error)
{
    int lock = -1, status = kg_folder_lock(folder, &lock, ret_error);
    if (status)
        return status;
    *ret_changes = (struct kg_changes){ .lock = lock };
    ret_changes->lines = open_memstream(&ret_changes->text, &ret_changes->length);
    if (ret_changes->lines)
        return KG_OK;
    kg_folder_unlock(lock);
    return kg_fail(ret_error, KG_ENOMEM, "out of memory for what changes");
}

bool kg_changes_end(struct kg_changes *changes, int status, FILE *out)
{
    kg_folder_unlock(changes->lock);
    (void)fclose(changes->lines);
    bool any = changes->length > 0;
    if (!status && any)
        fputs(changes->text, out);
    free(changes->text);
    return any;
}
