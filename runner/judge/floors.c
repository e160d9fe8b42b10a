/* floors.c -- the file of this machine's floors: JSON, one case a line. */
#include "judge/floors.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/lock.h"
#include "base/random.h"
#include "base/record_file.h"

static const struct kg_member by_quantity_members[] = {
    { "raw", KG_IS_AMOUNT, .offset = KG_QUANTITY_RAW * sizeof(double) },
    { "ratio", KG_IS_AMOUNT, .offset = KG_QUANTITY_RATIO * sizeof(double) },
    { "against", KG_IS_AMOUNT, .offset = KG_QUANTITY_AGAINST * sizeof(double) },
};
static const struct kg_record by_quantity = KG_RECORD(by_quantity_members);
static const struct kg_member members[] = {
    { "key", KG_IS_TEXT, KG_AT(struct kg_floor, key) },
    { "uuid", KG_IS_TEXT, KG_AT(struct kg_floor, uuid) },
    { "driver", KG_IS_TEXT, KG_AT(struct kg_floor, driver) },
    { "timer", KG_IS_TEXT, KG_AT(struct kg_floor, contract.timer) },
    { "l2", KG_IS_TEXT, KG_AT(struct kg_floor, contract.l2) },
    { "data", KG_IS_TEXT, KG_AT(struct kg_floor, contract.data) },
    { "code", KG_IS_TEXT, KG_AT(struct kg_floor, code) },
    { "date", KG_IS_TEXT, KG_AT(struct kg_floor, date) },
    { "under", KG_IS_TEXT, KG_AT(struct kg_floor, under) },
    { "window_us", KG_IS_AMOUNT, KG_AT(struct kg_floor, contract.window_us) },
    { "n_blocks", KG_IS_COUNT, KG_AT(struct kg_floor, n_blocks), .least = KG_FLOOR_MIN_BLOCKS, .most = 1000000000 },
    { "sd", KG_IS_RECORD, KG_AT(struct kg_floor, sd), .record = &by_quantity },
    { "floor_pct", KG_IS_RECORD, KG_AT(struct kg_floor, floor_pct), .record = &by_quantity },
    { "detectable_pct", KG_IS_AMOUNT, KG_AT(struct kg_floor, detectable_pct) },
};
static const struct kg_record floor_record = KG_RECORD(members);
static const struct kg_record_file floors_file = {
    .prefix = "floors",
    .list = "floors",
    .one = "floor",
    .oldest = KG_FLOORS_SCHEMA,
    .schema = KG_FLOORS_SCHEMA,
    .record = &floor_record,
    .size = sizeof(struct kg_floor),
};

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

void kg_floor_code(const char *identity, char ret_code[24])
{
    uint64_t hash = strlen(identity);
    for (const char *at = identity; *at; at++)
        hash = kg_mix64(hash ^ (unsigned char)*at);
    (void)snprintf(ret_code, 24, "%016" PRIx64, hash);
}

const struct kg_floor *kg_floors_find(const struct kg_floors *floors, const kg_device *device, const char *key,
                                      const struct kg_contract *contract, const char *identity)
{
    char code[sizeof floors->items->code] = "";
    if (identity)
        kg_floor_code(identity, code);
    for (size_t i = 0; i < floors->count; i++) {
        const struct kg_floor *floor = &floors->items[i];
        if (!strcmp(floor->key, key) && !strcmp(floor->uuid, device->uuid) && !strcmp(floor->driver, device->driver) &&
            kg_contract_same(&floor->contract, contract) && (!identity || !strcmp(floor->code, code)))
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

/* ---- the file -------------------------------------------------------------------------------------------------- */

static int take_floor(const void *record, int schema, void *user, kg_error *ret_error)
{
    (void)schema;
    return put(user, record, ret_error);
}

int kg_floors_load(const char *cache_folder, struct kg_floors *ret_floors, kg_error *ret_error)
{
    struct kg_floors floors = { .count = 0 };
    kg_error why = { 0 };
    int status = kg_record_file_read(&floors_file, cache_folder, "", take_floor, &floors, NULL, &why);
    if (status == KG_ENOTFOUND)
        status = KG_OK;
    else if (status)
        (void)kg_fail(ret_error, status, "%.400s%s", why.text,
                      status == KG_EINVAL ? "; remove it and run kgate selfcheck again" : "");
    if (status)
        kg_floors_done(&floors);
    else
        *ret_floors = floors;
    return status;
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
        status = kg_record_file_save(&floors_file, cache_folder, "", floors.items, floors.count, ret_error);
    kg_folder_unlock(lock);
    kg_floors_done(&floors);
    return status;
}
