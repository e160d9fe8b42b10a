/* test_series.c -- recorded blocks come back from a file as they went in, and nothing else does. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "scratch.h"
#include "selfcheck/series.h"

static struct kg_block measured(double p50_us, double planted_pct)
{
    static double samples[16];
    for (int i = 0; i < 16; i++)
        samples[i] = p50_us * (1 + 0.001 * i);
    return (struct kg_block){
        .calls = 17,
        .p50_us = p50_us,
        .anchor_p50_us = 3 * p50_us,
        .log_ratio = log(1.0 / 3) + 1e-5,
        .baseline_p50_us = 2 * p50_us,
        .log_against = log(0.5) - 2e-5,
        .planted_pct = planted_pct,
        .planted_p50_us = p50_us * (1 + planted_pct / 100),
        .log_planted = log(0.5) + log1p(planted_pct / 100),
        .busy_us = 123000,
        .n_samples = 16,
        .samples_us = samples,
        .before = { .throttle_reasons = 4 },
        .after = { .throttle_reasons = 1, .sm_clock_mhz = 1980 },
    };
}

static struct kg_series three_blocks(bool anchored, bool planted)
{
    struct kg_series series = { .key = "suite/shape/backend",
                                .kernel_class = "launch",
                                .kind = KG_CUDA,
                                .device = "A \"GPU\"",
                                .uuid = "GPU-1",
                                .driver = "580",
                                .start = "run-1",
                                .date = "2026-11-21T00:00:00Z",
                                .git_sha = "abc",
                                .library = "",
                                .tick_us = 0.5,
                                .contract = { "graph", "warm", 200, "irwin-hall-8" } };
    for (int i = 0; i < 3; i++) {
        struct kg_block block = measured(10 + 0.01 * i, planted ? 0.5 : 0);
        block.anchor_p50_us = anchored ? block.anchor_p50_us : 0;
        const struct kg_recorded_block one = kg_recorded_block_of(&block);
        assert_int_equal(kg_series_add_block(&series, &one, NULL), KG_OK);
    }
    return series;
}

static struct kg_series parsed(const char *line)
{
    struct kg_series series;
    kg_error error = { 0 };
    if (kg_series_parse(line, strcspn(line, "\n"), &series, &error))
        fail_msg("%s", error.text);
    return series;
}

static void what_is_kept_of_a_block(void **state)
{
    (void)state;
    const struct kg_block block = measured(10, 3);
    const struct kg_recorded_block one = kg_recorded_block_of(&block);
    assert_true(fabs(one.log_p50 - log(10)) < 1e-12);
    assert_true(fabs(one.log_planted - log(0.5 * 1.03)) < 1e-12);
    assert_true(fabs(one.log_planted_p50 - log(10.3)) < 1e-12);
    assert_int_equal(one.throttle, 5); /* of both ends */
    assert_int_equal(one.clock_mhz, 1980);
    assert_true(fabs(one.samples[0] - log(10 * 1.001)) < 1e-12); /* the middles of eight equal parts */
    assert_true(fabs(one.samples[7] - log(10 * 1.015)) < 1e-12);
    const struct kg_block plain = { .p50_us = 10, .baseline_p50_us = 10 };
    assert_true(isnan(kg_recorded_block_of(&plain).log_ratio));
    assert_true(isnan(kg_recorded_block_of(&plain).log_planted));
}

static void a_line_comes_back(void **state)
{
    (void)state;
    for (int variant = 0; variant < 4; variant++) {
        struct kg_series series = three_blocks(variant & 1, variant & 2);
        series.nodes = variant;
        char *line = kg_series_format(&series);
        assert_non_null(line);
        assert_int_equal(line[strlen(line) - 1], '\n');
        struct kg_series back = parsed(line);
        char *again = kg_series_format(&back);
        assert_string_equal(line, again);
        assert_string_equal(back.device, "A \"GPU\"");
        assert_string_equal(back.contract.data, "irwin-hall-8");
        assert_int_equal(back.n_blocks, 3);
        assert_int_equal(back.nodes, variant);
        for (int i = 0; i < 3; i++) {
            const struct kg_recorded_block *was = &series.blocks[i], *is = &back.blocks[i];
            assert_true(fabs(was->log_p50 - is->log_p50) <= 0.5e-6);
            assert_true(fabs(was->log_against - is->log_against) <= 0.5e-6);
            assert_true(fabs(was->log_baseline - is->log_baseline) <= 0.5e-6);
            assert_true(fabs(was->samples[3] - is->samples[3]) <= 0.6e-5);
            assert_int_equal(isnan(is->log_ratio), !(variant & 1));
            assert_int_equal(isnan(is->log_planted), !(variant & 2));
            assert_true(!(variant & 1) || fabs(was->log_anchor - is->log_anchor) <= 0.5e-6);
            assert_true(!(variant & 2) || fabs(was->log_planted - is->log_planted) <= 0.5e-6);
            assert_true(!(variant & 2) || fabs(was->log_planted_p50 - is->log_planted_p50) <= 0.5e-6);
            assert_true(is->planted_pct == was->planted_pct);
            assert_int_equal(is->calls, 17);
            assert_true(is->busy_us == 123000);
        }
        free(line), free(again), free(series.blocks), free(back.blocks);
    }
}

static void a_block_without_a_time_is_not_written(void **state)
{
    (void)state;
    struct kg_series series = three_blocks(true, true);
    series.blocks[1].log_against = NAN;
    assert_null(kg_series_format(&series));
    free(series.blocks);
}

/* The line with `from` replaced by `to` is refused, and `why` is said. */
static void refused(const char *line, const char *from, const char *to, const char *why)
{
    struct kg_series series;
    kg_error error = { 0 };
    char text[8192];
    const char *at = strstr(line, from);
    assert_non_null(at);
    (void)snprintf(text, sizeof text, "%.*s%s%s", (int)(at - line), line, to, at + strlen(from));
    int status = kg_series_parse(text, strcspn(text, "\n"), &series, &error);
    if (status != KG_EINVAL || !strstr(error.text, why))
        fail_msg("%s -> %s: status %d, '%s'", from, to, status, error.text);
}

static void what_is_not_a_series_is_refused(void **state)
{
    (void)state;
    struct kg_series series = three_blocks(true, true);
    char *line = kg_series_format(&series);
    refused(line, "\"schema\":1", "\"schema\":2", "schema 2");
    refused(line, "\"schema\":1,", "", "'schema' is missing");
    refused(line, "\"kind\":\"cuda\"", "\"kind\":\"tpu\"", "'kind' is neither cpu nor cuda");
    refused(line, "GPU-1", "", "empty");
    refused(line, "\"blocks\":3", "\"blocks\":4", "not 4 whole numbers");
    refused(line, "\"blocks\":3", "\"blocks\":2", "not 2 whole numbers");
    refused(line, "\"blocks\":3", "\"blocks\":0", "'blocks' is 0, no whole number from 1");
    refused(line, "\"p50\":[2", "\"p50\":[2.5,2", "'p50'");
    refused(line, "\"p50\":[2", "\"p50\":[99999992", "over 50");
    refused(line, "\"calls\":17", "\"calls\":0", "out of range");
    refused(line, "\"calls\":17", "\"calls\":\"17\"", "'calls'");
    refused(line, "\"calls\":17", "\"calls\":4294967297", "calls 4294967297 is out of range");
    refused(line, "\"planted_pct\":50", "\"planted_pct\":-50", "out of range");
    refused(line, "\"planted_pct\":50", "\"planted_pct\":-10000", "planted_pct -10000 is out of range");
    refused(line, "\"planted_pct\":50", "\"planted_pct\":10001", "out of range");
    refused(line, "\"clock_mhz\":1980", "\"clock_mhz\":9000000000000000", "out of range");
    refused(line, "\"throttle\":5", "\"throttle\":-2", "throttle -2 is out of range");
    refused(line, "\"anchor\":", "\"author\":", "unknown member 'author'");
    refused(line, "\"busy_ms\":123,", "", "'busy_ms' is missing");
    refused(line, "{", "[{", "");
    free(line), free(series.blocks);
}

static void files_are_appended_to_and_add_up(void **state)
{
    (void)state;
    char folder[SCRATCH_SIZE], one[2 * SCRATCH_SIZE], other[2 * SCRATCH_SIZE];
    struct kg_series_set set = { 0 }, back = { 0 };
    struct kg_series series = three_blocks(true, true);
    kg_error error = { 0 };
    size_t at = 9;
    scratch_new(folder);
    (void)snprintf(one, sizeof one, "%s/one", folder);
    (void)snprintf(other, sizeof other, "%s/other", folder);
    assert_int_equal(kg_series_set_find(&set, &series, &at, NULL), KG_OK);
    assert_int_equal(at, 0);
    assert_int_equal(kg_series_append(one, &set, &error), KG_OK); /* nothing to write: the file is there, and empty */
    for (int i = 0; i < 3; i++)
        assert_int_equal(kg_series_add_block(&set.items[at], &series.blocks[i], NULL), KG_OK);
    assert_int_equal(kg_series_append(one, &set, &error), KG_OK);
    strcpy(set.items[at].date, "2026-11-22T00:00:00Z"); /* again in the same start of a machine */
    assert_int_equal(kg_series_append(one, &set, &error), KG_OK);
    strcpy(set.items[at].date, "2026-11-23T00:00:00Z");
    assert_int_equal(kg_series_append(other, &set, &error), KG_OK);
    assert_int_equal(kg_series_read(one, &back, &error), KG_OK);
    assert_int_equal(kg_series_read(other, &back, &error), KG_OK);
    assert_int_equal(back.count, 3);
    assert_int_equal(kg_series_read(other, &back, &error), KG_EINVAL); /* nobody measured it a second time */
    assert_non_null(strstr(error.text, "/other: line 1: suite/shape/backend of run-1 is given twice"));
    assert_int_equal(back.count, 3);
    assert_int_equal(kg_series_set_find(&back, &series, &at, NULL), KG_OK);
    assert_int_equal(at, 0);
    strcpy(series.start, "run-2");
    assert_int_equal(kg_series_set_find(&back, &series, &at, NULL), KG_OK);
    assert_int_equal(at, 3);
    kg_series_set_done(&set), kg_series_set_done(&back), free(series.blocks);
    scratch_free(folder);
}

static void a_bad_line_is_named(void **state)
{
    (void)state;
    char folder[SCRATCH_SIZE], path[2 * SCRATCH_SIZE], text[16384];
    struct kg_series series = three_blocks(true, true);
    struct kg_series_set set = { 0 };
    kg_error error = { 0 };
    scratch_new(folder);
    (void)snprintf(path, sizeof path, "%s/file", folder);
    char *line = kg_series_format(&series);
    (void)snprintf(text, sizeof text, "%s%.*s", line, (int)strlen(line) / 2, line);
    scratch_write(folder, "file", text);
    assert_int_equal(kg_series_read(path, &set, &error), KG_EINVAL);
    assert_non_null(strstr(error.text, "/file: line 2: "));
    assert_int_equal(kg_series_append(path, &set, &error), KG_EINVAL);
    assert_non_null(strstr(error.text, "cut"));
    assert_int_equal(kg_series_read("/nowhere/file", &set, &error), KG_ENOTFOUND);
    kg_series_set_done(&set), free(line), free(series.blocks);
    scratch_free(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_kept_of_a_block),
        cmocka_unit_test(a_line_comes_back),
        cmocka_unit_test(a_block_without_a_time_is_not_written),
        cmocka_unit_test(what_is_not_a_series_is_refused),
        cmocka_unit_test(files_are_appended_to_and_add_up),
        cmocka_unit_test(a_bad_line_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
