/* flex_compiled.c -- backend `flex_compiled`: flex_kernel.cuh compiled by NVRTC for the problem's own modifiers.
 *
 * The program is the modifiers' files, lists of their names, and the kernel; the texts are embedded by the build.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cuda_runtime_api.h>

#include "flex/flex_cuda.h"
#include "flex/modifiers.h"
#include "op/cuda_timer.h"
#include "op/sdpa_cuda.h"
#include "rtc/rtc.h"

extern const kg_source flex_texts[]; /* all files that a program may include */

#define MODIFIERS "flex/modifiers/"
#define MAX_TEXTS 64

/* ---- the program ------------------------------------------------------------------------------------------------ */

struct modifier {
    const char *name;
    bool is_mask;
};

#define SCORE_ROW(name, has) [FLEX_NUMBER_##name] = { #name, false },
#define MASK_ROW(name, has) [FLEX_NUMBER_##name] = { #name, true },
static const struct modifier modifiers[FLEX_MODIFIERS] = { FLEX_SCORES(SCORE_ROW) FLEX_MASKS(MASK_ROW) };

static bool is_used(unsigned uses, const char *file)
{
    char name[64];
    if (strncmp(file, MODIFIERS, strlen(MODIFIERS)) != 0)
        return true;
    for (int i = 0; i < FLEX_MODIFIERS; i++) {
        (void)snprintf(name, sizeof name, MODIFIERS "%s.h", modifiers[i].name);
        if (!strcmp(file, name))
            return uses >> i & 1;
    }
    return false;
}

/* Files of other modifiers stay out: one that does not compile is its own rows' error, and a change is no other's. */
static void texts_of(unsigned uses, kg_source ret_texts[MAX_TEXTS])
{
    int count = 0;
    for (int i = 0; flex_texts[i].name && count < MAX_TEXTS - 1; i++)
        if (is_used(uses, flex_texts[i].name))
            ret_texts[count++] = flex_texts[i];
    ret_texts[count] = (kg_source){ 0 };
}

/* "X(cap, ) X(alibi, )": the used ones of one kind. */
static void write_list(FILE *out, const char *list, unsigned uses, bool masks)
{
    fprintf(out, "#define %s(X)", list);
    for (int i = 0; i < FLEX_MODIFIERS; i++)
        if ((uses >> i & 1) && modifiers[i].is_mask == masks)
            fprintf(out, " X(%s, )", modifiers[i].name);
    fputc('\n', out);
}

static void write_modifiers(FILE *out, unsigned uses)
{
    fputs("#include \"flex/modifier.h\"\n", out);
    for (int i = 0; i < FLEX_MODIFIERS; i++)
        if (uses >> i & 1)
            fprintf(out, "#include \"" MODIFIERS "%s.h\"\n", modifiers[i].name);
    write_list(out, "FLEX_SCORES", uses, false);
    write_list(out, "FLEX_MASKS", uses, true);
    fputs("#define FLEX_HAS(name, aux) true\n", out);
}

static const char *tile_text(enum flex_tile_id tile, int64_t D)
{
#define TEXT(d, warps, strips, cols, keep_q, blocks)                                                                   \
    if (D == d)                                                                                                        \
        return "flash_tile<" #d ", " #warps ", " #strips ", 1, " #cols ", " #keep_q ", " #blocks ">";
    if (tile == FLEX_TILE_64) {
        FLEX_TILES_64(TEXT)
    }
    FLEX_TILES_128(TEXT)
#undef TEXT
    return "";
}

/* free() them. NULL: no memory. */
static char *attend_text(const struct flex *p, unsigned uses, enum flex_tile_id tile)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    write_modifiers(out, uses);
    fprintf(out,
            "#include \"flex/flex_kernel.cuh\"\n"
            "typedef %s tile;\n"
            "extern \"C\" __global__ void __launch_bounds__(tile::THREADS, tile::BLOCKS)\n"
            "flex_compiled_kernel(const flex_args args)\n"
            "{\n"
            "    flex_attend<%s, tile>(args);\n"
            "}\n",
            tile_text(tile, p->attention.D), p->attention.dtype == KG_BF16 ? "__nv_bfloat16" : "__half");
    return fclose(out) ? NULL : text;
}

static char *blocks_text(unsigned uses)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    write_modifiers(out, uses);
    fputs("#include \"flex/flex_blocks.cuh\"\n", out);
    return fclose(out) ? NULL : text;
}

static int load(const kg_call *call, unsigned uses, char *text, const char *kernel, struct rtc_kernel *ret_kernel,
                kg_error *ret_error)
{
    static const char *const options[] = { "-std=c++17", NULL };
    kg_source texts[MAX_TEXTS];
    if (!text)
        return kg_fail(ret_error, KG_ENOMEM, "no memory for the program of %s", kernel);
    texts_of(uses, texts);
    const struct rtc_program program = { "flex_compiled.cu", text, kernel, texts, options };
    int status = rtc_load(call->host, call->device, &program, ret_kernel, ret_error);
    free(text);
    return status;
}

/* Rows, threads and shared memory are those of the same tile compiled before, and so is what makes lists. */
static int compile(const kg_call *call, enum flex_tile_id tile, struct flex_kernels *ret_kernels, kg_error *ret_error)
{
    const struct flex *p = call->problem;
    const unsigned uses = flex_aux_of(p, call->tensors).uses;
    struct flex_kernels kernels = flex_static_find(tile, (int)p->attention.D, p->attention.dtype == KG_BF16);
    int status = load(call, uses, attend_text(p, uses, tile), "flex_compiled_kernel", &kernels.loaded[0], ret_error);
    if (!status)
        status = load(call, uses & FLEX_MASK_BITS, blocks_text(uses & FLEX_MASK_BITS), "flex_blocks_kernel",
                      &kernels.loaded[1], ret_error);
    if (status) {
        rtc_unload(&kernels.loaded[0]);
        return status;
    }
    kernels.attend = kernels.loaded[0].function;
    kernels.blocks = kernels.loaded[1].function;
    *ret_kernels = kernels;
    return KG_OK;
}

/* ---- states ------------------------------------------------------------------------------------------------------ */

static int prepare_tile(const kg_backend *self, const kg_call *call, enum flex_tile_id tile, void **ret_state,
                        kg_identity *ret_identity, kg_error *ret_error)
{
    struct flex_kernels kernels;
    int status = compile(call, tile, &kernels, ret_error);
    if (status)
        return status;
    status = flex_cuda_prepare(self, call, &kernels, ret_state, ret_error);
    if (status) {
        rtc_unload(&kernels.loaded[0]);
        rtc_unload(&kernels.loaded[1]);
        return status;
    }
    ret_identity->n_compiled = 2;
    for (int i = 0; i < 2; i++)
        ret_identity->compiled[i] = kernels.loaded[i].compiled;
    (void)snprintf(ret_identity->pin, sizeof ret_identity->pin, "tile %s", flex_tile_names[tile]);
    return KG_OK;
}

/* ---- the best of the tiles -----------------------------------------------------------------------------------------
 */

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

/* The fastest on the call's tensors; tiles that do not compile or run are out. */
static enum flex_tile_id fastest(const kg_backend *self, const kg_call *call)
{
    const struct flex *p = call->problem;
    enum flex_tile_id best = FLEX_TILE_64;
    double best_us = INFINITY;
    for (int tile = FLEX_TILE_BY_TABLE + 1; tile < FLEX_TILE_IDS; tile++) {
        void *state = NULL;
        kg_identity identity = { 0 };
        kg_error error = { 0 };
        double us = INFINITY;
        if (!fits(p, (enum flex_tile_id)tile))
            continue;
        if (prepare_tile(self, call, (enum flex_tile_id)tile, &state, &identity, &error) ||
            time_tile(self, call, state, &us, &error))
            call->host->log(call->host, "%s: tile %s left out: %s", p->attention.name, flex_tile_names[tile],
                            error.text);
        else
            call->host->log(call->host, "%s: tile %s takes %.2f us", p->attention.name, flex_tile_names[tile], us);
        if (us < best_us)
            best = (enum flex_tile_id)tile, best_us = us;
        flex_cuda_release(self, state);
    }
    return best;
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
    enum flex_tile_id tile = flex_tile_of(p, call->device, knobs);
    if (p->compile_mode == FLEX_COMPILE_MAX_AUTOTUNE && !knobs->tile)
        tile = pinned(call->pin) != FLEX_TILE_BY_TABLE && fits(p, pinned(call->pin)) ? pinned(call->pin)
                                                                                     : fastest(self, call);
    return prepare_tile(self, call, tile, ret_state, ret_identity, ret_error);
}

const kg_backend flex_compiled = {
    .name = "flex_compiled",
    .help = "fused kernel with block mask, compiled at run time for the row's modifiers",
    FLEX_CUDA,
    .prepare = prepare,
};
