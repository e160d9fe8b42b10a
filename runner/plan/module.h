/* module.h -- a loaded module: found, opened, its root and tables checked before anything uses them. */
#ifndef KG_MODULE_H
#define KG_MODULE_H

#include "kgate.h"
#include "plan/module_file.h"

#define KG_PATH_SIZE 4096
#define KG_STAMPS_SIZE (4 * KG_PATH_SIZE)

struct kg_loaded {
    const struct kg_module *root;
    char path[KG_PATH_SIZE];
    char links[KG_PATH_SIZE];    /* libraries that were loaded with it, a line each */
    char stamps[KG_STAMPS_SIZE]; /* of the file that the tables came from and of links: "STAMP PATH", a line each */
};

/* Is it the name of a module that ships, and no path? */
bool kg_module_ships(const char *name);

/* `name` is a path (it contains '/'), or the name of a module that ships: looked for beside the executable, where meson
 * installs it from there, in ../lib/kgate/ and in examples/. KG_EINVAL: no file that could be loaded. */
int kg_module_find(const char *name, char ret_path[KG_PATH_SIZE], kg_error *ret_error);

/* Root and links of what was found as `name` at module->path. KG_EINVAL: not a module, or a bad table, with the row's
 * name; KG_EUNSUPPORTED: of an ABI that cannot be read. A module stays loaded until exit: its tables are program text
 * that everything points into. */
int kg_module_load(struct kg_loaded *module, const char *name, kg_error *ret_error);

/* Adds the stamps of these files, a line each: of the module's own before it is loaded, of its links after. */
void kg_module_stamp(struct kg_loaded *module, const char *paths);

/* KG_EINVAL: one of the files is another one by now, and which. */
int kg_module_is_same(const struct kg_loaded *module, kg_error *ret_error);

/* Both. For workers and tests: the parent reads tables by kg_tables_open (run/tables.h). */
int kg_module_open(const char *name, struct kg_loaded *ret_loaded, kg_error *ret_error);

const kg_suite *kg_module_suite(const struct kg_module *module, const char *name); /* NULL: none */
const kg_backend *kg_suite_backend(const kg_suite *suite, const char *name);       /* NULL: none */

/* The rows that backends of this kind take. */
kg_table kg_suite_rows(const kg_suite *suite, enum kg_device_kind kind);
const kg_backend *kg_suite_anchor(const kg_suite *suite, enum kg_device_kind kind);

/* Of "SUITE/SHAPE/BACKEND", with a backend that can be timed; false: the module has no such case. */
#define KG_SHAPE_SIZE 64
bool kg_module_case(const struct kg_module *module, const char *key, const kg_suite **ret_suite,
                    char ret_shape[KG_SHAPE_SIZE], const kg_backend **ret_backend);

/* `own` in the layout of this kgate.h: itself where it was built against it, else a copy that stays until exit.
 * KG_EUNSUPPORTED: of an ABI that cannot be read. */
int kg_module_lay_out(const struct kg_module *own, const struct kg_module **ret_module, kg_error *ret_error);

/* A copy of the module, until exit, whose suites are judged by the baseline's gates and expected failures where the
 * baseline has them: a new row or backend brings none of its own. */
int kg_module_hold_to(const struct kg_module *baseline, const struct kg_module **module, kg_error *ret_error);

/* A copy of the suite, until exit, with these gates. NULL: no memory. */
const kg_suite *kg_suite_with_gates(const kg_suite *suite, const kg_gates *gates);

/* What the backend's functions are given: its module's own struct, which a copy stands for. */
static inline const kg_backend *kg_backend_own(const kg_backend *backend)
{
    return backend->self ? backend->self : backend;
}

/* Every rule that a table must keep; pure, so that tests need no shared object. */
int kg_suite_check(const kg_suite *suite, kg_error *ret_error);
int kg_module_check(const struct kg_module *module, kg_error *ret_error);

/* The row's name: a problem's first member. */
const char *kg_row_name(const void *problem);
const void *kg_table_row(kg_table table, const char *name, size_t length); /* NULL: none */

#endif
