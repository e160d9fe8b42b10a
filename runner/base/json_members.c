/* json_members.c -- members of a tree, read by their types and written. A new kind of member goes here. */
#include "base/json.h"

#include <math.h>
#include <string.h>

/* NULL, and the error said, where the member is missing. */
static const cJSON *member(const cJSON *object, const char *name, kg_error *ret_error)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);
    if (!item)
        (void)kg_fail(ret_error, KG_EINVAL, "member '%s' is missing", name);
    return item;
}

int kg_json_string(const cJSON *object, const char *name, char *ret_text, size_t size, kg_error *ret_error)
{
    const cJSON *item = member(object, name, ret_error);
    if (!item)
        return KG_EINVAL;
    if (!cJSON_IsString(item))
        return kg_fail(ret_error, KG_EINVAL, "member '%s' is not a string", name);
    size_t length = strlen(item->valuestring);
    if (length >= size)
        return kg_fail(ret_error, KG_EINVAL, "member '%s' is longer than %zu bytes", name, size - 1);
    memcpy(ret_text, item->valuestring, length + 1);
    return 0;
}

int kg_json_number(const cJSON *object, const char *name, double *ret_value, kg_error *ret_error)
{
    const cJSON *item = member(object, name, ret_error);
    if (!item)
        return KG_EINVAL;
    if (!cJSON_IsNumber(item) || !isfinite(item->valuedouble))
        return kg_fail(ret_error, KG_EINVAL, "member '%s' is not a number", name);
    *ret_value = item->valuedouble;
    return 0;
}

int kg_json_bool(const cJSON *object, const char *name, bool *ret_value, kg_error *ret_error)
{
    const cJSON *item = member(object, name, ret_error);
    if (!item)
        return KG_EINVAL;
    if (!cJSON_IsBool(item))
        return kg_fail(ret_error, KG_EINVAL, "member '%s' is not true or false", name);
    *ret_value = cJSON_IsTrue(item);
    return 0;
}

cJSON *kg_json_add_real(cJSON *object, const char *name, double value)
{
    if (isfinite(value))
        return cJSON_AddNumberToObject(object, name, value);
    return cJSON_AddStringToObject(object, name, isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
}

int kg_json_real(const cJSON *object, const char *name, double *ret_value, kg_error *ret_error)
{
    const cJSON *item = member(object, name, ret_error);
    if (!item)
        return KG_EINVAL;
    if (!cJSON_IsString(item))
        return kg_json_number(object, name, ret_value, ret_error);
    const char *text = item->valuestring;
    if (!strcmp(text, "nan"))
        *ret_value = NAN;
    else if (!strcmp(text, "inf"))
        *ret_value = INFINITY;
    else if (!strcmp(text, "-inf"))
        *ret_value = -INFINITY;
    else
        return kg_fail(ret_error, KG_EINVAL, "member '%s' is not a number", name);
    return 0;
}

int kg_json_put(cJSON *root, FILE *out, kg_error *ret_error)
{
    char *text = root ? cJSON_Print(root) : NULL;
    cJSON_Delete(root);
    if (!text)
        return kg_fail(ret_error, KG_ENOMEM, "out of memory for JSON");
    fprintf(out, "%s\n", text);
    cJSON_free(text);
    return KG_OK;
}
