/* judge.h -- the time of a right case: which quantity can be judged, against what, with which noise; kg_decide answers.
 * Pure. */
#ifndef KG_JUDGE_H
#define KG_JUDGE_H

#include "judge/verdict.h"

/* Most blocks that a golden's noise counts for as a prior: it is of another session than the one that is judged. */
#define KG_GOLDEN_PRIOR_BLOCKS 6
/* Blocks after which what is undecided passes, where nothing that is launched has changed. */
#define KG_UNCHANGED_BLOCKS 6
/* Blocks that the noise of a class of kernels counts for, under --against, where selfcheck measured nothing. */
#define KG_CLASS_PRIOR_BLOCKS 4
/* Another card of the model: least threshold and floor of a ratio, and least threshold of a raw time, since cards of
 * one model differ by 8%, as published. A ratio's too where nothing that is launched has changed and one card alone is
 * known: graphs with memory nodes differed by 11% between hosts of H100s. */
#define KG_CARD_RATIO_FLOOR_PCT 1.5
#define KG_CARD_SPREAD_PCT 10.0
/* Means of ratios differed by up to 2.6% between H200s: another card's are not slower by less than this where nothing
 * that is launched has changed, nor over a best, which is the least of all. */
#define KG_CARD_RATIO_SPREAD_PCT 5.0
/* An anchor that moved by more than this is not used, however wide the threshold is. */
#define KG_ANCHOR_MOVED_PCT 5.0

/* Sets the judgement, appends the reason. At least one block, all of them usable; a golden, but under
 * --against. ret_more: more blocks could still decide it; the verdict is then KG_UNSURE. */
enum kg_verdict kg_judge_time(struct kg_result *result, const struct kg_expectation *expectation, bool *ret_more);

/* By its first block it is not over the best by more than the creep budget, which a duel with the golden's build could
 * not tell. True on a CPU, whose times are not held to a best. */
bool kg_judge_within_creep(const struct kg_result *result, const struct kg_expectation *expectation);

/* What is known of the noise beforehand, where selfcheck measured nothing: from the floor of a golden of n blocks; of
 * two builds interleaved in one process, by the class of the kernel (docs/deciding.md). */
struct kg_prior kg_judge_golden_prior(double floor_pct, int n_golden);
struct kg_prior kg_judge_class_prior(enum kg_device_kind kind, double time_us);

#endif
