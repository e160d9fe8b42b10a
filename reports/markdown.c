/* markdown.c -- comparison.md (shapes against backends, suite by suite) and summary.md (what a reviewer reads first).
 * A change is per cent of the golden's p50, + is slower; a speed-up over 1 is faster; both say so in their headings.
 * A section of summary.md is a row of `sections`. */
#include "reports/report.h"

#include <string.h>

#include "judge/verdict.h"
#include "reports/facts.h"
#include "reports/sections.h"

#define MAX_COLUMNS 32

static bool of_table(const struct kg_run *run, size_t first, size_t index)
{
    const struct kg_result *result = &run->results[index];
    return kg_fact_same_suite(result, &run->results[first]) && kg_fact_timed(result);
}

/* The suite's first timed result; NULL: none. */
static const struct kg_result *find_timed(const struct kg_run *run, size_t first)
{
    for (size_t i = first; i < run->n_results; i++)
        if (of_table(run, first, i))
            return &run->results[i];
    return NULL;
}

/* Rows are (shape, seed): with --time-every-seed a shape has several. */
static bool same_row(const struct kg_result *a, const struct kg_result *b)
{
    return kg_fact_same_shape(a, b) && a->of.seed == b->of.seed;
}

static size_t find_columns(const struct kg_run *run, size_t first, const char *columns[MAX_COLUMNS])
{
    size_t count = 0;
    for (size_t i = first; i < run->n_results; i++) {
        const char *name = kg_fact_backend(&run->results[i]);
        bool told = !of_table(run, first, i);
        for (size_t k = 0; k < count && !told; k++)
            told = !strcmp(columns[k], name);
        if (!told && count < MAX_COLUMNS)
            columns[count++] = name;
    }
    return count;
}

/* The row's result of a backend; NULL: none was timed. */
static const struct kg_result *find_cell(const struct kg_run *run, size_t first, const struct kg_result *row,
                                         const char *backend)
{
    for (size_t i = first; i < run->n_results; i++)
        if (of_table(run, first, i) && same_row(&run->results[i], row) &&
            !strcmp(kg_fact_backend(&run->results[i]), backend))
            return &run->results[i];
    return NULL;
}

/* "stage_c, 1.07x over stage_c_lut". A wrong or broken result does not compete. */
static struct kg_text fastest_of(const struct kg_run *run, size_t first, const struct kg_result *row,
                                 const char *const *columns, size_t n_columns)
{
    const struct kg_result *best = NULL, *second = NULL;
    for (size_t c = 0; c < n_columns; c++) {
        const struct kg_result *result = find_cell(run, first, row, columns[c]);
        if (!result || !kg_gate_marks_all(result->marks) || result->outcome == KG_BROKEN)
            continue;
        if (!best || result->time_us.p50 < best->time_us.p50) {
            second = best;
            best = result;
        } else if (!second || result->time_us.p50 < second->time_us.p50) {
            second = result;
        }
    }
    if (!second)
        return kg_format("%s", best ? kg_fact_backend(best) : "-");
    return kg_format("%s, %s over %s", kg_fact_backend(best),
                     kg_format_speedup(second->time_us.p50 / best->time_us.p50).s, kg_fact_backend(second));
}

/* "24.2 us (1.35x)" */
static struct kg_text time_of(const struct kg_result *result)
{
    if (!result)
        return (struct kg_text){ "-" };
    const struct kg_text time = kg_format_time(result->time_us.p50);
    const struct kg_text speedup = kg_format_speedup(kg_fact_anchor_speedup(result));
    return *speedup.s ? kg_format("%s (%s)", time.s, speedup.s) : time;
}

static void put_matrix_row(const struct kg_run *run, size_t first, const struct kg_result *row,
                           const char *const *columns, size_t n_columns, FILE *out)
{
    char problem[KG_LINE];
    kg_fact_problem(row, problem);
    kg_markdown_cell(kg_format("%s s%llu", kg_fact_shape(row).s, (unsigned long long)row->of.seed).s, out);
    kg_markdown_cell(problem, out);
    for (size_t c = 0; c < n_columns; c++)
        kg_markdown_cell(time_of(find_cell(run, first, row, columns[c])).s, out);
    kg_markdown_row(out, fastest_of(run, first, row, columns, n_columns).s, NULL);
}

static void put_matrix(const struct kg_run *run, size_t first, FILE *out)
{
    const char *columns[MAX_COLUMNS];
    size_t n_columns = find_columns(run, first, columns);
    const char *anchor = kg_fact_anchor(find_timed(run, first));
    fputs("p50 of a call", out);
    if (*anchor && !run->baseline)
        fprintf(out, "; in brackets how many times as fast as the anchor `%s`, measured beside it", anchor);
    fputs(".\n\n| shape | problem ", out);
    for (size_t c = 0; c < n_columns; c++)
        kg_markdown_cell(columns[c], out);
    fputs("| fastest |\n| --- | --- ", out);
    for (size_t c = 0; c < n_columns; c++)
        fputs("| ---: ", out);
    fputs("| --- |\n", out);
    for (size_t i = first; i < run->n_results; i++) {
        bool told = !of_table(run, first, i);
        for (size_t k = first; k < i && !told; k++)
            told = of_table(run, first, k) && same_row(&run->results[k], &run->results[i]);
        if (!told)
            put_matrix_row(run, first, &run->results[i], columns, n_columns, out);
    }
}

static void put_baseline_row(const struct kg_result *result, FILE *out)
{
    char noise[KG_LINE];
    const struct kg_judgement *judged = &result->judgement;
    kg_fact_noise(result, noise);
    kg_markdown_row(
        out, kg_fact_shape(result).s, kg_fact_backend(result),
        judged->judged ? kg_format_time(judged->golden_us).s : "none", kg_format_time(result->time_us.p50).s,
        kg_format_time(result->time_us.p90).s, kg_format_speedup(kg_fact_golden_speedup(result)).s,
        judged->judged   ? kg_format("%s %s", kg_fact_change(result).s, kg_fact_margin(result).s).s
        : result->is_new ? "new"
                         : "-",
        judged->judged ? kg_format("%s%%", kg_format_number(judged->threshold_pct).s).s : "-",
        kg_format("%s%s", kg_verdict_name(result->verdict), kg_fact_flaked(result) ? ", flake" : "").s, noise, NULL);
}

/* The suite's times against what they are judged by. */
static void put_baseline_table(const struct kg_run *run, size_t first, FILE *out)
{
    fprintf(out,
            "| shape | backend | %s p50 | p50 | p90 | speed-up (over 1 is faster) | change (+ is slower) | threshold "
            "| verdict | noise |\n| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | --- | --- |\n",
            run->baseline ? "baseline" : "golden");
    for (size_t i = first; i < run->n_results; i++)
        if (of_table(run, first, i))
            put_baseline_row(&run->results[i], out);
}

/* Says of a run that was stopped that it was. */
static void put_partial(const struct kg_run *run, FILE *out)
{
    if (*run->partial)
        fprintf(out, "\n**Partial: %s; %zu of %zu cases have no decision.**\n", run->partial, kg_fact_stopped(run),
                run->n_results);
}

int kg_report_markdown(const struct kg_run *run, FILE *out, kg_error *ret_error)
{
    const char *judge = run->baseline ? "baseline" : "golden";
    fprintf(out, "# Comparison of backends on %s\n\nRun `%s`, build %s", run->device.name, run->id,
            kg_fact_build(run).s);
    if (run->baseline)
        fprintf(out, " against baseline %s", kg_fact_baseline_build(run).s);
    fputs(".\n", out);
    put_partial(run, out);
    for (size_t i = 0; i < run->n_results; i++) {
        if (!kg_fact_first_of_suite(run, i))
            continue;
        fprintf(out, "\n## %s\n\n", kg_fact_suite(&run->results[i]).s);
        if (!find_timed(run, i)) {
            fputs("Nothing was timed.\n", out);
            continue;
        }
        put_matrix(run, i, out);
        fprintf(out, "\nAgainst the %s. Speed-up is %s over ours; change is per cent of the %s, + is slower.\n\n",
                judge, judge, judge);
        put_baseline_table(run, i, out);
    }
    return kg_stream_check(out, ret_error);
}

/* ---- summary.md ---- */

static void put_head(const struct kg_run *run, FILE *out)
{
    fprintf(out, "# kgate on %s\n\nExit status %d, %zu cases in %.1f s.\n", run->device.name, run->status,
            run->n_results, run->seconds);
}

static void put_environment(const struct kg_run *run, FILE *out)
{
    char line[KG_LINE];
    if (*kg_fact_environment(run, line))
        fprintf(out, "\n**Environment: %s.**\n", line);
}

static void put_counts(const struct kg_run *run, FILE *out)
{
    fputs("\n| verdict | cases |\n| --- | ---: |\n", out);
    for (int i = 0; i < KG_VERDICTS; i++)
        if (run->counts[i])
            fprintf(out, "| %s | %zu |\n", kg_verdict_name((enum kg_verdict)i), run->counts[i]);
    fprintf(out, "| all | %zu |\n", run->n_results);
}

static void put_not_passed(const struct kg_run *run, FILE *out)
{
    bool begun = false;
    for (size_t i = 0; i < run->n_results; i++) {
        const struct kg_result *result = &run->results[i];
        if (result->verdict == KG_PASS)
            continue;
        if (!begun)
            fputs("\n## Not passed\n\n| case | verdict | reason |\n| --- | --- | --- |\n", out);
        begun = true;
        kg_markdown_row(out, result->id, kg_verdict_name(result->verdict), kg_fact_why(result), NULL);
    }
}

static void put_all_times(const struct kg_run *run, FILE *out)
{
    for (size_t i = 0; i < run->n_results; i++) {
        if (!kg_fact_first_of_suite(run, i) || !find_timed(run, i))
            continue;
        fprintf(out, "\n## Times: %s\n\n", kg_fact_suite(&run->results[i]).s);
        put_baseline_table(run, i, out);
    }
}

static void put_fact(const char *name, const char *value, FILE *out)
{
    if (*value)
        kg_markdown_row(out, name, value, NULL);
}

static void put_provenance(const struct kg_run *run, FILE *out)
{
    struct kg_steadiness steady = kg_fact_steadiness(run);
    struct kg_device_use use = kg_fact_use(run, 0);
    char line[KG_LINE];
    fputs("\n## Provenance\n\n| what | value |\n| --- | --- |\n", out);
    put_fact("run", run->id, out);
    put_fact("started", run->started, out);
    put_fact("command", run->command, out);
    put_fact("kgate", run->version, out);
    put_fact("build", kg_fact_build(run).s, out);
    put_fact("branch", run->git.branch, out);
    put_fact("device", run->device.name, out);
    put_fact("device uuid", run->device.uuid, out);
    put_fact("driver", run->device.driver, out);
    put_fact("CUDA", run->cuda_runtime, out);
    if (run->baseline) {
        put_fact("baseline", kg_fact_baseline_build(run).s, out);
        put_fact("baseline module", run->baseline_path, out);
    } else {
        put_fact("goldens", run->expectations_exist ? run->expectations : "none for this architecture", out);
    }
    put_fact("timer", kg_fact_run_timed(run) ? kg_fact_timer(run).s : "not timed", out);
    if (use.blocks)
        put_fact("device idle", kg_format("%.1f%% of the time between a block's first and last window", use.idle_pct).s,
                 out);
    if (steady.clock_max_mhz)
        put_fact("clocks", kg_format("%d to %d MHz", steady.clock_min_mhz, steady.clock_max_mhz).s, out);
    kg_noise_names(steady.throttles, line, sizeof line);
    if (steady.throttled)
        put_fact("throttled", kg_format("%zu of %zu blocks: %s", steady.throttled, steady.blocks, line).s, out);
    kg_noise_names(steady.setting, line, sizeof line);
    put_fact("noise", line, out);
}

/* First alarms that a second set of rounds did not confirm, and what is new: they pass, and are to be seen. */
static void put_remarks(const struct kg_run *run, FILE *out)
{
    char line[KG_LINE];
    for (size_t i = 0; i < run->n_results; i++) {
        const struct kg_result *result = &run->results[i];
        if (kg_fact_flaked(result)) {
            kg_fact_alarm(result, line);
            fprintf(out, "\nFlake: `%s` %s.\n", result->id, line);
        }
        if (result->is_new)
            fprintf(out, "\nNew: `%s` is gated for correctness only.\n", result->id);
    }
}

int kg_report_summary(const struct kg_run *run, FILE *out, kg_error *ret_error)
{
    static kg_section_fn *const sections[] = {
        put_head,    put_partial,         put_environment,  put_counts,    put_not_passed,
        put_remarks, kg_section_contests, kg_section_costs, put_all_times, put_provenance,
    };
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++)
        sections[i](run, out);
    return kg_stream_check(out, ret_error);
}
