/* session.h -- what a run stands on before its first worker: module, plan, device, goldens, output folder. */
#ifndef KG_SESSION_H
#define KG_SESSION_H

#include "judge/fleet.h"
#include "judge/verdict.h"
#include "plan/module.h"
#include "options/options.h"
#include "plan/plan.h"
#include "reports/report.h"
#include "plan/pair.h"

struct kg_session {
    const struct kg_options *options;
    struct kg_loaded module, baseline; /* baseline: --against; its root NULL: none */
    struct kg_plan plan;               /* under --against of both builds, made from the baseline */
    struct kg_pairs pairs;             /* --against: beside plan.cases */
    kg_device device;
    char no_cuda[400];   /* why the CUDA cases of the plan are skipped; "" : they run, or there are none */
    size_t n_other_kind; /* cases selected that are of the other kind of device, left out */
    struct kg_goldens goldens;
    struct kg_floors floors;         /* this machine's, from an earlier kgate selfcheck */
    char expectations[KG_PATH_SIZE]; /* folder */
    char folder[KG_PATH_SIZE];       /* results/<run_id> */
    char cache[KG_PATH_SIZE];
    struct kg_run run;
    struct kg_result *results; /* plan.count of them, then the lost ones */
    size_t n_results;
};

/* The module, the device that the options ask for, the golden folder and its goldens: enough for kgate doctor. */
int kg_session_open_device(struct kg_session *session, const struct kg_options *options, kg_error *ret_error);

/* The golden folder: the user's, else ./expectations, else what a bundle brought. */
void kg_session_find_expectations(const struct kg_options *options, char ret_folder[KG_PATH_SIZE]);
void kg_session_utc(char *ret_text, size_t size, const char *format); /* now, as strftime writes it */

/* The rest of a run: plan, lock of the device, output folder, provenance. Cases are results from then on. */
int kg_session_open(struct kg_session *session, const struct kg_options *options, kg_error *ret_error);
void kg_session_done(struct kg_session *session);

/* A session on the device, the folder, the goldens (whose pins hold) and the module of another, which outlives it,
 * beside options->against. What is its own is freed by kg_session_close_beside, also of one that could not be opened.
 */
int kg_session_open_beside(struct kg_session *session, const struct kg_session *other, const struct kg_options *options,
                           kg_error *ret_error);
void kg_session_close_beside(struct kg_session *session);

/* ---- parts of it ---- */

/* --device: auto (kind 0), cpu, cuda or cuda:N. KG_EINVAL. */
int kg_device_choice_parse(const char *text, enum kg_device_kind *ret_kind, int *ret_index, kg_error *ret_error);

/* Sets session->device. auto: the GPU if one is there and a case is for it; without a GPU its cases stay, to be skipped
 * aloud (session->no_cuda). KG_EINVAL: the device that was named is not there. */
int kg_device_choose(struct kg_session *session, bool wants_cuda, kg_error *ret_error);
int kg_device_check_required(const struct kg_session *session, kg_error *ret_error); /* KG_EINVAL: --require-device */

int kg_session_make_results(struct kg_session *session, kg_error *ret_error);
void kg_session_free_results(struct kg_session *session);

/* Puts the policy into the result's case: its suite's, with what the command line says. Nothing else resolves one. */
void kg_session_resolve_policy(const struct kg_session *session, struct kg_result *result);

/* The golden of a result's (suite, shape, backend by name), whether or not it judges; NULL: none. */
const struct kg_golden *kg_session_golden(const struct kg_session *session, const struct kg_result *result);

/* What the session knows for judging a result. No golden judges under --against, nor a case that is absent. */
struct kg_expectation kg_session_expectation(const struct kg_session *session, const struct kg_result *result);

/* Adds a LOST result for every golden that the selection covers and the plan lacks. */
int kg_session_add_lost(struct kg_session *session, kg_error *ret_error);

/* Once there are results: KG_EINVAL for a knob that no selected backend has, and for a --threshold under
 * the noise that kgate selfcheck found on this machine in a selected case. */
int kg_session_check(const struct kg_session *session, kg_error *ret_error);

#endif
