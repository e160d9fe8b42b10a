/* series_json.h -- a series as one line of JSON. Times are kept as logarithms in whole millionths, so that a block
 * takes less than 100 bytes. */
#ifndef KG_SERIES_JSON_H
#define KG_SERIES_JSON_H

#include "selfcheck/series.h"

#define KG_SERIES_SCHEMA 1

/* One line with its end; free() it. NULL: no memory, or a value that is not finite. */
char *kg_series_format(const struct kg_series *series);

/* KG_EINVAL and what is wrong. */
int kg_series_parse(const char *line, size_t length, struct kg_series *ret_series, kg_error *ret_error);

#endif
