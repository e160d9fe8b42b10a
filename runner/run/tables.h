/* tables.h -- a module's tables in the parent, which never loads it: what loads it may exit, crash, hang, and write
 * wherever it likes. */
#ifndef KG_RUN_TABLES_H
#define KG_RUN_TABLES_H

#include "options/options.h"
#include "plan/module.h"

/* kg_module_open by a process of its own, which answers for the ops until this one exits. KG_EINVAL also where it dies,
 * or is silent for the time of --case-timeout or --timeout, here or at a later question. */
int kg_tables_open(const char *name, const struct kg_options *options, struct kg_loaded *ret_loaded,
                   kg_error *ret_error);

/* Ends the process. The tables stay, but nothing answers for their ops. */
void kg_tables_close(const struct kg_loaded *loaded);

#endif
