/* record_file.c -- reads and writes files of records; what one of them holds is its table's. */
#include "base/record_file.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"

#define SUFFIX ".json"

/* ---- reading --------------------------------------------------------------------------------------------------- */

static const struct kg_record *record_of(const struct kg_record_file *kind, int schema)
{
    return kind->older && schema < kind->schema ? kind->older : kind->record;
}

static int check_table(const cJSON *table, kg_error *ret_error)
{
    const cJSON *entry;
    if (!cJSON_IsObject(table))
        return kg_fail(ret_error, KG_EINVAL, "member '%.60s' is not an object", table->string);
    cJSON_ArrayForEach(entry, table)
    {
        if (entry->next && strcmp(entry->string, entry->next->string) > 0)
            return kg_fail(ret_error, KG_EINVAL, "'%.60s': entry '%.40s' is not sorted by key", table->string,
                           entry->next->string);
    }
    return KG_OK;
}

static int read_root(const struct kg_record_file *kind, const cJSON *root, const char *arch, int *ret_schema,
                     kg_error *ret_error)
{
    const cJSON *item;
    char said[64];
    int status = kg_record_schema(root, kind->oldest, kind->schema, ret_schema, ret_error);
    if (!status && *arch)
        status = kg_json_string(root, "arch", said, sizeof said, ret_error);
    if (status)
        return status;
    if (*arch && strcmp(said, arch))
        return kg_fail(ret_error, KG_EINVAL, "holds arch '%s', not that of its name", said);
    if (!cJSON_IsArray(cJSON_GetObjectItemCaseSensitive(root, kind->list)))
        return kg_fail(ret_error, KG_EINVAL, "member '%s' is missing or not an array", kind->list);
    cJSON_ArrayForEach(item, root)
    {
        if (!strcmp(item->string, "schema") || !strcmp(item->string, kind->list) ||
            (*arch && !strcmp(item->string, "arch")))
            continue;
        if (!kg_record_has_table(record_of(kind, *ret_schema), item->string))
            return kg_fail(ret_error, KG_EINVAL, "unknown member '%.60s'", item->string);
        if ((status = check_table(item, ret_error)))
            return status;
    }
    return KG_OK;
}

static int read_one(const struct kg_record_file *kind, const cJSON *object, const cJSON *root, int schema,
                    kg_record_take_fn *take, void *user, kg_error *ret_error)
{
    void *record = calloc(1, kind->size);
    int status = record ? kg_record_read_with(record_of(kind, schema), object, root, schema, record, ret_error)
                        : kg_fail(ret_error, KG_ENOMEM, "out of memory");
    if (!status)
        status = take(record, schema, user, ret_error);
    free(record);
    return status;
}

static int read_records(const struct kg_record_file *kind, const cJSON *root, const char *arch, kg_record_take_fn *take,
                        void *user, kg_error *ret_error)
{
    const cJSON *item;
    int number = 0, schema = 0, status = read_root(kind, root, arch, &schema, ret_error);
    if (status)
        return status;
    cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(root, kind->list))
    {
        kg_error why = { 0 };
        number++;
        if ((status = read_one(kind, item, root, schema, take, user, &why))) {
            const cJSON *key = kind->key ? cJSON_GetObjectItemCaseSensitive(item, kind->key) : NULL;
            return kg_fail(ret_error, status, "%s %d%s%.200s: %s", kind->one, number, kind->key ? ", " : "",
                           cJSON_IsString(key) ? key->valuestring
                           : kind->key         ? "without a key"
                                               : "",
                           why.text);
        }
    }
    return KG_OK;
}

int kg_record_file_path(const struct kg_record_file *kind, const char *folder, const char *arch,
                        char ret_path[KG_RECORD_PATH], kg_error *ret_error)
{
    if (snprintf(ret_path, KG_RECORD_PATH, "%s/%s%s" SUFFIX, folder, kind->prefix, arch) >= KG_RECORD_PATH)
        return kg_fail(ret_error, KG_EINVAL, "%.80s: the path is too long", folder);
    return KG_OK;
}

int kg_record_file_read(const struct kg_record_file *kind, const char *folder, const char *arch,
                        kg_record_take_fn *take, void *user, cJSON **ret_root, kg_error *ret_error)
{
    kg_error why = { 0 };
    cJSON *root = NULL;
    char path[KG_RECORD_PATH];
    int status = kg_record_file_path(kind, folder, arch, path, ret_error);
    if (!status)
        status = kg_json_read_file(path, &root, ret_error);
    if (status)
        return status;
    if (ret_root)
        *ret_root = root;
    status = read_records(kind, root, arch, take, user, &why);
    if (status)
        (void)kg_fail(ret_error, status, "%.250s: %s", path, why.text);
    if (!ret_root)
        cJSON_Delete(root);
    return status;
}

/* "h200" of expectations_h200.json; "" : the file is of another kind. */
static void arch_of(const struct kg_record_file *kind, const char *name, char *ret_arch, size_t size)
{
    size_t length = strlen(name), before = strlen(kind->prefix), ends = before + strlen(SUFFIX);
    bool ours =
        length > ends && !strncmp(name, kind->prefix, before) && !strcmp(name + length - strlen(SUFFIX), SUFFIX);
    (void)snprintf(ret_arch, size, "%.*s", ours ? (int)(length - ends) : 0, name + before);
}

int kg_record_file_each(const struct kg_record_file *kind, const char *folder, kg_record_file_fn *each, void *user,
                        kg_error *ret_error)
{
    struct dirent **entries = NULL;
    int status = KG_OK, count = scandir(folder, &entries, NULL, alphasort);
    if (count < 0 && errno != ENOENT)
        return kg_fail(ret_error, KG_EIO, "%s: %s", folder, strerror(errno));
    for (int i = 0; i < count; i++) {
        char arch[256];
        arch_of(kind, entries[i]->d_name, arch, sizeof arch);
        if (!status && *arch)
            status = each(folder, arch, user, ret_error);
        free(entries[i]);
    }
    free(entries);
    return status;
}

/* ---- writing --------------------------------------------------------------------------------------------------- */

struct part {
    const struct kg_record_file *kind;
    const char *arch, *records;
    size_t count;
};

/* The records as lines, raw; their entries go to the tables. */
static int make_lines(const struct part *part, cJSON *lines, cJSON *tables)
{
    for (size_t i = 0; i < part->count; i++) {
        cJSON *object = cJSON_CreateObject(), *line = NULL;
        char *text = NULL;
        if (object && kg_record_add_with(object, part->kind->record, tables, part->records + i * part->kind->size))
            text = cJSON_PrintUnformatted(object);
        if (text)
            line = cJSON_CreateRaw(text);
        cJSON_free(text);
        cJSON_Delete(object);
        if (!line)
            return KG_ENOMEM;
        (void)cJSON_AddItemToArray(lines, line);
    }
    return KG_OK;
}

static int by_name(const void *a, const void *b)
{
    const cJSON *const *first = a, *const *second = b;
    return strcmp((*first)->string, (*second)->string);
}

/* The object's members by their names, and NULL after them; to be freed. NULL: no memory. */
static const cJSON **sort_members(const cJSON *object)
{
    const cJSON **members = calloc((size_t)cJSON_GetArraySize(object) + 1, sizeof *members), *member;
    size_t count = 0;
    if (!members)
        return NULL;
    cJSON_ArrayForEach(member, object) members[count++] = member;
    qsort(members, count, sizeof *members, by_name);
    return members;
}

static int put_tables(const cJSON *tables, FILE *file)
{
    const cJSON **names = sort_members(tables);
    int status = names ? KG_OK : KG_ENOMEM;
    for (size_t i = 0; !status && names[i]; i++) {
        const cJSON **entries = sort_members(names[i]);
        fprintf(file, "\"%s\": {\n", names[i]->string);
        for (size_t k = 0; entries && entries[k]; k++)
            fprintf(file, "\"%s\":%s%s\n", entries[k]->string, entries[k]->valuestring, entries[k + 1] ? "," : "");
        fputs("},\n", file);
        status = entries ? KG_OK : KG_ENOMEM;
        free(entries);
    }
    free(names);
    return status;
}

static void put_head(const struct part *part, FILE *file)
{
    fprintf(file, "{\n\"schema\": %d,\n", part->kind->schema);
    if (*part->arch)
        fprintf(file, "\"arch\": \"%s\",\n", part->arch);
}

static int write_file(FILE *file, const void *what, kg_error *ret_error)
{
    const struct part *part = what;
    const cJSON *line;
    cJSON *tables = cJSON_CreateObject(), *lines = cJSON_CreateArray();
    int status = tables && lines ? make_lines(part, lines, tables) : KG_ENOMEM;
    put_head(part, file);
    if (!status)
        status = put_tables(tables, file);
    fprintf(file, "\"%s\": [", part->kind->list);
    cJSON_ArrayForEach(line, lines) fprintf(file, "\n%s%s", line->valuestring, line->next ? "," : "");
    fputs("\n]\n}\n", file);
    cJSON_Delete(tables);
    cJSON_Delete(lines);
    return status ? kg_fail(ret_error, status, "out of memory for the %s", part->kind->list) : KG_OK;
}

int kg_record_file_save(const struct kg_record_file *kind, const char *folder, const char *arch, const void *records,
                        size_t count, kg_error *ret_error)
{
    const struct part part = { kind, arch, records, count };
    char path[KG_RECORD_PATH];
    int status = kg_record_file_path(kind, folder, arch, path, ret_error);
    if (!status)
        status = kg_folder_make_one(folder, ret_error);
    return status ? status : kg_file_replace(path, write_file, &part, ret_error);
}
