/* verdict.h -- a pure function of a result and its golden; and what a set of verdicts means for the exit status. */
#ifndef KG_VERDICT_H
#define KG_VERDICT_H

#include "golden.h"
#include "result.h"

struct kg_policy {
    double threshold_pct;
    double creep_pct;        /* allowed over `best`, with the interval's lower bound; 5. Same CUDA card only */
    const char *device_uuid; /* of this run: another card judges by ratio only */
    struct kg_contract contract;
    int min_blocks, max_blocks;
    bool timed;         /* false: --no-time, or a suite that is correctness only */
    bool is_cpu_anchor; /* judges the others by ratio; its own absolute time travels badly, so nothing judges it */
    const char *xfail;  /* reason of the row that says it must fail; NULL: none */
};

/* Width of the interval in standard errors: one-sided error 0.13% a look. */
#define KG_TIME_Z 3.0
/* Least threshold for a raw time against the golden of another card of the model: cards of one model differ by 8%, as
 * published. */
#define KG_CARD_SPREAD_PCT 10.0
/* Weight of the prior, in blocks: the floor is two standard deviations as seen over about so many. */
#define KG_TIME_PRIOR_BLOCKS 6

enum kg_time_answer { KG_TIME_PASS, KG_TIME_FAST, KG_TIME_SLOW, KG_TIME_MORE };

/* Compares K blocks with a golden's n blocks (both us, or both ratios), on logarithms: d_i = log(block_i) - mean(log
 * golden). The estimate is mean(d). Its variance pools the blocks with the golden's floor as a prior, since K is small:
 *     s^2 = (P s0^2 + sum (d_i - mean(d))^2) / (P + K - 1),  s0 = floor / 2,  P = KG_TIME_PRIOR_BLOCKS
 *     se^2 = s^2 / K + s^2 / n,  bounds at mean(d) -+ KG_TIME_Z se
 * SLOW: the estimate is over the threshold, the lower bound over the floor, the change over the timer's resolution.
 * FAST: the upper bound of the change is under minus the threshold. PASS: the upper bound is under the threshold. MORE
 * otherwise, and always below min_blocks. Values that are not finite and positive give MORE with a change of NaN. */
struct kg_time_question {
    const double *blocks, *golden;
    int n_blocks, n_golden, min_blocks;
    double threshold_pct, floor_pct, resolution_pct;
};
enum kg_time_answer kg_time_compare(const struct kg_time_question *question, double *ret_change_pct,
                                    double *ret_margin_pct);

/* Sets verdict, reason and judgement of the result. `golden` NULL: none. Returns true when more blocks could still
 * decide it (the verdict is then what it would be if the rounds ran out: UNSURE, or XPASS where it must fail). */
bool kg_verdict_decide(struct kg_result *result, const struct kg_golden *golden, const struct kg_policy *policy);

/* 0, 1, 3, 4 or 77 by DESIGN.md's table (2 for nothing at all; its other causes are decided elsewhere).
 * allow_undecided turns 4 into 0. `counts` by verdict. */
int kg_verdict_status(const size_t counts[KG_VERDICTS], bool allow_undecided);

#endif
