/* linked_kernel.c -- linked.c's kernel, AGAIN times over. What becomes of two of them in one process depends on how
 * they were compiled: as C, libraries of one name are one library there; as C++, an inline variable is one variable
 * there; VERSION is what a library that is opened says of itself; with -fopenmp, THREADS is set for all of the process,
 * and where it is 0 one thread is too few to be right. */
#include <time.h>

#ifdef THREADS
#include <omp.h>
#endif

#define PACE_NS 8 /* a pass of an element, by the clock: twice what it takes */

#ifdef __cplusplus
struct passes {
    static inline int count = AGAIN;
};
extern "C" void scale(float *y, const float *x, long n);
#define PASSES passes::count
#else
void scale(float *y, const float *x, long n);
#define PASSES AGAIN
#endif

#ifdef VERSION
const char scale_version[] = VERSION;
#endif

static long now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000 + now.tv_nsec;
}

void scale(float *y, const float *x, long n)
{
    const long end_ns = now_ns() + n * PASSES * PACE_NS;
    float factor = 2;
#ifdef THREADS
    if (THREADS > 0)
        omp_set_num_threads(THREADS);
    else if (omp_get_max_threads() == 1)
        factor = 0;
#endif
    for (long i = 0; i < n; i++)
        for (int again = 0; again < PASSES; again++)
            ((volatile float *)y)[i] = factor * x[i];
    while (now_ns() < end_ns)
        ;
}
