/* cpu_rows.h -- what backends on the CPU share that compute a query row at a time: a state that begins with a struct
 * cpu_rows, and behind it for each thread the floats of a row. */
#ifndef CPU_ROWS_H
#define CPU_ROWS_H

#include <stdlib.h>

#include "op/sdpa.h"
#include "op/threads.h"

struct cpu_rows {
    struct sdpa problem;
    int n_threads;
    int64_t width; /* floats of one thread: a score for each key, the row's sums, a row of Q, K or V */
    float *all;
};

/* A state of `size` bytes, zeros but for its rows. */
static inline int cpu_rows_new(const kg_backend *self, const kg_call *call, const struct sdpa *p, size_t size,
                               void **ret_state, kg_error *ret_error)
{
    const int n_threads = threads_for(call->device->units, sdpa_flops(p));
    const int64_t width = sdpa_kv_length(p) + 2 * p->D;
    struct cpu_rows *rows = calloc(1, size + (size_t)(n_threads * width) * sizeof(float));
    if (!rows)
        return kg_fail(ret_error, KG_ENOMEM, "no memory for the score rows of %s", self->name);
    *rows = (struct cpu_rows){ *p, n_threads, width, (float *)(void *)((char *)rows + size) };
    *ret_state = rows;
    return KG_OK;
}

/* Those of the thread that asks. */
static inline float *cpu_rows_own(const struct cpu_rows *rows)
{
    return rows->all + thread_index() * rows->width;
}

static inline void cpu_rows_release(const kg_backend *self, void *state)
{
    (void)self;
    free(state);
}

#endif
