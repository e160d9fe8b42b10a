/* resources_file.c -- a set of blessed kernels and its files. A new figure of kg_kernel is a row of `members`. */
#include "resources/resources_file.h"

#include <stdlib.h>
#include <string.h>

#include "base/record_file.h"

#define FIELD(field) KG_AT(struct kg_expected_kernel, field)
#define FIGURE(figure) KG_IS_COUNT, FIELD(kernel.figure), .most = 1000000000

/* From code_hash to compiler: what kg_kernel_add_json adds. */
static const struct kg_member members[] = {
    { "kernel", KG_IS_STRING, FIELD(kernel.name) },
    { "module", KG_IS_STRING, FIELD(module) },
    { "code_hash", KG_IS_STRING, FIELD(kernel.code_hash) },
    { "registers", FIGURE(registers) },
    { "stack_bytes", FIGURE(stack_bytes) },
    { "spill_store_bytes", FIGURE(spill_store_bytes) },
    { "spill_load_bytes", FIGURE(spill_load_bytes) },
    { "shared_bytes", FIGURE(shared_bytes) },
    { "barriers", FIGURE(barriers) },
    { "block_threads", FIGURE(block_threads) },
    { "tensor_sass", FIGURE(tensor_sass), .least = -1 },
    { "tensor", KG_IS_COUNTS, FIELD(kernel.tensor), .most = 1000000000, KG_WORDS(KG_TENSOR_NAMES) },
    { "notes", KG_IS_STRING, FIELD(kernel.notes) },
    { "compiler", KG_IS_STRING, FIELD(kernel.compiler) },
    { "provenance", KG_IS_RECORD, FIELD(provenance), .record = &kg_bless_record },
};
static const struct kg_record kernel_record = KG_RECORD(members);
static const struct kg_record figures = { members + 2, KG_COUNT_OF(members) - 3 };
static const struct kg_record_file kernels_file = {
    .prefix = "resources_",
    .list = "kernels",
    .one = "kernel",
    .oldest = KG_RESOURCES_SCHEMA,
    .schema = KG_RESOURCES_SCHEMA,
    .record = &kernel_record,
    .size = sizeof(struct kg_expected_kernel),
};

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

/* ---- the files ------------------------------------------------------------------------------------------------- */

struct reading {
    struct kg_expected_kernels *set;
    struct kg_expected_kernel last; /* of the file that is being read */
};

static int take_kernel(const void *record, int schema, void *user, kg_error *ret_error)
{
    struct reading *reading = user;
    struct kg_expected_kernel item = *(const struct kg_expected_kernel *)record;
    const cJSON *root = reading->set->roots[reading->set->n_roots - 1];
    (void)schema;
    item.kernel.arch = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(root, "arch"));
    if (reading->last.module && order(item.kernel.arch, item.module, item.kernel.name, &reading->last) <= 0)
        return kg_fail(ret_error, KG_EINVAL, "repeated, or not sorted by module and name");
    reading->last = item;
    return kg_resources_put(reading->set, &item, ret_error);
}

static int read_file(const char *folder, const char *arch, void *user, kg_error *ret_error)
{
    struct kg_expected_kernels *set = user;
    struct reading reading = { .set = set };
    cJSON **grown = realloc(set->roots, (set->n_roots + 1) * sizeof *grown);
    if (!grown)
        return kg_fail(ret_error, KG_ENOMEM, "out of memory");
    set->roots = grown;
    set->roots[set->n_roots++] = NULL;
    return kg_record_file_read(&kernels_file, folder, arch, take_kernel, &reading, &grown[set->n_roots - 1], ret_error);
}

int kg_resources_load(const char *folder, struct kg_expected_kernels *ret_set, kg_error *ret_error)
{
    struct kg_expected_kernels set = { .count = 0 };
    int status = kg_record_file_each(&kernels_file, folder, read_file, &set, ret_error);
    if (status)
        kg_resources_done(&set);
    else
        *ret_set = set;
    return status;
}

void kg_kernel_add_json(struct cJSON *object, const kg_kernel *kernel)
{
    const struct kg_expected_kernel item = { .kernel = *kernel };
    (void)kg_record_add(object, &figures, &item);
}

int kg_resources_save(const struct kg_expected_kernels *set, const char *folder, const char *arch, kg_error *ret_error)
{
    size_t from = 0, to;
    while (from < set->count && strcmp(set->items[from].kernel.arch, arch))
        from++;
    for (to = from; to < set->count && !strcmp(set->items[to].kernel.arch, arch); to++)
        ;
    return kg_record_file_save(&kernels_file, folder, arch, set->items + from, to - from, ret_error);
}
