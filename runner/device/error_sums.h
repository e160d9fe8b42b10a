/* error_sums.h -- running sums of a comparison, shared by C and CUDA code: add elements, merge parts, finish into
 * figures.
 *
 * Parts are merged in a fixed order, so sums repeat on one device; counts, extremes and the worst element are the same
 * on every device. A new figure gets a sum here, a line in add and merge, and one in kg_error_sums_finish. */
#ifndef KG_ERROR_SUMS_H
#define KG_ERROR_SUMS_H

#include "device/comparison.h"
#include "base/random.h"

#include <math.h>

/* Both implementations cut the elements into this many parts. */
#define KG_ERROR_SUMS_PARTS 256

struct kg_error_sums {
    uint64_t count, nonfinite, unwritten, bad;
    double abs_sum, signed_sum, square_sum, expected_square_sum; /* of e, got - expected, e^2, expected^2 */
    double product_sum;                                          /* of got * expected */
    double scale_square_sum, scale_product_square_sum;           /* of scale^2, (scale * expected)^2 */
    double max_abs, max_rel, max_scaled, largest;
    uint64_t worst_index;
    int worst_rank; /* 0: none yet, 1: finite, 2: non-finite */
    float worst_got, worst_expected;
};

struct kg_error_sums_limits {
    double bad_abs, bad_rel;
};

/* Not to be contracted into a fused multiply-add, which would decide ties differently: nvcc contracts unless told so by
 * the intrinsic; -std=c11 and a function's end keep the C compilers from it. */
KG_BOTH double kg_error_sums_product(double a, double b)
{
#ifdef __CUDA_ARCH__
    return __dmul_rn(a, b);
#else
    return a * b;
#endif
}

KG_BOTH bool kg_error_sums_finite(float value)
{
    return (kg_float_bits(value) & 0x7f800000) != 0x7f800000;
}

/* Non-finite before finite, then the larger error, then the lower index. */
KG_BOTH bool kg_error_sums_worse(int rank, double e, uint64_t index, const struct kg_error_sums *than)
{
    if (rank != than->worst_rank)
        return rank > than->worst_rank;
    if (rank == 1 && e != than->max_abs)
        return e > than->max_abs;
    return index < than->worst_index;
}

/* e over its scale. A scale of NaN admits nothing. */
KG_BOTH double kg_error_sums_over(double e, float scale)
{
    if (e == 0)
        return 0;
    return scale > 0 ? e / (double)scale : INFINITY;
}

/* One element, and what is known of it. */
struct kg_error_sums_item {
    uint64_t index;
    float got, expected;
    float scale;    /* of its error; INFINITY: there is none */
    bool unwritten; /* it still holds the poison bits */
};

KG_BOTH void kg_error_sums_add(struct kg_error_sums *sums, const struct kg_error_sums_item *item,
                               const struct kg_error_sums_limits *limits)
{
    const uint64_t index = item->index;
    const float got = item->got, expected = item->expected;
    bool finite = kg_error_sums_finite(got) && kg_error_sums_finite(expected);
    double difference = (double)got - (double)expected;
    double e = finite ? fabs(difference) : 0;
    double size = fabs((double)expected);
    int rank = finite ? 1 : 2;
    sums->count++;
    sums->unwritten += item->unwritten;
    if (kg_error_sums_worse(rank, e, index, sums)) {
        sums->worst_rank = rank;
        sums->worst_index = index;
        sums->worst_got = got;
        sums->worst_expected = expected;
    }
    if (!finite) {
        sums->nonfinite++;
        sums->bad++;
        return;
    }
    sums->bad += !(e <= limits->bad_abs + kg_error_sums_product(limits->bad_rel, size));
    sums->abs_sum += e;
    sums->signed_sum += difference;
    sums->square_sum += kg_error_sums_product(e, e);
    sums->expected_square_sum += kg_error_sums_product(size, size);
    sums->product_sum += kg_error_sums_product(got, expected);
    if (item->scale < INFINITY) {
        const double product = kg_error_sums_product(item->scale, size);
        sums->scale_square_sum += kg_error_sums_product(item->scale, item->scale);
        sums->scale_product_square_sum += kg_error_sums_product(product, product);
    }
    sums->max_abs = e > sums->max_abs ? e : sums->max_abs;
    const double rel_to = size > 1e-6 ? size : 1e-6;
    if (e > kg_error_sums_product(sums->max_rel, rel_to)) /* few elements divide */
        sums->max_rel = e / rel_to;
    if (e > 0 && !(e <= kg_error_sums_product(sums->max_scaled, item->scale)))
        sums->max_scaled = fmax(sums->max_scaled, kg_error_sums_over(e, item->scale));
    sums->largest = size > sums->largest ? size : sums->largest;
}

KG_BOTH void kg_error_sums_merge(struct kg_error_sums *into, const struct kg_error_sums *part)
{
    if (part->worst_rank && kg_error_sums_worse(part->worst_rank, part->max_abs, part->worst_index, into)) {
        into->worst_rank = part->worst_rank;
        into->worst_index = part->worst_index;
        into->worst_got = part->worst_got;
        into->worst_expected = part->worst_expected;
    }
    into->count += part->count;
    into->nonfinite += part->nonfinite;
    into->unwritten += part->unwritten;
    into->bad += part->bad;
    into->abs_sum += part->abs_sum;
    into->signed_sum += part->signed_sum;
    into->square_sum += part->square_sum;
    into->expected_square_sum += part->expected_square_sum;
    into->product_sum += part->product_sum;
    into->scale_square_sum += part->scale_square_sum;
    into->scale_product_square_sum += part->scale_product_square_sum;
    into->max_abs = part->max_abs > into->max_abs ? part->max_abs : into->max_abs;
    into->max_rel = part->max_rel > into->max_rel ? part->max_rel : into->max_rel;
    into->max_scaled = part->max_scaled > into->max_scaled ? part->max_scaled : into->max_scaled;
    into->largest = part->largest > into->largest ? part->largest : into->largest;
}

/* Merges the parts in their order. */
void kg_error_sums_finish(const struct kg_error_sums *parts, size_t n_parts, struct kg_comparison *ret_comparison);

#endif
