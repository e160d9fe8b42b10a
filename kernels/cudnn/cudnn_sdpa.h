/* cudnn_sdpa.h -- the attention op as a cuDNN operation graph: matmul, scale, mask, softmax, matmul. */
#ifndef CUDNN_SDPA_H
#define CUDNN_SDPA_H

#include "cudnn/cudnn_library.h"
#include "op/sdpa.h"

/* Raised when the operations, their order or the tensors' ids change: plans kept from before then stay unread. */
#define CUDNN_SDPA_REVISION "sdpa 1"

/* Ids of the tensors that a call binds: enum sdpa_tensor + 1 for Q, K, V and O, then two floats in host memory. */
enum cudnn_sdpa_id {
    CUDNN_SDPA_SCALE = SDPA_TENSORS + 1,
    CUDNN_SDPA_HIDDEN, /* what a hidden score becomes, minus infinity; in causal graphs only */
    CUDNN_SDPA_FIRST_VIRTUAL,
    CUDNN_SDPA_KEYS = 1000, /* Skv and S, integers in host memory, in graphs with a bottom-right mask only */
    CUDNN_SDPA_QUERIES,
};

static inline int64_t cudnn_sdpa_id(enum sdpa_tensor tensor)
{
    return (int64_t)tensor + 1;
}

/* `problem` is a struct sdpa. Returns the finalised operation graph, which belongs to the build; NULL after a failure.
 */
cudnnBackendDescriptor_t cudnn_sdpa_graph(struct cudnn_build *build, const void *problem);

#endif
