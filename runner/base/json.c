/* json.c -- cJSON, made strict. A scan of the text comes first and refuses, with its line, what cJSON lets through;
 * cJSON then builds the tree, whose members are read by their types. A new rule of syntax goes into the scan. */
#include "base/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"

#define MAX_DEPTH 64
#define MAX_NUMBER 60 /* characters; cJSON cuts at 63 */

struct scan {
    const char *text, *at, *end;
    int depth;
    kg_error *error;
};

struct name {
    const char *text;
    size_t length;
};

static int scan_value(struct scan *scan);

static int refuse(struct scan *scan, const char *at, const char *what)
{
    size_t line = 1;
    for (const char *c = scan->text; c < at; c++)
        line += *c == '\n';
    return kg_fail(scan->error, KG_EINVAL, "line %zu: %s", line, what);
}

static int next(struct scan *scan)
{
    return scan->at < scan->end ? (unsigned char)*scan->at : -1;
}

/* Next character that is not white space, or -1 at the end. */
static int next_token(struct scan *scan)
{
    while (scan->at < scan->end && strchr(" \t\r\n", *scan->at) && *scan->at)
        scan->at++;
    return next(scan);
}

static bool is_digit(int c)
{
    return c >= '0' && c <= '9';
}

static int hex_value(int c)
{
    return is_digit(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* After the backslash. \u0000 would end cJSON's string early. */
static int scan_escape(struct scan *scan)
{
    int c = next(scan);
    if (c != 'u') {
        if (c <= 0 || !strchr("\"\\/bfnrt", c))
            return refuse(scan, scan->at, "unknown escape in a string");
        scan->at++;
        return 0;
    }
    scan->at++;
    int code = 0;
    for (int i = 0; i < 4; i++, scan->at++) {
        int digit = hex_value(next(scan));
        if (digit < 0)
            return refuse(scan, scan->at, "unknown escape in a string");
        code = code * 16 + digit;
    }
    return code ? 0 : refuse(scan, scan->at, "NUL in a string");
}

static int scan_string(struct scan *scan)
{
    const char *start = scan->at++;
    for (int c; (c = next(scan)) != '"';) {
        if (c < 0)
            return refuse(scan, start, "string without an end");
        if (c < 0x20)
            return refuse(scan, scan->at, "control character in a string");
        scan->at++;
        int status = c == '\\' ? scan_escape(scan) : 0;
        if (status < 0)
            return status;
    }
    scan->at++;
    return 0;
}

static bool scan_digits(struct scan *scan)
{
    const char *start = scan->at;
    while (is_digit(next(scan)))
        scan->at++;
    return scan->at > start;
}

/* [-] (0 | digits) [. digits] [e [+-] digits] */
static bool scan_number_text(struct scan *scan)
{
    if (next(scan) == '-')
        scan->at++;
    if (next(scan) == '0')
        scan->at++;
    else if (!scan_digits(scan))
        return false;
    if (next(scan) == '.') {
        scan->at++;
        if (!scan_digits(scan))
            return false;
    }
    if (next(scan) == 'e' || next(scan) == 'E') {
        scan->at++;
        if (next(scan) == '+' || next(scan) == '-')
            scan->at++;
        if (!scan_digits(scan))
            return false;
    }
    return !is_digit(next(scan));
}

static int scan_number(struct scan *scan)
{
    const char *start = scan->at;
    if (!scan_number_text(scan))
        return refuse(scan, start, "malformed number");
    size_t length = (size_t)(scan->at - start);
    char text[MAX_NUMBER + 1];
    if (length > MAX_NUMBER)
        return refuse(scan, start, "number of too many characters");
    memcpy(text, start, length);
    text[length] = 0;
    return isfinite(strtod(text, NULL)) ? 0 : refuse(scan, start, "number that is not finite");
}

static int scan_word(struct scan *scan)
{
    static const char *const words[] = { "true", "false", "null" };
    size_t left = (size_t)(scan->end - scan->at);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t length = strlen(words[i]);
        if (length <= left && !memcmp(scan->at, words[i], length)) {
            scan->at += length;
            return 0;
        }
    }
    return refuse(scan, scan->at, left ? "unexpected character" : "text ends inside a value");
}

static int by_name(const void *a, const void *b)
{
    const struct name *x = a, *y = b;
    if (x->length != y->length)
        return x->length < y->length ? -1 : 1;
    int order = memcmp(x->text, y->text, x->length);
    return order ? order : (x->text > y->text) - (x->text < y->text);
}

static int refuse_duplicates(struct scan *scan, struct name *names, size_t count)
{
    if (count < 2)
        return 0;
    qsort(names, count, sizeof *names, by_name);
    for (size_t i = 1; i < count; i++) {
        const struct name *name = &names[i];
        if (name->length != names[i - 1].length || memcmp(name->text, names[i - 1].text, name->length))
            continue;
        char what[120];
        (void)snprintf(what, sizeof what, "duplicate member '%.*s'", name->length < 80 ? (int)name->length : 80,
                       name->text);
        return refuse(scan, name->text, what);
    }
    return 0;
}

/* A member name, without escapes, so that names can be compared as they stand. */
static int scan_name(struct scan *scan, struct name **names, size_t *count, size_t *room)
{
    if (next_token(scan) != '"')
        return refuse(scan, scan->at, "member name expected");
    const char *start = scan->at + 1;
    int status = scan_string(scan);
    if (status < 0)
        return status;
    size_t length = (size_t)(scan->at - 1 - start);
    if (memchr(start, '\\', length))
        return refuse(scan, start, "escape in a member name");
    if (*count == *room) {
        size_t more = *room ? *room * 2 : 16;
        struct name *grown = realloc(*names, more * sizeof *grown);
        if (!grown)
            return kg_fail(scan->error, KG_ENOMEM, "out of memory");
        *names = grown;
        *room = more;
    }
    (*names)[(*count)++] = (struct name){ start, length };
    if (next_token(scan) != ':')
        return refuse(scan, scan->at, "':' expected");
    scan->at++;
    return 0;
}

static int scan_object(struct scan *scan)
{
    struct name *names = NULL;
    size_t count = 0, room = 0;
    int status = 0;
    scan->at++;
    if (next_token(scan) == '}') {
        scan->at++;
        return 0;
    }
    for (;;) {
        if ((status = scan_name(scan, &names, &count, &room)) < 0 || (status = scan_value(scan)) < 0)
            break;
        int c = next_token(scan);
        if (c != ',' && c != '}') {
            status = refuse(scan, scan->at, "',' or '}' expected");
            break;
        }
        scan->at++;
        if (c == '}') {
            status = refuse_duplicates(scan, names, count);
            break;
        }
    }
    free(names);
    return status;
}

static int scan_array(struct scan *scan)
{
    scan->at++;
    if (next_token(scan) == ']') {
        scan->at++;
        return 0;
    }
    for (;;) {
        int status = scan_value(scan);
        if (status < 0)
            return status;
        int c = next_token(scan);
        if (c != ',' && c != ']')
            return refuse(scan, scan->at, "',' or ']' expected");
        scan->at++;
        if (c == ']')
            return 0;
    }
}

static int scan_value(struct scan *scan)
{
    int c = next_token(scan), status;
    if (scan->depth == MAX_DEPTH)
        return refuse(scan, scan->at, "values nested too deep");
    scan->depth++;
    if (c == '{')
        status = scan_object(scan);
    else if (c == '[')
        status = scan_array(scan);
    else if (c == '"')
        status = scan_string(scan);
    else if (c == '-' || is_digit(c))
        status = scan_number(scan);
    else
        status = scan_word(scan);
    scan->depth--;
    return status;
}

int kg_json_parse(const char *text, size_t length, cJSON **ret_root, kg_error *ret_error)
{
    struct scan scan = { .text = text, .at = text, .end = text + length, .error = ret_error };
    int status = scan_value(&scan);
    if (status < 0)
        return status;
    if (next_token(&scan) >= 0)
        return refuse(&scan, scan.at, "text after the end of the value");

    const char *stop = text;
    cJSON *root = cJSON_ParseWithLengthOpts(text, length, &stop, false);
    if (!root) /* surrogate escapes without their pair, or no memory */
        return refuse(&scan, stop, "malformed value");
    *ret_root = root;
    return 0;
}

int kg_json_read_file(const char *path, cJSON **ret_root, kg_error *ret_error)
{
    char *text = NULL;
    size_t length = 0;
    kg_error why = { 0 };
    int status = kg_file_read(path, &text, &length, ret_error);
    if (status)
        return status;
    status = kg_json_parse(text, length, ret_root, &why);
    if (status)
        (void)kg_fail(ret_error, status, "%.300s: %s", path, why.text);
    free(text);
    return status;
}

/* ---- members --------------------------------------------------------------------------------------------------- */

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
