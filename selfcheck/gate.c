/* gate.c -- results made of recorded blocks, handed to the code that blesses and judges a run's; pools of blocks. */
#include "selfcheck/gate.h"

#include <math.h>
#include <string.h>

#include "plan/policy.h"

/* ---- a gate ---------------------------------------------------------------------------------------------------- */

static const kg_backend anchor = { .name = "anchor" }, timed = { .name = "timed" };
static const kg_suite suite = { .name = "recorded", .anchor = &anchor, .cpu_anchor = &anchor };
static const struct kg_policy policy = { .timer = KG_TIMER_GRAPH, .creep_pct = KG_CREEP_PCT, .timed = true };
static const char this_card[] = "this card", other_card[] = "another card", this_code[] = "recorded:1";

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
    result->of = (struct kg_case){ .suite = &suite, .backend = &timed, .kind = blocks->series->kind, .policy = policy };
    result->outcome = KG_RAN;
    result->compared = true;
    memset(&result->marks, 1, sizeof result->marks);
    result->tick_us = blocks->series->tick_us;
    memcpy(result->identity, this_code, sizeof this_code);
}

static void result_add(const struct kg_gate_blocks *blocks, struct kg_result *result)
{
    const struct kg_recorded_block *next = blocks->of[result->n_blocks];
    result->blocks[result->n_blocks++] = block_of(next, blocks->planted);
    result->time_us.p50 = result->blocks[0].p50_us;
}

int kg_gate_bless(const struct kg_gate_blocks *blocks, struct kg_golden *ret_golden, kg_error *ret_error)
{
    struct kg_result result;
    struct kg_provenance provenance = { .git_sha = "" };
    const struct kg_contract contract = kg_policy_contract(&policy);
    memcpy(provenance.uuid, this_card, sizeof this_card);
    result_init(blocks, &result);
    while (result.n_blocks < blocks->count)
        result_add(blocks, &result);
    return kg_golden_of_result(&result, blocks->series->key, &contract, &provenance, ret_golden, ret_error);
}

/* This machine's own noise, as a floor would hold it. */
static struct kg_floor floor_of(const struct kg_gate_rule *rule)
{
    struct kg_floor floor = { .floor_pct[KG_QUANTITY_AGAINST] = rule->floor_pct };
    if (rule->prior) {
        floor.sd[KG_QUANTITY_AGAINST] = rule->prior->sd;
        floor.n_blocks = (int)rule->prior->blocks + 1;
    }
    return floor;
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

struct kg_gate_answer kg_gate_run(const struct kg_gate_blocks *blocks, const struct kg_golden *golden,
                                  const struct kg_gate_rule *rule, struct kg_result *ret_result)
{
    const struct kg_floor floor = floor_of(rule);
    const struct kg_expectation expectation = { .golden = golden,
                                                .floor = &floor,
                                                .device_uuid = rule->same_card ? this_card : other_card };
    bool more = true;
    result_init(blocks, ret_result);
    if (!rule->unchanged)
        ret_result->identity[0] = 0;
    ret_result->of.policy.threshold_pct = rule->threshold_pct;
    ret_result->of.policy.max_blocks = rule->max_blocks;
    ret_result->of.policy.against = rule->against;
    while (more && ret_result->n_blocks < blocks->count) {
        result_add(blocks, ret_result);
        if (is_look(ret_result->n_blocks, rule->max_blocks) || ret_result->n_blocks == blocks->count)
            more = kg_verdict_decide(ret_result, &expectation);
    }
    const int alarm_blocks = ret_result->judgement.alarm_blocks;
    return (struct kg_gate_answer){
        .verdict = ret_result->verdict,
        .decision = { .answer = answer_of(ret_result->verdict),
                      .change_pct = ret_result->judgement.change_pct,
                      .margin_pct = ret_result->judgement.margin_pct,
                      .alarm_blocks = alarm_blocks,
                      .alarm_pct = ret_result->judgement.alarm_pct,
                      .n_blocks = ret_result->n_blocks - alarm_blocks },
        .floor_pct = ret_result->judgement.floor_pct,
        .n_blocks = ret_result->n_blocks,
        .cut = more,
    };
}

struct kg_gate_answer kg_gate_judge(const struct kg_gate_blocks *blocks, const struct kg_golden *golden,
                                    const struct kg_gate_rule *rule)
{
    struct kg_result result;
    return kg_gate_run(blocks, golden, rule, &result);
}

/* ---- the other rules ------------------------------------------------------------------------------------------- */

/* Recorded windows of blocks. Those of a planted arm are the case's, moved to where its p50 is. */
static struct kg_samples samples_of(const struct kg_gate_blocks *blocks, int most, double *ret_us)
{
    struct kg_samples samples = { .us = ret_us };
    for (int i = 0; i < most && i < blocks->count; i++) {
        const struct kg_recorded_block *block = blocks->of[i];
        const double moved = blocks->planted ? block->log_planted_p50 - block->log_p50 : 0;
        for (int k = 0; k < KG_SERIES_SAMPLES; k++)
            ret_us[samples.count++] = exp(block->samples[k] + moved);
    }
    return samples;
}

unsigned kg_gate_rules(const struct kg_gate_blocks *golden, const struct kg_gate_blocks *run, double threshold_pct)
{
    double golden_us[KG_GATE_GOLDEN * KG_SERIES_SAMPLES], run_us[KG_LOOK_EVERY * KG_SERIES_SAMPLES];
    double golden_p50s[KG_GATE_GOLDEN], p50s[KG_LOOK_EVERY];
    unsigned slow = 0;
    for (int i = 0; i < golden->count; i++)
        golden_p50s[i] = exp(golden->of[i]->log_p50);
    for (int i = 0; i < KG_LOOK_EVERY; i++)
        p50s[i] = exp(run->planted ? run->of[i]->log_planted_p50 : run->of[i]->log_p50);
    const struct kg_rule_data data = { { golden_p50s, (size_t)golden->count },
                                       { p50s, KG_LOOK_EVERY },
                                       samples_of(golden, KG_GATE_GOLDEN, golden_us),
                                       samples_of(run, KG_LOOK_EVERY, run_us) };
    for (int i = 0; i < KG_RULES; i++)
        slow |= (unsigned)kg_rule_says_slow(i, &data, threshold_pct) << i;
    return slow;
}

/* ---- pools ----------------------------------------------------------------------------------------------------- */

void kg_pool_add(struct kg_pool *pool, const struct kg_series *series, double planted_pct)
{
    if (!pool->count)
        pool->series = series;
    for (int i = 0; i < series->n_blocks; i++)
        if (planted_pct == 0 || fabs(series->blocks[i].planted_pct - planted_pct) < 1e-6)
            pool->of[pool->count++] = &series->blocks[i];
}

static bool is_among(const struct kg_gate_blocks *blocks, const struct kg_recorded_block *block)
{
    for (int i = 0; i < blocks->count; i++)
        if (blocks->of[i] == block)
            return true;
    return false;
}

int kg_pool_remove(struct kg_pool *pool, const struct kg_gate_blocks *golden, int at)
{
    int kept = 0, before = 0;
    for (int i = 0; i < pool->count; i++) {
        if (is_among(golden, pool->of[i]))
            continue;
        before += i < at;
        pool->of[kept++] = pool->of[i];
    }
    pool->count = kept;
    return before;
}

struct kg_gate_blocks kg_pool_take(const struct kg_pool *pool, int at, bool planted, int *ret_fresh)
{
    struct kg_gate_blocks blocks = { .series = pool->series, .planted = planted };
    const int left = pool->count - at;
    while (blocks.count < pool->count && blocks.count < KG_MAX_BLOCKS) {
        blocks.of[blocks.count] = pool->of[(at + blocks.count) % pool->count];
        blocks.count++;
    }
    *ret_fresh = left < blocks.count ? left : blocks.count;
    return blocks;
}

struct kg_gate_blocks kg_pool_golden(const struct kg_pool *pool, int at)
{
    struct kg_gate_blocks blocks = { .series = pool->series };
    for (int i = at; i < pool->count && blocks.count < KG_GATE_GOLDEN; i++)
        blocks.of[blocks.count++] = pool->of[i];
    return blocks;
}

struct kg_gate_blocks kg_pool_golden_beside(const struct kg_pool *pool, const struct kg_pool *with, int at)
{
    struct kg_gate_blocks blocks = { .series = pool->series };
    for (int i = 0, k = 0; i < pool->count && blocks.count < KG_GATE_GOLDEN; i++) {
        if (k < with->count && with->of[k] == pool->of[i])
            k++;
        else
            blocks.of[blocks.count++] = pool->of[i];
    }
    if (blocks.count == KG_GATE_GOLDEN)
        return blocks;
    return kg_pool_golden(pool, at < KG_GATE_GOLDEN ? pool->count - KG_GATE_GOLDEN : 0);
}
