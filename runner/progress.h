/* progress.h -- a bar on stderr, on a terminal only. */
#ifndef KG_PROGRESS_H
#define KG_PROGRESS_H

#include "result.h"

struct kg_progress {
    const struct kg_result *results;
    const char *stage; /* "correctness", "round 2 of at most 8" */
    size_t done, total;
    bool shown;
};

/* A kg_round_options.progress over a struct kg_progress. */
void kg_progress_step(void *progress, size_t index, enum kg_phase phase);
void kg_progress_clear(struct kg_progress *progress);

#endif
