/* figures.c -- figures of a comparison from its sums, and which gates they pass. The sums are in tally.h; a new gate
 * gets a line in kg_figures_mark and a mark in figures.h. */
#include "device/comparison.h"
#include "device/error_sums.h"

#include <math.h>

struct kg_gate_marks kg_figures_mark(const struct kg_figures *figures, const kg_gates *gates)
{
    return (struct kg_gate_marks){
        .max_abs = figures->max_abs <= gates->max_abs,
        .mean_abs = figures->mean_abs <= gates->mean_abs,
        .bad_pct = figures->bad_pct <= gates->bad_pct,
        .rel_l2 = figures->rel_l2 <= gates->rel_l2,
        .finite = figures->count > 0 && figures->nonfinite == 0,
    };
}

static double relative_l2(double square_sum, double expected_square_sum)
{
    if (expected_square_sum > 0)
        return sqrt(square_sum / expected_square_sum);
    return square_sum > 0 ? INFINITY : 0;
}

void kg_tally_finish(const struct kg_tally *parts, size_t n_parts, struct kg_figures *ret_figures)
{
    struct kg_tally all = { 0 };
    for (size_t i = 0; i < n_parts; i++)
        kg_tally_merge(&all, &parts[i]);

    uint64_t finite = all.count - all.nonfinite;
    *ret_figures = (struct kg_figures){
        .count = all.count,
        .nonfinite = all.nonfinite,
        .unwritten = all.unwritten,
        .bad = all.bad,
        .max_abs = all.max_abs,
        .mean_abs = finite ? all.abs_sum / (double)finite : 0,
        .bad_pct = all.count ? 100.0 * (double)all.bad / (double)all.count : 0,
        .max_rel = all.max_rel,
        .rel_l2 = relative_l2(all.square_sum, all.expected_square_sum),
        .bias = finite ? all.signed_sum / (double)finite : 0,
        .worst_index = all.worst_index,
        .worst_got = all.worst_got,
        .worst_expected = all.worst_expected,
    };
}
