/* gate.h -- one gate of recorded blocks: which blocks it takes, and what the code that blesses and judges a run says of
 * them. Pure. */
#ifndef KG_GATE_H
#define KG_GATE_H

#include "judge/verdict.h"
#include "selfcheck/rates.h"
#include "selfcheck/rules.h"
#include "selfcheck/series.h"

#define KG_GATE_GOLDEN 8 /* blocks of a golden, as a bless measures them */

/* Recorded blocks in the order that they come to the gate. */
struct kg_gate_blocks {
    const struct kg_series *series; /* what they are of; blocks may be of other starts and cards of the case too */
    const struct kg_recorded_block *of[KG_MAX_BLOCKS];
    int count;
    bool planted; /* the planted arm of each, in place of the case's */
};

struct kg_gate_rule {
    bool against;   /* the module beside its copy; otherwise by a golden */
    bool same_card; /* false: by ratio to the anchor, as a golden of another card is */
    bool unchanged; /* what is launched is the golden's, as identities say */
    double threshold_pct;
    int max_blocks;               /* of a set */
    const struct kg_prior *prior; /* machine's own, of log_against; NULL: not measured */
    double floor_pct;
};

struct kg_gate_answer {
    enum kg_verdict verdict;     /* KG_UNGATED: cannot be judged in this way */
    struct kg_decision decision; /* for kg_rate_add */
    double floor_pct;            /* that a SLOW had to clear */
    int n_blocks;                /* that it took */
    bool cut;                    /* it wanted more than there were: UNSURE */
};

/* The blocks' golden. KG_EINVAL where a bless would refuse them. */
int kg_gate_bless(const struct kg_gate_blocks *blocks, struct kg_golden *ret_golden, kg_error *ret_error);

/* As many blocks as the verdict asks for. `golden` NULL: against. The result is the run's, with verdict and reason. */
struct kg_gate_answer kg_gate_run(const struct kg_gate_blocks *blocks, const struct kg_golden *golden,
                                  const struct kg_gate_rule *rule, struct kg_result *ret_result);
struct kg_gate_answer kg_gate_judge(const struct kg_gate_blocks *blocks, const struct kg_golden *golden,
                                    const struct kg_gate_rule *rule);

/* What each of kg_rules says of the same, as bits: golden's blocks against those of a first look. */
unsigned kg_gate_rules(const struct kg_gate_blocks *golden, const struct kg_gate_blocks *run, double threshold_pct);

/* ---- where the blocks come from -------------------------------------------------------------------------------- */

/* Blocks that gates take theirs from, one after another: of one series, or of all series of a case in a chain. */
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

/* KG_GATE_GOLDEN blocks from `at` on, for a golden. */
struct kg_gate_blocks kg_pool_golden(const struct kg_pool *pool, int at);

/* The golden of a run that begins at `at` of `with`, the pool's blocks that have a slowdown beside them. It is made of
 * blocks of other processes: of those without the slowdown, or, where all have it, of the first or the last blocks,
 * whichever are farther. */
struct kg_gate_blocks kg_pool_golden_beside(const struct kg_pool *pool, const struct kg_pool *with, int at);

#endif
