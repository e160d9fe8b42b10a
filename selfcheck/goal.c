/* goal.c -- the table of what must be reached. A cell is a row here. */
#include "selfcheck/goal.h"

#define NO_ROW KG_TRIAL_ROWS
#define LEAST_STARTS 5 /* of the machine */

/* wanted_pct: at most so many slow of what did not change (planted 0), at least so many of what did; negative: told
 * only. `more`: row of resampled gates that is taken where the first has fewer than `least`. */
static const struct {
    const char *what;
    enum kg_trial_row row, more;
    int planted;
    double wanted_pct;
    size_t least;
} cells[] = {
    { "false SLOW", KG_ROW_GOLDEN, NO_ROW, 0, 0, 1000 }, /* over LEAST_STARTS */
    { "false SLOW", KG_ROW_DAY_ALL, NO_ROW, 0, 0.5, 1 },
    { "false SLOW", KG_ROW_CARD_ALL, NO_ROW, 0, 0.5, 1 },
    { "false SLOW", KG_ROW_AGAINST, NO_ROW, 0, 0, 3000 },
    { "false SLOW", KG_ROW_HALF, NO_ROW, 0, -1, 0 },
    { "false SLOW", KG_ROW_QUARTER, NO_ROW, 0, -1, 0 },
    { "+5% found", KG_ROW_GOLDEN, KG_ROW_GOLDEN_ALL, 5, 100, 300 },
    { "+5% found", KG_ROW_DAY_ALL, NO_ROW, 5, 99, 1 },
    { "+5% found", KG_ROW_CARD_ALLOWED, NO_ROW, 5, 99, 1 },
    { "+5% found", KG_ROW_AGAINST, NO_ROW, 5, 100, 300 },
    { "+3% found", KG_ROW_STEADY, KG_ROW_STEADY_ALL, 4, 99, 100 },
    { "+3% found", KG_ROW_DAY_ALL, NO_ROW, 4, -1, 0 },
    { "+3% found", KG_ROW_CARD_ALL, NO_ROW, 4, -1, 0 },
    { "+3% found", KG_ROW_AGAINST, NO_ROW, 4, 100, 300 },
    { "+1% found", KG_ROW_HALF_LONG, NO_ROW, 2, 99, 100 },
    { "+0.5% found", KG_ROW_QUARTER_LONG, NO_ROW, 1, 99, 100 },
    { "+0.5% found", KG_ROW_QUARTER_SEVERAL, NO_ROW, 1, -1, 0 },
};
#define N_CELLS (sizeof cells / sizeof *cells)

static const struct {
    const char *judged;
    double most_s;
} times[] = { { "golden", 1 }, { "against", 2 } };
#define N_TIMES (sizeof times / sizeof *times)

_Static_assert(N_CELLS + N_TIMES <= KG_MAX_GOALS, "room for all goals");

const char *kg_goal_state_name(enum kg_goal_state state)
{
    static const char *const names[] = {
        [KG_GOAL_REACHED] = "reached", [KG_GOAL_MISSED] = "MISSED", [KG_GOAL_FEW] = "TOO FEW", [KG_GOAL_TOLD] = ""
    };
    return names[state];
}

size_t kg_goal_independent(const struct kg_goal *goal)
{
    return goal->resampled ? 0 : kg_rate_gates(&goal->rate) - goal->rate.shared;
}

static enum kg_goal_state state_of(const struct kg_goal *goal, double wanted_pct, size_t least)
{
    const size_t gates = kg_rate_gates(&goal->rate);
    const double pct = kg_rate_slow_pct(&goal->rate);
    if (wanted_pct < 0)
        return KG_GOAL_TOLD;
    if (gates && !(goal->power ? pct >= wanted_pct : pct <= wanted_pct))
        return KG_GOAL_MISSED;
    return (goal->power || goal->resampled ? gates : kg_goal_independent(goal)) < least ? KG_GOAL_FEW : KG_GOAL_REACHED;
}

static void say_wanted(double wanted_pct, size_t least, bool power, struct kg_goal *goal)
{
    char count[32];
    kg_rate_count_text(least, count, sizeof count);
    if (wanted_pct < 0)
        goal->wanted[0] = 0;
    else if (wanted_pct == 0)
        snprintf(goal->wanted, sizeof goal->wanted, "0 of >= %s", count);
    else if (wanted_pct == 100)
        snprintf(goal->wanted, sizeof goal->wanted, "100%% of >= %s", count);
    else
        snprintf(goal->wanted, sizeof goal->wanted, "%s %g%%", power ? ">=" : "<=", wanted_pct);
}

static struct kg_goal goal_of(const struct kg_trials *trials, size_t i)
{
    enum kg_trial_row row = cells[i].row;
    const int planted = cells[i].planted;
    if (cells[i].more != NO_ROW && kg_rate_gates(&trials->rows[row].rates[planted]) < cells[i].least)
        row = cells[i].more;
    struct kg_goal goal = {
        .what = cells[i].what,
        .judged = trials->rows[row].judged,
        .threshold_pct = trials->rows[row].threshold_pct,
        .rate = trials->rows[row].rates[planted],
        .power = planted > 0,
        .resampled = trials->rows[row].resampled,
        .by_case = trials->by_case[row][planted],
    };
    say_wanted(cells[i].wanted_pct, cells[i].least, goal.power, &goal);
    goal.state = state_of(&goal, cells[i].wanted_pct, cells[i].least);
    if (row == KG_ROW_GOLDEN && !planted && trials->n_starts < LEAST_STARTS && goal.state == KG_GOAL_REACHED)
        goal.state = KG_GOAL_FEW;
    return goal;
}

static struct kg_goal time_of(const struct kg_trials *trials, const char *judged, double most_s)
{
    struct kg_goal goal = { .what = "clear case", .judged = judged };
    for (size_t i = 0; i < trials->n_cases; i++) {
        const double clear_s = trials->cases[i].clear_s;
        goal.mean_s += clear_s / (double)trials->n_cases;
        if (clear_s > goal.worst_s) {
            goal.worst_s = clear_s;
            goal.slowest = trials->cases[i].series->key;
        }
    }
    snprintf(goal.wanted, sizeof goal.wanted, "<= %g s", most_s);
    goal.state = goal.worst_s <= most_s ? KG_GOAL_REACHED : KG_GOAL_MISSED;
    return goal;
}

size_t kg_goals_of(const struct kg_trials *trials, struct kg_goal ret_goals[KG_MAX_GOALS])
{
    size_t count = 0;
    for (size_t i = 0; i < N_CELLS; i++) /* a card seldom comes back in another start */
        if (cells[i].row != KG_ROW_DAY_ALL || kg_rate_row_gates(&trials->rows[KG_ROW_DAY_ALL]))
            ret_goals[count++] = goal_of(trials, i);
    for (size_t i = 0; i < N_TIMES; i++)
        ret_goals[count++] = time_of(trials, times[i].judged, times[i].most_s);
    return count;
}
