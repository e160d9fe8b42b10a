/* gate.c -- results made of recorded blocks, handed to the code that blesses and judges a run's. */
#include "selfcheck/gate.h"

#include <math.h>
#include <string.h>

static const kg_backend anchor = { .name = "anchor" };
static const kg_suite suite = { .name = "recorded", .anchor = &anchor, .cpu_anchor = &anchor };
static const char this_card[] = "this card", other_card[] = "another card";

static struct kg_block block_of(const struct kg_recorded_block *recorded, bool planted)
{
    const bool anchored = isfinite(recorded->log_ratio);
    struct kg_block block = {
        .calls = recorded->calls,
        .p50_us = exp(planted ? recorded->log_planted_p50 : recorded->log_p50),
        .baseline_p50_us = exp(recorded->log_baseline),
        .log_against = planted ? recorded->log_planted : recorded->log_against,
        .before.throttle_reasons = recorded->throttle,
        .after.throttle_reasons = recorded->throttle,
        .after.sm_clock_mhz = recorded->clock_mhz,
        .before.sm_clock_mhz = recorded->clock_mhz,
    };
    if (anchored) {
        block.anchor_p50_us = exp(recorded->log_anchor);
        block.log_ratio = recorded->log_ratio + (planted ? recorded->log_planted - recorded->log_against : 0);
    }
    return block;
}

/* A right result; its blocks come one by one. */
static void result_init(const struct kg_gate_blocks *blocks, struct kg_result *result)
{
    memset(result, 0, sizeof *result);
    result->of = (struct kg_case){ .suite = &suite, .backend = &anchor, .kind = blocks->series->kind };
    result->outcome = KG_RAN;
    result->compared = true;
    memset(&result->marks, 1, sizeof result->marks);
    result->tick_us = blocks->series->tick_us;
}

static void result_add(const struct kg_gate_blocks *blocks, struct kg_result *result)
{
    const struct kg_recorded_block *next = blocks->of[result->n_blocks];
    result->blocks[result->n_blocks++] = block_of(next, blocks->planted);
    result->time_us.p50 = result->blocks[0].p50_us;
}

static const struct kg_contract contract = { .timer = "graph", .data = "recorded" };

int kg_gate_bless(const struct kg_gate_blocks *blocks, struct kg_golden *ret_golden, kg_error *ret_error)
{
    struct kg_result result;
    struct kg_provenance provenance = { .git_sha = "" };
    memcpy(provenance.uuid, this_card, sizeof this_card);
    result_init(blocks, &result);
    while (result.n_blocks < blocks->count)
        result_add(blocks, &result);
    return kg_golden_of_result(&result, blocks->series->key, &contract, &provenance, ret_golden, ret_error);
}

static struct kg_policy policy_of(const struct kg_gate_rule *rule)
{
    struct kg_policy policy = {
        .threshold_pct = rule->threshold_pct,
        .creep_pct = 5,
        .device_uuid = rule->same_card ? this_card : other_card,
        .contract = contract,
        .max_blocks = rule->max_blocks,
        .timed = true,
        .against = rule->against,
    };
    if (rule->prior)
        policy.machine_prior[KG_QUANTITY_AGAINST] = *rule->prior;
    policy.machine_floor_pct[KG_QUANTITY_AGAINST] = rule->floor_pct;
    return policy;
}

static enum kg_answer answer_of(enum kg_verdict verdict)
{
    return verdict == KG_SLOW   ? KG_ANSWER_SLOW
           : verdict == KG_PASS ? KG_ANSWER_PASS
           : verdict == KG_FAST ? KG_ANSWER_FAST
                                : KG_ANSWER_MORE;
}

/* Between looks an answer stays what it was. The last look of a first set need not be at such a number, and then those
 * of a second are at others. */
static bool is_look(int n_blocks, int max_blocks)
{
    return n_blocks % KG_LOOK_EVERY == 0 || n_blocks >= max_blocks;
}

struct kg_gate_answer kg_gate_judge(const struct kg_gate_blocks *blocks, const struct kg_golden *golden,
                                    const struct kg_gate_rule *rule)
{
    const struct kg_policy policy = policy_of(rule);
    struct kg_result result;
    bool more = true;
    result_init(blocks, &result);
    while (more && result.n_blocks < blocks->count) {
        result_add(blocks, &result);
        if (is_look(result.n_blocks, rule->max_blocks) || result.n_blocks == blocks->count)
            more = kg_verdict_decide(&result, golden, &policy);
    }
    const int alarm_blocks = result.judgement.alarm_blocks;
    return (struct kg_gate_answer){
        .verdict = result.verdict,
        .decision = { .answer = answer_of(result.verdict),
                      .change_pct = result.judgement.change_pct,
                      .margin_pct = result.judgement.margin_pct,
                      .alarm_blocks = alarm_blocks,
                      .alarm_pct = result.judgement.alarm_pct,
                      .n_blocks = result.n_blocks - alarm_blocks },
        .floor_pct = result.judgement.floor_pct,
        .n_blocks = result.n_blocks,
        .cut = more,
    };
}
