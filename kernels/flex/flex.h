/* flex.h -- the op: attention with modifiers, as PyTorch's FlexAttention has them.
 *
 * O = softmax(mask(modify(scale * Q K^T))) V. Shapes, heads and dtypes are those of sdpa.h. Scores are scaled, then
 * changed by the score modifiers of the problem, then hidden by its masks; the list is in modifiers.h. A row that sees
 * no key gives zeros. After the four tensors come the arrays that the problem's modifiers read, given by the op.
 */
#ifndef FLEX_H
#define FLEX_H

#include "flex/flex_aux.h"
#include "op/sdpa.h"

enum flex_compile_mode { FLEX_COMPILE_DEFAULT, FLEX_COMPILE_MAX_AUTOTUNE };

struct flex {
    struct sdpa attention;            /* its causal mask is a modifier too; never e4m3 */
    bool cap, alibi, relative, decay; /* score modifiers that are applied */
    bool prefix, sliding, document;   /* masks */
    double softcap;                   /* what the following are is said in struct flex_aux */
    int64_t window, prefix_keys, doc_span, reach;
    int64_t block_size; /* queries and keys of a block of the block mask */
    int compile_mode;   /* enum flex_compile_mode */
    bool uneven;        /* documents are of two lengths, and slopes by no formula */
};

extern const kg_op flex_attention_op;
extern const kg_regime flex_regimes[SDPA_REGIMES];

/* Queries and keys of the largest tile that a backend may take: block sizes are multiples of it. */
#define FLEX_TILE 64

/* Places of a float that count them exactly (modifier.h). */
#define FLEX_MAX_ROWS (1 << 23)

/* The array of a modifier, among the tensors of a call. */
enum flex_array { FLEX_DOCUMENT, FLEX_SLOPES, FLEX_BIAS, FLEX_ARRAYS };

/* Where the array is; -1: the problem has none. And the number of a call's tensors, the workspace's place. */
int flex_array_place(const struct flex *p, enum flex_array array);
int flex_tensor_count(const struct flex *p);

/* What modifiers are given; arrays are those of `tensors`, of a call. */
struct flex_aux flex_aux_of(const struct flex *p, const kg_tensor *tensors);

/* The same with arrays in memory of their own, where there are no tensors; free() it. NULL: no memory. */
struct flex_aux *flex_aux_new(const struct flex *p);

/* The mask in float arithmetic, for what is decided on the host. */
bool flex_sees(const struct flex_aux *aux, int64_t b, int64_t h, int64_t i, int64_t j);

/* The tensors of a call as attention has them: its own four, and the error scale behind them. */
void flex_attention_tensors(const struct flex *p, const kg_tensor *tensors, kg_tensor *ret_tensors);

/* The references and error scales, as an op has them. */
int flex_reference_cpu(const void *problem, const kg_tensor *tensors, kg_error *ret_error);
int flex_error_scale_cpu(const void *problem, const void *arithmetic, const kg_tensor *tensors, kg_error *ret_error);
int flex_reference_cuda(const void *problem, const kg_device *device, const kg_tensor *tensors, void *stream,
                        kg_error *ret_error);
int flex_error_scale_cuda(const void *problem, const void *arithmetic, const kg_device *device,
                          const kg_tensor *tensors, void *stream, kg_error *ret_error);

/* ---- the block mask (flex_blocks.c) ---- */

/* What a block of queries sees of a block of keys. */
enum flex_block { FLEX_BLOCK_NONE, FLEX_BLOCK_PARTIAL, FLEX_BLOCK_FULL };

/* kinds[B, H, rows, columns] */
struct flex_blocks {
    int64_t size, H, rows, columns;
    unsigned char *kinds; /* enum flex_block */
};

int flex_blocks_new(const struct flex *p, const struct flex_aux *aux, struct flex_blocks *ret_blocks,
                    kg_error *ret_error);
void flex_blocks_done(struct flex_blocks *blocks);

/* That of query `i` and key `j` of head `head` of [B * H]. */
static inline enum flex_block flex_block_of(const struct flex_blocks *blocks, int64_t head, int64_t i, int64_t j)
{
    return (enum flex_block)
        blocks->kinds[(head * blocks->rows + i / blocks->size) * blocks->columns + j / blocks->size];
}

#endif
