/* test_module_copy.c -- one file by several names, and a copy that is another. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <sys/stat.h>

#include "plan/module_copy.h"
#include "scratch.h"

static char folder[SCRATCH_SIZE], from[2 * SCRATCH_SIZE], to[2 * SCRATCH_SIZE];

static int files_new(void **state)
{
    (void)state;
    scratch_new(folder);
    (void)snprintf(from, sizeof from, "%s/module.so", folder);
    (void)snprintf(to, sizeof to, "%s/copy.so", folder);
    scratch_write(folder, "module.so", "text");
    return 0;
}

static int files_free(void **state)
{
    (void)state;
    scratch_free(folder);
    return 0;
}

static void one_file_by_other_names(void **state)
{
    char name[3 * SCRATCH_SIZE];
    (void)state;
    (void)snprintf(name, sizeof name, "%s/./module.so", folder);
    assert_true(kg_module_same_file(from, name));
    assert_int_equal(link(from, to), 0);
    assert_true(kg_module_same_file(from, to));
    assert_int_equal(unlink(to), 0);
    assert_int_equal(symlink("module.so", to), 0);
    assert_true(kg_module_same_file(from, to));
    assert_int_equal(unlink(to), 0);
    assert_false(kg_module_same_file(from, to));
    scratch_write(folder, "copy.so", "text");
    assert_false(kg_module_same_file(from, to));
}

static void a_copy_is_another_file(void **state)
{
    static char text[200000];
    kg_error error = { 0 };
    (void)state;
    memset(text, 'x', sizeof text - 1);
    scratch_write(folder, "module.so", text);
    assert_int_equal(kg_module_copy(from, to, &error), KG_OK);
    assert_false(kg_module_same_file(from, to));
    char *got = scratch_read(folder, "copy.so");
    assert_string_equal(got, text);
    free(got);
}

static void what_cannot_be_copied(void **state)
{
    kg_error error = { 0 };
    (void)state;
    scratch_write(folder, "copy.so", "another's");
    assert_int_equal(kg_module_copy(from, to, &error), KG_EIO);
    assert_non_null(strstr(error.text, "File exists"));
    char *kept = scratch_read(folder, "copy.so");
    assert_string_equal(kept, "another's");
    free(kept);
    assert_int_equal(unlink(to), 0);
    assert_int_equal(kg_module_copy(folder, to, &error), KG_EIO); /* a folder opens, and cannot be read */
    assert_non_null(strstr(error.text, "Is a directory"));
    assert_null(scratch_read(folder, "copy.so"));
    assert_int_equal(unlink(from), 0);
    assert_int_equal(kg_module_copy(from, to, &error), KG_EIO);
    assert_non_null(strstr(error.text, "No such file"));
    assert_null(scratch_read(folder, "copy.so"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, files_new, files_free)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(one_file_by_other_names),
        TEST(a_copy_is_another_file),
        TEST(what_cannot_be_copied),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
