/* session.h -- what a run stands on before its first worker: module, plan, device, goldens, output folder. */
#ifndef KG_SESSION_H
#define KG_SESSION_H

#include "golden.h"
#include "module.h"
#include "options.h"
#include "plan.h"
#include "report.h"

struct kg_session {
    const struct kg_options *options;
    struct kg_loaded module;
    struct kg_plan plan;
    kg_device device;
    char no_cuda[400];   /* why the CUDA cases of the plan are skipped; "" : they run, or there are none */
    size_t n_other_kind; /* cases selected that are of the other kind of device, left out */
    struct kg_goldens goldens;
    char expectations[KG_PATH_SIZE]; /* folder */
    char folder[KG_PATH_SIZE];       /* results/<run_id> */
    char cache[KG_PATH_SIZE];
    struct kg_run run;
    struct kg_result *results; /* plan.count of them, then the lost ones */
    size_t n_results;
};

/* The module, the device that the options ask for, the golden folder and its goldens: enough for kgate doctor. */
int kg_session_open_device(struct kg_session *session, const struct kg_options *options, kg_error *ret_error);

/* The rest of a run: plan, lock of the device, output folder, provenance. Cases are results from then on. */
int kg_session_open(struct kg_session *session, const struct kg_options *options, kg_error *ret_error);
void kg_session_done(struct kg_session *session);

#endif
