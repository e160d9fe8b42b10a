/* math.h -- what a backend takes from `math` that has a softmax of its own between the two products. */
#ifndef MATH_H
#define MATH_H

#include "math/softmax.h"
#include "op/sdpa.h"
#include "op/sdpa_cuda.h"

/* `data` of such a backend. Its problem begins with a struct sdpa. */
struct math_softmax {
    int (*workspace_place)(const void *problem); /* among the tensors of a call */
    /* Scores become probabilities, as softmax_launch says; returns a cudaError_t. */
    int (*launch)(const struct softmax_args *args, int dtype, const void *problem, const kg_tensor *tensors,
                  void *stream);
};

int math_supports(const kg_backend *self, const kg_device *device, const void *problem, kg_error *ret_error);
int math_open(const kg_backend *self, const kg_host *host, const kg_device *device, void **ret_library,
              kg_error *ret_error);
void math_close(const kg_backend *self, void *library);
int math_prepare(const kg_backend *self, const kg_call *call, void **ret_state, kg_identity *ret_identity,
                 kg_error *ret_error);
size_t math_workspace(const kg_backend *self, const void *state);
int math_launch(const kg_backend *self, void *state, const kg_tensor *tensors, void *stream, kg_error *ret_error);

/* All of a backend but its name, help and data. */
#define MATH                                                                                                           \
    .device = KG_CUDA, .supports = math_supports, .open = math_open, .close = math_close, .prepare = math_prepare,     \
    .workspace = math_workspace, .launch = math_launch, .release = sdpa_cuda_release

#endif
