/* lineup.h -- the subjects of one case: what is gated, and what stands beside it while it is timed. */
#ifndef KG_LINEUP_H
#define KG_LINEUP_H

#include "worker/job.h"
#include "measure/block.h"
#include "plan/module.h"

struct kg_lineup {
    struct kg_host_state *host;
    struct kg_fixture *fixture; /* of the case, where the job has a baseline the baseline's */
    const struct kg_job_case *one;
    struct kg_loaded *module, *baseline;  /* baseline NULL: none, or it has no such case */
    struct kg_subject subjects[KG_LANES]; /* without a backend: takes no part */
};

/* Each prepares one subject. KG_EUNSUPPORTED and why: it cannot run here. */
int kg_lineup_case(struct kg_lineup *lineup, kg_error *ret_error);
int kg_lineup_baseline(struct kg_lineup *lineup, kg_error *ret_error);
int kg_lineup_planted(struct kg_lineup *lineup, kg_error *ret_error); /* as the case, prepared once more */
/* KG_ENOTFOUND without a text: the suite has none, or it is the case itself. */
int kg_lineup_anchor(struct kg_lineup *lineup, kg_error *ret_error);

void kg_lineup_drop(struct kg_lineup *lineup, int lane);
void kg_lineup_done(struct kg_lineup *lineup);

/* Buffers of their own for the case and the anchor. Baseline and planted case are measured on the case's sets, so that
 * where these lie makes no difference between them. */
int kg_lineup_make_rings(struct kg_lineup *lineup, const struct kg_timing *timing, uint64_t seed, kg_error *ret_error);

/* Launches a lane once, and waits for it. */
int kg_lineup_launch(struct kg_lineup *lineup, int lane, kg_error *ret_error);

/* What the baseline or the anchor runs; launches it once, since a first launch should not stand in a capture. */
int kg_lineup_identity(struct kg_lineup *lineup, int lane, char *ret_text, size_t size, kg_error *ret_error);

/* By lane, for kg_measure_block. */
void kg_lineup_subjects(struct kg_lineup *lineup, struct kg_subject *ret_subjects[KG_LANES]);

#endif
