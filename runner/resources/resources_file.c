/* resources_file.c -- a set of blessed kernels and its files. A new figure of kg_kernel is a row of `figures`. */
#include "resources/resources_file.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/file_replace.h"
#include "base/json.h"
#include "plan/module.h"

#define PREFIX "resources_"
#define SUFFIX ".json"

static const struct {
    const char *name;
    size_t offset;
    int min;
} figures[] = {
    { "registers", offsetof(kg_kernel, registers), 0 },
    { "stack_bytes", offsetof(kg_kernel, stack_bytes), 0 },
    { "spill_store_bytes", offsetof(kg_kernel, spill_store_bytes), 0 },
    { "spill_load_bytes", offsetof(kg_kernel, spill_load_bytes), 0 },
    { "shared_bytes", offsetof(kg_kernel, shared_bytes), 0 },
    { "barriers", offsetof(kg_kernel, barriers), 0 },
    { "block_threads", offsetof(kg_kernel, block_threads), 0 },
    { "tensor_sass", offsetof(kg_kernel, tensor_sass), -1 },
};
#define N_FIGURES (sizeof figures / sizeof *figures)
#define N_MEMBERS (N_FIGURES + 7) /* kernel, module, code_hash, tensor, notes, compiler, provenance */

/* ---- the set --------------------------------------------------------------------------------------------------- */

static int order(const char *arch_a, const char *module_a, const char *name_a, const struct kg_expected_kernel *b)
{
    int by_arch = strcmp(arch_a, b->kernel.arch), by_module = strcmp(module_a, b->module);
    return by_arch ? by_arch : by_module ? by_module : strcmp(name_a, b->kernel.name);
}

const struct kg_expected_kernel *kg_resources_find(const struct kg_expected_kernels *set, const char *module,
                                                   const char *arch, const char *name)
{
    size_t from = 0, to = set->count;
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        int by = order(arch, module, name, &set->items[middle]);
        if (!by)
            return &set->items[middle];
        *(by < 0 ? &to : &from) = by < 0 ? middle : middle + 1;
    }
    return NULL;
}

int kg_resources_put(struct kg_expected_kernels *set, const struct kg_expected_kernel *item, kg_error *ret_error)
{
    size_t place = 0;
    while (place < set->count && order(item->kernel.arch, item->module, item->kernel.name, &set->items[place]) > 0)
        place++;
    if (place < set->count && !order(item->kernel.arch, item->module, item->kernel.name, &set->items[place])) {
        set->items[place] = *item;
        return KG_OK;
    }
    struct kg_expected_kernel *grown = realloc(set->items, (set->count + 1) * sizeof *grown);
    if (!grown)
        return kg_fail(ret_error, KG_ENOMEM, "out of memory");
    set->items = grown;
    memmove(grown + place + 1, grown + place, (set->count++ - place) * sizeof *grown);
    grown[place] = *item;
    return KG_OK;
}

void kg_resources_remove(struct kg_expected_kernels *set, const struct kg_expected_kernel *item)
{
    size_t place = (size_t)(item - set->items);
    memmove(set->items + place, set->items + place + 1, (--set->count - place) * sizeof *set->items);
}

void kg_resources_done(struct kg_expected_kernels *set)
{
    for (size_t i = 0; i < set->n_roots; i++)
        cJSON_Delete(set->roots[i]);
    free(set->roots);
    free(set->items);
    *set = (struct kg_expected_kernels){ .count = 0 };
}

/* ---- reading --------------------------------------------------------------------------------------------------- */

static int read_text(const cJSON *object, const char *name, const char **ret_text, kg_error *ret_error)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);
    if (!cJSON_IsString(item))
        return kg_fail(ret_error, KG_EINVAL, "member '%s' is missing or not a string", name);
    *ret_text = item->valuestring;
    return KG_OK;
}

static int read_count(const cJSON *object, const char *name, int min, int *ret_value, kg_error *ret_error)
{
    double value = 0;
    int status = kg_json_number(object, name, &value, ret_error);
    if (status)
        return status;
    if (!(value >= min && value <= 1e9) || value != (int)value)
        return kg_fail(ret_error, KG_EINVAL, "member '%s' is no whole number from %d on", name, min);
    *ret_value = (int)value;
    return KG_OK;
}

/* Families that a kernel has none of are left out. */
static int read_tensor(const cJSON *object, kg_kernel *kernel, kg_error *ret_error)
{
    const cJSON *tensor = cJSON_GetObjectItemCaseSensitive(object, "tensor");
    int known = 0;
    if (!cJSON_IsObject(tensor))
        return kg_fail(ret_error, KG_EINVAL, "member 'tensor' is missing or not an object");
    for (int i = 0; i < KG_TENSOR_KINDS; i++) {
        if (!cJSON_GetObjectItemCaseSensitive(tensor, KG_TENSOR_NAMES[i]))
            continue;
        int status = read_count(tensor, KG_TENSOR_NAMES[i], 1, &kernel->tensor[i], ret_error);
        if (status)
            return status;
        known++;
    }
    if (known != cJSON_GetArraySize(tensor))
        return kg_fail(ret_error, KG_EINVAL, "unknown member in 'tensor'");
    return KG_OK;
}

static int read_provenance(const cJSON *object, struct kg_provenance *p, kg_error *ret_error)
{
    const cJSON *from = cJSON_GetObjectItemCaseSensitive(object, "provenance");
    const struct {
        const char *name;
        char *text;
        size_t size;
    } texts[] = { { "git_sha", p->git_sha, sizeof p->git_sha },
                  { "branch", p->branch, sizeof p->branch },
                  { "date", p->date, sizeof p->date },
                  { "reason", p->reason, sizeof p->reason } };
    if (!cJSON_IsObject(from) || cJSON_GetArraySize(from) != 5)
        return kg_fail(ret_error, KG_EINVAL, "member 'provenance' is not git_sha, branch, dirty, date and reason");
    int status = kg_json_bool(from, "dirty", &p->dirty, ret_error);
    for (size_t i = 0; i < sizeof texts / sizeof *texts && !status; i++)
        status = kg_json_string(from, texts[i].name, texts[i].text, texts[i].size, ret_error);
    return status;
}

static int read_kernel(const cJSON *object, const char *arch, struct kg_expected_kernel *ret_item, kg_error *ret_error)
{
    kg_kernel *kernel = &ret_item->kernel;
    const struct {
        const char *name, **text;
    } texts[] = { { "kernel", &kernel->name },
                  { "module", &ret_item->module },
                  { "code_hash", &kernel->code_hash },
                  { "notes", &kernel->notes },
                  { "compiler", &kernel->compiler } };
    *ret_item = (struct kg_expected_kernel){ .kernel.arch = arch };
    if (!cJSON_IsObject(object))
        return kg_fail(ret_error, KG_EINVAL, "not an object");
    int status = KG_OK;
    for (size_t i = 0; i < sizeof texts / sizeof *texts && !status; i++)
        status = read_text(object, texts[i].name, texts[i].text, ret_error);
    for (size_t i = 0; i < N_FIGURES && !status; i++)
        status = read_count(object, figures[i].name, figures[i].min,
                            (int *)(void *)((char *)kernel + figures[i].offset), ret_error);
    if (!status)
        status = read_tensor(object, kernel, ret_error);
    if (!status)
        status = read_provenance(object, &ret_item->provenance, ret_error);
    if (!status && cJSON_GetArraySize(object) != N_MEMBERS)
        status = kg_fail(ret_error, KG_EINVAL, "it has members that are not known");
    return status;
}

static int read_root(const cJSON *root, const char *arch, struct kg_expected_kernels *set, kg_error *ret_error)
{
    const char *said = NULL;
    const cJSON *kernels = cJSON_GetObjectItemCaseSensitive(root, "kernels"), *item;
    struct kg_expected_kernel last = { .module = "" };
    double schema = 0;
    int number = 0, status = kg_json_number(root, "schema", &schema, ret_error);
    if (!status && schema != KG_RESOURCES_SCHEMA)
        status = kg_fail(ret_error, KG_EINVAL, "schema %g, this kgate reads %d", schema, KG_RESOURCES_SCHEMA);
    if (!status)
        status = read_text(root, "arch", &said, ret_error);
    if (!status && (strcmp(said, arch) || !cJSON_IsArray(kernels) || cJSON_GetArraySize(root) != 3))
        status = kg_fail(ret_error, KG_EINVAL, "it is not schema, the arch of its name, and an array of kernels");
    cJSON_ArrayForEach(item, kernels)
    {
        struct kg_expected_kernel one = { .module = "" };
        kg_error why = { 0 };
        number++;
        if (!status && read_kernel(item, said, &one, &why))
            status = kg_fail(ret_error, KG_EINVAL, "kernel %d: %s", number, why.text);
        if (!status && number > 1 && order(said, one.module, one.kernel.name, &last) <= 0)
            status = kg_fail(ret_error, KG_EINVAL, "kernel %d is repeated, or not sorted by module and name", number);
        if (!status)
            status = kg_resources_put(set, &one, ret_error);
        last = one;
    }
    return status;
}

static int read_file(const char *folder, const char *name, struct kg_expected_kernels *set, kg_error *ret_error)
{
    char path[KG_PATH_SIZE], arch[64];
    kg_error why = { 0 };
    cJSON *root = NULL;
    int length = (int)(strlen(name) - strlen(PREFIX) - strlen(SUFFIX));
    if (snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path || length >= (int)sizeof arch)
        return kg_fail(ret_error, KG_EINVAL, "%.200s: its path is too long", name);
    snprintf(arch, sizeof arch, "%.*s", length, name + strlen(PREFIX));
    cJSON **grown = realloc(set->roots, (set->n_roots + 1) * sizeof *grown);
    if (!grown)
        return kg_fail(ret_error, KG_ENOMEM, "out of memory");
    set->roots = grown;
    int status = kg_json_read_file(path, &root, ret_error);
    if (status)
        return status;
    set->roots[set->n_roots++] = root;
    status = read_root(root, arch, set, &why);
    return status ? kg_fail(ret_error, status, "%.250s: %.230s", path, why.text) : KG_OK;
}

static int is_ours(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name), ends = strlen(PREFIX) + strlen(SUFFIX);
    return length > ends && !strncmp(entry->d_name, PREFIX, strlen(PREFIX)) &&
           !strcmp(entry->d_name + length - strlen(SUFFIX), SUFFIX);
}

int kg_resources_load(const char *folder, struct kg_expected_kernels *ret_set, kg_error *ret_error)
{
    struct kg_expected_kernels set = { .count = 0 };
    struct dirent **entries = NULL;
    int status = KG_OK, count = scandir(folder, &entries, is_ours, alphasort);
    if (count < 0 && errno != ENOENT)
        return kg_fail(ret_error, KG_EIO, "%s: %s", folder, strerror(errno));
    for (int i = 0; i < count; i++) {
        if (!status)
            status = read_file(folder, entries[i]->d_name, &set, ret_error);
        free(entries[i]);
    }
    free(entries);
    if (status)
        kg_resources_done(&set);
    else
        *ret_set = set;
    return status;
}

/* ---- writing --------------------------------------------------------------------------------------------------- */

void kg_kernel_add_json(struct cJSON *object, const kg_kernel *kernel)
{
    cJSON_AddStringToObject(object, "code_hash", kernel->code_hash);
    for (size_t i = 0; i < N_FIGURES; i++)
        cJSON_AddNumberToObject(object, figures[i].name,
                                *(const int *)(const void *)((const char *)kernel + figures[i].offset));
    cJSON *tensor = cJSON_AddObjectToObject(object, "tensor");
    for (int i = 0; i < KG_TENSOR_KINDS; i++)
        if (kernel->tensor[i])
            cJSON_AddNumberToObject(tensor, KG_TENSOR_NAMES[i], kernel->tensor[i]);
    cJSON_AddStringToObject(object, "notes", kernel->notes ? kernel->notes : "");
    cJSON_AddStringToObject(object, "compiler", kernel->compiler ? kernel->compiler : "");
}

static char *line_of(const struct kg_expected_kernel *item)
{
    cJSON *object = cJSON_CreateObject();
    cJSON_AddStringToObject(object, "kernel", item->kernel.name);
    cJSON_AddStringToObject(object, "module", item->module);
    kg_kernel_add_json(object, &item->kernel);
    cJSON *provenance = cJSON_AddObjectToObject(object, "provenance");
    cJSON_AddStringToObject(provenance, "git_sha", item->provenance.git_sha);
    cJSON_AddStringToObject(provenance, "branch", item->provenance.branch);
    cJSON_AddBoolToObject(provenance, "dirty", item->provenance.dirty);
    cJSON_AddStringToObject(provenance, "date", item->provenance.date);
    cJSON_AddStringToObject(provenance, "reason", item->provenance.reason);
    char *line = cJSON_PrintUnformatted(object);
    cJSON_Delete(object);
    return line;
}

struct part {
    const struct kg_expected_kernels *set;
    const char *arch;
};

static bool write_part(FILE *file, const void *what)
{
    const struct part *part = what;
    const char *comma = "";
    bool ok =
        fprintf(file, "{\n\"schema\": %d,\n\"arch\": \"%s\",\n\"kernels\": [", KG_RESOURCES_SCHEMA, part->arch) > 0;
    for (size_t i = 0; i < part->set->count && ok; i++) {
        if (strcmp(part->set->items[i].kernel.arch, part->arch))
            continue;
        char *line = line_of(&part->set->items[i]);
        if (!line)
            errno = ENOMEM;
        ok = line && fprintf(file, "%s\n%s", comma, line) > 0;
        cJSON_free(line);
        comma = ",";
    }
    return ok && fputs("\n]\n}\n", file) >= 0;
}

int kg_resources_save(const struct kg_expected_kernels *set, const char *folder, const char *arch, kg_error *ret_error)
{
    const struct part part = { set, arch };
    char name[128];
    if (snprintf(name, sizeof name, PREFIX "%s" SUFFIX, arch) >= (int)sizeof name)
        return kg_fail(ret_error, KG_EINVAL, "%.80s: an architecture of too long a name", arch);
    return kg_file_replace(folder, name, write_part, &part, ret_error);
}
