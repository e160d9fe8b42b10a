/* test_reports.c -- the reports of a run with every verdict, against frozen files, since they are interfaces.
 * Usage: test_reports FROZEN_FOLDER [--update]. After a wanted change: --update, then read the difference. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "reports/facts.h"
#include "reports/terminal.h"
#include "base/json.h"
#include "check.h"
#include "sample_run.h"
#include "judge/verdict.h"

typedef int report_fn(const struct kg_run *run, FILE *out, kg_error *ret_error);

static const struct kg_terminal_options plain = { .folder = "results/1" }, color = { .color = true },
                                        verbose = { .verbose = true }, quiet = { .quiet = true };

static int terminal_plain(const struct kg_run *run, FILE *out, kg_error *ret_error)
{
    return kg_report_terminal(run, &plain, out, ret_error);
}

static int terminal_color(const struct kg_run *run, FILE *out, kg_error *ret_error)
{
    return kg_report_terminal(run, &color, out, ret_error);
}

static int terminal_verbose(const struct kg_run *run, FILE *out, kg_error *ret_error)
{
    return kg_report_terminal(run, &verbose, out, ret_error);
}

static int terminal_quiet(const struct kg_run *run, FILE *out, kg_error *ret_error)
{
    return kg_report_terminal(run, &quiet, out, ret_error);
}

/* The report's text, to free. */
static char *text_of(const struct kg_run *run, report_fn *report, size_t *ret_size)
{
    char *text = NULL;
    size_t size = 0;
    kg_error error = { 0 };
    FILE *out = open_memstream(&text, &size);
    if (!out)
        abort();
    int status = report(run, out, &error);
    fclose(out);
    if (status)
        fprintf(stderr, "a report failed: %s\n", error.text);
    CHECK(status == KG_OK);
    if (ret_size)
        *ret_size = size;
    return text;
}

static char *read_all(const char *path, size_t *ret_size)
{
    FILE *in = fopen(path, "rb");
    if (!in)
        return NULL;
    char *text = NULL;
    size_t size = 0;
    FILE *copy = open_memstream(&text, &size);
    for (int c = getc(in); copy && c != EOF; c = getc(in))
        putc(c, copy);
    fclose(in);
    if (copy)
        fclose(copy);
    *ret_size = size;
    return text;
}

/* ---- frozen files ---- */

static void show_difference(const char *path, const char *is, const char *frozen)
{
    int line = 1;
    while (*is && *is == *frozen) {
        line += *is == '\n';
        is++;
        frozen++;
    }
    fprintf(stderr, "%s:%d: differs from here on\n  frozen: %.*s\n  is:     %.*s\n", path, line,
            (int)strcspn(frozen, "\n"), frozen, (int)strcspn(is, "\n"), is);
}

static void check_text(const char *text, size_t size, const char *folder, const char *name, bool update)
{
    char path[4096];
    size_t frozen_size = 0;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    if (update) {
        FILE *out = fopen(path, "wb");
        CHECK(out && fwrite(text, 1, size, out) == size);
        CHECK(out && !fclose(out));
    }
    char *frozen = read_all(path, &frozen_size);
    if (!frozen) {
        fprintf(stderr, "%s cannot be read: %s\n", path, strerror(errno));
        failures++;
    } else if (size != frozen_size || memcmp(text, frozen, size) != 0) {
        show_difference(path, text, frozen);
        failures++;
    }
    free(frozen);
}

static void check_frozen(const struct kg_run *run, const char *folder, const char *name, report_fn *report, bool update)
{
    size_t size = 0;
    char *text = text_of(run, report, &size);
    check_text(text, size, folder, name, update);
    free(text);
}

#define MAX_CELLS 64 /* columns, and records */

struct cells {
    const char *at[MAX_CELLS][MAX_CELLS]; /* by record and column, as they are written, with their quotes */
    int length[MAX_CELLS][MAX_CELLS];
    size_t records, columns;
};

/* Splits as RFC 4180 says. */
static void split(const char *csv, struct cells *ret_cells)
{
    size_t r = 0, c = 0;
    bool quoted = false;
    for (const char *from = csv, *at = csv; *at && r < MAX_CELLS && c < MAX_CELLS; at++) {
        const bool last = !quoted && !strncmp(at, "\r\n", 2);
        quoted ^= *at == '"';
        if (quoted || (*at != ',' && !last))
            continue;
        ret_cells->at[r][c] = from;
        ret_cells->length[r][c++] = (int)(at - from);
        from = at + 1 + last;
        if (!last)
            continue;
        CHECK(!r || c == ret_cells->columns); /* every record is as long */
        ret_cells->columns = c;
        ret_cells->records = ++r;
        c = 0;
        at++;
    }
    CHECK(!quoted && c == 0 && strlen(csv) > 2 && !strcmp(csv + strlen(csv) - 2, "\r\n"));
}

/* All runs in one file, a column a line: a new column is then a line a run, and not a change of every record. */
static void test_frozen_csv(const struct kg_run *const *runs, size_t count, const char *folder, bool update)
{
    char *all = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&all, &size);
    for (size_t i = 0; out && i < count; i++) {
        struct cells cells = { .records = 0 };
        char *csv = text_of(runs[i], kg_report_csv, NULL);
        split(csv, &cells);
        CHECK(cells.records == runs[i]->n_results + 1);
        for (size_t c = 0; c < cells.columns; c++)
            for (size_t r = 0; r < cells.records; r++)
                fprintf(out, "%.*s%c", cells.length[r][c], cells.at[r][c], r + 1 < cells.records ? '\t' : '\n');
        free(csv);
    }
    CHECK(out && !fclose(out));
    check_text(all, size, folder, "comparison_columns.txt", update);
    free(all);
}

/* Against a baseline, and stopped. */
static void test_frozen_against(const struct kg_run *run, const char *folder, bool update)
{
    check_frozen(run, folder, "terminal_against.txt", terminal_plain, update);
    check_frozen(run, folder, "terminal_against_verbose.txt", terminal_verbose, update);
    check_frozen(run, folder, "junit_against.xml", kg_report_junit, update);
    check_frozen(run, folder, "report_against.tap", kg_report_tap, update);
    check_frozen(run, folder, "comparison_against.md", kg_report_markdown, update);
    check_frozen(run, folder, "summary_against.md", kg_report_summary, update);
}

static void test_frozen(const struct kg_run *run, const char *folder, bool update)
{
    static const struct {
        const char *name;
        report_fn *report;
        bool allow_undecided;
    } files[] = {
        { "terminal.txt", terminal_plain, false },           { "terminal_color.txt", terminal_color, false },
        { "terminal_verbose.txt", terminal_verbose, false }, { "report.tap", kg_report_tap, false },
        { "report_allowed.tap", kg_report_tap, true },       { "junit.xml", kg_report_junit, false },
        { "junit_allowed.xml", kg_report_junit, true },      { "comparison.md", kg_report_markdown, false },
        { "summary.md", kg_report_summary, false },
    };
    for (size_t i = 0; i < COUNT(files); i++) {
        struct kg_run as = *run;
        as.allow_undecided = as.allow_all = files[i].allow_undecided;
        check_frozen(&as, folder, files[i].name, files[i].report, update);
    }
}

/* ---- other runs ---- */

static bool has(const struct kg_run *run, report_fn *report, const char *piece)
{
    char *text = text_of(run, report, NULL);
    bool found = strstr(text, piece) != NULL;
    if (!found)
        fprintf(stderr, "not found: %s\nin:\n%s\n", piece, text);
    free(text);
    return found;
}

static bool lacks(const struct kg_run *run, report_fn *report, const char *piece)
{
    char *text = text_of(run, report, NULL);
    bool found = strstr(text, piece) != NULL;
    free(text);
    return !found;
}

/* A contest that is won, but for what has no figures; one side taken away, there is none. */
static void test_contest(const struct kg_run *run, const char *folder, bool update)
{
    struct kg_run as = *run;
    check_frozen(run, folder, "summary_contest.md", kg_report_summary, update);
    as.device.cc_major = 9; /* whose kernel spills */
    CHECK(has(&as, kg_report_summary, "| no spills | 12 bytes in a kernel | not met |\n"));
    CHECK(has(&as, kg_report_summary, "**Success: not met.**"));
    as.device.cc_major = 7; /* no kernel of the module is for it */
    CHECK(has(&as, kg_report_summary, "| no spills | - | not measured |\n"));
    CHECK(has(&as, kg_report_summary, "**Success: not measured; what was measured is met.**"));
    as.timed = false;
    CHECK(lacks(&as, kg_report_summary, "Contest"));
    as.timed = true;
    as.results = &run->results[9]; /* without the baseline */
    as.n_results = 1;
    CHECK(lacks(&as, kg_report_summary, "Contest"));
}

/* A copy of some of a run's results, to free(). */
static struct kg_result *copy_of(const struct kg_run *run, const size_t *which, size_t count)
{
    struct kg_result *results = malloc(count * sizeof *results);
    if (!results)
        abort();
    for (size_t i = 0; i < count; i++)
        results[i] = run->results[which[i]];
    return results;
}

/* Ours at a seed that the baseline has no time of, and at one that it has. */
static void test_contest_seeds(const struct kg_run *run)
{
    struct kg_run as = *run;
    struct kg_result *results = copy_of(run, (const size_t[]){ 1, 1, 0 }, 3);
    results[1].of.seed = results[2].of.seed = 1;
    as.results = results;
    as.n_results = 3;
    CHECK(has(&as, kg_report_summary, "| a | 40.0 us | 40.8 us | 20.0 us | 20.4 us | 2.00x |\n"));
    free(results);
}

/* The kernels that a launch has no room to name might spill. */
static void test_contest_kernels(const struct kg_run *run)
{
    struct kg_run as = *run;
    struct kg_result *results = copy_of(run, (const size_t[]){ 0, 1 }, 2);
    as.results = results;
    as.n_results = 2;
    CHECK(has(&as, kg_report_summary, "| no spills | 0 bytes in a kernel | met |\n"));
    results[1].n_compiled = 1; /* the one that it launches */
    results[1].compiled[0] = (kg_compiled){ .name = "flash_forward", .spill_store_bytes = 4, .spill_load_bytes = 8 };
    CHECK(has(&as, kg_report_summary, "| no spills | 12 bytes in a kernel | not met |\n"));
    (void)strcpy(results[1].compiled[0].name, "another");
    CHECK(has(&as, kg_report_summary, "| no spills | 0 bytes in a kernel | met |\n"));
    results[1].launch.kernels = KG_MAX_KERNELS + 1;
    CHECK(has(&as, kg_report_summary, "| no spills | - | not measured |\n"));
    free(results);
}

/* ---- what a person reads ---- */

static size_t lines_of(const struct kg_run *run, report_fn *report)
{
    char *text = text_of(run, report, NULL);
    size_t lines = 0;
    for (const char *c = text; *c; c++)
        lines += *c == '\n';
    free(text);
    return lines;
}

static void test_quiet(const struct kg_run *run)
{
    char *text = text_of(run, terminal_quiet, NULL);
    CHECK(!strncmp(text, "1) alpha/mission/s1/library: ", 29));
    CHECK(strstr(text, "6) beta/gone/ours: a golden without a case\n7) beta/wide/s0/host: weak: its gates pass"));
    free(text);
}

/* 700 cases: 650 of math pass, 30 of library fail, 20 of ours are slow. */
static void test_many(const struct kg_run *run)
{
    struct kg_run as = *run;
    size_t which[700];
    for (size_t i = 0; i < 700; i++)
        which[i] = i < 650 ? 0 : i % 5 < 2 ? 1 : 6;
    struct kg_result *results = copy_of(run, which, 700);
    as.results = results;
    as.n_results = 700;
    CHECK(has(&as, terminal_plain, "\n  math: 650 PASS, at most max 0.0100 mean 0.0010 bad 0.00%\n"));
    CHECK(has(&as, terminal_plain, "\n  library: 30 FAIL, at most max 0.5000 mean 0.0010 bad 3.10%\n"));
    CHECK(has(&as, terminal_plain, "TFLOP/s  SLOW\n1) alpha/mission/s1/library: "));
    CHECK(has(&as, terminal_plain, "\nnot passed: 30 more of 50, all in results/1/summary.md\n"));
    CHECK(has(&as, terminal_plain, "\nflake: 630 more of 650, all in results/1/summary.md\n"));
    CHECK(has(&as, terminal_quiet, "\nnot passed: 30 more of 50\nkgate: "));
    CHECK(lines_of(&as, terminal_plain) < 20 * 6);
    CHECK(has(&as, terminal_verbose, "\n50) alpha/mission/s0/ours: ") && lacks(&as, terminal_verbose, " more of "));
    CHECK(lines_of(&as, terminal_verbose) > 700 * 6);
    as.n_results = 200; /* as many as are still read one by one */
    CHECK(lacks(&as, terminal_plain, "  math: "));
    free(results);
}

/* The timer that is called graph, in files, too, has no graph on a CPU. */
static void test_cpu(const struct kg_run *run)
{
    struct kg_run as = *run;
    as.device.kind = KG_CPU;
    CHECK(has(&as, terminal_plain, "\ntimed: loop of calls, L2 warm, windows of 400.0 us, 12 blocks"));
    CHECK(has(&as, kg_report_summary, "| timer | loop of calls, L2 warm, windows of 400.0 us |\n"));
    CHECK(has(&as, kg_report_build_meta, "\"timer\":\t\"graph\""));
}

/* What the old goldens said of time is shown, and fails nothing; what was not blessed does. */
static void test_bless(const struct kg_run *run)
{
    static const char failure[] = "<failure message=\"not blessed: unsteady\"";
    struct kg_run as = *run;
    struct kg_result *results = malloc(run->n_results * sizeof *results);
    memcpy(results, run->results, run->n_results * sizeof *results);
    as.results = results;
    as.bless = true;
    CHECK(!has(&as, kg_report_junit, "type=\"SLOW\">verdict") && !has(&as, kg_report_junit, "type=\"UNGATED\""));
    CHECK(has(&as, kg_report_junit, "type=\"FAIL\"") && has(&as, kg_report_junit, "type=\"LOST\""));
    CHECK(!has(&as, kg_report_junit, failure));
    for (size_t i = 0; i < run->n_results; i++) {
        if (results[i].verdict == KG_SLOW)
            snprintf(results[i].bless_note, sizeof results[i].bless_note, "not blessed: unsteady");
        results[i].bless = results[i].verdict == KG_SLOW   ? KG_NOT_BLESSED
                           : results[i].verdict == KG_LOST ? KG_PRUNED
                                                           : KG_BLESSED;
    }
    CHECK(has(&as, kg_report_junit, failure) && !has(&as, kg_report_junit, "type=\"LOST\""));
    CHECK(has(&as, kg_report_json, "\"bless\":\t\"not blessed\""));
    free(results);
}

static void test_variants(const struct kg_run *run)
{
    struct kg_run as = *run;
    struct kg_module other = *run->module;
    as.expectations_exist = false;
    CHECK(has(&as, terminal_plain, "\u00b7 no goldens for h200\n"));
    as.shuffle_seed = 41;
    CHECK(has(&as, terminal_plain, "\u00b7 shuffle 41\n"));
    as.bless = as.blessed = true;
    as.bless_counts[KG_BLESSED] = 3;
    as.bless_counts[KG_NOT_BLESSED] = 1;
    CHECK(has(&as, terminal_plain, "\nbless: 3 blessed, 1 not blessed; expectations/expectations_h200.json\n"));
    as.bless = as.blessed = false;

    other.name = "mine";
    other.git_sha = "";
    as.module = &other;
    as.module_path[0] = '\0';
    strcat(as.module_path, "my modules/it's.so");
    CHECK(has(&as, terminal_plain,
              "again: kgate run --module 'my modules/it'\\''s.so' alpha/mission/s0/ours --verbose\n"));
    CHECK(has(&as, terminal_plain, "\u00b7 build 9f3c1e2-dirty ")); /* the run's own commit stands in */
    as.git.sha[0] = '\0';
    CHECK(has(&as, terminal_plain, "\u00b7 build unknown "));

    struct kg_result slow = run->results[15]; /* a CPU case */
    slow.verdict = KG_SLOW;
    as.module = run->module;
    as.results = &slow;
    as.n_results = 1;
    CHECK(has(&as, terminal_plain, "again: kgate run --device cpu beta/mission/s0/host --verbose\n"));

    as.n_results = 0;
    memset(as.counts, 0, sizeof as.counts);
    CHECK(has(&as, kg_report_tap, "1..0 # SKIP"));
    CHECK(has(&as, terminal_plain, "kgate: 0 passed, 0 skipped of 0 in 9.8 s\n"));
    CHECK(has(&as, kg_report_junit, "tests=\"0\""));
    CHECK(has(&as, kg_report_correctness, "\"all_pass\":\tfalse"));
}

static void test_formats(void)
{
    char text[64];
    CHECK(!strcmp(kg_format_time(24.23).s, "24.2 us"));
    CHECK(!strcmp(kg_format_time(0.95).s, "950 ns"));
    CHECK(!strcmp(kg_format_time(999.96).s, "1.00 ms"));
    CHECK(!strcmp(kg_format_time(NAN).s, "nan"));
    CHECK(!strcmp(kg_format_rate(22.04).s, "22 TFLOP/s"));
    CHECK(!strcmp(kg_format_rate(0.0035).s, "3.5 GFLOP/s"));
    CHECK(!strcmp(kg_format_change(-0.04, 1).s, "+0.0%"));
    CHECK(!strcmp(kg_format_change(-4.06, 1).s, "-4.1%"));
    CHECK(!strcmp(kg_format_change(-0.04, 2).s, "-0.04%"));
    CHECK(!strcmp(kg_format_change(-0.004, 2).s, "+0.00%"));
    CHECK(!strcmp(kg_format_error(3.2e-7).s, "3.2e-07"));
    CHECK(!strcmp(kg_format_number(-NAN).s, "nan"));
    CHECK(!strcmp(kg_format_number(-INFINITY).s, "-inf"));
    CHECK(!strcmp(kg_text_clean("a\xc3\xa9z", text, 3), "a")); /* never half a character */
    CHECK(!strcmp(
        kg_text_clean("\xed\xa0\x80|\xf4\x90\x80\x80|\xc2\x9b|\xef\xbf\xbf|\xe0\x80\xaf|\xe2\x82", text, sizeof text),
        "\ufffd\ufffd\ufffd|\ufffd\ufffd\ufffd\ufffd|\ufffd|\ufffd|\ufffd\ufffd\ufffd|\ufffd\ufffd"));
}

static void test_facts(const struct kg_run *run)
{
    const struct kg_result *slow = &run->results[1], *fast = &run->results[2];
    CHECK(fabs(kg_fact_golden_speedup(slow) - 25.0 / 26) < 1e-9); /* a regression reads as one */
    CHECK(fabs(kg_fact_golden_speedup(fast) - 1.25) < 1e-9);
    CHECK(fabs(kg_fact_anchor_speedup(fast) - 3) < 1e-9);
    CHECK(isnan(kg_fact_anchor_speedup(&run->results[0])));
    CHECK(fabs(kg_fact_device_seconds(fast) - 2 * 5 * 4 * 20e-6) < 1e-9);

    struct kg_run as = *run;
    CHECK(kg_fact_kernel(&as, "flash_forward") == &run->module->kernels[1]);
    CHECK(!kg_fact_kernel(&as, "flash"));
    as.device.cc_major = 8;
    as.device.cc_minor = 9;
    CHECK(kg_fact_kernel(&as, "flash_forward") == &run->module->kernels[0]);
    as.device.cc_major = 10;
    as.device.cc_minor = 3;
    CHECK(kg_fact_kernel(&as, "flash_forward") == &run->module->kernels[2]);
    as.device.cc_major = 9; /* code for sm_90a runs on 9.0 alone */
    CHECK(!kg_fact_kernel(&as, "flash_forward"));
}

/* ---- JSON ---- */

static cJSON *parse(const struct kg_run *run, report_fn *report)
{
    kg_error error = { 0 };
    cJSON *root = NULL;
    size_t size = 0;
    char *text = text_of(run, report, &size);
    if (kg_json_parse(text, size, &root, &error)) {
        fprintf(stderr, "%s\n", error.text);
        failures++;
        root = cJSON_CreateObject();
    }
    free(text);
    return root;
}

/* Follows "results/1/gates/finite_pass"; NULL where it is not. */
static const cJSON *find(const cJSON *at, const char *path)
{
    char step[64];
    for (; at && *path; path += strcspn(path, "/"), path += *path == '/') {
        snprintf(step, sizeof step, "%.*s", (int)strcspn(path, "/"), path);
        at = cJSON_IsArray(at) ? cJSON_GetArrayItem(at, atoi(step)) : cJSON_GetObjectItemCaseSensitive(at, step);
    }
    return at;
}

static bool is_number(const cJSON *root, const char *path, double value)
{
    const cJSON *item = find(root, path);
    return cJSON_IsNumber(item) && fabs(item->valuedouble - value) <= 1e-9 * fabs(value);
}

static bool is_text(const cJSON *root, const char *path, const char *value)
{
    const cJSON *item = find(root, path);
    return cJSON_IsString(item) && !strcmp(item->valuestring, value);
}

static void test_correctness_json(const struct kg_run *run)
{
    static const char *const wanted[] = { "shape",       "B",       "H",           "S",
                                          "D",           "seed",    "max_abs_err", "mean_abs_err",
                                          "max_rel_err", "pct_bad", "gates",       "pass" };
    cJSON *root = parse(run, kg_report_correctness);
    for (size_t i = 0; i < COUNT(wanted); i++)
        CHECK(cJSON_HasObjectItem(find(root, "results/0"), wanted[i]));
    CHECK(cJSON_GetArraySize(find(root, "results")) == 13);
    CHECK(cJSON_GetArraySize(find(root, "skipped")) == 5);
    CHECK(is_number(root, "results/0/S", 512));
    CHECK(is_number(root, "results/0/seed", 0) && is_number(root, "results/0/problem_seed", 7));
    CHECK(is_text(root, "results/0/dtype", "f16"));
    CHECK(cJSON_IsFalse(find(root, "results/0/causal")));
    CHECK(cJSON_IsTrue(find(root, "results/0/pass")));
    CHECK(cJSON_IsTrue(find(root, "results/0/gates/pct_bad_pass")));
    CHECK(is_text(root, "results/6/id", "alpha/mission/s1/library"));
    CHECK(cJSON_IsFalse(find(root, "results/6/pass")));
    CHECK(cJSON_IsFalse(find(root, "results/6/gates/max_abs_err_pass")));
    CHECK(cJSON_IsTrue(find(root, "results/6/gates/mean_abs_err_pass")));
    CHECK(is_text(root, "results/6/rel_l2_err", "inf") && is_text(root, "results/6/worst_got", "nan"));
    CHECK(is_text(root, "results/8/verdict", "ERROR") && cJSON_IsFalse(find(root, "results/8/pass")));
    CHECK(cJSON_IsFalse(find(root, "all_pass")));
    cJSON_Delete(root);

    struct kg_run as = *run;
    as.n_results = 3; /* PASS, SLOW, FAST: right, all of them */
    memset(as.counts, 0, sizeof as.counts);
    root = parse(&as, kg_report_correctness);
    CHECK(cJSON_IsTrue(find(root, "all_pass")));
    cJSON_Delete(root);
}

static void test_perf_json(const struct kg_run *run)
{
    cJSON *root = parse(run, kg_report_perf);
    CHECK(cJSON_GetArraySize(find(root, "results")) == 6);
    CHECK(is_text(root, "results/1/id", "alpha/mission/s0/ours"));
    CHECK(is_text(root, "results/1/verdict", "SLOW"));
    CHECK(is_number(root, "results/1/B", 1) && is_number(root, "results/1/D", 64));
    CHECK(is_number(root, "results/1/warmup_iters", 0) && is_number(root, "results/1/timed_iters", 40));
    CHECK(is_number(root, "results/1/p50_us", 26) && is_number(root, "results/1/mean_us", 26));
    CHECK(is_number(root, "results/1/iters_per_sec", 1e6 / 26));
    CHECK(cJSON_IsNumber(find(root, "results/1/p90_us")) && cJSON_IsNumber(find(root, "results/1/std_us")));
    CHECK(is_number(root, "results/1/golden_us", 25) && is_number(root, "results/1/change_pct", 4));
    CHECK(is_number(root, "results/1/speedup_vs_golden", 25.0 / 26));
    CHECK(is_number(root, "results/2/speedup_vs_anchor", 3) && is_text(root, "results/2/anchor", "math"));
    CHECK(is_text(root, "results/3/resolved_backend", "library") && is_text(root, "results/3/backend", "auto"));
    CHECK(!find(root, "results/4/golden_us")); /* UNGATED */
    CHECK(is_text(root, "results/5/judge", "ratio"));
    cJSON_Delete(root);
}

static void test_meta_json(const struct kg_run *run)
{
    cJSON *root = parse(run, kg_report_build_meta);
    CHECK(is_text(root, "timestamp", "2026-11-20T10:15:00Z"));
    CHECK(is_text(root, "git/sha", run->git.sha) && is_text(root, "git/branch", "main"));
    CHECK(cJSON_IsTrue(find(root, "git/dirty")));
    CHECK(is_text(root, "device/name", "NVIDIA H200") && is_text(root, "device/cuda_version", "13.0"));
    CHECK(is_text(root, "device/sm_version", "sm_90"));
    CHECK(is_number(root, "device/state_before/sm_clock_mhz", 1980));
    CHECK(is_text(root, "build/flags", "nvcc -O3") && is_text(root, "build/arch/1", "sm_90a"));
    CHECK(is_text(root, "build/toggles/ours/tile", "64") && is_text(root, "build/toggles/ours/stages", "2"));
    CHECK(cJSON_GetArraySize(find(root, "ptxas")) == 3 && is_number(root, "ptxas/1/spill_store_bytes", 8));
    CHECK(is_number(root, "ptxas/1/barriers", 1) && is_number(root, "ptxas/1/tensor/wgmma", 32));
    CHECK(is_number(root, "ptxas/1/tensor_sass", -1) && is_text(root, "ptxas/1/compiler", "13.0.88"));
    CHECK(is_text(root, "ptxas/1/notes", "Registers are spilled to local memory"));
    CHECK(is_text(root, "launches/0/id", "alpha/mission/s0/ours"));
    CHECK(is_text(root, "launches/0/kernels/0/code_hash", "00000000000000a9"));
    CHECK(is_number(root, "launches/0/kernels/0/registers", 128));
    CHECK(is_number(root, "launches/0/kernels/0/shared_bytes", 2048));
    CHECK(cJSON_IsFalse(find(root, "launches/0/kernels/1/of_module")));
    cJSON_Delete(root);
}

static char *length_is_set(const char *name)
{
    static char text[] = "512,1024";
    return strcmp(name, "LENGTH") ? NULL : text;
}

/* What is set is the run's, what it changed a result's; where nothing is known of either, nothing is said. */
static void test_environment_json(const struct kg_run *run)
{
    const struct kg_selection selection = { .variable = length_is_set };
    struct kg_result one = run->results[0];
    struct kg_run as = *run;
    as.selection = &selection;
    one.of.environment = "LENGTH=1024";
    as.results = &one;
    as.n_results = 1;
    cJSON *root = parse(&as, kg_report_json), *plain = parse(run, kg_report_json);
    CHECK(is_text(root, "environment/LENGTH", "512,1024") && cJSON_GetArraySize(find(root, "environment")) == 1);
    CHECK(is_text(root, "results/0/environment", "LENGTH=1024"));
    CHECK(cJSON_IsObject(find(plain, "environment")) && cJSON_GetArraySize(find(plain, "environment")) == 0);
    CHECK(!find(plain, "results/0/environment"));
    cJSON_Delete(root);
    cJSON_Delete(plain);
}

/* Nothing asked it not to time, but what it ran failed, was skipped or is judged on another seed. */
static void test_untimed(const struct kg_run *run, const char *folder, bool update)
{
    struct kg_run as = *run;
    as.results = &run->results[4];
    as.n_results = 4;
    as.contract = (struct kg_contract){ .timer = "" };
    memset(as.counts, 0, sizeof as.counts);
    for (size_t i = 0; i < as.n_results; i++)
        as.counts[as.results[i].verdict]++;
    check_frozen(&as, folder, "summary_untimed.md", kg_report_summary, update);
    cJSON *root = parse(&as, kg_report_build_meta), *timed = parse(run, kg_report_build_meta);
    CHECK(cJSON_IsFalse(find(root, "timed")) && cJSON_IsTrue(find(timed, "timed")));
    cJSON_Delete(root);
    cJSON_Delete(timed);
}

static void test_idle_json(const struct kg_run *run)
{
    cJSON *root = parse(run, kg_report_build_meta);
    CHECK(is_number(root, "device_idle_pct", 8)); /* 235 and 225 ms of 250 ms each */
    CHECK(is_number(root, "rounds/0/round", 1) && is_number(root, "rounds/0/device_idle_pct", 6));
    CHECK(is_number(root, "rounds/1/device_idle_pct", 10) && is_number(root, "rounds/1/blocks", 6));
    CHECK(is_number(root, "rounds/1/span_s", 6 * 0.25) && is_text(root, "partial", ""));
    CHECK(is_text(root, "noise/0", "clocks not locked") && cJSON_GetArraySize(find(root, "noise")) == 1);
    cJSON_Delete(root);
    root = parse(run, kg_report_perf);
    CHECK(is_number(root, "device_idle_pct", 8));
    CHECK(is_number(root, "results/1/block_list/1/span_us", 250000));
    CHECK(is_number(root, "results/1/block_list/1/busy_us", 225000));
    CHECK(!find(root, "results/1/block_list/1/samples_us"));
    CHECK(is_number(root, "results/1/floor_pct", 0.4) && is_number(root, "results/0/alarm_blocks", 3));
    CHECK(is_number(root, "results/0/alarm_pct", 2.4) && !find(root, "results/2/alarm_pct"));
    CHECK(is_text(root, "results/1/noise/0", "power cap") && cJSON_GetArraySize(find(root, "results/2/noise")) == 0);
    CHECK(cJSON_GetArraySize(find(root, "results/1/noise")) == 3); /* the clock's setting is the run's */
    cJSON_Delete(root);
}

static void test_against_json(const struct kg_run *run)
{
    cJSON *root = parse(run, kg_report_perf);
    CHECK(is_text(root, "partial", "interrupted") && cJSON_GetArraySize(find(root, "results")) == 4);
    CHECK(is_text(root, "results/1/judge", "against") && is_number(root, "results/1/baseline_p50_us", 25));
    CHECK(is_number(root, "results/1/change_pct", 4) && is_number(root, "results/1/speedup_vs_baseline", 25.0 / 26));
    CHECK(!find(root, "results/1/golden_us") && !find(root, "results/1/speedup_vs_golden"));
    CHECK(is_text(root, "results/1/baseline_identity", "flash_forward 00000000000000a8"));
    CHECK(is_number(root, "results/1/block_list/0/baseline_p50_us", 25));
    CHECK(is_number(root, "results/1/block_list/0/log_against", log(1.04)));
    CHECK(cJSON_IsTrue(find(root, "results/2/new")) && !find(root, "results/2/baseline_p50_us"));
    cJSON_Delete(root);
    root = parse(run, kg_report_json);
    CHECK(is_text(root, "baseline/git_sha", run->baseline->git_sha));
    CHECK(is_text(root, "baseline/module_path", "builds/1a2b3c4/baseline.so"));
    CHECK(cJSON_IsFalse(find(root, "results/1/stopped")) && cJSON_IsTrue(find(root, "results/3/stopped")));
    cJSON_Delete(root);
    root = parse(run, kg_report_correctness);
    CHECK(cJSON_IsFalse(find(root, "all_pass"))); /* nothing is wrong, but two were not reached */
    CHECK(is_text(root, "partial", "interrupted"));
    cJSON_Delete(root);
    CHECK(has(run, kg_report_samples, "\"block\":1,\"kind\":\"baseline\",\"us\":"));
}

static void test_stopped(const struct kg_run *run)
{
    struct kg_run as = *run;
    as.allow_undecided = true; /* what was not reached is not fine all the same */
    CHECK(!kg_fact_fine(&as, &run->results[3]) && !kg_fact_fine(&as, &run->results[4]));
    CHECK(kg_fact_stopped(run) == 3);
    CHECK(kg_fact_flaked(&run->results[0]) == false);
}

static int put_terminal(const struct kg_run *run, FILE *out, kg_error *ret_error)
{
    (void)ret_error;
    kg_terminal_put_end(run, &(struct kg_terminal_options){ .quiet = true }, out);
    return KG_OK;
}

/* A card that is slower as a whole: said once, and not where one of the slow cases launches something else. */
static void test_environment(const struct kg_run *run)
{
    static const char said[] = "all 2 slow cases launch what their goldens did";
    static report_fn *const reports[] = { put_terminal, kg_report_summary, kg_report_junit };
    struct kg_result *results = calloc(3, sizeof *results);
    struct kg_run as = *run;
    as.results = results;
    as.n_results = 3;
    for (size_t i = 0; i < 3; i++)
        results[i] = run->results[i];
    results[2].verdict = KG_PASS;
    for (int unchanged = 0; unchanged < 2; unchanged++) {
        for (size_t i = 0; i < 2; i++) {
            results[i].verdict = KG_SLOW;
            results[i].judgement.unchanged = i == 0 || unchanged;
        }
        for (size_t i = 0; i < sizeof reports / sizeof *reports; i++) {
            char *text = text_of(&as, reports[i], NULL);
            CHECK((strstr(text, said) != NULL) == (unchanged == 1));
            free(text);
        }
    }
    free(results);
}

static void test_whole_json(const struct kg_run *run)
{
    cJSON *root = parse(run, kg_report_json);
    CHECK(cJSON_GetArraySize(find(root, "results")) == (int)run->n_results);
    CHECK(is_number(root, "counts/PASS", 4) && is_number(root, "counts/LOST", 1) && is_number(root, "status", 1));
    CHECK(is_number(root, "results/1/block_list/1/samples_us/2", 26));
    CHECK(is_number(root, "results/1/block_list/1/state_after/throttle_reasons", 4));
    CHECK(is_text(root, "results/1/block_list/1/state_after/throttled_by", "power cap"));
    CHECK(cJSON_IsNull(find(root, "results/15/block_list/0/state_after/power_w")));
    CHECK(is_text(root, "results/1/output_digest", "0123456789abcdef"));
    CHECK(is_text(root, "results/6/reason",
                  "a #1 | <b> & \"q\" ]]> caf\u00e9, \ufffd[31m\ufffd\ufffd\ufffd\ufffd next\\line"));
    CHECK(is_text(root, "results/17/outcome", "absent"));
    cJSON_Delete(root);

    struct kg_run as = *run;
    struct kg_result result = run->results[0];
    result.of.seed = UINT64_MAX; /* a double would round it */
    as.results = &result;
    as.n_results = 1;
    CHECK(has(&as, kg_report_json, "\"seed\":\t18446744073709551615,"));
}

static void test_samples(const struct kg_run *run)
{
    size_t size = 0, lines = 0;
    char *text = text_of(run, kg_report_samples, &size);
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"), lines++) {
        cJSON *root = NULL;
        kg_error error = { 0 };
        CHECK(!kg_json_parse(line, strlen(line), &root, &error));
        if (lines == 12) /* ten of math, then the third of ours */
            CHECK(is_text(root, "id", "alpha/mission/s0/ours") && is_text(root, "kind", "case") &&
                  is_number(root, "round", 1) && is_number(root, "block", 0) && is_number(root, "us", 26));
        if (lines == 16)
            CHECK(is_text(root, "kind", "anchor") && is_number(root, "us", 60));
        cJSON_Delete(root);
    }
    CHECK(lines == 6 * 10 + 4 * 0 + 3 * 6);
    free(text);
}

/* ---- files ---- */

static int count_files(const char *folder)
{
    int count = 0;
    DIR *entries = opendir(folder);
    for (struct dirent *entry = entries ? readdir(entries) : NULL; entry; entry = readdir(entries))
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    if (entries)
        closedir(entries);
    return count;
}

static void remove_folder(const char *folder)
{
    char path[8192];
    DIR *entries = opendir(folder);
    for (struct dirent *entry = entries ? readdir(entries) : NULL; entry; entry = readdir(entries)) {
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        unlink(path);
    }
    if (entries)
        closedir(entries);
    rmdir(folder);
}

/* A file that cannot be written leaves the one before it whole, and no temporary one. */
static void test_failed_write(const struct kg_run *run, const char *folder)
{
    char path[4096 + 32];
    struct rlimit before, small;
    struct stat old, now;
    kg_error error = { 0 };
    snprintf(path, sizeof path, "%s/junit.xml", folder);
    CHECK(!stat(path, &old));
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before);
    small = before;
    small.rlim_cur = 1000;
    setrlimit(RLIMIT_FSIZE, &small);
    CHECK(kg_report_junit_file(run, path, &error) == KG_EIO);
    setrlimit(RLIMIT_FSIZE, &before);
    CHECK(strstr(error.text, "cannot be written"));
    CHECK(!stat(path, &now) && now.st_ino == old.st_ino && now.st_size == old.st_size);
    CHECK(count_files(folder) == 8);
}

/* What is no regular file is written to, not replaced. A pipe of the test's own: a mistake here, run by root, must not
 * cost the machine its /dev/null. */
static void test_pipe(const struct kg_run *run, const char *folder)
{
    char path[4096 + 32], first[6] = "";
    struct stat is;
    kg_error error = { 0 };
    snprintf(path, sizeof path, "%s/pipe", folder);
    CHECK(!mkfifo(path, 0600));
    int reader = open(path, O_RDONLY | O_NONBLOCK);
    CHECK(reader >= 0 && kg_report_junit_file(run, path, &error) == KG_OK);
    CHECK(read(reader, first, 5) == 5 && !strcmp(first, "<?xml"));
    CHECK(!lstat(path, &is) && S_ISFIFO(is.st_mode));
    close(reader);
}

/* Every sink says that its stream is full. */
static void test_full(const struct kg_run *run)
{
    static report_fn *const sinks[] = { terminal_plain,     kg_report_tap,        kg_report_junit,
                                        kg_report_json,     kg_report_build_meta, kg_report_correctness,
                                        kg_report_perf,     kg_report_samples,    kg_report_csv,
                                        kg_report_markdown, kg_report_summary };
    for (size_t i = 0; i < COUNT(sinks); i++) {
        kg_error error = { 0 };
        FILE *full = fopen("/dev/full", "w");
        CHECK(full && sinks[i](run, full, &error) == KG_EIO);
        CHECK(strstr(error.text, "cannot be written: No space left on device"));
        if (full)
            fclose(full);
    }
}

static void test_folder(const struct kg_run *run)
{
    char folder[4096], path[4096 + 32], link[4096 + 32];
    kg_error error = { 0 };
    struct stat is;
    snprintf(folder, sizeof folder, "reports-XXXXXX"); /* in the working folder */
    if (!mkdtemp(folder))
        abort();
    CHECK(kg_report_folder(run, folder, &error) == KG_OK);
    CHECK(kg_report_folder(run, folder, &error) == KG_OK); /* over what is there */
    CHECK(count_files(folder) == 8);
    test_failed_write(run, folder);

    snprintf(path, sizeof path, "%s/junit.xml", folder);
    snprintf(link, sizeof link, "%s/link.xml", folder);
    CHECK(!symlink("junit.xml", link));
    CHECK(kg_report_junit_file(run, link, &error) == KG_OK);
    CHECK(!lstat(link, &is) && S_ISLNK(is.st_mode)); /* the file behind it is replaced */

    snprintf(path, sizeof path, "%s/absent", folder);
    CHECK(kg_report_folder(run, path, &error) == KG_EIO);
    test_pipe(run, folder);
    remove_folder(folder);
}

int main(int argc, char **argv)
{
    struct kg_run run, against, contest;
    const struct kg_run *const runs[] = { &run, &contest, &against };
    const bool update = argc > 2 && !strcmp(argv[2], "--update");
    if (argc < 2) {
        fprintf(stderr, "usage: test_reports FROZEN_FOLDER [--update]\n");
        return 2;
    }
    sample_run_make(&run);
    sample_run_make_against(&against);
    sample_run_make_contest(&contest);
    test_frozen(&run, argv[1], update);
    test_frozen_against(&against, argv[1], update);
    test_frozen_csv(runs, COUNT(runs), argv[1], update);
    test_untimed(&run, argv[1], update);
    test_contest(&contest, argv[1], update);
    test_contest_seeds(&contest);
    test_contest_kernels(&contest);
    test_variants(&run);
    test_bless(&run);
    test_quiet(&run);
    test_many(&run);
    test_cpu(&run);
    test_formats();
    test_facts(&run);
    test_correctness_json(&run);
    test_perf_json(&run);
    test_meta_json(&run);
    test_environment_json(&run);
    test_whole_json(&run);
    test_idle_json(&run);
    test_against_json(&against);
    test_environment(&against);
    test_stopped(&against);
    test_samples(&run);
    test_folder(&run);
    test_full(&run);
    sample_run_done(&run);
    sample_run_done(&against);
    sample_run_done(&contest);
    if (failures)
        fprintf(stderr, "%d checks failed\n", failures);
    return failures ? 1 : 0;
}
