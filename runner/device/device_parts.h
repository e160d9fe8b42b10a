/* device_parts.h -- what the implementations of device.h are made of; seen by them only. */
#ifndef KG_DEVICE_PARTS_H
#define KG_DEVICE_PARTS_H

#include "device/device.h"
#include "device/wrong_answers.h"

/* What a timed window is made of. */
struct kg_window {
    kg_launch_fn *launch;
    void *argument;
    int first; /* index of its first call */
    int calls;
    double spin_us; /* at its end; negative: none */
    void *replay;   /* cudaGraphExec_t; NULL: launched call by call */
    size_t nodes;   /* of the graph */
    double us;      /* shortest time so far; 0: has not run */
};

/* Buffers of an open device: those that it has handed out, so that closing it frees what nobody released, and those
 * that it keeps for the next that asks. */
struct kg_allocation {
    void *data;
    size_t bytes;
};

struct kg_allocations {
    struct kg_allocation *items;
    size_t count, capacity;
    uint64_t bytes; /* of all */
};

/* Makes room for one more, so that the next add cannot fail. */
int kg_allocations_reserve(struct kg_allocations *allocations, kg_error *ret_error);
void kg_allocations_add(struct kg_allocations *allocations, void *data, size_t bytes);
/* Both take it from the list. {NULL}: it is not in it; none is of that size. */
struct kg_allocation kg_allocations_remove(struct kg_allocations *allocations, const void *data);
struct kg_allocation kg_allocations_take(struct kg_allocations *allocations, size_t bytes);
void kg_allocations_done(struct kg_allocations *allocations); /* frees the list, not the buffers */

/* Host memory that other processes can map: pages of one file in memory, each allocation its own. */
struct kg_shared_memory;
size_t kg_cpu_whole_pages(size_t bytes); /* rounded up */
int kg_shared_memory_take(struct kg_shared_memory **memory, size_t bytes, void **ret_data, kg_error *ret_error);
void kg_shared_memory_give(struct kg_shared_memory *memory, void *data);
bool kg_shared_memory_has(const struct kg_shared_memory *memory, const void *data); /* NULL is accepted, and below */
void kg_shared_memory_done(struct kg_shared_memory *memory);
int kg_shared_memory_share(const struct kg_shared_memory *memory, const void *data, size_t bytes,
                           struct kg_shared *ret_shared, kg_error *ret_error);
int kg_shared_memory_map(const struct kg_shared *shared, void **ret_data, kg_error *ret_error);
void kg_shared_memory_unmap(void *data, size_t bytes);
/* Other addresses of bytes of an allocation, for a moment: what is written there no protection of `data`'s pages
 * shows. NULL: there are none left. */
void *kg_shared_memory_alias(const struct kg_shared_memory *memory, const void *data, size_t bytes);
void kg_shared_memory_unalias(void *alias, size_t bytes);

/* What device.h says of seal and unseal. `data` and all pages that `bytes` reach into belong together. */
int kg_cpu_seal(void *data, size_t bytes, kg_error *ret_error);
bool kg_cpu_unseal(void);

/* A thread for each of `units` that reads and writes its part of the data, over and over. Stopping accepts NULL. */
struct kg_cpu_busy;
int kg_cpu_busy_start(void *data, size_t bytes, int units, struct kg_cpu_busy **ret_busy, kg_error *ret_error);
void kg_cpu_busy_stop(struct kg_cpu_busy *busy);

/* The CPU's bulk work over host memory, beside kg_cpu_fill: paint, count, digest, compare; wrong answers are in
 * cpu_strength.c. */
void kg_cpu_paint(void *data, size_t bytes, uint32_t pattern);
uint64_t kg_cpu_count_changed(const void *data, size_t bytes, uint32_t pattern);
uint64_t kg_cpu_digest(const void *data, size_t bytes);
void kg_cpu_compare(const kg_tensor *got, const kg_tensor *expected, const kg_tensor *scale, const kg_gates *gates,
                    struct kg_comparison *ret_comparison);
void kg_cpu_strength(const struct kg_wrong_terms *terms, struct kg_comparison ret_comparisons[KG_WRONGS]);

#endif
