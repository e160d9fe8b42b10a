/* judge.c -- judges the time of a case by its golden or its baseline. Pure. The anchor is judged first, for what is
 * judged by a ratio to it could be hidden by it; then kg_decide answers; then creep. What a SLOW must clear, and what
 * is known of the noise beforehand, is put together in ask_golden() and ask_baseline(). */
#include "judge/judge.h"

#include <math.h>
#include <string.h>

#include "base/format.h"
#include "judge/changed.h"
#include "judge/reason.h"

/* A question to kg_decide, with room for what it points to. */
struct question {
    struct kg_criteria criteria;
    double logs[KG_MAX_BLOCKS], golden_logs[KG_MAX_BLOCKS];
};

static bool is_time(double value)
{
    return value > 0 && isfinite(value);
}

static double pct_of_log(double value)
{
    return 100 * expm1(value);
}

/* Does this run take place on that card? */
static bool is_card(const struct kg_expectation *e, const char *uuid)
{
    return e->device_uuid && !strcmp(e->device_uuid, uuid);
}

/* ---- what an earlier selfcheck found of this case on this machine ---------------------------------------------- */

/* Blocks 0: not measured. The machine may be noisier now, so it counts for no more than KG_MACHINE_PRIOR_BLOCKS. */
static struct kg_prior machine_prior(const struct kg_expectation *e, enum kg_quantity quantity)
{
    struct kg_prior prior = { .sd = 0 };
    if (e->floor && e->floor->sd[quantity] > 0)
        prior = (struct kg_prior){ .sd = e->floor->sd[quantity],
                                   .blocks = fmin(e->floor->n_blocks - 1, KG_MACHINE_PRIOR_BLOCKS) };
    return prior;
}

static double machine_floor_pct(const struct kg_expectation *e, enum kg_quantity quantity)
{
    return e->floor ? e->floor->floor_pct[quantity] : 0;
}

/* ---- the anchor ------------------------------------------------------------------------------------------------ */

/* Noise of the anchor's own time when the golden was blessed. */
static double anchor_floor_pct(const struct kg_golden *golden, enum kg_device_kind kind)
{
    double anchors[KG_MAX_BLOCKS];
    for (int i = 0; i < golden->n_blocks; i++)
        anchors[i] = golden->blocks_us[i] / golden->blocks_ratio[i];
    return kg_golden_floor_pct(anchors, golden->n_blocks, kind);
}

/* Logarithm of what the anchor reads against the golden's, over the blocks of the first look: what is judged then stays
 * the same at later looks. */
static double anchor_change(const struct kg_result *result, const struct kg_golden *golden)
{
    int count = result->n_blocks < KG_LOOK_EVERY ? result->n_blocks : KG_LOOK_EVERY;
    double sum = 0;
    for (int i = 0; i < count; i++)
        sum += log(result->blocks[i].anchor_p50_us / golden->anchor_p50_us);
    return sum / count;
}

/* Whether the golden's ratios cannot be used, and why. An anchor that got slower would make every case FAST. */
static bool refuse_ratio(const struct kg_result *result, const struct kg_expectation *e, bool same_card, char *ret_why,
                         size_t size)
{
    const struct kg_golden *golden = e->golden;
    const char *anchor = kg_case_anchor(&result->of, kg_result_backend(result));
    const char *why = !golden->anchor[0]                          ? "the golden has no anchor"
                      : *anchor && strcmp(anchor, golden->anchor) ? "the suite's anchor is another than the golden's"
                      : strcmp(result->anchor_identity, golden->anchor_identity)
                          ? "the anchor's code changed since the golden"
                          : NULL;
    for (int i = 0; i < result->n_blocks && golden->anchor[0]; i++)
        if (!is_time(result->blocks[i].anchor_p50_us))
            why = "the anchor was not timed";
    if (!why && result->of.kind == KG_CUDA && same_card) {
        double change = anchor_change(result, golden);
        double limit_pct = fmax(result->of.policy.threshold_pct, anchor_floor_pct(golden, KG_CUDA));
        if (fabs(change) <= log1p(fmin(limit_pct, KG_ANCHOR_MOVED_PCT) / 100))
            return false;
        (void)snprintf(ret_why, size, "the anchor itself reads %+.1f%%", pct_of_log(change));
        return true;
    }
    (void)snprintf(ret_why, size, "%s", why ? why : "");
    return why;
}

/* On a CPU the absolute time of a quiet anchor differs by the day and the host, so an anchor that reads slower is no
 * proof. But where it does, with the case's own time over the threshold too, a ratio that passes proves nothing either.
 * Half the threshold, for what an anchor may hide adds to what the ratio allows. */
static int blocks_slow_together(const struct kg_result *result, const struct kg_expectation *e)
{
    const struct kg_golden *golden = e->golden;
    int slow = 0;
    for (int i = 0; i < result->n_blocks; i++) {
        const struct kg_block *block = &result->blocks[i];
        slow += block->anchor_p50_us > golden->anchor_p50_us * (1 + result->of.policy.threshold_pct / 200) &&
                block->p50_us > golden->p50_us * (1 + result->of.policy.threshold_pct / 100);
    }
    return slow;
}

/* Code that changed may be slow in some processes alone. It is looked at in so many blocks at least, in as many as a
 * set may have where it is slow in one, and doubted where it is in a quarter. Where nothing that is launched has
 * changed the machine is slow, and half of the blocks are doubted. */
enum { CHANGED_BLOCKS = 9 };

/* Whether a CPU's ratio that passes may hide what both lost, or more blocks are to tell. */
static bool anchor_hides(struct kg_result *result, const struct kg_expectation *e, int max_blocks, bool *ret_more)
{
    const bool changed = !result->judgement.unchanged;
    const int slow = blocks_slow_together(result, e), n = result->n_blocks;
    const bool too_many = (changed ? 4 : 2) * slow >= n && slow > 0;
    *ret_more = n < max_blocks && (changed ? slow > 0 || n < CHANGED_BLOCKS : too_many);
    if (too_many)
        kg_reason_add(result, "; the anchor itself reads %+.0f%%: this machine is slower, or both are; --against tells",
                      pct_of_log(anchor_change(result, e->golden)));
    else if (*ret_more)
        kg_reason_add(result, "; code that changed is looked at more often: both are slower in %d rounds", slow);
    return too_many || *ret_more;
}

/* ---- questions ------------------------------------------------------------------------------------------------- */

static void ask(const struct kg_result *result, enum kg_quantity quantity, struct question *ret_question)
{
    const struct kg_block *first = &result->blocks[0];
    for (int i = 0; i < result->n_blocks; i++) {
        const struct kg_block *block = &result->blocks[i];
        ret_question->logs[i] = quantity == KG_QUANTITY_RAW     ? log(block->p50_us)
                                : quantity == KG_QUANTITY_RATIO ? block->log_ratio
                                                                : block->log_against;
    }
    ret_question->criteria = (struct kg_criteria){
        .golden = ret_question->golden_logs,
        .threshold_pct = result->of.policy.threshold_pct,
        .resolution_pct = 100 * result->tick_us / (first->calls > 0 ? first->calls : 1) / first->p50_us,
        .max_blocks = result->of.policy.max_blocks < KG_MAX_SET ? result->of.policy.max_blocks : KG_MAX_SET,
        .room = result->of.policy.goes_on ? KG_MAX_BLOCKS : 0,
    };
}

struct kg_prior kg_judge_golden_prior(double floor_pct, int n_golden)
{
    int freedom = n_golden - 1;
    return (struct kg_prior){ .sd = log1p(floor_pct / 100) / 2,
                              .blocks = freedom < KG_GOLDEN_PRIOR_BLOCKS ? freedom : KG_GOLDEN_PRIOR_BLOCKS };
}

/* What ratios of one code may differ by between two cards: more where one card alone is known. */
static double same_code_pct(const struct kg_golden *golden)
{
    return golden->n_cards > 1 ? KG_CARD_RATIO_SPREAD_PCT : KG_CARD_SPREAD_PCT;
}

/* What cards differ by, as a fleet was seen to, or as is known of none in particular. */
static void ask_another_card(const struct kg_result *result, const struct kg_golden *golden, enum kg_quantity quantity,
                             struct question *question)
{
    struct kg_criteria *criteria = &question->criteria;
    const bool ratio = quantity == KG_QUANTITY_RATIO;
    double least_pct = ratio ? KG_CARD_RATIO_FLOOR_PCT : KG_CARD_SPREAD_PCT;
    if (golden->n_cards > 1 && ratio == (golden->anchor[0] != 0)) {
        criteria->n_golden = golden->n_cards < KG_MAX_BLOCKS ? golden->n_cards : KG_MAX_BLOCKS;
        memcpy(question->golden_logs, golden->card_means, (size_t)criteria->n_golden * sizeof *golden->card_means);
        least_pct = pct_of_log(2 * golden->card_sd);
    }
    if (ratio || golden->n_cards > 1)
        criteria->floor_pct = fmax(criteria->floor_pct, least_pct);
    if (ratio && kg_changed_nothing(result, golden))
        least_pct = fmax(least_pct, same_code_pct(golden));
    criteria->threshold_pct = fmax(criteria->threshold_pct, fmax(least_pct, ratio ? criteria->floor_pct : 0));
}

/* The floor holds what no number of blocks averages away, so it is the largest that is known. */
static void ask_golden(const struct kg_result *result, const struct kg_expectation *e, enum kg_quantity quantity,
                       bool same_card, struct question *ret_question)
{
    const struct kg_golden *golden = e->golden;
    const double *blocks = quantity == KG_QUANTITY_RATIO ? golden->blocks_ratio : golden->blocks_us;
    const struct kg_prior measured = machine_prior(e, quantity);
    double floor_pct = golden->floor_pct;
    if (quantity != golden->quantity) /* the golden's floor is of the other quantity */
        floor_pct = fmax(floor_pct, kg_golden_floor_pct(blocks, golden->n_blocks, result->of.kind));
    struct kg_prior prior = kg_judge_golden_prior(floor_pct, golden->n_blocks);

    ask(result, quantity, ret_question);
    struct kg_criteria *criteria = &ret_question->criteria;
    criteria->n_golden = golden->n_blocks;
    for (int i = 0; i < golden->n_blocks; i++)
        ret_question->golden_logs[i] = log(blocks[i]);
    criteria->prior = measured.blocks > 0 && measured.sd > prior.sd ? measured : prior;
    criteria->floor_pct = fmax(floor_pct, machine_floor_pct(e, quantity));
    if (!same_card)
        ask_another_card(result, golden, quantity, ret_question);
}

struct kg_prior kg_judge_class_prior(enum kg_device_kind kind, double time_us)
{
    double sd = kind == KG_CPU ? 0.01 : time_us < 10 ? 0.0050 : time_us < 20 ? 0.0015 : 0.0010;
    return (struct kg_prior){ .sd = sd, .blocks = KG_CLASS_PRIOR_BLOCKS };
}

static void ask_baseline(const struct kg_result *result, const struct kg_expectation *e, struct question *ret_question)
{
    const struct kg_prior measured = machine_prior(e, KG_QUANTITY_AGAINST);
    ask(result, KG_QUANTITY_AGAINST, ret_question);
    struct kg_criteria *criteria = &ret_question->criteria;
    criteria->prior =
        measured.blocks > 0 ? measured : kg_judge_class_prior(result->of.kind, result->blocks[0].baseline_p50_us);
    criteria->floor_pct = fmax(pct_of_log(2 * criteria->prior.sd), machine_floor_pct(e, KG_QUANTITY_AGAINST));
}

/* ---- answers --------------------------------------------------------------------------------------------------- */

/* A threshold under what this machine can tell is a wish, and passing it would be luck. */
static bool refuse_threshold(struct kg_result *result, const struct kg_expectation *e)
{
    double floor_pct = machine_floor_pct(e, result->judgement.quantity);
    if (!(result->of.policy.threshold_pct < floor_pct))
        return false;
    kg_reason_add(result, "threshold %g%% is under this machine's floor of %.2g%% for this case (kgate selfcheck)",
                  result->of.policy.threshold_pct, floor_pct);
    return true;
}

static void add_answer(struct kg_result *result, const struct kg_decision *decision, int max_blocks)
{
    bool undecided = decision->answer == KG_ANSWER_MORE;
    int later_blocks = result->n_blocks - decision->alarm_blocks;
    if (decision->alarm_blocks && undecided)
        kg_reason_add(result, "a first set of %d rounds read %+.1f%%, ", decision->alarm_blocks, decision->alarm_pct);
    if (undecided && later_blocks == 0)
        kg_reason_add(result, "to be confirmed: ");
    else if (undecided && later_blocks > max_blocks)
        kg_reason_add(result, "%d blocks%s do not decide: ", later_blocks, decision->alarm_blocks ? " after it" : "");
    else if (undecided)
        kg_reason_add(result, "%d of at most %d blocks%s do not decide: ", later_blocks, max_blocks,
                      decision->alarm_blocks ? " after it" : "");
    kg_reason_add_time(result);
    if (decision->alarm_blocks && !undecided && decision->answer != KG_ANSWER_SLOW)
        kg_reason_add(result, "; a first set of %d rounds read %+.1f%%, a second did not confirm it",
                      decision->alarm_blocks, decision->alarm_pct);
    if (decision->answer == KG_ANSWER_SLOW && /* though its interval reaches below the threshold */
        decision->change_pct - decision->margin_pct < result->judgement.threshold_pct)
        kg_reason_add(result, ", over the threshold and clear of the noise floor of %.2g%% in both sets of rounds",
                      result->judgement.floor_pct);
}

static enum kg_verdict answer(struct kg_result *result, const struct question *question,
                              struct kg_decision *ret_decision)
{
    static const enum kg_verdict verdicts[] = {
        [KG_ANSWER_PASS] = KG_PASS,
        [KG_ANSWER_FAST] = KG_FAST,
        [KG_ANSWER_SLOW] = KG_SLOW,
        [KG_ANSWER_MORE] = KG_UNSURE,
    };
    const struct kg_criteria *criteria = &question->criteria;
    struct kg_decision decision = kg_decide(criteria, question->logs, result->n_blocks);
    struct kg_judgement *judgement = &result->judgement;
    judgement->judged = true;
    judgement->threshold_pct = criteria->threshold_pct;
    judgement->floor_pct = criteria->floor_pct;
    judgement->change_pct = decision.change_pct;
    judgement->margin_pct = decision.margin_pct;
    judgement->alarm_blocks = decision.alarm_blocks;
    judgement->alarm_pct = decision.alarm_pct;
    judgement->wants_extra = decision.extra;
    add_answer(result, &decision, criteria->max_blocks);
    *ret_decision = decision;
    return verdicts[decision.answer];
}

/* `strict`: the question without what selfcheck found on this machine. A verdict that is milder for it says so. */
static void add_milder(struct kg_result *result, const struct kg_expectation *e, const struct question *strict,
                       const struct kg_decision *decision)
{
    const enum kg_answer its = kg_decide(&strict->criteria, strict->logs, result->n_blocks).answer,
                         own = decision->answer;
    if (its != own && (its == KG_ANSWER_SLOW || (its == KG_ANSWER_MORE && own != KG_ANSWER_SLOW)))
        kg_reason_add(result, ", %s without the noise that selfcheck found here on %.10s (%s)",
                      its == KG_ANSWER_SLOW ? "SLOW" : "undecided", e->floor->date, e->floor->under);
}

static struct kg_expectation without_floor(const struct kg_expectation *e)
{
    struct kg_expectation bare = *e;
    bare.floor = NULL;
    return bare;
}

/* ---- creep ----------------------------------------------------------------------------------------------------- */

/* Raw on the best's own card; on another by ratio, where the golden's ratios can be used and are to the anchor of the
 * best's. false: the two cannot be compared. `best` stands for one block, and as one it widens the interval. A budget
 * under the case's own noise, or under what two cards differ by, is as wide as that. */
static bool ask_best(const struct kg_result *result, const struct kg_expectation *e, struct question *ret_question)
{
    const struct kg_golden *golden = e->golden;
    const struct kg_best *best = &golden->best, own = kg_golden_as_best(golden);
    struct kg_criteria *criteria = &ret_question->criteria;
    char why[160];
    bool by_raw = is_card(e, best->uuid);
    if (!by_raw && (!kg_best_same_anchor(best, &own) ||
                    refuse_ratio(result, e, is_card(e, golden->provenance.uuid), why, sizeof why)))
        return false;
    ask_golden(result, e, by_raw ? KG_QUANTITY_RAW : KG_QUANTITY_RATIO, by_raw, ret_question);
    ret_question->golden_logs[0] = log(by_raw ? best->p50_us : best->ratio);
    criteria->n_golden = 1;
    const double creep_pct = kg_golden_creep_pct(golden, result->of.policy.creep_pct);
    const bool same_code =
        best->ratio == own.ratio && !strcmp(best->uuid, own.uuid) && kg_changed_nothing(result, golden);
    const double cards_pct = same_code ? same_code_pct(golden) : KG_CARD_RATIO_SPREAD_PCT;
    double budget_pct = by_raw ? creep_pct : fmax(creep_pct, cards_pct);
    if (!by_raw && golden->n_cards > 1) /* two single cards differ by more than one does from the mean of all */
        budget_pct = fmax(budget_pct, pct_of_log(2 * sqrt(2) * golden->card_sd));
    criteria->threshold_pct = criteria->floor_pct = fmax(budget_pct, criteria->floor_pct);
    return true;
}

static void add_creep(struct kg_result *result, const struct kg_best *best, const struct kg_expectation *e,
                      const struct kg_decision *decision, double budget_pct)
{
    bool by_raw = is_card(e, best->uuid);
    kg_reason_add(result, "; %+.1f%% ±%.1f over the best, ", decision->change_pct, decision->margin_pct);
    if (by_raw)
        kg_reason_add(result, "%s", kg_format_time(best->p50_us).s);
    else
        kg_reason_add(result, "a ratio of %.4g", best->ratio);
    kg_reason_add(result, " at %.12s of %.10s%s, %screep budget %.3g%%", best->git_sha, best->date,
                  by_raw ? "" : " on another card", budget_pct < result->of.policy.creep_pct ? "the golden's " : "",
                  budget_pct);
}

/* Is the time over the fastest ever blessed by more than the creep budget? Noise is allowed for, and it is confirmed
 * like any SLOW. An alarm is raised by the blocks that decided against the golden or by none; later ones may only
 * confirm it. */
static enum kg_verdict judge_creep(struct kg_result *result, const struct kg_expectation *e, int decided_blocks,
                                   enum kg_verdict verdict, bool *ret_more)
{
    struct question question;
    const struct kg_criteria *criteria = &question.criteria;
    if (!ask_best(result, e, &question) || !kg_decide(criteria, question.logs, decided_blocks).alarm_blocks)
        return verdict;

    struct kg_decision decision = kg_decide(criteria, question.logs, result->n_blocks);
    bool undecided = decision.answer == KG_ANSWER_MORE;
    if (!result->judgement.alarm_blocks) {
        result->judgement.alarm_blocks = decision.alarm_blocks;
        result->judgement.alarm_pct = decision.alarm_pct;
    }
    add_creep(result, &e->golden->best, e, &decision, criteria->threshold_pct);
    result->judgement.creep = undecided || decision.answer == KG_ANSWER_SLOW;
    result->judgement.wants_extra = decision.extra;
    if (decision.answer == KG_ANSWER_SLOW)
        return KG_SLOW;
    kg_reason_add(result, undecided ? ", to be confirmed" : ", after %+.1f%% in a first set of %d rounds",
                  decision.alarm_pct, decision.alarm_blocks);
    *ret_more = decision.wanted > 0;
    return undecided ? KG_UNSURE : verdict;
}

bool kg_judge_within_creep(const struct kg_result *result, const struct kg_expectation *e)
{
    struct question best;
    if (result->of.kind == KG_CPU || !ask_best(result, e, &best))
        return true;
    best.criteria.is_trusted = true;
    return kg_decide(&best.criteria, best.logs, result->n_blocks ? 1 : 0).answer == KG_ANSWER_PASS;
}

/* ---- golden and baseline --------------------------------------------------------------------------------------- */

/* Chooses the quantity that is judged; false: none can be, and the reason says why. What has no anchor, as the anchor
 * itself, is judged raw. ret_note tells why a ratio that was to be judged is not; else it is empty. */
static bool choose_quantity(struct kg_result *result, const struct kg_expectation *e, bool same_card, char *ret_note,
                            size_t size)
{
    const struct kg_golden *golden = e->golden;
    bool cpu = result->of.kind == KG_CPU, only_ratio = !same_card || (cpu && golden->anchor[0]);
    result->judgement.quantity = only_ratio ? KG_QUANTITY_RATIO : golden->quantity;
    ret_note[0] = 0;
    if (result->judgement.quantity != KG_QUANTITY_RATIO || !refuse_ratio(result, e, same_card, ret_note, size))
        return true;
    if (only_ratio && (cpu || golden->anchor[0])) {
        kg_reason_add(result, "%s can be compared by ratio only, and %s",
                      same_card ? "a CPU's time" : "the golden of another card", ret_note);
        return false;
    }
    result->judgement.quantity = KG_QUANTITY_RAW;
    return true;
}

/* No code that changed made it slower, so what KG_UNCHANGED_BLOCKS do not decide is no reason to doubt it; an alarm is
 * looked into as any other. */
static enum kg_verdict trust_sameness(struct kg_result *result, bool *ret_more)
{
    if (*ret_more && (result->judgement.alarm_blocks || result->n_blocks < KG_UNCHANGED_BLOCKS))
        return KG_UNSURE;
    *ret_more = false;
    kg_reason_add(result, ", but nothing that is launched has changed since the golden");
    return KG_PASS;
}

/* May its first block pass it? Only where that is within the creep budget too. A CPU's times come and go. */
static bool is_trusted(const struct kg_result *result, const struct kg_expectation *e)
{
    return result->of.kind != KG_CPU && result->judgement.unchanged && kg_judge_within_creep(result, e);
}

static enum kg_verdict judge_golden(struct kg_result *result, const struct kg_expectation *e, bool *ret_more)
{
    const struct kg_golden *golden = e->golden;
    struct kg_judgement *judgement = &result->judgement;
    const struct kg_expectation bare = without_floor(e);
    struct question question, strict;
    struct kg_decision decision;
    char note[160];
    const bool cpu = result->of.kind == KG_CPU, same_card = is_card(e, golden->provenance.uuid);
    judgement->golden_us = golden->p50_us;
    judgement->same_code = result->identity[0] && !strcmp(result->identity, golden->identity);
    judgement->unchanged = kg_changed_nothing(result, golden);
    if (!choose_quantity(result, e, same_card, note, sizeof note))
        return judgement->unchanged ? trust_sameness(result, ret_more) : KG_UNGATED;
    if (refuse_threshold(result, e))
        return KG_UNGATED;

    ask_golden(result, &bare, judgement->quantity, same_card, &strict);
    ask_golden(result, e, judgement->quantity, same_card, &question);
    strict.criteria.is_trusted = question.criteria.is_trusted = is_trusted(result, e);
    enum kg_verdict verdict = answer(result, &question, &decision);
    add_milder(result, e, &strict, &decision);
    *ret_more = decision.wanted > 0;
    bool more = false;
    if ((verdict == KG_PASS || verdict == KG_FAST) && cpu && judgement->quantity == KG_QUANTITY_RATIO &&
        anchor_hides(result, e, question.criteria.max_blocks, &more)) {
        *ret_more = more;
        return KG_UNSURE;
    }
    if (!cpu && (verdict == KG_PASS || verdict == KG_FAST)) /* a CPU's absolute times travel badly */
        verdict = judge_creep(result, e, decision.alarm_blocks + decision.n_blocks, verdict, ret_more);
    if (verdict == KG_UNSURE && judgement->unchanged)
        verdict = trust_sameness(result, ret_more);
    if (verdict == KG_SLOW && judgement->same_code)
        kg_reason_add(result, ", same code as the golden: environment");
    kg_changed_add(result, golden, e->driver, verdict == KG_PASS);
    if (verdict == KG_FAST)
        kg_reason_add(result, ", the golden is stale: bless");
    if (note[0])
        kg_reason_add(result, "; judged by p50: %s", note);
    if (!same_card && !cpu)
        kg_reason_add(result, "; golden of another card, --against is the sharp tool");
    return verdict;
}

static enum kg_verdict judge_against(struct kg_result *result, const struct kg_expectation *e, bool *ret_more)
{
    const struct kg_expectation bare = without_floor(e);
    struct question question, strict;
    struct kg_decision decision;
    double baselines[KG_MAX_BLOCKS];
    for (int i = 0; i < result->n_blocks; i++)
        baselines[i] = result->blocks[i].baseline_p50_us;
    result->judgement.quantity = KG_QUANTITY_AGAINST;
    result->judgement.golden_us = kg_median(baselines, (size_t)result->n_blocks);
    result->judgement.same_code = result->identity[0] && !strcmp(result->identity, result->baseline_identity);
    if (refuse_threshold(result, e))
        return KG_UNGATED;
    ask_baseline(result, &bare, &strict);
    ask_baseline(result, e, &question);
    enum kg_verdict verdict = answer(result, &question, &decision);
    add_milder(result, e, &strict, &decision);
    *ret_more = decision.wanted > 0;
    if (verdict == KG_SLOW && result->judgement.same_code)
        kg_reason_add(result, ", same code as the baseline: environment");
    kg_changed_add_baseline(result, verdict == KG_PASS);
    return verdict;
}

enum kg_verdict kg_judge_time(struct kg_result *result, const struct kg_expectation *e, bool *ret_more)
{
    *ret_more = false;
    return result->of.policy.against ? judge_against(result, e, ret_more) : judge_golden(result, e, ret_more);
}
