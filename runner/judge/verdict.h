/* verdict.h -- a pure function of a result and its golden; and what a set of verdicts means for the exit status. */
#ifndef KG_VERDICT_H
#define KG_VERDICT_H

#include "judge/decision.h"
#include "judge/floors.h"
#include "judge/result.h"

/* What a result is held against, besides its case's policy. */
struct kg_expectation {
    const struct kg_golden *golden; /* NULL: none */
    const struct kg_floor *floor;   /* noise of this case as kgate selfcheck measured it here; NULL: not measured */
    const char *passed_over;        /* has a golden, stands before what `auto` became, and does not run; NULL: none */
    const char *device_uuid;        /* of this run: another card judges by ratio only */
    const char *driver;             /* of this run */
    const char *stopped;            /* why the run ended before this case was decided; NULL: it did not */
    bool failed_fast;               /* that was --fail-fast, so the run is red already: SKIP, not UNSURE */
    bool blesses;                   /* the golden is about to be renewed: what it says of code is no limit */
};

/* Sets verdict, reason and judgement of the result; the only judge there is. Returns true when more blocks could still
 * decide it (the verdict is then what it would be if the rounds ran out: UNSURE, or XPASS where it must fail). */
bool kg_verdict_decide(struct kg_result *result, const struct kg_expectation *expectation);

/* Of these the exit status is 1, whatever else is found. */
static inline bool kg_verdict_is_wrong(enum kg_verdict verdict)
{
    return verdict == KG_FAIL || verdict == KG_ERROR || verdict == KG_XPASS;
}

static inline bool kg_verdicts_are_wrong(const size_t counts[KG_VERDICTS])
{
    return counts[KG_FAIL] || counts[KG_ERROR] || counts[KG_XPASS];
}

/* 0, 1, 3, 4 or 77 by README.md's table (2 for nothing at all; its other causes are decided elsewhere).
 * allow_undecided turns 4 into 0. `counts` by verdict. */
int kg_verdict_status(const size_t counts[KG_VERDICTS], bool allow_undecided);

#endif
