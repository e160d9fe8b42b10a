/* gate.h -- one gate over recorded blocks: what a bless and a run would have said, had they measured these. Blessing
 * and judging are the runner's own (golden.h, verdict.h); only the blocks come from a file. Pure. */
#ifndef KG_GATE_H
#define KG_GATE_H

#include "selfcheck/rates.h"
#include "selfcheck/series.h"
#include "judge/verdict.h"

#define KG_GATE_GOLDEN 8 /* blocks of a golden, as a bless measures them */

/* Recorded blocks in the order that they come to the gate. */
struct kg_gate_blocks {
    const struct kg_series *series; /* what they are of; blocks may be of other starts and cards of the case too */
    const struct kg_recorded_block *of[KG_MAX_BLOCKS];
    int count;
    bool planted; /* the planted arm of each, in place of the case's */
};

struct kg_gate_rule {
    bool against;   /* the module beside its copy; otherwise by a golden */
    bool same_card; /* false: by ratio to the anchor, as a golden of another card is */
    double threshold_pct;
    int max_blocks;               /* of a set */
    const struct kg_prior *prior; /* machine's own, of log_against; NULL: not measured */
    double floor_pct;
};

struct kg_gate_answer {
    enum kg_verdict verdict;     /* KG_UNGATED: cannot be judged in this way */
    struct kg_decision decision; /* for kg_rate_add */
    double floor_pct;            /* that a SLOW had to clear */
    int n_blocks;                /* that it took */
    bool cut;                    /* it wanted more than there were: UNSURE */
};

/* The blocks' golden. KG_EINVAL where a bless would refuse them. */
int kg_gate_bless(const struct kg_gate_blocks *blocks, struct kg_golden *ret_golden, kg_error *ret_error);

/* As many blocks as the verdict asks for. `golden` NULL: against. */
struct kg_gate_answer kg_gate_judge(const struct kg_gate_blocks *blocks, const struct kg_golden *golden,
                                    const struct kg_gate_rule *rule);

#endif
