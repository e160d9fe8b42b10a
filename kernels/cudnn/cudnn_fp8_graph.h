/* cudnn_fp8_graph.h -- attention in 8 bits as a cuDNN operation graph: that of cudnn_sdpa.h with scales before and
 * after both products, e4m3 weights between them, and the largest magnitude of the output beside it. */
#ifndef CUDNN_FP8_GRAPH_H
#define CUDNN_FP8_GRAPH_H

#include "cudnn/cudnn_library.h"
#include "op/sdpa_fp8.h"

/* Raised when the operations, their order or the tensors' ids change: plans kept from before then stay unread. */
#define CUDNN_FP8_REVISION "sdpa_fp8 1"

/* Ids of the tensors that a call binds: enum sdpa_tensor + 1 for Q, K, V and O in e4m3; then FP32 numbers, on the
 * device where nothing else is said. */
enum cudnn_fp8_id {
    CUDNN_FP8_Q_DESCALE = SDPA_TENSORS + 1, /* what a code of 1 stands for, of Q, K and V in the order of the tensors */
    CUDNN_FP8_K_DESCALE,
    CUDNN_FP8_V_DESCALE,
    CUDNN_FP8_S_SCALE, /* factor on the weights before they are coded, and its inverse */
    CUDNN_FP8_S_DESCALE,
    CUDNN_FP8_O_SCALE,
    CUDNN_FP8_O_LARGEST, /* written: largest magnitude of the output before O_SCALE */
    CUDNN_FP8_SCALE,     /* of the scores; in host memory */
    CUDNN_FP8_HIDDEN,    /* what a hidden score becomes, minus infinity; in host memory, in causal graphs only */
    CUDNN_FP8_FIRST_VIRTUAL,
};

static inline int64_t cudnn_fp8_id(enum sdpa_tensor tensor)
{
    return (int64_t)tensor + 1;
}

/* `problem` is a struct sdpa_fp8. Returns the finalised operation graph, which belongs to the build; NULL after a
 * failure. */
cudnnBackendDescriptor_t cudnn_fp8_graph(const kg_backend *self, struct cudnn_build *build, const void *problem);

#endif
