/* golden_json.c -- a golden to and from its JSON object, by tables of members. The set is golden.c, the files
 * golden_file.c. A new member of struct kg_golden needs a row in a table below, and a new schema number. */
#include "judge/golden.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"

/* NAME: a text that is not empty; TIME: a positive number; SPAN: one that may be 0 */
enum member_type { TEXT, NAME, TIME, SPAN, FLAG };

struct member {
    const char *name;
    enum member_type type;
    size_t offset, size;
};

#define MEMBER(name, type, field)                                                                                      \
    {                                                                                                                  \
        name, type, offsetof(struct kg_golden, field), sizeof(((struct kg_golden *)0)->field)                          \
    }

/* The order is that of the file. */
static const struct member head_members[] = {
    MEMBER("key", NAME, key),           MEMBER("p50_us", TIME, p50_us), MEMBER("floor_pct", TIME, floor_pct),
    MEMBER("identity", TEXT, identity), MEMBER("pin", TEXT, pin),
};
static const struct member anchor_members[] = {
    MEMBER("name", NAME, anchor),
    MEMBER("identity", TEXT, anchor_identity),
    MEMBER("p50_us", TIME, anchor_p50_us),
};
static const struct member best_members[] = {
    MEMBER("p50_us", TIME, best.p50_us), /* schema 1 has the first three */
    MEMBER("git_sha", TEXT, best.git_sha), MEMBER("date", TEXT, best.date),
    MEMBER("uuid", TEXT, best.uuid),       MEMBER("ratio", SPAN, best.ratio), /* 0: no anchor */
    MEMBER("anchor", TEXT, best.anchor),   MEMBER("anchor_identity", TEXT, best.anchor_identity),
};
#define BEST_MEMBERS_OF_1 3
static const struct member contract_members[] = {
    MEMBER("timer", NAME, contract.timer),
    MEMBER("l2", NAME, contract.l2),
    MEMBER("window_us", SPAN, contract.window_us), /* 0: single calls between events */
    MEMBER("data", NAME, contract.data),
};
static const struct member provenance_members[] = {
    MEMBER("git_sha", TEXT, provenance.git_sha), MEMBER("branch", TEXT, provenance.branch),
    MEMBER("dirty", FLAG, provenance.dirty),     MEMBER("date", TEXT, provenance.date),
    MEMBER("reason", TEXT, provenance.reason),   MEMBER("device", TEXT, provenance.device),
    MEMBER("uuid", TEXT, provenance.uuid),       MEMBER("driver", TEXT, provenance.driver),
    MEMBER("cuda", TEXT, provenance.cuda),
};

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const struct group {
    const char *name;
    const struct member *members;
    size_t count, count_of_1; /* in schema 1 the first so many */
    bool with_anchor;         /* there only for a case that has an anchor */
} groups[] = {
    { "anchor", anchor_members, COUNT(anchor_members), COUNT(anchor_members), true },
    { "best", best_members, COUNT(best_members), BEST_MEMBERS_OF_1, false },
    { "contract", contract_members, COUNT(contract_members), COUNT(contract_members), false },
    { "provenance", provenance_members, COUNT(provenance_members), COUNT(provenance_members), false },
};

static const char *const quantity_names[] = { [KG_QUANTITY_RAW] = "raw", [KG_QUANTITY_RATIO] = "ratio" };

/* ---- writing --------------------------------------------------------------------------------------------------- */

/* Six digits survive a round trip through a double, so an unchanged golden is written back as it was. */
static cJSON *short_number(double value)
{
    char text[32];
    (void)snprintf(text, sizeof text, "%.6g", value);
    return cJSON_CreateRaw(text);
}

static bool add(cJSON *object, const char *name, cJSON *item)
{
    if (item && cJSON_AddItemToObject(object, name, item))
        return true;
    cJSON_Delete(item);
    return false;
}

static bool add_member(cJSON *object, const struct member *member, const struct kg_golden *golden)
{
    const char *field = (const char *)golden + member->offset;
    if (member->type == TIME || member->type == SPAN)
        return add(object, member->name, short_number(*(const double *)(const void *)field));
    if (member->type == FLAG)
        return add(object, member->name, cJSON_CreateBool(*(const bool *)(const void *)field));
    return add(object, member->name, cJSON_CreateString(field));
}

static bool add_members(cJSON *object, const struct member *members, size_t count, const struct kg_golden *golden)
{
    bool ok = true;
    for (size_t i = 0; i < count; i++)
        ok = ok && add_member(object, &members[i], golden);
    return ok;
}

static bool add_array(cJSON *object, const char *name, const double *values, int count)
{
    cJSON *array = cJSON_AddArrayToObject(object, name);
    bool ok = array;
    for (int i = 0; i < count && ok; i++) {
        cJSON *item = short_number(values[i]);
        ok = item && cJSON_AddItemToArray(array, item);
        if (!ok)
            cJSON_Delete(item);
    }
    return ok;
}

struct cJSON *kg_golden_to_json(const struct kg_golden *golden)
{
    bool with_anchor = golden->anchor[0];
    cJSON *object = cJSON_CreateObject();
    if (!object)
        return NULL;
    bool ok = add_members(object, head_members, COUNT(head_members), golden) &&
              add(object, "judge", cJSON_CreateString(quantity_names[golden->quantity])) &&
              add_array(object, "blocks_us", golden->blocks_us, golden->n_blocks) &&
              (!with_anchor || add_array(object, "blocks_ratio", golden->blocks_ratio, golden->n_blocks));
    for (size_t i = 0; i < COUNT(groups) && ok; i++) {
        if (groups[i].with_anchor && !with_anchor)
            continue;
        cJSON *inner = cJSON_AddObjectToObject(object, groups[i].name);
        ok = inner && add_members(inner, groups[i].members, groups[i].count, golden);
    }
    if (!ok) {
        cJSON_Delete(object);
        return NULL;
    }
    return object;
}

/* ---- reading --------------------------------------------------------------------------------------------------- */

static int read_member(const cJSON *object, const struct member *member, struct kg_golden *golden, kg_error *ret_error)
{
    char *field = (char *)golden + member->offset;
    if (member->type == FLAG)
        return kg_json_bool(object, member->name, (bool *)(void *)field, ret_error);
    if (member->type != TIME && member->type != SPAN) {
        int status = kg_json_string(object, member->name, field, member->size, ret_error);
        if (status == 0 && member->type == NAME && !*field)
            return kg_fail(ret_error, KG_EINVAL, "member '%s' is empty", member->name);
        return status;
    }
    double *value = (double *)(void *)field;
    int status = kg_json_number(object, member->name, value, ret_error);
    if (status == 0 && !(*value > 0 || (member->type == SPAN && *value == 0)))
        return kg_fail(ret_error, KG_EINVAL, "member '%s' is not over 0", member->name);
    return status;
}

static int read_members(const cJSON *object, const struct member *members, size_t count, struct kg_golden *golden,
                        kg_error *ret_error)
{
    for (size_t i = 0; i < count; i++) {
        int status = read_member(object, &members[i], golden, ret_error);
        if (status < 0)
            return status;
    }
    return 0;
}

static bool is_named(const struct member *members, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (!strcmp(members[i].name, name))
            return true;
    return false;
}

static int read_group(const cJSON *object, const struct group *group, int schema, struct kg_golden *golden,
                      kg_error *ret_error)
{
    size_t count = schema == 1 ? group->count_of_1 : group->count;
    const cJSON *inner = cJSON_GetObjectItemCaseSensitive(object, group->name), *item;
    kg_error why = { 0 };
    if (!cJSON_IsObject(inner))
        return kg_fail(ret_error, KG_EINVAL, "member '%s' is missing or not an object", group->name);
    cJSON_ArrayForEach(item, inner) if (!is_named(group->members, count, item->string)) return kg_fail(
        ret_error, KG_EINVAL, "unknown member '%s' in '%s'", item->string, group->name);
    int status = read_members(inner, group->members, count, golden, &why);
    return status < 0 ? kg_fail(ret_error, status, "in '%s': %s", group->name, why.text) : 0;
}

static int read_array(const cJSON *object, const char *name, double ret_values[KG_MAX_BLOCKS], int *ret_count,
                      kg_error *ret_error)
{
    const cJSON *array = cJSON_GetObjectItemCaseSensitive(object, name), *item;
    if (!cJSON_IsArray(array))
        return kg_fail(ret_error, KG_EINVAL, "member '%s' is missing or not an array", name);
    int count = cJSON_GetArraySize(array), i = 0;
    if (count < KG_GOLDEN_MIN_BLOCKS || count > KG_MAX_BLOCKS)
        return kg_fail(ret_error, KG_EINVAL, "member '%s' has %d values, not %d to %d", name, count,
                       KG_GOLDEN_MIN_BLOCKS, KG_MAX_BLOCKS);
    cJSON_ArrayForEach(item, array)
    {
        if (!cJSON_IsNumber(item) || !(item->valuedouble > 0) || !isfinite(item->valuedouble))
            return kg_fail(ret_error, KG_EINVAL, "value %d of member '%s' is not a number over 0", i + 1, name);
        ret_values[i++] = item->valuedouble;
    }
    *ret_count = count;
    return 0;
}

static int read_judge(const cJSON *object, struct kg_golden *golden, kg_error *ret_error)
{
    char text[16];
    int status = kg_json_string(object, "judge", text, sizeof text, ret_error);
    if (status < 0)
        return status;
    if (strcmp(text, "raw") && strcmp(text, "ratio"))
        return kg_fail(ret_error, KG_EINVAL, "member 'judge' is neither raw nor ratio");
    golden->quantity = strcmp(text, "raw") ? KG_QUANTITY_RATIO : KG_QUANTITY_RAW;
    return 0;
}

static int refuse_unknown(const cJSON *object, kg_error *ret_error)
{
    static const char *const others[] = { "judge", "blocks_us", "blocks_ratio" };
    const cJSON *item;
    cJSON_ArrayForEach(item, object)
    {
        bool known = is_named(head_members, COUNT(head_members), item->string);
        for (size_t i = 0; i < COUNT(others); i++)
            known = known || !strcmp(item->string, others[i]);
        for (size_t i = 0; i < COUNT(groups); i++)
            known = known || !strcmp(item->string, groups[i].name);
        if (!known)
            return kg_fail(ret_error, KG_EINVAL, "unknown member '%s'", item->string);
    }
    return 0;
}

/* A best of schema 1 is of the golden's card, since none outlived a bless on another; its ratio is known where it is
 * the golden itself. */
static void complete_best(struct kg_golden *golden)
{
    const struct kg_best own = kg_golden_as_best(golden);
    struct kg_best *best = &golden->best;
    if (best->p50_us == own.p50_us && !strcmp(best->git_sha, own.git_sha) && !strcmp(best->date, own.date))
        *best = own;
    else
        memcpy(best->uuid, own.uuid, sizeof best->uuid);
}

static int check_best(const struct kg_golden *golden, kg_error *ret_error)
{
    const struct kg_best *best = &golden->best, own = kg_golden_as_best(golden);
    if ((best->ratio > 0) != (best->anchor[0] != 0))
        return kg_fail(ret_error, KG_EINVAL, "best has only one of ratio and anchor");
    if (!strcmp(best->uuid, own.uuid)) {
        if (!(best->p50_us <= golden->p50_us))
            return kg_fail(ret_error, KG_EINVAL, "best of %g us is slower than p50_us %g", best->p50_us,
                           golden->p50_us);
    } else if (kg_best_same_anchor(best, &own) && !(best->ratio <= own.ratio * (1 + 1e-4))) {
        return kg_fail(ret_error, KG_EINVAL, "best of another card has a ratio of %g, over the golden's %g",
                       best->ratio, own.ratio);
    }
    return 0;
}

/* What no single member shows. `with_ratios`: the members of an anchor were read. */
static int check_whole(const struct kg_golden *golden, bool with_ratios, int n_ratios, kg_error *ret_error)
{
    double median = kg_median(golden->blocks_us, (size_t)golden->n_blocks);
    if (!(fabs(golden->p50_us - median) <= 1e-4 * median))
        return kg_fail(ret_error, KG_EINVAL, "p50_us %g is not the median of blocks_us, %g", golden->p50_us, median);
    if (with_ratios && n_ratios != golden->n_blocks)
        return kg_fail(ret_error, KG_EINVAL, "%d values in blocks_ratio, %d in blocks_us", n_ratios, golden->n_blocks);
    if (!with_ratios && golden->quantity == KG_QUANTITY_RATIO)
        return kg_fail(ret_error, KG_EINVAL, "judged by ratio, but without an anchor");
    return check_best(golden, ret_error);
}

/* suite/shape/backend: three names, the shape's with @field=value,… where it was swept. */
static bool key_valid(const char *key)
{
    int slashes = 0;
    for (const char *c = key; *c; c++) {
        if (*c == '/' && (c == key || c[-1] == '/' || !c[1]))
            return false;
        slashes += *c == '/';
        if (!isalnum((unsigned char)*c) && !strchr("_-./@=,+", *c))
            return false;
    }
    return slashes == 2;
}

static int check_names(const struct kg_golden *golden, kg_error *ret_error)
{
    const struct kg_contract *contract = &golden->contract;
    if (!key_valid(golden->key))
        return kg_fail(ret_error, KG_EINVAL, "\"key\" is not suite/shape/backend");
    if (strcmp(contract->timer, "graph") != 0 && strcmp(contract->timer, "event") != 0)
        return kg_fail(ret_error, KG_EINVAL, "\"timer\" is neither graph nor event");
    if (strcmp(contract->l2, "warm") != 0 && strcmp(contract->l2, "cold") != 0)
        return kg_fail(ret_error, KG_EINVAL, "\"l2\" is neither warm nor cold");
    return KG_OK;
}

int kg_golden_from_json(const struct cJSON *object, int schema, struct kg_golden *ret_golden, kg_error *ret_error)
{
    struct kg_golden golden = { .key = "" };
    int n_ratios = 0, status;
    if (!cJSON_IsObject(object))
        return kg_fail(ret_error, KG_EINVAL, "a case that is not an object");
    bool with_anchor =
        cJSON_GetObjectItemCaseSensitive(object, "anchor") || cJSON_GetObjectItemCaseSensitive(object, "blocks_ratio");
    if ((status = refuse_unknown(object, ret_error)) < 0 ||
        (status = read_members(object, head_members, COUNT(head_members), &golden, ret_error)) < 0 ||
        (status = read_judge(object, &golden, ret_error)) < 0 ||
        (status = read_array(object, "blocks_us", golden.blocks_us, &golden.n_blocks, ret_error)) < 0 ||
        (with_anchor && (status = read_array(object, "blocks_ratio", golden.blocks_ratio, &n_ratios, ret_error)) < 0))
        return status;
    for (size_t i = 0; i < COUNT(groups); i++)
        if ((with_anchor || !groups[i].with_anchor) &&
            (status = read_group(object, &groups[i], schema, &golden, ret_error)) < 0)
            return status;
    if (schema == 1)
        complete_best(&golden);
    if ((status = check_names(&golden, ret_error)) < 0 ||
        (status = check_whole(&golden, with_anchor, n_ratios, ret_error)) < 0)
        return status;
    *ret_golden = golden;
    return 0;
}
