/* strength.h -- which wrong answers a suite's gates let pass on one set of inputs; a plain value, and the pure
 * functions that make it of comparisons. */
#ifndef KG_STRENGTH_H
#define KG_STRENGTH_H

#include "device/comparison.h"
#include "plan/wrong.h"

/* Gates that are limits, in the order of their names. */
enum kg_limit {
    KG_LIMIT_MAX_ABS,
    KG_LIMIT_MEAN_ABS,
    KG_LIMIT_BAD_PCT,
    KG_LIMIT_REL_L2,
    KG_LIMIT_SCALED,
    KG_LIMIT_SLOPE,
    KG_LIMITS
};
extern const char *const kg_limit_names[KG_LIMITS]; /* "max_abs", … */

/* The least change of one limit by which a wrong answer that passes would be seen. */
struct kg_remedy {
    int limit;       /* enum kg_limit */
    double wanted;   /* a limit that sees it, of two digits */
    double in_force; /* the suite's; 0 or INFINITY: it is not held */
};

struct kg_strength {
    bool judged;
    bool normal;                          /* the inputs are: zeros are no honest answer then, whatever the scale says */
    kg_wrong_set applies;                 /* the others are what an honest answer could be */
    kg_wrong_set accepted;                /* of these */
    struct kg_remedy remedies[KG_WRONGS]; /* of the accepted ones */
};

/* Adds what one output shows. `answers`: each wrong answer of it against the reference, an error scale or else the
 * rounding of the output's dtype being their scale. `judged`: the same as the gates see them, with all outputs. */
void kg_strength_add(struct kg_strength *strength, const struct kg_comparison answers[KG_WRONGS],
                     const struct kg_comparison judged[KG_WRONGS], const kg_gates *gates);

/* Appends "zeros (rel_l2 0.99 would see it; suite has 10), …" of the wrong answers in `which`. */
void kg_strength_say(const struct kg_strength *strength, kg_wrong_set which, char *text, size_t size);
void kg_remedy_say(const struct kg_remedy *remedy, char *text, size_t size); /* one of them, without its name */

#endif
