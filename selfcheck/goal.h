/* goal.h -- what the rates of recorded gates must reach, cell by cell, and whether they do. Pure. */
#ifndef KG_GOAL_H
#define KG_GOAL_H

#include "selfcheck/trial.h"

/* What must be reached is stated at this threshold of GPU kernels, whatever the default is, and at finer ones. */
#define KG_GOAL_PCT 2.0

enum kg_goal_state {
    KG_GOAL_REACHED,
    KG_GOAL_MISSED,
    KG_GOAL_FEW,  /* nothing against it, but fewer gates than are wanted */
    KG_GOAL_TOLD, /* nothing is wanted, the figure is told */
};

struct kg_goal {
    const char *what;   /* "+5% found" */
    const char *judged; /* "golden, same card" */
    double threshold_pct;
    char wanted[32];
    enum kg_goal_state state;
    /* Of gates; or, where there are none, of seconds a case. */
    struct kg_rate rate;
    bool power, resampled;
    struct kg_by_case by_case;
    double mean_s, worst_s;
    const char *slowest;
};

#define KG_MAX_GOALS 24

/* Returns how many. */
size_t kg_goals_of(const struct kg_trials *trials, struct kg_goal ret_goals[KG_MAX_GOALS]);

const char *kg_goal_state_name(enum kg_goal_state state);
size_t kg_goal_independent(const struct kg_goal *goal); /* gates whose blocks serve no other */

#endif
