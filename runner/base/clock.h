/* clock.h -- the host's clock. */
#ifndef KG_CLOCK_H
#define KG_CLOCK_H

#include <time.h>

/* Seconds, from anywhere, never set back. */
static inline double kg_now_s(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

#endif
