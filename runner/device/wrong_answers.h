/* wrong_answers.h -- wrong answers made of a reference, element by element, and the facts that they are made by; shared
 * by C and CUDA code. Three passes over the reference: how large it is, which rows and tiles to take, and then all the
 * answers, each compared with the reference.
 *
 * Facts are the same on every device, but for the last bits of the rms. */
#ifndef KG_WRONG_ANSWERS_H
#define KG_WRONG_ANSWERS_H

#include "base/random.h"
#include "device/error_sums.h"
#include "plan/wrong.h"

#include <math.h>

#define KG_WRONG_TILE_ROWS 64 /* of a stale tile; fewer where there are not two of them */

/* Rows are those of the last dimension; of one row alone, elements stand for rows. Rows and tiles are drawn by the
 * seed; from there on the next one that serves is taken. */
struct kg_wrong_facts {
    uint64_t count, row, n_rows, tile, n_tiles; /* elements in all, in a row, in a tile */
    uint64_t row_drawn, tile_drawn;             /* tile_drawn: counted from the second tile on */
    uint64_t key;                               /* of the noise */
    double rms;
    float noise_scale, bias;
    uint64_t largest, tail; /* element of the largest size; first element of the tail that is cut */
    uint64_t dropped;       /* row */
    uint64_t swapped_with;  /* row that is exchanged with row_drawn; that itself where all are equal */
    uint64_t stale;         /* tile; 0: none differs from the one before */
};

/* ---- the first pass ---- */

struct kg_wrong_sizes {
    double square_sum, largest_size;
    uint64_t largest, last; /* elements: the largest, the first among equals; the last that is not 0 */
    uint64_t n;             /* elements that are not 0 */
};

KG_BOTH void kg_wrong_sizes_merge(struct kg_wrong_sizes *into, const struct kg_wrong_sizes *part)
{
    if (!part->n)
        return;
    const bool equal = into->n && part->largest_size == into->largest_size;
    if (!into->n || part->largest_size > into->largest_size || (equal && part->largest < into->largest)) {
        into->largest_size = part->largest_size;
        into->largest = part->largest;
    }
    into->last = part->last > into->last ? part->last : into->last;
    into->square_sum += part->square_sum;
    into->n += part->n;
}

KG_BOTH void kg_wrong_sizes_add(struct kg_wrong_sizes *sizes, const float *expected, uint64_t i)
{
    const double size = fabs((double)expected[i]);
    const struct kg_wrong_sizes one = { size * size, size, i, i, size > 0 };
    kg_wrong_sizes_merge(sizes, &one);
}

/* ---- the second pass ---- */

/* How far from the drawn one lies what serves; more than all there are, added, says that it serves only just. */
struct kg_wrong_places {
    uint64_t dropped, swapped, stale;
};
#define KG_WRONG_NOWHERE UINT64_MAX

KG_BOTH void kg_wrong_places_merge(struct kg_wrong_places *into, const struct kg_wrong_places *part)
{
    into->dropped = part->dropped < into->dropped ? part->dropped : into->dropped;
    into->swapped = part->swapped < into->swapped ? part->swapped : into->swapped;
    into->stale = part->stale < into->stale ? part->stale : into->stale;
}

/* Two that differ by the reference's own rounding are equal. One of a usual size is better than one that can hardly be
 * seen. */
KG_BOTH uint64_t kg_wrong_place(const struct kg_wrong_facts *facts, uint64_t distance, uint64_t all, float a, float b)
{
    const double difference = fabs((double)a - (double)b), size_a = fabs((double)a), size_b = fabs((double)b);
    if (difference >= facts->rms / 2 && difference > 0)
        return distance;
    return difference > (size_a > size_b ? size_a : size_b) / 1024 ? distance + all : KG_WRONG_NOWHERE;
}

KG_BOTH void kg_wrong_places_add(struct kg_wrong_places *places, const struct kg_wrong_facts *facts,
                                 const float *expected, uint64_t i)
{
    const uint64_t row = i / facts->row, tile = i / facts->tile, tiles = facts->n_tiles - 1;
    const uint64_t from_row = (row + facts->n_rows - facts->row_drawn) % facts->n_rows;
    struct kg_wrong_places one = { kg_wrong_place(facts, from_row, facts->n_rows, expected[i], 0), KG_WRONG_NOWHERE,
                                   KG_WRONG_NOWHERE };
    if (from_row > 0)
        one.swapped = kg_wrong_place(facts, from_row, facts->n_rows, expected[i],
                                     expected[facts->row_drawn * facts->row + i % facts->row]);
    if (tile > 0)
        one.stale = kg_wrong_place(facts, (tile - 1 + tiles - facts->tile_drawn) % tiles, tiles, expected[i],
                                   expected[i - facts->tile]);
    kg_wrong_places_merge(places, &one);
}

/* ---- the answers ---- */

/* Element `i` of a wrong answer. */
KG_BOTH float kg_wrong_value(enum kg_wrong wrong, const struct kg_wrong_facts *facts, const float *expected, uint64_t i)
{
    const uint64_t row = i / facts->row, column = i % facts->row;
    switch (wrong) {
    case KG_WRONG_ZEROS:
        return 0;
    case KG_WRONG_NOISE:
        return kg_random_value(facts->key, i, facts->noise_scale);
    case KG_WRONG_FACTOR:
        return expected[i] * 1.01f;
    case KG_WRONG_BIAS:
        return expected[i] + facts->bias;
    case KG_WRONG_DROPPED_ROW:
        return row == facts->dropped ? 0 : expected[i];
    case KG_WRONG_SWAPPED_ROWS:
        if (row == facts->row_drawn)
            return expected[facts->swapped_with * facts->row + column];
        return expected[row == facts->swapped_with ? facts->row_drawn * facts->row + column : i];
    case KG_WRONG_STALE_TILE:
        return expected[facts->stale && i / facts->tile == facts->stale ? i - facts->tile : i];
    case KG_WRONG_LARGEST_ZEROED:
        return i == facts->largest ? 0 : expected[i];
    case KG_WRONG_CUT_TAIL:
        return i >= facts->tail ? 0 : expected[i];
    case KG_WRONG_NAN:
        return i == facts->largest ? NAN : expected[i];
    case KG_WRONGS:
        break;
    }
    return expected[i];
}

static inline bool kg_wrong_apart(uint64_t unit, uint64_t size, uint64_t first, uint64_t end)
{
    return (unit + 1) * size <= first || unit * size >= end;
}

/* Whether elements from `first` up to `end` are the reference's own; false where that is not known. */
static inline bool kg_wrong_spares(enum kg_wrong wrong, const struct kg_wrong_facts *of, uint64_t first, uint64_t end)
{
    switch (wrong) {
    case KG_WRONG_DROPPED_ROW:
        return kg_wrong_apart(of->dropped, of->row, first, end);
    case KG_WRONG_SWAPPED_ROWS:
        return kg_wrong_apart(of->row_drawn, of->row, first, end) &&
               kg_wrong_apart(of->swapped_with, of->row, first, end);
    case KG_WRONG_STALE_TILE:
        return !of->stale || kg_wrong_apart(of->stale, of->tile, first, end);
    case KG_WRONG_LARGEST_ZEROED:
    case KG_WRONG_NAN:
        return kg_wrong_apart(of->largest, 1, first, end);
    case KG_WRONG_CUT_TAIL:
        return end <= of->tail;
    default:
        return false;
    }
}

/* What an honest answer may be off by where the op has no error scale: the rounding of the output's dtype. */
struct kg_wrong_rounding {
    float relative, least;
};

/* What the answers are made of, and compared by. `expected` and `scale` (NULL: none) lie where the passes run. */
struct kg_wrong_terms {
    struct kg_wrong_facts facts;
    struct kg_wrong_rounding rounding;
    struct kg_error_sums_limits limits;
    const float *expected, *scale;
};

/* Adds element `i` of a wrong answer to its sums. */
KG_BOTH void kg_wrong_add(struct kg_error_sums *sums, enum kg_wrong wrong, const struct kg_wrong_terms *terms,
                          uint64_t i)
{
    const float right = terms->expected[i];
    const float rounding = (float)fabs((double)right) * terms->rounding.relative + terms->rounding.least;
    const struct kg_error_sums_item item = { i, kg_wrong_value(wrong, &terms->facts, terms->expected, i), right,
                                             terms->scale ? terms->scale[i] : rounding, false };
    kg_error_sums_add(sums, &item, &terms->limits);
}

/* ---- on the host, around the passes ---- */

/* What is known before them: shape, draws, limits. `output` is what `expected` is the reference of, and is not read. */
struct kg_wrong_terms kg_wrong_terms_of(const kg_tensor *output, const kg_tensor *expected, const kg_tensor *scale,
                                        const kg_gates *gates, uint64_t seed);

/* After the first pass, and after the second; each merges its parts. */
void kg_wrong_facts_measured(struct kg_wrong_facts *facts, const struct kg_wrong_sizes *parts, size_t n_parts);
void kg_wrong_facts_placed(struct kg_wrong_facts *facts, const struct kg_wrong_places *parts, size_t n_parts);

#endif
