/* series_file.h -- a file of series, a line each. Files are appended to, and several add up. */
#ifndef KG_SERIES_FILE_H
#define KG_SERIES_FILE_H

#include "selfcheck/series.h"

/* Adds a file's series to the set. KG_EINVAL: "FILE: line N: what"; blocks that the set has already are no new ones. */
int kg_series_read(const char *path, struct kg_series_set *set, kg_error *ret_error);

/* Appends the series that have blocks, in one write, and syncs; on a failure the file is as it was. */
int kg_series_append(const char *path, const struct kg_series_set *set, kg_error *ret_error);

#endif
