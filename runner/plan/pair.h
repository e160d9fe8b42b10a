/* pair.h -- the plans of two builds, case by case: which both have, and what became of the others. Pure. */
#ifndef KG_PAIR_H
#define KG_PAIR_H

#include "plan/plan.h"

enum kg_pair_fate {
    KG_PAIR_BOTH,
    KG_PAIR_NEW,     /* only the candidate has it */
    KG_PAIR_REMOVED, /* only the baseline has it */
    KG_PAIR_CHANGED, /* both have the id, but it is another problem now */
};

struct kg_pair {
    enum kg_pair_fate fate;
    struct kg_case candidate; /* its case of this id; REMOVED: the baseline's */
    char change[160];         /* CHANGED: what did, "n=512 -> n=256" */
};

/* Beside a plan of the union: an item a case. */
struct kg_pairs {
    struct kg_plan candidate; /* owns the candidate's problems and names */
    struct kg_pair *items;
    size_t count;
};

/* The plan has the baseline's cases in its own order, then the candidate's new ones with shape ordinals after the
 * baseline's. A case is changed when a field of the baseline's op is gone or has another value, or when kind of device,
 * op or tensors differ. A pattern that matches a case of either build is no error; shards are cut from the union. */
int kg_pairs_make(const struct kg_module *baseline, const struct kg_module *candidate,
                  const struct kg_selection *selection, struct kg_plan *ret_plan, struct kg_pairs *ret_pairs,
                  kg_error *ret_error);
void kg_pairs_done(struct kg_pairs *pairs);

#endif
