/* test_kept_files.c -- files that the repository holds are read, and written again byte for byte: no table of members
 * may lose or reorder one. The argument is the repository's root. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "judge/golden.h"
#include "resources/resources_file.h"
#include "scratch.h"
#include "selfcheck/series.h"

static const char *root;

static void in_root(const char *name, char ret_path[512])
{
    assert_true(snprintf(ret_path, 512, "%s/%s", root, name) < 512);
}

static void is_written_again(const char *folder, const char *scratch, const char *name)
{
    char *was = scratch_read(folder, name), *is = scratch_read(scratch, name);
    assert_non_null(was);
    assert_non_null(is);
    if (strcmp(was, is))
        fail_msg("%s/%s is not written as it was", folder, name);
    free(was), free(is);
}

static void goldens(void **state)
{
    char folder[512], scratch[SCRATCH_SIZE], name[128];
    struct kg_goldens *sets = NULL;
    size_t count = 0;
    kg_error error = { 0 };
    (void)state;
    in_root("expectations", folder);
    scratch_new(scratch);
    if (kg_goldens_load_all(folder, &sets, &count, &error))
        fail_msg("%s", error.text);
    assert_true(count > 0);
    for (size_t i = 0; i < count; i++) {
        assert_true(sets[i].count > 0);
        assert_int_equal(kg_goldens_save(&sets[i], scratch, &error), KG_OK);
        (void)snprintf(name, sizeof name, "expectations_%s.json", sets[i].arch);
        is_written_again(folder, scratch, name);
    }
    kg_goldens_free_all(sets, count);
    scratch_free(scratch);
}

static void resources(void **state)
{
    char folder[512], scratch[SCRATCH_SIZE], name[128];
    struct kg_expected_kernels set = { .count = 0 };
    const char *arch = "";
    int files = 0;
    kg_error error = { 0 };
    (void)state;
    in_root("expectations", folder);
    scratch_new(scratch);
    if (kg_resources_load(folder, &set, &error))
        fail_msg("%s", error.text);
    for (size_t i = 0; i < set.count; i++) {
        if (!strcmp(set.items[i].kernel.arch, arch))
            continue;
        arch = set.items[i].kernel.arch;
        assert_int_equal(kg_resources_save(&set, scratch, arch, &error), KG_OK);
        (void)snprintf(name, sizeof name, "resources_%s.json", arch);
        is_written_again(folder, scratch, name);
        files++;
    }
    assert_int_equal(files, 6);
    kg_resources_done(&set);
    scratch_free(scratch);
}

static void recorded_blocks(void **state)
{
    char path[512], *line = NULL;
    size_t room = 0;
    ssize_t length;
    int number = 0;
    (void)state;
    in_root("tests/blocks/h200.jsonl", path);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    while ((length = getline(&line, &room, file)) > 0) {
        struct kg_series series;
        kg_error error = { 0 };
        number++;
        if (kg_series_parse(line, (size_t)length - 1, &series, &error))
            fail_msg("line %d: %s", number, error.text);
        char *again = kg_series_format(&series);
        assert_non_null(again);
        if (strcmp(line, again))
            fail_msg("line %d is not written as it was", number);
        free(again), free(series.blocks);
    }
    assert_true(number > 100);
    free(line);
    (void)fclose(file);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(goldens),
        cmocka_unit_test(resources),
        cmocka_unit_test(recorded_blocks),
    };
    if (argc != 2)
        return 2;
    root = argv[1];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
