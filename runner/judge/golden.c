/* golden.c -- goldens as values: one made from a result, which best outlives a bless, and the sorted set of an
 * architecture. Pure; the files are golden_file.c's. The conditions of a bless that concern the result are in
 * check_blessable. */
#include "judge/golden.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "plan/policy.h"
#include "plan/problem.h"

#define UNSTEADY_CUDA_PCT 3.0
#define UNSTEADY_CPU_PCT 10.0
#define FLOOR_MIN_CUDA_PCT 0.05
#define FLOOR_MIN_CPU_PCT 1.0

/* Standard deviation of the logarithms, in per cent. */
static double spread_pct(const double *values, int count)
{
    double logs[KG_MAX_BLOCKS];
    for (int i = 0; i < count; i++)
        logs[i] = log(values[i]);
    return 100 * kg_stats_of(logs, (size_t)count).std;
}

double kg_golden_floor_pct(const double *blocks, int n_blocks, enum kg_device_kind kind)
{
    double least = kind == KG_CPU ? FLOOR_MIN_CPU_PCT : FLOOR_MIN_CUDA_PCT, floor = 2 * spread_pct(blocks, n_blocks);
    return floor < least ? least : floor; /* NaN stays */
}

static bool is_time(double value)
{
    return value > 0 && isfinite(value);
}

static int check_blessable(const struct kg_result *result, kg_error *ret_error)
{
    if (result->outcome != KG_RAN || !result->compared || !kg_gate_marks_all(result->marks))
        return kg_fail(ret_error, KG_EINVAL, "%s: not right, so its time is not blessed", result->id);
    if (result->n_blocks < KG_GOLDEN_MIN_BLOCKS)
        return kg_fail(ret_error, KG_EINVAL, "%s: %d blocks, a golden needs %d", result->id, result->n_blocks,
                       KG_GOLDEN_MIN_BLOCKS);
    if (result->impossible)
        return kg_fail(ret_error, KG_EINVAL, "%s: p50 of %g us is faster than the device can be", result->id,
                       result->time_us.p50);
    for (int i = 0; i < result->n_blocks; i++) {
        const struct kg_block *block = &result->blocks[i];
        if (!is_time(block->p50_us) || !isfinite(block->log_ratio))
            return kg_fail(ret_error, KG_EINVAL, "%s: block %d has no usable time", result->id, i + 1);
    }
    return 0;
}

static int refuse_unsteady(const struct kg_golden *golden, const char *id, double spread, double limit,
                           kg_error *ret_error)
{
    bool raw = golden->quantity == KG_QUANTITY_RAW;
    const double *blocks = raw ? golden->blocks_us : golden->blocks_ratio;
    char figures[200] = "";
    for (int i = 0; i < golden->n_blocks; i++)
        kg_text_join(figures, sizeof figures, " ", "%.4g", blocks[i]);
    return kg_fail(ret_error, KG_EINVAL, "%s: blocks are unsteady, standard deviation %.1f%% is over %g%% (%s: %s)", id,
                   spread, limit, raw ? "p50 in us" : "ratio to the anchor", figures);
}

/* Copies the blocks; the anchor's members only where every block has one. */
static void take_blocks(const struct kg_result *result, struct kg_golden *golden)
{
    const char *anchor = kg_case_anchor(&result->of, kg_result_backend(result));
    double anchors[KG_MAX_BLOCKS];
    bool with_anchor = *anchor;
    golden->n_blocks = result->n_blocks;
    for (int i = 0; i < result->n_blocks; i++) {
        const struct kg_block *block = &result->blocks[i];
        golden->blocks_us[i] = block->p50_us;
        anchors[i] = block->anchor_p50_us;
        with_anchor = with_anchor && is_time(block->anchor_p50_us) && is_time(exp(block->log_ratio));
    }
    golden->p50_us = kg_median(golden->blocks_us, (size_t)golden->n_blocks);
    if (!with_anchor)
        return;
    (void)snprintf(golden->anchor, sizeof golden->anchor, "%s", anchor);
    memcpy(golden->anchor_identity, result->anchor_identity, sizeof golden->anchor_identity);
    golden->anchor_p50_us = kg_median(anchors, (size_t)golden->n_blocks);
    for (int i = 0; i < result->n_blocks; i++)
        golden->blocks_ratio[i] = exp(result->blocks[i].log_ratio);
}

#define ANSWER "seed %" PRIu64 " rms %.6g"
#define ANSWER_READ "seed %" SCNu64 " rms %lg"

/* What was timed: the problem, its work, and what was launched for it. */
static void take_work(const struct kg_result *result, struct kg_golden *golden)
{
    const kg_op *op = result->of.suite ? result->of.suite->op : NULL;
    if (op && result->of.problem) {
        kg_problem_format(op, result->of.problem, golden->problem, sizeof golden->problem);
        golden->flops = result->work.flops;
        golden->bytes = result->work.bytes;
        golden->tensors = result->work.tensors;
        golden->given = result->launch.given;
        if (result->comparison.expected_rms > 0)
            (void)snprintf(golden->answer, sizeof golden->answer, ANSWER, result->of.seed,
                           result->comparison.expected_rms);
    }
    memcpy(golden->identity, result->identity, sizeof golden->identity);
    memcpy(golden->pin, result->pin, sizeof golden->pin);
    kg_launch_format(&result->launch, golden->launch, sizeof golden->launch);
    memcpy(golden->knobs, result->knobs, sizeof golden->knobs);
    memcpy(golden->compiler, result->compiled[0].compiler, sizeof golden->compiler);
    for (int i = 0; i < result->n_compiled; i++)
        if (golden->registers < result->compiled[i].registers)
            golden->registers = result->compiled[i].registers;
    golden->spill_bytes = kg_result_spill_bytes(result);
}

int kg_golden_of_result(const struct kg_result *result, const char *key, const struct kg_contract *contract,
                        const struct kg_provenance *provenance, struct kg_golden *ret_golden, kg_error *ret_error)
{
    struct kg_golden golden = { .contract = *contract, .provenance = *provenance };
    int status = check_blessable(result, ret_error);
    if (status < 0)
        return status;
    if (strlen(key) >= sizeof golden.key)
        return kg_fail(ret_error, KG_EINVAL, "%s: its key is too long", result->id);
    (void)snprintf(golden.key, sizeof golden.key, "%s", key);
    take_work(result, &golden);
    take_blocks(result, &golden);

    bool cpu = result->of.kind == KG_CPU;
    double spread = spread_pct(golden.blocks_us, golden.n_blocks), limit = cpu ? UNSTEADY_CPU_PCT : UNSTEADY_CUDA_PCT;
    double ratio_spread = golden.anchor[0] ? spread_pct(golden.blocks_ratio, golden.n_blocks) : INFINITY;
    if (golden.anchor[0] && (cpu || ratio_spread < spread)) {
        golden.quantity = KG_QUANTITY_RATIO;
        spread = ratio_spread;
    }
    if (!(spread <= limit))
        return refuse_unsteady(&golden, result->id, spread, limit, ret_error);
    golden.floor_pct = kg_golden_floor_pct(golden.quantity == KG_QUANTITY_RAW ? golden.blocks_us : golden.blocks_ratio,
                                           golden.n_blocks, result->of.kind);
    golden.best = kg_golden_as_best(&golden);
    *ret_golden = golden;
    return 0;
}

/* ---- the work -------------------------------------------------------------------------------------------------- */

/* The same function of the same problem: only what a compiler may make of it can differ. */
static void add_changed_work(const char *name, double was, double is, char *what, size_t size)
{
    if (!(fabs(is - was) <= 1e-9 * fabs(was)))
        kg_text_join(what, size, "; ", "%s: %.10g -> %.10g", name, was, is);
}

static void add_changed_digest(const char *name, int was, int is, char *what, size_t size)
{
    if (was && is && was != is)
        kg_text_join(what, size, "; ", "%s: others", name);
}

/* Of the same inputs references differ by their rounding alone: one that computes less has another size. */
static void add_changed_answer(const char *was, uint64_t seed, double rms, char *what, size_t size)
{
    uint64_t of = 0;
    double had = 0;
    if (rms > 0 && sscanf(was, ANSWER_READ, &of, &had) == 2 && of == seed && !(fabs(rms - had) <= 1e-3 * had))
        kg_text_join(what, size, "; ", "the reference's output: rms %.6g -> %.6g", had, rms);
}

bool kg_golden_is_of(const struct kg_golden *golden, const kg_op *op, const void *problem, const struct kg_work *work,
                     char *ret_what, size_t size)
{
    char change[300];
    ret_what[0] = 0;
    if (!golden->problem[0])
        return true;
    if (kg_problem_differs(op, problem, golden->problem, change, sizeof change))
        kg_text_join(ret_what, size, "; ", "problem: %s", change);
    add_changed_work("flops", golden->flops, work->flops, ret_what, size);
    add_changed_work("bytes", golden->bytes, work->bytes, ret_what, size);
    add_changed_digest("tensors", golden->tensors, work->tensors, ret_what, size);
    add_changed_digest("given inputs", golden->given, work->given, ret_what, size);
    add_changed_answer(golden->answer, work->seed, work->rms, ret_what, size);
    return !ret_what[0];
}

bool kg_golden_is_other_work(const struct kg_golden *a, const struct kg_golden *b)
{
    char change[100] = "";
    uint64_t seed = 0;
    double rms = 0;
    if (sscanf(b->answer, ANSWER_READ, &seed, &rms) == 2)
        add_changed_answer(a->answer, seed, rms, change, sizeof change);
    return a->problem[0] && b->problem[0] &&
           (strcmp(a->problem, b->problem) != 0 || a->flops != b->flops || a->bytes != b->bytes ||
            (a->tensors && b->tensors && a->tensors != b->tensors) || (a->given && b->given && a->given != b->given) ||
            change[0]);
}

bool kg_golden_learn(struct kg_golden *golden, const struct kg_golden *of)
{
    const bool news =
        (!golden->tensors && of->tensors) || (!golden->given && of->given) || (!golden->answer[0] && of->answer[0]);
    if (!golden->tensors)
        golden->tensors = of->tensors;
    if (!golden->given)
        golden->given = of->given;
    if (!golden->answer[0])
        memcpy(golden->answer, of->answer, sizeof golden->answer);
    return news;
}

/* ---- the best -------------------------------------------------------------------------------------------------- */

struct kg_best kg_golden_as_best(const struct kg_golden *golden)
{
    const struct kg_provenance *provenance = &golden->provenance;
    struct kg_best best = { .p50_us = golden->p50_us };
    memcpy(best.git_sha, provenance->git_sha, sizeof best.git_sha);
    memcpy(best.date, provenance->date, sizeof best.date);
    memcpy(best.uuid, provenance->uuid, sizeof best.uuid);
    if (golden->anchor[0]) {
        best.ratio = kg_median(golden->blocks_ratio, (size_t)golden->n_blocks);
        memcpy(best.anchor, golden->anchor, sizeof best.anchor);
        memcpy(best.anchor_identity, golden->anchor_identity, sizeof best.anchor_identity);
    }
    return best;
}

bool kg_best_same_anchor(const struct kg_best *a, const struct kg_best *b)
{
    return a->ratio > 0 && b->ratio > 0 && !strcmp(a->anchor, b->anchor) &&
           !strcmp(a->anchor_identity, b->anchor_identity);
}

enum kg_best_fate kg_golden_best_fate(const struct kg_golden *old, const struct kg_golden *golden, bool reset_best)
{
    const struct kg_best *was = &old->best, *is = &golden->best;
    bool same_card = !strcmp(was->uuid, is->uuid), comparable = same_card || kg_best_same_anchor(was, is);
    bool faster = same_card ? was->p50_us < is->p50_us : was->ratio < is->ratio;
    if (!kg_contract_same(&old->contract, &golden->contract))
        return KG_BEST_STALE;
    if (kg_golden_is_other_work(old, golden))
        return KG_BEST_OTHER;
    if (comparable && !faster)
        return KG_BEST_BEATEN;
    if (reset_best)
        return KG_BEST_RESET;
    return comparable ? KG_BEST_KEPT : KG_BEST_APART;
}

/* ---- the set --------------------------------------------------------------------------------------------------- */

/* Index of the first item whose key is not under `key`. */
static size_t lower_bound(const struct kg_goldens *goldens, const char *key)
{
    size_t low = 0, high = goldens->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(goldens->items[middle].key, key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool kg_golden_holds_threshold(const struct kg_golden *golden, double table_pct)
{
    const struct kg_threshold *own = &golden->threshold;
    return *own->from && (*own->reason || own->pct < table_pct);
}

double kg_golden_creep_pct(const struct kg_golden *golden, double table_pct)
{
    return fmin(table_pct, *golden->creep ? strtod(golden->creep, NULL) : KG_CREEP_PCT);
}

const char *kg_golden_regime_name(const kg_regime *regime)
{
    return regime ? regime->name : "normal";
}

bool kg_golden_excuses(const struct kg_golden *golden, const kg_regime *regime)
{
    const char *name = kg_golden_regime_name(regime);
    const size_t length = strlen(name);
    for (const char *at = golden->xfails; at; at = strchr(at, ',')) {
        at += *at == ',';
        if (!strncmp(at, name, length) && (!at[length] || at[length] == ','))
            return true;
    }
    return false;
}

const struct kg_golden *kg_goldens_find(const struct kg_goldens *goldens, const char *key)
{
    size_t at = lower_bound(goldens, key);
    return at < goldens->count && !strcmp(goldens->items[at].key, key) ? &goldens->items[at] : NULL;
}

int kg_goldens_put(struct kg_goldens *goldens, const struct kg_golden *golden, bool reset_best, kg_error *ret_error)
{
    size_t at = lower_bound(goldens, golden->key);
    if (at < goldens->count && !strcmp(goldens->items[at].key, golden->key)) {
        struct kg_golden old = goldens->items[at], *item = &goldens->items[at];
        enum kg_best_fate fate = kg_golden_best_fate(&old, golden, reset_best);
        *item = *golden;
        if (fate == KG_BEST_KEPT || fate == KG_BEST_APART)
            item->best = old.best;
        return 0;
    }
    struct kg_golden *items = realloc(goldens->items, (goldens->count + 1) * sizeof *items);
    if (!items)
        return kg_fail(ret_error, KG_ENOMEM, "out of memory");
    goldens->items = items;
    memmove(&items[at + 1], &items[at], (goldens->count - at) * sizeof *items);
    items[at] = *golden;
    goldens->count++;
    return 0;
}

int kg_goldens_remove(struct kg_goldens *goldens, const char *key)
{
    size_t at = lower_bound(goldens, key);
    if (at == goldens->count || strcmp(goldens->items[at].key, key))
        return KG_ENOTFOUND;
    goldens->count--;
    memmove(&goldens->items[at], &goldens->items[at + 1], (goldens->count - at) * sizeof *goldens->items);
    return 0;
}

void kg_goldens_done(struct kg_goldens *goldens)
{
    if (!goldens)
        return;
    free(goldens->items);
    goldens->items = NULL;
    goldens->count = 0;
}
