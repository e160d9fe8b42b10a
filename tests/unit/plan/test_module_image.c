/* test_module_image.c -- a module's tables survive the way through an image, and an image that was tampered with is
 * refused or read, never followed astray.
 *
 *     test_module_image MODULE.so
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "plan/module.h"
#include "plan/module_image.h"
#include "plan/plan.h"
#include "plan/problem.h"

static struct kg_loaded module;
static struct kg_module_image image;

/* Room for the image, at one place. */
static char *bytes;

static int never_asked(struct kg_op_server *server, const kg_op *op, enum kg_question question, const void *problem,
                       struct kg_answers *ret_answers, kg_error *ret_error)
{
    (void)server, (void)op, (void)problem, (void)ret_answers, (void)ret_error;
    assert_int_equal(question, KG_ASK_CHECK);
    return KG_OK;
}
static struct kg_op_server server = { .ask = never_asked };

static int read_bytes(size_t size, const struct kg_module **ret_root)
{
    memset(bytes + size, 0, image.size + 16 - size);
    return kg_module_image_read(bytes, size, ret_root, NULL);
}

static void same_fields(kg_fields a, kg_fields b)
{
    assert_int_equal(a.count, b.count);
    for (size_t i = 0; i < a.count; i++) {
        assert_string_equal(a.items[i].name, b.items[i].name);
        assert_true(a.items[i].offset == b.items[i].offset && a.items[i].fallback == b.items[i].fallback);
        for (size_t c = 0; a.items[i].choices && (a.items[i].choices[c] || b.items[i].choices[c]); c++)
            assert_string_equal(a.items[i].choices[c], b.items[i].choices[c]);
    }
}

static void same_suite(const kg_suite *own, const kg_suite *read)
{
    assert_string_equal(read->name, own->name);
    assert_string_equal(read->op->name, own->op->name);
    same_fields(read->op->fields, own->op->fields);
    assert_int_equal(!read->op->error_scale_cuda, !own->op->error_scale_cuda);
    assert_memory_equal(&read->gates, &own->gates, sizeof own->gates);
    assert_memory_equal(&read->time, &own->time, sizeof own->time);
    assert_int_equal(read->backends.count, own->backends.count);
    for (size_t i = 0; i < own->backends.count; i++) {
        assert_string_equal(read->backends.items[i]->name, own->backends.items[i]->name);
        same_fields(read->backends.items[i]->knobs, own->backends.items[i]->knobs);
        assert_int_equal(read->backends.items[i] == read->anchor, own->backends.items[i] == own->anchor);
        assert_null(read->backends.items[i]->data);
    }
    assert_int_equal(read->regimes.count, own->regimes.count);
    for (size_t i = 0; i < own->regimes.count; i++)
        assert_string_equal(read->regimes.items[i].regime, own->regimes.items[i].regime);
}

static void what_is_made_is_read(void **state)
{
    const struct kg_module *root = NULL;
    struct kg_plan own = { 0 }, read = { 0 };
    (void)state;
    memcpy(bytes, image.bytes, image.size);
    assert_int_equal(read_bytes(image.size, &root), KG_OK);
    assert_string_equal(root->name, module.root->name);
    assert_int_equal(root->n_kernels, module.root->n_kernels);
    assert_int_equal(root->n_suites, module.root->n_suites);
    for (size_t i = 0; i < root->n_suites; i++)
        same_suite(module.root->suites[i], root->suites[i]);
    assert_int_equal(kg_plan_make(module.root, &(const struct kg_selection){ 0 }, &own, NULL), KG_OK);
    assert_int_equal(kg_plan_make(root, &(const struct kg_selection){ 0 }, &read, NULL), KG_OK);
    assert_int_equal(read.count, own.count);
    for (size_t i = 0; i < own.count; i++) {
        char a[KG_ID_SIZE], b[KG_ID_SIZE];
        kg_case_id(&own.cases[i], a, sizeof a);
        kg_case_id(&read.cases[i], b, sizeof b);
        assert_string_equal(a, b);
        kg_problem_format(own.cases[i].suite->op, own.cases[i].problem, a, sizeof a);
        kg_problem_format(read.cases[i].suite->op, read.cases[i].problem, b, sizeof b);
        assert_string_equal(a, b);
    }
    kg_plan_done(&own);
    kg_plan_done(&read);
}

static void cut_images_are_refused(void **state)
{
    (void)state;
    for (size_t size = 0; size < image.size; size += 1 + image.size / 200) {
        const struct kg_module *root = NULL;
        memcpy(bytes, image.bytes, size);
        if (!read_bytes(size, &root)) /* it lacks no more than the end of a text, or of numbers */
            assert_true(size > image.size / 2);
    }
}

static void damaged_images_lead_nowhere(void **state)
{
    int refused = 0;
    (void)state;
    for (uint64_t turn = 0; turn < 2000; turn++) {
        const struct kg_module *root = NULL;
        memcpy(bytes, image.bytes, image.size);
        for (uint64_t i = 0; i < 1 + turn % 3; i++) {
            const uint64_t drawn = kg_mix64(turn * 8 + i);
            const uint64_t word = drawn % 2 ? drawn >> 1 : drawn % image.size; /* far off, or inside */
            memcpy(bytes + drawn / 2 % (image.size / 8) * 8, &word, sizeof word);
        }
        refused += read_bytes(image.size, &root) != KG_OK;
    }
    assert_true(refused > 100);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_made_is_read),
        cmocka_unit_test(cut_images_are_refused),
        cmocka_unit_test(damaged_images_lead_nowhere),
    };
    kg_error error = { 0 };
    if (argc != 2 || kg_module_open(argv[1], &module, &error) || kg_module_image_make(module.root, &image, &error)) {
        print_error("%s\n", argc == 2 ? error.text : "test_module_image MODULE.so");
        return 2;
    }
    bytes = malloc(image.size + 16);
    server.begin = bytes;
    server.size = image.size;
    kg_op_server_add(&server);
    const int failed = bytes ? cmocka_run_group_tests_name("module_image", tests, NULL, NULL) : 2;
    free(bytes);
    kg_module_image_done(&image);
    return failed;
}
