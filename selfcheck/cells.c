/* cells.c -- names, thresholds and sums of the rows. */
#include "selfcheck/cells.h"

#include <math.h>
#include <string.h>

#include "judge/noise.h"

/* ---- rows ------------------------------------------------------------------------------------------------------ */

/* threshold_pct 0: the one that is asked for. */
static const struct {
    const char *judged;
    double threshold_pct;
    bool resampled;
} rows[KG_TRIAL_ROWS] = {
    [KG_ROW_GOLDEN] = { "golden, same card", 0, false },
    [KG_ROW_GOLDEN_ALL] = { "golden, same card", 0, true },
    [KG_ROW_STEADY] = { "golden, floor at most 0.5%", 0, false },
    [KG_ROW_STEADY_ALL] = { "golden, floor at most 0.5%", 0, true },
    [KG_ROW_DAY_ALL] = { "golden, another start", 0, true },
    [KG_ROW_CARD] = { "golden, another card", 0, false },
    [KG_ROW_CARD_ALL] = { "golden, another card", 0, true },
    [KG_ROW_CARD_ALLOWED] = { "another card, floor allows", 0, true },
    [KG_ROW_AGAINST] = { "against", 0, false },
    [KG_ROW_HALF] = { "against", 0.5, false },
    [KG_ROW_HALF_LONG] = { "against, 10 us and more", 0.5, false },
    [KG_ROW_QUARTER] = { "against", 0.25, false },
    [KG_ROW_QUARTER_LONG] = { "kernels, 20 us, no power cap", 0.25, false },
    [KG_ROW_QUARTER_SEVERAL] = { "several nodes, 20 us, no cap", 0.25, false },
};
static const char *const group_names[KG_KERNEL_GROUPS] = { "launch",  "compute",  "memory",
                                                           "< 10 us", "10-20 us", "20 us and more" };

/* Negative: the row is kgate's own. */
static int rule_of(enum kg_trial_row row)
{
    return row < KG_ROW_RULES ? -1 : (int)(row - KG_ROW_RULES) % KG_RULES;
}

double kg_cells_threshold_pct(const struct kg_cells *cells, enum kg_trial_row row)
{
    if (rule_of(row) >= 0)
        return kg_rule_threshold_pct(rule_of(row), cells->threshold_pct);
    return rows[row].threshold_pct > 0 ? rows[row].threshold_pct : cells->threshold_pct;
}

/* ---- cases ----------------------------------------------------------------------------------------------------- */

static enum kg_kernel_group group_of(const struct kg_series *series, double us)
{
    for (enum kg_kernel_group group = KG_GROUP_LAUNCH; group <= KG_GROUP_MEMORY; group++)
        if (!strcmp(series->kernel_class, group_names[group]))
            return group;
    return us < 10 ? KG_GROUP_UNDER_10_US : us < 20 ? KG_GROUP_UNDER_20_US : KG_GROUP_LONGER;
}

static bool power_limited(const struct kg_series *series)
{
    int limited = 0;
    for (int i = 0; i < series->n_blocks; i++)
        limited += (kg_noise_of_reasons(series->blocks[i].throttle) & 1u << KG_NOISE_POWER_CAP) != 0;
    return 2 * limited > series->n_blocks;
}

struct kg_case_cells *kg_cells_of(struct kg_cells *cells, const struct kg_series *series)
{
    size_t i = 0;
    while (i < cells->n_cases && strcmp(cells->cases[i].key, series->key))
        i++;
    struct kg_case_cells *of = &cells->cases[i];
    if (i == cells->n_cases) {
        const double us = kg_series_p50_us(series);
        cells->n_cases++;
        of->key = series->key;
        of->group = group_of(series, us);
        of->is_long = us >= 10;
        of->is_longer = us >= 20;
    }
    of->is_longer = of->is_longer && !power_limited(series);
    of->several = of->several || series->nodes > 1;
    return of;
}

/* ---- sums ------------------------------------------------------------------------------------------------------ */

static struct kg_rate_row row_of(const struct kg_cells *t, enum kg_trial_row row, const char *name)
{
    const int rule = rule_of(row);
    const bool card = row >= KG_ROW_CARD_RULES;
    struct kg_rate_row one = { .threshold_pct = kg_cells_threshold_pct(t, row),
                               .resampled = rule < 0 ? rows[row].resampled : card };
    snprintf(one.name, sizeof one.name, "%s", name);
    snprintf(one.judged, sizeof one.judged, "%s%s", rule < 0 ? rows[row].judged : kg_rules[rule].name,
             card ? ", other card" : "");
    return one;
}

/* Into its place among the worst, where there is one. */
static void put_worst(const struct kg_case_cells *of, const struct kg_rate *rate, bool power, struct kg_by_case *found)
{
    const double pct = kg_rate_slow_pct(rate);
    size_t at = found->n_worst < KG_WORST_CASES ? found->n_worst : KG_WORST_CASES;
    found->n_worst++;
    for (; at > 0; at--) {
        const double other_pct = kg_rate_slow_pct(&found->worst[at - 1].rate);
        if (power ? other_pct <= pct : other_pct >= pct)
            break;
        if (at < KG_WORST_CASES)
            found->worst[at] = found->worst[at - 1];
    }
    if (at < KG_WORST_CASES) {
        found->worst[at].key = of->key;
        found->worst[at].rate = *rate;
    }
}

static struct kg_by_case by_case(const struct kg_cells *t, enum kg_trial_row row, int planted)
{
    struct kg_by_case found = { .n_worst = 0 };
    double sum_pct = 0;
    size_t count = 0;
    for (size_t i = 0; i < t->n_cases; i++) {
        const struct kg_rate *rate = &t->cases[i].rates[row][planted];
        if (kg_rate_gates(rate) == 0)
            continue;
        sum_pct += kg_rate_slow_pct(rate);
        count++;
        if (rate->slow != (planted ? kg_rate_gates(rate) : 0))
            put_worst(&t->cases[i], rate, planted > 0, &found);
    }
    found.mean_slow_pct = count ? sum_pct / (double)count : NAN;
    return found;
}

void kg_cells_sum(const struct kg_cells *cells, struct kg_rate_row ret_rows[KG_TRIAL_ROWS],
                  struct kg_by_case ret_by_case[KG_TRIAL_ROWS][KG_PLANTED])
{
    for (enum kg_trial_row row = 0; row < KG_TRIAL_ROWS; row++) {
        ret_rows[row] = row_of(cells, row, "all cases");
        for (int planted = 0; planted < KG_PLANTED; planted++) {
            for (size_t i = 0; i < cells->n_cases; i++)
                kg_rate_sum(&ret_rows[row].rates[planted], &cells->cases[i].rates[row][planted]);
            ret_by_case[row][planted] = by_case(cells, row, planted);
        }
    }
}

size_t kg_cells_groups(const struct kg_cells *cells, struct kg_rate_row *room)
{
    size_t count = 0;
    for (int i = 0; i < KG_TRIAL_ROWS * KG_KERNEL_GROUPS; i++) {
        const enum kg_trial_row row = (enum kg_trial_row)(i % KG_TRIAL_ROWS);
        const enum kg_kernel_group group = (enum kg_kernel_group)(i / KG_TRIAL_ROWS);
        struct kg_rate_row one = row_of(cells, row, group_names[group]);
        for (size_t k = 0; k < cells->n_cases; k++)
            for (int planted = 0; planted < KG_PLANTED; planted++)
                if (cells->cases[k].group == group)
                    kg_rate_sum(&one.rates[planted], &cells->cases[k].rates[row][planted]);
        if (kg_rate_row_gates(&one))
            room[count++] = one;
    }
    return count;
}
