/* trial.c -- which blocks make which gate. A new row is a line in the enum of cells.h, one in its `rows`, and a walk
 * over blocks that counts into it. */
#include "selfcheck/trial.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "selfcheck/gate.h"

#define BIT(row) (1u << (row))
/* Each block and golden once: what is left out is counted along these. */
#define ONCE (BIT(KG_ROW_GOLDEN) | BIT(KG_ROW_CARD) | BIT(KG_ROW_AGAINST))
#define LEAST_SLOW (KG_LOOK_EVERY + KG_CONFIRM_BLOCKS) /* blocks that a SLOW takes */

struct blessed {
    struct kg_gate_blocks blocks;
    struct kg_golden golden;
    bool good; /* false: a bless would have refused the blocks */
};

struct of_series {
    const struct kg_series *series;
    struct kg_case_cells *of;
    struct blessed *goldens; /* of all its blocks, eight by eight */
    int n_goldens;
};

struct trial {
    const struct kg_series_set *set;
    int max_blocks;
    bool fine; /* rows of the finer thresholds too */
    struct kg_trials *trials;
    struct kg_cells cells;
    struct of_series *series;
    struct blessed *goldens;
    const struct kg_recorded_block **all, **some; /* room of two pools */
};

/* ---- counting -------------------------------------------------------------------------------------------------- */

/* What one walk over blocks asks of all its gates. */
struct question {
    struct kg_case_cells *of;
    unsigned rows;
    int planted;
    struct kg_gate_rule rule;
    const struct blessed *golden; /* NULL: against */
    int rule_row;                 /* first of the rules on the same samples; -1: none */
};

static void add(struct trial *t, const struct question *q, enum kg_trial_row row, const struct kg_gate_answer *answer,
                bool shared)
{
    struct kg_rate *rate = &q->of->rates[row][q->planted];
    if (answer->verdict == KG_UNGATED || answer->verdict == KG_ERROR) {
        t->trials->n_ungated += (BIT(row) & ONCE) != 0;
        return;
    }
    kg_rate_add(rate, &answer->decision);
    rate->cut += answer->cut;
    rate->shared += shared;
}

static void count(struct trial *t, const struct question *q, const struct kg_gate_answer *answer, bool shared)
{
    unsigned mask = q->rows;
    if (mask & BIT(KG_ROW_CARD_ALL) && q->planted && answer->floor_pct <= kg_planted_pct[q->planted] / 2)
        mask |= BIT(KG_ROW_CARD_ALLOWED);
    for (int row = 0; row < KG_TRIAL_ROWS; row++)
        if (mask & BIT(row))
            add(t, q, row, answer, shared);
}

static void try_rules(const struct trial *t, const struct question *q, const struct kg_gate_blocks *run)
{
    const unsigned slow = kg_gate_rules(&q->golden->blocks, run, t->cells.threshold_pct);
    for (int i = 0; i < KG_RULES; i++)
        kg_rate_add_call(&q->of->rates[q->rule_row + i][q->planted], slow >> i & 1, kg_rules[i].blocks);
}

/* ---- walks ----------------------------------------------------------------------------------------------------- */

static struct kg_pool pool_of(const struct kg_recorded_block **room, const struct kg_series *series, double planted_pct)
{
    struct kg_pool pool = { .of = room };
    kg_pool_add(&pool, series, planted_pct);
    return pool;
}

/* A gate whose first block is at `at`. Returns how many it took; 0: fewer than `least` are left. */
static int gate_at(struct trial *t, const struct question *q, const struct kg_pool *pool, int at, int least)
{
    int fresh = 0;
    const struct kg_gate_blocks run = kg_pool_take(pool, at, q->planted > 0, &fresh);
    if (fresh < least)
        return 0;
    if (q->golden && q->rule_row >= 0)
        try_rules(t, q, &run);
    if (q->golden && !q->golden->good)
        return least;
    const struct kg_gate_answer answer = kg_gate_judge(&run, q->golden ? &q->golden->golden : NULL, &q->rule);
    count(t, q, &answer, answer.n_blocks > fresh);
    return answer.n_blocks > least ? answer.n_blocks : least;
}

/* Gate after gate, the last one where at least a look is left for it; returns how many. */
static int walk(struct trial *t, const struct question *q, const struct kg_pool *pool)
{
    int gates = 0;
    if (pool->count < (q->planted ? LEAST_SLOW : KG_LOOK_EVERY))
        return 0;
    for (int at = 0, used; at < pool->count && (used = gate_at(t, q, pool, at, KG_LOOK_EVERY)) > 0; gates++)
        at += used;
    return gates;
}

static void bless(struct trial *t, struct blessed *golden, bool once)
{
    kg_error why = { 0 };
    golden->good = kg_gate_bless(&golden->blocks, &golden->golden, &why) == KG_OK;
    t->trials->n_unblessed += once && !golden->good;
}

static struct question by_golden(const struct trial *t, const struct of_series *run, const struct blessed *golden,
                                 bool same_card, int planted)
{
    const bool steady = same_card && golden->good && golden->golden.floor_pct <= KG_STEADY_PCT;
    const unsigned mask = same_card ? BIT(KG_ROW_GOLDEN_ALL) | (steady ? BIT(KG_ROW_STEADY_ALL) : 0) : 0;
    return (struct question){
        .of = run->of,
        .rows = mask,
        .planted = planted,
        .rule = { .same_card = same_card, .threshold_pct = t->cells.threshold_pct, .max_blocks = t->max_blocks },
        .golden = golden,
        .rule_row = -1,
    };
}

/* The same question of gates whose blocks are their own. */
static struct question once(struct question q)
{
    q.rule_row = KG_ROW_RULES;
    q.rows = BIT(KG_ROW_GOLDEN) | (q.rows & BIT(KG_ROW_STEADY_ALL) ? BIT(KG_ROW_STEADY) : 0);
    return q;
}

/* ---- by golden, same card -------------------------------------------------------------------------------------- */

/* Golden, run, golden, run, … along the series. */
static void same_by_golden(struct trial *t, const struct of_series *s)
{
    const struct kg_pool all = pool_of(t->all, s->series, 0);
    for (int at = 0, used = 1; used && at + KG_GATE_GOLDEN + KG_LOOK_EVERY <= all.count; at += KG_GATE_GOLDEN + used) {
        struct blessed golden = { .blocks = kg_pool_golden(&all, at) };
        struct kg_pool rest = pool_of(t->some, s->series, 0);
        bless(t, &golden, true);
        const struct question q = once(by_golden(t, s, &golden, true, 0));
        used = gate_at(t, &q, &rest, kg_pool_remove(&rest, &golden.blocks, at), KG_LOOK_EVERY);
    }
}

static void power_by_golden(struct trial *t, const struct of_series *s, int planted)
{
    const struct kg_pool all = pool_of(t->all, s->series, 0);
    const int n_with = pool_of(t->some, s->series, kg_planted_pct[planted]).count;
    int gates = 0;
    for (int at = 0, used = 1; used && at < n_with && all.count >= KG_GATE_GOLDEN + LEAST_SLOW; at += used) {
        struct kg_pool with = pool_of(t->some, s->series, kg_planted_pct[planted]);
        struct blessed golden = { .blocks = kg_pool_golden_beside(&all, &with, at) };
        bless(t, &golden, false);
        const struct question q = once(by_golden(t, s, &golden, true, planted));
        used = gate_at(t, &q, &with, kg_pool_remove(&with, &golden.blocks, at), LEAST_SLOW);
        gates += used > 0;
    }
    t->trials->n_short += n_with && !gates;
}

/* ---- by golden, every pair ------------------------------------------------------------------------------------- */

/* Every golden of a series with all its other blocks. */
static void resample_same(struct trial *t, const struct of_series *s)
{
    for (int planted = 0; planted < KG_PLANTED; planted++) {
        for (int g = 0; g < s->n_goldens; g++) {
            struct kg_pool pool = pool_of(t->all, s->series, kg_planted_pct[planted]);
            const struct question q = by_golden(t, s, &s->goldens[g], true, planted);
            (void)kg_pool_remove(&pool, &s->goldens[g].blocks, 0);
            (void)walk(t, &q, &pool);
        }
    }
}

/* Golden g of one series judges gate g of another, all goldens in turn. */
static void across(struct trial *t, const struct of_series *first, const struct of_series *second, unsigned mask)
{
    const bool same_card = (mask & BIT(KG_ROW_DAY_ALL)) != 0;
    if (!same_card &&
        (!isfinite(first->series->blocks[0].log_ratio) || !isfinite(second->series->blocks[0].log_ratio))) {
        t->trials->n_no_ratio++;
        return;
    }
    for (int planted = 0; planted < KG_PLANTED && first->n_goldens; planted++) {
        const struct kg_pool pool = pool_of(t->all, second->series, kg_planted_pct[planted]);
        const int least = planted ? LEAST_SLOW : KG_LOOK_EVERY;
        for (int at = 0, g = 0, used = 1; at < pool.count && used && (planted || g < first->n_goldens);
             g++, at += used) {
            struct question q = by_golden(t, second, &first->goldens[g % first->n_goldens], same_card, planted);
            q.rows = mask;
            q.rule_row = same_card ? -1 : KG_ROW_CARD_RULES;
            used = gate_at(t, &q, &pool, at, least);
        }
    }
}

/* All ordered pairs of series of a case; those of an even one and its successor use no block twice. */
static void by_other_series(struct trial *t, const struct of_series *s)
{
    const struct of_series *end = t->series + t->set->count;
    size_t number = 0, other_number = 0;
    for (const struct of_series *before = t->series; before < s; before++)
        number += before->of == s->of;
    for (const struct of_series *other = t->series; other < end; other++) {
        if (other->of != s->of)
            continue;
        const bool same_card = !strcmp(other->series->uuid, s->series->uuid);
        const bool first_time = number % 2 == 1 && other_number == number - 1;
        if (other != s)
            across(t, other, s,
                   same_card ? BIT(KG_ROW_DAY_ALL) : BIT(KG_ROW_CARD_ALL) | (first_time ? BIT(KG_ROW_CARD) : 0));
        other_number++;
    }
}

/* ---- against --------------------------------------------------------------------------------------------------- */

/* Rows that the case's gates of `row` count into besides. */
static unsigned finer_rows(const struct kg_case_cells *of, enum kg_trial_row row)
{
    if (row == KG_ROW_HALF)
        return of->is_long ? BIT(KG_ROW_HALF_LONG) : 0;
    if (row != KG_ROW_QUARTER || !of->is_longer)
        return 0;
    return BIT(of->several ? KG_ROW_QUARTER_SEVERAL : KG_ROW_QUARTER_LONG);
}

static void against(struct trial *t, struct kg_case_cells *of, enum kg_trial_row row)
{
    for (int planted = 0; planted < KG_PLANTED; planted++) {
        const struct question q = {
            .of = of,
            .rows = BIT(row) | finer_rows(of, row),
            .planted = planted,
            .rule = { .against = true,
                      .threshold_pct = kg_cells_threshold_pct(&t->cells, row),
                      .max_blocks = t->max_blocks },
            .rule_row = -1,
        };
        struct kg_pool chain = { .of = t->all };
        for (size_t i = 0; i < t->set->count; i++)
            if (t->series[i].of == of)
                kg_pool_add(&chain, t->series[i].series, kg_planted_pct[planted]);
        const int gates = walk(t, &q, &chain);
        t->trials->n_short += row == KG_ROW_AGAINST && chain.count && !gates;
    }
}

/* ---- all walks ------------------------------------------------------------------------------------------------- */

static void prepare(struct trial *t)
{
    struct blessed *next = t->goldens;
    for (size_t i = 0; i < t->set->count; i++) {
        struct of_series *s = &t->series[i];
        s->series = &t->set->items[i];
        s->of = kg_cells_of(&t->cells, s->series);
        s->goldens = next;
        const struct kg_pool pool = pool_of(t->all, s->series, 0);
        for (int at = 0; at + KG_GATE_GOLDEN <= pool.count; at += KG_GATE_GOLDEN) {
            next->blocks = kg_pool_golden(&pool, at);
            bless(t, next++, false);
            s->n_goldens++;
        }
    }
}

static void try_all(struct trial *t)
{
    for (size_t i = 0; i < t->set->count; i++) {
        same_by_golden(t, &t->series[i]);
        for (int planted = 1; planted < KG_PLANTED; planted++)
            power_by_golden(t, &t->series[i], planted);
        resample_same(t, &t->series[i]);
        by_other_series(t, &t->series[i]);
    }
    for (size_t i = 0; i < t->cells.n_cases; i++)
        for (enum kg_trial_row row = KG_ROW_AGAINST; row <= (t->fine ? KG_ROW_QUARTER : KG_ROW_AGAINST); row++)
            if (row != KG_ROW_HALF_LONG)
                against(t, &t->cells.cases[i], row);
}

/* ---- the whole ------------------------------------------------------------------------------------------------- */

static int check(const struct kg_series_set *set, kg_error *ret_error)
{
    if (!set->count)
        return kg_fail(ret_error, KG_EINVAL, "no recorded blocks");
    for (size_t i = 1; i < set->count; i++)
        if (set->items[i].kind != set->items[0].kind)
            return kg_fail(ret_error, KG_EINVAL, "blocks of a GPU and of a CPU are judged apart");
    return KG_OK;
}

static bool make_room(struct trial *t)
{
    const size_t n_blocks = t->trials->n_blocks, n_series = t->set->count;
    t->cells.cases = calloc(n_series, sizeof *t->cells.cases);
    t->series = calloc(n_series, sizeof *t->series);
    t->goldens = calloc(n_blocks / KG_GATE_GOLDEN + 1, sizeof *t->goldens);
    t->all = calloc(n_blocks + 1, sizeof *t->all);
    t->some = calloc(n_blocks + 1, sizeof *t->some);
    t->trials->groups = calloc((size_t)KG_TRIAL_ROWS * KG_KERNEL_GROUPS, sizeof *t->trials->groups);
    t->trials->cases = calloc(n_series, sizeof *t->trials->cases);
    return t->cells.cases && t->series && t->goldens && t->all && t->some && t->trials->groups && t->trials->cases;
}

static void free_room(struct trial *t)
{
    free(t->cells.cases);
    free(t->series);
    free(t->goldens);
    free((void *)t->all);
    free((void *)t->some);
}

int kg_trials_of(const struct kg_series_set *set, const struct kg_trial_options *options, struct kg_trials *ret_trials,
                 kg_error *ret_error)
{
    int status = check(set, ret_error);
    if (status)
        return status;
    struct kg_trials trials = { .n_groups = 0 };
    struct trial t = { .set = set,
                       .max_blocks = options->max_blocks,
                       .fine = options->fine,
                       .trials = &trials,
                       .cells.threshold_pct = options->threshold_pct };
    for (size_t i = 0; i < set->count; i++) {
        trials.n_blocks += (size_t)set->items[i].n_blocks;
        trials.n_starts += kg_series_set_is_first(set, i, offsetof(struct kg_series, start));
        trials.n_cards += kg_series_set_is_first(set, i, offsetof(struct kg_series, uuid));
    }
    if (!make_room(&t)) {
        free_room(&t);
        kg_trials_done(&trials);
        return kg_fail(ret_error, KG_ENOMEM, "out of memory for gates");
    }
    trials.n_cases =
        kg_case_noises_of(set, options->max_blocks, options->drawn ? options->threshold_pct : -1, trials.cases);
    prepare(&t);
    try_all(&t);
    kg_cells_sum(&t.cells, trials.rows, trials.by_case);
    trials.n_groups = kg_cells_groups(&t.cells, trials.groups);
    free_room(&t);
    trials.n_spreads = kg_card_spreads_of(set, &trials.spreads);
    if (!options->drawn)
        status = kg_runs_of(set, options->threshold_pct, options->max_blocks, &trials.runs, ret_error);
    if (status)
        kg_trials_done(&trials);
    else
        *ret_trials = trials;
    return status;
}

void kg_trials_done(struct kg_trials *trials)
{
    free(trials->groups);
    free(trials->cases);
    free(trials->spreads);
    *trials = (struct kg_trials){ 0 };
}
