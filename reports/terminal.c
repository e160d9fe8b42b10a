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

static void put_verdict(const struct kg_terminal_options *options, enum kg_verdict verdict, FILE *out)
{
    enum { RED = 31, GREEN, YELLOW, CYAN = 36 };
    static const int colors[KG_VERDICTS] = {
        [KG_PASS] = GREEN,    [KG_FAST] = GREEN,     [KG_XFAIL] = GREEN, [KG_SKIP] = CYAN,
        [KG_UNSURE] = YELLOW, [KG_UNGATED] = YELLOW, [KG_WEAK] = YELLOW,
    };
    if (options->color)
        fprintf(out, "\033[%dm%s\033[0m", colors[verdict] ? colors[verdict] : RED, kg_verdict_name(verdict));
    else
        fputs(kg_verdict_name(verdict), out);
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

/* How a case is told: in a row of its own, or in a line with others alike. */
enum kind { ROWS, GROUPS, SEEDS, SKIPS, UNREACHED, KINDS };

/* Of a suite. */
struct table {
    const struct kg_run *run;
    const struct kg_terminal_options *options;
    FILE *out;
    bool many;    /* rows in the run */
    size_t first; /* result of the suite */
};

static bool same_group(const struct kg_result *a, const struct kg_result *b)
{
    return a->verdict == b->verdict && kg_fact_same_suite(a, b) && !strcmp(kg_fact_backend(a), kg_fact_backend(b));
}

/* In a run of many rows one line stands for all that passed of a backend, and for others that are too many to read. */
static enum kind kind_of(const struct table *t, const struct kg_result *result)
{
    if (t->options->verbose)
        return ROWS;
    if (result->verdict == KG_SKIP)
        return SKIPS;
    if ((result->outcome == KG_DEFERRED || result->of.regime) && result->verdict == KG_PASS)
        return SEEDS; /* right, and its time, if it has one, stands on another seed's row */
    if (result->stopped && !result->compared)
        return UNREACHED;
    size_t count = t->many && result->verdict == KG_PASS ? KG_TERMINAL_MOST + 1 : 0;
    for (size_t i = t->first; t->many && i < t->run->n_results && count <= KG_TERMINAL_MOST; i++)
        count += same_group(&t->run->results[i], result);
    return count > KG_TERMINAL_MOST ? GROUPS : ROWS;
}

/* The result where it is of the suite, and told so; else NULL. */
static const struct kg_result *of_kind(const struct table *t, size_t index, enum kind kind)
{
    const struct kg_result *result = &t->run->results[index];
    return kg_fact_same_suite(result, &t->run->results[t->first]) && kind_of(t, result) == kind ? result : NULL;
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
        { "", kg_fact_problem },
        { "", kg_fact_figures },
        { "", kg_fact_repeats },
        { "", kg_fact_time },
        { "runs ", kg_fact_runs },
        { "knobs ", kg_fact_knobs },
        { "baseline runs ", kg_fact_against },
        { "alarm: ", kg_fact_alarm },
        { "noise: ", kg_fact_noise },
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

static void put_rows(const struct table *t)
{
    size_t widths[C_COUNT] = { 0 };
    struct row row;
    for (size_t i = t->first; i < t->run->n_results; i++) {
        if (!of_kind(t, i, ROWS))
            continue;
        row_of(of_kind(t, i, ROWS), &row);
        for (int c = 0; c < C_COUNT; c++)
            if (kg_text_width(row.cells[c]) > widths[c])
                widths[c] = kg_text_width(row.cells[c]);
    }
    for (size_t i = t->first; i < t->run->n_results; i++) {
        const struct kg_result *result = of_kind(t, i, ROWS);
        if (!result)
            continue;
        row_of(result, &row);
        put_row(&row, widths, t->out);
        put_verdict(t->options, result->verdict, t->out);
        fputc('\n', t->out);
        if (t->options->verbose)
            put_verbose(result, t->out);
    }
}

/* Those that one line stands for: the first of them, how many, and their largest errors. */
struct line {
    const struct kg_result *first;
    size_t count;
    double max_abs, mean_abs, bad_pct;
};

static bool same_line(enum kind kind, const struct kg_result *a, const struct kg_result *b)
{
    return kind == GROUPS ? same_group(a, b) : kind == SKIPS ? !strcmp(kg_fact_why(a), kg_fact_why(b)) : true;
}

static void put_line(const struct table *t, enum kind kind, const struct line *line)
{
    char why[KG_LINE], errors[128] = "";
    if (line->first->compared)
        snprintf(errors, sizeof errors, ", at most max %s mean %s bad %.2f%%", kg_format_error(line->max_abs).s,
                 kg_format_error(line->mean_abs).s, line->bad_pct);
    if (kind == SEEDS) {
        fprintf(t->out, "  %zu passed on further seeds and regimes\n", line->count);
    } else if (kind == GROUPS) {
        fprintf(t->out, "  %s: %zu ", kg_fact_backend(line->first), line->count);
        put_verdict(t->options, line->first->verdict, t->out);
        fprintf(t->out, "%s\n", errors);
    } else {
        fprintf(t->out, "  %zu %s: %s\n", line->count, kind == SKIPS ? "skipped" : "not reached",
                kind == SKIPS ? kg_text_clean(kg_fact_why(line->first), why, sizeof why) : t->run->partial);
    }
}

/* A line where the first of those stands that it is for. */
static void put_lines(const struct table *t, enum kind kind)
{
    for (size_t i = t->first; i < t->run->n_results; i++) {
        struct line line = { .first = of_kind(t, i, kind) };
        for (size_t k = t->first; line.first && k < t->run->n_results; k++) {
            const struct kg_result *other = of_kind(t, k, kind);
            if (!other || !same_line(kind, other, line.first))
                continue;
            if (k < i)
                line.first = NULL;
            line.count++;
            line.max_abs = fmax(line.max_abs, other->comparison.max_abs);
            line.mean_abs = fmax(line.mean_abs, other->comparison.mean_abs);
            line.bad_pct = fmax(line.bad_pct, other->comparison.bad_pct);
        }
        if (line.first)
            put_line(t, kind, &line);
    }
}

static void put_table(const struct kg_run *run, const struct kg_terminal_options *options, FILE *out)
{
    struct table table = { run, options, out, false, 0 };
    size_t rows = 0;
    for (size_t i = 0; i < run->n_results; i++)
        rows += kind_of(&table, &run->results[i]) == ROWS;
    table.many = rows > KG_TERMINAL_ROWS;
    for (; table.first < run->n_results; table.first++) {
        if (!kg_fact_first_of_suite(run, table.first))
            continue;
        fprintf(out, "%s\n", kg_fact_suite(&run->results[table.first]).s);
        put_lines(&table, GROUPS);
        put_rows(&table);
        for (int kind = SEEDS; kind < KINDS; kind++)
            put_lines(&table, (enum kind)kind);
    }
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
