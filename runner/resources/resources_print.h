/* resources_print.h -- judged kernels as text for people and JSON for programs. */
#ifndef KG_RESOURCES_PRINT_H
#define KG_RESOURCES_PRINT_H

#include "resources/resources.h"

#define KG_SHORT_NAME_SIZE 200

const char *kg_resource_name(const struct kg_resource *resource); /* mangled, whether it is there or gone */
const char *kg_resource_arch(const struct kg_resource *resource);

/* What did not pass, in columns; then what is to be said of a kernel, by both its names; then the counts, by
 * architecture, which `items` are in the order of, and of all. `verbose`: all kernels, in columns too. */
void kg_resources_print_text(const struct kg_resource *items, size_t count, bool verbose, FILE *out);
int kg_resources_print_json(const struct kg_module *module, const struct kg_resource *items, size_t count, int status,
                            FILE *out, kg_error *ret_error);

#endif
