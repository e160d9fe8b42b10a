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

#if defined(__CUDACC__) && !defined(FLEX_DOUBLE)
/* e^x to 2^-21 of it, 0 for x below -87. */
FLEX_FUNCTION real flex_exp(real x)
{
    real power;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(x * 1.44269504f));
    return power;
}

/* To 2^-21; x may be infinite. */
FLEX_FUNCTION real flex_tanh(real x)
{
    real reciprocal;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(reciprocal) : "f"(flex_exp(2 * x) + 1));
    return 1 - 2 * reciprocal;
}
#elif defined(FLEX_DOUBLE)
FLEX_FUNCTION real flex_exp(real x)
{
    return exp(x);
}

FLEX_FUNCTION real flex_tanh(real x)
{
    return tanh(x);
}
#else
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
