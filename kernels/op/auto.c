/* auto.c -- the backend `auto`: the first of the list that takes the problem, under its own name.
 *
 * The order is the expected speed. A case of `auto` says which backend it became, whose golden judges it.
 */
#include "backends.h"

static const kg_backend *const candidates[] = {
    &sdpa_cudnn, /* the library's fused kernel */
    &sdpa_flash, /* ours, where cuDNN is absent or declines */
    &sdpa_math,  /* unfused: runs everywhere */
    NULL,
};

const kg_backend sdpa_auto = {
    .name = "auto",
    .help = "cudnn, else flash, else math",
    .device = KG_CUDA,
    .candidates = candidates,
};
