/* cells.h -- counts of gates, row by row and case by case, and their sums. Pure. */
#ifndef KG_CELLS_H
#define KG_CELLS_H

#include "selfcheck/rates.h"
#include "selfcheck/rules.h"
#include "selfcheck/series.h"

/* The rows, in the order of the table. A rule is one of those that kgate is compared with. */
enum kg_trial_row {
    KG_ROW_GOLDEN,
    KG_ROW_GOLDEN_ALL, /* every golden of 8 with all other blocks of its series */
    KG_ROW_STEADY,     /* of both: goldens whose floor is at most KG_STEADY_PCT */
    KG_ROW_STEADY_ALL,
    KG_ROW_DAY_ALL,      /* same card, another start */
    KG_ROW_CARD,         /* another card: each series once */
    KG_ROW_CARD_ALL,     /* every ordered pair of series */
    KG_ROW_CARD_ALLOWED, /* of these, gates whose floor is at most half the change */
    KG_ROW_AGAINST,
    KG_ROW_HALF,
    KG_ROW_HALF_LONG, /* kernels of 10 us and more */
    KG_ROW_QUARTER,
    KG_ROW_QUARTER_LONG,    /* launches of one kernel and nothing else, 20 us and more, not power-limited */
    KG_ROW_QUARTER_SEVERAL, /* the same of several nodes: kernels, or a memset beside one */
    KG_ROW_RULES,           /* the first of kg_rules, on the samples of KG_ROW_GOLDEN */
    KG_ROW_CARD_RULES = KG_ROW_RULES + KG_RULES, /* of every ordered pair */
    KG_TRIAL_ROWS = KG_ROW_CARD_RULES + KG_RULES
};
#define KG_STEADY_PCT 0.5

/* By case, since one that needs many blocks a gate has fewer gates in the sum. */
#define KG_WORST_CASES 6
struct kg_by_case {
    struct {
        const char *key;
        struct kg_rate rate;
    } worst[KG_WORST_CASES]; /* those with a false alarm, or a change not found; worst first */
    size_t n_worst;          /* of all, not only of these */
    double mean_slow_pct;    /* every case counting the same */
};

/* Cases of the module `classes` go by their class, others by their time. */
enum kg_kernel_group {
    KG_GROUP_LAUNCH,
    KG_GROUP_COMPUTE,
    KG_GROUP_MEMORY,
    KG_GROUP_UNDER_10_US,
    KG_GROUP_UNDER_20_US,
    KG_GROUP_LONGER,
    KG_KERNEL_GROUPS
};

struct kg_case_cells {
    const char *key;
    enum kg_kernel_group group;
    bool is_long;   /* its gates count into KG_ROW_HALF_LONG too */
    bool is_longer; /* into KG_ROW_QUARTER_LONG, or _SEVERAL */
    bool several;   /* nodes a launch; where no series tells, one */
    struct kg_rate rates[KG_TRIAL_ROWS][KG_PLANTED];
};

struct kg_cells {
    double threshold_pct; /* of rows that have none of their own */
    struct kg_case_cells *cases;
    size_t n_cases;
};

/* The series' case; one that is new takes the next place of `cases`. A card under its power cap makes a case
 * power-limited on all. */
struct kg_case_cells *kg_cells_of(struct kg_cells *cells, const struct kg_series *series);

double kg_cells_threshold_pct(const struct kg_cells *cells, enum kg_trial_row row);

void kg_cells_sum(const struct kg_cells *cells, struct kg_rate_row ret_rows[KG_TRIAL_ROWS],
                  struct kg_by_case ret_by_case[KG_TRIAL_ROWS][KG_PLANTED]);

/* Group after group, the rows that have gates; returns how many. Room for KG_TRIAL_ROWS * KG_KERNEL_GROUPS. */
size_t kg_cells_groups(const struct kg_cells *cells, struct kg_rate_row *room);

#endif
