/* reason.c -- the words of reasons that are more than one sentence. The rest stand where the verdict is found. */
#include "judge/reason.h"

#include <math.h>

#include "base/format.h"

void kg_reason_add_time(struct kg_result *result)
{
    const struct kg_judgement *judgement = &result->judgement;
    int digits = judgement->threshold_pct < 1 || judgement->margin_pct < 0.05 ? 2 : 1;
    kg_reason_add(result, "p50 %s, %s %s (%s%+.*f%% ±%.*f, threshold %g%%%s)", kg_format_time(result->time_us.p50).s,
                  judgement->quantity == KG_QUANTITY_AGAINST ? "baseline" : "golden",
                  kg_format_time(judgement->golden_us).s,
                  judgement->quantity == KG_QUANTITY_RATIO ? "ratio to the anchor " : "", digits, judgement->change_pct,
                  digits, judgement->margin_pct, judgement->threshold_pct,
                  result->of.policy.threshold_from == KG_THRESHOLD_OF_GOLDEN ? " of the golden" : "");
}

static void add_figure(struct kg_result *result, const char *name, double value, double limit)
{
    kg_text_join(result->reason, sizeof result->reason, ", ", "%s %.4g over %.4g", name, value, limit);
}

void kg_reason_add_gates(struct kg_result *result)
{
    static const kg_gates none = { 0 };
    const struct kg_comparison *comparison = &result->comparison;
    const kg_gates held = result->of.suite ? kg_case_gates(&result->of, comparison->largest) : none, *gates = &held;
    if (!result->marks.finite)
        kg_reason_add(result, "%llu of %llu elements not finite", (unsigned long long)comparison->nonfinite,
                      (unsigned long long)comparison->count);
    if (comparison->unwritten)
        kg_reason_add(result, "%s%llu elements never written", result->reason[0] ? ", " : "",
                      (unsigned long long)comparison->unwritten);
    if (!result->marks.max_abs)
        add_figure(result, "max_abs", comparison->max_abs, gates->max_abs);
    if (!result->marks.mean_abs)
        add_figure(result, "mean_abs", comparison->mean_abs, gates->mean_abs);
    if (!result->marks.bad_pct)
        add_figure(result, "bad_pct", comparison->bad_pct, gates->bad_pct);
    if (!result->marks.rel_l2)
        add_figure(result, "rel_l2", comparison->rel_l2, gates->rel_l2);
    if (!result->marks.scaled)
        add_figure(result, "error over its scale", comparison->max_scaled, gates->scaled);
    if (!result->marks.slope)
        add_figure(result, "|slope - 1|", fabs(comparison->slope - 1), gates->slope);
    if (!result->marks.repeats)
        kg_reason_add(result, "%s", result->repeats.wrong);
}
