/* cpu_flex.c -- attention with modifiers on the CPU: cpu_flash's tiles, blocks that no query sees skipped, and blocks
 * that all see not masked.
 */
#include <stdlib.h>

#include "cpu/cpu_flash.h"
#include "flex/flex.h"
#include "flex/modifiers.h"

struct cpu_flex {
    const struct flex *problem;
    struct flex_blocks blocks; /* by the example's arrays: they are given, the same in every call */
};

static void close_flex(void *of)
{
    struct cpu_flex *flex = of;
    flex_blocks_done(&flex->blocks);
    free(flex);
}

/* What the block mask comes to. */
static void tell_blocks(const kg_call *call, const struct flex_blocks *blocks)
{
    const struct flex *p = call->problem;
    const int64_t all = p->attention.B * blocks->H * blocks->rows * blocks->columns;
    long long of_kind[FLEX_BLOCK_FULL + 1] = { 0 };
    for (int64_t i = 0; i < all; i++)
        of_kind[blocks->kinds[i]]++;
    call->host->log(call->host, "%s: blocks of %lld: %lld hidden, %lld in part, %lld whole", p->attention.name,
                    (long long)blocks->size, of_kind[FLEX_BLOCK_NONE], of_kind[FLEX_BLOCK_PARTIAL],
                    of_kind[FLEX_BLOCK_FULL]);
}

static int open_flex(const kg_call *call, void **ret_of, kg_error *ret_error)
{
    const struct flex *p = call->problem;
    const struct cpu_flash_knobs *knobs = call->knobs;
    if (p->block_size % knobs->tile_q != 0 || p->block_size % knobs->tile_k != 0)
        return kg_fail(ret_error, KG_EUNSUPPORTED, "blocks of %lld are not whole tiles of %lld x %lld",
                       (long long)p->block_size, (long long)knobs->tile_q, (long long)knobs->tile_k);
    struct cpu_flex *flex = calloc(1, sizeof *flex);
    if (!flex)
        return kg_fail(ret_error, KG_ENOMEM, "no memory for the modifiers");
    flex->problem = p;
    const struct flex_aux aux = flex_aux_of(p, call->tensors);
    int status = flex_blocks_new(p, &aux, &flex->blocks, ret_error);
    if (status) {
        free(flex);
        return status;
    }
    tell_blocks(call, &flex->blocks);
    *ret_of = flex;
    return KG_OK;
}

static bool sees(const void *of, const struct cpu_flash_tile *tile)
{
    const struct cpu_flex *flex = of;
    return flex_block_of(&flex->blocks, tile->head, tile->i0, tile->j0) != FLEX_BLOCK_NONE;
}

static void modify(const void *of, const kg_tensor *tensors, const struct cpu_flash_tile *tile, float *scores,
                   int64_t stride)
{
    const struct cpu_flex *flex = of;
    const struct flex_aux aux = flex_aux_of(flex->problem, tensors);
    const bool masked = flex_block_of(&flex->blocks, tile->head, tile->i0, tile->j0) == FLEX_BLOCK_PARTIAL;
    const int b = (int)(tile->head / flex->blocks.H), h = (int)(tile->head % flex->blocks.H);
    for (int64_t i = 0; i < tile->n_queries; i++)
        for (int64_t j = 0; j < tile->n_keys; j++) {
            const int q = (int)(tile->i0 + i), k = (int)(tile->j0 + j);
            float *score = &scores[i * stride + j];
            if (masked && !flex_mask(b, h, q, k, &aux))
                *score = -INFINITY;
            else
                *score = flex_score(*score, b, h, q, k, &aux) * (float)M_LOG2E;
        }
}

static const struct cpu_flash_scores scores = { open_flex, close_flex, sees, modify };

const kg_backend cpu_flex = {
    .name = "cpu_flex",
    .help = "tiles, online softmax, hidden blocks skipped",
    .data = &scores,
    CPU_FLASH,
};
