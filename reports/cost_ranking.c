/* cost_ranking.c -- costs over a suite's clean backend, and their table in summary.md. */
#include "reports/sections.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reports/facts.h"

/* By name, since the tables of two builds may both be in a run. */
static bool same_backend(const struct kg_result *a, const struct kg_result *b)
{
    return a->of.suite && b->of.suite && kg_fact_same_suite(a, b) && !strcmp(kg_fact_backend(a), kg_fact_backend(b));
}

/* The usable result of the clean backend at the shape and seed of another; NULL: none. */
static const struct kg_result *find_clean(const struct kg_run *run, const kg_backend *clean,
                                          const struct kg_result *other)
{
    for (size_t i = 0; i < run->n_results; i++) {
        const struct kg_result *result = &run->results[i];
        if (kg_fact_same_suite(result, other) && !strcmp(kg_fact_backend(result), clean->name) &&
            result->of.seed == other->of.seed && kg_fact_same_shape(result, other) && kg_fact_usable(result))
            return result;
    }
    return NULL;
}

/* Is it the first result of its backend, at its shape or anywhere? */
static bool is_first(const struct kg_run *run, const struct kg_result *result, bool at_shape)
{
    for (const struct kg_result *before = run->results; before < result; before++)
        if (same_backend(before, result) && (!at_shape || kg_fact_same_shape(before, result)))
            return false;
    return true;
}

/* At the first seed of the shape at which both can be compared. NAN: none. */
static double ratio_at(const struct kg_run *run, const kg_backend *clean, const struct kg_result *first)
{
    for (const struct kg_result *result = first; result < run->results + run->n_results; result++) {
        if (!same_backend(result, first) || !kg_fact_same_shape(result, first) || !kg_fact_usable(result))
            continue;
        const struct kg_result *beside = find_clean(run, clean, result);
        if (beside)
            return result->time_us.p50 / beside->time_us.p50;
    }
    return NAN;
}

static void add_shape(struct kg_cost *cost, const struct kg_result *at, double ratio)
{
    cost->shapes++;
    if (isnan(ratio))
        return;
    if (!cost->compared || ratio < cost->least) {
        cost->least = ratio;
        cost->least_at = at;
    }
    if (!cost->compared || ratio > cost->most) {
        cost->most = ratio;
        cost->most_at = at;
    }
    cost->compared++;
}

static struct kg_cost cost_of(const struct kg_run *run, const kg_backend *clean, const struct kg_result *first)
{
    struct kg_cost cost = { .backend = kg_fact_backend(first), .ratio = NAN, .least = NAN, .most = NAN };
    double logs = 0;
    for (const struct kg_result *result = first; result < run->results + run->n_results; result++) {
        if (!same_backend(result, first) || !is_first(run, result, true))
            continue;
        double ratio = ratio_at(run, clean, result);
        add_shape(&cost, result, ratio);
        logs += isnan(ratio) ? 0 : log(ratio);
    }
    if (cost.compared)
        cost.ratio = exp(logs / (double)cost.compared);
    return cost;
}

static bool costs_more(const struct kg_cost *a, const struct kg_cost *b)
{
    return a->compared && (!b->compared || a->ratio > b->ratio);
}

/* Is it of a suite and of the kind of device that is ranked, and not the clean one? */
static bool is_ranked(const struct kg_result *result, const struct kg_result *of)
{
    const kg_backend *clean = of->of.suite->clean;
    return kg_fact_same_suite(result, of) && result->of.kind == clean->device &&
           strcmp(kg_fact_backend(result), clean->name);
}

size_t kg_cost_rank(const struct kg_run *run, const struct kg_result *of, struct kg_cost *ret_costs)
{
    const kg_backend *clean = of->of.suite->clean;
    size_t count = 0;
    for (const struct kg_result *result = run->results; result < run->results + run->n_results; result++) {
        if (!is_ranked(result, of) || !result->of.suite || !is_first(run, result, false))
            continue;
        struct kg_cost cost = cost_of(run, clean, result);
        size_t at = count++;
        for (; at > 0 && costs_more(&cost, &ret_costs[at - 1]); at--)
            ret_costs[at] = ret_costs[at - 1];
        ret_costs[at] = cost;
    }
    for (size_t i = 0; i < count && ret_costs[i].compared; i++)
        ret_costs[i].rank = i && ret_costs[i].ratio == ret_costs[i - 1].ratio ? ret_costs[i - 1].rank : i + 1;
    return count;
}

/* ---- the section ----------------------------------------------------------------------------------------------- */

/* "4.00x at mission" */
static struct kg_text where_of(double ratio, const struct kg_result *at)
{
    if (!at)
        return (struct kg_text){ "-" };
    return kg_format("%s at %s", kg_format_speedup(ratio).s, kg_fact_shape(at).s);
}

static void put_cost(const struct kg_cost *cost, FILE *out)
{
    kg_markdown_row(out, cost->rank ? kg_format("%zu", cost->rank).s : "-", cost->backend,
                    cost->rank ? kg_format_speedup(cost->ratio).s : "-", where_of(cost->least, cost->least_at).s,
                    where_of(cost->most, cost->most_at).s, kg_format("%zu of %zu", cost->compared, cost->shapes).s,
                    NULL);
}

/* Is there one to rank, or would there be, had the clean backend been timed? */
static bool any_usable(const struct kg_run *run, const struct kg_result *of)
{
    for (size_t i = 0; i < run->n_results; i++)
        if (is_ranked(&run->results[i], of) && kg_fact_usable(&run->results[i]))
            return true;
    return false;
}

static void put_ranking(const struct kg_run *run, const struct kg_result *of, FILE *out)
{
    const char *clean = of->of.suite->clean->name;
    struct kg_cost *costs = calloc(run->n_results + 1, sizeof *costs);
    size_t count = costs ? kg_cost_rank(run, of, costs) : 0;
    fprintf(out, "\n## Cost over %s: %s\n\n", clean, kg_fact_suite(of).s);
    if (!costs) {
        fputs("No memory to rank costs.\n", out);
    } else if (!costs[0].rank) {
        fprintf(out, "Nothing is ranked: `%s` was not timed, or not right, where another was.\n", clean);
    } else {
        fprintf(out, "How many times the p50 of `%s` each takes: the geometric mean over the shapes ", clean);
        fputs("where both were timed and right.\n\n| rank | backend | cost | least | most | shapes |\n", out);
        fputs("| ---: | --- | ---: | --- | --- | ---: |\n", out);
        for (size_t i = 0; i < count; i++)
            put_cost(&costs[i], out);
    }
    free(costs);
}

void kg_section_costs(const struct kg_run *run, FILE *out)
{
    for (size_t i = 0; i < run->n_results; i++) {
        const struct kg_result *result = &run->results[i];
        if (result->of.suite && result->of.suite->clean && kg_fact_first_of_suite(run, i) && any_usable(run, result))
            put_ranking(run, result, out);
    }
}
