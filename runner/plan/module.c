/* module.c -- opens a module and refuses what is not one; the rules for tables are in suite_check.c,
 * those for numbers and sizes in module_layout.c. */
#include "plan/module.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "plan/module_file.h"
#include "plan/policy.h"

const kg_suite *kg_module_suite(const struct kg_module *module, const char *name)
{
    for (size_t i = 0; i < module->n_suites; i++)
        if (!strcmp(module->suites[i]->name, name))
            return module->suites[i];
    return NULL;
}

const kg_backend *kg_suite_backend(const kg_suite *suite, const char *name)
{
    for (size_t i = 0; i < suite->backends.count; i++)
        if (!strcmp(suite->backends.items[i]->name, name))
            return suite->backends.items[i];
    return NULL;
}

kg_table kg_suite_rows(const kg_suite *suite, enum kg_device_kind kind)
{
    return kind == KG_CPU && suite->cpu_shapes.count ? suite->cpu_shapes : suite->shapes;
}

const kg_backend *kg_suite_anchor(const kg_suite *suite, enum kg_device_kind kind)
{
    return kind == KG_CPU ? suite->cpu_anchor : suite->anchor;
}

const char *kg_row_name(const void *problem)
{
    const char *name;
    memcpy(&name, problem, sizeof name);
    return name;
}

const void *kg_table_row(kg_table table, const char *name, size_t length)
{
    for (size_t i = 0; i < table.count; i++) {
        const void *row = (const char *)table.rows + i * table.row_size;
        if (strlen(kg_row_name(row)) == length && !memcmp(kg_row_name(row), name, length))
            return row;
    }
    return NULL;
}

bool kg_module_case(const struct kg_module *module, const char *key, const kg_suite **ret_suite,
                    char ret_shape[KG_SHAPE_SIZE], const kg_backend **ret_backend)
{
    char suite[KG_SHAPE_SIZE], backend[KG_SHAPE_SIZE];
    int end = 0;
    if (sscanf(key, "%63[^/]/%63[^/]/%63[^/]%n", suite, ret_shape, backend, &end) != 3 || key[end] ||
        !(*ret_suite = kg_module_suite(module, suite)) || !(*ret_backend = kg_suite_backend(*ret_suite, backend)))
        return false;
    return (*ret_backend)->launch && kg_timed_by_tables(*ret_suite, *ret_backend) &&
           kg_table_row(kg_suite_rows(*ret_suite, (*ret_backend)->device), ret_shape, strlen(ret_shape));
}

static int check_anchor_case(const struct kg_module *module, const kg_suite *suite, kg_error *ret_error)
{
    const kg_suite *its;
    const kg_backend *backend;
    char shape[KG_SHAPE_SIZE];
    if (!suite->anchor_case || kg_module_case(module, suite->anchor_case, &its, shape, &backend))
        return KG_OK;
    return kg_fail(ret_error, KG_EINVAL, "suite %s: anchor_case %.200s is no case that can be timed", suite->name,
                   suite->anchor_case);
}

int kg_module_check(const struct kg_module *module, kg_error *ret_error)
{
    if (!module->name || !module->suites || !module->n_suites)
        return kg_fail(ret_error, KG_EINVAL, "module without a name or suites");
    for (size_t i = 0; i < module->n_suites; i++) {
        int status = kg_suite_check(module->suites[i], ret_error);
        if (status)
            return status;
        if (kg_module_suite(module, module->suites[i]->name) != module->suites[i])
            return kg_fail(ret_error, KG_EINVAL, "suite %s stands twice", module->suites[i]->name);
    }
    for (size_t i = 0; i < module->n_suites; i++) {
        int status = check_anchor_case(module, module->suites[i], ret_error);
        if (status)
            return status;
    }
    return KG_OK;
}

static int find_shipped(const char *name, char *ret_path, kg_error *ret_error)
{
    static const char *const places[] = { "", KG_MODULES, "../lib/kgate/", "examples/" };
    char folder[KG_PATH_SIZE];
    ssize_t length = readlink("/proc/self/exe", folder, sizeof folder - 1);
    if (length <= 0)
        return kg_fail(ret_error, KG_EIO, "cannot tell where kgate is installed; give --module a path");
    folder[length] = '\0';
    *(strrchr(folder, '/') + 1) = '\0';
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        char path[KG_PATH_SIZE + 288];
        snprintf(path, sizeof path, "%s%s%.200s.so", folder, places[i], name);
        if (access(path, R_OK) == 0 && realpath(path, ret_path))
            return KG_OK;
    }
    return kg_fail(ret_error, KG_EINVAL, "no module %s beside kgate; give --module a path", name);
}

/* A line that does not fit is left out. */
static void add_line(char *lines, size_t room, const char *line)
{
    if (strlen(lines) + strlen(line) < room)
        kg_text_add(lines, room, "%s", line);
}

/* Shared objects of this process, a line each. */
struct objects {
    const char *before; /* left out, as is the module's own; NULL: none */
    const char *own;
    char *lines;
    size_t room;
};

static int add_object(struct dl_phdr_info *info, size_t size, void *argument)
{
    struct objects *objects = argument;
    char line[KG_PATH_SIZE + 2];
    (void)size;
    snprintf(line, sizeof line, "%s\n", info->dlpi_name);
    if (*info->dlpi_name && strcmp(info->dlpi_name, objects->own) != 0 &&
        !(objects->before && strstr(objects->before, line)))
        add_line(objects->lines, objects->room, line);
    return 0;
}

int kg_module_load(struct kg_loaded *module, const char *name, kg_error *ret_error)
{
    char before[4 * KG_PATH_SIZE] = "";
    struct objects objects = { .own = module->path, .lines = before, .room = sizeof before };
    dl_iterate_phdr(add_object, &objects);
    void *handle = dlopen(module->path, RTLD_NOW | RTLD_LOCAL);
    if (!handle)
        return kg_fail(ret_error, KG_EINVAL, "not a module: %s", dlerror());
    const struct kg_module *own = dlsym(handle, "kg_module"), *root = NULL;
    kg_error cause = { 0 };
    int status = KG_EINVAL;
    if (!own) {
        kg_fail(ret_error, status, "not a module: %s has no symbol kg_module", name);
        goto out;
    }
    status = kg_module_lay_out(own, &root, &cause);
    if (!status)
        status = kg_module_check(root, &cause);
    if (status)
        kg_fail(ret_error, status, "%s: %.380s", name, cause.text);
out:
    if (status) {
        dlclose(handle);
        return status;
    }
    module->root = root;
    objects = (struct objects){ before, module->path, module->links, sizeof module->links };
    dl_iterate_phdr(add_object, &objects);
    return KG_OK;
}

bool kg_module_ships(const char *name)
{
    const char *suffix = strrchr(name, '.');
    return !strchr(name, '/') && (!suffix || strcmp(suffix, ".so") != 0);
}

int kg_module_find(const char *name, char ret_path[KG_PATH_SIZE], kg_error *ret_error)
{
    char path[PATH_MAX];
    if (kg_module_ships(name)) {
        int status = find_shipped(name, path, ret_error);
        if (status)
            return status;
    } else if (!realpath(name, path)) {
        return kg_fail(ret_error, KG_EINVAL, "no module at %s", name);
    }
    snprintf(ret_path, KG_PATH_SIZE, "%s", path);
    return kg_module_file_check(path, name, ret_error);
}

void kg_module_stamp(struct kg_loaded *module, const char *paths)
{
    for (size_t length; *paths; paths += length + (paths[length] == '\n')) {
        char path[KG_PATH_SIZE], stamp[KG_STAMP_SIZE], line[KG_STAMP_SIZE + KG_PATH_SIZE + 2];
        length = strcspn(paths, "\n");
        snprintf(path, sizeof path, "%.*s", (int)length, paths);
        kg_module_file_stamp(path, stamp);
        snprintf(line, sizeof line, "%s %s\n", stamp, path);
        add_line(module->stamps, sizeof module->stamps, line);
    }
}

int kg_module_is_same(const struct kg_loaded *module, kg_error *ret_error)
{
    for (const char *line = module->stamps; *line; line += strcspn(line, "\n") + 1) {
        char path[KG_PATH_SIZE], now[KG_STAMP_SIZE];
        const size_t length = strcspn(line, " ");
        snprintf(path, sizeof path, "%.*s", (int)strcspn(line + length + 1, "\n"), line + length + 1);
        kg_module_file_stamp(path, now);
        if (strlen(now) != length || memcmp(now, line, length) != 0)
            return kg_fail(ret_error, KG_EINVAL, "%.380s was %s while the run went on", path,
                           *now ? "written or replaced" : "removed");
    }
    return KG_OK;
}

int kg_module_open(const char *name, struct kg_loaded *ret_loaded, kg_error *ret_error)
{
    struct kg_loaded loaded = { .root = NULL };
    int status = kg_module_find(name, loaded.path, ret_error);
    if (status)
        return status;
    kg_module_stamp(&loaded, loaded.path);
    status = kg_module_load(&loaded, name, ret_error);
    kg_module_stamp(&loaded, loaded.links);
    if (!status)
        status = kg_module_is_same(&loaded, ret_error);
    if (!status)
        *ret_loaded = loaded;
    return status;
}
