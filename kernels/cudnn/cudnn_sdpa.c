/* cudnn_sdpa.c -- builds the operation graph of attention from single operations, which cuDNN fuses into one kernel.
 *
 * The operations are in cudnn_operations.c; a new score modifier goes there.
 */
#include "cudnn/cudnn_sdpa.h"
#include "cudnn/cudnn_operations.h"

static cudnnBackendDescriptor_t modify(struct cudnn_graph *graph, const struct sdpa *p, const struct cudnn_modifiers *m,
                                       cudnnBackendDescriptor_t score, struct cudnn_shape shape)
{
    cudnnBackendDescriptor_t hidden = NULL;
    if (m->cap > 0)
        score = cudnn_cap(graph, score, shape, cudnn_scalar(graph, CUDNN_SDPA_CAP, CUDNN_BY_VALUE));
    if (m->slopes)
        score = cudnn_penalty(
            graph, score, shape,
            cudnn_tensor(graph, CUDNN_SDPA_SLOPES, CUDNN_DATA_FLOAT, cudnn_packed(1, p->H, 1, 1), CUDNN_REAL));
    if (p->causal || m->window)
        hidden = cudnn_scalar(graph, CUDNN_SDPA_HIDDEN, CUDNN_BY_VALUE);
    if (p->causal) {
        struct cudnn_lengths lengths = { NULL, NULL };
        if (p->bottom_right)
            lengths = (struct cudnn_lengths){ .keys = cudnn_integer(graph, CUDNN_SDPA_KEYS),
                                              .queries = cudnn_integer(graph, CUDNN_SDPA_QUERIES) };
        score = cudnn_mask_causal(graph, score, shape, hidden, lengths);
    }
    if (m->window)
        score = cudnn_mask_band(graph, score, shape, hidden, cudnn_scalar(graph, CUDNN_SDPA_BEFORE, CUDNN_BY_VALUE),
                                p->causal ? NULL : cudnn_integer(graph, CUDNN_SDPA_AFTER));
    return score;
}

static void attention(struct cudnn_graph *graph, const struct sdpa *p, const struct cudnn_modifiers *modifiers)
{
    cudnnDataType_t type = sdpa_tensor_dtype(p) == KG_F16 ? CUDNN_DATA_HALF : CUDNN_DATA_BFLOAT16;
    struct cudnn_shape q_shape = cudnn_packed(p->B, p->H, p->S, p->D);
    struct cudnn_shape kv_shape = cudnn_packed(p->B, sdpa_kv_heads(p), sdpa_kv_length(p), p->D);
    struct cudnn_shape score_shape = cudnn_packed(p->B, p->H, p->S, sdpa_kv_length(p));
    cudnnBackendDescriptor_t q, k, v, o, product, score;
    q = cudnn_tensor(graph, cudnn_sdpa_id(SDPA_Q), type, q_shape, CUDNN_REAL);
    k = cudnn_tensor(graph, cudnn_sdpa_id(SDPA_K), type, cudnn_transposed(kv_shape), CUDNN_REAL);
    v = cudnn_tensor(graph, cudnn_sdpa_id(SDPA_V), type, kv_shape, CUDNN_REAL);
    o = cudnn_tensor(graph, cudnn_sdpa_id(SDPA_O), type, q_shape, CUDNN_REAL);

    product = cudnn_scratch(graph, CUDNN_DATA_FLOAT, score_shape);
    cudnn_matmul(graph, q, k, product);
    score = cudnn_map(graph, CUDNN_POINTWISE_MUL, product, cudnn_scalar(graph, CUDNN_SDPA_SCALE, CUDNN_BY_VALUE),
                      score_shape);
    score = modify(graph, p, modifiers, score, score_shape);
    /* The probabilities are rounded to the dtype of the inputs, as the second matmul needs them. */
    cudnn_matmul(graph, cudnn_softmax(graph, score, score_shape, type), v, o);
}

cudnnBackendDescriptor_t cudnn_sdpa_graph(struct cudnn_build *build, const struct sdpa *p,
                                          const struct cudnn_modifiers *modifiers)
{
    struct cudnn_graph graph = { .build = build, .next_id = CUDNN_SDPA_FIRST_VIRTUAL };
    attention(&graph, p, modifiers);
    return cudnn_graph_finish(&graph);
}
