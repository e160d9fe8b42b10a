/* field.c -- reads and writes members of a record by the field table that describes it. */
#include "plan/field.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

static size_t member_bytes(enum kg_field_type type)
{
    switch (type) {
    case KG_INT:
        return sizeof(int64_t);
    case KG_REAL:
        return sizeof(double);
    case KG_BOOL:
        return sizeof(bool);
    case KG_CHOICE:
        return sizeof(int);
    }
    return 0;
}

bool kg_name_valid(const char *name)
{
    if (!name || !*name)
        return false;
    for (const char *c = name; *c; c++)
        if (!isalnum((unsigned char)*c) && !strchr("_-.", *c))
            return false;
    return true;
}

int kg_fields_validate(kg_fields fields, size_t record_size, kg_error *ret_error)
{
    for (size_t i = 0; i < fields.count; i++) {
        const kg_field *field = &fields.items[i];
        size_t bytes = member_bytes(field->type);
        if (!kg_name_valid(field->name))
            return kg_fail(ret_error, KG_EINVAL, "field %zu has a bad name", i);
        if (!bytes)
            return kg_fail(ret_error, KG_EINVAL, "field %s has an unknown type", field->name);
        if (field->offset > record_size || bytes > record_size - field->offset)
            return kg_fail(ret_error, KG_EINVAL, "field %s lies outside its record of %zu bytes", field->name,
                           record_size);
        if (field->type == KG_CHOICE && !field->choices)
            return kg_fail(ret_error, KG_EINVAL, "field %s has no choices", field->name);
        if (kg_fields_find((kg_fields){ fields.items, i }, field->name, strlen(field->name)))
            return kg_fail(ret_error, KG_EINVAL, "field %s stands twice", field->name);
    }
    return KG_OK;
}

const kg_field *kg_fields_find(kg_fields fields, const char *name, size_t length)
{
    for (size_t i = 0; i < fields.count; i++)
        if (strlen(fields.items[i].name) == length && !memcmp(fields.items[i].name, name, length))
            return &fields.items[i];
    return NULL;
}

int kg_field_of_suite(const kg_suite *suite, const char *name, const kg_field **ret_field, kg_error *ret_error)
{
    const kg_fields fields = suite->op->fields;
    char known[200] = "";
    *ret_field = kg_fields_find(fields, name, strlen(name));
    for (size_t i = 0; !*ret_field && i < fields.count; i++)
        kg_text_join(known, sizeof known, ", ", "%s", fields.items[i].name);
    return *ret_field ? KG_OK
                      : kg_fail(ret_error, KG_EINVAL, "--set %.100s: op %s of suite %s has no such field, but %s", name,
                                suite->op->name, suite->name, known);
}

static void member_write(const kg_field *field, void *record, double value)
{
    char *member = (char *)record + field->offset;
    switch (field->type) {
    case KG_INT:
        memcpy(member, &(int64_t){ (int64_t)value }, sizeof(int64_t));
        break;
    case KG_REAL:
        memcpy(member, &value, sizeof value);
        break;
    case KG_BOOL:
        memcpy(member, &(bool){ value != 0 }, sizeof(bool));
        break;
    case KG_CHOICE:
        memcpy(member, &(int){ (int)value }, sizeof(int));
        break;
    }
}

int kg_field_get(const kg_field *field, const void *record, double *ret_value)
{
    const char *member = (const char *)record + field->offset;
    union {
        int64_t integer;
        double real;
        unsigned char flag;
        int choice;
    } value;
    switch (field->type) {
    case KG_INT:
        memcpy(&value.integer, member, sizeof value.integer);
        *ret_value = (double)value.integer;
        return KG_OK;
    case KG_REAL:
        memcpy(&value.real, member, sizeof value.real);
        *ret_value = value.real;
        return KG_OK;
    case KG_BOOL:
        memcpy(&value.flag, member, sizeof value.flag);
        *ret_value = value.flag != 0;
        return KG_OK;
    case KG_CHOICE:
        memcpy(&value.choice, member, sizeof value.choice);
        *ret_value = value.choice;
        return KG_OK;
    }
    return KG_EINVAL;
}

void kg_fields_fall_back(kg_fields fields, void *record)
{
    for (size_t i = 0; i < fields.count; i++) {
        double value = 0;
        if (fields.items[i].fallback != 0 && !kg_field_get(&fields.items[i], record, &value) && value == 0)
            member_write(&fields.items[i], record, fields.items[i].fallback);
    }
}

static int choice_count(const kg_field *field)
{
    int count = 0;
    while (field->choices[count])
        count++;
    return count;
}

static int check_range(const kg_field *field, double value, kg_error *ret_error)
{
    if (field->type == KG_BOOL)
        return KG_OK;
    if (field->type == KG_CHOICE) {
        if (value >= 0 && value < choice_count(field) && field->choices[(int)value][0])
            return KG_OK;
        return kg_fail(ret_error, KG_EINVAL, "%s is not given", field->name);
    }
    if (!(value >= field->min && value <= field->max))
        return kg_fail(ret_error, KG_EINVAL, "%s=%.10g is outside %.10g to %.10g", field->name, value, field->min,
                       field->max);
    return KG_OK;
}

int kg_fields_check(kg_fields fields, const void *record, kg_error *ret_error)
{
    for (size_t i = 0; i < fields.count; i++) {
        double value = 0;
        int status = kg_field_get(&fields.items[i], record, &value);
        if (!status)
            status = check_range(&fields.items[i], value, ret_error);
        if (status)
            return status;
    }
    return KG_OK;
}

/* Is it one of the choice's words, "word|other word"? */
/* Of "default|reduce-overhead" either word; those that it is none of go to `known`. */
static bool is_choice(const char *choice, const char *text, char *known, size_t size)
{
    for (size_t n; *choice; choice += n + (choice[n] == '|')) {
        n = strcspn(choice, "|");
        if (n && n == strlen(text) && !strncmp(choice, text, n))
            return true;
        kg_text_join(known, size, ", ", "%.*s", (int)n, choice);
    }
    return false;
}

static int parse_choice(const kg_field *field, const char *text, double *ret_value, kg_error *ret_error)
{
    char known[256] = "";
    for (int i = 0; field->choices[i]; i++) {
        if (is_choice(field->choices[i], text, known, sizeof known)) {
            *ret_value = i;
            return KG_OK;
        }
    }
    return kg_fail(ret_error, KG_EINVAL, "%s=%s is none of %s", field->name, text, known);
}

static int parse_bool(const kg_field *field, const char *text, double *ret_value, kg_error *ret_error)
{
    if (!strcmp(text, "true") || !strcmp(text, "1"))
        *ret_value = 1;
    else if (!strcmp(text, "false") || !strcmp(text, "0"))
        *ret_value = 0;
    else
        return kg_fail(ret_error, KG_EINVAL, "%s=%s is neither true nor false", field->name, text);
    return KG_OK;
}

static int parse_number(const kg_field *field, const char *text, double *ret_value, kg_error *ret_error)
{
    char *end = NULL;
    errno = 0;
    double value = field->type == KG_INT ? (double)strtoll(text, &end, 10) : strtod(text, &end);
    if (isspace((unsigned char)*text) || end == text || *end || errno || !isfinite(value))
        return kg_fail(ret_error, KG_EINVAL, "%s=%s is not %s", field->name, text,
                       field->type == KG_INT ? "an integer" : "a number");
    *ret_value = value;
    return KG_OK;
}

int kg_field_set(const kg_field *field, void *record, const char *text, kg_error *ret_error)
{
    double value = 0;
    int status;
    if (field->type == KG_CHOICE)
        status = parse_choice(field, text, &value, ret_error);
    else if (field->type == KG_BOOL)
        status = parse_bool(field, text, &value, ret_error);
    else
        status = parse_number(field, text, &value, ret_error);
    if (!status)
        status = check_range(field, value, ret_error);
    if (!status)
        member_write(field, record, value);
    return status;
}

int kg_field_format(const kg_field *field, const void *record, char *ret_text, size_t size)
{
    double value = 0;
    if (kg_field_get(field, record, &value))
        return snprintf(ret_text, size, "?");
    switch (field->type) {
    case KG_INT:
        return snprintf(ret_text, size, "%lld", (long long)value);
    case KG_BOOL:
        return snprintf(ret_text, size, "%s", value != 0 ? "true" : "false");
    case KG_CHOICE:
        if (value >= 0 && value < choice_count(field))
            return snprintf(ret_text, size, "%.*s", (int)strcspn(field->choices[(int)value], "|"),
                            field->choices[(int)value]);
        return snprintf(ret_text, size, "?");
    case KG_REAL:
        break;
    }
    return snprintf(ret_text, size, "%.9g", value);
}

void kg_fields_format(kg_fields fields, const void *record, char *ret_text, size_t size)
{
    ret_text[0] = '\0';
    for (size_t i = 0; i < fields.count; i++) {
        double value = 0;
        char text[64];
        if (kg_field_get(&fields.items[i], record, &value) || value == 0)
            continue;
        kg_field_format(&fields.items[i], record, text, sizeof text);
        kg_text_join(ret_text, size, ",", "%s=%s", fields.items[i].name, text);
    }
}
