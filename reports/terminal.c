/* terminal.c -- what a person reads: the machine in one line, a table by suite, then what needs an answer
 * (terminal_end.c). A new column is a member of `enum column`, a line in row_of and its alignment. */
#include "reports/terminal.h"

#include <math.h>
#include <string.h>

#include "judge/verdict.h"
#include "reports/facts.h"

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
    const struct kg_text built = kg_fact_build(run);
    const char *path = run->baseline ? run->baseline_path : run->expectations, *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    if (run->baseline)
        fprintf(out, " \u00b7 candidate %s against %s (%s)", built.s, kg_fact_baseline_build(run).s, name);
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

/* A suite's. */
struct table {
    const struct kg_run *run;
    const struct kg_terminal_options *options;
    FILE *out;
    bool many;    /* rows in the run */
    size_t first; /* result of the suite */
};

/* The result where it is of the suite; else NULL. */
static const struct kg_result *of_suite(const struct table *t, size_t index)
{
    const struct kg_result *result = &t->run->results[index];
    return kg_fact_same_suite(result, &t->run->results[t->first]) ? result : NULL;
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
    static const struct {
        const char *name;
        kg_fact_fn *fact;
    } facts[] = {
        { "", kg_fact_problem },      { "", kg_fact_figures },      { "", kg_fact_time },
        { "runs ", kg_fact_runs },    { "knobs ", kg_fact_knobs },  { "baseline runs ", kg_fact_against },
        { "alarm: ", kg_fact_alarm }, { "noise: ", kg_fact_noise },
    };
    char line[KG_LINE];
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
        facts[i].fact(result, line);
        if (*line)
            fprintf(out, "      %s%s\n", facts[i].name, line);
    }
    if (result->launch.kernels)
        fprintf(out, "      %d kernels a launch, %d copies\n", result->launch.kernels, result->launch.memory_nodes);
    if (*kg_fact_why(result))
        fprintf(out, "      %s\n", kg_text_clean(kg_fact_why(result), line, sizeof line));
}

/* ---- one line for many ---- */

/* Is it a skip for that reason? */
static bool same_skip(const struct kg_result *result, const struct kg_result *skip)
{
    return result && result->verdict == KG_SKIP && !strcmp(kg_fact_why(result), kg_fact_why(skip));
}

/* The first of its suite with this reason stands for all of them. */
static void put_skips(const struct table *t)
{
    char line[KG_LINE];
    for (size_t i = t->first; i < t->run->n_results; i++) {
        const struct kg_result *result = of_suite(t, i);
        size_t same = 0;
        if (!result || result->verdict != KG_SKIP)
            continue;
        size_t k = t->first;
        while (!same_skip(of_suite(t, k), result))
            k++;
        for (; k >= i && k < t->run->n_results; k++)
            same += same_skip(of_suite(t, k), result);
        if (same)
            fprintf(t->out, "  %zu skipped: %s\n", same, kg_text_clean(kg_fact_why(result), line, sizeof line));
    }
}

static void put_unreached(const struct table *t)
{
    size_t count = 0;
    for (size_t i = t->first; i < t->run->n_results; i++)
        count += of_suite(t, i) && unreached(of_suite(t, i));
    if (count)
        fprintf(t->out, "  %zu not reached: %s\n", count, t->run->partial);
}

/* The largest errors of cases that one line stands for. */
struct fold {
    size_t count, compared;
    double max_abs, mean_abs, bad_pct;
};

static void fold_add(struct fold *fold, const struct kg_result *result)
{
    fold->count++;
    fold->compared += result->compared;
    fold->max_abs = fmax(fold->max_abs, result->comparison.max_abs);
    fold->mean_abs = fmax(fold->mean_abs, result->comparison.mean_abs);
    fold->bad_pct = fmax(fold->bad_pct, result->comparison.bad_pct);
}

static struct kg_text fold_errors(const struct fold *fold)
{
    if (!fold->compared)
        return (struct kg_text){ "" };
    return kg_format(", at most max %s mean %s bad %.2f%%", kg_format_error(fold->max_abs).s,
                     kg_format_error(fold->mean_abs).s, fold->bad_pct);
}

static void put_further_seeds(const struct table *t)
{
    struct fold fold = { 0 };
    for (size_t i = t->first; i < t->run->n_results; i++)
        if (of_suite(t, i) && folded(of_suite(t, i), t->options))
            fold_add(&fold, of_suite(t, i));
    if (fold.count)
        fprintf(t->out, "  %zu passed on further seeds%s; timed on the first\n", fold.count, fold_errors(&fold).s);
}

/* Of one backend and verdict, and in the table? */
static bool same_group(const struct table *t, const struct kg_result *result, const struct kg_result *like)
{
    return result && result->verdict == like->verdict && in_table(result, t->options) &&
           !strcmp(kg_fact_backend(result), kg_fact_backend(like));
}

/* In a run of many rows one line stands for all that passed of a backend, and for others that are too many to read. */
static bool in_group(const struct table *t, const struct kg_result *result)
{
    size_t count = 0;
    if (!t->many || result->verdict == KG_PASS)
        return t->many;
    for (size_t i = t->first; i < t->run->n_results && count <= KG_TERMINAL_MOST; i++)
        count += same_group(t, of_suite(t, i), result);
    return count > KG_TERMINAL_MOST;
}

/* "  stage_c: 600 PASS, at most max 0.0100 mean 0.0010 bad 0.00%", where the group begins. */
static void put_group(const struct table *t, const struct kg_result *result)
{
    struct fold fold = { 0 };
    size_t i = t->first;
    while (!same_group(t, of_suite(t, i), result))
        i++;
    if (&t->run->results[i] != result)
        return;
    for (; i < t->run->n_results; i++)
        if (same_group(t, of_suite(t, i), result))
            fold_add(&fold, &t->run->results[i]);
    fprintf(t->out, "  %s: %zu ", kg_fact_backend(result), fold.count);
    put_verdict(t->options, result->verdict, t->out);
    fprintf(t->out, "%s\n", fold_errors(&fold).s);
}

/* ---- the table ---- */

/* Twice: for the widths of the columns, then to be put. */
static void take_rows(const struct table *t, size_t widths[C_COUNT], bool put)
{
    struct row row;
    for (size_t i = t->first; i < t->run->n_results; i++) {
        const struct kg_result *result = of_suite(t, i);
        if (!result || !in_table(result, t->options))
            continue;
        if (in_group(t, result)) {
            if (put)
                put_group(t, result);
            continue;
        }
        row_of(result, &row);
        for (int c = 0; c < C_COUNT; c++)
            if (kg_text_width(row.cells[c]) > widths[c])
                widths[c] = kg_text_width(row.cells[c]);
        if (!put)
            continue;
        put_row(&row, widths, t->out);
        put_verdict(t->options, result->verdict, t->out);
        fputc('\n', t->out);
        if (t->options->verbose)
            put_verbose(result, t->out);
    }
}

static void put_suite(const struct table *t)
{
    size_t widths[C_COUNT] = { 0 };
    fprintf(t->out, "%s\n", kg_fact_suite(&t->run->results[t->first]).s);
    take_rows(t, widths, false);
    take_rows(t, widths, true);
    put_further_seeds(t);
    if (!t->options->verbose) {
        put_skips(t);
        put_unreached(t);
    }
}

static void put_table(const struct kg_run *run, const struct kg_terminal_options *options, FILE *out)
{
    struct table table = { run, options, out, false, 0 };
    size_t rows = 0;
    for (size_t i = 0; i < run->n_results; i++)
        rows += in_table(&run->results[i], options);
    table.many = rows > KG_TERMINAL_ROWS && !options->verbose;
    for (; table.first < run->n_results; table.first++)
        if (kg_fact_first_of_suite(run, table.first))
            put_suite(&table);
}

int kg_report_terminal(const struct kg_run *run, const struct kg_terminal_options *options, FILE *out,
                       kg_error *ret_error)
{
    if (!options->quiet) {
        put_header(run, out);
        put_table(run, options, out);
    }
    kg_terminal_put_end(run, options, out);
    return kg_stream_check(out, ret_error);
}
