/* test_floors.c -- what selfcheck found of this machine's noise is kept, found again, and never half read. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "judge/floors.h"
#include "scratch.h"

static const struct kg_contract warm = { "graph", "warm", 200, "irwin-hall-8" },
                                cold = { "graph", "cold", 200, "irwin-hall-8" };

static struct kg_floor floor_of(const char *key, const char *uuid, double sd)
{
    struct kg_floor floor = {
        .contract = warm, .n_blocks = 30, .detectable_pct = 0.25, .driver = "580", .date = "today"
    };
    (void)snprintf(floor.key, sizeof floor.key, "%s", key);
    (void)snprintf(floor.uuid, sizeof floor.uuid, "%s", uuid);
    (void)snprintf(floor.under, sizeof floor.under, "0.10 threads of others");
    kg_floor_code("its code", floor.code);
    floor.sd[KG_QUANTITY_AGAINST] = sd;
    floor.floor_pct[KG_QUANTITY_AGAINST] = 200 * sd;
    return floor;
}

static void kept_and_found_again(void **state)
{
    (void)state;
    char folder[SCRATCH_SIZE], cache[2 * SCRATCH_SIZE];
    struct kg_floors floors = { 0 };
    kg_error error = { 0 };
    const kg_device device = { .uuid = "GPU-1", .driver = "580" }, newer = { .uuid = "GPU-1", .driver = "590" };
    const struct kg_floor some[] = { floor_of("a/b/c", "GPU-1", 0.001), floor_of("a/b/c", "GPU-2", 0.002),
                                     floor_of("a/b/d", "GPU-1", 0.003) };
    scratch_new(folder);
    (void)snprintf(cache, sizeof cache, "%s/not/there", folder);
    assert_int_equal(kg_floors_load(cache, &floors, &error), KG_OK);
    assert_int_equal(floors.count, 0);
    assert_int_equal(error.code, 0);
    assert_int_equal(kg_floors_update(cache, some, 3, &error), KG_OK);
    const struct kg_floor again = floor_of("a/b/c", "GPU-1", 0.0042);
    assert_int_equal(kg_floors_update(cache, &again, 1, &error), KG_OK);
    assert_int_equal(kg_floors_load(cache, &floors, &error), KG_OK);
    assert_int_equal(floors.count, 3);
    const struct kg_floor *found = kg_floors_find(&floors, &device, "a/b/c", &warm, "its code");
    assert_non_null(found);
    assert_true(fabs(found->sd[KG_QUANTITY_AGAINST] - 0.0042) < 1e-9);
    assert_true(fabs(found->floor_pct[KG_QUANTITY_AGAINST] - 0.84) < 1e-9);
    assert_int_equal(found->n_blocks, 30);
    assert_true(found->sd[KG_QUANTITY_RAW] == 0);
    assert_string_equal(found->under, "0.10 threads of others");
    assert_ptr_equal(kg_floors_find(&floors, &device, "a/b/c", &warm, NULL), found);
    assert_null(kg_floors_find(&floors, &device, "a/b/c", &warm, "other code"));
    assert_null(kg_floors_find(&floors, &device, "a/b/c", &cold, NULL));
    assert_null(kg_floors_find(&floors, &newer, "a/b/c", &warm, NULL));
    assert_null(kg_floors_find(&floors, &device, "a/b/e", &warm, NULL));
    kg_floors_done(&floors);
    scratch_free(folder);
}

static void unreadable(const char *folder, const char *text, const char *why)
{
    struct kg_floors floors = { 0 };
    kg_error error = { 0 };
    scratch_write(folder, KG_FLOORS_FILE, text);
    int status = kg_floors_load(folder, &floors, &error);
    if (status != KG_EINVAL || !strstr(error.text, "/" KG_FLOORS_FILE) || !strstr(error.text, why))
        fail_msg("%s: status %d, '%s'", text, status, error.text);
    assert_int_equal(floors.count, 0);
}

static void a_broken_file_is_an_error_that_names_it(void **state)
{
    (void)state;
    char folder[SCRATCH_SIZE], text[2048];
    static const char one[] =
        "{\"key\":\"a/b/c\",\"uuid\":\"u\",\"driver\":\"\",\"timer\":\"graph\",\"l2\":\"warm\","
        "\"data\":\"d\",\"code\":\"\",\"date\":\"\",\"under\":\"\",\"window_us\":200,\"n_blocks\":%s,\"sd\":{\"raw\":0,"
        "\"ratio\":0,\"against\":%s},\"floor_pct\":{\"raw\":0,\"ratio\":0,\"against\":1},"
        "\"detectable_pct\":1%s}";
    struct {
        const char *blocks, *sd, *more, *why;
    } const flaws[] = {
        { "2", "1", "", "'n_blocks' is 2, no whole number from 6" },
        { "7.5", "1", "", "'n_blocks' is 7.5, no whole number" },
        { "7", "-1", "", "negative" },
        { "7", "\"1\"", "", "not a number" },
        { "7", "1", ",\"more\":1", "unknown member 'more'" },
    };
    scratch_new(folder);
    unreadable(folder, "", "line 1");
    unreadable(folder, "{\"schema\": 2, \"floors\": [", "line 1");
    unreadable(folder, "{\"schema\": 1, \"floors\": []}", "schema 1");
    unreadable(folder, "{\"schema\": 3, \"floors\": []}", "schema 3");
    unreadable(folder, "{\"schema\": 2}", "'floors'");
    unreadable(folder, "{\"schema\": 2, \"floors\": [[1]]}", "floor 1: not an object");
    unreadable(folder, "{\"schema\": 2, \"floors\": [1]}", "floor 1: not an object");
    for (size_t i = 0; i < sizeof flaws / sizeof *flaws; i++) {
        int used = snprintf(text, sizeof text, "{\"schema\": 2, \"floors\": [");
        used += snprintf(text + used, sizeof text - (size_t)used, one, flaws[i].blocks, flaws[i].sd, flaws[i].more);
        (void)snprintf(text + used, sizeof text - (size_t)used, "]}");
        unreadable(folder, text, flaws[i].why);
    }
    scratch_free(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kept_and_found_again),
        cmocka_unit_test(a_broken_file_is_an_error_that_names_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
