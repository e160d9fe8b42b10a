/* file_replace.h -- a file written anew as a whole, by one process at a time: whoever reads it finds the old one or the
 * new one. */
#ifndef KG_FILE_REPLACE_H
#define KG_FILE_REPLACE_H

#include <stdio.h>

#include "kgate.h"

/* Lock for read-modify-write of a folder's files, on FOLDER/.lock; waits. Makes the folder where it is missing.
 * Released by kg_folder_unlock (which accepts -1) or by exit. KG_EIO, KG_EINVAL (path too long): nothing is held. */
int kg_folder_lock(const char *folder, int *ret_lock, kg_error *ret_error);
void kg_folder_unlock(int lock);

typedef bool kg_write_fn(FILE *file, const void *what); /* false: errno says why */

/* Writes FOLDER/NAME.json through FOLDER/.NAME.new, fsync, rename, and fsync of the folder. Makes the folder where it
 * is missing. The caller holds a lock, as the temporary file has one name. KG_EIO, KG_EINVAL (path too long): the old
 * file is whole and the temporary file is gone; only the last fsync, of the folder, can fail with the new file in
 * place. */
int kg_file_replace(const char *folder, const char *name, kg_write_fn *write, const void *what, kg_error *ret_error);

#endif
