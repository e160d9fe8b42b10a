/* progress.h -- how far a run is and how long it will take, on stderr: a bar on a terminal, else a line now and then.
 */
#ifndef KG_PROGRESS_H
#define KG_PROGRESS_H

#include "judge/result.h"

/* What the time left is estimated from. */
struct kg_outlook {
    size_t done, total; /* cases of this round */
    double round_s;     /* spent on it so far */
    bool timing;        /* false: correctness, whose cases take another time than a block does */
    double block_s;     /* mean time of a case in the rounds of timing before this one; 0: there was none */
    size_t later;       /* blocks that are certain to come after this round: up to the next look of what is open */
};

/* Seconds; NAN while too few cases have ended to tell. */
double kg_outlook_left_s(const struct kg_outlook *outlook);

/* "about 2 min 10 s left"; "" for NAN. */
void kg_outlook_say(double left_s, char *ret_text, size_t size);

struct kg_progress {
    const struct kg_result *results;
    const char *stage; /* "correctness", "round 2" */
    struct kg_outlook outlook;
    double began_s;  /* of this round */
    double said_s;   /* of the last line */
    double timed_s;  /* spent on the rounds of timing before this one */
    size_t n_blocks; /* in them */
    bool shown;      /* a bar stands on the terminal */
};

void kg_progress_begin(struct kg_progress *progress, const char *stage, bool timing, size_t total, size_t later);
/* A kg_dispatch_options.progress over a struct kg_progress. */
void kg_progress_step(void *progress, size_t index, enum kg_phase phase);
void kg_progress_end(struct kg_progress *progress);

#endif
