/* simulate.c -- gates of synthetic noise, judged as a run judges them and by other rules. A gate is a golden of one
 * session and a run of another; the run's blocks, made as kg_decide asks for them, hold the case, its anchor and its
 * baseline, so that they serve judgement by golden and against the baseline. A planted slowdown is added to the case's
 * blocks: every size is judged on the same noise. */
#include "simulate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "judge/judge.h"
#include "noise_model.h"
#include "plan/policy.h"
#include "selfcheck/goal.h"
#include "selfcheck/rules.h"

const struct kg_simulation kg_simulation_usual = {
    .gates = KG_SIMULATED_GATES, .rounds = KG_MAX_ROUNDS, .seed = 1, .threshold_pct = -1
};

#define TURNS KG_SYNTHETIC_TURNS
#define SAMPLED 3 /* blocks of a run whose samples the other rules see */
#define MAX_JUDGED 4
#define OTHER_RULES 3
#define MAX_ROWS (MAX_JUDGED + OTHER_RULES)

/* What all gates share. */
struct setting {
    uint64_t seed;
    size_t gates, power_gates, rule_gates;
    int max_blocks;
    double golden_pct, against_pct[MAX_JUDGED - 1]; /* thresholds */
    int n_against;
};

static struct setting setting_of(const struct kg_simulation *simulation)
{
    const bool usual = simulation->threshold_pct < 0;
    const double threshold_pct = usual ? KG_GOAL_PCT : simulation->threshold_pct;
    struct setting setting = {
        .seed = simulation->seed,
        .gates = (size_t)simulation->gates,
        .max_blocks = simulation->rounds,
        .golden_pct = threshold_pct,
        .against_pct = { threshold_pct, 0.5, 0.25 },
        .n_against = usual ? 3 : 1,
    };
    setting.power_gates = setting.gates < KG_SIMULATED_POWER ? setting.gates : KG_SIMULATED_POWER;
    setting.rule_gates = setting.gates < KG_SIMULATED_RULES ? setting.gates : KG_SIMULATED_RULES;
    return setting;
}

/* ---- a gate ---------------------------------------------------------------------------------------------------- */

struct gate {
    struct kg_synthetic_session run;
    enum kg_quantity quantity; /* the golden's: raw or ratio */
    double golden[KG_SIMULATED_GOLDEN];
    double by_golden[2 * KG_MAX_SET], by_baseline[2 * KG_MAX_SET]; /* the run's blocks */
    int n_blocks;
    double golden_us[KG_SIMULATED_GOLDEN * TURNS], run_us[SAMPLED * TURNS]; /* samples; where the rules want them */
};

static double deviation(const double *values, int count)
{
    double sum = 0, squares = 0;
    for (int i = 0; i < count; i++)
        sum += values[i];
    for (int i = 0; i < count; i++)
        squares += (values[i] - sum / count) * (values[i] - sum / count);
    return sqrt(squares / (count - 1));
}

static void keep_samples(const struct kg_synthetic_block *block, double *ret_us)
{
    for (int i = 0; i < TURNS; i++)
        ret_us[i] = exp(block->logs[KG_SYNTHETIC_CASE][i]);
}

/* As a bless does: the steadier of p50 and ratio is what is judged. */
static void bless(struct gate *gate, const struct kg_noise_model *model, uint64_t key, bool sampled)
{
    struct kg_synthetic_session session = kg_synthetic_session_of(model, key);
    struct kg_synthetic_block block;
    double raw[KG_SIMULATED_GOLDEN], ratio[KG_SIMULATED_GOLDEN];
    for (int i = 0; i < KG_SIMULATED_GOLDEN; i++) {
        kg_synthetic_next(&session, 2, &block);
        raw[i] = kg_synthetic_p50(&block, KG_SYNTHETIC_CASE);
        ratio[i] = kg_synthetic_ratio(&block, KG_SYNTHETIC_CASE, KG_SYNTHETIC_ANCHOR);
        if (sampled)
            keep_samples(&block, gate->golden_us + i * TURNS);
    }
    bool steadier = deviation(ratio, KG_SIMULATED_GOLDEN) < deviation(raw, KG_SIMULATED_GOLDEN);
    gate->quantity = steadier ? KG_QUANTITY_RATIO : KG_QUANTITY_RAW;
    memcpy(gate->golden, steadier ? ratio : raw, sizeof gate->golden);
}

static void measure(struct gate *gate, int n_blocks, bool sampled)
{
    struct kg_synthetic_block block;
    for (; gate->n_blocks < n_blocks; gate->n_blocks++) {
        kg_synthetic_next(&gate->run, KG_SYNTHETIC_ARMS, &block);
        gate->by_golden[gate->n_blocks] = gate->quantity == KG_QUANTITY_RATIO
                                              ? kg_synthetic_ratio(&block, KG_SYNTHETIC_CASE, KG_SYNTHETIC_ANCHOR)
                                              : kg_synthetic_p50(&block, KG_SYNTHETIC_CASE);
        gate->by_baseline[gate->n_blocks] = kg_synthetic_ratio(&block, KG_SYNTHETIC_CASE, KG_SYNTHETIC_BASELINE);
        if (sampled && gate->n_blocks < SAMPLED)
            keep_samples(&block, gate->run_us + gate->n_blocks * TURNS);
    }
}

static void begin(struct gate *gate, const struct kg_noise_model *model, uint64_t key, bool sampled)
{
    gate->run = kg_synthetic_session_of(model, key + 1);
    gate->n_blocks = 0;
    bless(gate, model, key, sampled);
    measure(gate, SAMPLED, sampled);
}

/* ---- judging it ------------------------------------------------------------------------------------------------ */

static struct kg_criteria by_golden(const struct gate *gate, const struct setting *setting)
{
    double blocks[KG_SIMULATED_GOLDEN];
    for (int i = 0; i < KG_SIMULATED_GOLDEN; i++)
        blocks[i] = exp(gate->golden[i]);
    double floor_pct = kg_golden_floor_pct(blocks, KG_SIMULATED_GOLDEN, KG_CUDA);
    return (struct kg_criteria){
        .golden = gate->golden,
        .n_golden = KG_SIMULATED_GOLDEN,
        .prior = kg_judge_golden_prior(floor_pct, KG_SIMULATED_GOLDEN),
        .threshold_pct = setting->golden_pct,
        .floor_pct = floor_pct,
        .max_blocks = setting->max_blocks,
    };
}

/* Of a machine where selfcheck has not measured the case. */
static struct kg_criteria by_baseline(const struct kg_noise_model *model, const struct setting *setting,
                                      double threshold_pct)
{
    struct kg_prior prior = kg_judge_class_prior(KG_CUDA, model->case_us);
    return (struct kg_criteria){
        .prior = prior,
        .threshold_pct = threshold_pct,
        .floor_pct = 100 * expm1(2 * prior.sd),
        .max_blocks = setting->max_blocks,
    };
}

static struct kg_decision judge(struct gate *gate, const struct kg_criteria *criteria, const double *blocks,
                                double planted_pct)
{
    double logs[2 * KG_MAX_SET], planted = log1p(planted_pct / 100);
    struct kg_decision decision = { .wanted = KG_LOOK_EVERY };
    for (int n = 0; decision.wanted;) {
        measure(gate, decision.wanted, false);
        for (; n < decision.wanted; n++)
            logs[n] = blocks[n] + planted;
        decision = kg_decide(criteria, logs, n);
    }
    return decision;
}

/* By one p50 of a process, by the ranks of all samples, by the mean of a process. */
static void judge_by_rules(const struct gate *gate, double threshold_pct, double planted_pct, int planted,
                           struct kg_rate_row rows[OTHER_RULES])
{
    double us[SAMPLED * TURNS];
    for (int i = 0; i < SAMPLED * TURNS; i++)
        us[i] = gate->run_us[i] * (1 + planted_pct / 100);
    const struct kg_samples golden = { gate->golden_us, TURNS }, now = { us, TURNS };
    const struct kg_samples all_golden = { gate->golden_us, KG_SIMULATED_GOLDEN * TURNS },
                            all = { us, SAMPLED * TURNS };
    kg_rate_add_call(&rows[0].rates[planted], kg_rule_p50(golden, now, threshold_pct), 1);
    kg_rate_add_call(&rows[1].rates[planted], kg_rule_mann_whitney(all_golden, all), SAMPLED);
    kg_rate_add_call(&rows[2].rates[planted], kg_rule_stdrel(golden, now, threshold_pct), 1);
}

static void judge_gate(struct gate *gate, const struct setting *setting, struct kg_criteria against[], size_t index,
                       struct kg_rate_row *rows)
{
    const struct kg_criteria golden = by_golden(gate, setting);
    for (int planted = 0; planted < (index < setting->power_gates ? KG_PLANTED : 1); planted++) {
        double planted_pct = kg_planted_pct[planted];
        struct kg_decision decision = judge(gate, &golden, gate->by_golden, planted_pct);
        kg_rate_add(&rows[0].rates[planted], &decision);
        for (int i = 0; i < setting->n_against; i++) {
            decision = judge(gate, &against[i], gate->by_baseline, planted_pct);
            kg_rate_add(&rows[1 + i].rates[planted], &decision);
        }
        if (index < setting->rule_gates)
            judge_by_rules(gate, setting->golden_pct, planted_pct, planted, rows + 1 + setting->n_against);
    }
}

/* ---- all of them ----------------------------------------------------------------------------------------------- */

static void name_rows(const struct kg_noise_model *model, const struct setting *setting, struct kg_rate_row *rows)
{
    static const char *const others[OTHER_RULES] = { "one p50", "Mann-Whitney", "mean, stdrel" };
    for (int i = 0; i < 1 + setting->n_against + OTHER_RULES; i++) {
        struct kg_rate_row *row = &rows[i];
        int other = i - 1 - setting->n_against;
        (void)snprintf(row->name, sizeof row->name, "%s", model->name);
        (void)snprintf(row->judged, sizeof row->judged, "%s", other >= 0 ? others[other] : i ? "against" : "golden");
        row->threshold_pct = other == 1 ? 0 : i == 0 || other >= 0 ? setting->golden_pct : setting->against_pct[i - 1];
    }
}

static void simulate_model(const struct kg_noise_model *model, const struct setting *setting, struct kg_rate_row *rows)
{
    struct gate gate;
    struct kg_criteria against[MAX_JUDGED - 1];
    uint64_t key = kg_random_key(setting->seed, (uint32_t)(model - kg_noise_models));
    for (int i = 0; i < setting->n_against; i++)
        against[i] = by_baseline(model, setting, setting->against_pct[i]);
    name_rows(model, setting, rows);
    for (size_t i = 0; i < setting->gates; i++) {
        begin(&gate, model, key + 2 * i, i < setting->rule_gates);
        judge_gate(&gate, setting, against, i, rows);
    }
}

static int unknown(const char *noise, kg_error *ret_error)
{
    char names[200] = "";
    for (size_t i = 0, used = 0; i < kg_n_noise_models; i++)
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", i ? ", " : "", kg_noise_models[i].name);
    return kg_fail(ret_error, KG_EINVAL, "--noise %.100s: %s wanted", noise, names);
}

int kg_simulate_rows(const struct kg_simulation *simulation, struct kg_rate_row **ret_rows, size_t *ret_count,
                     kg_error *ret_error)
{
    const struct setting setting = setting_of(simulation);
    const struct kg_noise_model *only = simulation->noise ? kg_noise_model_find(simulation->noise) : NULL;
    if (simulation->noise && !only)
        return unknown(simulation->noise, ret_error);
    if (!(setting.golden_pct > 0))
        return kg_fail(ret_error, KG_EINVAL, "--threshold 0: over 0 wanted");
    const size_t n_models = only ? 1 : kg_n_noise_models, each = 1 + (size_t)setting.n_against + OTHER_RULES;
    struct kg_rate_row *rows = calloc(n_models * each, sizeof *rows);
    if (!rows)
        return kg_fail(ret_error, KG_ENOMEM, "no memory for the rates");
    for (size_t i = 0; i < n_models; i++)
        simulate_model(only ? only : &kg_noise_models[i], &setting, rows + i * each);
    *ret_rows = rows;
    *ret_count = n_models * each;
    return KG_OK;
}

int kg_simulate(const struct kg_simulation *simulation, FILE *out, kg_error *ret_error)
{
    struct kg_rate_row *rows = NULL;
    size_t n_rows = 0;
    int status = kg_simulate_rows(simulation, &rows, &n_rows, ret_error);
    if (status)
        return status;
    fprintf(out, "simulated gates: a golden of %d blocks and up to two sets of %d rounds, seed %llu\n\n",
            KG_SIMULATED_GOLDEN, simulation->rounds, (unsigned long long)simulation->seed);
    kg_rates_put_table(rows, n_rows, out);
    fprintf(out, "\nnoise\n");
    for (size_t i = 0; i < kg_n_noise_models; i++)
        if (!simulation->noise || !strcmp(simulation->noise, kg_noise_models[i].name))
            fprintf(out, "  %-14s  %s\n", kg_noise_models[i].name, kg_noise_models[i].source);
    free(rows);
    return KG_OK;
}
