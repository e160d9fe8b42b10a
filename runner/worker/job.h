/* job.h -- what the parent asks of one worker. */
#ifndef KG_JOB_H
#define KG_JOB_H

#include "judge/result.h"
#include "plan/module.h"

struct kg_job_case {
    size_t index;      /* into the run's results */
    struct kg_case of; /* of the baseline where there is one: its inputs, reference and gates hold */
    bool check;        /* compare with the reference; otherwise the output must have `digest`, or be compared again */
    bool time;
    bool again;          /* if right, called once more on inputs of its own, which have a reference */
    bool alone;          /* too large for another worker on the device meanwhile */
    bool check_baseline; /* untimed: the baseline is launched beside it all the same, and must be right */
    bool strength_only;  /* the backend is not prepared: only the gates are judged, by the reference's wrong answers */
    uint64_t digest, other_digest; /* other: of outputs on other inputs, found right in an earlier round; 0: none was */
    char backend[64];              /* resolved by an earlier worker; "" : the case's own, or resolve */
    char pin[480], anchor_pin[480], baseline_pin[480];
    bool is_new; /* the baseline has no such case: `of` is the module's own, and in a job of such cases */
    /* selfcheck: over 0, a fourth arm beside case, baseline and anchor in the same block: the case once more, every
     * window of it made longer by this (a calibrated spin). The case's own arm stays as it is. */
    double planted_pct;
};

#define KG_TOKEN_SIZE 33

struct kg_job {
    char token[KG_TOKEN_SIZE]; /* before each message of the worker: random, a worker each; "": none */
    char module[4096];
    char baseline[4096]; /* --against: the module that is judged against; "" : none, as for cases that it lacks */
    char module_stamps[KG_STAMPS_SIZE], baseline_stamps[KG_STAMPS_SIZE]; /* what their files must be; "" : anything */
    bool anchors; /* the anchor runs beside a case; never under --against, always in selfcheck */
    enum kg_device_kind kind;
    int device;
    int round; /* 0: correctness */
    uint64_t order_seed;
    int repeat;       /* --repeat: further launches of each case that is checked */
    double timeout_s; /* --case-timeout: a worker that says nothing for longer is killed; 0: none is */
    const char *const *library_paths, *const *knobs;
    const char *const *baseline_library_paths; /* --against: the baseline's; none: it has the same */
    size_t n_library_paths, n_knobs, n_baseline_library_paths;
    char cache[4096];
    struct kg_job_case *cases;
    size_t n_cases;
};

#endif
