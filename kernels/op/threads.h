/* threads.h -- how many OpenMP threads a computation on the CPU takes, which one is running, and the vectors of its
 * loops.
 *
 * A build without OpenMP runs on one thread: scratch is allotted by these numbers, so both builds share the code.
 */
#ifndef THREADS_H
#define THREADS_H

#include <math.h>

#ifdef _OPENMP
#include <omp.h>
#endif

/* A thread for every 2^25 FLOPs, about a millisecond of one core, and at most `most`; with `most` 0, as many as OpenMP
 * would start. Small problems stay on one thread: waiting for a second one costs more than it brings and, on a busy
 * machine, takes whole scheduler ticks; and their times do not hang on the number of cores. */
static inline int threads_for(int most, double flops)
{
#ifdef _OPENMP
    double worthwhile = flops / (1 << 25);
    if (most < 1)
        most = omp_get_max_threads();
    return worthwhile < 1 ? 1 : worthwhile < most ? (int)worthwhile : most;
#else
    (void)most, (void)flops;
    return 1;
#endif
}

static inline int thread_index(void)
{
#ifdef _OPENMP
    return omp_get_thread_num();
#else
    return 0;
#endif
}

/* A function that is compiled for plain x86-64 and for AVX2, which is chosen where a machine has it. */
#if defined __x86_64__ && defined __GLIBC__ && !defined __clang__
#define AVX2_TOO __attribute__((target_clones("avx2", "default")))
#else
#define AVX2_TOO
#endif

/* glibc has exp for vectors, to 4 ulp: loops with `omp simd` take it. */
#if defined __x86_64__ && defined __GLIBC__ && !defined __clang__ && defined _OPENMP
#pragma omp declare simd notinbranch
double exp(double x);
#pragma omp declare simd notinbranch
float expf(float x);
#endif

/* Of what is not over 0. Results under the smallest normal number are 0: glibc's vectors leave those to slower calls.
 */
static inline double exp_down(double x)
{
    return exp(x < -708 ? -708 : x) * !(x < -708);
}

static inline float expf_down(float x)
{
    return expf(x < -87 ? -87 : x) * (float)!(x < -87);
}

#endif
