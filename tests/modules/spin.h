/* spin.h -- kernels whose launches end by the clock: what is so short by itself comes and goes with the machine, and
 * cannot be blessed. */
#ifndef KG_TEST_SPIN_H
#define KG_TEST_SPIN_H

#include <stdint.h>
#include <time.h>

static inline int64_t now_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static inline void spin_until(int64_t end_ns)
{
    while (now_ns() < end_ns)
        ;
}

#endif
