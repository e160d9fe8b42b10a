/* cpu_busy.c -- threads that take turns with a kernel on its cores and its memory, so that its own threads meet in
 * other orders than when they are alone. */
#include "device/device_parts.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define LINE_WORDS 8 /* of 8 bytes, in a line of the cache */

struct worker {
    struct kg_cpu_busy *busy;
    pthread_t thread;
    uint64_t *words;
    size_t n_words;
};

struct kg_cpu_busy {
    atomic_bool stop;
    int n_workers; /* that were started */
    struct worker workers[];
};

static void *work(void *argument)
{
    const struct worker *w = argument;
    for (size_t i = 0; !atomic_load_explicit(&w->busy->stop, memory_order_relaxed); i += LINE_WORDS)
        w->words[i % w->n_words] += i;
    return NULL;
}

int kg_cpu_busy_start(void *data, size_t bytes, int units, struct kg_cpu_busy **ret_busy, kg_error *ret_error)
{
    const size_t threads = units > 0 ? (size_t)units : 1, n_words = bytes / sizeof(uint64_t) / threads;
    struct kg_cpu_busy *busy = calloc(1, sizeof *busy + threads * sizeof *busy->workers);
    if (!busy)
        return kg_fail(ret_error, KG_ENOMEM, "out of memory for %zu threads", threads);
    for (size_t i = 0; i < threads; i++) {
        struct worker *w = &busy->workers[i];
        *w = (struct worker){ .busy = busy, .words = (uint64_t *)data + i * n_words, .n_words = n_words };
        const int failure = pthread_create(&w->thread, NULL, work, w);
        if (failure) {
            kg_cpu_busy_stop(busy);
            return kg_fail(ret_error, KG_ENOMEM, "cannot start a busy thread: %s", strerror(failure));
        }
        busy->n_workers++;
    }
    *ret_busy = busy;
    return KG_OK;
}

void kg_cpu_busy_stop(struct kg_cpu_busy *busy)
{
    if (!busy)
        return;
    atomic_store(&busy->stop, true);
    for (int i = 0; i < busy->n_workers; i++)
        pthread_join(busy->workers[i].thread, NULL);
    free(busy);
}
