/* comparison.c -- a comparison from its sums, and which gates they pass. The sums are in error_sums.h; a new
 * gate gets a line in kg_comparison_mark and a mark in comparison.h. */
#include "device/comparison.h"
#include "device/error_sums.h"

#include <math.h>

struct kg_gate_marks kg_comparison_mark(const struct kg_comparison *comparison, const kg_gates *gates)
{
    return (struct kg_gate_marks){
        .max_abs = comparison->max_abs <= gates->max_abs,
        .mean_abs = comparison->mean_abs <= gates->mean_abs,
        .bad_pct = comparison->bad_pct <= gates->bad_pct,
        .rel_l2 = comparison->rel_l2 <= gates->rel_l2,
        .finite = comparison->count > 0 && comparison->nonfinite == 0,
    };
}

static double relative_l2(double square_sum, double expected_square_sum)
{
    if (expected_square_sum > 0)
        return sqrt(square_sum / expected_square_sum);
    return square_sum > 0 ? INFINITY : 0;
}

void kg_error_sums_finish(const struct kg_error_sums *parts, size_t n_parts, struct kg_comparison *ret_comparison)
{
    struct kg_error_sums all = { 0 };
    for (size_t i = 0; i < n_parts; i++)
        kg_error_sums_merge(&all, &parts[i]);

    uint64_t finite = all.count - all.nonfinite;
    *ret_comparison = (struct kg_comparison){
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
