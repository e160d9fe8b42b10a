/* cpu_loops.h -- the bulk work of the CPU device over host memory: fill, count, digest, compare. */
#ifndef KG_CPU_LOOPS_H
#define KG_CPU_LOOPS_H

#include "device/comparison.h"
#include "kgate.h"

void kg_cpu_fill(const kg_tensor *tensor, uint64_t seed, uint32_t ordinal);
uint64_t kg_cpu_count_changed(const void *data, size_t bytes, uint8_t value);
uint64_t kg_cpu_digest(const void *data, size_t bytes);
void kg_cpu_compare(const kg_tensor *got, const kg_tensor *expected, const kg_gates *gates,
                    struct kg_comparison *ret_comparison);

#endif
