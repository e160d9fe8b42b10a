/* test_json.c -- what the strict parser takes, and what it refuses with which line. A row in `refused` is one text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/json.h"
#include "scratch.h"

static cJSON *parse(const char *text)
{
    cJSON *root = NULL;
    kg_error error = { 0 };
    if (kg_json_parse(text, strlen(text), &root, &error) < 0)
        fail_msg("%s: refused: %s", text, error.text);
    return root;
}

static const struct refusal {
    const char *text, *message;
} refused[] = {
    { "", "line 1: text ends inside a value" },
    { " \n\n ", "line 3: text ends inside a value" },
    { "{", "line 1: member name expected" },
    { "{\"a\":1,}", "line 1: member name expected" },
    { "{\"a\" 1}", "line 1: ':' expected" },
    { "{\"a\":1 \"b\":2}", "line 1: ',' or '}' expected" },
    { "[1,\n2", "line 2: ',' or ']' expected" },
    { "[1,]", "line 1: unexpected character" },
    { "{'a':1}", "line 1: member name expected" },
    { "{\"a\":1}\n{}", "line 2: text after the end of the value" },
    { "1 2", "line 1: text after the end of the value" },
    { "nul", "line 1: unexpected character" },
    { "NaN", "line 1: unexpected character" },
    { "\xef\xbb\xbf{}", "line 1: unexpected character" },
    { "\f1", "line 1: unexpected character" }, /* white space to cJSON */
    { "[1,\n\n1e999]", "line 3: number that is not finite" },
    { "-1e999", "line 1: number that is not finite" },
    { "01", "line 1: malformed number" },
    { "1.", "line 1: malformed number" },
    { "-", "line 1: malformed number" },
    { "1e+", "line 1: malformed number" },
    { "-.5", "line 1: malformed number" },
    { "1000000000000000000000000000000000000000000000000000000000000", "line 1: number of too many characters" },
    { "\"a", "line 1: string without an end" },
    { "\"a\nb\"", "line 1: control character in a string" },
    { "\"\\x\"", "line 1: unknown escape in a string" },
    { "\"\\u12g4\"", "line 1: unknown escape in a string" },
    { "\"a\\u0000b\"", "line 1: NUL in a string" },
    { "\"\\ud800\"", "line 1: malformed value" }, /* half of a pair */
    { "{\"a\\u0062\":1}", "line 1: escape in a member name" },
    { "{\"a\":1,\n\"b\":2,\n\"a\":3}", "line 3: duplicate member 'a'" },
    { "[{\"x\":{\"k\":1,\n\"k\":1}}]", "line 2: duplicate member 'k'" },
    { "{\"\":1,\"\":2}", "line 1: duplicate member ''" },
};

static void refuses(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        cJSON *root = (cJSON *)&refused;
        kg_error error = { 0 };
        int status = kg_json_parse(refused[i].text, strlen(refused[i].text), &root, &error);
        if (status != KG_EINVAL || root != (cJSON *)&refused)
            fail_msg("accepted: %s", refused[i].text);
        assert_string_equal(error.text, refused[i].message);
    }
}

static void refuses_nul_in_the_text(void **state)
{
    (void)state;
    cJSON *root = NULL;
    kg_error error = { 0 };
    assert_int_equal(kg_json_parse("1\0", 2, &root, &error), KG_EINVAL);
    assert_int_equal(kg_json_parse("[1\0]", 4, &root, &error), KG_EINVAL);
    assert_int_equal(kg_json_parse("\"a\0b\"", 5, &root, &error), KG_EINVAL);
    assert_null(root);
}

/* Every proper prefix of a valid object is refused, read from memory of just that size. */
static void refuses_every_prefix(void **state)
{
    (void)state;
    const char *whole = "{\"a\": [1.5e3, true, null, \"\\u00e9\\n\"], \"b\": {\"c\": -0}}";
    size_t length = strlen(whole);
    for (size_t i = 0; i < length; i++) {
        char *part = malloc(i ? i : 1);
        cJSON *root = NULL;
        memcpy(part, whole, i);
        assert_int_equal(kg_json_parse(part, i, &root, NULL), KG_EINVAL);
        free(part);
    }
    cJSON_Delete(parse(whole));
}

static void nesting_ends_at_64(void **state)
{
    (void)state;
    char text[140];
    for (int depth = 64; depth <= 65; depth++) {
        cJSON *root = NULL;
        kg_error error = { 0 };
        memset(text, '[', (size_t)depth);
        memset(text + depth, ']', (size_t)depth);
        int status = kg_json_parse(text, (size_t)depth * 2, &root, &error);
        assert_int_equal(status, depth == 64 ? 0 : KG_EINVAL);
        assert_string_equal(error.text, depth == 64 ? "" : "line 1: values nested too deep");
        cJSON_Delete(root);
    }
}

/* Names that differ in case only, or are prefixes, are not duplicates; many members are looked at in full. */
static void accepts_distinct_names(void **state)
{
    (void)state;
    cJSON_Delete(parse("{\"a\":1,\"A\":2,\"aa\":3,\"x\":{\"a\":1},\"y\":{\"a\":1}}"));
    char text[20000];
    size_t used = 1;
    text[0] = '{';
    for (int i = 0; i < 1000; i++)
        used += (size_t)sprintf(text + used, "%s\"m%d\":%d", i ? ",\n" : "", i, i);
    (void)strcpy(text + used, "}");
    cJSON_Delete(parse(text));
    (void)strcpy(text + used, ",\"m500\":0}");
    cJSON *root = NULL;
    kg_error error = { 0 };
    assert_int_equal(kg_json_parse(text, strlen(text), &root, &error), KG_EINVAL);
    assert_string_equal(error.text, "line 1000: duplicate member 'm500'");
}

static void members_are_typed(void **state)
{
    (void)state;
    cJSON *root = parse("{\"s\":\"abc\",\"n\":-2.5,\"t\":true,\"f\":false,\"z\":null}");
    char text[4] = "?";
    double number = 1;
    bool flag = true;
    kg_error error = { 0 };
    assert_int_equal(kg_json_string(root, "s", text, sizeof text, &error), 0);
    assert_string_equal(text, "abc");
    assert_int_equal(kg_json_number(root, "n", &number, &error), 0);
    assert_true(number == -2.5);
    assert_int_equal(kg_json_bool(root, "f", &flag, &error), 0);
    assert_false(flag);
    assert_int_equal(kg_json_bool(root, "t", &flag, &error), 0);
    assert_true(flag);

    char tiny[3] = "?";
    assert_int_equal(kg_json_string(root, "s", tiny, sizeof tiny, &error), KG_EINVAL);
    assert_string_equal(error.text, "member 's' is longer than 2 bytes");
    assert_string_equal(tiny, "?");
    assert_int_equal(kg_json_string(root, "n", text, sizeof text, &error), KG_EINVAL);
    assert_string_equal(error.text, "member 'n' is not a string");
    assert_int_equal(kg_json_number(root, "s", &number, &error), KG_EINVAL);
    assert_int_equal(kg_json_number(root, "z", &number, &error), KG_EINVAL);
    assert_int_equal(kg_json_bool(root, "n", &flag, &error), KG_EINVAL);
    assert_int_equal(kg_json_number(root, "N", &number, &error), KG_EINVAL); /* names are case-sensitive */
    assert_string_equal(error.text, "member 'N' is missing");
    assert_true(number == -2.5 && flag);
    cJSON_Delete(root);
}

static void reals_survive_a_round_trip(void **state)
{
    (void)state;
    const double values[] = { 0.1, -1e-300, 123456789.123456789, NAN, INFINITY, -INFINITY };
    cJSON *object = cJSON_CreateObject();
    char name[2] = "a";
    for (size_t i = 0; i < sizeof values / sizeof *values; i++, name[0]++)
        assert_non_null(kg_json_add_real(object, name, values[i]));
    char *text = cJSON_PrintUnformatted(object);
    cJSON_Delete(object);
    cJSON *root = parse(text);
    cJSON_free(text);
    name[0] = 'a';
    for (size_t i = 0; i < sizeof values / sizeof *values; i++, name[0]++) {
        double value = 0;
        assert_int_equal(kg_json_real(root, name, &value, NULL), 0);
        assert_true(isnan(values[i]) ? isnan(value) : value == values[i]);
    }
    double number = 5;
    assert_int_equal(kg_json_number(root, "d", &number, NULL), KG_EINVAL); /* "nan" is no number */
    cJSON_Delete(root);
    root = parse("{\"a\":\"NaN\",\"b\":\"infinity\"}");
    assert_int_equal(kg_json_real(root, "a", &number, NULL), KG_EINVAL);
    assert_int_equal(kg_json_real(root, "b", &number, NULL), KG_EINVAL);
    assert_true(number == 5);
    cJSON_Delete(root);
}

static void files_are_read(void **state)
{
    (void)state;
    enum { LINES = 20000 }; /* more than one buffer */
    char folder[SCRATCH_SIZE], path[2 * SCRATCH_SIZE], wanted[3 * SCRATCH_SIZE];
    char *text = malloc(LINES * 8 + 32), *end = text + sprintf(text, "[\n");
    cJSON *root = NULL;
    kg_error error = { 0 };
    scratch_new(folder);
    (void)snprintf(path, sizeof path, "%s/a.json", folder);
    assert_int_equal(kg_json_read_file(path, &root, &error), KG_ENOTFOUND);
    assert_int_equal(kg_json_read_file(folder, &root, &error), KG_EINVAL);
    assert_int_equal(mkfifo(path, 0600), 0); /* nobody writes into it: it must not be waited for */
    assert_int_equal(kg_json_read_file(path, &root, &error), KG_EINVAL);
    (void)snprintf(wanted, sizeof wanted, "%s: not a regular file", path);
    assert_string_equal(error.text, wanted);
    assert_int_equal(unlink(path), 0);

    for (int i = 0; i < LINES; i++)
        end += sprintf(end, "%d,\n", i);
    (void)strcpy(end, "1e400]");
    scratch_write(folder, "a.json", text);
    assert_int_equal(kg_json_read_file(path, &root, &error), KG_EINVAL);
    (void)snprintf(wanted, sizeof wanted, "%s: line 20002: number that is not finite", path);
    assert_string_equal(error.text, wanted);

    (void)strcpy(end, "1e300]");
    scratch_write(folder, "a.json", text);
    assert_int_equal(kg_json_read_file(path, &root, &error), 0);
    assert_int_equal(cJSON_GetArraySize(root), LINES + 1);
    cJSON_Delete(root);
    free(text);
    scratch_free(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refuses),
        cmocka_unit_test(refuses_nul_in_the_text),
        cmocka_unit_test(refuses_every_prefix),
        cmocka_unit_test(nesting_ends_at_64),
        cmocka_unit_test(accepts_distinct_names),
        cmocka_unit_test(members_are_typed),
        cmocka_unit_test(reals_survive_a_round_trip),
        cmocka_unit_test(files_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
