/* policy.c -- defaults of the policy, and the contract that goldens keep of it. */
#include "plan/policy.h"

#include <math.h>
#include <string.h>

#define GPU_WINDOW_US 200.0
/* Shorter than a scheduler's slice: on a busy machine most windows are still undisturbed. */
#define CPU_WINDOW_US 250.0
#define GPU_ARM_US 30e3
#define CPU_ARM_US 200e3
#define GPU_SETS 32
#define CPU_SETS 4
#define EVENT_WARMUP 200
#define EVENT_SAMPLES 500

bool kg_contract_same(const struct kg_contract *a, const struct kg_contract *b)
{
    /* windows pass through a file of five digits */
    return !strcmp(a->timer, b->timer) && !strcmp(a->l2, b->l2) && !strcmp(a->data, b->data) &&
           fabs(a->window_us - b->window_us) <= 1e-4 * fabs(b->window_us);
}

static double threshold_of(const kg_time_policy *time, enum kg_device_kind kind, double override_pct)
{
    if (override_pct >= 0)
        return override_pct;
    if (kind == KG_CPU)
        return time->cpu_regress_pct > 0 ? time->cpu_regress_pct : KG_CPU_THRESHOLD_PCT;
    return time->regress_pct > 0 ? time->regress_pct : KG_GPU_THRESHOLD_PCT;
}

struct kg_policy kg_policy_of(const kg_suite *suite, const kg_backend *backend, enum kg_device_kind kind,
                              const struct kg_policy_terms *terms)
{
    const kg_time_policy *time = &suite->time;
    const struct kg_timing_overrides *given = terms->timing;
    const bool cpu = kind == KG_CPU;
    return (struct kg_policy){
        .timer = given->timer >= 0 ? (enum kg_timer)given->timer : time->timer,
        .l2 = given->l2 >= 0 ? (enum kg_l2)given->l2 : time->l2,
        .warmup = given->warmup >= 0 ? given->warmup
                  : time->warmup     ? time->warmup
                                     : EVENT_WARMUP,
        .samples = given->samples > 0 ? given->samples
                   : time->samples    ? time->samples
                                      : EVENT_SAMPLES,
        .window_us = cpu ? CPU_WINDOW_US : GPU_WINDOW_US,
        .sets = cpu ? CPU_SETS : GPU_SETS,
        .arm_us = cpu ? CPU_ARM_US : GPU_ARM_US,
        .threshold_pct = threshold_of(time, kind, given->threshold_pct),
        .threshold_from = given->threshold_pct >= 0 ? KG_THRESHOLD_OF_COMMAND : KG_THRESHOLD_OF_TABLE,
        .creep_pct = time->creep_pct > 0 ? time->creep_pct : KG_CREEP_PCT,
        .max_blocks = terms->rounds && terms->rounds < KG_MAX_ROUNDS ? terms->rounds : KG_MAX_ROUNDS,
        .timed = !terms->no_time && kg_timed_by_tables(suite, backend),
        .against = terms->against,
        .is_cpu_anchor = cpu && backend == suite->cpu_anchor,
    };
}

struct kg_contract kg_policy_contract(const struct kg_policy *policy)
{
    const bool graph = policy->timer == KG_TIMER_GRAPH;
    struct kg_contract contract = { .window_us = graph ? policy->window_us : 0 };
    snprintf(contract.timer, sizeof contract.timer, "%s", graph ? "graph" : "event");
    snprintf(contract.l2, sizeof contract.l2, "%s", policy->l2 == KG_L2_COLD ? "cold" : "warm");
    snprintf(contract.data, sizeof contract.data, "irwin-hall-8");
    return contract;
}
