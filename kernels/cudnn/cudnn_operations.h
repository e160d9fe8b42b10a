/* cudnn_operations.h -- what cuDNN's operation graphs are written with: 4-D tensors, and operations that add themselves
 * to a graph. Failures stick to the build, so a graph is written down without looking at any of them (cudnn_library.h).
 */
#ifndef CUDNN_OPERATIONS_H
#define CUDNN_OPERATIONS_H

#include "cudnn/cudnn_library.h"

#define CUDNN_MAX_OPERATIONS 32

struct cudnn_graph {
    struct cudnn_build *build;
    int64_t next_id; /* of virtual tensors; above the ids that a call binds */
    int n_operations;
    cudnnBackendDescriptor_t operations[CUDNN_MAX_OPERATIONS];
};

struct cudnn_shape {
    int64_t dims[4];
    int64_t strides[4];
};

struct cudnn_shape cudnn_packed(int64_t b, int64_t h, int64_t rows, int64_t columns);
struct cudnn_shape cudnn_transposed(struct cudnn_shape shape);

enum cudnn_place { CUDNN_REAL, CUDNN_VIRTUAL, CUDNN_BY_VALUE };

/* By-value tensors are bound to host memory, the others to device memory, aligned to 16 bytes. */
cudnnBackendDescriptor_t cudnn_tensor(struct cudnn_graph *graph, int64_t id, cudnnDataType_t type,
                                      struct cudnn_shape shape, enum cudnn_place place);

/* One FP32 number, [1, 1, 1, 1]. */
cudnnBackendDescriptor_t cudnn_scalar(struct cudnn_graph *graph, int64_t id, enum cudnn_place place);

/* One INT32 number by value. */
cudnnBackendDescriptor_t cudnn_integer(struct cudnn_graph *graph, int64_t id);

/* A virtual tensor: it lives inside the kernel. */
cudnnBackendDescriptor_t cudnn_scratch(struct cudnn_graph *graph, cudnnDataType_t type, struct cudnn_shape shape);

/* c = a b, accumulated in FP32. */
void cudnn_matmul(struct cudnn_graph *graph, cudnnBackendDescriptor_t a, cudnnBackendDescriptor_t b,
                  cudnnBackendDescriptor_t c);

/* Operands: x alone; x and b; or, for BINARY_SELECT, t ? x : b. `axis` is read by GEN_INDEX only. */
struct cudnn_pointwise {
    cudnnPointwiseMode_t mode;
    cudnnDataType_t compute;
    int64_t axis;
    cudnnBackendDescriptor_t x, b, t, y;
};

void cudnn_pointwise(struct cudnn_graph *graph, struct cudnn_pointwise of);

/* On FP32 values of one shape, into a virtual tensor, which it returns. b is NULL for modes of one operand. */
cudnnBackendDescriptor_t cudnn_map(struct cudnn_graph *graph, cudnnPointwiseMode_t mode, cudnnBackendDescriptor_t x,
                                   cudnnBackendDescriptor_t b, struct cudnn_shape shape);

/* Over the dimensions that are 1 in y. */
void cudnn_reduce(struct cudnn_graph *graph, cudnnReduceTensorOp_t operator, cudnnBackendDescriptor_t x,
                  cudnnBackendDescriptor_t y);

/* cap tanh(score / cap), `cap` a scalar. These all return the next score tensor. */
cudnnBackendDescriptor_t cudnn_cap(struct cudnn_graph *graph, cudnnBackendDescriptor_t score, struct cudnn_shape shape,
                                   cudnnBackendDescriptor_t cap);

/* score - slope |i - j|, `slopes` FP32 [1, H, 1, 1]. */
cudnnBackendDescriptor_t cudnn_penalty(struct cudnn_graph *graph, cudnnBackendDescriptor_t score,
                                       struct cudnn_shape shape, cudnnBackendDescriptor_t slopes);

/* By-value INT32 numbers; both NULL: not given. */
struct cudnn_lengths {
    cudnnBackendDescriptor_t keys, queries;
};

/* Query i sees keys j <= i, or given the lengths j <= i + keys - queries; the other scores become `hidden`, a scalar.
 */
cudnnBackendDescriptor_t cudnn_mask_causal(struct cudnn_graph *graph, cudnnBackendDescriptor_t score,
                                           struct cudnn_shape shape, cudnnBackendDescriptor_t hidden,
                                           struct cudnn_lengths lengths);

/* Query i sees keys j <= i + after, a by-value INT32; NULL: all of them; and those i < j + before, a by-value FP32. */
cudnnBackendDescriptor_t cudnn_mask_band(struct cudnn_graph *graph, cudnnBackendDescriptor_t score,
                                         struct cudnn_shape shape, cudnnBackendDescriptor_t hidden,
                                         cudnnBackendDescriptor_t before, cudnnBackendDescriptor_t after);

/* Over the keys of scores [B, H, S, Skv]. Returns probabilities, rounded to `type`. */
cudnnBackendDescriptor_t cudnn_softmax(struct cudnn_graph *graph, cudnnBackendDescriptor_t score,
                                       struct cudnn_shape shape, cudnnDataType_t type);

/* The finalised operation graph, which belongs to the build; NULL after a failure. */
cudnnBackendDescriptor_t cudnn_graph_finish(struct cudnn_graph *graph);

#endif
