/* flash.h -- between the backend `flash` (flash.c) and its kernels (flash.cu). Start with flash.c: it says what runs
 * when. */
#ifndef FLASH_H
#define FLASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fused/flash_args.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One block of threads computes `rows` query rows of one head. */
enum flash_tile_id { FLASH_BY_TABLE, FLASH_32_SPLIT4, FLASH_64_SPLIT2, FLASH_64, FLASH_128, FLASH_TILES };

struct flash_kernel_info {
    const void *function;
    int rows, threads;
    size_t shared_bytes;
};

/* The kernel of a tile for D 64, 80, 96 or 128, or one with function NULL. */
struct flash_kernel_info flash_kernel_find(enum flash_tile_id tile, int D, bool bf16);

#ifdef __cplusplus
}
#endif

#endif
