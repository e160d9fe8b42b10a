/* twin_ask.h -- what goes between the worker and the other build's process: structs as they lie, since both run one
 * kgate. Each ask, with its sets behind it, has one answer. */
#ifndef KG_TWIN_ASK_H
#define KG_TWIN_ASK_H

#include "device/device.h"

#define KG_TWIN_PIPE 4 /* file descriptor of the process; its job is read from KG_WORKER_JOB */
#define KG_TWIN_ARMS 2 /* what is prepared at a time: case and planted case */

enum kg_twin_what {
    KG_TWIN_PREPARE,
    KG_TWIN_STAGE,
    KG_TWIN_LAUNCH,
    KG_TWIN_IDENTITY,
    KG_TWIN_WINDOW,
    KG_TWIN_RUN,
    KG_TWIN_DROP, /* a window */
    KG_TWIN_RELEASE,
    KG_TWIN_UNMAP,
    KG_TWIN_CLOSE /* libraries, after the last case */
};

/* A tensor in the worker's memory. */
struct kg_twin_tensor {
    kg_tensor as;      /* `data` as the worker has it; no name */
    const void *block; /* that it lies in; the other side maps it once */
    struct kg_shared shared;
};

struct kg_twin_set {
    int count;
    struct kg_twin_tensor tensors[KG_MAX_TENSORS + 1]; /* the last may be the workspace */
};

struct kg_twin_ask {
    enum kg_twin_what what;
    int arm; /* below KG_TWIN_ARMS */
    int n_sets;
    bool has_workspace;
    size_t place; /* of the case in the job */
    char only[64], pin[480];
    int calls;
    bool graph;
    double spin_us;
    void *windows[KG_MAX_BATCH]; /* of answers */
    int n_windows;
    const void *block;
};

struct kg_twin_answer {
    int status;
    kg_error error;
    char name[64], knobs[300];
    kg_identity identity;
    double prepare_ms;
    size_t workspace_bytes;
    bool workspace, stages;
    struct kg_launch_info launch;
    char text[1024];
    void *window;
    double us[KG_MAX_BATCH];
};

#endif
