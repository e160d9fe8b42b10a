/* verdict.c -- from a result and its golden to a verdict with its reason; pure. decide() is the order of the questions;
 * a new question goes in there, by what it must not be able to hide. */
#include "verdict.h"

#include <math.h>
#include <string.h>

/* ---- comparing times ------------------------------------------------------------------------------------------- */

static bool is_time(double value)
{
    return value > 0 && isfinite(value);
}

static bool all_times(const double *values, int count)
{
    for (int i = 0; i < count; i++)
        if (!is_time(values[i]))
            return false;
    return count > 0;
}

static double mean_log(const double *values, int count)
{
    double sum = 0;
    for (int i = 0; i < count; i++)
        sum += log(values[i]);
    return sum / count;
}

/* The estimate and half-width of its interval, on logarithms. */
static void estimate(const struct kg_time_question *question, double *ret_change, double *ret_half_width)
{
    int k = question->n_blocks;
    double mean = mean_log(question->blocks, k), squares = 0;
    for (int i = 0; i < k; i++)
        squares += (log(question->blocks[i]) - mean) * (log(question->blocks[i]) - mean);
    double prior = log1p(question->floor_pct / 100) / 2;
    double variance = (KG_TIME_PRIOR_BLOCKS * prior * prior + squares) / (KG_TIME_PRIOR_BLOCKS + k - 1);
    *ret_change = mean - mean_log(question->golden, question->n_golden);
    *ret_half_width = KG_TIME_Z * sqrt(variance / k + variance / question->n_golden);
}

enum kg_time_answer kg_time_compare(const struct kg_time_question *question, double *ret_change_pct,
                                    double *ret_margin_pct)
{
    *ret_change_pct = *ret_margin_pct = NAN;
    if (!all_times(question->blocks, question->n_blocks) || !all_times(question->golden, question->n_golden))
        return KG_TIME_MORE;

    double change, half_width;
    estimate(question, &change, &half_width);
    double change_pct = 100 * expm1(change);
    double lower_pct = 100 * expm1(change - half_width), upper_pct = 100 * expm1(change + half_width);
    *ret_change_pct = change_pct;
    *ret_margin_pct = (upper_pct - lower_pct) / 2;
    if (question->n_blocks < question->min_blocks)
        return KG_TIME_MORE;
    if (change_pct > question->threshold_pct && lower_pct > question->floor_pct &&
        fabs(change_pct) > question->resolution_pct)
        return KG_TIME_SLOW;
    if (upper_pct < -question->threshold_pct)
        return KG_TIME_FAST;
    return upper_pct < question->threshold_pct ? KG_TIME_PASS : KG_TIME_MORE;
}

/* ---- reasons --------------------------------------------------------------------------------------------------- */

KG_PRINTF(2, 3) static void say(struct kg_result *result, const char *format, ...)
{
    size_t used = strlen(result->reason);
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(result->reason + used, sizeof result->reason - used, format, arguments);
    va_end(arguments);
}

static int time_digits(double time_us)
{
    return time_us < 10 ? 2 : time_us < 10000 ? 1 : 0;
}

static void say_figure(struct kg_result *result, const char *name, double value, double limit)
{
    say(result, "%s%s %.4g over %.4g", result->reason[0] ? ", " : "", name, value, limit);
}

/* Every gate that does not hold, then the element to look at. */
static void say_gates(struct kg_result *result)
{
    static const kg_gates none = { 0 };
    const kg_gates *gates = result->of.suite ? &result->of.suite->gates : &none;
    const struct kg_figures *figures = &result->figures;
    if (!result->marks.finite)
        say(result, "%llu of %llu elements not finite", (unsigned long long)figures->nonfinite,
            (unsigned long long)figures->count);
    if (figures->unwritten)
        say(result, "%s%llu elements never written", result->reason[0] ? ", " : "",
            (unsigned long long)figures->unwritten);
    if (!result->marks.max_abs)
        say_figure(result, "max_abs", figures->max_abs, gates->max_abs);
    if (!result->marks.mean_abs)
        say_figure(result, "mean_abs", figures->mean_abs, gates->mean_abs);
    if (!result->marks.bad_pct)
        say_figure(result, "bad_pct", figures->bad_pct, gates->bad_pct);
    if (!result->marks.rel_l2)
        say_figure(result, "rel_l2", figures->rel_l2, gates->rel_l2);
}

static void say_time(struct kg_result *result)
{
    const struct kg_judgement *judgement = &result->judgement;
    int digits = judgement->threshold_pct < 1 ? 2 : 1;
    double p50_us = result->time_us.p50;
    say(result, "p50 %.*f us, golden %.*f us (%s%+.*f%% ±%.*f, threshold %g%%)", time_digits(p50_us), p50_us,
        time_digits(judgement->golden_us), judgement->golden_us,
        judgement->judge == KG_JUDGE_RATIO ? "ratio to the anchor " : "", digits, judgement->change_pct, digits,
        judgement->margin_pct, judgement->threshold_pct);
}

/* Evidence on the cause of a changed time; nothing where one of the two has no identity. */
static void say_identity(struct kg_result *result, const struct kg_golden *golden)
{
    if (result->judgement.same_code)
        say(result, ", same code as the golden: environment");
    else if (result->identity[0] && golden->identity[0])
        say(result, ", code changed since the golden");
}

/* ---- judging time ---------------------------------------------------------------------------------------------- */

/* Why the golden's ratios cannot be used, or NULL. An anchor that got slower would make every case FAST. */
static const char *why_no_ratio(const struct kg_result *result, const struct kg_golden *golden,
                                const struct kg_policy *policy, bool same_card)
{
    const kg_suite *suite = result->of.suite;
    const kg_backend *anchor = !suite ? NULL : result->of.kind == KG_CPU ? suite->cpu_anchor : suite->anchor;
    double anchors[KG_MAX_BLOCKS];
    if (!golden->anchor[0])
        return "the golden has no anchor";
    for (int i = 0; i < result->n_blocks; i++) {
        anchors[i] = result->blocks[i].anchor_p50_us;
        if (!is_time(anchors[i]))
            return "the anchor was not timed";
    }
    if (anchor && strcmp(anchor->name, golden->anchor))
        return "the suite's anchor is another than the golden's";
    if (strcmp(result->anchor_identity, golden->anchor_identity))
        return "the anchor's code changed since the golden";
    double moved = log(kg_median(anchors, (size_t)result->n_blocks) / golden->anchor_p50_us);
    if (result->of.kind == KG_CUDA && same_card && !(fabs(moved) <= log1p(policy->threshold_pct / 100)))
        return "the anchor's own time moved";
    return NULL;
}

/* The blocks' p50s or ratios, and the golden's, by the judgement's judge. */
static void ask(const struct kg_result *result, const struct kg_golden *golden, double blocks[KG_MAX_BLOCKS],
                struct kg_time_question *question)
{
    bool ratio = result->judgement.judge == KG_JUDGE_RATIO;
    int calls = 0;
    for (int i = 0; i < result->n_blocks; i++) {
        const struct kg_block *block = &result->blocks[i];
        blocks[i] = ratio ? exp(block->log_ratio) : block->p50_us;
        calls = calls == 0 || block->calls < calls ? block->calls : calls;
    }
    question->blocks = blocks;
    question->n_blocks = result->n_blocks;
    question->golden = ratio ? golden->blocks_ratio : golden->blocks_us;
    question->n_golden = golden->n_blocks;
    question->resolution_pct = 100 * result->tick_us / (calls > 0 ? calls : 1) / result->time_us.p50;
    question->floor_pct = golden->floor_pct;
    if (result->judgement.judge != golden->judge) { /* the golden's floor is of the other quantity */
        double floor_pct = kg_golden_floor_pct(question->golden, golden->n_blocks, result->of.kind);
        question->floor_pct = fmax(question->floor_pct, floor_pct);
    }
}

/* Slower than the fastest ever blessed by more than the creep budget, noise allowed for. Raw times of one card only;
 * a CPU's absolute times travel badly. `best` stands for one block, and as one it widens the interval. */
static bool crept(struct kg_result *result, const struct kg_golden *golden, const struct kg_policy *policy)
{
    double blocks[KG_MAX_BLOCKS], change_pct, margin_pct;
    for (int i = 0; i < result->n_blocks; i++)
        blocks[i] = result->blocks[i].p50_us;
    struct kg_time_question question = {
        .blocks = blocks,
        .n_blocks = result->n_blocks,
        .golden = &golden->best.p50_us,
        .n_golden = 1,
        .min_blocks = policy->min_blocks,
        .threshold_pct = policy->creep_pct,
        .floor_pct = golden->floor_pct,
    };
    if (result->n_blocks < policy->min_blocks)
        return false;
    (void)kg_time_compare(&question, &change_pct, &margin_pct);
    if (!(change_pct - margin_pct > policy->creep_pct))
        return false;
    say(result, "; %+.1f%% ±%.1f over the best, %.*f us at %.12s, creep budget %g%%", change_pct, margin_pct,
        time_digits(golden->best.p50_us), golden->best.p50_us, golden->best.git_sha, policy->creep_pct);
    return true;
}

static enum kg_verdict judge_blocks(struct kg_result *result, const struct kg_golden *golden,
                                    const struct kg_policy *policy, bool same_card, const char *note)
{
    static const enum kg_verdict verdicts[] = {
        [KG_TIME_PASS] = KG_PASS,
        [KG_TIME_FAST] = KG_FAST,
        [KG_TIME_SLOW] = KG_SLOW,
        [KG_TIME_MORE] = KG_UNSURE,
    };
    struct kg_judgement *judgement = &result->judgement;
    struct kg_time_question question = { .min_blocks = policy->min_blocks, .threshold_pct = policy->threshold_pct };
    double blocks[KG_MAX_BLOCKS];
    ask(result, golden, blocks, &question);
    if (!same_card)
        question.threshold_pct =
            fmax(question.threshold_pct, judgement->judge == KG_JUDGE_RATIO ? question.floor_pct : KG_CARD_SPREAD_PCT);
    judgement->judged = true;
    judgement->golden_us = golden->p50_us;
    judgement->threshold_pct = question.threshold_pct;
    judgement->same_code = result->identity[0] && !strcmp(result->identity, golden->identity);
    enum kg_verdict verdict = verdicts[kg_time_compare(&question, &judgement->change_pct, &judgement->margin_pct)];

    if (verdict == KG_UNSURE)
        say(result, "%d of at most %d blocks do not decide: ", result->n_blocks, policy->max_blocks);
    say_time(result);
    if (result->of.kind == KG_CUDA && same_card && verdict != KG_SLOW && crept(result, golden, policy))
        verdict = KG_SLOW;
    if (verdict == KG_SLOW)
        say_identity(result, golden);
    if (verdict == KG_FAST)
        say(result, ", the golden is stale: bless");
    if (note)
        say(result, "; judged by p50: %s", note);
    if (!same_card && result->of.kind == KG_CUDA)
        say(result, "; golden of another card, --against is the sharp tool");
    return verdict;
}

/* Which quantity can be judged, then the judgement. What has no anchor, as the anchor itself, is judged raw. */
static enum kg_verdict judge_time(struct kg_result *result, const struct kg_golden *golden,
                                  const struct kg_policy *policy)
{
    bool cpu = result->of.kind == KG_CPU;
    bool same_card = policy->device_uuid && !strcmp(policy->device_uuid, golden->provenance.uuid);
    bool only_ratio = !same_card || (cpu && golden->anchor[0]);
    result->judgement.judge = only_ratio ? KG_JUDGE_RATIO : golden->judge;
    const char *why = NULL;
    if (result->judgement.judge == KG_JUDGE_RATIO)
        why = why_no_ratio(result, golden, policy, same_card);
    if (why && only_ratio && (cpu || golden->anchor[0])) {
        say(result, "%s can be compared by ratio only, and %s",
            same_card ? "a CPU's time" : "the golden of another card", why);
        return KG_UNGATED;
    }
    if (why)
        result->judgement.judge = KG_JUDGE_RAW;
    return judge_blocks(result, golden, policy, same_card, why);
}

/* ---- the verdict ----------------------------------------------------------------------------------------------- */

static void say_stale(struct kg_result *result, const struct kg_contract *golden, const struct kg_contract *run)
{
    say(result, "stale: the golden was timed by %s, %s L2, windows of %g us, %s; this run by %s, %s L2, %g us, %s",
        golden->timer, golden->l2, golden->window_us, golden->data, run->timer, run->l2, run->window_us, run->data);
}

/* First block without a usable time, or 0. Blocks count from 1. */
static int unusable_block(const struct kg_result *result)
{
    for (int i = 0; i < result->n_blocks; i++)
        if (!is_time(result->blocks[i].p50_us) || !isfinite(result->blocks[i].log_ratio))
            return i + 1;
    return 0;
}

static enum kg_verdict decide_time(struct kg_result *result, const struct kg_golden *golden,
                                   const struct kg_policy *policy)
{
    if (result->outcome == KG_DEFERRED) {
        say(result, "right; its time is judged on %s", result->note);
        return KG_PASS;
    }
    if (!policy->timed) {
        say(result, "right; not timed");
        return KG_PASS;
    }
    if (policy->is_cpu_anchor) {
        say(result, "right; the anchor on a CPU, its time is not judged");
        return KG_PASS;
    }
    if (!golden) {
        say(result, "right; no golden on this architecture");
        return KG_UNGATED;
    }
    if (!kg_contract_same(&golden->contract, &policy->contract)) {
        say_stale(result, &golden->contract, &policy->contract);
        return KG_UNGATED;
    }
    if (result->n_blocks == 0) {
        say(result, "right; no block was timed");
        return KG_UNSURE;
    }
    return judge_time(result, golden, policy);
}

/* What became of the case comes first, then whether it is right, then whether its time can be, then its time. */
static enum kg_verdict decide(struct kg_result *result, const struct kg_golden *golden, const struct kg_policy *policy)
{
    int block = unusable_block(result);
    if (result->outcome == KG_SKIPPED) {
        say(result, "%s%s", golden ? "golden exists, but the case was skipped: " : "", result->note);
        return golden ? KG_LOST : KG_SKIP;
    }
    if (result->outcome == KG_ABSENT || result->outcome == KG_BROKEN) {
        say(result, "%s", result->note);
        return result->outcome == KG_ABSENT ? KG_LOST : KG_ERROR;
    }
    if (!result->compared) {
        say(result, "its output was not compared");
        return KG_ERROR;
    }
    if (!kg_gate_marks_all(result->marks)) {
        say_gates(result);
        return KG_FAIL;
    }
    if (result->impossible) {
        say(result, "p50 of %.4g us is faster than the device or its timer can be", result->time_us.p50);
        return KG_ERROR;
    }
    if (block) {
        say(result, "block %d has no usable time: %g us", block, result->blocks[block - 1].p50_us);
        return KG_ERROR;
    }
    return decide_time(result, golden, policy);
}

static void expect_failure(struct kg_result *result, const char *xfail)
{
    char found[sizeof result->reason];
    enum kg_verdict verdict = result->verdict;
    if (verdict == KG_SKIP || verdict == KG_LOST)
        return;
    memcpy(found, result->reason, sizeof found);
    result->reason[0] = 0;
    if (verdict == KG_FAIL || verdict == KG_ERROR || verdict == KG_SLOW) {
        result->verdict = KG_XFAIL;
        say(result, "must fail (%s), and does: %s", xfail, found);
    } else {
        result->verdict = KG_XPASS;
        say(result, "must fail (%s), but is %s: %s", xfail, kg_verdict_name(verdict), found);
    }
}

bool kg_verdict_decide(struct kg_result *result, const struct kg_golden *golden, const struct kg_policy *policy)
{
    result->reason[0] = 0;
    result->judgement = (struct kg_judgement){ .judged = false };
    result->verdict = decide(result, golden, policy);
    bool more = result->verdict == KG_UNSURE && result->n_blocks < policy->max_blocks;
    if (policy->xfail)
        expect_failure(result, policy->xfail);
    return more;
}

int kg_verdict_status(const size_t counts[KG_VERDICTS], bool allow_undecided)
{
    size_t total = 0;
    for (int i = 0; i < KG_VERDICTS; i++)
        total += counts[i];
    if (total == 0)
        return 2;
    if (counts[KG_FAIL] || counts[KG_ERROR] || counts[KG_XPASS])
        return 1;
    if (counts[KG_SLOW])
        return 3;
    if (!allow_undecided && (counts[KG_UNSURE] || counts[KG_UNGATED] || counts[KG_LOST]))
        return 4;
    return counts[KG_SKIP] == total ? 77 : 0;
}
