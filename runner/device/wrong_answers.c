/* wrong_answers.c -- what wrong answers are made by: known beforehand, and found by passes over the reference. */
#include "device/wrong_answers.h"

#define KEY_ORDINAL KG_MAX_TENSORS /* the noise is no input's */

static struct kg_wrong_facts facts_of(const kg_tensor *expected, uint64_t seed)
{
    const uint64_t count = (uint64_t)kg_tensor_count(expected), key = kg_random_key(seed, KEY_ORDINAL);
    struct kg_wrong_facts facts = { .count = count, .row = 1, .key = key };
    const uint64_t last = expected->rank ? (uint64_t)expected->dims[expected->rank - 1] : 1;
    if (last && count >= 2 * last)
        facts.row = last;
    facts.n_rows = count / facts.row;
    uint64_t tile_rows = KG_WRONG_TILE_ROWS;
    while (tile_rows > 1 && 2 * tile_rows > facts.n_rows)
        tile_rows /= 2;
    facts.tile = tile_rows * facts.row;
    facts.n_tiles = (count + facts.tile - 1) / facts.tile;
    facts.row_drawn = facts.n_rows ? kg_mix64(key + 1) % facts.n_rows : 0;
    facts.tile_drawn = facts.n_tiles > 1 ? kg_mix64(key + 2) % (facts.n_tiles - 1) : 0;
    return facts;
}

static struct kg_wrong_rounding rounding_of(const kg_tensor *output)
{
    static const float relative[] = {
        [KG_F32] = 0x1p-24f, [KG_F16] = 0x1p-11f, [KG_BF16] = 0x1p-8f, [KG_E4M3] = 0x1p-4f
    };
    static const float least[] = {
        [KG_F32] = 0x1p-149f, [KG_F16] = 0x1p-25f, [KG_BF16] = 0x1p-134f, [KG_E4M3] = 0x1p-10f
    };
    return (struct kg_wrong_rounding){ relative[output->dtype], least[output->dtype] * kg_tensor_unit(output) };
}

struct kg_wrong_terms kg_wrong_terms_of(const kg_tensor *output, const kg_tensor *expected, const kg_tensor *scale,
                                        const kg_gates *gates, uint64_t seed)
{
    return (struct kg_wrong_terms){ .facts = facts_of(expected, seed),
                                    .rounding = rounding_of(output),
                                    .limits = { gates->bad_abs, gates->bad_rel },
                                    .expected = expected->data,
                                    .scale = scale ? scale->data : NULL };
}

void kg_wrong_facts_measured(struct kg_wrong_facts *facts, const struct kg_wrong_sizes *parts, size_t n_parts)
{
    struct kg_wrong_sizes all = { 0 };
    for (size_t i = 0; i < n_parts; i++)
        kg_wrong_sizes_merge(&all, &parts[i]);
    facts->rms = facts->count ? sqrt(all.square_sum / (double)facts->count) : 0;
    facts->noise_scale = kg_random_scale(facts->rms);
    facts->bias = (float)(facts->rms / 4);
    facts->largest = all.largest;
    const uint64_t tail_rows = facts->n_rows > 16 ? facts->n_rows / 16 : 1, last_row = all.last / facts->row;
    const uint64_t first_row = facts->n_rows > tail_rows ? facts->n_rows - tail_rows : 0;
    facts->tail = (last_row < first_row ? last_row : first_row) * facts->row;
}

void kg_wrong_facts_placed(struct kg_wrong_facts *facts, const struct kg_wrong_places *parts, size_t n_parts)
{
    struct kg_wrong_places all = { KG_WRONG_NOWHERE, KG_WRONG_NOWHERE, KG_WRONG_NOWHERE };
    for (size_t i = 0; i < n_parts; i++)
        kg_wrong_places_merge(&all, &parts[i]);
    facts->dropped = facts->swapped_with = facts->row_drawn;
    if (all.dropped != KG_WRONG_NOWHERE)
        facts->dropped = (facts->row_drawn + all.dropped % facts->n_rows) % facts->n_rows;
    if (all.swapped != KG_WRONG_NOWHERE)
        facts->swapped_with = (facts->row_drawn + all.swapped % facts->n_rows) % facts->n_rows;
    if (all.stale != KG_WRONG_NOWHERE)
        facts->stale = (facts->tile_drawn + all.stale % (facts->n_tiles - 1)) % (facts->n_tiles - 1) + 1;
}
