/* pool.h -- blocks that gates take theirs from, one after another: of one series, or of all series of a case in a
 * chain. Pure. */
#ifndef KG_POOL_H
#define KG_POOL_H

#include "selfcheck/gate.h"

struct kg_pool {
    const struct kg_series *series;      /* the first of those that blocks are of */
    const struct kg_recorded_block **of; /* owned by who made the pool, with room for all */
    int count;
};

/* Appends the blocks that have a slowdown of planted_pct beside them; 0: all. */
void kg_pool_add(struct kg_pool *pool, const struct kg_series *series, double planted_pct);

/* Removes the blocks of a golden. Returns where the block at `at` is then, or the next one after it that is left. */
int kg_pool_remove(struct kg_pool *pool, const struct kg_gate_blocks *golden, int at);

/* The blocks from `at` on, and after the last those from the first on, as many as a gate may take. A gate that wants
 * more than are left would have to be counted as cut, or left out, and either would favour one answer; so it goes on
 * with blocks of other gates. ret_fresh: how many come before those. */
struct kg_gate_blocks kg_pool_take(const struct kg_pool *pool, int at, bool planted, int *ret_fresh);

/* `count` blocks from `at` on, for a golden. */
struct kg_gate_blocks kg_pool_golden(const struct kg_pool *pool, int at, int count);

#endif
