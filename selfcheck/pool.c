/* pool.c -- in a circle through recorded blocks. */
#include "selfcheck/pool.h"

#include <math.h>

void kg_pool_add(struct kg_pool *pool, const struct kg_series *series, double planted_pct)
{
    if (!pool->count)
        pool->series = series;
    for (int i = 0; i < series->n_blocks; i++)
        if (planted_pct == 0 || fabs(series->blocks[i].planted_pct - planted_pct) < 1e-6)
            pool->of[pool->count++] = &series->blocks[i];
}

static bool is_among(const struct kg_gate_blocks *blocks, const struct kg_recorded_block *block)
{
    for (int i = 0; i < blocks->count; i++)
        if (blocks->of[i] == block)
            return true;
    return false;
}

int kg_pool_remove(struct kg_pool *pool, const struct kg_gate_blocks *golden, int at)
{
    int kept = 0, before = 0;
    for (int i = 0; i < pool->count; i++) {
        if (is_among(golden, pool->of[i]))
            continue;
        before += i < at;
        pool->of[kept++] = pool->of[i];
    }
    pool->count = kept;
    return before;
}

struct kg_gate_blocks kg_pool_take(const struct kg_pool *pool, int at, bool planted, int *ret_fresh)
{
    struct kg_gate_blocks blocks = { .series = pool->series, .planted = planted };
    const int left = pool->count - at;
    while (blocks.count < pool->count && blocks.count < KG_MAX_BLOCKS) {
        blocks.of[blocks.count] = pool->of[(at + blocks.count) % pool->count];
        blocks.count++;
    }
    *ret_fresh = left < blocks.count ? left : blocks.count;
    return blocks;
}

struct kg_gate_blocks kg_pool_golden(const struct kg_pool *pool, int at, int count)
{
    struct kg_gate_blocks blocks = { .series = pool->series };
    for (int i = at; i < pool->count && blocks.count < count; i++)
        blocks.of[blocks.count++] = pool->of[i];
    return blocks;
}
