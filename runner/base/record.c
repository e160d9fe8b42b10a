/* record.c -- members by their tables. A new type of member is a row of enum kg_member_type, a case in read_member and
 * one in to_json. */
#include "base/record.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "base/text.h"

#define MAX_WORDS 8      /* of a KG_IS_COUNTS */
#define MIN_KEY_DIGITS 6 /* of an entry */
#define MAX_KEY_DIGITS 16

/* The counts as a record: a member for each word. */
static struct kg_record counts_of(const struct kg_member *member, struct kg_member rows[MAX_WORDS])
{
    assert(member->n_words <= MAX_WORDS);
    for (size_t i = 0; i < member->n_words; i++)
        rows[i] = (struct kg_member){ member->words[i], KG_IS_COUNT,          .offset = i * sizeof(int),
                                      .least = 1,       .most = member->most, .optional = true };
    return (struct kg_record){ rows, member->n_words };
}

bool kg_record_has_table(const struct kg_record *record, const char *table)
{
    bool found = false;
    for (size_t i = 0; i < record->n_members && !found; i++) {
        const struct kg_member *member = &record->members[i];
        found = (member->table && !strcmp(member->table, table)) ||
                (member->record && kg_record_has_table(member->record, table));
    }
    return found;
}

/* ---- reading --------------------------------------------------------------------------------------------------- */

/* What a member is read by besides its object. */
struct source {
    const cJSON *tables;
    int schema;
};

static bool is_known(const struct kg_record *record, int schema, const char *name)
{
    for (size_t i = 0; i < record->n_members; i++)
        if (record->members[i].since <= schema && !strcmp(record->members[i].name, name))
            return true;
    return false;
}

/* `within`: name of the object; "" : it is the whole. */
static int refuse_unknown(const struct kg_record *record, const cJSON *object, int schema, const char *within,
                          kg_error *ret_error)
{
    const cJSON *item;
    cJSON_ArrayForEach(item, object) if (!is_known(record, schema, item->string)) return kg_fail(
        ret_error, KG_EINVAL, "unknown member '%.60s'%s%s%s", item->string, *within ? " in '" : "", within,
        *within ? "'" : "");
    return KG_OK;
}

/* Is the member to be in the object, by what else is in it? */
static bool is_expected(const struct kg_record *record, const struct kg_member *member, const cJSON *object)
{
    bool expected = !member->with && !member->optional;
    for (size_t i = 0; i < record->n_members && !expected; i++) {
        const struct kg_member *other = &record->members[i];
        expected = (other == member || (member->with && other->with == member->with)) &&
                   cJSON_GetObjectItemCaseSensitive(object, other->name);
    }
    return expected;
}

static int find_word(const struct kg_member *member, const char *text, int *ret_index, kg_error *ret_error)
{
    char wanted[200] = "";
    for (size_t i = 0; i < member->n_words; i++) {
        if (!member->words[i])
            continue;
        if (!strcmp(member->words[i], text)) {
            *ret_index = (int)i;
            return KG_OK;
        }
        kg_text_join(wanted, sizeof wanted, " nor ", "%s", member->words[i]);
    }
    return kg_fail(ret_error, KG_EINVAL, "member '%s' is neither %s", member->name, wanted);
}

static int read_text(const struct kg_member *member, const cJSON *object, char *ret_text, kg_error *ret_error)
{
    int index, status = kg_json_string(object, member->name, ret_text, member->size, ret_error);
    if (!status && member->type == KG_IS_NAME && !*ret_text)
        status = kg_fail(ret_error, KG_EINVAL, "member '%s' is empty", member->name);
    return status || !member->words ? status : find_word(member, ret_text, &index, ret_error);
}

static int read_string(const struct kg_member *member, const cJSON *object, const char **ret_text, kg_error *ret_error)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, member->name);
    if (!cJSON_IsString(item))
        return kg_fail(ret_error, KG_EINVAL, "member '%s' is missing or not a string", member->name);
    *ret_text = item->valuestring;
    return KG_OK;
}

static int read_word(const struct kg_member *member, const cJSON *object, int *ret_index, kg_error *ret_error)
{
    char text[32];
    int status = kg_json_string(object, member->name, text, sizeof text, ret_error);
    return status ? status : find_word(member, text, ret_index, ret_error);
}

static int read_real(const struct kg_member *member, const cJSON *object, double *ret_value, kg_error *ret_error)
{
    double value = 0;
    if (member->type == KG_IS_REAL)
        return kg_json_real(object, member->name, ret_value, ret_error);
    int status = kg_json_number(object, member->name, &value, ret_error);
    if (!status && !(value > 0 || (member->type != KG_IS_POSITIVE && value == 0)))
        status = kg_fail(ret_error, KG_EINVAL, "member '%s' is %s", member->name,
                         member->type == KG_IS_POSITIVE ? "not over 0" : "negative");
    if (!status)
        *ret_value = value;
    return status;
}

static int read_count(const struct kg_member *member, const cJSON *object, int *ret_value, kg_error *ret_error)
{
    double value = 0;
    int status = kg_json_number(object, member->name, &value, ret_error);
    if (!status && !(value >= member->least && value <= member->most && value == rint(value)))
        status = kg_fail(ret_error, KG_EINVAL, "member '%s' is %g, no whole number from %d to %d", member->name, value,
                         member->least, member->most);
    if (!status)
        *ret_value = (int)value;
    return status;
}

static int read_bits(const struct kg_member *member, const cJSON *object, uint64_t *ret_bits, kg_error *ret_error)
{
    char text[32];
    int status = kg_json_string(object, member->name, text, sizeof text, ret_error);
    if (!status && (!*text || text[strspn(text, "0123456789")]))
        status = kg_fail(ret_error, KG_EINVAL, "member '%s' has other characters than digits", member->name);
    if (!status)
        *ret_bits = strtoull(text, NULL, 10);
    return status;
}

static int read_list(const struct kg_member *member, const cJSON *object, double *ret_values, int *count,
                     kg_error *ret_error)
{
    const cJSON *array = cJSON_GetObjectItemCaseSensitive(object, member->name), *item;
    int number = 0, size = cJSON_GetArraySize(array);
    if (!cJSON_IsArray(array))
        return kg_fail(ret_error, KG_EINVAL, "member '%s' is missing or not an array", member->name);
    if (size < member->least || size > member->most)
        return kg_fail(ret_error, KG_EINVAL, "member '%s' has %d values, not %d to %d", member->name, size,
                       member->least, member->most);
    if (*count && size != *count)
        return kg_fail(ret_error, KG_EINVAL, "member '%s' has %d values, not %d", member->name, size, *count);
    cJSON_ArrayForEach(item, array)
    {
        number++;
        if (!cJSON_IsNumber(item) || !(item->valuedouble > 0) || !isfinite(item->valuedouble))
            return kg_fail(ret_error, KG_EINVAL, "value %d of member '%s' is not a number over 0", number,
                           member->name);
        ret_values[number - 1] = item->valuedouble;
    }
    *count = size;
    return KG_OK;
}

static int read_member(const struct kg_member *member, const cJSON *object, struct source from, char *ret_record,
                       kg_error *ret_error);

static int read_object(const struct kg_record *record, const cJSON *object, struct source from, const char *within,
                       void *ret_record, kg_error *ret_error)
{
    kg_error why = { 0 };
    if (!cJSON_IsObject(object))
        return *within ? kg_fail(ret_error, KG_EINVAL, "member '%s' is missing or not an object", within)
                       : kg_fail(ret_error, KG_EINVAL, "not an object");
    int status = refuse_unknown(record, object, from.schema, within, ret_error);
    if (status)
        return status;
    for (size_t i = 0; i < record->n_members && !status; i++)
        if (record->members[i].since <= from.schema && is_expected(record, &record->members[i], object))
            status = read_member(&record->members[i], object, from, ret_record, &why);
    if (status && *within)
        return kg_fail(ret_error, status, "in '%s': %.400s", within, why.text);
    return status ? kg_fail(ret_error, status, "%s", why.text) : KG_OK;
}

static int read_entry(const struct kg_member *member, const cJSON *key, struct source from, void *ret_record,
                      kg_error *ret_error)
{
    if (!cJSON_IsString(key))
        return kg_fail(ret_error, KG_EINVAL, "member '%s' is missing or not a string", member->name);
    const cJSON *table = cJSON_GetObjectItemCaseSensitive(from.tables, member->table);
    const cJSON *entry = cJSON_GetObjectItemCaseSensitive(table, key->valuestring);
    if (!entry)
        return kg_fail(ret_error, KG_EINVAL, "member '%s' is '%.40s', which is not in '%s'", member->name,
                       key->valuestring, member->table);
    return read_object(member->record, entry, from, member->name, ret_record, ret_error);
}

static int read_member(const struct kg_member *member, const cJSON *object, struct source from, char *ret_record,
                       kg_error *ret_error)
{
    void *field = ret_record + member->offset;
    const cJSON *inner = cJSON_GetObjectItemCaseSensitive(object, member->name);
    struct kg_member rows[MAX_WORDS];
    struct kg_record counts;
    switch (member->type) {
    case KG_IS_TEXT:
    case KG_IS_NAME:
        return read_text(member, object, field, ret_error);
    case KG_IS_STRING:
        return read_string(member, object, field, ret_error);
    case KG_IS_POSITIVE:
    case KG_IS_AMOUNT:
    case KG_IS_EXACT:
    case KG_IS_REAL:
        return read_real(member, object, field, ret_error);
    case KG_IS_BITS:
        return read_bits(member, object, field, ret_error);
    case KG_IS_FLAG:
        return kg_json_bool(object, member->name, field, ret_error);
    case KG_IS_COUNT:
        return read_count(member, object, field, ret_error);
    case KG_IS_WORD:
        return read_word(member, object, field, ret_error);
    case KG_IS_LIST:
        return read_list(member, object, field, (int *)(void *)(ret_record + member->count), ret_error);
    case KG_IS_COUNTS:
        counts = counts_of(member, rows);
        return read_object(&counts, inner, from, member->name, field, ret_error);
    case KG_IS_RECORD:
        return read_object(member->record, inner, from, member->name, field, ret_error);
    case KG_IS_ENTRY:
        return read_entry(member, inner, from, field, ret_error);
    }
    return KG_EINVAL;
}

int kg_record_read_with(const struct kg_record *record, const cJSON *object, const cJSON *tables, int schema,
                        void *ret_record, kg_error *ret_error)
{
    return read_object(record, object, (struct source){ tables, schema }, "", ret_record, ret_error);
}

int kg_record_read(const struct kg_record *record, const cJSON *object, int schema, void *ret_record,
                   kg_error *ret_error)
{
    return kg_record_read_with(record, object, NULL, schema, ret_record, ret_error);
}

void kg_record_take(const struct kg_record *record, const cJSON *object, void *ret_record)
{
    for (size_t i = 0; i < record->n_members; i++) {
        const struct kg_member *member = &record->members[i];
        const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, member->name);
        char *field = (char *)ret_record + member->offset;
        if (member->type == KG_IS_RECORD)
            kg_record_take(member->record, item, field);
        else if (member->type == KG_IS_TEXT && cJSON_IsString(item))
            (void)snprintf(field, member->size, "%s", item->valuestring);
        else if (member->type != KG_IS_TEXT && member->type != KG_IS_NAME)
            (void)read_member(member, object, (struct source){ NULL, 0 }, ret_record, NULL);
    }
}

int kg_record_schema(const cJSON *object, int oldest, int newest, int *ret_schema, kg_error *ret_error)
{
    double schema = 0;
    char older[32] = "";
    int status = kg_json_number(object, "schema", &schema, ret_error);
    if (status)
        return status;
    for (int known = oldest; known <= newest; known++)
        if (schema == known) {
            *ret_schema = known;
            return KG_OK;
        }
    if (oldest < newest)
        (void)snprintf(older, sizeof older, "%d %s ", oldest, newest - oldest > 1 ? "to" : "and");
    return kg_fail(ret_error, KG_EINVAL, "schema %g, this kgate reads %s%d", schema, older, newest);
}

/* ---- writing --------------------------------------------------------------------------------------------------- */

/* Five digits are 50 times finer than the finest threshold, and survive a round trip through a double: what nothing
 * changed is written back as it was. */
static cJSON *short_number(double value)
{
    char text[32];
    (void)snprintf(text, sizeof text, "%.5g", value);
    return cJSON_CreateRaw(text);
}

/* Both or neither are given to the tree. */
static bool append(cJSON *array, cJSON *item)
{
    if (item && cJSON_AddItemToArray(array, item))
        return true;
    cJSON_Delete(item);
    return false;
}

static cJSON *list_to_json(const double *values, int count)
{
    cJSON *array = cJSON_CreateArray();
    bool ok = array;
    for (int i = 0; i < count && ok; i++)
        ok = append(array, short_number(values[i]));
    if (ok)
        return array;
    cJSON_Delete(array);
    return NULL;
}

static cJSON *real_to_json(double value)
{
    if (isfinite(value))
        return cJSON_CreateNumber(value);
    return cJSON_CreateString(isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
}

static cJSON *bits_to_json(uint64_t bits)
{
    char text[32];
    (void)snprintf(text, sizeof text, "%" PRIu64, bits);
    return cJSON_CreateString(text);
}

static cJSON *record_to_json(const struct kg_record *record, cJSON *tables, const void *from)
{
    cJSON *object = cJSON_CreateObject();
    if (object && kg_record_add_with(object, record, tables, from))
        return object;
    cJSON_Delete(object);
    return NULL;
}

static void hash_text(const char *text, char ret_digits[MAX_KEY_DIGITS + 1])
{
    uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a, mixed so that its first digits are as good as all of them */
    for (const char *c = text; *c; c++)
        hash = (hash ^ (unsigned char)*c) * 0x100000001b3u;
    (void)snprintf(ret_digits, MAX_KEY_DIGITS + 1, "%016" PRIx64, kg_mix64(hash));
}

/* The key of the text in the table, where it is put unless it stands there. NULL: no memory. */
static cJSON *enter(cJSON *tables, const char *name, const char *text)
{
    char digits[MAX_KEY_DIGITS + 1], key[MAX_KEY_DIGITS + 1];
    cJSON *table = cJSON_GetObjectItemCaseSensitive(tables, name);
    if (!table)
        table = cJSON_AddObjectToObject(tables, name);
    hash_text(text, digits);
    for (int length = MIN_KEY_DIGITS; table && length <= MAX_KEY_DIGITS; length++) {
        (void)snprintf(key, sizeof key, "%.*s", length, digits);
        const cJSON *there = cJSON_GetObjectItemCaseSensitive(table, key);
        if (there ? !strcmp(there->valuestring, text) : cJSON_AddRawToObject(table, key, text) != NULL)
            return cJSON_CreateString(key);
    }
    return NULL;
}

static cJSON *entry_to_json(const struct kg_member *member, cJSON *tables, const void *from)
{
    cJSON *object = record_to_json(member->record, tables, from), *key = NULL;
    char *text = object ? cJSON_PrintUnformatted(object) : NULL;
    if (text)
        key = enter(tables, member->table, text);
    cJSON_free(text);
    cJSON_Delete(object);
    return key;
}

static cJSON *to_json(const struct kg_member *member, cJSON *tables, const char *from)
{
    const void *field = from + member->offset;
    const char *const *string = field;
    const double *real = field;
    const int *count = field;
    struct kg_member rows[MAX_WORDS];
    struct kg_record counts;
    switch (member->type) {
    case KG_IS_TEXT:
    case KG_IS_NAME:
        return cJSON_CreateString(field);
    case KG_IS_STRING:
        return cJSON_CreateString(*string ? *string : "");
    case KG_IS_POSITIVE:
    case KG_IS_AMOUNT:
        return short_number(*real);
    case KG_IS_EXACT:
        return cJSON_CreateNumber(*real);
    case KG_IS_REAL:
        return real_to_json(*real);
    case KG_IS_BITS:
        return bits_to_json(*(const uint64_t *)field);
    case KG_IS_FLAG:
        return cJSON_CreateBool(*(const bool *)field);
    case KG_IS_COUNT:
        return cJSON_CreateNumber(*count);
    case KG_IS_WORD:
        return cJSON_CreateString(member->words[*count]);
    case KG_IS_LIST:
        return list_to_json(real, *(const int *)(const void *)(from + member->count));
    case KG_IS_COUNTS:
        counts = counts_of(member, rows);
        return record_to_json(&counts, NULL, field);
    case KG_IS_RECORD:
        return record_to_json(member->record, tables, field);
    case KG_IS_ENTRY:
        return entry_to_json(member, tables, field);
    }
    return NULL;
}

static bool is_left_out(const struct kg_member *member, const char *from)
{
    const void *field = from + member->offset;
    if (!member->optional)
        return member->with && !from[member->with];
    return member->type == KG_IS_COUNT  ? *(const int *)field == 0
           : member->type == KG_IS_FLAG ? !*(const bool *)field
                                        : !*(const char *)field;
}

bool kg_record_add_with(cJSON *object, const struct kg_record *record, cJSON *tables, const void *from)
{
    for (size_t i = 0; i < record->n_members; i++) {
        const struct kg_member *member = &record->members[i];
        if (is_left_out(member, from))
            continue;
        cJSON *item = to_json(member, tables, from);
        if (!item || !cJSON_AddItemToObject(object, member->name, item)) {
            cJSON_Delete(item);
            return false;
        }
    }
    return true;
}

bool kg_record_add(cJSON *object, const struct kg_record *record, const void *from)
{
    return kg_record_add_with(object, record, NULL, from);
}
