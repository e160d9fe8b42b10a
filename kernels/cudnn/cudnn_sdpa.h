/* cudnn_sdpa.h -- the attention op as a cuDNN operation graph: matmul, scale, mask, softmax, matmul. */
#ifndef CUDNN_SDPA_H
#define CUDNN_SDPA_H

#include "cudnn/cudnn_common.h"
#include "op/sdpa.h"

/* Raised when the operations, their order or the tensors' ids change: plans kept from before then stay unread. */
#define CUDNN_SDPA_REVISION "sdpa 1"

/* Ids of the tensors that a call binds: enum sdpa_tensor + 1 for Q, K, V and O, then numbers in host memory. */
enum cudnn_sdpa_id {
    CUDNN_SDPA_SCALE = SDPA_TENSORS + 1,
    CUDNN_SDPA_HIDDEN, /* what a hidden score becomes, minus infinity; in graphs with a mask only */
    CUDNN_SDPA_FIRST_VIRTUAL,
    CUDNN_SDPA_KEYS = 1000, /* Skv and S, integers, in graphs with a bottom-right mask only */
    CUDNN_SDPA_QUERIES,
    CUDNN_SDPA_CAP,    /* the next in graphs with that modifier only */
    CUDNN_SDPA_BEFORE, /* a float, cudnn_mask_band's */
    CUDNN_SDPA_AFTER,  /* an integer; in graphs that are not causal */
    CUDNN_SDPA_SLOPES, /* device memory */
};

/* What happens to scores besides the scale and the causal mask. */
struct cudnn_modifiers {
    float cap;      /* 0: none */
    int32_t window; /* keys nearer than this are seen; 0: all are */
    int slopes;     /* place among a call's tensors of the penalty on distance, by head; 0: none */
    int workspace;  /* its place among them; 0: SDPA_WORKSPACE */
};

static inline int64_t cudnn_sdpa_id(enum sdpa_tensor tensor)
{
    return (int64_t)tensor + 1;
}

/* `data` of a backend that is such a graph, of problems that begin with a struct sdpa: how many proposed plans it
 * chooses from, and what the choice is called. */
struct cudnn_variant {
    const char *name;
    int n_plans;
    struct cudnn_modifiers (*modifiers)(const void *problem); /* NULL: the op has none */
};

/* Returns the finalised operation graph, which belongs to the build; NULL after a failure. */
cudnnBackendDescriptor_t cudnn_sdpa_graph(struct cudnn_build *build, const struct sdpa *p,
                                          const struct cudnn_modifiers *modifiers);

int cudnn_sdpa_supports(const kg_backend *self, const kg_device *device, const void *problem, kg_error *ret_error);
int cudnn_sdpa_prepare(const kg_backend *self, const kg_call *call, void **ret_state, kg_identity *ret_identity,
                       kg_error *ret_error);
size_t cudnn_sdpa_workspace(const kg_backend *self, const void *state);
int cudnn_sdpa_launch(const kg_backend *self, void *state, const kg_tensor *tensors, void *stream, kg_error *ret_error);
void cudnn_sdpa_release(const kg_backend *self, void *state);

/* All of a backend but its name, help, data and what it supports; and with the first plan that is proposed. */
#define CUDNN_BACKEND                                                                                                  \
    .device = KG_CUDA, .open = cudnn_common_open, .close = cudnn_common_close, .prepare = cudnn_sdpa_prepare,          \
    .workspace = cudnn_sdpa_workspace, .launch = cudnn_sdpa_launch, .release = cudnn_sdpa_release
#define CUDNN_FIRST .data = &(const struct cudnn_variant){ .name = "first", .n_plans = 1 }, CUDNN_BACKEND

#endif
