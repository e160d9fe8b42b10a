/* contest.c -- a suite's contest (kgate.h) as one run measured it, a section of summary.md. The criteria of times are
 * success.c's; a new one is a row in put_criteria. A row that --set or the environment sweeps stands there once for
 * each of its values. */
#include "reports/sections.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plan/module.h"
#include "reports/facts.h"
#include "reports/success.h"

/* Times of both; a side that is NULL is NAN. */
static struct kg_match match_of(const struct kg_result *ours, const struct kg_result *baseline)
{
    return (struct kg_match){
        .baseline_p50_us = baseline ? baseline->time_us.p50 : NAN,
        .baseline_p90_us = baseline ? baseline->time_us.p90 : NAN,
        .ours_p50_us = ours ? ours->time_us.p50 : NAN,
        .ours_p90_us = ours ? ours->time_us.p90 : NAN,
    };
}

/* ---- the table ------------------------------------------------------------------------------------------------- */

/* At the first seed of the shape at which both can be compared; where there is none, the side that can be shown. */
static struct kg_match match_at(const struct kg_run *run, const kg_suite *suite, const char *shape)
{
    for (size_t i = 0; i < run->n_results; i++) {
        const struct kg_case *of = &run->results[i].of;
        const struct kg_result *rival =
            of->suite == suite && !strcmp(of->shape, shape) ? kg_fact_rival(run, &run->results[i]) : NULL;
        if (rival)
            return match_of(&run->results[i], rival);
    }
    const struct kg_result *ours = kg_fact_find(run, suite, suite->contest.ours, shape, NULL, true);
    return match_of(ours, ours ? NULL : kg_fact_find(run, suite, suite->contest.baseline, shape, NULL, true));
}

static struct kg_text time_or_dash(double time_us)
{
    return isnan(time_us) ? (struct kg_text){ "-" } : kg_format_time(time_us);
}

/* "not compared: flash FAIL, cudnn SKIP" */
static struct kg_text why_not(const struct kg_run *run, const kg_suite *suite, const char *shape)
{
    const kg_backend *const sides[] = { suite->contest.ours, suite->contest.baseline };
    struct kg_text text = { "not compared" };
    const char *comma = ":";
    for (size_t i = 0; i < 2; i++) {
        const struct kg_result *shown = kg_fact_find(run, suite, sides[i], shape, NULL, false);
        if (kg_fact_find(run, suite, sides[i], shape, NULL, true))
            continue;
        kg_text_add(text.s, sizeof text.s, "%s %s %s", comma, sides[i]->name,
                    shown ? kg_verdict_name(shown->verdict) : "not selected");
        comma = ",";
    }
    return text;
}

static void put_match(const struct kg_run *run, const kg_suite *suite, const char *shape, const struct kg_match *match,
                      FILE *out)
{
    double speedup = kg_match_speedup(match);
    kg_markdown_row(out, shape, time_or_dash(match->baseline_p50_us).s, time_or_dash(match->baseline_p90_us).s,
                    time_or_dash(match->ours_p50_us).s, time_or_dash(match->ours_p90_us).s,
                    isnan(speedup) ? why_not(run, suite, shape).s : kg_format_speedup(speedup).s, NULL);
}

/* ---- the criteria ---------------------------------------------------------------------------------------------- */

/* Of a kernel of the module, or of one that was compiled at run time; -1: it is neither. */
static int spill_bytes(const struct kg_run *run, const struct kg_result *result, const char *name)
{
    const kg_compiled *compiled = kg_compiled_find(result->compiled, result->n_compiled, name);
    const kg_kernel *kernel = compiled ? NULL : kg_fact_kernel(run, name);
    return compiled ? compiled->spill_store_bytes + compiled->spill_load_bytes
           : kernel ? kernel->spill_store_bytes + kernel->spill_load_bytes
                    : -1;
}

/* Spills of ours, over the kernels that it launched at any shape. Known only where all of them are, and a launch has no
 * more than it has room to name. */
static enum kg_met find_spills(const struct kg_run *run, const kg_suite *suite, int *ret_bytes)
{
    enum kg_met met = KG_NOT_MEASURED;
    int bytes = 0;
    for (size_t i = 0; i < run->n_results; i++) {
        const struct kg_result *result = &run->results[i];
        if (result->of.suite != suite || result->of.backend != suite->contest.ours || !kg_fact_usable(result))
            continue;
        if (result->launch.kernels > result->launch.n_launched)
            return KG_NOT_MEASURED;
        for (int k = 0; k < result->launch.n_launched; k++) {
            int spilled = spill_bytes(run, result, result->launch.launched[k].name);
            if (spilled < 0)
                return KG_NOT_MEASURED;
            bytes = spilled > bytes ? spilled : bytes;
            met = bytes ? KG_NOT_MET : KG_MET;
        }
    }
    *ret_bytes = bytes;
    return met;
}

static void put_criteria(const struct kg_run *run, const kg_suite *suite, const struct kg_success *success,
                         size_t n_shapes, FILE *out)
{
    static const char *const words[] = {
        [KG_MET] = "met", [KG_NOT_MET] = "not met", [KG_NOT_MEASURED] = "not measured"
    };
    int spilled = 0;
    const enum kg_met spills = find_spills(run, suite, &spilled);
    const struct kg_text spill_text =
        spills == KG_NOT_MEASURED ? (struct kg_text){ "-" } : kg_format("%d bytes in a kernel", spilled);
    const struct {
        struct kg_text name, found;
        enum kg_met met;
    } criteria[] = {
        { kg_format("p50 at least %g%% under the baseline's on two shapes", KG_SUCCESS_MUCH_PCT),
          kg_format("%zu", success->much), success->two },
        { kg_format("p50 at least %g%% under it on a third", KG_SUCCESS_SOME_PCT),
          kg_format("%zu with the two", success->some), success->third },
        { { "p90 not over the baseline's on these" }, kg_format("%zu over", success->worse_p90), success->p90 },
        { { "no spills" }, spill_text, spills },
        { { "multiprocessors busy at least 70% of the time" }, { "-" }, KG_NOT_MEASURED },
        { { "no severe bank conflicts" }, { "-" }, KG_NOT_MEASURED },
    };
    enum kg_met all[sizeof criteria / sizeof *criteria];
    bool any_met = false;
    fprintf(out, "\n%zu of %zu shapes are compared.\n\n| criterion of success | found | met |\n| --- | --- | --- |\n",
            success->compared, n_shapes);
    for (size_t i = 0; i < sizeof criteria / sizeof *criteria; i++) {
        all[i] = criteria[i].met;
        any_met = any_met || all[i] == KG_MET;
        kg_markdown_row(out, criteria[i].name.s, criteria[i].found.s, words[all[i]], NULL);
    }
    const enum kg_met success_met = kg_met_all(all, sizeof all / sizeof *all);
    fprintf(out, "\n**Success: %s%s.**\n", words[success_met],
            success_met == KG_NOT_MEASURED && any_met ? "; what was measured is met" : "");
}

/* ---- the section ----------------------------------------------------------------------------------------------- */

static bool is_side(const struct kg_case *of, const kg_suite *suite)
{
    return of->suite == suite && (of->backend == suite->contest.ours || of->backend == suite->contest.baseline);
}

/* Both sides were selected, and one of them was not skipped at some row. */
static bool is_held(const struct kg_run *run, const kg_suite *suite)
{
    bool ours = false, baseline = false, ran = false;
    for (size_t i = 0; i < run->n_results; i++) {
        const struct kg_result *result = &run->results[i];
        const struct kg_case *of = &result->of;
        if (!is_side(of, suite))
            continue;
        *(of->backend == suite->contest.ours ? &ours : &baseline) = true;
        ran |= result->outcome != KG_SKIPPED;
    }
    return ours && baseline && ran && run->timed;
}

/* The first of its shape, which is that of the row `name` or sweeps it. */
static bool begins_shape(const struct kg_run *run, size_t index, const kg_suite *suite, const char *name)
{
    const struct kg_case *of = &run->results[index].of;
    const size_t length = strlen(name);
    if (!is_side(of, suite) || strncmp(of->shape, name, length) || (of->shape[length] && of->shape[length] != '@'))
        return false;
    for (size_t i = 0; i < index; i++)
        if (is_side(&run->results[i].of, suite) && !strcmp(run->results[i].of.shape, of->shape))
            return false;
    return true;
}

/* Of a row, of each of its shapes that were selected, or the one that none is of. Returns how many. */
static size_t put_matches(const struct kg_run *run, const kg_suite *suite, const char *name,
                          struct kg_match *ret_matches, FILE *out)
{
    size_t n = 0;
    for (size_t i = 0; i < run->n_results; i++) {
        const char *shape = run->results[i].of.shape;
        if (!begins_shape(run, i, suite, name))
            continue;
        ret_matches[n] = match_at(run, suite, shape);
        put_match(run, suite, shape, &ret_matches[n++], out);
    }
    if (!n)
        ret_matches[n++] = match_of(NULL, NULL);
    return n;
}

static void put_contest(const struct kg_run *run, const kg_suite *suite, FILE *out)
{
    const kg_contest *contest = &suite->contest;
    const kg_table table = kg_suite_rows(suite, contest->ours->device);
    struct kg_match *matches = calloc(table.count + run->n_results, sizeof *matches);
    size_t n = 0;
    if (!matches) {
        fputs("\nNo memory for the contest.\n", out);
        return;
    }
    fprintf(out, "\n## Contest: %s\n\nOurs: `%s`. Baseline: `%s`, timed in the same run. ", suite->name,
            contest->ours->name, contest->baseline->name);
    fputs("Speed-up is the baseline's p50 over ours.\n\n", out);
    fputs("| shape | baseline p50 | baseline p90 | ours p50 | ours p90 | speed-up (over 1 is faster) |\n", out);
    fputs("| --- | ---: | ---: | ---: | ---: | ---: |\n", out);
    for (size_t i = 0; i < table.count; i++)
        n += put_matches(run, suite, kg_row_name((const char *)table.rows + i * table.row_size), matches + n, out);
    const struct kg_success success = kg_success_of(matches, n);
    put_criteria(run, suite, &success, n, out);
    free(matches);
}

void kg_section_contests(const struct kg_run *run, FILE *out)
{
    for (size_t i = 0; i < run->n_results; i++) {
        const kg_suite *suite = run->results[i].of.suite;
        if (suite && suite->contest.ours && kg_fact_first_of_suite(run, i) && is_held(run, suite))
            put_contest(run, suite, out);
    }
}
