/* policy.h -- how a case is timed and judged: its suite's policy with the command line's overrides. Resolved once, by
 * the session; after that it travels with the case, to the workers too. Pure. */
#ifndef KG_POLICY_H
#define KG_POLICY_H

#include "kgate.h"

/* Defaults of a suite's policy, in per cent: the loss of time that is tolerated, and what a series of blesses may lose
 * to the best. */
#define KG_GPU_THRESHOLD_PCT 2.0
#define KG_CPU_THRESHOLD_PCT 10.0
#define KG_CREEP_PCT 5.0

/* Blocks of a case: as many are measured at least, at most unless --rounds says otherwise, and for a bless. */
#define KG_MIN_ROUNDS 3
#define KG_MAX_ROUNDS 16
#define KG_BLESS_ROUNDS 8

/* How time was taken. Goldens of another contract are not compared. */
struct kg_contract {
    char timer[16]; /* graph, event */
    char l2[16];    /* warm, cold */
    double window_us;
    char data[32]; /* generator of the inputs: irwin-hall-8 */
};

bool kg_contract_same(const struct kg_contract *a, const struct kg_contract *b);

/* Negative: not given. */
struct kg_timing_overrides {
    int timer, l2, warmup, samples;
    double threshold_pct;
};

/* What a command wants of all its cases. */
struct kg_policy_terms {
    const struct kg_timing_overrides *timing;
    int rounds; /* most blocks of a set; 0: KG_MAX_ROUNDS */
    bool no_time;
    bool against; /* the baseline's blocks judge; goldens judge no time */
};

/* Of two builds' tables, the baseline's. */
enum kg_threshold_from { KG_THRESHOLD_OF_TABLE, KG_THRESHOLD_OF_COMMAND, KG_THRESHOLD_OF_GOLDEN };
#define KG_THRESHOLD_NAMES ((const char *const[]){ "table", "command", "golden" })

struct kg_policy {
    enum kg_timer timer;
    enum kg_l2 l2;
    int warmup, samples; /* KG_TIMER_EVENT: calls */
    double window_us;    /* KG_TIMER_GRAPH: shortest window; on the CPU too, where it is a loop of calls */
    int sets;            /* warm cache: buffer sets that a block's windows take turns on */
    double arm_us;       /* time in windows that each arm of a block aims at: the case, its anchor, its baseline. Two
                          * builds' blocks may last longer, see block.c */
    double threshold_pct;
    enum kg_threshold_from threshold_from;
    double creep_pct;   /* allowed over the best ever blessed, with the interval's lower bound. CUDA only */
    int max_blocks;     /* of a set of rounds */
    bool goes_on;       /* past them, while --budget lasts */
    bool timed;         /* false: --no-time, or a table that is correctness only */
    bool against;       /* as kg_policy_terms has it */
    bool is_cpu_anchor; /* judges the others by ratio; its own absolute time travels badly, so no golden judges it */
    const char *xfail;  /* reason of the row that says it must fail; NULL: none */
    unsigned excused;   /* wrong answers that the suite's gates need not see; a kg_wrong_set */
};

/* Do the tables want it timed? A suite or a backend may be for correctness only. */
static inline bool kg_timed_by_tables(const kg_suite *suite, const kg_backend *backend)
{
    return !suite->time.off && !backend->untimed;
}

/* All but `xfail` and `excused`, which go by id. */
struct kg_policy kg_policy_of(const kg_suite *suite, const kg_backend *backend, enum kg_device_kind kind,
                              const struct kg_policy_terms *terms);
struct kg_contract kg_policy_contract(const struct kg_policy *policy);

#endif
