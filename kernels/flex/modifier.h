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

/* An element of a problem's array. No kernel writes these, so that a GPU may keep what it read. */
FLEX_FUNCTION float flex_at(const float *array, int i)
{
#ifdef __CUDACC__
    return __ldg(array + i);
#else
    return array[i];
#endif
}

FLEX_FUNCTION int flex_distance(int q, int k)
{
    return q < k ? k - q : q - k;
}

/* The same as a number, exact below 2^22: from the low bits of 1.5 * 2^23 + q - k, since a GPU converts integers at a
 * fourth of its rate. Pairs on one diagonal of a thread's share it. */
FLEX_FUNCTION real flex_distance_real(int q, int k)
{
#if defined(__CUDACC__) && !defined(FLEX_DOUBLE)
    return fabsf(__int_as_float(0x4b400000 + (q - k)) - 12582912);
#else
    return (real)fabs((real)q - (real)k);
#endif
}

/* FLEX_OVER(x, softcap): x over a number of `aux` that has its inverse there. FLEX_TANH(x, softcap): number * tanh(x /
 * number). */

#if defined(__CUDACC__) && !defined(FLEX_DOUBLE)
#define FLEX_OVER(x, number) ((x)*aux->number##_inverse)
#define FLEX_TANH(x, number) flex_tanh(x, aux->number##_inverse, aux->number)

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

/* size * tanh(x * rate) by one instruction, to 2^-11 of itself (PTX ISA, tanh): x is a sum of products of numbers that
 * were rounded to 2^-9 or 2^-11. By 1 - 2 / (e^2x + 1), to 2^-21, a soft cap takes a fifth longer. */
FLEX_FUNCTION real flex_tanh(real x, real rate, real size)
{
    real t;
    asm("tanh.approx.f32 %0, %1;" : "=f"(t) : "f"(x * rate));
    return size * t;
}
#elif defined(FLEX_DOUBLE)
#define FLEX_OVER(x, number) ((x) / aux->number)
#define FLEX_TANH(x, number) (aux->number * tanh((x) / aux->number))

FLEX_FUNCTION real flex_exp(real x)
{
    return exp(x);
}
#else
#define FLEX_OVER(x, number) ((x) / (real)aux->number)
#define FLEX_TANH(x, number) ((real)aux->number * tanhf((x) / (real)aux->number))

FLEX_FUNCTION real flex_exp(real x)
{
    return expf(x);
}
#endif

#endif
