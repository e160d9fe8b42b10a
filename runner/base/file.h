/* file.h -- files read and written as a whole, and folders. */
#ifndef KG_FILE_H
#define KG_FILE_H

#include <stdio.h>

#include "kgate.h"

/* Says nothing of what the stream does not take: that is found by who opened it. */
typedef int kg_write_fn(FILE *file, const void *what, kg_error *ret_error);

/* Whoever reads the file finds the old one or the new one: it is written as .NAME.new beside it, synced and renamed. A
 * link stays one, and the file behind it is replaced; what is no regular file (a pipe) is written to. On a failure,
 * KG_EIO with the path or what `write` said, the old file is whole and the other gone; only the last sync, of the
 * folder, can fail with the new file in place. */
int kg_file_replace(const char *path, kg_write_fn *write, const void *what, kg_error *ret_error);

/* The whole of a regular file, with a NUL after it; free() it. Never waits for a pipe's writer. KG_ENOTFOUND, KG_EIO,
 * KG_EINVAL (no regular file), KG_ENOMEM name the path. */
int kg_file_read(const char *path, char **ret_text, size_t *ret_length, kg_error *ret_error);

bool kg_file_same(const char *a, const char *b); /* Are both paths one file, by whatever name? */

/* For its owner alone, who may run it. On failure nothing is left at `to`, which must not exist. */
int kg_file_copy(const char *from, const char *to, kg_error *ret_error);

bool kg_folder_exists(const char *path);

/* As mkdir -p, or its last part alone, so that a mistyped path makes no tree. KG_EIO names the folder that could not be
 * made. */
int kg_folder_make(const char *path, kg_error *ret_error);
int kg_folder_make_one(const char *path, kg_error *ret_error);

#endif
