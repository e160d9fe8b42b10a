/* flex_compiled.c -- backend `flex_compiled`: flex_kernel.cuh compiled by NVRTC for the problem's own modifiers. */
#include <math.h>
#include <string.h>

#include <cuda_runtime_api.h>

#include "flex/flex_program.h"
#include "op/cuda_timer.h"
#include "op/sdpa_cuda.h"

/* Rows, threads and shared memory are those of the same tile compiled before. */
static int compile(const kg_call *call, enum flex_tile_id tile, struct flex_kernels *ret_kernels, kg_error *ret_error)
{
    const struct flex *p = call->problem;
    const unsigned uses = flex_aux_of(p, call->tensors).uses;
    struct flex_kernels kernels = flex_static_find(tile, (int)p->attention.D, p->attention.dtype == KG_BF16);
    struct flex_program attend = { 0 }, blocks = { 0 };
    int status = flex_attend_program(p, uses, tile, flex_texts, &attend, ret_error);
    if (!status)
        status = flex_blocks_program(uses, flex_texts, &blocks, ret_error);
    if (!status)
        status = rtc_load(call->library, call->device, &attend.of, &kernels.loaded[0], ret_error);
    if (!status)
        status = rtc_load(call->library, call->device, &blocks.of, &kernels.loaded[1], ret_error);
    if (!status)
        status = rtc_other_kernel(&kernels.loaded[1], "flex_lists_kernel", &kernels.lists, ret_error);
    flex_program_done(&attend);
    flex_program_done(&blocks);
    if (status) {
        rtc_unload(&kernels.loaded[0]);
        rtc_unload(&kernels.loaded[1]);
        return status;
    }
    kernels.attend = kernels.loaded[0].function;
    kernels.blocks = kernels.loaded[1].function;
    *ret_kernels = kernels;
    return KG_OK;
}

/* ---- states -------------------------------------------------------------------------------------------------- */

/* A state and what it is known by. */
struct made {
    void *state;
    kg_identity identity;
};

static int make(const kg_backend *self, const kg_call *call, enum flex_tile_id tile, struct made *ret_made,
                kg_error *ret_error)
{
    struct flex_kernels kernels;
    struct made made = { .identity = { .n_compiled = 2 } };
    int status = compile(call, tile, &kernels, ret_error);
    if (status)
        return status;
    status = flex_cuda_prepare(self, call, &kernels, &made.state, ret_error);
    for (int i = 0; i < 2; i++) {
        made.identity.compiled[i] = kernels.loaded[i].compiled;
        if (status)
            rtc_unload(&kernels.loaded[i]);
    }
    if (!status)
        *ret_made = made;
    return status;
}

/* ---- the best of the tiles ------------------------------------------------------------------------------------- */

struct timed {
    const kg_backend *self;
    void *state;
    kg_tensor tensors[KG_MAX_TENSORS];
};

static int timed_launch(const void *context, cudaStream_t stream, kg_error *ret_error)
{
    const struct timed *timed = context;
    return flex_cuda_launch(timed->self, timed->state, timed->tensors, stream, ret_error);
}

/* The workspace lives for the measurement only. */
static int time_tile(const kg_backend *self, const kg_call *call, void *state, double *ret_us, kg_error *ret_error)
{
    struct timed timed = { .self = self, .state = state };
    for (int i = 0; i < call->n_tensors; i++)
        timed.tensors[i] = call->tensors[i];
    kg_tensor *workspace = &timed.tensors[flex_tensor_count(call->problem)];
    cudaError_t status = cudaMalloc(&workspace->data, flex_cuda_workspace(self, state));
    if (status != cudaSuccess)
        return sdpa_cuda_check(self, status, ret_error);
    int failed = flex_cuda_stage(self, state, timed.tensors, call->stream, ret_error);
    if (!failed)
        failed = cuda_timer_run(timed_launch, &timed, call->stream, ret_us, ret_error);
    (void)cudaFree(workspace->data);
    return failed;
}

static bool fits(const struct flex *p, enum flex_tile_id tile)
{
    return p->block_size % flex_static_find(tile, (int)p->attention.D, false).rows == 0;
}

/* The fastest on the call's tensors; tiles that do not compile or run are out. The reason of the first is told where
 * none is left. */
static int make_fastest(const kg_backend *self, const kg_call *call, struct made *ret_made, kg_error *ret_error)
{
    const struct flex *p = call->problem;
    struct made best = { .state = NULL };
    double best_us = INFINITY;
    int status = KG_OK;
    for (int tile = FLEX_TILE_BY_TABLE + 1; tile < FLEX_TILE_IDS; tile++) {
        struct made made = { .state = NULL };
        kg_error error = { 0 };
        double us = INFINITY;
        if (!fits(p, (enum flex_tile_id)tile))
            continue;
        int failed = make(self, call, (enum flex_tile_id)tile, &made, &error);
        if (!failed)
            failed = time_tile(self, call, made.state, &us, &error);
        call->host->log(call->host, "%s: tile %s: %.2f us %s", p->attention.name, flex_tile_names[tile], us,
                        error.text);
        if (failed && !status)
            status = kg_fail(ret_error, failed, "%s", error.text);
        (void)snprintf(made.identity.pin, sizeof made.identity.pin, "tile %s", flex_tile_names[tile]);
        struct made *worse = us < best_us ? &best : &made;
        flex_cuda_release(self, worse->state);
        if (us < best_us)
            best = made, best_us = us;
    }
    if (best.state)
        *ret_made = best;
    return best.state ? KG_OK : status;
}

/* "tile 64" of an earlier round; FLEX_TILE_BY_TABLE: none of them. */
static enum flex_tile_id pinned(const char *pin)
{
    for (int tile = FLEX_TILE_BY_TABLE + 1; pin && tile < FLEX_TILE_IDS; tile++)
        if (!strncmp(pin, "tile ", 5) && !strcmp(pin + 5, flex_tile_names[tile]))
            return (enum flex_tile_id)tile;
    return FLEX_TILE_BY_TABLE;
}

static int prepare(const kg_backend *self, const kg_call *call, void **ret_state, kg_identity *ret_identity,
                   kg_error *ret_error)
{
    const struct flex *p = call->problem;
    const struct flex_knobs *knobs = call->knobs;
    const bool choose = p->compile_mode == FLEX_COMPILE_MAX_AUTOTUNE && !knobs->tile;
    const enum flex_tile_id known = pinned(call->pin), pin = known && fits(p, known) ? known : FLEX_TILE_BY_TABLE;
    const enum flex_tile_id tile = choose && pin ? pin : flex_tile_of(p, call->device, knobs);
    struct made made;
    if (!fits(p, tile))
        return kg_fail(ret_error, KG_EUNSUPPORTED, "blocks of %lld are no multiple of tile %s",
                       (long long)p->block_size, flex_tile_names[tile]);
    int status = choose && !pin ? make_fastest(self, call, &made, ret_error) : make(self, call, tile, &made, ret_error);
    if (status)
        return status;
    if (choose && pin)
        (void)snprintf(made.identity.pin, sizeof made.identity.pin, "tile %s", flex_tile_names[tile]);
    *ret_state = made.state;
    *ret_identity = made.identity;
    return KG_OK;
}

static int open_nvrtc(const kg_backend *self, const kg_host *host, const kg_device *device, void **ret_library,
                      kg_error *ret_error)
{
    struct nvrtc *nvrtc = NULL;
    (void)self, (void)device;
    int status = rtc_open(host, &nvrtc, ret_error);
    if (!status)
        *ret_library = nvrtc;
    return status;
}

static void close_nvrtc(const kg_backend *self, void *library)
{
    (void)self;
    rtc_close(library);
}

const kg_backend flex_compiled = {
    .name = "flex_compiled",
    .help = "fused kernel with block mask, compiled at run time for the row's modifiers",
    FLEX_CUDA,
    .open = open_nvrtc,
    .close = close_nvrtc,
    .prepare = prepare,
};
