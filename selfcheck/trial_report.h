/* trial_report.h -- what selfcheck says of recorded gates: aligned text to be read or pasted into a document, or JSON.
 */
#ifndef KG_TRIAL_REPORT_H
#define KG_TRIAL_REPORT_H

#include "selfcheck/trial.h"

struct kg_trial_report {
    bool goals;   /* the cells of what must be reached, and the other rules beside them, in place of all rates */
    bool verbose; /* all rates, by class and time of the kernel too */
};

void kg_trials_put(const struct kg_trials *trials, const struct kg_series_set *set,
                   const struct kg_trial_report *report, FILE *out);
int kg_trials_put_json(const struct kg_trials *trials, const struct kg_series_set *set, FILE *out, kg_error *ret_error);

#endif
