/* job.h -- what the parent asks of one worker. */
#ifndef KG_JOB_H
#define KG_JOB_H

#include "result.h"
#include "timing.h"

struct kg_job_case {
    size_t index; /* into the run's results */
    struct kg_case of;
    bool check; /* compare with the reference; otherwise the output must have `digest`, or be compared again */
    bool time;
    uint64_t digest;
    char backend[64]; /* resolved by an earlier worker; "" : the case's own, or resolve */
    char pin[480], anchor_pin[480];
};

struct kg_job {
    char module[4096];
    enum kg_device_kind kind;
    int device;
    int round; /* 0: correctness */
    uint64_t order_seed;
    struct kg_timing_overrides timing;
    const char *const *library_paths, *const *knobs;
    size_t n_library_paths, n_knobs;
    char cache[4096];
    struct kg_job_case *cases;
    size_t n_cases;
};

#endif
