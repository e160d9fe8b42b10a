/* row_sums.h -- sums of rows, each times a factor: a query's products with all keys, where K lies by columns, and its
 * output, where V lies by rows. Four rows at once, since one sum would wait for the one before it. */
#ifndef ROW_SUMS_H
#define ROW_SUMS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "op/threads.h"

/* A function: ret_sums[i], of `n`, is the sum of factors[j] term(rows[j * stride + i]). A row whose factor is 0 is not
 * read. */
#define ROW_SUMS(name, number, term)                                                                                   \
    AVX2_TOO static inline void name(const number *factors, const float *rows, int64_t n_rows, int64_t stride,         \
                                     int64_t n, number *ret_sums)                                                      \
    {                                                                                                                  \
        for (int64_t i = 0; i < n; i++)                                                                                \
            ret_sums[i] = 0;                                                                                           \
        for (int64_t j = 0; j < n_rows;) {                                                                             \
            const bool there = n_rows - j > 3;                                                                         \
            const number f0 = factors[j], f1 = there ? factors[j + 1] : 0, f2 = there ? factors[j + 2] : 0,            \
                         f3 = there ? factors[j + 3] : 0;                                                              \
            const float *r0 = rows + j * stride, *r1 = r0 + stride, *r2 = r1 + stride, *r3 = r2 + stride;              \
            const bool four = f0 != 0 && f1 != 0 && f2 != 0 && f3 != 0;                                                \
            if (four) {                                                                                                \
                _Pragma("omp simd") for (int64_t i = 0; i < n; i++) ret_sums[i] +=                                     \
                    f0 * term(r0[i]) + f1 * term(r1[i]) + f2 * term(r2[i]) + f3 * term(r3[i]);                         \
            } else if (f0 != 0) {                                                                                      \
                _Pragma("omp simd") for (int64_t i = 0; i < n; i++) ret_sums[i] += f0 * term(r0[i]);                   \
            }                                                                                                          \
            j += four ? 4 : 1;                                                                                         \
        }                                                                                                              \
    }

#define AS_IT_IS(x) (x)
#define SQUARED(x) ((double)(x) * (x))

/* Room for `n` numbers of a row, in whole vectors: what lies past n costs less than to stop there. */
static inline int64_t whole_vectors(int64_t n)
{
    return (n + 7) / 8 * 8;
}

/* Heads of [n, D] by columns, [D, whole_vectors(n)], sixteen keys at once, which the first cache holds. What is past n
 * is left. */
static inline void by_columns(const float *rows, int64_t heads, int64_t n, int64_t D, float *ret_columns)
{
    const int64_t stride = whole_vectors(n);
    for (int64_t head = 0; head < heads; head++, rows += n * D, ret_columns += stride * D)
        for (int64_t first = 0; first < n; first += 16) {
            const int64_t end = first + 16 < n ? first + 16 : n;
            for (int64_t d = 0; d < D; d++)
                for (int64_t j = first; j < end; j++)
                    ret_columns[d * stride + j] = rows[j * D + d];
        }
}

/* In memory of their own, to be freed; NULL: no memory. */
static inline float *new_columns(const float *rows, int64_t heads, int64_t n, int64_t D)
{
    float *columns = calloc((size_t)(heads * whole_vectors(n) * D), sizeof *columns);
    if (columns)
        by_columns(rows, heads, n, D, columns);
    return columns;
}

#endif
