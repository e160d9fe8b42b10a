/* verdict.h -- a pure function of a result and its golden; and what a set of verdicts means for the exit status. */
#ifndef KG_VERDICT_H
#define KG_VERDICT_H

#include "judge/decision.h"
#include "judge/golden.h"
#include "judge/result.h"

struct kg_policy {
    double threshold_pct;
    double creep_pct;        /* allowed over `best`, with the interval's lower bound. CUDA only */
    const char *device_uuid; /* of this run: another card judges by ratio only */
    struct kg_contract contract;
    int max_blocks;     /* of a set of rounds */
    bool timed;         /* false: --no-time, or a suite that is correctness only */
    bool against;       /* the baseline's blocks judge; goldens judge no time */
    bool is_cpu_anchor; /* judges the others by ratio; its own absolute time travels badly, so no golden judges it */
    const char *xfail;  /* reason of the row that says it must fail; NULL: none */
    /* By enum kg_quantity: noise of this case as kgate selfcheck measured it on this machine. Blocks 0, floor 0: not
     * measured. */
    struct kg_prior machine_prior[KG_QUANTITIES];
    double machine_floor_pct[KG_QUANTITIES];
};

/* Sets verdict, reason and judgement of the result. `golden` NULL: none. Returns true when more blocks could still
 * decide it (the verdict is then what it would be if the rounds ran out: UNSURE, or XPASS where it must fail). */
bool kg_verdict_decide(struct kg_result *result, const struct kg_golden *golden, const struct kg_policy *policy);

/* 0, 1, 3, 4 or 77 by README.md's table (2 for nothing at all; its other causes are decided elsewhere).
 * allow_undecided turns 4 into 0. `counts` by verdict. */
int kg_verdict_status(const size_t counts[KG_VERDICTS], bool allow_undecided);

#endif
