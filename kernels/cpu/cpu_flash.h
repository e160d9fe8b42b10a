/* cpu_flash.h -- what a backend takes from cpu_flash that modifies scores on their way through its tiles. */
#ifndef CPU_FLASH_H
#define CPU_FLASH_H

#include "op/sdpa.h"
#include "op/sdpa_error.h"

struct cpu_flash_knobs {
    int64_t tile_q, tile_k;
};

/* Queries i0 to i0 + n_queries of head `head` of [B * H], and keys j0 to j0 + n_keys. */
struct cpu_flash_tile {
    int64_t head, i0, j0, n_queries, n_keys;
};

/* `data` of such a backend. Its problem begins with a struct sdpa, whose mask holds too. */
struct cpu_flash_scores {
    int (*open)(const kg_call *call, void **ret_of, kg_error *ret_error);
    void (*close)(void *of);
    bool (*sees)(const void *of, const struct cpu_flash_tile *tile); /* false: the tile may be skipped */
    /* From scaled scores to such in powers of two, rows `stride` apart; -INFINITY: hidden. `tensors` are the call's. */
    void (*modify)(const void *of, const kg_tensor *tensors, const struct cpu_flash_tile *tile, float *scores,
                   int64_t stride);
};

#define CPU_FLASH_KNOBS 2
extern const kg_field cpu_flash_knobs[CPU_FLASH_KNOBS];
int cpu_flash_supports(const kg_backend *self, const kg_device *device, const void *problem, kg_error *ret_error);
int cpu_flash_prepare(const kg_backend *self, const kg_call *call, void **ret_state, kg_identity *ret_identity,
                      kg_error *ret_error);
int cpu_flash_launch(const kg_backend *self, void *state, const kg_tensor *tensors, void *stream, kg_error *ret_error);
void cpu_flash_release(const kg_backend *self, void *state);

/* All of a backend but its name, help and data. */
#define CPU_FLASH                                                                                                      \
    .device = KG_CPU, .knobs = { cpu_flash_knobs, CPU_FLASH_KNOBS }, .knobs_size = sizeof(struct cpu_flash_knobs),     \
    .supports = cpu_flash_supports, .prepare = cpu_flash_prepare, .launch = cpu_flash_launch,                          \
    .arithmetic = &sdpa_fp32_weights, .release = cpu_flash_release

#endif
