/* test_cost_ranking.c -- the ranking by cost over a suite's clean backend, against values worked out by hand, and its
 * section of summary.md against a frozen file.
 * Usage: test_cost_ranking FROZEN_FOLDER [--update]. A row of a table below is a result. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "reports/sections.h"

static const kg_backend clean = { .name = "clean", .device = KG_CUDA }, slow = { .name = "slow", .device = KG_CUDA },
                        twin = { .name = "twin|2", .device = KG_CUDA }, quick = { .name = "quick", .device = KG_CUDA },
                        wrong = { .name = "wrong", .device = KG_CUDA }, host = { .name = "host", .device = KG_CPU };
static const kg_suite suite = { .name = "planted", .clean = &clean }, other_build = { .name = "planted" },
                      plain = { .name = "plain" };

static const struct kg_module module = { .name = "planted", .git_sha = "" };

enum how { RIGHT, WRONG, BROKEN, IMPOSSIBLE, UNTIMED };

struct row {
    const kg_backend *backend;
    const char *shape;
    double p50_us;
    enum how how;
    uint64_t seed;
    const kg_suite *suite; /* NULL: `suite` */
};

/* slow: 4 and 9, so 6 in the geometric mean (6.5 in the other one). twin|2 costs just as much, at b with another seed,
 * for which clean took another time. quick costs less than clean where it is right. wrong is wrong at b, and was not
 * timed at a; clean is wrong at c; the host is of another kind. */
static const struct row rows[] = {
    { &wrong, "a", 0, UNTIMED, 0, NULL }, { &wrong, "b", 500, WRONG, 0, NULL },    { &quick, "a", 8, RIGHT, 0, NULL },
    { &slow, "a", 40, RIGHT, 0, NULL },   { &twin, "a", 40, RIGHT, 0, NULL },      { &clean, "a", 10, RIGHT, 0, NULL },
    { &slow, "a", 990, RIGHT, 1, NULL },  { &clean, "a", 10, RIGHT, 1, NULL },     { &clean, "b", 100, RIGHT, 0, NULL },
    { &clean, "b", 50, RIGHT, 1, NULL },  { &slow, "b", 900, RIGHT, 0, NULL },     { &twin, "b", 450, RIGHT, 1, NULL },
    { &quick, "b", 1, BROKEN, 0, NULL },  { &clean, "c", 7, WRONG, 0, NULL },      { &slow, "c", 70, RIGHT, 0, NULL },
    { &clean, "d", 10, RIGHT, 0, NULL },  { &quick, "d", 1, IMPOSSIBLE, 0, NULL }, { &host, "a", 5000, RIGHT, 0, NULL },
    { &clean, "a", 1, RIGHT, 0, &plain }, { &slow, "a", 99, RIGHT, 0, &plain },
};

/* `ret_results` are the run's; both on the caller's stack. */
static void make_run(const struct row *from, size_t count, struct kg_result *ret_results, struct kg_run *ret_run)
{
    memset(ret_results, 0, count * sizeof *ret_results);
    memset(ret_run, 0, sizeof *ret_run);
    for (size_t i = 0; i < count; i++) {
        struct kg_result *result = &ret_results[i];
        const bool right = from[i].how != WRONG;
        const kg_suite *of = from[i].suite ? from[i].suite : &suite;
        result->of = (struct kg_case){ .suite = of,
                                       .backend = from[i].backend,
                                       .shape = from[i].shape,
                                       .seed = from[i].seed,
                                       .kind = from[i].backend->device };
        snprintf(result->id, sizeof result->id, "%s/%s/s%d/%s", of->name, from[i].shape, (int)from[i].seed,
                 from[i].backend->name);
        result->outcome = from[i].how == BROKEN ? KG_BROKEN : KG_RAN;
        result->compared = true;
        result->impossible = from[i].how == IMPOSSIBLE;
        result->marks = (struct kg_gate_marks){ right, true, true, true, true, true, true, true };
        if (from[i].how != UNTIMED)
            result->time_us = kg_stats_of((double[]){ from[i].p50_us }, 1);
    }
    ret_run->module = &module;
    ret_run->results = ret_results;
    ret_run->n_results = count;
}

static bool near(double a, double b)
{
    return fabs(a - b) < 1e-9;
}

static void test_ranks(void)
{
    struct kg_result results[COUNT(rows)];
    struct kg_run run;
    struct kg_cost costs[COUNT(rows)];
    make_run(rows, COUNT(rows), results, &run);
    CHECK(kg_cost_rank(&run, &results[0], costs) == 4);
    CHECK(!strcmp(costs[0].backend, "slow") && costs[0].rank == 1 && near(costs[0].ratio, 6));
    CHECK(near(costs[0].least, 4) && !strcmp(costs[0].least_at->of.shape, "a")); /* the first seed's */
    CHECK(near(costs[0].most, 9) && !strcmp(costs[0].most_at->of.shape, "b"));
    CHECK(costs[0].compared == 2 && costs[0].shapes == 3); /* clean is wrong at c */
    CHECK(!strcmp(costs[1].backend, "twin|2") && costs[1].rank == 1 && costs[1].compared == 2);
    CHECK(!strcmp(costs[2].backend, "quick") && costs[2].rank == 3 && near(costs[2].ratio, 0.8));
    CHECK(costs[2].compared == 1 && costs[2].shapes == 3);
    CHECK(!strcmp(costs[3].backend, "wrong") && costs[3].rank == 0 && isnan(costs[3].ratio) && !costs[3].most_at);
    CHECK(costs[3].compared == 0 && costs[3].shapes == 2);
}

/* A case that only the candidate has stands in another table of the same name. */
static void test_two_builds(void)
{
    const struct row both[] = { { &clean, "a", 10, RIGHT, 0, NULL }, { &slow, "a", 25, RIGHT, 0, &other_build } };
    struct kg_result results[COUNT(both)];
    struct kg_run run;
    struct kg_cost costs[COUNT(both)];
    make_run(both, COUNT(both), results, &run);
    CHECK(kg_cost_rank(&run, &results[0], costs) == 1 && near(costs[0].ratio, 2.5));
}

/* The section's text, to free. */
static char *section_of(const struct row *from, size_t count)
{
    struct kg_result results[COUNT(rows)];
    struct kg_run run;
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        abort();
    make_run(from, count, results, &run);
    kg_section_costs(&run, out);
    fclose(out);
    return text;
}

static void check_section(const struct row *from, size_t count, const char *wanted)
{
    char *text = section_of(from, count);
    if (strcmp(text, wanted)) {
        fprintf(stderr, "got:\n%s\nwanted:\n%s\n", text, wanted);
        failures++;
    }
    free(text);
}

static void test_nothing_to_rank(void)
{
    static const char none[] = "\n## Cost over clean: planted\n\n"
                               "Nothing is ranked: `clean` was not timed, or not right, where another was.\n";
    const struct row unselected[] = { { &slow, "a", 40, RIGHT, 0, NULL } };
    const struct row failed[] = { { &clean, "a", 10, WRONG, 0, NULL }, { &slow, "a", 40, RIGHT, 0, NULL } };
    const struct row elsewhere[] = { { &clean, "b", 10, RIGHT, 0, NULL }, { &slow, "a", 40, RIGHT, 0, NULL } };
    const struct row alone[] = { { &clean, "a", 10, RIGHT, 0, NULL } };
    const struct row untimed[] = { { &clean, "a", 0, UNTIMED, 0, NULL }, { &slow, "a", 0, UNTIMED, 0, NULL } };
    check_section(unselected, COUNT(unselected), none);
    check_section(failed, COUNT(failed), none);
    check_section(elsewhere, COUNT(elsewhere), none);
    check_section(alone, COUNT(alone), "");
    check_section(untimed, COUNT(untimed), "");
    check_section(&rows[COUNT(rows) - 2], 2, ""); /* a suite without a clean backend */
}

static void test_frozen(const char *folder, bool update)
{
    char path[4096], wanted[4096] = "";
    snprintf(path, sizeof path, "%s/cost_ranking.md", folder);
    char *text = section_of(rows, COUNT(rows));
    FILE *file = fopen(path, update ? "w" : "r");
    if (file && update)
        CHECK(fputs(text, file) >= 0);
    if (file && !update)
        CHECK(fread(wanted, 1, sizeof wanted - 1, file) > 0);
    CHECK(file && !fclose(file));
    if (!update && strcmp(text, wanted)) {
        fprintf(stderr, "%s: got:\n%s", path, text);
        failures++;
    }
    free(text);
}

/* summary.md holds the section, before the times. */
static void test_summary(void)
{
    struct kg_result results[COUNT(rows)];
    struct kg_run run;
    kg_error error = { 0 };
    char *text = NULL, *section = section_of(rows, COUNT(rows));
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        abort();
    make_run(rows, COUNT(rows), results, &run);
    CHECK(kg_report_summary(&run, out, &error) == KG_OK);
    fclose(out);
    const char *at = strstr(text, section), *times = strstr(text, "\n## Times: planted");
    CHECK(at && times && at < times);
    free(section);
    free(text);
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: test_cost_ranking FROZEN_FOLDER [--update]\n");
        return 2;
    }
    test_ranks();
    test_two_builds();
    test_nothing_to_rank();
    test_summary();
    test_frozen(argv[1], argc > 2 && !strcmp(argv[2], "--update"));
    if (failures)
        fprintf(stderr, "%d checks failed\n", failures);
    return failures ? 1 : 0;
}
