/* terminal.c -- what a person reads: the machine in one line, a table by suite, then what needs an answer, numbered,
 * each with a command to paste. A new column is a member of `struct row`, a line in row_of and its alignment. */
#include "reports/report.h"

#include <math.h>
#include <string.h>

#include "reports/facts.h"
#include "reports/run_facts.h"
#include "reports/terminal_end.h"
#include "judge/verdict.h"

enum column { C_CASE, C_BACKEND, C_MAX, C_MEAN, C_BAD, C_TIME, C_CHANGE, C_MARGIN, C_RATE, C_COUNT };

static const bool right_aligned[C_COUNT] = {
    [C_TIME] = true, [C_CHANGE] = true, [C_RATE] = true, [C_BAD] = true, [C_MAX] = true, [C_MEAN] = true,
};

#define CELL (KG_ID_SIZE + 80)

struct row {
    char cells[C_COUNT][CELL];
};

static const char *color_of(enum kg_verdict verdict)
{
    switch (verdict) {
    case KG_PASS:
    case KG_FAST:
    case KG_XFAIL:
        return "\033[32m";
    case KG_SKIP:
        return "\033[36m";
    case KG_UNSURE:
    case KG_UNGATED:
        return "\033[33m";
    default:
        return "\033[31m";
    }
}

static void put_verdict(const struct kg_terminal_options *options, enum kg_verdict verdict, FILE *out)
{
    const char *name = kg_verdict_name(verdict);
    if (options->color)
        fprintf(out, "%s%s\033[0m", color_of(verdict), name);
    else
        fputs(name, out);
}

/* Which build was judged, and by what. */
static void put_judges(const struct kg_run *run, FILE *out)
{
    const struct kg_text built = kg_format_sha(kg_fact_sha(run), kg_fact_dirty(run));
    const char *path = run->baseline ? run->baseline_path : run->expectations, *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    if (run->baseline)
        fprintf(out, " \u00b7 candidate %s against %s (%s)", built.s,
                kg_format_sha(run->baseline->git_sha, run->baseline->git_dirty).s, name);
    else if (run->expectations_exist)
        fprintf(out, " \u00b7 build %s \u00b7 %s", built.s, name);
    else
        fprintf(out, " \u00b7 build %s \u00b7 no goldens for %s", built.s, run->device.arch);
}

static void put_header(const struct kg_run *run, FILE *out)
{
    struct kg_steadiness steady = kg_fact_steadiness(run);
    char device[128];
    fprintf(out, "kgate %s \u00b7 %s", run->version, kg_text_clean(run->device.name, device, sizeof device));
    if (*run->device.driver)
        fprintf(out, " \u00b7 driver %s", run->device.driver);
    if (steady.clock_max_mhz && steady.clock_min_mhz < steady.clock_max_mhz)
        fprintf(out, " \u00b7 clocks %d to %d MHz", steady.clock_min_mhz, steady.clock_max_mhz);
    else if (steady.clock_max_mhz)
        fprintf(out, " \u00b7 clocks %d MHz", steady.clock_max_mhz);
    put_judges(run, out);
    if (run->shuffle_seed)
        fprintf(out, " \u00b7 shuffle %llu", (unsigned long long)run->shuffle_seed);
    fputc('\n', out);
}

/* Right, and its time stands on another seed's row: one line stands for all of them. */
static bool folded(const struct kg_result *result, const struct kg_terminal_options *options)
{
    return !options->verbose && result->outcome == KG_DEFERRED && result->verdict == KG_PASS;
}

/* Nothing is known of it: the run was stopped before. */
static bool unreached(const struct kg_result *result)
{
    return result->stopped && !result->compared;
}

static bool in_table(const struct kg_result *result, const struct kg_terminal_options *options)
{
    return options->verbose || !(folded(result, options) || unreached(result) || result->verdict == KG_SKIP);
}

static void row_of(const struct kg_result *result, struct row *ret_row)
{
    memset(ret_row, 0, sizeof *ret_row);
    char(*cells)[CELL] = ret_row->cells;
    const char *rest = kg_fact_rest(result), *slash = strrchr(rest, '/');
    const char *backend = kg_fact_backend(result), *resolved = kg_fact_resolved(result);
    snprintf(cells[C_CASE], CELL, "%.*s", slash ? (int)(slash - rest) : (int)strlen(rest), rest);
    snprintf(cells[C_BACKEND], CELL, strcmp(backend, resolved) ? "%s (%s)" : "%s", backend, resolved);
    if (result->compared) {
        snprintf(cells[C_MAX], CELL, "max %s", kg_format_error(result->comparison.max_abs).s);
        snprintf(cells[C_MEAN], CELL, "mean %s", kg_format_error(result->comparison.mean_abs).s);
        snprintf(cells[C_BAD], CELL, "bad %.2f%%", result->comparison.bad_pct);
    }
    if (result->is_new)
        snprintf(cells[C_CHANGE], CELL, "new");
    if (!kg_fact_timed(result))
        return;
    snprintf(cells[C_TIME], CELL, "%s", kg_format_time(result->time_us.p50).s);
    snprintf(cells[C_RATE], CELL, "%s", kg_format_rate(result->tflop_per_s).s);
    if (result->judgement.judged) {
        snprintf(cells[C_CHANGE], CELL, "%s", kg_fact_change(result).s);
        snprintf(cells[C_MARGIN], CELL, "%s", kg_fact_margin(result).s);
    }
}

static void put_row(const struct row *row, const size_t widths[C_COUNT], FILE *out)
{
    fputc(' ', out);
    for (int c = 0; c < C_COUNT; c++) {
        int pad = (int)(widths[c] - kg_text_width(row->cells[c]));
        const char *gap = c == C_MEAN || c == C_BAD || c == C_BACKEND + 1 || c == C_MARGIN ? " " : "  ";
        if (!widths[c])
            continue;
        fputs(c == C_CASE ? " " : gap, out);
        fprintf(out, "%*s%s%*s", right_aligned[c] ? pad : 0, "", row->cells[c], right_aligned[c] ? 0 : pad, "");
    }
    fputs("  ", out);
}

static void put_verbose(const struct kg_result *result, FILE *out)
{
    char line[KG_LINE];
    kg_fact_problem(result, line);
    if (*line)
        fprintf(out, "      %s\n", line);
    kg_fact_figures(result, line);
    if (*line)
        fprintf(out, "      %s\n", line);
    kg_fact_time(result, line);
    if (*line)
        fprintf(out, "      %s\n", line);
    if (*result->identity)
        fprintf(out, "      runs %s\n", kg_text_clean(result->identity, line, sizeof line));
    if (*result->knobs)
        fprintf(out, "      knobs %s\n", kg_text_clean(result->knobs, line, sizeof line));
    if (*result->baseline_identity)
        fprintf(out, "      baseline runs %s\n", kg_text_clean(result->baseline_identity, line, sizeof line));
    kg_fact_alarm(result, line);
    if (*line)
        fprintf(out, "      alarm: %s\n", line);
    kg_fact_noise(result, line);
    if (*line)
        fprintf(out, "      noise: %s\n", line);
    if (result->launch.kernels)
        fprintf(out, "      %d kernels a launch, %d copies\n", result->launch.kernels, result->launch.memory_nodes);
    if (*kg_fact_why(result))
        fprintf(out, "      %s\n", kg_text_clean(kg_fact_why(result), line, sizeof line));
}

/* The first of its suite with this reason stands for all of them. */
static void put_skips(const struct kg_run *run, size_t first, FILE *out)
{
    for (size_t i = first; i < run->n_results; i++) {
        const struct kg_result *result = &run->results[i];
        size_t same = 0;
        bool told = false;
        for (size_t k = first; k < run->n_results; k++) {
            const struct kg_result *other = &run->results[k];
            if (other->verdict != KG_SKIP || !kg_fact_same_suite(other, result) ||
                strcmp(kg_fact_why(other), kg_fact_why(result)) != 0)
                continue;
            told = told || k < i;
            same++;
        }
        char line[KG_LINE];
        if (result->verdict == KG_SKIP && !told && kg_fact_same_suite(result, &run->results[first]))
            fprintf(out, "  %zu skipped: %s\n", same, kg_text_clean(kg_fact_why(result), line, sizeof line));
    }
}

static void put_folded(const struct kg_run *run, size_t first, const struct kg_terminal_options *options, FILE *out)
{
    size_t count = 0;
    double max_abs = 0, mean_abs = 0, bad_pct = 0;
    for (size_t i = first; i < run->n_results; i++) {
        const struct kg_result *result = &run->results[i];
        if (!kg_fact_same_suite(result, &run->results[first]) || !folded(result, options))
            continue;
        count++;
        max_abs = fmax(max_abs, result->comparison.max_abs);
        mean_abs = fmax(mean_abs, result->comparison.mean_abs);
        bad_pct = fmax(bad_pct, result->comparison.bad_pct);
    }
    if (count)
        fprintf(out, "  %zu passed on further seeds, at most max %s mean %s bad %.2f%%; timed on the first\n", count,
                kg_format_error(max_abs).s, kg_format_error(mean_abs).s, bad_pct);
}

static void put_unreached(const struct kg_run *run, size_t first, FILE *out)
{
    size_t count = 0;
    for (size_t i = first; i < run->n_results; i++)
        count += kg_fact_same_suite(&run->results[i], &run->results[first]) && unreached(&run->results[i]);
    if (count)
        fprintf(out, "  %zu not reached: %s\n", count, run->partial);
}

static void put_suite(const struct kg_run *run, size_t first, const struct kg_terminal_options *options, FILE *out)
{
    struct row row;
    size_t widths[C_COUNT] = { 0 };
    for (size_t i = first; i < run->n_results; i++) {
        if (!kg_fact_same_suite(&run->results[i], &run->results[first]) || !in_table(&run->results[i], options))
            continue;
        row_of(&run->results[i], &row);
        for (int c = 0; c < C_COUNT; c++)
            if (kg_text_width(row.cells[c]) > widths[c])
                widths[c] = kg_text_width(row.cells[c]);
    }
    fprintf(out, "%s\n", kg_fact_suite(&run->results[first]).s);
    for (size_t i = first; i < run->n_results; i++) {
        const struct kg_result *result = &run->results[i];
        if (!kg_fact_same_suite(result, &run->results[first]) || !in_table(result, options))
            continue;
        row_of(result, &row);
        put_row(&row, widths, out);
        put_verdict(options, result->verdict, out);
        fputc('\n', out);
        if (options->verbose)
            put_verbose(result, out);
    }
    put_folded(run, first, options, out);
    if (!options->verbose) {
        put_skips(run, first, out);
        put_unreached(run, first, out);
    }
}

/* Without a golden there is nothing to answer; on a new machine that is every case, and one line at the end says it. */
static bool needs_answer(const struct kg_result *result, bool verbose)
{
    switch (result->verdict) {
    case KG_PASS:
    case KG_FAST:
    case KG_XFAIL:
    case KG_SKIP:
        return false;
    case KG_UNGATED:
        return verbose || result->judgement.golden_us > 0;
    case KG_UNSURE:
        return verbose || !result->stopped; /* the same of a run that was stopped */
    default:
        return true;
    }
}

static void put_detail(const struct kg_run *run, const struct kg_result *result, size_t number, FILE *out)
{
    char line[KG_LINE];
    const char *why = *kg_fact_why(result) ? kg_fact_why(result) : kg_verdict_name(result->verdict);
    fprintf(out, "%zu) %s: %s\n", number, result->id, kg_text_clean(why, line, sizeof line));
    kg_fact_worst(result, line);
    if (*line)
        fprintf(out, "   worst: %s\n", line);
    kg_fact_noise(result, line);
    if (*line && (result->verdict == KG_SLOW || result->verdict == KG_UNSURE))
        fprintf(out, "   noise: %s\n", line);
    if (result->outcome == KG_ABSENT)
        return; /* there is no case to run again */
    kg_fact_command(run, result, "", line);
    fprintf(out, "   again: %s --verbose\n", line);
}

static void put_details(const struct kg_run *run, const struct kg_terminal_options *options, FILE *out)
{
    size_t number = 0;
    for (size_t i = 0; i < run->n_results; i++)
        if (needs_answer(&run->results[i], options->verbose))
            put_detail(run, &run->results[i], ++number, out);
}

int kg_report_terminal(const struct kg_run *run, const struct kg_terminal_options *options, FILE *out,
                       kg_error *ret_error)
{
    put_header(run, out);
    for (size_t i = 0; i < run->n_results; i++)
        if (kg_fact_first_of_suite(run, i))
            put_suite(run, i, options, out);
    put_details(run, options, out);
    kg_terminal_put_end(run, out);
    return kg_stream_check(out, ret_error);
}
