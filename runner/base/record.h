/* record.h -- a struct as a JSON object, read strictly and written by one table of members. */
#ifndef KG_RECORD_H
#define KG_RECORD_H

#include "base/json.h"

enum kg_member_type {
    KG_IS_TEXT,     /* char[]; one of `words`, where there are any */
    KG_IS_NAME,     /* a text that is not empty */
    KG_IS_STRING,   /* const char *: of the tree, which must live as long; NULL is written as "" */
    KG_IS_POSITIVE, /* double over 0, written with five digits, as is the next */
    KG_IS_AMOUNT,   /* double from 0 on */
    KG_IS_EXACT,    /* double from 0 on, written with all its digits */
    KG_IS_REAL,     /* double, any: written with all its digits, or as "nan", "inf", "-inf" */
    KG_IS_BITS,     /* uint64_t or int64_t: written as a text, since a JSON number has 53 bits */
    KG_IS_FLAG,     /* bool */
    KG_IS_COUNT,    /* int from least to most */
    KG_IS_WORD,     /* int, an enum's: index in `words` */
    KG_IS_LIST,     /* double[], each over 0, from least to most of them. Lists of one `count` are equally long */
    KG_IS_COUNTS,   /* int[], an object of `words`; what is 0 is left out, what is there is over 0 */
    KG_IS_RECORD,   /* `record` */
    KG_IS_ENTRY,    /* `record`, which stands in the file's `table`; the member is its key there */
};

/* A row's order is that of the file. Offsets are within the struct of the record that the row is in. */
struct kg_member {
    const char *name;
    enum kg_member_type type;
    size_t offset, size;
    int least, most;
    size_t count;             /* offset of a list's int */
    const char *const *words; /* NULL among them: no word has this index */
    size_t n_words;
    const struct kg_record *record;
    const char *table;
    int since;     /* files of older schemas do not have it */
    bool optional; /* a count, text or flag that is left out where it is 0, empty or false */
    size_t with;   /* offset of a text. Rows of one are there together, and only where it is not empty; 0: always */
};

struct kg_record {
    const struct kg_member *members;
    size_t n_members;
};

#define KG_COUNT_OF(array) (sizeof(array) / sizeof *(array))
#define KG_AT(type, field) .offset = offsetof(type, field), .size = sizeof(((type *)0)->field)
#define KG_WORDS(array) .words = (array), .n_words = KG_COUNT_OF(array)
#define KG_RECORD(array)                                                                                               \
    {                                                                                                                  \
        (array), KG_COUNT_OF(array)                                                                                    \
    }

/* KG_EINVAL names the member: one that is unknown, is missing, is of another type or out of its range. Then
 * `ret_record` is half read. Members that the object does not have stay as they are. */
int kg_record_read(const struct kg_record *record, const cJSON *object, int schema, void *ret_record,
                   kg_error *ret_error);

/* The same of a file that has tables, objects of records by key: those that entries' keys are looked up in. KG_EINVAL
 * too where a key is not there. */
int kg_record_read_with(const struct kg_record *record, const cJSON *object, const cJSON *tables, int schema,
                        void *ret_record, kg_error *ret_error);

/* Lenient, for what another process says: what is missing, unknown, of another type or out of its range is passed over,
 * and the member stays as it was. Texts are cut; there are no names among them. */
void kg_record_take(const struct kg_record *record, const cJSON *object, void *ret_record);

/* Adds the members to an object. false: no memory. */
bool kg_record_add(cJSON *object, const struct kg_record *record, const void *from);

/* The same, its entries put into `tables`, an object, as raw texts. A key is the first 6 hex digits of the hash of what
 * the entry says, more where another entry has them: who writes the same says the same, whatever else is there. */
bool kg_record_add_with(cJSON *object, const struct kg_record *record, cJSON *tables, const void *from);

/* Whether the record, or one within it, has entries in the table. */
bool kg_record_has_table(const struct kg_record *record, const char *table);

/* Member `schema` of a file: `oldest` to `newest`. */
int kg_record_schema(const cJSON *object, int oldest, int newest, int *ret_schema, kg_error *ret_error);

#endif
