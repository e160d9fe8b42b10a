/* trial_report.c -- tables of goals, rates, cases and cards. The same as JSON is trial_json.c. */
#include "selfcheck/trial_report.h"

#include "selfcheck/columns.h"
#include "selfcheck/goal.h"

#define CELL KG_COLUMNS_CELL

/* ---- goals ----------------------------------------------------------------------------------------------------- */

enum { G_STATE, G_WHAT, G_JUDGED, G_BY, G_WANTED, G_FOUND, G_SHARE, G_BOUND, G_GATES };

static void put_of(const struct kg_rate *rate, char *ret_text)
{
    char count[32], gates[32];
    kg_rate_count_text(rate->slow, count, sizeof count);
    kg_rate_count_text(kg_rate_gates(rate), gates, sizeof gates);
    snprintf(ret_text, CELL, "%s of %s", count, gates);
}

static void put_gates(const struct kg_goal *goal, struct kg_columns_line *line)
{
    const struct kg_rate *rate = &goal->rate;
    put_of(rate, line->cells[G_FOUND]);
    if (!kg_rate_gates(rate))
        return;
    kg_rate_pct_text(kg_rate_slow_pct(rate), line->cells[G_SHARE], CELL);
    kg_rate_pct_text(goal->power ? kg_rate_lower_pct(rate) : kg_rate_upper_pct(rate), line->cells[G_BOUND], CELL);
    if (goal->resampled)
        snprintf(line->cells[G_GATES], CELL, "resampled");
    else if (rate->shared)
        snprintf(line->cells[G_GATES], CELL, "independent but %zu", rate->shared);
    else
        snprintf(line->cells[G_GATES], CELL, "independent");
}

static struct kg_columns_line goal_line(const struct kg_goal *goal)
{
    struct kg_columns_line line = { { { 0 } } };
    snprintf(line.cells[G_STATE], CELL, "%s", kg_goal_state_name(goal->state));
    snprintf(line.cells[G_WHAT], CELL, "%s", goal->what);
    snprintf(line.cells[G_JUDGED], CELL, "%s", goal->judged);
    snprintf(line.cells[G_WANTED], CELL, "%s", goal->wanted);
    if (goal->slowest) {
        snprintf(line.cells[G_FOUND], CELL, "at most %.2f s", goal->worst_s);
        snprintf(line.cells[G_GATES], CELL, "mean %.2f s", goal->mean_s);
    } else {
        snprintf(line.cells[G_BY], CELL, "%g%%", goal->threshold_pct);
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
        put_of(&by_case->worst[i].rate, text);
        fprintf(out, "  %14s  %s\n", text, by_case->worst[i].key);
    }
}

static void put_goals(const struct kg_trials *trials, FILE *out)
{
    static const struct kg_columns_line head = { { "", "what must be reached", "judged by", "at", "wanted", "found",
                                                   "share", "bound", "gates" } };
    struct kg_goal goals[KG_MAX_GOALS];
    const size_t count = kg_goals_of(trials, goals);
    struct kg_columns columns = { .left = 1u << G_STATE | 1u << G_WHAT | 1u << G_JUDGED | 1u << G_GATES };
    kg_columns_fit(&columns, &head);
    for (size_t i = 0; i < count; i++) {
        const struct kg_columns_line line = goal_line(&goals[i]);
        kg_columns_fit(&columns, &line);
    }
    kg_columns_put(&columns, &head, out);
    for (size_t i = 0; i < count; i++) {
        const struct kg_columns_line line = goal_line(&goals[i]);
        kg_columns_put(&columns, &line, out);
    }
    fputs("\nBounds: one-sided, 95%; too narrow where gates are resampled. 'independent but N': N gates ran out of "
          "blocks of their\nown and went on with others'. What is unsure is not found. Clear case: windows of three "
          "rounds on the GPU.\n\n",
          out);
    for (size_t i = 0; i < count; i++)
        put_worst(&goals[i], out);
    fputc('\n', out);
}

/* ---- the other rules ------------------------------------------------------------------------------------------- */

static const int compared[] = { 0, 5, 4 }; /* of kg_planted_pct: false SLOW, +5%, +3% */
#define N_COMPARED (int)(sizeof compared / sizeof *compared)

static struct kg_columns_line compared_line(const struct kg_rate_row *row)
{
    struct kg_columns_line line = { { { 0 } } };
    snprintf(line.cells[0], CELL, "%s", row->judged);
    if (row->threshold_pct > 0)
        snprintf(line.cells[1], CELL, "%g%%", row->threshold_pct);
    for (int i = 0; i < N_COMPARED; i++) {
        const struct kg_rate *rate = &row->rates[compared[i]];
        if (!kg_rate_gates(rate))
            continue;
        put_of(rate, line.cells[2 + 2 * i]);
        kg_rate_pct_text(kg_rate_slow_pct(rate), line.cells[3 + 2 * i], CELL);
    }
    return line;
}

/* kgate and the others on the same samples. */
static void put_compared(const struct kg_trials *trials, FILE *out)
{
    static const enum kg_trial_row rows[] = {
        KG_ROW_GOLDEN,   KG_ROW_RULE_P50,      KG_ROW_RULE_MANN_WHITNEY,      KG_ROW_RULE_STDREL,
        KG_ROW_CARD_ALL, KG_ROW_CARD_RULE_P50, KG_ROW_CARD_RULE_MANN_WHITNEY, KG_ROW_CARD_RULE_STDREL,
    };
    static const struct kg_columns_line head = { { "to compare, on the same samples", "at", "false SLOW", "",
                                                   "+5% found", "", "+3% found" } };
    struct kg_columns columns = { .left = 1 };
    kg_columns_fit(&columns, &head);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct kg_columns_line line = compared_line(&trials->rows[rows[i]]);
        kg_columns_fit(&columns, &line);
    }
    kg_columns_put(&columns, &head, out);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct kg_columns_line line = compared_line(&trials->rows[rows[i]]);
        kg_columns_put(&columns, &line, out);
    }
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

size_t kg_trials_rows(const struct kg_trials *trials, struct kg_rate_row ret_rows[KG_TRIAL_ROWS + 1])
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
    kg_rates_put_table(rows, kg_trials_rows(trials, rows), out);
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

static void put_pct(double pct, int decimals, char *ret_text)
{
    snprintf(ret_text, CELL, pct > 0 ? "%.*f%%" : "-", decimals, pct);
}

static struct kg_columns_line case_line(const struct kg_case_noise *it)
{
    struct kg_columns_line line = { { { 0 } } };
    snprintf(line.cells[0], CELL, "%.90s", it->series->key);
    snprintf(line.cells[1], CELL, "%.4g", it->p50_us);
    snprintf(line.cells[2], CELL, "%d", it->n_blocks);
    for (int quantity = 0; quantity < KG_QUANTITIES; quantity++)
        put_pct(100 * it->sd[quantity], 2, line.cells[3 + quantity]);
    put_pct(it->floor_pct[KG_QUANTITY_AGAINST], 2, line.cells[6]);
    snprintf(line.cells[7], CELL, it->detectable_pct > 0 ? "%g%%" : "-", it->detectable_pct);
    snprintf(line.cells[8], CELL, "%.2f", it->clear_s);
    return line;
}

static void put_cases(const struct kg_trials *trials, FILE *out)
{
    static const struct kg_columns_line head = { { "case", "p50 us", "blocks", "sd p50", "sd ratio", "sd against",
                                                   "floor", "finds (99%)", "GPU s" } };
    struct kg_columns columns = { .left = 1 };
    kg_columns_fit(&columns, &head);
    for (size_t i = 0; i < trials->n_cases; i++) {
        const struct kg_columns_line line = case_line(&trials->cases[i]);
        kg_columns_fit(&columns, &line);
    }
    fputc('\n', out);
    kg_columns_put(&columns, &head, out);
    for (size_t i = 0; i < trials->n_cases; i++) {
        const struct kg_columns_line line = case_line(&trials->cases[i]);
        kg_columns_put(&columns, &line, out);
    }
    fputs("\nsd: between blocks on one card. floor: of --against. finds: the smallest change that --against calls SLOW "
          "in 99% of gates,\nits threshold half of that; resampled from the case's own blocks. GPU s: windows of a "
          "clear case.\n",
          out);
}

static struct kg_columns_line spread_line(const struct kg_card_spread *it)
{
    struct kg_columns_line line = { { { 0 } } };
    snprintf(line.cells[0], CELL, "%.90s", it->key);
    snprintf(line.cells[1], CELL, "%d", it->n_series);
    snprintf(line.cells[2], CELL, "%d", it->n_cards);
    put_pct(it->sd_pct, 2, line.cells[3]);
    put_pct(it->worst_card_pct, 2, line.cells[4]);
    put_pct(it->worst_day_pct, 2, line.cells[5]);
    return line;
}

static void put_spreads(const struct kg_trials *trials, FILE *out)
{
    static const struct kg_columns_line head = { { "ratio to the anchor, means of series", "series", "cards", "sd",
                                                   "largest, card to card", "start to start" } };
    const struct kg_card_spread all = kg_card_spread_all(trials->spreads, trials->n_spreads);
    const struct kg_columns_line last = spread_line(&all);
    struct kg_columns columns = { .left = 1 };
    if (!trials->n_spreads)
        return;
    kg_columns_fit(&columns, &head);
    kg_columns_fit(&columns, &last);
    for (size_t i = 0; i < trials->n_spreads; i++) {
        const struct kg_columns_line line = spread_line(&trials->spreads[i]);
        kg_columns_fit(&columns, &line);
    }
    fputc('\n', out);
    kg_columns_put(&columns, &head, out);
    for (size_t i = 0; i < trials->n_spreads; i++) {
        const struct kg_columns_line line = spread_line(&trials->spreads[i]);
        kg_columns_put(&columns, &line, out);
    }
    kg_columns_put(&columns, &last, out);
}

void kg_trials_put(const struct kg_trials *trials, const struct kg_series_set *set,
                   const struct kg_trial_report *report, FILE *out)
{
    fprintf(out, "%zu blocks of %zu cases on %zu card%s (%s), %zu start%s\n\n", trials->n_blocks, trials->n_cases,
            trials->n_cards, trials->n_cards == 1 ? "" : "s", set->items[0].device, trials->n_starts,
            trials->n_starts == 1 ? "" : "s");
    if (report->goals) {
        put_goals(trials, out);
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
