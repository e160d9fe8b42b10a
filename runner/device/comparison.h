/* comparison.h -- what a comparison of an output with its reference found; a plain value. */
#ifndef KG_COMPARISON_H
#define KG_COMPARISON_H

#include "kgate.h"

/* e = |got - expected| over the finite elements; a non-finite got or expected counts in `nonfinite`, `bad` and, with
 * the poison bits, `unwritten`, and in no mean. Means over no elements are 0; the gate `finite` then fails. */
struct kg_comparison {
    uint64_t count;
    uint64_t nonfinite; /* elements where got or expected is NaN or infinite */
    uint64_t unwritten; /* elements that still hold the poison bits (all ones) */
    uint64_t bad;       /* !(e <= bad_abs + bad_rel * |expected|), the non-finite ones included */
    double max_abs, mean_abs, bad_pct;
    double max_rel;       /* max of e / max(|expected|, 1e-6) */
    double rel_l2;        /* sqrt(sum e^2 / sum expected^2); 0 where both are 0, INFINITY where only the latter is */
    double bias;          /* mean of got - expected */
    double max_scaled;    /* max of e / error scale; 0 / 0 is 0; 0 where there is no scale */
    double scale_l2;      /* sqrt(sum scale^2 / sum expected^2), as rel_l2; 0 where there is no scale */
    double slope_scale;   /* sqrt(sum (scale * expected)^2) / sum expected^2: slope's, of independent errors */
    double slope;         /* sum got * expected / sum expected^2; 1 where the latter is 0 */
    double largest;       /* max of |expected| */
    double expected_rms;  /* sqrt(sum expected^2 / count) */
    uint64_t worst_index; /* of the first non-finite element, else of the largest e (the lowest index among equals) */
    double worst_got, worst_expected;
};

/* Which gates hold. Written so that NaN fails. `finite` needs at least one element. `repeats` is of --repeat: no
 * further launch was wrong, or none was asked for. */
struct kg_gate_marks {
    bool max_abs, mean_abs, bad_pct, rel_l2, scaled, slope, finite, repeats;
};

/* The limits that hold of a suite's: all on normal inputs; in a regime those in the output's unit give way to the error
 * scale, where there is one, else they are multiplied by `largest`, of |expected|, if that is over 1. */
kg_gates kg_gates_in_force(const kg_gates *gates, bool regime, bool scale, double largest);

/* How far from 1 rounding alone may bring the slope: four standard deviations where 64 elements' errors are alike,
 * in a regime all of the scale; any distance where outputs are nearly lost in it. */
double kg_comparison_honest_slope(const struct kg_comparison *comparison, const kg_gates *gates);

/* `gates` are those in force. The slope's limit is widened to the above. */
struct kg_gate_marks kg_comparison_mark(const struct kg_comparison *comparison, const kg_gates *gates);

static inline bool kg_gate_marks_all(struct kg_gate_marks m)
{
    return m.max_abs && m.mean_abs && m.bad_pct && m.rel_l2 && m.scaled && m.slope && m.finite && m.repeats;
}

#endif
