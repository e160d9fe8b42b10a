/* arms.h -- the arms of one case: what is gated, and what stands beside it while it is timed. */
#ifndef KG_ARMS_H
#define KG_ARMS_H

#include "worker/job.h"
#include "measure/block.h"
#include "plan/module.h"

struct kg_twin;

struct kg_arms {
    struct kg_host_state *host;
    struct kg_fixture *fixture;
    const struct kg_job_case *one;
    struct kg_loaded *module;             /* under --against the baseline, whose inputs and gates hold */
    struct kg_twin *twin;                 /* of which the case is then; NULL: of the module */
    struct kg_prepared prepared[KG_ARMS]; /* without a backend: takes no part */
    struct kg_fixture beside;             /* inputs of an anchor that is another case, */
    void *beside_problem;                 /* and its problem */
};

/* Of a backend with candidates the one of this name; "" : the backend itself, which takes the first that runs. */
const kg_backend *kg_arms_choice(const struct kg_case *of, const char *only);

/* Each prepares one backend. KG_EUNSUPPORTED and why: it cannot run here. */
int kg_arms_case(struct kg_arms *arms, kg_error *ret_error);
int kg_arms_baseline(struct kg_arms *arms, kg_error *ret_error);
int kg_arms_planted(struct kg_arms *arms, kg_error *ret_error); /* as the case, prepared once more */
/* KG_ENOTFOUND without a text: the case has none. */
int kg_arms_anchor(struct kg_arms *arms, kg_error *ret_error);

void kg_arms_drop(struct kg_arms *arms, int arm);
void kg_arms_done(struct kg_arms *arms);

/* Buffers of their own for all but the planted case, which is measured on the case's sets, so that where these lie
 * makes no difference between the two. */
int kg_arms_make_rings(struct kg_arms *arms, const struct kg_policy *policy, uint64_t seed, kg_error *ret_error);

/* Launches an arm once, and waits for it. */
int kg_arms_launch(struct kg_arms *arms, int arm, kg_error *ret_error);

/* What the baseline or the anchor runs; launches it once, since a first launch should not stand in a capture. */
int kg_arms_identity(struct kg_arms *arms, int arm, char *ret_text, size_t size, kg_error *ret_error);

/* By arm, for kg_measure_block. */
void kg_arms_prepared(struct kg_arms *arms, struct kg_prepared *ret_prepared[KG_ARMS]);

#endif
