/* field.h -- field tables of problems and knobs: parse, format, range checks. Pure functions over a record. */
#ifndef KG_FIELD_H
#define KG_FIELD_H

#include "kgate.h"

/* The table itself: names well formed and unique, members inside the record. */
int kg_fields_validate(kg_fields fields, size_t record_size, kg_error *ret_error);

const kg_field *kg_fields_find(kg_fields fields, const char *name, size_t length); /* NULL: none */

/* The field of a suite's op that --set names; KG_EINVAL says which there are. */
int kg_field_of_suite(const kg_suite *suite, const char *name, const kg_field **ret_field, kg_error *ret_error);

/* Replaces zeros by the fallbacks. */
void kg_fields_fall_back(kg_fields fields, void *record);

/* KG_EINVAL names the first field out of its range. */
int kg_fields_check(kg_fields fields, const void *record, kg_error *ret_error);

/* Parses a whole text into the member and checks its range. */
int kg_field_set(const kg_field *field, void *record, const char *text, kg_error *ret_error);

/* Numbers as they are, bool as 0 or 1, a choice as its index. */
int kg_field_get(const kg_field *field, const void *record, double *ret_value);

/* "1024", "0.125", "true", "bf16". Returns the length that it wanted, as snprintf does. */
int kg_field_format(const kg_field *field, const void *record, char *ret_text, size_t size);

/* "B=1,H=8,…", members at zero left out. */
void kg_fields_format(kg_fields fields, const void *record, char *ret_text, size_t size);

/* Names of rows, suites, backends, fields: letters, digits, '_', '-', '.'; not empty. */
bool kg_name_valid(const char *name);

#endif
