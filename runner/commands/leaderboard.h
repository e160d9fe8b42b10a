/* leaderboard.h -- who is fastest at what, by the goldens: for every shape its best ever, and how each backend stands
 * now. Pure; `kgate leaderboard` reads the files and prints. */
#ifndef KG_LEADERBOARD_H
#define KG_LEADERBOARD_H

#include "judge/golden.h"
#include "plan/plan.h"

/* A backend at a shape. */
struct kg_standing {
    const kg_backend *backend;
    const struct kg_golden *golden;
    int rank;             /* by the golden's p50, from 1; equal times share one */
    double over_best_pct; /* the golden's p50 over the shape's best */
};

/* A shape on one architecture, under one contract: times of different contracts are not compared. */
struct kg_board {
    const struct kg_goldens *set;
    const struct kg_case *of;      /* its suite, shape and problem */
    struct kg_standing best;       /* whose golden.best is the shape's; of equal ones the earliest */
    struct kg_standing *standings; /* by rank */
    size_t count;                  /* at least 1 */
    const kg_backend **without;    /* timed in the suite, but without a golden of any contract; they stand on the */
    size_t n_without;              /* first board of a shape */
    bool several_cards;            /* goldens and bests were not all taken on one */
};

struct kg_leaderboard {
    struct kg_board *boards; /* by set, then in the order of the plan */
    size_t n_boards;
    struct kg_standing *standings; /* what the boards point to */
    const kg_backend **without;
};

/* Of all cases of the plan: to rank a backend, its rivals are needed. Plan and sets must outlive it. Shapes without a
 * golden have no board. KG_ENOMEM. */
int kg_leaderboard_make(const struct kg_plan *plan, const struct kg_goldens *sets, size_t n_sets,
                        struct kg_leaderboard *ret_leaderboard, kg_error *ret_error);
void kg_leaderboard_done(struct kg_leaderboard *leaderboard);

/* Keeps what a plan of fewer cases of the same module has: backends with the ranks they had, boards with a backend. */
void kg_leaderboard_select(struct kg_leaderboard *leaderboard, const struct kg_plan *selected);

#endif
