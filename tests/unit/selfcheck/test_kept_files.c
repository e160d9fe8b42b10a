/* test_kept_files.c -- files that the repository holds are read, and written again byte for byte: no table of members
 * may lose or reorder one. Goldens are of the problems that their module's tables hold, in lines that can be read.
 *
 *     test_kept_files ROOT MODULE.so
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "judge/golden.h"
#include "plan/module.h"
#include "plan/plan.h"
#include "plan/problem.h"
#include "resources/resources_file.h"
#include "scratch.h"
#include "selfcheck/series.h"

#define MOST_CHARACTERS 400 /* of a line of a golden file: a difference is read by people */

static const char *root;
static struct kg_loaded module;

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

static void lines_can_be_read(const char *folder, const char *name)
{
    char *text = scratch_read(folder, name);
    int number = 0;
    for (char *line = text, *end; (end = strchr(line, '\n')); line = end + 1) {
        number++;
        if (end - line > MOST_CHARACTERS)
            fail_msg("%s, line %d has %d characters", name, number, (int)(end - line));
    }
    free(text);
}

/* By the row of its key; a golden that is not of it judges nothing. */
static void is_of_its_row(const struct kg_golden *golden)
{
    char suite_name[KG_ID_SIZE], shape[KG_ID_SIZE], what[400];
    const char *first = strchr(golden->key, '/'), *last = strrchr(golden->key, '/');
    struct kg_work work;
    kg_error error = { 0 };
    void *problem = NULL;
    (void)snprintf(suite_name, sizeof suite_name, "%.*s", (int)(first - golden->key), golden->key);
    (void)snprintf(shape, sizeof shape, "%.*s", (int)(last - first - 1), first + 1);
    const kg_suite *suite = kg_module_suite(module.root, suite_name);
    const kg_backend *backend = suite ? kg_suite_backend(suite, last + 1) : NULL;
    if (!backend || kg_plan_problem(suite, backend->device, shape, &problem, &error))
        fail_msg("%s: the module has no such case", golden->key);
    assert_int_equal(kg_problem_work(suite->op, problem, &work, &error), KG_OK);
    if (!golden->problem[0] || !kg_golden_is_of(golden, suite->op, problem, &work, what, sizeof what))
        fail_msg("%s: %s", golden->key, golden->problem[0] ? what : "its problem is not known");
    free(problem);
}

static void goldens_are_of_the_tables(void **state)
{
    char folder[512], name[128];
    struct kg_goldens *sets = NULL;
    size_t count = 0;
    kg_error error = { 0 };
    (void)state;
    in_root("expectations", folder);
    if (kg_goldens_load_all(folder, &sets, &count, &error))
        fail_msg("%s", error.text);
    for (size_t i = 0; i < count; i++) {
        (void)snprintf(name, sizeof name, "expectations_%s.json", sets[i].arch);
        lines_can_be_read(folder, name);
        for (size_t k = 0; k < sets[i].count; k++)
            is_of_its_row(&sets[i].items[k]);
    }
    kg_goldens_free_all(sets, count);
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
        cmocka_unit_test(goldens_are_of_the_tables),
        cmocka_unit_test(resources),
        cmocka_unit_test(recorded_blocks),
    };
    if (argc != 3 || kg_module_open(argv[2], &module, NULL))
        return 2;
    root = argv[1];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
