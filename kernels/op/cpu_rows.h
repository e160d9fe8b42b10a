/* cpu_rows.h -- what backends on the CPU share that compute a query row at a time: a state that begins with a struct
 * cpu_rows, and behind it for each thread the floats of a row. K and V as they read them: cpu_keys.h. */
#ifndef CPU_ROWS_H
#define CPU_ROWS_H

#include <stdlib.h>

#include "op/row_sums.h"
#include "op/sdpa.h"
#include "op/threads.h"

struct cpu_rows {
    struct sdpa problem;
    int n_threads;
    int64_t width; /* floats of one thread: a score for each key, in whole vectors, the row's sums, a row of Q */
    float *all;
};

/* A state of `size` bytes, zeros but for its rows. */
static inline int cpu_rows_new(const kg_backend *self, const kg_call *call, const struct sdpa *p, size_t size,
                               void **ret_state, kg_error *ret_error)
{
    const int n_threads = threads_for(call->device->units, sdpa_flops(p));
    const int64_t width = whole_vectors(sdpa_kv_length(p)) + 2 * p->D;
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

/* Scores to weights; returns their sum. Of a row without a key, or with hidden ones, -INFINITY, weights are 0. */
AVX2_TOO static inline float cpu_rows_softmax(int64_t visible, float *scores)
{
    float row_max = -INFINITY, row_sum = 0;
    for (int64_t j = 0; j < visible; j++)
        row_max = scores[j] > row_max ? scores[j] : row_max;
    const float base = row_max == -INFINITY ? 0 : row_max;
#pragma omp simd reduction(+ : row_sum)
    for (int64_t j = 0; j < visible; j++) {
        scores[j] = expf_down(scores[j] - base);
        row_sum += scores[j];
    }
    return row_sum;
}

/* A query row's place. */
static inline int64_t cpu_rows_head(const struct sdpa *p, int64_t row) /* of K and V */
{
    return row / p->S / p->H * sdpa_kv_heads(p) + row / p->S % p->H / sdpa_group(p);
}

static inline void cpu_rows_release(const kg_backend *self, void *state)
{
    (void)self;
    free(state);
}

#endif
