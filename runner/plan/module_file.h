/* module_file.h -- is a file one that the loader can be given? */
#ifndef KG_MODULE_FILE_H
#define KG_MODULE_FILE_H

#include "kgate.h"

#define KG_STAMP_SIZE 128

/* KG_EINVAL: no regular file, or an ELF file that is cut: where the loader maps a segment past the file's end, reading
 * it ends the process. What is no ELF file at all is left to the loader. `name` is what the message calls it. */
int kg_module_file_check(const char *path, const char *name, kg_error *ret_error);

/* Tells this content of this file from any other: where it lies, and when that was last written or renamed. "": there
 * is none. */
void kg_module_file_stamp(const char *path, char ret_stamp[KG_STAMP_SIZE]);

#endif
