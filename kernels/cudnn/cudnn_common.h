/* cudnn_common.h -- what the cuDNN backends share: the library, the plan of a case, pinned, kept or chosen
 * anew. */
#ifndef CUDNN_COMMON_H
#define CUDNN_COMMON_H

#include "cudnn/cudnn_plan.h"
#include "op/sdpa.h"

/* `open` and `close` of a backend; the library is a struct cudnn_library. */
int cudnn_common_open(const kg_backend *self, const kg_host *host, const kg_device *device, void **ret_library,
                      kg_error *ret_error);
void cudnn_common_close(const kg_backend *self, void *library);

/* A plan as a backend wants it: what it depends on besides the library, the device and a pin, and how it is made. */
struct cudnn_wanted {
    const char *revision; /* of the graph */
    const struct sdpa *shape;
    const char *dtype, *choice;
    cudnnBackendDescriptor_t (*graph)(const kg_backend *self, struct cudnn_build *build, const void *problem);
    /* Makes plans of the graph and keeps one. */
    int (*choose)(const kg_backend *self, const kg_call *call, cudnnBackendDescriptor_t graph,
                  struct cudnn_plan *ret_plan, kg_error *ret_error);
};

/* The pinned configuration where it can still be had, else one chosen anew: the identity, which it fills, shows the
 * difference. Either way from the host's cache first, and kept there. */
int cudnn_common_plan(const kg_backend *self, const kg_call *call, const struct cudnn_wanted *wanted,
                      struct cudnn_plan *ret_plan, kg_identity *ret_identity, kg_error *ret_error);

#endif
