/* cudnn_fp8_graph.c -- builds the operation graph of attention in 8 bits. No additive bias: asked for FP8 with one,
 * cuDNN 9.19's heuristics end the process. */
#include "cudnn/cudnn_fp8_graph.h"
#include "cudnn/cudnn_operations.h"

typedef cudnnBackendDescriptor_t descriptor; /* of a tensor */

static descriptor times(struct cudnn_graph *graph, descriptor x, enum cudnn_fp8_id factor, struct cudnn_shape shape)
{
    enum cudnn_place place = factor == CUDNN_FP8_SCALE ? CUDNN_BY_VALUE : CUDNN_REAL;
    return cudnn_map(graph, CUDNN_POINTWISE_MUL, x, cudnn_scalar(graph, factor, place), shape);
}

/* The same, rounded to e4m3. */
static void code(struct cudnn_graph *graph, descriptor x, enum cudnn_fp8_id factor, descriptor codes)
{
    cudnn_pointwise(graph, (struct cudnn_pointwise){ .mode = CUDNN_POINTWISE_MUL,
                                                     .compute = CUDNN_DATA_FLOAT,
                                                     .x = x,
                                                     .b = cudnn_scalar(graph, factor, CUDNN_REAL),
                                                     .y = codes });
}

static void attention(struct cudnn_graph *graph, const struct sdpa *p)
{
    const cudnnDataType_t e4m3 = CUDNN_DATA_FP8_E4M3;
    struct cudnn_shape q_shape = cudnn_packed(p->B, p->H, p->S, p->D);
    struct cudnn_shape kv_shape = cudnn_packed(p->B, sdpa_kv_heads(p), sdpa_kv_length(p), p->D);
    struct cudnn_shape score_shape = cudnn_packed(p->B, p->H, p->S, sdpa_kv_length(p));
    descriptor q = cudnn_tensor(graph, cudnn_fp8_id(SDPA_Q), e4m3, q_shape, CUDNN_REAL);
    descriptor k = cudnn_tensor(graph, cudnn_fp8_id(SDPA_K), e4m3, cudnn_transposed(kv_shape), CUDNN_REAL);
    descriptor v = cudnn_tensor(graph, cudnn_fp8_id(SDPA_V), e4m3, kv_shape, CUDNN_REAL);
    descriptor o = cudnn_tensor(graph, cudnn_fp8_id(SDPA_O), e4m3, q_shape, CUDNN_REAL);

    descriptor score = cudnn_scratch(graph, CUDNN_DATA_FLOAT, score_shape);
    cudnn_matmul(graph, q, k, score);
    score = times(graph, score, CUDNN_FP8_SCALE, score_shape);
    score = times(graph, score, CUDNN_FP8_Q_DESCALE, score_shape);
    score = times(graph, score, CUDNN_FP8_K_DESCALE, score_shape);
    if (p->causal)
        score = cudnn_mask_causal(graph, score, score_shape, cudnn_scalar(graph, CUDNN_FP8_HIDDEN, CUDNN_BY_VALUE),
                                  (struct cudnn_lengths){ NULL, NULL });

    descriptor weight = cudnn_softmax(graph, score, score_shape, CUDNN_DATA_FLOAT);
    descriptor coded = cudnn_scratch(graph, e4m3, score_shape);
    code(graph, weight, CUDNN_FP8_S_SCALE, coded);

    descriptor sum = cudnn_scratch(graph, CUDNN_DATA_FLOAT, q_shape);
    cudnn_matmul(graph, coded, v, sum);
    sum = times(graph, sum, CUDNN_FP8_S_DESCALE, q_shape);
    sum = times(graph, sum, CUDNN_FP8_V_DESCALE, q_shape);
    code(graph, sum, CUDNN_FP8_O_SCALE, o);
    cudnn_reduce(graph, CUDNN_REDUCE_TENSOR_AMAX, sum, cudnn_scalar(graph, CUDNN_FP8_O_LARGEST, CUDNN_REAL));
}

cudnnBackendDescriptor_t cudnn_fp8_graph(const kg_backend *self, struct cudnn_build *build, const void *problem)
{
    (void)self;
    struct cudnn_graph graph = { .build = build, .next_id = CUDNN_FP8_FIRST_VIRTUAL };
    attention(&graph, &((const struct sdpa_fp8 *)problem)->attention);
    return cudnn_graph_finish(&graph);
}
