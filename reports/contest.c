/* contest.c -- contests, for summary.md and comparison.csv. The criteria are success.c's, but for those that are not of
 * times: a new one is a line in put_criteria. Rows of the table alone are compared, since swept ones (--set) are of the
 * user's choice. */
#include "reports/contest.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reports/facts.h"
#include "reports/markdown.h"
#include "plan/module.h"
#include "reports/run_facts.h"

static bool is_usable(const struct kg_result *result)
{
    return result && kg_fact_timed(result) && result->outcome == KG_RAN && result->compared &&
           kg_gate_marks_all(result->marks) && !result->impossible;
}

/* The first result of a side of the contest at a row; of the seed, where one is given. `usable`: only what can be
 * compared. NULL: none. */
static const struct kg_result *find(const struct kg_run *run, const kg_suite *suite, const kg_backend *side,
                                    const char *shape, const uint64_t *seed, bool usable)
{
    for (size_t i = 0; i < run->n_results; i++) {
        const struct kg_case *of = &run->results[i].of;
        if (of->suite == suite && of->backend == side && !strcmp(of->shape, shape) && (!seed || of->seed == *seed) &&
            (!usable || is_usable(&run->results[i])))
            return &run->results[i];
    }
    return NULL;
}

const struct kg_result *kg_contest_rival(const struct kg_run *run, const struct kg_result *result)
{
    const struct kg_case *of = &result->of;
    if (!of->suite || !of->suite->contest.ours || of->backend != of->suite->contest.ours || !is_usable(result))
        return NULL;
    return find(run, of->suite, of->suite->contest.baseline, of->shape, &of->seed, true);
}

struct kg_match kg_contest_match(const struct kg_result *ours, const struct kg_result *baseline)
{
    bool ours_known = is_usable(ours), baseline_known = is_usable(baseline);
    return (struct kg_match){
        .baseline_p50_us = baseline_known ? baseline->time_us.p50 : NAN,
        .baseline_p90_us = baseline_known ? baseline->time_us.p90 : NAN,
        .ours_p50_us = ours_known ? ours->time_us.p50 : NAN,
        .ours_p90_us = ours_known ? ours->time_us.p90 : NAN,
    };
}

/* ---- the table ------------------------------------------------------------------------------------------------- */

/* At the first seed of the shape at which both can be compared; where there is none, the side that can be shown. */
static struct kg_match match_at(const struct kg_run *run, const kg_suite *suite, const char *shape)
{
    const kg_contest *contest = &suite->contest;
    for (size_t i = 0; i < run->n_results; i++) {
        const struct kg_case *of = &run->results[i].of;
        const struct kg_result *rival =
            of->suite == suite && !strcmp(of->shape, shape) ? kg_contest_rival(run, &run->results[i]) : NULL;
        if (rival)
            return kg_contest_match(&run->results[i], rival);
    }
    const struct kg_result *ours = find(run, suite, contest->ours, shape, NULL, true);
    return kg_contest_match(ours, ours ? NULL : find(run, suite, contest->baseline, shape, NULL, true));
}

static struct kg_text time_or_dash(double time_us)
{
    return isnan(time_us) ? (struct kg_text){ "-" } : kg_format_time(time_us);
}

/* "not compared: flash FAIL, cudnn SKIP" */
static void put_why_not(const struct kg_run *run, const kg_suite *suite, const char *shape, FILE *out)
{
    const kg_backend *const sides[] = { suite->contest.ours, suite->contest.baseline };
    const char *comma = ":";
    fputs("not compared", out);
    for (size_t i = 0; i < 2; i++) {
        const struct kg_result *shown = find(run, suite, sides[i], shape, NULL, false);
        if (find(run, suite, sides[i], shape, NULL, true))
            continue;
        fprintf(out, "%s ", comma);
        kg_markdown_cell(sides[i]->name, out);
        fprintf(out, " %s", shown ? kg_verdict_name(shown->verdict) : "not selected");
        comma = ",";
    }
}

static void put_match(const struct kg_run *run, const kg_suite *suite, const char *shape, const struct kg_match *match,
                      FILE *out)
{
    double speedup = kg_match_speedup(match);
    fputs("| ", out);
    kg_markdown_cell(shape, out);
    fprintf(out, " | %s | %s", time_or_dash(match->baseline_p50_us).s, time_or_dash(match->baseline_p90_us).s);
    fprintf(out, " | %s | %s | ", time_or_dash(match->ours_p50_us).s, time_or_dash(match->ours_p90_us).s);
    if (isnan(speedup))
        put_why_not(run, suite, shape, out);
    else
        fputs(kg_format_speedup(speedup).s, out);
    fputs(" |\n", out);
}

/* ---- the criteria ---------------------------------------------------------------------------------------------- */

/* Spills of ours, over the kernels that it launched at any shape. Known only where all of them are the module's, and a
 * launch has no more than it has room to name. */
static enum kg_met find_spills(const struct kg_run *run, const kg_suite *suite, int *ret_bytes)
{
    enum kg_met met = KG_NOT_MEASURED;
    int bytes = 0;
    for (size_t i = 0; i < run->n_results; i++) {
        const struct kg_result *result = &run->results[i];
        if (result->of.suite != suite || result->of.backend != suite->contest.ours || !is_usable(result))
            continue;
        if (result->launch.kernels > result->launch.n_names)
            return KG_NOT_MEASURED;
        for (int k = 0; k < result->launch.n_names; k++) {
            const kg_kernel *kernel = kg_fact_kernel(run, result->launch.names[k]);
            if (!kernel)
                return KG_NOT_MEASURED;
            int spilled = kernel->spill_store_bytes + kernel->spill_load_bytes;
            bytes = spilled > bytes ? spilled : bytes;
            met = bytes ? KG_NOT_MET : KG_MET;
        }
    }
    *ret_bytes = bytes;
    return met;
}

static const char *met_word(enum kg_met met)
{
    return met == KG_MET ? "met" : met == KG_NOT_MET ? "not met" : "not measured";
}

static void put_criteria(const struct kg_run *run, const kg_suite *suite, const struct kg_success *success,
                         size_t n_shapes, FILE *out)
{
    int spilled = 0;
    enum kg_met spills = find_spills(run, suite, &spilled);
    enum kg_met all = kg_met_all((const enum kg_met[]){ success->two, success->third, success->p90, spills }, 4);
    fprintf(out, "\n%zu of %zu shapes are compared.\n\n| criterion of success | found | met |\n| --- | --- | --- |\n",
            success->compared, n_shapes);
    fprintf(out, "| p50 at least %g%% under the baseline's on two shapes | %zu | %s |\n", KG_SUCCESS_MUCH_PCT,
            success->much, met_word(success->two));
    fprintf(out, "| p50 at least %g%% under it on a third | %zu with the two | %s |\n", KG_SUCCESS_SOME_PCT,
            success->some, met_word(success->third));
    fprintf(out, "| p90 not over the baseline's on these | %zu over | %s |\n", success->worse_p90,
            met_word(success->p90));
    if (spills == KG_NOT_MEASURED)
        fputs("| no spills | - | not measured |\n", out);
    else
        fprintf(out, "| no spills | %d bytes in a kernel | %s |\n", spilled, met_word(spills));
    fputs("| multiprocessors busy at least 70% of the time | - | not measured |\n", out);
    fputs("| no severe bank conflicts | - | not measured |\n", out);
    fprintf(out, "\n**Success: %s%s.**\n", met_word(all), all == KG_MET ? ", as far as it was measured" : "");
}

/* ---- the section ----------------------------------------------------------------------------------------------- */

/* Both sides were selected, and one of them was not skipped at some row of the table. */
static bool is_held(const struct kg_run *run, const kg_suite *suite)
{
    bool ours = false, baseline = false, ran = false;
    for (size_t i = 0; i < run->n_results; i++) {
        const struct kg_result *result = &run->results[i];
        const struct kg_case *of = &result->of;
        if (of->suite != suite || (of->backend != suite->contest.ours && of->backend != suite->contest.baseline))
            continue;
        *(of->backend == suite->contest.ours ? &ours : &baseline) = true;
        ran |= result->outcome != KG_SKIPPED && !strchr(of->shape, '@');
    }
    return ours && baseline && ran && run->timed;
}

static void put_contest(const struct kg_run *run, const kg_suite *suite, FILE *out)
{
    const kg_contest *contest = &suite->contest;
    const kg_table table = kg_suite_rows(suite, contest->ours->device);
    struct kg_match *matches = calloc(table.count + 1, sizeof *matches);
    if (!matches) {
        fputs("\nNo memory for the contest.\n", out);
        return;
    }
    fprintf(out, "\n## Contest: %s\n\nOurs: `%s`. Baseline: `%s`, timed in the same run. ", suite->name,
            contest->ours->name, contest->baseline->name);
    fputs("Speed-up is the baseline's p50 over ours.\n\n", out);
    fputs("| shape | baseline p50 | baseline p90 | ours p50 | ours p90 | speed-up (over 1 is faster) |\n", out);
    fputs("| --- | ---: | ---: | ---: | ---: | ---: |\n", out);
    for (size_t i = 0; i < table.count; i++) {
        const char *shape = kg_row_name((const char *)table.rows + i * table.row_size);
        matches[i] = match_at(run, suite, shape);
        if (find(run, suite, contest->ours, shape, NULL, false) ||
            find(run, suite, contest->baseline, shape, NULL, false))
            put_match(run, suite, shape, &matches[i], out);
    }
    const struct kg_success success = kg_success_of(matches, table.count);
    put_criteria(run, suite, &success, table.count, out);
    free(matches);
}

void kg_markdown_contests(const struct kg_run *run, FILE *out)
{
    for (size_t i = 0; i < run->n_results; i++) {
        const kg_suite *suite = run->results[i].of.suite;
        if (suite && suite->contest.ours && kg_fact_first_of_suite(run, i) && is_held(run, suite))
            put_contest(run, suite, out);
    }
}
