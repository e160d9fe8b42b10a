/* runs.c -- see runs.h. Gates are judged once, and runs draw from their answers. */
#include "selfcheck/runs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "selfcheck/gate.h"

/* One case by the golden of one card on another: each draw's answers as bits, kgate's first, then the rules'. */
struct answers {
    unsigned slow[KG_RUN_DRAWS];
};

/* All cases of two cards. */
struct pair {
    size_t first, count;           /* of the answers */
    const struct kg_series **duel; /* series with KG_RUN_PLANTED on the run's card; owned */
    size_t n_duel;
};

struct runs {
    const struct kg_series_set *set;
    double threshold_pct;
    int max_blocks;
    struct answers *answers;
    struct pair *pairs;
    size_t n_answers, n_pairs;
    uint64_t state; /* of the draws */
};

static size_t draw(struct runs *r, size_t count)
{
    r->state += 0x9e3779b97f4a7c15u;
    return (size_t)(kg_mix64(r->state) % count);
}

static struct kg_gate_blocks draw_blocks(struct runs *r, const struct kg_series *series, double planted_pct)
{
    struct kg_gate_blocks blocks = { .series = series, .planted = planted_pct > 0 };
    const struct kg_recorded_block *of[256];
    size_t count = 0;
    for (int i = 0; i < series->n_blocks && count < sizeof of / sizeof *of; i++)
        if (planted_pct == 0 || fabs(series->blocks[i].planted_pct - planted_pct) < 1e-6)
            of[count++] = &series->blocks[i];
    while (count && blocks.count < KG_MAX_BLOCKS)
        blocks.of[blocks.count++] = of[draw(r, count)];
    return blocks;
}

/* ---- answers ---------------------------------------------------------------------------------------------------- */

static bool is_red(const struct kg_gate_answer *answer)
{
    return answer->verdict != KG_PASS && answer->verdict != KG_FAST;
}

/* false: that card's blocks make no golden. */
static bool judge_case(struct runs *r, const struct kg_series *golden_of, const struct kg_series *run_on,
                       struct answers *ret_answers)
{
    const struct kg_gate_rule rule = { .unchanged = true,
                                       .threshold_pct = r->threshold_pct,
                                       .max_blocks = r->max_blocks };
    struct kg_gate_blocks blocks = { .series = golden_of };
    struct kg_golden golden;
    for (int i = 0; i < golden_of->n_blocks && blocks.count < KG_GATE_GOLDEN; i++)
        blocks.of[blocks.count++] = &golden_of->blocks[i];
    if (kg_gate_bless(&blocks, &golden, NULL))
        return false;
    for (int i = 0; i < KG_RUN_DRAWS; i++) {
        const struct kg_gate_blocks now = draw_blocks(r, run_on, 0);
        const struct kg_gate_answer answer = kg_gate_judge(&now, &golden, &rule);
        ret_answers->slow[i] = is_red(&answer) | kg_gate_rules(&blocks, &now, r->threshold_pct) << 1;
    }
    return true;
}

/* ---- pairs of cards ---------------------------------------------------------------------------------------------- */

static const struct kg_series *series_of(const struct kg_series_set *set, const char *key, const char *uuid)
{
    for (size_t i = 0; i < set->count; i++)
        if (!strcmp(set->items[i].key, key) && !strcmp(set->items[i].uuid, uuid))
            return &set->items[i];
    return NULL;
}

static bool has_planted(const struct kg_series *series)
{
    int count = 0;
    for (int i = 0; i < series->n_blocks; i++)
        count += fabs(series->blocks[i].planted_pct - kg_planted_pct[KG_RUN_PLANTED]) < 1e-6;
    return count >= KG_LOOK_EVERY;
}

/* Cases without an anchor have nothing that two cards can be compared by. */
static int add_pair(struct runs *r, const char *golden_uuid, const char *run_uuid, kg_error *ret_error)
{
    struct pair pair = { .first = r->n_answers };
    pair.duel = calloc(r->set->count, sizeof *pair.duel);
    if (!pair.duel)
        return kg_fail(ret_error, KG_ENOMEM, "out of memory for runs");
    for (size_t i = 0; i < r->set->count; i++) {
        const struct kg_series *run_on = &r->set->items[i];
        const struct kg_series *golden_of = series_of(r->set, run_on->key, golden_uuid);
        if (strcmp(run_on->uuid, run_uuid) || !golden_of || series_of(r->set, run_on->key, run_uuid) != run_on ||
            !isfinite(run_on->blocks[0].log_ratio) || !isfinite(golden_of->blocks[0].log_ratio) ||
            !judge_case(r, golden_of, run_on, &r->answers[r->n_answers]))
            continue;
        r->n_answers++;
        if (has_planted(run_on))
            pair.duel[pair.n_duel++] = run_on;
    }
    pair.count = r->n_answers - pair.first;
    if (pair.count >= KG_RUN_LEAST) {
        r->pairs[r->n_pairs++] = pair;
        return KG_OK;
    }
    r->n_answers = pair.first;
    free(pair.duel);
    return KG_OK;
}

static int add_pairs(struct runs *r, kg_error *ret_error)
{
    const size_t offset = offsetof(struct kg_series, uuid);
    int status = KG_OK;
    for (size_t a = 0; a < r->set->count; a++)
        for (size_t b = 0; b < r->set->count && !status; b++)
            if (a != b && kg_series_set_is_first(r->set, a, offset) && kg_series_set_is_first(r->set, b, offset))
                status = add_pair(r, r->set->items[a].uuid, r->set->items[b].uuid, ret_error);
    return status;
}

/* ---- runs ---------------------------------------------------------------------------------------------------- */

static void draw_run(struct runs *r, struct kg_run_rates *rates)
{
    const struct pair *pair = &r->pairs[draw(r, r->n_pairs)];
    const struct kg_gate_rule duel = { .against = true,
                                       .threshold_pct = r->threshold_pct,
                                       .max_blocks = r->max_blocks };
    unsigned slow = 0;
    for (int i = 0; i < KG_RUN_CASES; i++) {
        const struct answers *of = &r->answers[pair->first + draw(r, pair->count)];
        slow |= of->slow[draw(r, KG_RUN_DRAWS)];
    }
    kg_rate_add_call(&rates->red, slow & 1, 0);
    for (int i = 0; i < KG_RULES; i++)
        kg_rate_add_call(&rates->rules[i], slow >> (1 + i) & 1, 0);
    if (!pair->n_duel)
        return;
    const struct kg_gate_blocks changed =
        draw_blocks(r, pair->duel[draw(r, pair->n_duel)], kg_planted_pct[KG_RUN_PLANTED]);
    kg_rate_add_call(&rates->found, kg_gate_judge(&changed, NULL, &duel).verdict == KG_SLOW, 0);
}

static void runs_done(struct runs *r)
{
    for (size_t i = 0; i < r->n_pairs; i++)
        free(r->pairs[i].duel);
    free(r->pairs);
    free(r->answers);
}

int kg_runs_of(const struct kg_series_set *set, double threshold_pct, int max_blocks, struct kg_run_rates *ret_rates,
               kg_error *ret_error)
{
    struct runs r = { .set = set, .threshold_pct = threshold_pct, .max_blocks = max_blocks };
    *ret_rates = (struct kg_run_rates){ .n_pairs = 0 };
    r.answers = calloc(set->count * set->count + 1, sizeof *r.answers);
    r.pairs = calloc(set->count * set->count + 1, sizeof *r.pairs);
    int status =
        r.answers && r.pairs ? add_pairs(&r, ret_error) : kg_fail(ret_error, KG_ENOMEM, "out of memory for runs");
    for (int i = 0; i < KG_RUNS && !status && r.n_pairs; i++)
        draw_run(&r, ret_rates);
    ret_rates->n_pairs = r.n_pairs;
    ret_rates->n_gates = r.n_answers * KG_RUN_DRAWS;
    runs_done(&r);
    return status;
}
