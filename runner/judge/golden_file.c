/* golden_file.c -- the files expectations_<arch>.json: read strictly, replaced as a whole. Another schema is read here,
 * by its number; what one case holds is golden_json.c's. */
#include "judge/golden.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/file_replace.h"
#include "base/json.h"

#define PREFIX "expectations_"
#define SUFFIX ".json"

/* ---- reading --------------------------------------------------------------------------------------------------- */

static int read_cases(const cJSON *cases, int schema, const char *path, struct kg_goldens *set, kg_error *ret_error)
{
    const cJSON *item;
    int number = 0;
    cJSON_ArrayForEach(item, cases)
    {
        struct kg_golden golden;
        kg_error why = { 0 };
        const cJSON *key = cJSON_GetObjectItemCaseSensitive(item, "key");
        const char *name = cJSON_IsString(key) ? key->valuestring : "without a key";
        number++;
        int status = kg_golden_from_json(item, schema, &golden, &why);
        if (status < 0)
            return kg_fail(ret_error, status, "%s: case %d, %.200s: %s", path, number, name, why.text);
        int order = set->count ? strcmp(set->items[set->count - 1].key, golden.key) : -1;
        if (order >= 0)
            return kg_fail(ret_error, KG_EINVAL, "%s: case %d, %s: %s", path, number, name,
                           order ? "not sorted by key" : "repeated");
        if ((status = kg_goldens_put(set, &golden, false, ret_error)) < 0)
            return status;
    }
    return 0;
}

/* The set gets the cases; its arch is the one that the file's name says. */
static int read_root(const cJSON *root, const char *path, struct kg_goldens *set, kg_error *ret_error)
{
    kg_error why = { 0 };
    double schema = 0;
    char arch[sizeof set->arch];
    int status;
    if ((status = kg_json_number(root, "schema", &schema, &why)) < 0)
        return kg_fail(ret_error, status, "%s: %s", path, why.text);
    if (schema != 1 && schema != KG_GOLDEN_SCHEMA)
        return kg_fail(ret_error, KG_EINVAL, "%s: schema %g, this kgate reads 1 and %d", path, schema,
                       KG_GOLDEN_SCHEMA);
    if ((status = kg_json_string(root, "arch", arch, sizeof arch, &why)) < 0)
        return kg_fail(ret_error, status, "%s: %s", path, why.text);
    if (strcmp(arch, set->arch))
        return kg_fail(ret_error, KG_EINVAL, "%s: holds arch '%s', not that of its name", path, arch);
    const cJSON *cases = cJSON_GetObjectItemCaseSensitive(root, "cases"), *item;
    if (!cJSON_IsArray(cases))
        return kg_fail(ret_error, KG_EINVAL, "%s: member 'cases' is missing or not an array", path);
    cJSON_ArrayForEach(item, root) if (strcmp(item->string, "schema") && strcmp(item->string, "arch") &&
                                       strcmp(item->string, "cases")) return kg_fail(ret_error, KG_EINVAL,
                                                                                     "%s: unknown member '%s'", path,
                                                                                     item->string);
    return read_cases(cases, (int)schema, path, set, ret_error);
}

/* `name` is expectations_<arch>.json. On success the caller owns the items. */
static int read_file(const char *folder, const char *name, struct kg_goldens *ret_set, kg_error *ret_error)
{
    struct kg_goldens set = { .exists = true };
    size_t length = strlen(name) - strlen(PREFIX) - strlen(SUFFIX);
    if (snprintf(set.path, sizeof set.path, "%s/%s", folder, name) >= (int)sizeof set.path || length >= sizeof set.arch)
        return kg_fail(ret_error, KG_EINVAL, "%.200s: its path is too long", name);
    memcpy(set.arch, name + strlen(PREFIX), length);

    cJSON *root = NULL;
    int status = kg_json_read_file(set.path, &root, ret_error);
    if (status < 0)
        return status;
    status = read_root(root, set.path, &set, ret_error);
    cJSON_Delete(root);
    if (status < 0)
        kg_goldens_done(&set);
    else
        *ret_set = set;
    return status;
}

static int is_golden_file(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name), ends = strlen(PREFIX) + strlen(SUFFIX);
    return length > ends && !strncmp(entry->d_name, PREFIX, strlen(PREFIX)) &&
           !strcmp(entry->d_name + length - strlen(SUFFIX), SUFFIX);
}

static int name_set(const char *folder, const char *arch, struct kg_goldens *set, kg_error *ret_error)
{
    int used = snprintf(set->arch, sizeof set->arch, "%s", arch);
    int length = snprintf(set->path, sizeof set->path, "%s/" PREFIX "%s" SUFFIX, folder, arch);
    if (used >= (int)sizeof set->arch || length >= (int)sizeof set->path)
        return kg_fail(ret_error, KG_EINVAL, "the path of the goldens of '%.80s' is too long", arch);
    return 0;
}

int kg_goldens_load_all(const char *folder, struct kg_goldens **ret_sets, size_t *ret_count, kg_error *ret_error)
{
    struct dirent **entries = NULL;
    int found = scandir(folder, &entries, is_golden_file, alphasort);
    if (found < 0 && errno != ENOENT)
        return kg_fail(ret_error, KG_EIO, "%s: %s", folder, strerror(errno));

    size_t count = found > 0 ? (size_t)found : 0;
    struct kg_goldens *sets = calloc(count + 1, sizeof *sets);
    int status = sets ? KG_OK : kg_fail(ret_error, KG_ENOMEM, "out of memory for the goldens");
    for (size_t i = 0; i < count; i++) {
        if (status == 0)
            status = read_file(folder, entries[i]->d_name, &sets[i], ret_error);
        free(entries[i]);
    }
    free(entries);
    if (status < 0) {
        kg_goldens_free_all(sets, sets ? count : 0);
        return status;
    }
    *ret_sets = sets;
    *ret_count = count;
    return KG_OK;
}

void kg_goldens_free_all(struct kg_goldens *sets, size_t count)
{
    for (size_t i = 0; i < count; i++)
        kg_goldens_done(&sets[i]);
    free(sets);
}

int kg_goldens_load(const char *folder, const char *arch, struct kg_goldens *ret_goldens, kg_error *ret_error)
{
    struct kg_goldens wanted = { .count = 0 }, *sets = NULL;
    size_t count = 0;
    int status = name_set(folder, arch, &wanted, ret_error);
    if (status == 0)
        status = kg_goldens_load_all(folder, &sets, &count, ret_error);
    if (status < 0)
        return status;
    for (size_t i = 0; i < count; i++) {
        if (strcmp(sets[i].arch, arch))
            continue;
        wanted = sets[i];
        sets[i] = (struct kg_goldens){ .count = 0 };
    }
    kg_goldens_free_all(sets, count);
    *ret_goldens = wanted;
    return KG_OK;
}

/* ---- writing --------------------------------------------------------------------------------------------------- */

static bool write_goldens(FILE *file, const void *what)
{
    const struct kg_goldens *goldens = what;
    bool ok = fprintf(file, "{\n\"schema\": %d,\n\"arch\": \"%s\",\n\"cases\": [", KG_GOLDEN_SCHEMA, goldens->arch) > 0;
    for (size_t i = 0; i < goldens->count && ok; i++) {
        cJSON *object = kg_golden_to_json(&goldens->items[i]);
        char *line = object ? cJSON_PrintUnformatted(object) : NULL;
        if (!line)
            errno = ENOMEM;
        ok = line && fprintf(file, "%s\n%s", i ? "," : "", line) > 0;
        cJSON_free(line);
        cJSON_Delete(object);
    }
    return ok && fputs("\n]\n}\n", file) >= 0;
}

int kg_goldens_save(const struct kg_goldens *goldens, const char *folder, kg_error *ret_error)
{
    char name[sizeof goldens->arch + 32];
    snprintf(name, sizeof name, PREFIX "%s" SUFFIX, goldens->arch);
    return kg_file_replace(folder, name, write_goldens, goldens, ret_error);
}
