/* record_file.h -- files of records, {"schema": 2, "arch": "h200", "cases": [a record a line]}: read strictly, replaced
 * as a whole. What records have in common may stand before them in tables, "cards": {"1c8b4f02": an entry a line},
 * sorted by name and key; one without entries is left out, and so are entries that no record names. */
#ifndef KG_RECORD_FILE_H
#define KG_RECORD_FILE_H

#include "base/record.h"

struct kg_record_file {
    const char *prefix; /* files are PREFIX<arch>.json; `arch` is "" where a kind has but one, without that member */
    const char *list, *one; /* "cases", "case": the member, and what messages call one of its records */
    const char *key;        /* the member that messages name a record by; NULL: by its number alone */
    int oldest, schema;     /* are read; `schema` is written */
    const struct kg_record *record;
    const struct kg_record *older; /* of files of another schema than `schema`; NULL: the same */
    size_t size;                   /* of the record's struct */
};

#define KG_RECORD_PATH 4096
int kg_record_file_path(const struct kg_record_file *kind, const char *folder, const char *arch,
                        char ret_path[KG_RECORD_PATH], kg_error *ret_error);

/* Gets the records in their order; one is gone when it returns. What it refuses is said after the file's name and the
 * record's number. */
typedef int kg_record_take_fn(const void *record, int schema, void *user, kg_error *ret_error);

/* KG_ENOTFOUND, KG_EIO, KG_EINVAL name the file and what is wrong. `ret_root` (NULL: not wanted) owns the records'
 * strings; it is set before the first is taken, and stays so where one is refused. */
int kg_record_file_read(const struct kg_record_file *kind, const char *folder, const char *arch,
                        kg_record_take_fn *take, void *user, cJSON **ret_root, kg_error *ret_error);

/* Calls `each` for the folder's files of a kind, by their names' order. No folder: for none. */
typedef int kg_record_file_fn(const char *folder, const char *arch, void *user, kg_error *ret_error);
int kg_record_file_each(const struct kg_record_file *kind, const char *folder, kg_record_file_fn *each, void *user,
                        kg_error *ret_error);

/* Writes FOLDER/PREFIX<arch>.json by kg_file_replace. Makes the folder, its last part alone. Who read the file before
 * holds the folder's lock since then. */
int kg_record_file_save(const struct kg_record_file *kind, const char *folder, const char *arch, const void *records,
                        size_t count, kg_error *ret_error);

#endif
