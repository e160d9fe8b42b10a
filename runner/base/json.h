/* json.h -- cJSON, made strict: what it lets through is refused here. */
#ifndef KG_JSON_H
#define KG_JSON_H

#include <cjson/cJSON.h>
#include <stdio.h>

#include "kgate.h"

/* Parses exactly one value. Refuses text after it, duplicate keys in any object, numbers that are not finite or are
 * longer than 60 characters, control characters and NUL in strings, escapes in member names, and nesting over 64.
 * UTF-8 is not checked. KG_EINVAL: "line N: what". */
int kg_json_parse(const char *text, size_t length, cJSON **ret_root, kg_error *ret_error);

/* KG_ENOTFOUND, KG_EIO; KG_EINVAL: no regular file, or refused by kg_json_parse. Never waits for a pipe's writer. */
int kg_json_read_file(const char *path, cJSON **ret_root, kg_error *ret_error);

/* Typed members. KG_EINVAL names the member and the type wanted. */
int kg_json_string(const cJSON *object, const char *name, char *ret_text, size_t size, kg_error *ret_error);
int kg_json_number(const cJSON *object, const char *name, double *ret_value, kg_error *ret_error);
int kg_json_bool(const cJSON *object, const char *name, bool *ret_value, kg_error *ret_error);

/* JSON has no NaN or infinity: they are written as the strings "nan", "inf", "-inf", and read back by kg_json_real. */
cJSON *kg_json_add_real(cJSON *object, const char *name, double value);
int kg_json_real(const cJSON *object, const char *name, double *ret_value, kg_error *ret_error);

/* Prints the tree, which it frees, and the end of a line. NULL, or no memory for the text: KG_ENOMEM. Whether the
 * stream took it is the caller's to ask. */
int kg_json_put(cJSON *root, FILE *out, kg_error *ret_error);

#endif
