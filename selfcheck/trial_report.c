/* trial_report.c -- tables of goals, rates, cases and cards, and the same as JSON, whose names are an interface, added
 * to and never changed. */
#include "selfcheck/trial.h"

#include "base/json.h"
#include "selfcheck/goal.h"
#include "selfcheck/columns.h"

#define CELL KG_COLUMNS_CELL

/* ---- goals ----------------------------------------------------------------------------------------------------- */

enum { G_STATE, G_WHAT, G_JUDGED, G_BY, G_WANTED, G_FOUND, G_SHARE, G_BOUND, G_GATES };

static void put_gates(const struct kg_goal *goal, struct kg_columns_line *line)
{
    const struct kg_rate *rate = &goal->rate;
    kg_rate_of_text(rate, line->cells[G_FOUND], CELL);
    if (!kg_rate_gates(rate))
        return;
    kg_rate_pct_text(kg_rate_slow_pct(rate), line->cells[G_SHARE], CELL);
    kg_rate_pct_text(goal->power ? kg_rate_lower_pct(rate) : kg_rate_upper_pct(rate), line->cells[G_BOUND], CELL);
    if (goal->resampled)
        kg_columns_set(line, G_GATES, "resampled");
    else if (rate->shared)
        kg_columns_set(line, G_GATES, "independent but %zu", rate->shared);
    else
        kg_columns_set(line, G_GATES, "independent");
}

static struct kg_columns_line goal_line(const void *of, size_t i)
{
    const struct kg_goal *goal = (const struct kg_goal *)of + i;
    struct kg_columns_line line = { { { 0 } } };
    kg_columns_set(&line, G_STATE, "%s", kg_goal_state_name(goal->state));
    kg_columns_set(&line, G_WHAT, "%s", goal->what);
    kg_columns_set(&line, G_JUDGED, "%s", goal->judged);
    kg_columns_set(&line, G_WANTED, "%s", goal->wanted);
    if (goal->slowest) {
        kg_columns_set(&line, G_FOUND, "at most %.2f s", goal->worst_s);
        kg_columns_set(&line, G_GATES, "mean %.2f s", goal->mean_s);
    } else {
        kg_columns_set(&line, G_BY, "%g%%", goal->threshold_pct);
        put_gates(goal, &line);
    }
    return line;
}

/* Where a rate is not what it would be at best: whose gates they are. */
static void put_worst(const struct kg_goal *goal, FILE *out)
{
    const struct kg_by_case *by_case = &goal->by_case;
    char text[CELL];
    if (!by_case->n_worst)
        return;
    kg_rate_pct_text(by_case->mean_slow_pct, text, sizeof text);
    fprintf(out, "  %s, %s at %g%%: mean of cases %s; %zu not at their best%s\n", goal->what, goal->judged,
            goal->threshold_pct, text, by_case->n_worst, by_case->n_worst > KG_WORST_CASES ? ", the worst" : "");
    for (size_t i = 0; i < by_case->n_worst && i < KG_WORST_CASES; i++) {
        kg_rate_of_text(&by_case->worst[i].rate, text, sizeof text);
        fprintf(out, "  %14s  %s\n", text, by_case->worst[i].key);
    }
}

static void put_goals(const struct kg_trials *trials, FILE *out)
{
    static const struct kg_columns_line head = { { "", "what must be reached", "judged by", "at", "wanted", "found",
                                                   "share", "bound", "gates" } };
    struct kg_goal goals[KG_MAX_GOALS];
    const size_t count = kg_goals_of(trials, goals);
    const struct kg_columns columns = { .head = &head,
                                        .left = 1u << G_STATE | 1u << G_WHAT | 1u << G_JUDGED | 1u << G_GATES,
                                        .line = goal_line,
                                        .of = goals,
                                        .n_lines = count };
    kg_columns_put(&columns, out);
    fputs("\nBounds: one-sided, 95%; too narrow where gates are resampled. 'independent but N': N gates ran out of "
          "blocks of their\nown and went on with others'. What is unsure is not found. Clear case: windows of three "
          "rounds on the GPU.\n\n",
          out);
    for (size_t i = 0; i < count; i++)
        put_worst(&goals[i], out);
    fputc('\n', out);
}

/* ---- the other rules ------------------------------------------------------------------------------------------- */

/* kgate by goldens, then the rules on the same card; the same on another. */
#define N_COMPARED_ROWS (2 * (1 + KG_RULES))

static enum kg_trial_row compared_row(size_t i)
{
    const size_t rule = i % (1 + KG_RULES);
    const bool card = i > KG_RULES;
    return rule == 0 ? (card ? KG_ROW_CARD_ALL : KG_ROW_GOLDEN)
                     : (enum kg_trial_row)((card ? KG_ROW_CARD_RULES : KG_ROW_RULES) + rule - 1);
}

static const int compared[] = { 0, 5, 4 }; /* of kg_planted_pct: false SLOW, +5%, +3% */
#define N_COMPARED (int)(sizeof compared / sizeof *compared)

/* Of whole runs only what did not change. */
static const struct kg_rate *by_run(const struct kg_trials *trials, size_t i)
{
    const size_t rule = i % (1 + KG_RULES);
    return i <= KG_RULES || !trials->runs.n_pairs ? NULL : rule ? &trials->runs.rules[rule - 1] : &trials->runs.red;
}

static struct kg_columns_line compared_line(const void *of, size_t row_index)
{
    const struct kg_rate_row *row = &((const struct kg_trials *)of)->rows[compared_row(row_index)];
    struct kg_columns_line line = { { { 0 } } };
    kg_columns_set(&line, 0, "%s", row->judged);
    if (row->threshold_pct > 0)
        kg_columns_set(&line, 1, "%g%%", row->threshold_pct);
    for (int i = 0; i < N_COMPARED; i++) {
        const struct kg_rate *rate = &row->rates[compared[i]];
        if (!kg_rate_gates(rate))
            continue;
        kg_rate_of_text(rate, line.cells[2 + 2 * i], CELL);
        kg_rate_pct_text(kg_rate_slow_pct(rate), line.cells[3 + 2 * i], CELL);
    }
    const struct kg_rate *runs = by_run(of, row_index);
    if (runs)
        kg_rate_pct_text(kg_rate_slow_pct(runs), line.cells[2 + 2 * N_COMPARED], CELL);
    return line;
}

static void put_runs(const struct kg_run_rates *runs, FILE *out)
{
    char red[CELL], red_pct[CELL], bound[CELL], found[CELL], least[CELL], gates[CELL];
    if (!runs->n_pairs)
        return;
    kg_rate_of_text(&runs->red, red, sizeof red);
    kg_rate_pct_text(kg_rate_slow_pct(&runs->red), red_pct, sizeof red_pct);
    kg_rate_pct_text(kg_rate_upper_pct(&runs->red), bound, sizeof bound);
    kg_rate_of_text(&runs->found, found, sizeof found);
    kg_rate_pct_text(kg_rate_lower_pct(&runs->found), least, sizeof least);
    kg_rate_count_text(runs->n_gates, gates, sizeof gates);
    fprintf(
        out,
        "Whole runs of %d cases by goldens of another card, resampled by whole cards (%s gates, %zu pairs of cards):\n"
        "nothing changed, red %s (%s, at most %s); one case +%g%%, found by its duel %s (at least %s)\n\n",
        KG_RUN_CASES, gates, runs->n_pairs, red, red_pct, bound, kg_planted_pct[KG_RUN_PLANTED], found, least);
}

/* kgate and the others on the same samples. */
static void put_compared(const struct kg_trials *trials, FILE *out)
{
    static const struct kg_columns_line head = { { "to compare, on the same samples", "at", "false SLOW", "",
                                                   "+5% found", "", "+3% found", "", "runs red" } };
    const struct kg_columns columns = {
        .head = &head, .left = 1, .line = compared_line, .of = trials, .n_lines = N_COMPARED_ROWS
    };
    kg_columns_put(&columns, out);
    fputc('\n', out);
}

/* ---- rates ----------------------------------------------------------------------------------------------------- */

/* By the machine's own floors, as later runs are judged. */
static struct kg_rate_row drawn_row(const struct kg_trials *trials)
{
    struct kg_rate_row row = { .name = "all cases",
                               .judged = "against, drawn blocks",
                               .threshold_pct = trials->rows[KG_ROW_AGAINST].threshold_pct,
                               .resampled = true };
    for (size_t i = 0; i < trials->n_cases; i++)
        for (int planted = 0; planted < KG_PLANTED; planted++)
            kg_rate_sum(&row.rates[planted], &trials->cases[i].drawn[planted]);
    return row;
}

/* The rows of the table that have gates; those of gates drawn from the cases' own blocks are the last. Returns how
 * many.
 */
static size_t rows_of(const struct kg_trials *trials, struct kg_rate_row ret_rows[KG_TRIAL_ROWS + 1])
{
    const struct kg_rate_row drawn = drawn_row(trials);
    size_t count = 0;
    for (int row = 0; row < KG_TRIAL_ROWS; row++)
        if (kg_rate_row_gates(&trials->rows[row]))
            ret_rows[count++] = trials->rows[row];
    if (kg_rate_row_gates(&drawn))
        ret_rows[count++] = drawn;
    return count;
}

static void put_rates(const struct kg_trials *trials, FILE *out)
{
    struct kg_rate_row rows[KG_TRIAL_ROWS + 1];
    kg_rates_put_table(rows, rows_of(trials, rows), out);
}

static void put_notes(const struct kg_trials *trials, FILE *out)
{
    size_t cut = 0, shared = 0;
    for (int row = 0; row < KG_TRIAL_ROWS; row++)
        for (int planted = 0; planted < KG_PLANTED && !trials->rows[row].resampled; planted++) {
            cut += trials->rows[row].rates[planted].cut;
            shared += trials->rows[row].rates[planted].shared;
        }
    const struct {
        size_t count;
        const char *text;
    } notes[] = {
        { trials->n_short, "slowdowns of a case with too few blocks for a gate: not used" },
        { trials->n_unblessed, "goldens that a bless would have refused: not used" },
        { trials->n_ungated, "gates that cannot be judged, their anchor moved: not counted" },
        { trials->n_no_ratio, "pairs of cards of a case without an anchor: not used" },
        { shared, "gates, resampled ones aside, that ran out of blocks of their own and went on with others'" },
        { cut, "gates, resampled ones aside, that all blocks were too few for: unsure" },
    };
    for (size_t i = 0; i < sizeof notes / sizeof *notes; i++)
        if (notes[i].count)
            fprintf(out, "%zu %s\n", notes[i].count, notes[i].text);
}

/* ---- cases and cards ------------------------------------------------------------------------------------------- */

static void put_pct(double pct, struct kg_columns_line *line, int column)
{
    kg_columns_set(line, column, pct > 0 ? "%.2f%%" : "-", pct);
}

static struct kg_columns_line case_line(const void *of, size_t i)
{
    const struct kg_case_noise *it = (const struct kg_case_noise *)of + i;
    struct kg_columns_line line = { { { 0 } } };
    kg_columns_set(&line, 0, "%.90s", it->series->key);
    kg_columns_set(&line, 1, "%.4g", it->p50_us);
    kg_columns_set(&line, 2, "%d", it->n_blocks);
    for (int quantity = 0; quantity < KG_QUANTITIES; quantity++)
        put_pct(100 * it->sd[quantity], &line, 3 + quantity);
    put_pct(it->floor_pct[KG_QUANTITY_AGAINST], &line, 6);
    kg_columns_set(&line, 7, it->detectable_pct > 0 ? "%g%%" : "-", it->detectable_pct);
    kg_columns_set(&line, 8, "%.2f", it->clear_s);
    return line;
}

static void put_cases(const struct kg_trials *trials, FILE *out)
{
    static const struct kg_columns_line head = { { "case", "p50 us", "blocks", "sd p50", "sd ratio", "sd against",
                                                   "floor", "finds (99%)", "GPU s" } };
    fputc('\n', out);
    kg_columns_put(&(struct kg_columns){ &head, 1, case_line, trials->cases, trials->n_cases }, out);
    fputs("\nsd: between blocks on one card. floor: of --against. finds: the smallest change that --against calls SLOW "
          "in 99% of gates,\nits threshold half of that; resampled from the case's own blocks. GPU s: windows of a "
          "clear case.\n",
          out);
}

/* The last is of all cases. */
static struct kg_columns_line spread_line(const void *of, size_t i)
{
    const struct kg_trials *trials = of;
    const struct kg_card_spread it =
        i < trials->n_spreads ? trials->spreads[i] : kg_card_spread_all(trials->spreads, trials->n_spreads);
    struct kg_columns_line line = { { { 0 } } };
    kg_columns_set(&line, 0, "%.90s", it.key);
    kg_columns_set(&line, 1, "%d", it.n_cards);
    put_pct(it.p50_pct, &line, 2);
    put_pct(it.ratio_pct, &line, 3);
    put_pct(it.worst_ratio_pct, &line, 4);
    put_pct(it.beside_pct, &line, 5);
    kg_columns_set(&line, 6, "%.90s", it.beside ? it.beside : "-");
    return line;
}

static void put_spreads(const struct kg_trials *trials, FILE *out)
{
    static const struct kg_columns_line head = { { "between cards, sd of", "cards", "p50", "p50 / anchor", "largest",
                                                   "p50 / the best case's", "which is" } };
    if (!trials->n_spreads)
        return;
    fputc('\n', out);
    kg_columns_put(&(struct kg_columns){ &head, 1, spread_line, trials, trials->n_spreads + 1 }, out);
}

void kg_trials_put(const struct kg_trials *trials, const struct kg_series_set *set,
                   const struct kg_trial_report *report, FILE *out)
{
    fprintf(out, "%zu blocks of %zu cases on %zu card%s (%s), %zu start%s\n\n", trials->n_blocks, trials->n_cases,
            trials->n_cards, trials->n_cards == 1 ? "" : "s", set->items[0].device, trials->n_starts,
            trials->n_starts == 1 ? "" : "s");
    if (report->goals) {
        put_goals(trials, out);
        put_runs(&trials->runs, out);
        put_compared(trials, out);
    }
    if (!report->goals || report->verbose)
        put_rates(trials, out);
    put_notes(trials, out);
    if (report->verbose) {
        fputc('\n', out);
        kg_rates_put_table(trials->groups, trials->n_groups, out);
    }
    put_cases(trials, out);
    put_spreads(trials, out);
}

/* ---- as JSON --------------------------------------------------------------------------------------------------- */

static cJSON *add_object(cJSON *array)
{
    cJSON *object = cJSON_CreateObject();
    if (cJSON_AddItemToArray(array, object))
        return object;
    cJSON_Delete(object);
    return NULL;
}

static void add_worst(cJSON *object, const struct kg_by_case *by_case)
{
    cJSON *array = cJSON_AddArrayToObject(object, "worst_cases");
    for (size_t i = 0; i < by_case->n_worst && i < KG_WORST_CASES; i++) {
        cJSON *one = add_object(array);
        cJSON_AddStringToObject(one, "key", by_case->worst[i].key);
        kg_json_add_real(one, "gates", (double)kg_rate_gates(&by_case->worst[i].rate));
        kg_json_add_real(one, "slow", (double)by_case->worst[i].rate.slow);
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
        cJSON *object = add_object(array);
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
    }
}

static void add_runs(cJSON *root, const struct kg_run_rates *runs)
{
    const struct {
        const char *name;
        size_t count;
    } members[] = {
        { "runs", kg_rate_gates(&runs->red) },      { "cases", KG_RUN_CASES },     { "red", runs->red.slow },
        { "changed", kg_rate_gates(&runs->found) }, { "found", runs->found.slow }, { "gates", runs->n_gates }
    };
    cJSON *object = runs->n_pairs ? cJSON_AddObjectToObject(root, "runs") : NULL;
    for (size_t i = 0; i < sizeof members / sizeof *members && object; i++)
        kg_json_add_real(object, members[i].name, (double)members[i].count);
}

static void add_cases(cJSON *root, const struct kg_trials *trials)
{
    static const char *const sds[KG_QUANTITIES] = { "sd_raw", "sd_ratio", "sd_against" };
    cJSON *array = cJSON_AddArrayToObject(root, "cases");
    for (size_t i = 0; i < trials->n_cases; i++) {
        const struct kg_case_noise *it = &trials->cases[i];
        cJSON *object = add_object(array);
        cJSON_AddStringToObject(object, "key", it->series->key);
        kg_json_add_real(object, "p50_us", it->p50_us);
        kg_json_add_real(object, "blocks", it->n_blocks);
        for (int quantity = 0; quantity < KG_QUANTITIES; quantity++)
            kg_json_add_real(object, sds[quantity], it->sd[quantity]);
        kg_json_add_real(object, "floor_against_pct", it->floor_pct[KG_QUANTITY_AGAINST]);
        kg_json_add_real(object, "detectable_pct", it->detectable_pct);
        kg_json_add_real(object, "clear_s", it->clear_s);
    }
}

static void add_spreads(cJSON *root, const struct kg_trials *trials)
{
    cJSON *array = cJSON_AddArrayToObject(root, "between_cards");
    for (size_t i = 0; i < trials->n_spreads; i++) {
        const struct kg_card_spread *it = &trials->spreads[i];
        cJSON *object = add_object(array);
        cJSON_AddStringToObject(object, "key", it->key);
        kg_json_add_real(object, "cards", it->n_cards);
        kg_json_add_real(object, "p50_sd_pct", it->p50_pct);
        kg_json_add_real(object, "ratio_sd_pct", it->ratio_pct);
        kg_json_add_real(object, "worst_ratio_pct", it->worst_ratio_pct);
        if (it->beside)
            cJSON_AddStringToObject(object, "beside", it->beside);
        kg_json_add_real(object, "beside_sd_pct", it->beside_pct);
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
    add_runs(root, &trials->runs);
    cJSON_AddItemToObject(root, "rates", kg_rates_to_json(rows, rows_of(trials, rows)));
    cJSON_AddItemToObject(root, "rates_by_class", kg_rates_to_json(trials->groups, trials->n_groups));
    add_cases(root, trials);
    add_spreads(root, trials);
    return kg_json_put(root, out, ret_error);
}
