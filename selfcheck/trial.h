/* trial.h -- gates formed from recorded blocks, and how often they said what. Pure: the same series give the same
 * table.
 *
 * A golden is made of KG_GATE_GOLDEN blocks of a series, its runs of others: of the same series (same card), or of
 * another start or card. Under --against a block holds both builds in one process, so gates are formed along a chain of
 * all blocks of a case, over starts and cards. Gates are independent where no block serves two of them; rows that are
 * resampled say so. Goldens of slowdowns serve several gates, the blocks of their runs are their own. */
#ifndef KG_TRIAL_H
#define KG_TRIAL_H

#include "selfcheck/card_spread.h"
#include "selfcheck/case_noise.h"
#include "selfcheck/cells.h"
#include "selfcheck/runs.h"
#include "selfcheck/series.h"

struct kg_trial_options {
    double threshold_pct;
    bool fine;      /* rows of the finer thresholds too, 0.5 and 0.25 */
    int max_blocks; /* of a set of rounds */
    bool drawn;     /* gates drawn from each case's own blocks too: a short recording has few of a size */
};

struct kg_trials {
    struct kg_rate_row rows[KG_TRIAL_ROWS];
    struct kg_by_case by_case[KG_TRIAL_ROWS][KG_PLANTED];
    struct kg_rate_row *groups; /* the rows that have gates, by class or time of the kernel */
    size_t n_groups;
    struct kg_case_noise *cases;
    struct kg_card_spread *spreads; /* of the cases of several cards */
    size_t n_cases, n_spreads;
    struct kg_run_rates runs; /* of recorded sets; without pairs: none */
    size_t n_blocks, n_starts, n_cards;
    size_t n_short;     /* slowdowns of a case with too few blocks for a gate */
    size_t n_unblessed; /* goldens that a bless would have refused */
    size_t n_ungated;   /* gates that cannot be judged: the anchor moved, say */
    size_t n_no_ratio;  /* pairs of cards of a case without an anchor */
};

/* KG_EINVAL: no series, or CPUs and GPUs among them. Cases point into the set. */
int kg_trials_of(const struct kg_series_set *set, const struct kg_trial_options *options, struct kg_trials *ret_trials,
                 kg_error *ret_error);
void kg_trials_done(struct kg_trials *trials);

/* What selfcheck says of them: aligned text to be read or pasted into a document, or JSON. */
struct kg_trial_report {
    bool goals;   /* the cells of what must be reached, and the other rules beside them, in place of all rates */
    bool verbose; /* all rates, by class and time of the kernel too */
};

void kg_trials_put(const struct kg_trials *trials, const struct kg_series_set *set,
                   const struct kg_trial_report *report, FILE *out);
int kg_trials_put_json(const struct kg_trials *trials, const struct kg_series_set *set, FILE *out, kg_error *ret_error);

#endif
