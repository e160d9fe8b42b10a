/* verdict.c -- from a result and its golden to a verdict with its reason; pure. decide() is the order of the questions;
 * a new question goes in there, by what it must not be able to hide. Time is judge.c's. */
#include "judge/verdict.h"

#include <math.h>
#include <string.h>

#include "judge/judge.h"
#include "judge/reason.h"

/* "graph, warm L2, windows of 200 us, irwin-hall-8"; the event timer has no windows. */
static void add_contract(struct kg_result *result, const struct kg_contract *contract)
{
    const bool loop = result->of.kind == KG_CPU && !strcmp(contract->timer, "graph"); /* a CPU has no graphs */
    const char *timer = loop ? "loop of calls" : contract->timer;
    if (contract->window_us > 0)
        kg_reason_add(result, "%s, %s L2, windows of %g us, %s", timer, contract->l2, contract->window_us,
                      contract->data);
    else
        kg_reason_add(result, "%s, %s L2, single calls, %s", timer, contract->l2, contract->data);
}

static void say_stale(struct kg_result *result, const struct kg_contract *golden, const struct kg_contract *run)
{
    kg_reason_add(result, "stale: the golden was timed by ");
    add_contract(result, golden);
    kg_reason_add(result, "; this run by ");
    add_contract(result, run);
}

/* Whether the golden is of other work than the case; ret_what says which. */
static bool is_of_other_work(const struct kg_result *result, const struct kg_golden *golden, char *ret_what,
                             size_t size)
{
    const kg_op *op = result->of.suite ? result->of.suite->op : NULL;
    struct kg_work work = result->work;
    work.given = result->launch.given;
    work.seed = result->of.seed;
    work.rms = result->comparison.expected_rms;
    return op && result->of.problem && !kg_golden_is_of(golden, op, result->of.problem, &work, ret_what, size);
}

/* Does what was compiled at run time spill more than what was blessed? Said once of a shape. What another compiler made
 * is not compared (resources/resources.h). */
static bool spills_more(struct kg_result *result, const struct kg_expectation *e)
{
    char what[400];
    const struct kg_golden *golden = e->golden;
    const int bytes = kg_result_spill_bytes(result);
    if (!golden || e->blesses || result->outcome != KG_RAN || result->of.regime || bytes <= golden->spill_bytes ||
        strcmp(result->compiled[0].compiler, golden->compiler) || is_of_other_work(result, golden, what, sizeof what))
        return false;
    kg_reason_add(result, "spills of compiled kernels, bytes %d -> %d", golden->spill_bytes, bytes);
    return true;
}

static bool is_time(double value)
{
    return value > 0 && isfinite(value);
}

/* Whether a block has no usable time; the reason says which. */
static bool unusable_block(struct kg_result *result, bool against)
{
    for (int i = 0; i < result->n_blocks; i++) {
        const struct kg_block *block = &result->blocks[i];
        if (!is_time(block->p50_us) || !isfinite(block->log_ratio)) {
            kg_reason_add(result, "block %d has no usable time: %g us", i + 1, block->p50_us);
            return true;
        }
        if (against && (!is_time(block->baseline_p50_us) || !isfinite(block->log_against))) {
            result->baseline_broken = true;
            kg_reason_add(result, "block %d has no usable time of the baseline: %g us", i + 1, block->baseline_p50_us);
            return true;
        }
    }
    return false;
}

static enum kg_verdict leave_untimed(struct kg_result *result, const struct kg_golden *golden)
{
    const bool by_tables = kg_timed_by_tables(result->of.suite, result->of.backend);
    if (golden && !by_tables) {
        kg_reason_add(result, "golden exists, but the table has switched its timing off (--bless --prune removes it)");
        return KG_LOST;
    }
    kg_reason_add(result, "right; not timed");
    return KG_PASS;
}

static enum kg_verdict leave_anchor(struct kg_result *result, const struct kg_golden *golden)
{
    kg_reason_add(result, "%s",
                  golden ? "golden exists, but the table has made it the anchor (--bless --prune removes it)"
                         : "right; the anchor on a CPU, its time is not judged");
    return golden ? KG_LOST : KG_PASS;
}

static enum kg_verdict decide_time(struct kg_result *result, const struct kg_expectation *e, bool *ret_more)
{
    const struct kg_policy *policy = &result->of.policy;
    const struct kg_golden *golden = e->golden;
    const struct kg_contract contract = kg_policy_contract(policy);
    char what[400];
    if (policy->against && result->is_new) {
        kg_reason_add(result, "right; new, %s", result->note[0] ? result->note : "the baseline has no such case");
        return KG_PASS;
    }
    if (result->outcome == KG_DEFERRED) {
        kg_reason_add(result, "right; %s", result->note); /* "time: see …" */
        return KG_PASS;
    }
    if (!policy->timed)
        return leave_untimed(result, golden);
    if (policy->is_cpu_anchor && !policy->against)
        return leave_anchor(result, golden);
    if (e->passed_over) {
        kg_reason_add(result, "became %s; %s, which stands before it and has a golden, does not run here",
                      result->backend, e->passed_over);
        return KG_LOST;
    }
    if (!golden && !policy->against) {
        kg_reason_add(result, "right; no golden on this architecture");
        return KG_UNGATED;
    }
    if (!policy->against && is_of_other_work(result, golden, what, sizeof what)) {
        result->judgement.golden_us = golden->p50_us;
        kg_reason_add(result, "the golden is of other work: %s", what);
        return KG_UNGATED;
    }
    if (!policy->against && !kg_contract_same(&golden->contract, &contract)) {
        result->judgement.golden_us = golden->p50_us;
        say_stale(result, &golden->contract, &contract);
        return KG_UNGATED;
    }
    if (result->n_blocks == 0) {
        kg_reason_add(result, "right; no block was timed");
        *ret_more = policy->max_blocks > 0;
        return KG_UNSURE;
    }
    return kg_judge_time(result, e, ret_more);
}

/* What became of the case comes first, then whether it is right, then whether its time can be, then its time. */
static enum kg_verdict decide(struct kg_result *result, const struct kg_expectation *e, bool *ret_more)
{
    const struct kg_golden *golden = e->golden;
    if (result->outcome == KG_SKIPPED) {
        kg_reason_add(result, "%s%s", golden ? "golden exists, but the case was skipped: " : "", result->note);
        return golden ? KG_LOST : KG_SKIP;
    }
    if (result->outcome == KG_ABSENT || result->outcome == KG_BROKEN) {
        kg_reason_add(result, "%s", result->note);
        return result->outcome == KG_ABSENT ? KG_LOST : KG_ERROR;
    }
    if (!result->compared) {
        kg_reason_add(result, "its output was not compared");
        return KG_ERROR;
    }
    if (!kg_gate_marks_all(result->marks)) {
        kg_reason_add_gates(result);
        return KG_FAIL;
    }
    if (spills_more(result, e))
        return KG_FAIL;
    if (result->impossible) {
        kg_reason_add(result, "p50 of %.4g us is faster than the device or its timer can be", result->time_us.p50);
        return KG_ERROR;
    }
    if (unusable_block(result, result->of.policy.against && !result->is_new))
        return KG_ERROR;
    return decide_time(result, e, ret_more);
}

/* A baseline that fails says nothing of the candidate, which is what must. An excuse is as old as the golden, or none:
 * the golden says that the case was right. */
static void expect_failure(struct kg_result *result, const struct kg_expectation *e, const char *xfail)
{
    char found[sizeof result->reason];
    enum kg_verdict verdict = result->verdict;
    if (verdict == KG_SKIP || verdict == KG_LOST || (verdict == KG_ERROR && result->baseline_broken))
        return;
    memcpy(found, result->reason, sizeof found);
    result->reason[0] = 0;
    const bool renewed = e->blesses && result->of.regime; /* a bless says what its golden excuses */
    if (e->golden && !renewed && !kg_golden_excuses(e->golden, result->of.regime)) {
        result->verdict = KG_LOST;
        kg_reason_add(result, "golden exists, but the table now expects a failure (%s; --bless --prune): %s", xfail,
                      found);
        return;
    }
    if (verdict == KG_FAIL || verdict == KG_ERROR || verdict == KG_SLOW) {
        result->verdict = KG_XFAIL;
        kg_reason_add(result, "must fail (%s), and does: %s", xfail, found);
    } else {
        result->verdict = KG_XPASS;
        kg_reason_add(result, "must fail (%s), but is %s: %s", xfail, kg_verdict_name(verdict), found);
    }
}

/* A right output says nothing where a wrong one would have been called right too. What was found besides a wrong answer
 * that passes, be it slow, is found all the same. */
static void call_weak(struct kg_result *result)
{
    const enum kg_verdict found = result->verdict;
    const kg_wrong_set weak = result->strength.accepted & ~result->of.policy.excused;
    if (!weak || (found != KG_PASS && found != KG_FAST && found != KG_UNSURE && found != KG_UNGATED))
        return;
    result->verdict = KG_WEAK;
    result->reason[0] = 0;
    kg_reason_add(result, "weak: its gates pass ");
    kg_strength_say(&result->strength, weak, result->reason, sizeof result->reason);
}

static bool is_undecided(const struct kg_result *result, bool more)
{
    if (result->outcome != KG_RAN || !result->compared)
        return result->outcome == KG_RAN;
    return kg_gate_marks_all(result->marks) && (more || !result->n_blocks);
}

/* What is known of a case that the run did not get through does not decide it. */
static void leave_undecided(struct kg_result *result, const struct kg_expectation *e)
{
    char found[sizeof result->reason];
    memcpy(found, result->reason, sizeof found);
    result->verdict = e->failed_fast ? KG_SKIP : KG_UNSURE;
    result->stopped = !e->failed_fast;
    result->reason[0] = 0;
    if (e->failed_fast) {
        kg_reason_add(result, "%s: --fail-fast stopped the run", result->compared ? "right; not timed" : "not run");
        return;
    }
    kg_reason_add(result, "the run was stopped (%s) before its ", e->stopped);
    if (!result->compared)
        kg_reason_add(result, "output was compared");
    else if (!result->n_blocks)
        kg_reason_add(result, "time was measured; right");
    else
        kg_reason_add(result, "time was decided; so far: %.500s", found);
}

bool kg_verdict_decide(struct kg_result *result, const struct kg_expectation *e)
{
    result->stopped = false;
    result->reason[0] = 0;
    result->judgement = (struct kg_judgement){ .judged = false };
    bool more = false;
    result->verdict = decide(result, e, &more);
    if (result->of.policy.xfail)
        expect_failure(result, e, result->of.policy.xfail);
    call_weak(result);
    if (e->stopped && is_undecided(result, more))
        leave_undecided(result, e);
    return more;
}

int kg_verdict_status(const size_t counts[KG_VERDICTS], bool allow_undecided)
{
    size_t total = 0;
    for (int i = 0; i < KG_VERDICTS; i++)
        total += counts[i];
    if (total == 0)
        return 2;
    if (kg_verdicts_are_wrong(counts))
        return 1;
    if (counts[KG_SLOW])
        return 3;
    if (!allow_undecided && (counts[KG_UNSURE] || counts[KG_UNGATED] || counts[KG_LOST] || counts[KG_WEAK]))
        return 4;
    return counts[KG_SKIP] == total ? 77 : 0;
}
