/* folder.h -- folders of the file system. */
#ifndef KG_FOLDER_H
#define KG_FOLDER_H

#include "kgate.h"

bool kg_folder_exists(const char *path);

/* As mkdir -p. KG_EIO names the folder that could not be made. */
int kg_folder_make(const char *path, kg_error *ret_error);

#endif
