/* strength.c -- judges wrong answers by a suite's gates, and finds the limit that would see one that passes. */
#include "judge/strength.h"

#include <math.h>

#include "base/format.h"
#include "base/text.h"

/* Honest errors reach so many times their scale, over all the elements of an output. */
#define HONEST_SCALES 8

struct judged_limit {
    double figure, in_force;
};

const char *const kg_limit_names[KG_LIMITS] = { "max_abs", "mean_abs", "bad_pct", "rel_l2", "scaled", "slope" };

/* What differs from the reference no more than an honest answer may is not wrong: rows exchanged that are equal, a
 * hundredth more where codes have 3 bits and elements are few. */
static bool applies(const struct kg_strength *strength, int wrong, const struct kg_comparison *answer,
                    const kg_gates *gates)
{
    return (strength->normal && wrong == KG_WRONG_ZEROS) || answer->nonfinite || answer->max_scaled > HONEST_SCALES ||
           fabs(answer->slope - 1) > kg_comparison_honest_slope(answer, gates);
}

/* Two digits, and under the value; 1 is under what has no bound. */
static double just_under(double value)
{
    if (!isfinite(value))
        return 1;
    if (!(value > 0))
        return 0;
    const double digit = pow(10, ceil(log10(value)) - 2);
    return (ceil(value / digit) - 1) * digit;
}

/* Limits over the error scale are ones that an honest kernel can keep. Without it the nearest will do; where none is
 * near, or held, it is rel_l2 that is missing: it holds for outputs of any size. */
static int find_limit(const struct kg_comparison *c, const kg_gates *gates, const struct judged_limit limits[KG_LIMITS])
{
    double nearest = 0;
    int found = KG_LIMIT_REL_L2;
    if (c->max_scaled > HONEST_SCALES)
        return KG_LIMIT_SCALED;
    if (c->max_scaled > 0 && fabs(c->slope - 1) > kg_comparison_honest_slope(c, gates))
        return KG_LIMIT_SLOPE;
    for (int i = 0; i < KG_LIMITS; i++) {
        const double near = limits[i].in_force > 0 ? limits[i].figure / limits[i].in_force : 0;
        if (near > nearest) {
            nearest = near;
            found = i;
        }
    }
    return found;
}

static struct kg_remedy find_remedy(const struct kg_comparison *c, const kg_gates *gates)
{
    const struct judged_limit limits[KG_LIMITS] = {
        [KG_LIMIT_MAX_ABS] = { c->max_abs, gates->max_abs },  [KG_LIMIT_MEAN_ABS] = { c->mean_abs, gates->mean_abs },
        [KG_LIMIT_BAD_PCT] = { c->bad_pct, gates->bad_pct },  [KG_LIMIT_REL_L2] = { c->rel_l2, gates->rel_l2 },
        [KG_LIMIT_SCALED] = { c->max_scaled, gates->scaled }, [KG_LIMIT_SLOPE] = { fabs(c->slope - 1), gates->slope },
    };
    const int found = find_limit(c, gates, limits);
    return (struct kg_remedy){ found, just_under(limits[found].figure), limits[found].in_force };
}

void kg_strength_add(struct kg_strength *strength, const struct kg_comparison answers[KG_WRONGS],
                     const struct kg_comparison judged[KG_WRONGS], const kg_gates *gates)
{
    strength->judged = true;
    if (answers[KG_WRONG_ZEROS].nonfinite) /* the reference is: no answer can be right */
        return;
    for (int wrong = 0; wrong < KG_WRONGS; wrong++) {
        const kg_wrong_set bit = 1u << wrong;
        if (!applies(strength, wrong, &answers[wrong], gates))
            continue;
        strength->applies |= bit;
        if (!kg_gate_marks_all(kg_comparison_mark(&judged[wrong], gates)))
            continue;
        strength->accepted |= bit;
        strength->remedies[wrong] = find_remedy(&judged[wrong], gates);
    }
}

void kg_remedy_say(const struct kg_remedy *remedy, char *text, size_t size)
{
    const bool held = remedy->in_force > 0 && isfinite(remedy->in_force);
    if (!(remedy->wanted > 0)) {
        kg_text_add(text, size, "the reference itself is");
        return;
    }
    kg_text_add(text, size, "%s %s would see it; suite has %s", kg_limit_names[remedy->limit],
                kg_format_number(remedy->wanted).s, held ? kg_format_number(remedy->in_force).s : "none");
}

void kg_strength_say(const struct kg_strength *strength, kg_wrong_set which, char *text, size_t size)
{
    const char *separator = "";
    for (int wrong = 0; wrong < KG_WRONGS; wrong++) {
        if (!(which >> wrong & 1))
            continue;
        kg_text_add(text, size, "%s%s (", separator, kg_wrong_names[wrong]);
        kg_remedy_say(&strength->remedies[wrong], text, size);
        kg_text_add(text, size, ")");
        separator = ", ";
    }
}
