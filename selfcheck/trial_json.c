/* trial_json.c -- the tables of trial_report.c for a script: their names are an interface, added to and never changed.
 */
#include "selfcheck/trial_report.h"

#include "selfcheck/goal.h"
#include "base/json.h"

static void add_worst(cJSON *object, const struct kg_by_case *by_case)
{
    cJSON *array = cJSON_AddArrayToObject(object, "worst_cases");
    for (size_t i = 0; i < by_case->n_worst && i < KG_WORST_CASES; i++) {
        cJSON *one = cJSON_CreateObject();
        cJSON_AddStringToObject(one, "key", by_case->worst[i].key);
        kg_json_add_real(one, "gates", (double)kg_rate_gates(&by_case->worst[i].rate));
        kg_json_add_real(one, "slow", (double)by_case->worst[i].rate.slow);
        cJSON_AddItemToArray(array, one);
    }
}

static void add_goals(cJSON *root, const struct kg_trials *trials)
{
    static const char *const states[] = { [KG_GOAL_REACHED] = "reached",
                                          [KG_GOAL_MISSED] = "missed",
                                          [KG_GOAL_FEW] = "too few gates",
                                          [KG_GOAL_TOLD] = "told" };
    struct kg_goal goals[KG_MAX_GOALS];
    const size_t count = kg_goals_of(trials, goals);
    cJSON *array = cJSON_AddArrayToObject(root, "goals");
    for (size_t i = 0; i < count; i++) {
        const struct kg_goal *goal = &goals[i];
        cJSON *object = cJSON_CreateObject();
        cJSON_AddStringToObject(object, "what", goal->what);
        cJSON_AddStringToObject(object, "judged", goal->judged);
        cJSON_AddStringToObject(object, "wanted", goal->wanted);
        cJSON_AddStringToObject(object, "state", states[goal->state]);
        if (goal->slowest) {
            kg_json_add_real(object, "mean_s", goal->mean_s);
            kg_json_add_real(object, "worst_s", goal->worst_s);
            cJSON_AddStringToObject(object, "worst_case", goal->slowest);
        } else {
            kg_json_add_real(object, "threshold_pct", goal->threshold_pct);
            kg_json_add_real(object, "gates", (double)kg_rate_gates(&goal->rate));
            kg_json_add_real(object, "independent", (double)kg_goal_independent(goal));
            kg_json_add_real(object, "slow", (double)goal->rate.slow);
            kg_json_add_real(object, "slow_pct", kg_rate_slow_pct(&goal->rate));
            kg_json_add_real(object, "bound_pct",
                             goal->power ? kg_rate_lower_pct(&goal->rate) : kg_rate_upper_pct(&goal->rate));
            kg_json_add_real(object, "mean_of_cases_pct", goal->by_case.mean_slow_pct);
            add_worst(object, &goal->by_case);
        }
        cJSON_AddItemToArray(array, object);
    }
}

static void add_cases(cJSON *root, const struct kg_trials *trials)
{
    static const char *const sds[KG_QUANTITIES] = { "sd_raw", "sd_ratio", "sd_against" };
    cJSON *array = cJSON_AddArrayToObject(root, "cases");
    for (size_t i = 0; i < trials->n_cases; i++) {
        const struct kg_case_noise *it = &trials->cases[i];
        cJSON *object = cJSON_CreateObject();
        cJSON_AddStringToObject(object, "key", it->series->key);
        kg_json_add_real(object, "p50_us", it->p50_us);
        kg_json_add_real(object, "blocks", it->n_blocks);
        for (int quantity = 0; quantity < KG_QUANTITIES; quantity++)
            kg_json_add_real(object, sds[quantity], it->sd[quantity]);
        kg_json_add_real(object, "floor_against_pct", it->floor_pct[KG_QUANTITY_AGAINST]);
        kg_json_add_real(object, "detectable_pct", it->detectable_pct);
        kg_json_add_real(object, "clear_s", it->clear_s);
        cJSON_AddItemToArray(array, object);
    }
}

static void add_spreads(cJSON *root, const struct kg_trials *trials)
{
    cJSON *array = cJSON_AddArrayToObject(root, "ratio_between_cards");
    for (size_t i = 0; i < trials->n_spreads; i++) {
        const struct kg_card_spread *it = &trials->spreads[i];
        cJSON *object = cJSON_CreateObject();
        cJSON_AddStringToObject(object, "key", it->key);
        kg_json_add_real(object, "series", it->n_series);
        kg_json_add_real(object, "cards", it->n_cards);
        kg_json_add_real(object, "sd_pct", it->sd_pct);
        kg_json_add_real(object, "worst_card_pct", it->worst_card_pct);
        kg_json_add_real(object, "worst_start_pct", it->worst_day_pct);
        cJSON_AddItemToArray(array, object);
    }
}

int kg_trials_put_json(const struct kg_trials *trials, const struct kg_series_set *set, FILE *out, kg_error *ret_error)
{
    struct kg_rate_row rows[KG_TRIAL_ROWS + 1];
    cJSON *root = cJSON_CreateObject();
    kg_json_add_real(root, "schema", 1);
    cJSON_AddStringToObject(root, "device", set->items[0].device);
    kg_json_add_real(root, "blocks", (double)trials->n_blocks);
    kg_json_add_real(root, "cards", (double)trials->n_cards);
    kg_json_add_real(root, "starts", (double)trials->n_starts);
    add_goals(root, trials);
    cJSON_AddItemToObject(root, "rates", kg_rates_to_json(rows, kg_trials_rows(trials, rows)));
    cJSON_AddItemToObject(root, "rates_by_class", kg_rates_to_json(trials->groups, trials->n_groups));
    add_cases(root, trials);
    add_spreads(root, trials);
    return kg_json_put(root, out, ret_error);
}
