/* policy.c -- defaults of the timing policy and the contract that goldens keep of it. */
#include "plan/policy.h"

#define GPU_WINDOW_US 200.0
/* Shorter than a scheduler's slice: on a busy machine most windows are still undisturbed. */
#define CPU_WINDOW_US 250.0
#define GPU_ARM_US 30e3
#define CPU_ARM_US 200e3
#define GPU_SETS 32
#define CPU_SETS 4
#define CREEP_PCT 5.0
#define EVENT_WARMUP 200
#define EVENT_SAMPLES 500

static double threshold_of(const kg_suite *suite, enum kg_device_kind kind, double override_pct)
{
    if (override_pct >= 0)
        return override_pct;
    if (kind == KG_CPU)
        return suite->time.cpu_regress_pct > 0 ? suite->time.cpu_regress_pct : 10.0;
    return suite->time.regress_pct > 0 ? suite->time.regress_pct : 2.0;
}

struct kg_timing kg_timing_of(const kg_suite *suite, enum kg_device_kind kind,
                              const struct kg_timing_overrides *overrides)
{
    const kg_time_policy *policy = &suite->time;
    struct kg_timing timing = {
        .timer = overrides->timer >= 0 ? (enum kg_timer)overrides->timer : policy->timer,
        .l2 = overrides->l2 >= 0 ? (enum kg_l2)overrides->l2 : policy->l2,
        .warmup = policy->warmup ? policy->warmup : EVENT_WARMUP,
        .samples = policy->samples ? policy->samples : EVENT_SAMPLES,
        .window_us = kind == KG_CPU ? CPU_WINDOW_US : GPU_WINDOW_US,
        .sets = kind == KG_CPU ? CPU_SETS : GPU_SETS,
        .arm_us = kind == KG_CPU ? CPU_ARM_US : GPU_ARM_US,
        .threshold_pct = threshold_of(suite, kind, overrides->threshold_pct),
        .creep_pct = policy->creep_pct > 0 ? policy->creep_pct : CREEP_PCT,
    };
    if (overrides->warmup >= 0)
        timing.warmup = overrides->warmup;
    if (overrides->samples > 0)
        timing.samples = overrides->samples;
    return timing;
}

struct kg_contract kg_timing_contract(const struct kg_timing *timing)
{
    struct kg_contract contract = { .window_us = timing->timer == KG_TIMER_GRAPH ? timing->window_us : 0 };
    snprintf(contract.timer, sizeof contract.timer, "%s", timing->timer == KG_TIMER_GRAPH ? "graph" : "event");
    snprintf(contract.l2, sizeof contract.l2, "%s", timing->l2 == KG_L2_COLD ? "cold" : "warm");
    snprintf(contract.data, sizeof contract.data, "irwin-hall-8");
    return contract;
}
