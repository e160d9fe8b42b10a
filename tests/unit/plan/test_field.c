/* test_field.c -- members by their table: what is read, written, refused, and in which words.
 * A new type of field gets a member in `record` and a row in the tables below. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "plan/field.h"

struct record {
    const char *name;
    int64_t n;
    double scale;
    bool causal;
    int dtype;
    char canary;
};

static const char *const dtypes[] = { "", "f32|single", "f16", NULL };

enum { N, SCALE, CAUSAL, DTYPE, COUNT };

static const kg_field items[COUNT] = {
    { "n", offsetof(struct record, n), KG_INT, .min = -8, .max = 4096, .fallback = 64 },
    { "scale", offsetof(struct record, scale), KG_REAL, .min = 0, .max = 2, .fallback = 0.5 },
    { "causal", offsetof(struct record, causal), KG_BOOL, .help = "mask" },
    { "dtype", offsetof(struct record, dtype), KG_CHOICE, .fallback = 2, .choices = dtypes },
};
static const kg_fields fields = KG_LIST(items);

/* ---- one member -------------------------------------------------------------------------------------------- */

static double get(const struct record *record, int which)
{
    double value = -77;
    assert_int_equal(kg_field_get(&items[which], record, &value), KG_OK);
    return value;
}

static void accepted(int which, const char *text, double value, const char *formatted)
{
    struct record record = { .canary = 42 };
    kg_error error = { 0 };
    char shown[32];
    assert_int_equal(kg_field_set(&items[which], &record, text, &error), KG_OK);
    assert_true(get(&record, which) == value);
    assert_int_equal(kg_field_format(&items[which], &record, shown, sizeof shown), strlen(formatted));
    assert_string_equal(shown, formatted);
    for (int other = 0; other < COUNT; other++)
        assert_true(other == which || get(&record, other) == 0);
    assert_int_equal(record.canary, 42);
}

static void every_type_is_read_and_shown(void **state)
{
    (void)state;
    accepted(N, "1024", 1024, "1024");
    accepted(N, "4096", 4096, "4096");
    accepted(N, "-8", -8, "-8");
    accepted(N, "007", 7, "7");
    accepted(SCALE, "0.125", 0.125, "0.125");
    accepted(SCALE, ".5", 0.5, "0.5");
    accepted(SCALE, "2", 2, "2");
    accepted(SCALE, "1e-3", 1e-3, "0.001");
    accepted(SCALE, "0", 0, "0");
    accepted(CAUSAL, "true", 1, "true");
    accepted(CAUSAL, "1", 1, "true");
    accepted(CAUSAL, "false", 0, "false");
    accepted(CAUSAL, "0", 0, "false");
    accepted(DTYPE, "f32", 1, "f32");
    accepted(DTYPE, "f16", 2, "f16");
}

static void refused(int which, const char *text, const char *why)
{
    struct record record, kept;
    kg_error error = { 0 };
    memset(&record, 0, sizeof record);
    record.n = 5;
    record.scale = 1.5;
    record.causal = true;
    record.dtype = 1;
    memcpy(&kept, &record, sizeof record);
    assert_int_equal(kg_field_set(&items[which], &record, text, &error), KG_EINVAL);
    assert_int_equal(error.code, KG_EINVAL);
    assert_string_equal(error.text, why);
    assert_memory_equal(&record, &kept, sizeof record);
}

static void what_is_refused_and_how(void **state)
{
    (void)state;
    refused(N, "", "n= is not an integer");
    refused(N, "x", "n=x is not an integer");
    refused(N, "1e3", "n=1e3 is not an integer");
    refused(N, "1.0", "n=1.0 is not an integer");
    refused(N, "12 ", "n=12  is not an integer");
    refused(N, " 12", "n= 12 is not an integer");
    refused(N, "99999999999999999999", "n=99999999999999999999 is not an integer");
    refused(N, "-9", "n=-9 is outside -8 to 4096");
    refused(N, "4097", "n=4097 is outside -8 to 4096");
    refused(SCALE, "", "scale= is not a number");
    refused(SCALE, "half", "scale=half is not a number");
    refused(SCALE, "1.5x", "scale=1.5x is not a number");
    refused(SCALE, "nan", "scale=nan is not a number");
    refused(SCALE, "inf", "scale=inf is not a number");
    refused(SCALE, "1e999", "scale=1e999 is not a number");
    refused(SCALE, "-0.5", "scale=-0.5 is outside 0 to 2");
    refused(SCALE, "2.001", "scale=2.001 is outside 0 to 2");
    refused(CAUSAL, "", "causal= is neither true nor false");
    refused(CAUSAL, "yes", "causal=yes is neither true nor false");
    refused(CAUSAL, "2", "causal=2 is neither true nor false");
    refused(DTYPE, "", "dtype= is none of f32, single, f16"); /* the empty choice cannot be chosen */
    refused(DTYPE, "f64", "dtype=f64 is none of f32, single, f16");
    refused(DTYPE, "F16", "dtype=F16 is none of f32, single, f16");
    refused(DTYPE, "sing", "dtype=sing is none of f32, single, f16");
    refused(DTYPE, "f32|single", "dtype=f32|single is none of f32, single, f16");
    refused(DTYPE, "1", "dtype=1 is none of f32, single, f16");
}

static void format_is_cut_like_snprintf(void **state)
{
    (void)state;
    struct record record = { .n = 12345, .dtype = 7 };
    char shown[4];
    assert_int_equal(kg_field_format(&items[N], &record, shown, sizeof shown), 5);
    assert_string_equal(shown, "123");
    assert_int_equal(kg_field_format(&items[DTYPE], &record, shown, sizeof shown), 1);
    assert_string_equal(shown, "?");
    record.dtype = -1;
    (void)kg_field_format(&items[DTYPE], &record, shown, sizeof shown);
    assert_string_equal(shown, "?");
}

/* ---- a record ---------------------------------------------------------------------------------------------- */

static void zeros_take_the_fallback_and_others_stay(void **state)
{
    (void)state;
    struct record record = { .name = "row" };
    kg_fields_fall_back(fields, &record);
    assert_true(record.n == 64 && record.scale == 0.5 && !record.causal && record.dtype == 2);
    struct record given = { .n = -1, .scale = 2, .causal = true, .dtype = 1 };
    kg_fields_fall_back(fields, &given);
    assert_true(given.n == -1 && given.scale == 2 && given.causal && given.dtype == 1);
    assert_true(record.canary == 0 && !strcmp(record.name, "row"));
}

static void check_says(struct record record, const char *why)
{
    kg_error error = { 0 };
    int status = kg_fields_check(fields, &record, &error);
    assert_int_equal(status, why ? KG_EINVAL : KG_OK);
    assert_string_equal(error.text, why ? why : "");
}

static void check_names_the_first_member_out_of_range(void **state)
{
    (void)state;
    check_says((struct record){ .n = -8, .scale = 2, .dtype = 1 }, NULL);
    check_says((struct record){ .n = 4097, .scale = 3, .dtype = 1 }, "n=4097 is outside -8 to 4096");
    check_says((struct record){ .n = 1, .scale = 3, .dtype = 1 }, "scale=3 is outside 0 to 2");
    check_says((struct record){ .n = 1, .scale = NAN, .dtype = 1 }, "scale=nan is outside 0 to 2");
    check_says((struct record){ .n = 1, .scale = INFINITY, .dtype = 1 }, "scale=inf is outside 0 to 2");
    check_says((struct record){ .n = 1 }, "dtype is not given");
    check_says((struct record){ .n = 1, .dtype = 3 }, "dtype is not given");
    check_says((struct record){ .n = 1, .dtype = -1 }, "dtype is not given");
}

static void a_record_is_shown_without_its_zeros(void **state)
{
    (void)state;
    struct record record = { .n = 8, .causal = true, .dtype = 2 };
    char shown[64] = "old", small[12] = "old";
    kg_fields_format(fields, &record, shown, sizeof shown);
    assert_string_equal(shown, "n=8,causal=true,dtype=f16");
    kg_fields_format(fields, &record, small, sizeof small);
    assert_string_equal(small, "n=8,causal="); /* cut, and terminated */
    kg_fields_format(fields, &(struct record){ 0 }, shown, sizeof shown);
    assert_string_equal(shown, "");
    kg_fields_format((kg_fields){ 0 }, NULL, shown, sizeof shown);
    assert_string_equal(shown, "");
}

static void a_field_is_found_by_its_whole_name(void **state)
{
    (void)state;
    assert_ptr_equal(kg_fields_find(fields, "scale=1", 5), &items[SCALE]);
    assert_null(kg_fields_find(fields, "scale", 4));
    assert_null(kg_fields_find(fields, "scales", 6));
    assert_null(kg_fields_find(fields, "Scale", 5));
    assert_null(kg_fields_find((kg_fields){ 0 }, "n", 1));
}

/* ---- the table itself -------------------------------------------------------------------------------------- */

static void validate_says(kg_field spoiled, const char *why)
{
    kg_field table[] = { items[N], spoiled };
    kg_error error = { 0 };
    int status = kg_fields_validate((kg_fields)KG_LIST(table), sizeof(struct record), &error);
    assert_int_equal(status, why ? KG_EINVAL : KG_OK);
    assert_string_equal(error.text, why ? why : "");
}

static void tables_that_cannot_be(void **state)
{
    (void)state;
    const size_t size = sizeof(struct record);
    char outside[80];
    (void)snprintf(outside, sizeof outside, "field x lies outside its record of %zu bytes", size);
    validate_says((kg_field){ .name = "x", .offset = size - sizeof(double), .type = KG_REAL }, NULL);
    validate_says((kg_field){ .name = "x", .offset = size - sizeof(double) + 1, .type = KG_REAL }, outside);
    validate_says((kg_field){ .name = "x", .offset = size - 1, .type = KG_BOOL }, NULL);
    validate_says((kg_field){ .name = "x", .offset = size, .type = KG_BOOL }, outside);
    validate_says((kg_field){ .name = "x", .offset = SIZE_MAX - 3, .type = KG_INT }, outside);
    validate_says((kg_field){ .name = "x", .type = (enum kg_field_type)9 }, "field x has an unknown type");
    validate_says((kg_field){ .name = "x", .type = KG_CHOICE }, "field x has no choices");
    validate_says((kg_field){ .name = "n", .type = KG_INT }, "field n stands twice");
    validate_says((kg_field){ .name = "two words", .type = KG_INT }, "field 1 has a bad name");
    validate_says((kg_field){ .type = KG_INT }, "field 1 has a bad name");
}

static void names(void **state)
{
    (void)state;
    assert_true(kg_name_valid("gqa_32-8.v2"));
    assert_true(kg_name_valid("0"));
    static const char *const bad[] = { NULL, "", "a b", "a/b", "a@b", "a=b", "a,b", "a*", "\xc3\xa9", "a\n" };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(kg_name_valid(bad[i]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type_is_read_and_shown),
        cmocka_unit_test(what_is_refused_and_how),
        cmocka_unit_test(format_is_cut_like_snprintf),
        cmocka_unit_test(zeros_take_the_fallback_and_others_stay),
        cmocka_unit_test(check_names_the_first_member_out_of_range),
        cmocka_unit_test(a_record_is_shown_without_its_zeros),
        cmocka_unit_test(a_field_is_found_by_its_whole_name),
        cmocka_unit_test(tables_that_cannot_be),
        cmocka_unit_test(names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
