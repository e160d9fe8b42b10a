/* comparison.c -- a comparison from its sums, and which gates they pass. The sums are in error_sums.h; a new
 * gate gets a line in kg_comparison_mark and a mark in comparison.h. */
#include "device/comparison.h"
#include "device/error_sums.h"

#include <math.h>

kg_gates kg_gates_in_force(const kg_gates *gates, bool regime, bool scale, double largest)
{
    kg_gates in_force = *gates;
    const double factor = scale && gates->scaled > 0 ? INFINITY : fmax(1, largest);
    if (!scale)
        in_force.scaled = 0;
    if (!regime)
        return in_force;
    in_force.max_abs *= factor;
    in_force.mean_abs *= factor;
    in_force.bad_abs *= factor;
    if (isinf(factor))
        in_force.rel_l2 = INFINITY;
    return in_force;
}

/* On normal inputs rounding errors of 64 elements may be alike, a row's that shares its weights or the codes of
 * one key, and the others are independent. In a regime, where no limit in the output's unit holds, they may all have
 * one sign: codes of few values, rows of one average, outputs that are cut. Outputs that rounding alone changes by a
 * fifth have no slope worth holding. */
double kg_comparison_honest_slope(const struct kg_comparison *comparison, const kg_gates *gates)
{
    if (comparison->scale_l2 > 0.2)
        return INFINITY;
    return isinf(gates->max_abs) ? comparison->scale_l2 : 4 * sqrt(64) * comparison->slope_scale;
}

struct kg_gate_marks kg_comparison_mark(const struct kg_comparison *comparison, const kg_gates *gates)
{
    const double slope = fmax(gates->slope, kg_comparison_honest_slope(comparison, gates));
    return (struct kg_gate_marks){
        .max_abs = comparison->max_abs <= gates->max_abs,
        .mean_abs = comparison->mean_abs <= gates->mean_abs,
        .bad_pct = comparison->bad_pct <= gates->bad_pct,
        .rel_l2 = comparison->rel_l2 <= gates->rel_l2,
        .scaled = gates->scaled == 0 || comparison->max_scaled <= gates->scaled,
        .slope = gates->slope == 0 || fabs(comparison->slope - 1) <= slope,
        .finite = comparison->count > 0 && comparison->nonfinite == 0,
        .repeats = true,
    };
}

static double relative(double sum, double expected_sum)
{
    if (expected_sum > 0)
        return sum / expected_sum;
    return sum > 0 ? INFINITY : 0;
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
        .rel_l2 = relative(sqrt(all.square_sum), sqrt(all.expected_square_sum)),
        .max_scaled = all.max_scaled,
        .scale_l2 = relative(sqrt(all.scale_square_sum), sqrt(all.expected_square_sum)),
        .slope_scale = relative(sqrt(all.scale_product_square_sum), all.expected_square_sum),
        .slope = all.expected_square_sum > 0 ? all.product_sum / all.expected_square_sum : 1,
        .largest = all.largest,
        .expected_rms = finite ? sqrt(all.expected_square_sum / (double)finite) : 0,
        .bias = finite ? all.signed_sum / (double)finite : 0,
        .worst_index = all.worst_index,
        .worst_got = all.worst_got,
        .worst_expected = all.worst_expected,
    };
}
