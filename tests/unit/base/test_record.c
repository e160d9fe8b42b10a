/* test_record.c -- every type of member is read, refused by its name and written, by a table of each of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/record.h"

struct inner {
    double real;
    char late[8];
};
struct all {
    char text[8], name[8], worded[8], anchor[8];
    const char *string;
    double positive, amount, exact, real, list[4], ratios[4];
    int64_t bits;
    bool flag, said;
    int count, left_out, word, n_list, counts[2];
    struct inner inner;
};

static const char *const words[] = { NULL, "one", "two" }, *const kinds[] = { "mma", "wgmma" };
static const struct kg_member inner_members[] = {
    { "real", KG_IS_POSITIVE, KG_AT(struct inner, real) },
    { "late", KG_IS_TEXT, KG_AT(struct inner, late), .since = 2 },
};
static const struct kg_record inner_record = KG_RECORD(inner_members);

#define FIELD(field) KG_AT(struct all, field)
#define LIST .least = 2, .most = 4, .count = offsetof(struct all, n_list)
#define WITH_ANCHOR .with = offsetof(struct all, anchor)

static const struct kg_member members[] = {
    { "text", KG_IS_TEXT, FIELD(text) },
    { "name", KG_IS_NAME, FIELD(name) },
    { "worded", KG_IS_TEXT, FIELD(worded), KG_WORDS(words) },
    { "string", KG_IS_STRING, FIELD(string) },
    { "positive", KG_IS_POSITIVE, FIELD(positive) },
    { "amount", KG_IS_AMOUNT, FIELD(amount) },
    { "exact", KG_IS_EXACT, FIELD(exact) },
    { "real", KG_IS_REAL, FIELD(real) },
    { "bits", KG_IS_BITS, FIELD(bits) },
    { "flag", KG_IS_FLAG, FIELD(flag) },
    { "said", KG_IS_FLAG, FIELD(said), .optional = true },
    { "count", KG_IS_COUNT, FIELD(count), .least = -1, .most = 9 },
    { "left_out", KG_IS_COUNT, FIELD(left_out), .most = 9, .optional = true },
    { "word", KG_IS_WORD, FIELD(word), KG_WORDS(words) },
    { "list", KG_IS_LIST, FIELD(list), LIST },
    { "ratios", KG_IS_LIST, FIELD(ratios), LIST, WITH_ANCHOR },
    { "anchor", KG_IS_NAME, FIELD(anchor), WITH_ANCHOR },
    { "counts", KG_IS_COUNTS, FIELD(counts), .most = 9, KG_WORDS(kinds) },
    { "inner", KG_IS_RECORD, FIELD(inner), .record = &inner_record },
};
static const struct kg_record record = KG_RECORD(members);

static const char whole[] =
    "{\"text\":\"\",\"name\":\"n\",\"worded\":\"two\",\"string\":\"of the tree\",\"positive\":0.33333,\"amount\":0,"
    "\"exact\":0.031999778002500534,\"real\":\"-inf\",\"bits\":\"18446744073709551615\",\"flag\":true,\"count\":-1,"
    "\"left_out\":7,\"word\":\"one\",\"list\":[1,2.5],"
    "\"ratios\":[0.5,0.25],\"anchor\":\"a\",\"counts\":{\"wgmma\":3},\"inner\":{\"real\":1e+06,\"late\":\"x\"}}";

static int read_text(const char *text, int schema, struct all *ret_all, cJSON **ret_root, kg_error *ret_error)
{
    *ret_all = (struct all){ 0 };
    assert_int_equal(kg_json_parse(text, strlen(text), ret_root, ret_error), KG_OK);
    return kg_record_read(&record, *ret_root, schema, ret_all, ret_error);
}

static void is_written_as(const struct all *all, const char *wanted)
{
    cJSON *object = cJSON_CreateObject();
    assert_true(kg_record_add(object, &record, all));
    char *text = cJSON_PrintUnformatted(object);
    assert_string_equal(text, wanted);
    cJSON_free(text);
    cJSON_Delete(object);
}

static void what_is_read_is_written(void **state)
{
    struct all all;
    cJSON *root = NULL;
    kg_error error = { 0 };
    (void)state;
    if (read_text(whole, 2, &all, &root, &error))
        fail_msg("%s", error.text);
    assert_string_equal(all.name, "n");
    assert_string_equal(all.string, "of the tree");
    assert_true(all.exact == 0.031999778002500534 && all.list[1] == 2.5 && all.ratios[1] == 0.25);
    assert_true(isinf(all.real) && all.real < 0);
    assert_true(all.bits == -1);
    assert_true(all.flag && !all.said);
    assert_int_equal(all.count, -1);
    assert_int_equal(all.left_out, 7);
    assert_int_equal(all.word, 1);
    assert_int_equal(all.n_list, 2);
    assert_int_equal(all.counts[0], 0);
    assert_int_equal(all.counts[1], 3);
    assert_string_equal(all.inner.late, "x");
    is_written_as(&all, whole);
    cJSON_Delete(root);
}

static void five_digits_and_what_is_left_out(void **state)
{
    struct all all = { .name = "n", .worded = "one", .positive = 1. / 3, .exact = 1, .word = 2, .inner = { 2e6, "" } };
    (void)state;
    is_written_as(&all, "{\"text\":\"\",\"name\":\"n\",\"worded\":\"one\",\"string\":\"\",\"positive\":0.33333,"
                        "\"amount\":0,\"exact\":1,\"real\":0,\"bits\":\"0\",\"flag\":false,\"count\":0,\"word\":"
                        "\"two\",\"list\":[],\"counts\":{},"
                        "\"inner\":{\"real\":2e+06,\"late\":\"\"}}");
}

static const struct {
    const char *from, *to, *message; /* NULL: it is accepted */
} edits[] = {
    { "\"left_out\":7,", "", NULL },
    { "\"ratios\":[0.5,0.25],\"anchor\":\"a\",", "", NULL },
    { "\"flag\":", "\"flog\":", "unknown member 'flog'" },
    { "\"flag\":true,", "", "member 'flag' is missing" },
    { "\"text\":\"\"", "\"text\":7", "member 'text' is not a string" },
    { "\"text\":\"\"", "\"text\":\"12345678\"", "member 'text' is longer than 7 bytes" },
    { "\"name\":\"n\"", "\"name\":\"\"", "member 'name' is empty" },
    { "\"worded\":\"two\"", "\"worded\":\"too\"", "member 'worded' is neither one nor two" },
    { "\"string\":\"of the tree\"", "\"string\":null", "member 'string' is missing or not a string" },
    { "\"positive\":0.33333", "\"positive\":0", "member 'positive' is not over 0" },
    { "\"positive\":0.33333", "\"positive\":\"nan\"", "member 'positive' is not a number" },
    { "\"amount\":0", "\"amount\":-1", "member 'amount' is negative" },
    { "\"exact\":0", "\"exact\":-0", "member 'exact' is negative" },
    { "\"real\":\"-inf\"", "\"real\":\"none\"", "member 'real' is not a number" },
    { "\"bits\":\"1", "\"bits\":\"-1", "member 'bits' has other characters than digits" },
    { "\"bits\":\"18446744073709551615\"", "\"bits\":1", "member 'bits' is not a string" },
    { "\"flag\":true", "\"flag\":1", "member 'flag' is not true or false" },
    { "\"count\":-1", "\"count\":-2", "member 'count' is -2, no whole number from -1 to 9" },
    { "\"count\":-1", "\"count\":10", "member 'count' is 10, no whole number from -1 to 9" },
    { "\"count\":-1", "\"count\":1.5", "member 'count' is 1.5, no whole number from -1 to 9" },
    { "\"count\":-1", "\"count\":1e300", "member 'count' is 1e+300, no whole number from -1 to 9" },
    { "\"left_out\":7", "\"left_out\":10", "member 'left_out' is 10, no whole number from 0 to 9" },
    { "\"word\":\"one\"", "\"word\":\"\"", "member 'word' is neither one nor two" },
    { "\"list\":[1,2.5]", "\"list\":1", "member 'list' is missing or not an array" },
    { "\"list\":[1,2.5]", "\"list\":[1]", "member 'list' has 1 values, not 2 to 4" },
    { "\"list\":[1,2.5]", "\"list\":[1,2,3,4,5]", "member 'list' has 5 values, not 2 to 4" },
    { "\"list\":[1,2.5]", "\"list\":[1,0]", "value 2 of member 'list' is not a number over 0" },
    { "\"list\":[1,2.5]", "\"list\":[1,2,3]", "member 'ratios' has 2 values, not 3" },
    { "\"ratios\":[0.5,0.25],", "", "member 'ratios' is missing or not an array" },
    { "\"anchor\":\"a\",", "", "member 'anchor' is missing" },
    { "\"counts\":{\"wgmma\":3}", "\"counts\":3", "member 'counts' is missing or not an object" },
    { "\"counts\":{\"wgmma\":3}", "\"counts\":{\"wmma\":3}", "unknown member 'wmma' in 'counts'" },
    { "\"wgmma\":3", "\"wgmma\":0", "in 'counts': member 'wgmma' is 0, no whole number from 1 to 9" },
    { "\"inner\":{", "\"inner\":{\"more\":1,", "unknown member 'more' in 'inner'" },
    { "\"real\":1e+06", "\"real\":0", "in 'inner': member 'real' is not over 0" },
    { ",\"late\":\"x\"", "", "in 'inner': member 'late' is missing" },
};

static void every_flaw_is_named(void **state)
{
    (void)state;
    for (size_t i = 0; i < KG_COUNT_OF(edits); i++) {
        char text[1024];
        const char *at = strstr(whole, edits[i].from);
        struct all all;
        cJSON *root = NULL;
        kg_error error = { 0 };
        assert_non_null(at);
        (void)snprintf(text, sizeof text, "%.*s%s%s", (int)(at - whole), whole, edits[i].to,
                       at + strlen(edits[i].from));
        assert_int_equal(read_text(text, 2, &all, &root, &error), edits[i].message ? KG_EINVAL : KG_OK);
        assert_string_equal(error.text, edits[i].message ? edits[i].message : "");
        cJSON_Delete(root);
    }
}

static void an_older_schema_has_fewer_members(void **state)
{
    char text[1024];
    struct all all;
    cJSON *root = NULL;
    kg_error error = { 0 };
    (void)state;
    assert_int_equal(read_text(whole, 1, &all, &root, &error), KG_EINVAL);
    assert_string_equal(error.text, "unknown member 'late' in 'inner'");
    cJSON_Delete(root);
    (void)snprintf(text, sizeof text, "%.*s}}", (int)(strstr(whole, ",\"late\"") - whole), whole);
    error = (kg_error){ 0 };
    assert_int_equal(read_text(text, 1, &all, &root, &error), KG_OK);
    assert_string_equal(all.inner.late, "");
    cJSON_Delete(root);
}

/* The members that fit are taken; texts are cut. */
static void what_another_process_says(void **state)
{
    static const char said[] = "{\"text\":\"123456789\",\"name\":\"\",\"positive\":-1,\"real\":2,\"bits\":3,"
                               "\"flag\":7,\"said\":true,\"count\":10,\"word\":\"two\",\"unknown\":1,"
                               "\"inner\":{\"real\":5}}";
    struct all all = { .name = "was", .positive = 1, .bits = 4, .flag = true, .count = 5, .inner.late = "was" };
    cJSON *root = NULL;
    (void)state;
    assert_int_equal(kg_json_parse(said, sizeof said - 1, &root, NULL), KG_OK);
    kg_record_take(&record, root, &all);
    assert_string_equal(all.text, "1234567");
    assert_true(all.positive == 1 && all.real == 2 && all.bits == 4 && all.flag && all.said);
    assert_true(all.count == 5 && all.word == 2 && all.inner.real == 5);
    assert_string_equal(all.inner.late, "was");
    cJSON_Delete(root);
    kg_record_take(&record, NULL, &all); /* no object at all */
    assert_true(all.word == 2);
}

/* ---- entries --------------------------------------------------------------------------------------------------- */

struct card {
    char name[32], maker[32];
};
struct held {
    struct card card, other;
    int number;
};
static const struct kg_member maker_members[] = { { "maker", KG_IS_NAME, KG_AT(struct card, maker) } };
static const struct kg_record maker_record = KG_RECORD(maker_members);
static const struct kg_member card_members[] = {
    { "name", KG_IS_TEXT, KG_AT(struct card, name) },
    { "by", KG_IS_ENTRY, .record = &maker_record, .table = "makers" }, /* of the same struct */
};
static const struct kg_record card_record = KG_RECORD(card_members);
static const struct kg_member held_members[] = {
    { "card", KG_IS_ENTRY, KG_AT(struct held, card), .record = &card_record, .table = "cards" },
    { "other", KG_IS_ENTRY, KG_AT(struct held, other), .record = &card_record, .table = "cards",
      .with = offsetof(struct held, other) },
};
static const struct kg_record held_record = KG_RECORD(held_members);

static char *written(const struct held *held, cJSON *tables)
{
    cJSON *object = cJSON_CreateObject();
    assert_true(kg_record_add_with(object, &held_record, tables, held));
    char *text = cJSON_PrintUnformatted(object);
    cJSON_Delete(object);
    return text;
}

/* Equal entries are one, whose key depends on nothing but them. */
static void entries_stand_in_tables(void **state)
{
    const struct held two = { { "a", "x" }, { "b", "x" }, 0 }, one = { { "b", "x" }, { "", "" }, 0 };
    cJSON *tables = cJSON_CreateObject(), *root = NULL;
    struct held got = { 0 };
    kg_error error = { 0 };
    (void)state;
    char *line = written(&two, tables), *text = cJSON_PrintUnformatted(tables);
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(tables, "cards")), 2);
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(tables, "makers")), 1);
    assert_int_equal(kg_json_parse(text, strlen(text), &root, &error), KG_OK);
    cJSON *object = cJSON_Parse(line);
    if (kg_record_read_with(&held_record, object, root, 1, &got, &error))
        fail_msg("%s", error.text);
    assert_memory_equal(&got, &two, sizeof got);
    cJSON_Delete(tables);
    tables = cJSON_CreateObject();
    char *alone = written(&one, tables);
    assert_non_null(strstr(alone, cJSON_GetObjectItem(object, "other")->valuestring));
    assert_int_equal(kg_record_read(&held_record, object, 1, &got, &error), KG_EINVAL); /* no tables */
    assert_non_null(strstr(error.text, "which is not in 'cards'"));
    cJSON_DeleteItemFromObject(root, "makers");
    assert_int_equal(kg_record_read_with(&held_record, object, root, 1, &got, &error), KG_EINVAL);
    assert_non_null(strstr(error.text, "in 'card': member 'by' is '"));
    cJSON_ReplaceItemInObject(object, "card", cJSON_CreateNumber(7));
    assert_int_equal(kg_record_read_with(&held_record, object, root, 1, &got, &error), KG_EINVAL);
    assert_string_equal(error.text, "member 'card' is missing or not a string");
    assert_true(kg_record_has_table(&held_record, "makers") && kg_record_has_table(&held_record, "cards"));
    assert_false(kg_record_has_table(&held_record, "card"));
    cJSON_free(line), cJSON_free(text), cJSON_free(alone);
    cJSON_Delete(tables), cJSON_Delete(root), cJSON_Delete(object);
}

/* A key that another entry has grows by a digit. */
static void keys_of_two_entries_differ(void **state)
{
    const struct held one = { { "a", "x" }, { "", "" }, 0 };
    cJSON *tables = cJSON_CreateObject();
    (void)state;
    char *line = written(&one, tables);
    cJSON *cards = cJSON_GetObjectItem(tables, "cards");
    char key[32];
    (void)snprintf(key, sizeof key, "%s", cards->child->string);
    assert_int_equal(strlen(key), 6);
    cJSON_ReplaceItemInObject(cards, key, cJSON_CreateRaw("{\"name\":\"another\"}"));
    cJSON_free(line);
    line = written(&one, tables);
    assert_int_equal(cJSON_GetArraySize(cards), 2);
    assert_int_equal(strlen(cards->child->next->string), 7);
    assert_memory_equal(cards->child->next->string, key, 6);
    cJSON_free(line);
    cJSON_Delete(tables);
}

static void no_object(void **state)
{
    struct all all = { 0 };
    cJSON *root = cJSON_CreateArray();
    kg_error error = { 0 };
    (void)state;
    assert_int_equal(kg_record_read(&record, root, 2, &all, &error), KG_EINVAL);
    assert_string_equal(error.text, "not an object");
    cJSON_Delete(root);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_read_is_written),    cmocka_unit_test(five_digits_and_what_is_left_out),
        cmocka_unit_test(every_flaw_is_named),        cmocka_unit_test(an_older_schema_has_fewer_members),
        cmocka_unit_test(what_another_process_says),  cmocka_unit_test(entries_stand_in_tables),
        cmocka_unit_test(keys_of_two_entries_differ), cmocka_unit_test(no_object),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
