/* markdown.c -- comparison.md (shapes against backends, suite by suite) and summary.md (what a reviewer reads first).
 * A change is per cent of the golden's p50, + is slower; a speed-up over 1 is faster; both say so in their headings. */
#include "reports/markdown.h"

#include <string.h>

#include "reports/facts.h"
#include "reports/run_facts.h"
#include "judge/verdict.h"

#define MAX_COLUMNS 32

void kg_markdown_cell(const char *text, FILE *out)
{
    char clean[KG_LINE];
    for (const char *c = kg_text_clean(text, clean, sizeof clean); *c; c++) {
        if (strchr("|\\`*<>[]", *c))
            fputc('\\', out);
        fputc(*c, out);
    }
}

static const char *or_dash(const char *text)
{
    return *text ? text : "-";
}

static bool of_table(const struct kg_run *run, size_t first, size_t index)
{
    const struct kg_result *result = &run->results[index];
    return kg_fact_same_suite(result, &run->results[first]) && kg_fact_timed(result);
}

/* Rows are (shape, seed): with --time-every-seed a shape has several. */
static bool same_row(const struct kg_result *a, const struct kg_result *b)
{
    return !strcmp(kg_fact_shape(a).s, kg_fact_shape(b).s) && a->of.seed == b->of.seed;
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
static void put_fastest(const struct kg_run *run, size_t first, const struct kg_result *row, const char *const *columns,
                        size_t n_columns, FILE *out)
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
    kg_markdown_cell(best ? kg_fact_backend(best) : "-", out);
    if (second) {
        fprintf(out, ", %s over ", kg_format_speedup(second->time_us.p50 / best->time_us.p50).s);
        kg_markdown_cell(kg_fact_backend(second), out);
    }
}

static void put_matrix_row(const struct kg_run *run, size_t first, const struct kg_result *row,
                           const char *const *columns, size_t n_columns, FILE *out)
{
    char problem[KG_LINE];
    kg_fact_problem(row, problem);
    fputs("| ", out);
    kg_markdown_cell(kg_fact_shape(row).s, out);
    fprintf(out, " s%llu | ", (unsigned long long)row->of.seed);
    kg_markdown_cell(problem, out);
    for (size_t c = 0; c < n_columns; c++) {
        const struct kg_result *result = find_cell(run, first, row, columns[c]);
        fprintf(out, " | %s", result ? kg_format_time(result->time_us.p50).s : "-");
        if (result && *kg_format_speedup(kg_fact_anchor_speedup(result)).s)
            fprintf(out, " (%s)", kg_format_speedup(kg_fact_anchor_speedup(result)).s);
    }
    fputs(" | ", out);
    put_fastest(run, first, row, columns, n_columns, out);
    fputs(" |\n", out);
}

static void put_rule(const char *left, size_t n_left, size_t n_right, const char *tail, FILE *out)
{
    for (size_t i = 0; i < n_left; i++)
        fputs(left, out);
    for (size_t i = 0; i < n_right; i++)
        fputs("| ---: ", out);
    fputs(tail, out);
}

static void put_matrix(const struct kg_run *run, size_t first, FILE *out)
{
    const char *columns[MAX_COLUMNS];
    size_t n_columns = find_columns(run, first, columns);
    size_t timed = first;
    while (!of_table(run, first, timed)) /* there is one: the caller has looked */
        timed++;
    fputs("p50 of a call", out);
    if (*kg_fact_anchor(&run->results[timed]) && !run->baseline)
        fprintf(out, "; in brackets how many times as fast as the anchor `%s`, measured beside it",
                kg_fact_anchor(&run->results[timed]));
    fputs(".\n\n| shape | problem |", out);
    for (size_t c = 0; c < n_columns; c++) {
        fputc(' ', out);
        kg_markdown_cell(columns[c], out);
        fputs(" |", out);
    }
    fputs(" fastest |\n", out);
    put_rule("| --- ", 2, n_columns, "| --- |\n", out);
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
    char line[KG_LINE];
    const struct kg_judgement *judged = &result->judgement;
    fputs("| ", out);
    kg_markdown_cell(kg_fact_shape(result).s, out);
    fputs(" | ", out);
    kg_markdown_cell(kg_fact_backend(result), out);
    fprintf(out, " | %s", judged->judged ? kg_format_time(judged->golden_us).s : "none");
    fprintf(out, " | %s | %s", kg_format_time(result->time_us.p50).s, kg_format_time(result->time_us.p90).s);
    fprintf(out, " | %s", or_dash(kg_format_speedup(kg_fact_golden_speedup(result)).s));
    if (judged->judged)
        fprintf(out, " | %s %s | %s%%", kg_fact_change(result).s, kg_fact_margin(result).s,
                kg_format_number(judged->threshold_pct).s);
    else
        fprintf(out, " | %s | -", result->is_new ? "new" : "-");
    fprintf(out, " | %s%s | ", kg_verdict_name(result->verdict), kg_fact_flaked(result) ? ", flake" : "");
    kg_fact_noise(result, line);
    kg_markdown_cell(or_dash(line), out);
    fputs(" |\n", out);
}

static void put_baseline_head(const struct kg_run *run, FILE *out)
{
    fprintf(out,
            "| shape | backend | %s p50 | p50 | p90 | speed-up (over 1 is faster) | change (+ is slower) | threshold "
            "| verdict | noise |\n| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | --- | --- |\n",
            run->baseline ? "baseline" : "golden");
}

/* Says of a run that was stopped that it was. */
static void put_partial(const struct kg_run *run, FILE *out)
{
    if (*run->partial)
        fprintf(out, "\n**Partial: %s; %zu of %zu cases have no decision.**\n", run->partial, kg_fact_stopped(run),
                run->n_results);
}

static bool any_timed(const struct kg_run *run, size_t first)
{
    for (size_t i = first; i < run->n_results; i++)
        if (of_table(run, first, i))
            return true;
    return false;
}

int kg_report_markdown(const struct kg_run *run, FILE *out, kg_error *ret_error)
{
    const char *judge = run->baseline ? "baseline" : "golden";
    fprintf(out, "# Comparison of backends on %s\n\nRun `%s`, build %s", run->device.name, run->id,
            kg_format_sha(kg_fact_sha(run), kg_fact_dirty(run)).s);
    if (run->baseline)
        fprintf(out, " against baseline %s", kg_format_sha(run->baseline->git_sha, run->baseline->git_dirty).s);
    fputs(".\n", out);
    put_partial(run, out);
    for (size_t i = 0; i < run->n_results; i++) {
        if (!kg_fact_first_of_suite(run, i))
            continue;
        fprintf(out, "\n## %s\n\n", kg_fact_suite(&run->results[i]).s);
        if (!any_timed(run, i)) {
            fputs("Nothing was timed.\n", out);
            continue;
        }
        put_matrix(run, i, out);
        fprintf(out, "\nAgainst the %s. Speed-up is %s over ours; change is per cent of the %s, + is slower.\n\n",
                judge, judge, judge);
        put_baseline_head(run, out);
        for (size_t k = i; k < run->n_results; k++)
            if (of_table(run, i, k))
                put_baseline_row(&run->results[k], out);
    }
    return kg_stream_check(out, ret_error);
}

/* ---- summary.md ---- */

static void put_counts(const struct kg_run *run, FILE *out)
{
    fputs("| verdict | cases |\n| --- | ---: |\n", out);
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
        fputs("| ", out);
        kg_markdown_cell(result->id, out);
        fprintf(out, " | %s | ", kg_verdict_name(result->verdict));
        kg_markdown_cell(or_dash(kg_fact_why(result)), out);
        fputs(" |\n", out);
    }
}

static void put_all_times(const struct kg_run *run, FILE *out)
{
    for (size_t i = 0; i < run->n_results; i++) {
        if (!kg_fact_first_of_suite(run, i) || !any_timed(run, i))
            continue;
        fprintf(out, "\n## Times: %s\n\n", kg_fact_suite(&run->results[i]).s);
        put_baseline_head(run, out);
        for (size_t k = i; k < run->n_results; k++)
            if (of_table(run, i, k))
                put_baseline_row(&run->results[k], out);
    }
}

static void put_fact(const char *name, const char *value, FILE *out)
{
    if (!*value)
        return;
    fprintf(out, "| %s | ", name);
    kg_markdown_cell(value, out);
    fputs(" |\n", out);
}

static void put_timer(const struct kg_run *run, FILE *out)
{
    char line[KG_LINE] = "";
    kg_text_add(line, sizeof line, "%s, L2 %s", run->contract.timer, run->contract.l2);
    if (run->contract.window_us > 0)
        kg_text_add(line, sizeof line, ", windows of %s", kg_format_time(run->contract.window_us).s);
    put_fact("timer", kg_fact_run_timed(run) ? line : "not timed", out);
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
    put_fact("build", kg_format_sha(kg_fact_sha(run), kg_fact_dirty(run)).s, out);
    put_fact("branch", run->git.branch, out);
    put_fact("device", run->device.name, out);
    put_fact("device uuid", run->device.uuid, out);
    put_fact("driver", run->device.driver, out);
    put_fact("CUDA", run->cuda_runtime, out);
    if (run->baseline) {
        put_fact("baseline", kg_format_sha(run->baseline->git_sha, run->baseline->git_dirty).s, out);
        put_fact("baseline module", run->baseline_path, out);
    } else {
        put_fact("goldens", run->expectations_exist ? run->expectations : "none for this architecture", out);
    }
    put_timer(run, out);
    if (use.blocks) {
        (void)snprintf(line, sizeof line, "%.1f%% of the time between a block's first and last window", use.idle_pct);
        put_fact("device idle", line, out);
    }
    if (steady.clock_max_mhz) {
        (void)snprintf(line, sizeof line, "%d to %d MHz", steady.clock_min_mhz, steady.clock_max_mhz);
        put_fact("clocks", line, out);
    }
    if (steady.throttled) {
        char names[128];
        kg_noise_names(steady.throttles, names, sizeof names);
        (void)snprintf(line, sizeof line, "%zu of %zu blocks: %s", steady.throttled, steady.blocks, names);
        put_fact("throttled", line, out);
    }
    kg_noise_names(steady.setting, line, sizeof line);
    if (*line)
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
    fprintf(out, "# kgate on %s\n\nExit status %d, %zu cases in %.1f s.\n", run->device.name, run->status,
            run->n_results, run->seconds);
    put_partial(run, out);
    fputc('\n', out);
    put_counts(run, out);
    put_not_passed(run, out);
    put_remarks(run, out);
    kg_markdown_contests(run, out);
    kg_markdown_costs(run, out);
    put_all_times(run, out);
    put_provenance(run, out);
    return kg_stream_check(out, ret_error);
}
