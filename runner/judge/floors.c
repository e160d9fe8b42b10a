/* floors.c -- the file of this machine's floors: JSON, one case a line. */
#include "judge/floors.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file_replace.h"
#include "base/folder.h"
#include "base/json.h"

static const char *const quantity_names[KG_QUANTITIES] = {
    [KG_QUANTITY_RAW] = "raw", [KG_QUANTITY_RATIO] = "ratio", [KG_QUANTITY_AGAINST] = "against"
};

static const struct {
    const char *name;
    size_t offset, size;
} texts[] = {
#define TEXT(name, member)                                                                                             \
    {                                                                                                                  \
        name, offsetof(struct kg_floor, member), sizeof(((struct kg_floor *)0)->member)                                \
    }
    TEXT("key", key),        TEXT("uuid", uuid),          TEXT("driver", driver), TEXT("timer", contract.timer),
    TEXT("l2", contract.l2), TEXT("data", contract.data), TEXT("date", date),
#undef TEXT
};
#define N_TEXTS (sizeof texts / sizeof *texts)

/* ---- the set --------------------------------------------------------------------------------------------------- */

static int order(const struct kg_floor *a, const struct kg_floor *b)
{
    const char *const pairs[][2] = { { a->uuid, b->uuid },
                                     { a->driver, b->driver },
                                     { a->key, b->key },
                                     { a->contract.timer, b->contract.timer },
                                     { a->contract.l2, b->contract.l2 },
                                     { a->contract.data, b->contract.data } };
    int found = 0;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs && !found; i++)
        found = strcmp(pairs[i][0], pairs[i][1]);
    return found;
}

void kg_floors_done(struct kg_floors *floors)
{
    free(floors->items);
    *floors = (struct kg_floors){ 0 };
}

const struct kg_floor *kg_floors_find(const struct kg_floors *floors, const kg_device *device, const char *key,
                                      const struct kg_contract *contract)
{
    for (size_t i = 0; i < floors->count; i++) {
        const struct kg_floor *floor = &floors->items[i];
        if (!strcmp(floor->key, key) && !strcmp(floor->uuid, device->uuid) && !strcmp(floor->driver, device->driver) &&
            kg_contract_same(&floor->contract, contract))
            return floor;
    }
    return NULL;
}

/* Replaces or inserts. */
static int put(struct kg_floors *floors, const struct kg_floor *floor, kg_error *ret_error)
{
    size_t at = 0;
    while (at < floors->count && order(&floors->items[at], floor) < 0)
        at++;
    if (at < floors->count && order(&floors->items[at], floor) == 0) {
        floors->items[at] = *floor;
        return KG_OK;
    }
    struct kg_floor *items = realloc(floors->items, (floors->count + 1) * sizeof *items);
    if (!items)
        return kg_fail(ret_error, KG_ENOMEM, "out of memory for floors");
    memmove(&items[at + 1], &items[at], (floors->count - at) * sizeof *items);
    items[at] = *floor;
    floors->items = items;
    floors->count++;
    return KG_OK;
}

/* ---- reading --------------------------------------------------------------------------------------------------- */

static bool is_known(const char *name)
{
    static const char *const others[] = { "window_us", "n_blocks", "sd", "floor_pct", "detectable_pct" };
    for (size_t i = 0; i < N_TEXTS; i++)
        if (!strcmp(name, texts[i].name))
            return true;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (!strcmp(name, others[i]))
            return true;
    return false;
}

static int read_by_quantity(const cJSON *object, const char *name, double ret_values[KG_QUANTITIES],
                            kg_error *ret_error)
{
    const cJSON *values = cJSON_GetObjectItemCaseSensitive(object, name);
    int status = KG_OK;
    for (size_t i = 0; i < KG_QUANTITIES && !status; i++) {
        status = kg_json_number(values, quantity_names[i], &ret_values[i], ret_error);
        if (!status && !(ret_values[i] >= 0))
            status = kg_fail(ret_error, KG_EINVAL, "member '%s' of '%s' is negative", quantity_names[i], name);
    }
    return status;
}

static int read_floor(const cJSON *object, struct kg_floor *floor, kg_error *ret_error)
{
    const cJSON *item;
    double blocks = 0;
    int status = KG_OK;
    if (!cJSON_IsObject(object)) /* items of an array have no names */
        return kg_fail(ret_error, KG_EINVAL, "not an object");
    cJSON_ArrayForEach(item, object) if (!is_known(item->string)) return kg_fail(
        ret_error, KG_EINVAL, "unknown member '%.60s'", item->string);
    for (size_t i = 0; i < N_TEXTS && !status; i++)
        status = kg_json_string(object, texts[i].name, (char *)floor + texts[i].offset, texts[i].size, ret_error);
    if (!status)
        status = kg_json_number(object, "window_us", &floor->contract.window_us, ret_error);
    if (!status)
        status = kg_json_number(object, "n_blocks", &blocks, ret_error);
    if (!status && !(blocks >= KG_FLOOR_MIN_BLOCKS && blocks <= 1e9 && blocks == rint(blocks)))
        status = kg_fail(ret_error, KG_EINVAL, "n_blocks: %g", blocks);
    if (!status)
        status = read_by_quantity(object, "sd", floor->sd, ret_error);
    if (!status)
        status = read_by_quantity(object, "floor_pct", floor->floor_pct, ret_error);
    if (!status)
        status = kg_json_number(object, "detectable_pct", &floor->detectable_pct, ret_error);
    if (!status && !(floor->detectable_pct >= 0))
        status = kg_fail(ret_error, KG_EINVAL, "detectable_pct is negative");
    floor->n_blocks = status ? 0 : (int)blocks;
    return status;
}

static int read_root(const cJSON *root, struct kg_floors *floors, kg_error *ret_error)
{
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(root, "floors"), *item;
    double schema = 0;
    int number = 0, status = kg_json_number(root, "schema", &schema, ret_error);
    if (!status && schema != KG_FLOORS_SCHEMA)
        status = kg_fail(ret_error, KG_EINVAL, "schema %g, this kgate reads %d", schema, KG_FLOORS_SCHEMA);
    if (!status && !cJSON_IsArray(list))
        status = kg_fail(ret_error, KG_EINVAL, "member 'floors' is missing or not an array");
    if (status)
        return status;
    cJSON_ArrayForEach(item, list)
    {
        struct kg_floor floor = { .n_blocks = 0 };
        kg_error why = { 0 };
        number++;
        status = read_floor(item, &floor, &why);
        if (status)
            return kg_fail(ret_error, status, "floor %d: %.300s", number, why.text);
        if ((status = put(floors, &floor, ret_error)))
            return status;
    }
    return KG_OK;
}

int kg_floors_load(const char *cache_folder, struct kg_floors *ret_floors, kg_error *ret_error)
{
    struct kg_floors floors = { .count = 0 };
    cJSON *root = NULL;
    char path[4096];
    kg_error why = { 0 };
    if (snprintf(path, sizeof path, "%s/" KG_FLOORS_FILE, cache_folder) >= (int)sizeof path)
        return kg_fail(ret_error, KG_EINVAL, "%.80s: the path is too long", cache_folder);
    int status = kg_json_read_file(path, &root, &why);
    if (!status) {
        status = read_root(root, &floors, &why);
        if (status)
            (void)kg_fail(ret_error, status, "%.200s: %.200s; remove it and run kgate selfcheck again", path, why.text);
    } else if (status == KG_ENOTFOUND) {
        status = KG_OK;
    } else {
        (void)kg_fail(ret_error, status, "%s", why.text);
    }
    cJSON_Delete(root);
    if (status)
        kg_floors_done(&floors);
    else
        *ret_floors = floors;
    return status;
}

/* ---- writing --------------------------------------------------------------------------------------------------- */

/* Six digits survive a round trip, so a floor that nothing changed is written back as it was. */
static void add_short(cJSON *object, const char *name, double value)
{
    char text[32];
    (void)snprintf(text, sizeof text, "%.6g", value);
    cJSON_AddItemToObject(object, name, cJSON_CreateRaw(text));
}

static void add_by_quantity(cJSON *object, const char *name, const double values[KG_QUANTITIES])
{
    cJSON *group = cJSON_AddObjectToObject(object, name);
    for (int i = 0; i < KG_QUANTITIES; i++)
        add_short(group, quantity_names[i], values[i]);
}

static char *floor_text(const struct kg_floor *floor)
{
    cJSON *object = cJSON_CreateObject();
    for (size_t i = 0; i < N_TEXTS; i++)
        cJSON_AddStringToObject(object, texts[i].name, (const char *)floor + texts[i].offset);
    add_short(object, "window_us", floor->contract.window_us);
    cJSON_AddNumberToObject(object, "n_blocks", floor->n_blocks);
    add_by_quantity(object, "sd", floor->sd);
    add_by_quantity(object, "floor_pct", floor->floor_pct);
    add_short(object, "detectable_pct", floor->detectable_pct);
    char *text = cJSON_PrintUnformatted(object);
    cJSON_Delete(object);
    return text;
}

static bool write_floors(FILE *file, const void *what)
{
    const struct kg_floors *floors = what;
    bool ok = fprintf(file, "{\n\"schema\": %d,\n\"floors\": [", KG_FLOORS_SCHEMA) > 0;
    for (size_t i = 0; i < floors->count && ok; i++) {
        char *line = floor_text(&floors->items[i]);
        ok = line && fprintf(file, "%s\n%s", i ? "," : "", line) > 0;
        cJSON_free(line);
    }
    return ok && fputs("\n]\n}\n", file) >= 0;
}

int kg_floors_update(const char *cache_folder, const struct kg_floor *items, size_t count, kg_error *ret_error)
{
    struct kg_floors floors = { .count = 0 };
    int lock = -1;
    int status = kg_folder_make(cache_folder, ret_error);
    if (!status)
        status = kg_folder_lock(cache_folder, &lock, ret_error);
    if (!status)
        status = kg_floors_load(cache_folder, &floors, ret_error);
    for (size_t i = 0; i < count && !status; i++)
        status = put(&floors, &items[i], ret_error);
    if (!status)
        status = kg_file_replace(cache_folder, KG_FLOORS_FILE, write_floors, &floors, ret_error);
    kg_folder_unlock(lock);
    kg_floors_done(&floors);
    return status;
}
