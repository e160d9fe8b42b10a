/* noise_model.c -- the table of models, and a block from a model: the machine's path through time, what each arm adds.
 * Deviates come from counters through runner/base/random.h's mix, so a block is the same whenever it is made. */
#include "noise_model.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "measure/order.h"
#include "base/random.h"

#define GOLDEN_RATIO 0x9e3779b97f4a7c15u
#define PI 3.14159265358979323846
/* Measured on H200s; docs/results/h200.md has some of it. white_pct is such that a block's p50 has the standard
 * deviation that blocks of 150 windows and more had, though it has 12 windows here. */
#define KERNEL_13_US .white_pct = 0.22, .case_us = 12.7, .sets = 1

const struct kg_noise_model kg_noise_models[] = {
    { "white", "12.7 us kernel: sd of p50 between blocks 0.08%", KERNEL_13_US },
    { "drift", "power-limited attention: p50 moves by up to 5.5% within a process, windows by 1.7% within a block",
      .case_us = 900, .white_pct = 0.22, .sets = 1, .slope_pct = 1, .walk_pct = 0.15 },
    { "clock", "power-limited attention: sd of p50 0.94%, of the ratio of two copies 0.05%; steps of 15 MHz of 1980",
      .case_us = 900, .white_pct = 0.22, .sets = 1, .step_pct = 0.76, .levels = 5, .hold_windows = 40 },
    { "tails", "another process or an interrupt: one window in twenty is slower, by 1% to many times", KERNEL_13_US,
      .tail_share = 0.05, .tail_pct = 1, .tail_power = 1.5 },
    { "process", "two copies of a 12.7 us kernel: sd of the ratio between processes 0.07%, worst of 30 0.16%",
      KERNEL_13_US, .process_pct = 0.05 },
    { "session", "62 cases on other cards and days: sd of the change in the ratio to the anchor 0.4 to 0.5%",
      KERNEL_13_US, .session_pct = 0.2, .machine_session_pct = 0.2 },
    { "autocorrelated", "attention of 9 to 26 us: sd of p50 0.2 to 0.6%, of the ratio of two copies 0.05 to 0.2%",
      KERNEL_13_US, .machine_pct = 0.4, .correlation = 0.9 },
    { "placement", "5.4 us kernel: buffer sets of 5.27, 5.39 and 5.50 us; p50 between processes 2 sd = 1.6%",
      .case_us = 5.4, .white_pct = 0.22, .sets = 4, .modes_pct = { -2.25, 0, 2.02 } },
    { "all", "a kernel of 20 us with all of these at once, smaller", .case_us = 20, .white_pct = 0.15,
      .machine_pct = 0.2, .correlation = 0.9, .slope_pct = 0.5, .walk_pct = 0.05, .step_pct = 0.76, .levels = 3,
      .hold_windows = 80, .tail_share = 0.02, .tail_pct = 1, .tail_power = 1.5, .process_pct = 0.03,
      .session_pct = 0.15, .machine_session_pct = 0.15, .sets = 4, .modes_pct = { -0.1, 0, 0.1 } },
};
const size_t kg_n_noise_models = sizeof kg_noise_models / sizeof *kg_noise_models;

/* Power-limited attention: sd 0.94% alone, 0.12% against another kernel as anchor. */
static const double follows[KG_SYNTHETIC_ARMS] = {
    [KG_SYNTHETIC_CASE] = 1, [KG_SYNTHETIC_ANCHOR] = 0.87, [KG_SYNTHETIC_BASELINE] = 1
};

const struct kg_noise_model *kg_noise_model_find(const char *name)
{
    for (size_t i = 0; i < kg_n_noise_models; i++)
        if (!strcmp(kg_noise_models[i].name, name))
            return &kg_noise_models[i];
    return NULL;
}

/* ---- deviates -------------------------------------------------------------------------------------------------- */

/* What a key is used for; each use has counters of its own. */
enum use { USE_BLOCK = 1, USE_ORDER, USE_ARMS, USE_WINDOWS, USE_MACHINE, USE_STEPS, USE_TAILS, USE_MODES };

static uint64_t key_of(uint64_t key, enum use use, uint64_t counter)
{
    return kg_mix64(key + (counter * 16 + use) * GOLDEN_RATIO);
}

static uint64_t word_of(uint64_t key, int counter)
{
    return kg_mix64(key + ((uint64_t)counter + 1) * GOLDEN_RATIO);
}

/* In (0, 1]: its logarithm is finite. */
static double uniform_of(uint64_t word)
{
    return ((double)(word >> 11) + 1) * 0x1p-53;
}

static int below(uint64_t word, int count)
{
    return (int)((word >> 32) * (uint64_t)count >> 32);
}

/* Box and Muller 1958. */
void kg_synthetic_normals(uint64_t key, double *ret_values, int count)
{
    for (int i = 0; i < count; i += 2) {
        double radius = sqrt(-2 * log(uniform_of(word_of(key, i))));
        double angle = 2 * PI * uniform_of(word_of(key, i + 1));
        ret_values[i] = radius * cos(angle);
        ret_values[i + 1] = radius * sin(angle);
    }
}

/* ---- a block --------------------------------------------------------------------------------------------------- */

#define WINDOWS (KG_SYNTHETIC_ARMS * KG_SYNTHETIC_TURNS)

struct kg_synthetic_session kg_synthetic_session_of(const struct kg_noise_model *model, uint64_t key)
{
    struct kg_synthetic_session session = { .model = model, .key = kg_mix64(key) };
    double normals[4];
    kg_synthetic_normals(key_of(session.key, USE_ARMS, 0), normals, 4);
    for (int arm = 0; arm < KG_SYNTHETIC_ARMS; arm++) {
        double own = arm == KG_SYNTHETIC_ANCHOR ? normals[1] : normals[0];
        session.bias[arm] = 0.01 * (own * model->session_pct + follows[arm] * normals[2] * model->machine_session_pct);
    }
    return session;
}

/* Adds the steps of the clock: at every window it may go to a level drawn anew. */
static void add_steps(const struct kg_noise_model *model, uint64_t key, int n_windows, double *machine)
{
    double level = 0;
    for (int i = 0; i < n_windows; i++) {
        uint64_t word = word_of(key, i);
        if (i == 0 || uniform_of(word) * model->hold_windows < 1)
            level = below(kg_mix64(word), model->levels) - 0.5 * (model->levels - 1);
        machine[i] += level * 0.01 * model->step_pct;
    }
}

/* Adds stationary noise in which neighbours are alike. */
static void add_correlated(const struct kg_noise_model *model, uint64_t key, int n_windows, double *machine)
{
    double normals[WINDOWS], value = 0;
    double fresh = sqrt(1 - model->correlation * model->correlation);
    kg_synthetic_normals(key, normals, n_windows);
    for (int i = 0; i < n_windows; i++) {
        value = i ? model->correlation * value + fresh * normals[i] : normals[0];
        machine[i] += value * 0.01 * model->machine_pct;
    }
}

/* What all arms see, by window in time. */
static void fill_machine(struct kg_synthetic_session *session, uint64_t key, int n_windows, double *ret_machine)
{
    const struct kg_noise_model *model = session->model;
    double normals[2];
    kg_synthetic_normals(key_of(key, USE_MACHINE, 0), normals, 2);
    session->walk += normals[0] * 0.01 * model->walk_pct;
    double slope = normals[1] * 0.01 * model->slope_pct;
    for (int i = 0; i < n_windows; i++)
        ret_machine[i] = session->walk + slope * ((i + 0.5) / n_windows - 0.5);
    if (model->levels)
        add_steps(model, key_of(key, USE_STEPS, 0), n_windows, ret_machine);
    if (model->machine_pct > 0)
        add_correlated(model, key_of(key, USE_MACHINE, 1), n_windows, ret_machine);
}

/* Adds what is slower now and then. */
static void add_tails(const struct kg_noise_model *model, uint64_t key, double *log)
{
    for (int i = 0; i < KG_SYNTHETIC_TURNS; i++) {
        uint64_t word = word_of(key, i);
        if (uniform_of(word) <= model->tail_share)
            log[i] += log1p(0.01 * model->tail_pct * pow(uniform_of(kg_mix64(word)), -1 / model->tail_power));
    }
}

/* Adds the sets' places in memory. */
static void add_modes(const struct kg_noise_model *model, uint64_t key, double *log)
{
    for (int i = 0; i < KG_SYNTHETIC_TURNS; i++) {
        static const int modes[4] = { 0, 1, 1, 2 };
        log[i] += 0.01 * model->modes_pct[modes[word_of(key, i % model->sets) >> 62]];
    }
}

/* What the arms have each by itself. */
static void fill_arms(const struct kg_synthetic_session *session, uint64_t key, int n_arms,
                      struct kg_synthetic_block *block)
{
    const struct kg_noise_model *model = session->model;
    double own[KG_SYNTHETIC_ARMS + 1], windows[WINDOWS];
    kg_synthetic_normals(key_of(key, USE_ARMS, 0), own, KG_SYNTHETIC_ARMS + 1);
    kg_synthetic_normals(key_of(key, USE_WINDOWS, 0), windows, n_arms * KG_SYNTHETIC_TURNS);
    for (int arm = 0; arm < n_arms; arm++) {
        double *log = block->logs[arm], base = session->bias[arm] + own[arm] * 0.01 * model->process_pct;
        for (int i = 0; i < KG_SYNTHETIC_TURNS; i++)
            log[i] = base + windows[arm * KG_SYNTHETIC_TURNS + i] * 0.01 * model->white_pct;
        if (model->tail_share > 0)
            add_tails(model, key_of(key, USE_TAILS, (uint64_t)arm), log);
        if (model->sets > 1)
            add_modes(model, key_of(key, USE_MODES, (uint64_t)arm), log);
    }
}

static bool moves(const struct kg_noise_model *model)
{
    return model->walk_pct > 0 || model->slope_pct > 0 || model->levels || model->machine_pct > 0;
}

void kg_synthetic_next(struct kg_synthetic_session *session, int n_arms, struct kg_synthetic_block *ret_block)
{
    uint64_t key = key_of(session->key, USE_BLOCK, session->n_blocks++);
    uint8_t orders[KG_SYNTHETIC_TURNS];
    double machine[WINDOWS];
    *ret_block = (struct kg_synthetic_block){ .sets = session->model->sets };
    fill_arms(session, key, n_arms, ret_block);
    if (!moves(session->model))
        return;
    fill_machine(session, key, n_arms * KG_SYNTHETIC_TURNS, machine);
    kg_order_balanced(key_of(key, USE_ORDER, 0), n_arms, orders, KG_SYNTHETIC_TURNS);
    for (int turn = 0; turn < KG_SYNTHETIC_TURNS; turn++) {
        for (int position = 0; position < n_arms; position++) {
            int arm = kg_order_arm(n_arms, orders[turn], position);
            ret_block->logs[arm][turn] += follows[arm] * machine[turn * n_arms + position];
        }
    }
}

/* ---- what a block yields --------------------------------------------------------------------------------------- */

static double median(double *values, int count)
{
    for (int i = 1; i < count; i++) {
        double value = values[i];
        int j = i;
        for (; j > 0 && values[j - 1] > value; j--)
            values[j] = values[j - 1];
        values[j] = value;
    }
    return (values[(count - 1) / 2] + values[count / 2]) / 2;
}

/* kg_center_of_sets of runner/measure/block.h, but for few values and millions of times. */
static double mean_of_medians(const double values[KG_SYNTHETIC_TURNS], int sets)
{
    double sum = 0, one[KG_SYNTHETIC_TURNS];
    for (int set = 0; set < sets; set++) {
        int n = 0;
        for (int i = set; i < KG_SYNTHETIC_TURNS; i += sets)
            one[n++] = values[i];
        sum += median(one, n);
    }
    return sum / sets;
}

double kg_synthetic_p50(const struct kg_synthetic_block *block, enum kg_synthetic_arm arm)
{
    return mean_of_medians(block->logs[arm], block->sets);
}

double kg_synthetic_ratio(const struct kg_synthetic_block *block, enum kg_synthetic_arm arm,
                          enum kg_synthetic_arm other)
{
    double ratios[KG_SYNTHETIC_TURNS];
    for (int i = 0; i < KG_SYNTHETIC_TURNS; i++)
        ratios[i] = block->logs[arm][i] - block->logs[other][i];
    return mean_of_medians(ratios, block->sets);
}
