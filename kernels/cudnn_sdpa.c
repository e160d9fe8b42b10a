/* cudnn_sdpa.c -- builds the operation graph of attention from single operations, which cuDNN fuses into one kernel.
 *
 * A new score modifier is a function like `mask_causal`: it takes the score tensor and returns the next one.
 */
#include "cudnn_sdpa.h"

typedef cudnnBackendDescriptor_t descriptor; /* of a tensor, wherever this file passes one around */

#define MAX_OPERATIONS 24

struct graph {
    struct cudnn_build *build;
    const struct sdpa *problem;
    int64_t next_id; /* of virtual tensors */
    int n_operations;
    descriptor operations[MAX_OPERATIONS];
};

struct shape {
    int64_t dims[4];
    int64_t strides[4];
};

static struct shape packed(int64_t b, int64_t h, int64_t rows, int64_t columns)
{
    return (struct shape){ { b, h, rows, columns }, { h * rows * columns, rows * columns, columns, 1 } };
}

static struct shape transposed(struct shape shape)
{
    return (struct shape){ { shape.dims[0], shape.dims[1], shape.dims[3], shape.dims[2] },
                           { shape.strides[0], shape.strides[1], shape.strides[3], shape.strides[2] } };
}

static struct shape score_shape(const struct graph *graph)
{
    const struct sdpa *p = graph->problem;
    return packed(p->B, p->H, p->S, sdpa_kv_length(p));
}

static struct shape row_shape(const struct graph *graph)
{
    return packed(graph->problem->B, graph->problem->H, graph->problem->S, 1);
}

/* ---- tensors ----------------------------------------------------------------------------------------------- */

enum place { REAL, VIRTUAL, BY_VALUE };

static descriptor tensor(struct graph *graph, int64_t id, cudnnDataType_t type, struct shape shape, enum place place)
{
    struct cudnn_build *build = graph->build;
    int64_t alignment = place == BY_VALUE ? 4 : 16;
    bool yes = true;
    descriptor made = cudnn_make(build, CUDNN_BACKEND_TENSOR_DESCRIPTOR);
    cudnn_set(build, made, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 1, &id);
    cudnn_set(build, made, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &type);
    cudnn_set(build, made, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, 4, shape.dims);
    cudnn_set(build, made, CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, 4, shape.strides);
    cudnn_set(build, made, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, 1, &alignment);
    if (place == VIRTUAL)
        cudnn_set(build, made, CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, 1, &yes);
    if (place == BY_VALUE)
        cudnn_set(build, made, CUDNN_ATTR_TENSOR_IS_BY_VALUE, CUDNN_TYPE_BOOLEAN, 1, &yes);
    cudnn_finalize(build, made, "tensor");
    return made;
}

static descriptor scratch(struct graph *graph, cudnnDataType_t type, struct shape shape)
{
    return tensor(graph, graph->next_id++, type, shape, VIRTUAL);
}

static descriptor scalar(struct graph *graph, enum cudnn_sdpa_id id)
{
    return tensor(graph, id, CUDNN_DATA_FLOAT, packed(1, 1, 1, 1), BY_VALUE);
}

/* ---- operations -------------------------------------------------------------------------------------------- */

static void operation_add(struct graph *graph, descriptor operation, const char *what)
{
    cudnn_finalize(graph->build, operation, what);
    if (graph->build->status != KG_OK)
        return;
    if (graph->n_operations == MAX_OPERATIONS) {
        graph->build->status =
            kg_fail(&graph->build->error, KG_EINVAL, "more than %d operations in one cuDNN graph", MAX_OPERATIONS);
        return;
    }
    graph->operations[graph->n_operations++] = operation;
}

static void matmul(struct graph *graph, descriptor a, descriptor b, descriptor c)
{
    struct cudnn_build *build = graph->build;
    cudnnDataType_t compute = CUDNN_DATA_FLOAT;
    descriptor how = cudnn_make(build, CUDNN_BACKEND_MATMUL_DESCRIPTOR);
    cudnn_set(build, how, CUDNN_ATTR_MATMUL_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &compute);
    cudnn_finalize(build, how, "matmul");

    descriptor operation = cudnn_make(build, CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR);
    cudnn_set_descriptor(build, operation, CUDNN_ATTR_OPERATION_MATMUL_ADESC, a);
    cudnn_set_descriptor(build, operation, CUDNN_ATTR_OPERATION_MATMUL_BDESC, b);
    cudnn_set_descriptor(build, operation, CUDNN_ATTR_OPERATION_MATMUL_CDESC, c);
    cudnn_set_descriptor(build, operation, CUDNN_ATTR_OPERATION_MATMUL_DESC, how);
    operation_add(graph, operation, "matmul operation");
}

/* Operands: x alone; x and b; or, for BINARY_SELECT, t ? x : b. `axis` is read by GEN_INDEX only. */
struct pointwise {
    cudnnPointwiseMode_t mode;
    cudnnDataType_t compute;
    int64_t axis;
    descriptor x, b, t, y;
};

static void pointwise(struct graph *graph, struct pointwise of)
{
    struct cudnn_build *build = graph->build;
    descriptor how = cudnn_make(build, CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
    cudnn_set(build, how, CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, 1, &of.mode);
    cudnn_set(build, how, CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, 1, &of.compute);
    if (of.mode == CUDNN_POINTWISE_GEN_INDEX)
        cudnn_set(build, how, CUDNN_ATTR_POINTWISE_AXIS, CUDNN_TYPE_INT64, 1, &of.axis);
    cudnn_finalize(build, how, "pointwise");

    descriptor operation = cudnn_make(build, CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
    cudnn_set_descriptor(build, operation, CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, how);
    cudnn_set_descriptor(build, operation, CUDNN_ATTR_OPERATION_POINTWISE_XDESC, of.x);
    if (of.b)
        cudnn_set_descriptor(build, operation, CUDNN_ATTR_OPERATION_POINTWISE_BDESC, of.b);
    if (of.t)
        cudnn_set_descriptor(build, operation, CUDNN_ATTR_OPERATION_POINTWISE_TDESC, of.t);
    cudnn_set_descriptor(build, operation, CUDNN_ATTR_OPERATION_POINTWISE_YDESC, of.y);
    operation_add(graph, operation, "pointwise operation");
}

/* An operation on FP32 values of one shape, whose result lives inside the kernel. */
static descriptor map(struct graph *graph, cudnnPointwiseMode_t mode, descriptor x, descriptor b, struct shape shape)
{
    descriptor y = scratch(graph, CUDNN_DATA_FLOAT, shape);
    pointwise(graph, (struct pointwise){ .mode = mode, .compute = CUDNN_DATA_FLOAT, .x = x, .b = b, .y = y });
    return y;
}

/* Over the keys: [B, H, S, Skv] becomes [B, H, S, 1]. */
static descriptor reduce(struct graph *graph, cudnnReduceTensorOp_t operator, descriptor x)
{
    struct cudnn_build *build = graph->build;
    cudnnDataType_t compute = CUDNN_DATA_FLOAT;
    descriptor y = scratch(graph, CUDNN_DATA_FLOAT, row_shape(graph));
    descriptor how = cudnn_make(build, CUDNN_BACKEND_REDUCTION_DESCRIPTOR);
    cudnn_set(build, how, CUDNN_ATTR_REDUCTION_OPERATOR, CUDNN_TYPE_REDUCTION_OPERATOR_TYPE, 1, &operator);
    cudnn_set(build, how, CUDNN_ATTR_REDUCTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &compute);
    cudnn_finalize(build, how, "reduction");

    descriptor operation = cudnn_make(build, CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR);
    cudnn_set_descriptor(build, operation, CUDNN_ATTR_OPERATION_REDUCTION_DESC, how);
    cudnn_set_descriptor(build, operation, CUDNN_ATTR_OPERATION_REDUCTION_XDESC, x);
    cudnn_set_descriptor(build, operation, CUDNN_ATTR_OPERATION_REDUCTION_YDESC, y);
    operation_add(graph, operation, "reduction operation");
    return y;
}

/* ---- attention --------------------------------------------------------------------------------------------- */

static descriptor index_along(struct graph *graph, int64_t axis, descriptor score)
{
    descriptor y = scratch(graph, CUDNN_DATA_INT32, score_shape(graph));
    pointwise(graph,
              (struct pointwise){
                  .mode = CUDNN_POINTWISE_GEN_INDEX, .compute = CUDNN_DATA_INT32, .axis = axis, .x = score, .y = y });
    return y;
}

/* Query i sees keys j <= i. */
static descriptor mask_causal(struct graph *graph, descriptor score)
{
    struct shape shape = score_shape(graph);
    descriptor query = index_along(graph, 2, score);
    descriptor key = index_along(graph, 3, score);
    descriptor seen = scratch(graph, CUDNN_DATA_BOOLEAN, shape);
    pointwise(graph,
              (struct pointwise){
                  .mode = CUDNN_POINTWISE_CMP_GE, .compute = CUDNN_DATA_BOOLEAN, .x = query, .b = key, .y = seen });
    descriptor masked = scratch(graph, CUDNN_DATA_FLOAT, shape);
    pointwise(graph, (struct pointwise){ .mode = CUDNN_POINTWISE_BINARY_SELECT,
                                         .compute = CUDNN_DATA_FLOAT,
                                         .x = score,
                                         .b = scalar(graph, CUDNN_SDPA_HIDDEN),
                                         .t = seen,
                                         .y = masked });
    return masked;
}

/* Returns the probabilities, rounded to the dtype of the inputs as the second matmul needs them. */
static descriptor softmax(struct graph *graph, descriptor score, cudnnDataType_t type)
{
    struct shape shape = score_shape(graph);
    descriptor max = reduce(graph, CUDNN_REDUCE_TENSOR_MAX, score);
    descriptor shifted = map(graph, CUDNN_POINTWISE_SUB, score, max, shape);
    descriptor weight = map(graph, CUDNN_POINTWISE_EXP, shifted, NULL, shape);
    descriptor sum = reduce(graph, CUDNN_REDUCE_TENSOR_ADD, weight);

    /* The log-sum-exp of each row is read by nobody, but cuDNN recognises softmax by it. */
    descriptor log_sum = map(graph, CUDNN_POINTWISE_LOG, sum, NULL, row_shape(graph));
    (void)map(graph, CUDNN_POINTWISE_ADD, max, log_sum, row_shape(graph));

    descriptor probability = scratch(graph, type, shape);
    pointwise(graph,
              (struct pointwise){
                  .mode = CUDNN_POINTWISE_DIV, .compute = CUDNN_DATA_FLOAT, .x = weight, .b = sum, .y = probability });
    return probability;
}

static void attention(struct graph *graph)
{
    const struct sdpa *p = graph->problem;
    cudnnDataType_t type = p->dtype == KG_F16 ? CUDNN_DATA_HALF : CUDNN_DATA_BFLOAT16;
    struct shape q_shape = packed(p->B, p->H, p->S, p->D);
    struct shape kv_shape = packed(p->B, sdpa_kv_heads(p), sdpa_kv_length(p), p->D);
    descriptor q = tensor(graph, cudnn_sdpa_id(SDPA_Q), type, q_shape, REAL);
    descriptor k = tensor(graph, cudnn_sdpa_id(SDPA_K), type, transposed(kv_shape), REAL);
    descriptor v = tensor(graph, cudnn_sdpa_id(SDPA_V), type, kv_shape, REAL);
    descriptor o = tensor(graph, cudnn_sdpa_id(SDPA_O), type, q_shape, REAL);

    descriptor product = scratch(graph, CUDNN_DATA_FLOAT, score_shape(graph));
    matmul(graph, q, k, product);
    descriptor score = map(graph, CUDNN_POINTWISE_MUL, product, scalar(graph, CUDNN_SDPA_SCALE), score_shape(graph));
    if (p->causal)
        score = mask_causal(graph, score);
    matmul(graph, softmax(graph, score, type), v, o);
}

cudnnBackendDescriptor_t cudnn_sdpa_graph(struct cudnn_build *build, const struct sdpa *problem)
{
    struct graph graph = { .build = build, .problem = problem, .next_id = CUDNN_SDPA_FIRST_VIRTUAL };
    attention(&graph);

    descriptor whole = cudnn_make(build, CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
    cudnn_set(build, whole, CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR, graph.n_operations,
              graph.operations);
    if (build->library->handle)
        cudnn_set(build, whole, CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, 1, &build->library->handle);
    cudnn_finalize(build, whole, "operation graph");
    return build->status == KG_OK ? whole : NULL;
}
