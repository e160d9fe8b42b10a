/* cudnn_operations.c -- tensors, matrix products, pointwise operations and reductions of cuDNN's operation graphs, and
 * what attention is made of.
 *
 * A new score modifier is a function like cudnn_mask_causal: it takes the score tensor and returns the next one.
 */
#include "cudnn/cudnn_operations.h"

typedef cudnnBackendDescriptor_t descriptor; /* of a tensor, wherever this file passes one around */

struct cudnn_shape cudnn_packed(int64_t b, int64_t h, int64_t rows, int64_t columns)
{
    return (struct cudnn_shape){ { b, h, rows, columns }, { h * rows * columns, rows * columns, columns, 1 } };
}

struct cudnn_shape cudnn_transposed(struct cudnn_shape shape)
{
    return (struct cudnn_shape){ { shape.dims[0], shape.dims[1], shape.dims[3], shape.dims[2] },
                                 { shape.strides[0], shape.strides[1], shape.strides[3], shape.strides[2] } };
}

/* One number for each row of scores. */
static struct cudnn_shape rows_of(struct cudnn_shape shape)
{
    return cudnn_packed(shape.dims[0], shape.dims[1], shape.dims[2], 1);
}

/* ---- tensors ----------------------------------------------------------------------------------------------- */

descriptor cudnn_tensor(struct cudnn_graph *graph, int64_t id, cudnnDataType_t type, struct cudnn_shape shape,
                        enum cudnn_place place)
{
    struct cudnn_build *build = graph->build;
    int64_t alignment = place == CUDNN_BY_VALUE ? 4 : 16;
    bool yes = true;
    descriptor made = cudnn_make(build, CUDNN_BACKEND_TENSOR_DESCRIPTOR);
    cudnn_set(build, made, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 1, &id);
    cudnn_set(build, made, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &type);
    cudnn_set(build, made, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, 4, shape.dims);
    cudnn_set(build, made, CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, 4, shape.strides);
    cudnn_set(build, made, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, 1, &alignment);
    if (place == CUDNN_VIRTUAL)
        cudnn_set(build, made, CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, 1, &yes);
    if (place == CUDNN_BY_VALUE)
        cudnn_set(build, made, CUDNN_ATTR_TENSOR_IS_BY_VALUE, CUDNN_TYPE_BOOLEAN, 1, &yes);
    cudnn_finalize(build, made, "tensor");
    return made;
}

descriptor cudnn_scalar(struct cudnn_graph *graph, int64_t id, enum cudnn_place place)
{
    return cudnn_tensor(graph, id, CUDNN_DATA_FLOAT, cudnn_packed(1, 1, 1, 1), place);
}

descriptor cudnn_integer(struct cudnn_graph *graph, int64_t id)
{
    return cudnn_tensor(graph, id, CUDNN_DATA_INT32, cudnn_packed(1, 1, 1, 1), CUDNN_BY_VALUE);
}

descriptor cudnn_scratch(struct cudnn_graph *graph, cudnnDataType_t type, struct cudnn_shape shape)
{
    return cudnn_tensor(graph, graph->next_id++, type, shape, CUDNN_VIRTUAL);
}

/* ---- operations -------------------------------------------------------------------------------------------- */

static void operation_add(struct cudnn_graph *graph, descriptor operation, const char *what)
{
    cudnn_finalize(graph->build, operation, what);
    if (graph->build->status != KG_OK)
        return;
    if (graph->n_operations == CUDNN_MAX_OPERATIONS) {
        graph->build->status = kg_fail(&graph->build->error, KG_EINVAL, "more than %d operations in one cuDNN graph",
                                       CUDNN_MAX_OPERATIONS);
        return;
    }
    graph->operations[graph->n_operations++] = operation;
}

void cudnn_matmul(struct cudnn_graph *graph, descriptor a, descriptor b, descriptor c)
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

void cudnn_pointwise(struct cudnn_graph *graph, struct cudnn_pointwise of)
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

descriptor cudnn_map(struct cudnn_graph *graph, cudnnPointwiseMode_t mode, descriptor x, descriptor b,
                     struct cudnn_shape shape)
{
    descriptor y = cudnn_scratch(graph, CUDNN_DATA_FLOAT, shape);
    cudnn_pointwise(graph,
                    (struct cudnn_pointwise){ .mode = mode, .compute = CUDNN_DATA_FLOAT, .x = x, .b = b, .y = y });
    return y;
}

void cudnn_reduce(struct cudnn_graph *graph, cudnnReduceTensorOp_t operator, descriptor x, descriptor y)
{
    struct cudnn_build *build = graph->build;
    cudnnDataType_t compute = CUDNN_DATA_FLOAT;
    descriptor how = cudnn_make(build, CUDNN_BACKEND_REDUCTION_DESCRIPTOR);
    cudnn_set(build, how, CUDNN_ATTR_REDUCTION_OPERATOR, CUDNN_TYPE_REDUCTION_OPERATOR_TYPE, 1, &operator);
    cudnn_set(build, how, CUDNN_ATTR_REDUCTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &compute);
    cudnn_finalize(build, how, "reduction");

    descriptor operation = cudnn_make(build, CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR);
    cudnn_set_descriptor(build, operation, CUDNN_ATTR_OPERATION_REDUCTION_DESC, how);
    cudnn_set_descriptor(build, operation, CUDNN_ATTR_OPERATION_REDUCTION_XDESC, x);
    cudnn_set_descriptor(build, operation, CUDNN_ATTR_OPERATION_REDUCTION_YDESC, y);
    operation_add(graph, operation, "reduction operation");
}

/* ---- attention --------------------------------------------------------------------------------------------- */

static descriptor index_along(struct cudnn_graph *graph, int64_t axis, descriptor score, struct cudnn_shape shape)
{
    descriptor y = cudnn_scratch(graph, CUDNN_DATA_INT32, shape);
    cudnn_pointwise(
        graph, (struct cudnn_pointwise){
                   .mode = CUDNN_POINTWISE_GEN_INDEX, .compute = CUDNN_DATA_INT32, .axis = axis, .x = score, .y = y });
    return y;
}

/* Of each index and `number`, in its type. */
static descriptor map_index(struct cudnn_graph *graph, cudnnPointwiseMode_t mode, descriptor index, descriptor number,
                            cudnnDataType_t type, struct cudnn_shape shape)
{
    descriptor y = cudnn_scratch(graph, type, shape);
    cudnn_pointwise(graph, (struct cudnn_pointwise){ .mode = mode, .compute = type, .x = index, .b = number, .y = y });
    return y;
}

/* Scores whose indices do not compare as `mode` says become `hidden`. */
static descriptor hide(struct cudnn_graph *graph, descriptor score, struct cudnn_shape shape, descriptor hidden,
                       cudnnPointwiseMode_t mode, descriptor one, descriptor other)
{
    descriptor seen = cudnn_scratch(graph, CUDNN_DATA_BOOLEAN, shape);
    cudnn_pointwise(graph, (struct cudnn_pointwise){
                               .mode = mode, .compute = CUDNN_DATA_BOOLEAN, .x = one, .b = other, .y = seen });
    descriptor masked = cudnn_scratch(graph, CUDNN_DATA_FLOAT, shape);
    cudnn_pointwise(graph, (struct cudnn_pointwise){ .mode = CUDNN_POINTWISE_BINARY_SELECT,
                                                     .compute = CUDNN_DATA_FLOAT,
                                                     .x = score,
                                                     .b = hidden,
                                                     .t = seen,
                                                     .y = masked });
    return masked;
}

descriptor cudnn_mask_causal(struct cudnn_graph *graph, descriptor score, struct cudnn_shape shape, descriptor hidden,
                             struct cudnn_lengths lengths)
{
    descriptor query = index_along(graph, 2, score, shape);
    if (lengths.keys) {
        query = map_index(graph, CUDNN_POINTWISE_ADD, query, lengths.keys, CUDNN_DATA_INT32, shape);
        query = map_index(graph, CUDNN_POINTWISE_SUB, query, lengths.queries, CUDNN_DATA_INT32, shape);
    }
    return hide(graph, score, shape, hidden, CUDNN_POINTWISE_CMP_GE, query, index_along(graph, 3, score, shape));
}

descriptor cudnn_mask_band(struct cudnn_graph *graph, descriptor score, struct cudnn_shape shape, descriptor hidden,
                           descriptor before, descriptor after)
{
    if (after) {
        descriptor query = index_along(graph, 2, score, shape);
        query = map_index(graph, CUDNN_POINTWISE_ADD, query, after, CUDNN_DATA_INT32, shape);
        score = hide(graph, score, shape, hidden, CUDNN_POINTWISE_CMP_GE, query, index_along(graph, 3, score, shape));
    }
    descriptor query = index_along(graph, 2, score, shape), key = index_along(graph, 3, score, shape);
    key = map_index(graph, CUDNN_POINTWISE_ADD, key, before, CUDNN_DATA_FLOAT, shape);
    return hide(graph, score, shape, hidden, CUDNN_POINTWISE_CMP_GT, key, query);
}

descriptor cudnn_cap(struct cudnn_graph *graph, descriptor score, struct cudnn_shape shape, descriptor cap)
{
    score = cudnn_map(graph, CUDNN_POINTWISE_DIV, score, cap, shape);
    score = cudnn_map(graph, CUDNN_POINTWISE_TANH_FWD, score, NULL, shape);
    return cudnn_map(graph, CUDNN_POINTWISE_MUL, score, cap, shape);
}

descriptor cudnn_penalty(struct cudnn_graph *graph, descriptor score, struct cudnn_shape shape, descriptor slopes)
{
    descriptor query = index_along(graph, 2, score, shape), key = index_along(graph, 3, score, shape);
    descriptor distance = map_index(graph, CUDNN_POINTWISE_SUB, key, query, CUDNN_DATA_INT32, shape);
    distance = cudnn_map(graph, CUDNN_POINTWISE_ABS, distance, NULL, shape);
    distance = cudnn_map(graph, CUDNN_POINTWISE_MUL, distance, slopes, shape);
    return cudnn_map(graph, CUDNN_POINTWISE_SUB, score, distance, shape);
}

/* [B, H, S, Skv] becomes [B, H, S, 1]. */
static descriptor reduce_row(struct cudnn_graph *graph, cudnnReduceTensorOp_t operator, descriptor x,
                             struct cudnn_shape shape)
{
    descriptor y = cudnn_scratch(graph, CUDNN_DATA_FLOAT, rows_of(shape));
    cudnn_reduce(graph, operator, x, y);
    return y;
}

descriptor cudnn_softmax(struct cudnn_graph *graph, descriptor score, struct cudnn_shape shape, cudnnDataType_t type)
{
    descriptor max = reduce_row(graph, CUDNN_REDUCE_TENSOR_MAX, score, shape);
    descriptor shifted = cudnn_map(graph, CUDNN_POINTWISE_SUB, score, max, shape);
    descriptor weight = cudnn_map(graph, CUDNN_POINTWISE_EXP, shifted, NULL, shape);
    descriptor sum = reduce_row(graph, CUDNN_REDUCE_TENSOR_ADD, weight, shape);

    /* The log-sum-exp of each row is read by nobody, but cuDNN recognises softmax by it. */
    descriptor log_sum = cudnn_map(graph, CUDNN_POINTWISE_LOG, sum, NULL, rows_of(shape));
    (void)cudnn_map(graph, CUDNN_POINTWISE_ADD, max, log_sum, rows_of(shape));

    descriptor probability = cudnn_scratch(graph, type, shape);
    cudnn_pointwise(
        graph, (struct cudnn_pointwise){
                   .mode = CUDNN_POINTWISE_DIV, .compute = CUDNN_DATA_FLOAT, .x = weight, .b = sum, .y = probability });
    return probability;
}

/* ---- the graph --------------------------------------------------------------------------------------------- */

descriptor cudnn_graph_finish(struct cudnn_graph *graph)
{
    struct cudnn_build *build = graph->build;
    descriptor whole = cudnn_make(build, CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
    cudnn_set(build, whole, CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR, graph->n_operations,
              graph->operations);
    if (build->library->handle)
        cudnn_set(build, whole, CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, 1, &build->library->handle);
    cudnn_finalize(build, whole, "operation graph");
    return build->status == KG_OK ? whole : NULL;
}
