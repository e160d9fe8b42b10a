/* file_replace.h -- a file written anew as a whole: whoever reads it finds the old one or the new one. */
#ifndef KG_FILE_REPLACE_H
#define KG_FILE_REPLACE_H

#include <stdio.h>

#include "kgate.h"

typedef bool kg_write_fn(FILE *file, const void *what); /* false: errno says why */

/* Writes FOLDER/NAME.json through FOLDER/.NAME.new, fsync, rename, and fsync of the folder. The caller
 * holds a lock, as the temporary file has one name. KG_EIO, KG_EINVAL (path too long): the old file is whole and the
 * temporary file is gone; only the last fsync, of the folder, can fail with the new file in place. */
int kg_file_replace(const char *folder, const char *name, kg_write_fn *write, const void *what, kg_error *ret_error);

#endif
