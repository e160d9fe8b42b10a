/* module_copy.h -- a file of its own for a module that is loaded a second time: the loader gives one instance a file.
 */
#ifndef KG_MODULE_COPY_H
#define KG_MODULE_COPY_H

#include "plan/module.h"

/* Whether both paths are one file, by whatever name. */
bool kg_module_same_file(const char *a, const char *b);

/* The caller removes it. On failure nothing is left at `to`, which must not exist. */
int kg_module_copy(const char *from, const char *to, kg_error *ret_error);

#endif
