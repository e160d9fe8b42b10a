/* flex_blocks.c -- the block mask on the host: each pair of a block is asked of the mask. */
#include "flex/flex.h"

#include <stdlib.h>

static int64_t min64(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static enum flex_block kind_of(const struct flex *p, const struct flex_aux *aux, int64_t head, int64_t i0, int64_t j0)
{
    const struct sdpa *a = &p->attention;
    const int64_t i1 = min64(i0 + p->block_size, a->S), j1 = min64(j0 + p->block_size, sdpa_kv_length(a));
    bool any = false, all = true;
    for (int64_t i = i0; i < i1 && !(any && !all); i++)
        for (int64_t j = j0; j < j1; j++) {
            const bool sees = flex_sees(aux, head / a->H, head % a->H, i, j);
            any |= sees;
            all &= sees;
        }
    return !any ? FLEX_BLOCK_NONE : all ? FLEX_BLOCK_FULL : FLEX_BLOCK_PARTIAL;
}

int flex_blocks_new(const struct flex *p, const struct flex_aux *aux, struct flex_blocks *ret_blocks,
                    kg_error *ret_error)
{
    const int64_t heads = p->attention.B * p->attention.H, size = p->block_size;
    struct flex_blocks blocks = { .size = size,
                                  .H = p->attention.H,
                                  .rows = (p->attention.S + size - 1) / size,
                                  .columns = (sdpa_kv_length(&p->attention) + size - 1) / size };
    const int64_t of_head = blocks.rows * blocks.columns;
    blocks.kinds = malloc((size_t)(heads * of_head));
    if (!blocks.kinds)
        return kg_fail(ret_error, KG_ENOMEM, "no memory for the block mask");
#pragma omp parallel for
    for (int64_t n = 0; n < heads * of_head; n++)
        blocks.kinds[n] =
            (unsigned char)kind_of(p, aux, n / of_head, n % of_head / blocks.columns * size, n % blocks.columns * size);
    *ret_blocks = blocks;
    return KG_OK;
}

void flex_blocks_done(struct flex_blocks *blocks)
{
    free(blocks->kinds);
    *blocks = (struct flex_blocks){ 0 };
}
