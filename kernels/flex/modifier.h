/* modifier.h -- what a modifier of attention scores is written in: C that a C compiler, nvcc and NVRTC all take.
 *
 * A modifier is a file in modifiers/ that defines NAME_score, what becomes of the scaled score of query q and key k, or
 * NAME_mask, whether q sees k. It includes nothing but this file. `h` is a query head; a
 * problem's numbers and arrays are in `aux`.
 */
#ifndef FLEX_MODIFIER_H
#define FLEX_MODIFIER_H

#include "flex/flex_aux.h"

#ifdef FLEX_DOUBLE
typedef double real; /* in the reference */
#else
typedef float real;
#endif

#ifdef __CUDACC__
#define FLEX_FUNCTION static __device__ __forceinline__
#define FLEX_UNUSED
#else
#include <math.h>
#include <stdbool.h>
#define FLEX_FUNCTION static inline
#define FLEX_UNUSED __attribute__((unused))
#endif

#define FLEX_OF                                                                                                        \
    int b FLEX_UNUSED, int h FLEX_UNUSED, int q FLEX_UNUSED, int k FLEX_UNUSED, const struct flex_aux *aux FLEX_UNUSED
#define FLEX_SCORE(name) FLEX_FUNCTION real name##_score(real score, FLEX_OF)
#define FLEX_MASK(name) FLEX_FUNCTION bool name##_mask(FLEX_OF)

FLEX_FUNCTION int flex_distance(int q, int k)
{
    return q < k ? k - q : q - k;
}

/* The same as a number, exact: it converts a tile's rows and columns, not each pair. */
FLEX_FUNCTION real flex_distance_real(int q, int k)
{
    const real difference = (real)q - (real)k;
    return difference < 0 ? -difference : difference;
}

/* FLEX_OVER(x, softcap): x over a number of `aux` that has its inverse there. */

#if defined(__CUDACC__) && !defined(FLEX_DOUBLE)
#define FLEX_OVER(x, number) ((x)*aux->number##_inverse)

FLEX_FUNCTION real flex_power_of_two(real x)
{
    real power;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(x));
    return power;
}

/* To 2^-21 of it, 0 for x below -87. */
FLEX_FUNCTION real flex_exp(real x)
{
    return flex_power_of_two(x * 1.44269504f);
}

/* 1 - 2 / (e^2x + 1), to 2^-21; x may be infinite. */
FLEX_FUNCTION real flex_tanh(real x)
{
    real reciprocal;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(reciprocal) : "f"(flex_power_of_two(x * 2.88539008f) + 1));
    return fmaf(-2, reciprocal, 1);
}
#elif defined(FLEX_DOUBLE)
#define FLEX_OVER(x, number) ((x) / aux->number)

FLEX_FUNCTION real flex_exp(real x)
{
    return exp(x);
}

FLEX_FUNCTION real flex_tanh(real x)
{
    return tanh(x);
}
#else
#define FLEX_OVER(x, number) ((x) / (real)aux->number)

FLEX_FUNCTION real flex_exp(real x)
{
    return expf(x);
}

FLEX_FUNCTION real flex_tanh(real x)
{
    return tanhf(x);
}
#endif

#endif
