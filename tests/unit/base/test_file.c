/* test_file.c -- a file is replaced as a whole by one of many, or not at all; copies are whole; folders are made. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "base/file.h"
#include "scratch.h"

static char folder[SCRATCH_SIZE], path[2 * SCRATCH_SIZE], to[2 * SCRATCH_SIZE];

static int folder_new(void **state)
{
    (void)state;
    scratch_new(folder);
    (void)snprintf(path, sizeof path, "%s/a.txt", folder);
    (void)snprintf(to, sizeof to, "%s/copy.txt", folder);
    return 0;
}

static int folder_free(void **state)
{
    (void)state;
    scratch_free(folder);
    return 0;
}

static int write_text(FILE *file, const void *what, kg_error *ret_error)
{
    (void)ret_error;
    fputs(what, file);
    return KG_OK;
}

static int write_half(FILE *file, const void *what, kg_error *ret_error)
{
    fputs(what, file);
    return kg_fail(ret_error, KG_ENOMEM, "no memory for the rest");
}

static void holds(const char *wanted)
{
    char *text = NULL;
    size_t length = 0;
    kg_error error = { 0 };
    if (kg_file_read(path, &text, &length, &error))
        fail_msg("%s", error.text);
    assert_string_equal(text, wanted);
    assert_int_equal(length, strlen(wanted));
    free(text);
    assert_null(scratch_read(folder, ".a.new"));
}

static void replaced_or_left(void **state)
{
    kg_error error = { 0 };
    (void)state;
    assert_int_equal(kg_file_replace(path, write_text, "one", &error), KG_OK);
    holds("one");
    scratch_write(folder, ".a.new", "left by a killed writer, and longer");
    assert_int_equal(kg_file_replace(path, write_text, "two", &error), KG_OK);
    holds("two");
    assert_int_equal(kg_file_replace(path, write_half, "thr", &error), KG_ENOMEM);
    assert_string_equal(error.text, "no memory for the rest");
    holds("two");
    assert_int_equal(mkdir(strcat(strcpy(path, folder), "/b.txt"), 0777), 0); /* rename cannot replace a folder */
    assert_int_equal(kg_file_replace(path, write_text, "two", &error), KG_EIO);
    assert_non_null(strstr(error.text, "/b.txt cannot be written: Is a directory"));
    (void)snprintf(path, sizeof path, "%s/none/a.txt", folder);
    assert_int_equal(kg_file_replace(path, write_text, "two", &error), KG_EIO);
    assert_non_null(strstr(error.text, "/none/a.txt cannot be written: No such file or directory"));
}

static void links_stay_and_pipes_are_written_to(void **state)
{
    char other[2 * SCRATCH_SIZE], first[4] = "";
    struct stat is;
    (void)state;
    scratch_write(folder, "a.txt", "old");
    (void)snprintf(other, sizeof other, "%s/link", folder);
    assert_int_equal(symlink("a.txt", other), 0);
    assert_int_equal(kg_file_replace(other, write_text, "new", NULL), KG_OK);
    assert_true(!lstat(other, &is) && S_ISLNK(is.st_mode));
    holds("new");
    (void)snprintf(other, sizeof other, "%s/pipe", folder);
    assert_int_equal(mkfifo(other, 0600), 0);
    int reader = open(other, O_RDONLY | O_NONBLOCK);
    assert_int_equal(kg_file_replace(other, write_text, "new", NULL), KG_OK);
    assert_true(!lstat(other, &is) && S_ISFIFO(is.st_mode));
    assert_int_equal(read(reader, first, 3), 3);
    assert_string_equal(first, "new");
    close(reader);
}

/* Without a lock of the folder: each leaves the file whole, and none fails. */
static void many_writers(void **state)
{
    enum { WRITERS = 12, TIMES = 20, SIZE = 20000 };
    char text[SIZE];
    (void)state;
    for (int i = 0; i < WRITERS; i++) {
        pid_t child = fork();
        assert_true(child >= 0);
        if (child)
            continue;
        int failed = 0;
        memset(text, 'a' + i, sizeof text);
        text[SIZE - 1 - 1000 * i] = '\0';
        for (int t = 0; t < TIMES; t++)
            failed += kg_file_replace(path, write_text, text, NULL) != KG_OK;
        _exit(failed);
    }
    for (int i = 0; i < WRITERS; i++) {
        int status = -1;
        char *read = NULL;
        size_t length = 0;
        assert_true(wait(&status) > 0);
        assert_int_equal(status, 0);
        assert_int_equal(kg_file_read(path, &read, &length, NULL), KG_OK);
        assert_int_equal(length, SIZE - 1 - 1000 * (read[0] - 'a'));
        assert_int_equal(strspn(read, (char[]){ read[0], 0 }), length);
        free(read);
    }
    assert_null(scratch_read(folder, ".a.new"));
}

static void what_cannot_be_read(void **state)
{
    char *text = NULL;
    size_t length = 0;
    kg_error error = { 0 };
    (void)state;
    assert_int_equal(kg_file_read(path, &text, &length, &error), KG_ENOTFOUND);
    assert_int_equal(kg_file_read(folder, &text, &length, &error), KG_EINVAL);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(kg_file_read(path, &text, &length, &error), KG_EINVAL);
    assert_non_null(strstr(error.text, "/a.txt: not a regular file"));
    assert_null(text);
    assert_int_equal(unlink(path), 0);
    int file = open(path, O_WRONLY | O_CREAT, 0600);
    assert_int_equal(ftruncate(file, (off_t)1 << 27), 0);
    close(file);
    assert_int_equal(kg_file_read(path, &text, &length, &error), KG_EIO);
    assert_non_null(strstr(error.text, "/a.txt: File too large"));
}

static void one_file_by_other_names(void **state)
{
    char name[3 * SCRATCH_SIZE];
    (void)state;
    scratch_write(folder, "a.txt", "text");
    (void)snprintf(name, sizeof name, "%s/./a.txt", folder);
    assert_true(kg_file_same(path, name));
    assert_int_equal(link(path, to), 0);
    assert_true(kg_file_same(path, to));
    assert_int_equal(unlink(to), 0);
    assert_int_equal(symlink("a.txt", to), 0);
    assert_true(kg_file_same(path, to));
    assert_int_equal(unlink(to), 0);
    assert_false(kg_file_same(path, to));
    scratch_write(folder, "copy.txt", "text");
    assert_false(kg_file_same(path, to));
}

static void a_copy_is_another_file(void **state)
{
    static char text[200000];
    kg_error error = { 0 };
    (void)state;
    memset(text, 'x', sizeof text - 1);
    scratch_write(folder, "a.txt", text);
    assert_int_equal(kg_file_copy(path, to, &error), KG_OK);
    assert_false(kg_file_same(path, to));
    char *got = scratch_read(folder, "copy.txt");
    assert_string_equal(got, text);
    free(got);
}

static void what_cannot_be_copied(void **state)
{
    kg_error error = { 0 };
    (void)state;
    scratch_write(folder, "a.txt", "text");
    scratch_write(folder, "copy.txt", "another's");
    assert_int_equal(kg_file_copy(path, to, &error), KG_EIO);
    assert_non_null(strstr(error.text, "File exists"));
    char *kept = scratch_read(folder, "copy.txt");
    assert_string_equal(kept, "another's");
    free(kept);
    assert_int_equal(unlink(to), 0);
    assert_int_equal(kg_file_copy(folder, to, &error), KG_EIO); /* a folder opens, and cannot be read */
    assert_non_null(strstr(error.text, "Is a directory"));
    assert_null(scratch_read(folder, "copy.txt"));
    assert_int_equal(unlink(path), 0);
    assert_int_equal(kg_file_copy(path, to, &error), KG_EIO);
    assert_non_null(strstr(error.text, "No such file"));
    assert_null(scratch_read(folder, "copy.txt"));
}

static void folders_are_made(void **state)
{
    char deep[2 * SCRATCH_SIZE];
    kg_error error = { 0 };
    (void)state;
    (void)snprintf(deep, sizeof deep, "%s/b/c//d/", folder);
    assert_int_equal(kg_folder_make_one(deep, &error), KG_EIO);
    assert_false(kg_folder_exists(deep));
    assert_int_equal(kg_folder_make(deep, &error), KG_OK);
    assert_int_equal(kg_folder_make(deep, &error), KG_OK);
    assert_true(kg_folder_exists(deep));
    scratch_write(folder, "a.txt", "");
    assert_false(kg_folder_exists(path));
    assert_int_equal(kg_folder_make(path, &error), KG_EIO);
    assert_non_null(strstr(error.text, "/a.txt: Not a directory"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(replaced_or_left, folder_new, folder_free),
        cmocka_unit_test_setup_teardown(links_stay_and_pipes_are_written_to, folder_new, folder_free),
        cmocka_unit_test_setup_teardown(many_writers, folder_new, folder_free),
        cmocka_unit_test_setup_teardown(what_cannot_be_read, folder_new, folder_free),
        cmocka_unit_test_setup_teardown(one_file_by_other_names, folder_new, folder_free),
        cmocka_unit_test_setup_teardown(a_copy_is_another_file, folder_new, folder_free),
        cmocka_unit_test_setup_teardown(what_cannot_be_copied, folder_new, folder_free),
        cmocka_unit_test_setup_teardown(folders_are_made, folder_new, folder_free),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
