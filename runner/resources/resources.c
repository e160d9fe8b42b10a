/* resources.c -- occupancy and judgement. A new figure of kg_kernel is judged by a row of `grown` or a function here,
 * and written by a row of resources_file.c. */
#include "resources/resources.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"

#define WARP 32
#define QUARTERS 4 /* of a multiprocessor; each has its own registers */
#define QUARTER_REGISTERS 16384
#define REGISTER_UNIT 256    /* a warp gets registers in such steps */
#define RESERVED_SHARED 1024 /* of each block, by the driver */
#define THREADS_WITHOUT_BOUNDS 128

/* Of a multiprocessor; from the CUDA programming guide. The last row is for what is not known. */
static const struct {
    int sm, warps, blocks, shared_kib;
} limits[] = {
    { 80, 64, 32, 164 },  { 86, 48, 16, 100 },  { 87, 48, 16, 164 },  { 89, 48, 24, 100 },  { 90, 64, 32, 228 },
    { 100, 64, 32, 228 }, { 103, 64, 32, 228 }, { 120, 48, 24, 100 }, { 121, 48, 24, 100 }, { 0, 64, 32, 228 },
};

/* ---- occupancy ------------------------------------------------------------------------------------------------- */

int kg_resource_threads(const kg_kernel *kernel)
{
    return kernel->block_threads > 0 ? kernel->block_threads : THREADS_WITHOUT_BOUNDS;
}

static int least(int a, int b)
{
    return a < b ? a : b;
}

int kg_resource_blocks(const kg_kernel *kernel)
{
    const int sm = strncmp(kernel->arch, "sm_", 3) ? 0 : atoi(kernel->arch + 3);
    const int block_warps = (kg_resource_threads(kernel) + WARP - 1) / WARP;
    size_t row = 0;
    while (limits[row].sm && limits[row].sm != sm)
        row++;
    int warps = limits[row].warps;
    if (kernel->registers > 0) {
        /* A file may hold any count: in 64 bits none of them comes to nothing. */
        const int64_t units = ((int64_t)kernel->registers * WARP + REGISTER_UNIT - 1) / REGISTER_UNIT;
        warps = least(warps, (int)(QUARTER_REGISTERS / (units * REGISTER_UNIT)) * QUARTERS);
    }
    int blocks = least(warps / block_warps, limits[row].blocks);
    return least(blocks, limits[row].shared_kib * 1024 / (kernel->shared_bytes + RESERVED_SHARED));
}

/* ---- judgement ------------------------------------------------------------------------------------------------- */

#define say(resource, ...) kg_text_join((resource)->reason, sizeof(resource)->reason, "; ", __VA_ARGS__)

static void fail_if(struct kg_resource *r, bool wrong)
{
    if (wrong)
        r->verdict = KG_FAIL;
}

/* What may not grow, what may, and what has no better and worse. */
static void judge_figures(struct kg_resource *r)
{
    static const struct {
        const char *name;
        size_t offset;
        bool gated;
    } figures[] = {
        { "spill stores, bytes", offsetof(kg_kernel, spill_store_bytes), true },
        { "spill loads, bytes", offsetof(kg_kernel, spill_load_bytes), true },
        { "stack, bytes", offsetof(kg_kernel, stack_bytes), true },
        { "registers", offsetof(kg_kernel, registers), false },
        { "static shared memory, bytes", offsetof(kg_kernel, shared_bytes), false },
        { "barriers", offsetof(kg_kernel, barriers), false },
        { "threads of a block", offsetof(kg_kernel, block_threads), false },
    };
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) {
        int before = *(const int *)(const void *)((const char *)r->expected + figures[i].offset);
        int after = *(const int *)(const void *)((const char *)r->now + figures[i].offset);
        if (before == after)
            continue;
        say(r, "%s %d -> %d", figures[i].name, before, after);
        fail_if(r, figures[i].gated && after > before);
    }
}

/* Fewer blocks fit: with the block of the expectation, so that other launch bounds alone are not fewer. */
static void judge_occupancy(struct kg_resource *r)
{
    kg_kernel now = *r->now;
    now.block_threads = r->expected->block_threads;
    int before = kg_resource_blocks(r->expected), after = kg_resource_blocks(&now);
    if (before == after && (now.registers > r->expected->registers || now.shared_bytes > r->expected->shared_bytes))
        say(r, "%d blocks fit a multiprocessor, as before", after);
    if (before == after)
        return;
    say(r, "%d -> %d blocks of %d threads fit a multiprocessor", before, after, kg_resource_threads(&now));
    fail_if(r, after < before);
}

static void judge_tensor(struct kg_resource *r)
{
    for (int i = 0; i < KG_TENSOR_KINDS; i++) {
        int before = r->expected->tensor[i], after = r->now->tensor[i];
        if (before == after)
            continue;
        say(r, "%s in the PTX %d -> %d", KG_TENSOR_NAMES[i], before, after);
        fail_if(r, after < before);
    }
    int before = r->expected->tensor_sass, after = r->now->tensor_sass;
    if (before < 0 || after < 0 || before == after)
        return;
    say(r, "tensor-core instructions in the machine code %d -> %d", before, after);
    fail_if(r, after < before);
}

static bool has_note(const char *notes, const char *note, size_t length)
{
    const size_t gap = strlen(KG_NOTE_SEPARATOR);
    for (const char *at = notes; *at;) {
        const char *end = strstr(at, KG_NOTE_SEPARATOR);
        size_t size = end ? (size_t)(end - at) : strlen(at);
        if (size == length && !strncmp(at, note, length))
            return true;
        at += size + (end ? gap : 0);
    }
    return false;
}

static void judge_notes(struct kg_resource *r)
{
    for (const char *at = r->now->notes; *at;) {
        const char *end = strstr(at, KG_NOTE_SEPARATOR);
        size_t size = end ? (size_t)(end - at) : strlen(at);
        if (!has_note(r->expected->notes, at, size)) {
            say(r, "ptxas notes: %.*s", (int)size, at);
            r->verdict = KG_FAIL;
        }
        at += size + (end ? strlen(KG_NOTE_SEPARATOR) : 0);
    }
}

void kg_resource_judge(struct kg_resource *r)
{
    r->verdict = KG_PASS;
    r->other_compiler = false;
    r->reason[0] = '\0';
    if (!r->now) {
        r->verdict = KG_LOST;
        say(r, "it was blessed, but the module has no such kernel (--bless --prune removes it)");
        return;
    }
    if (!r->expected) {
        r->verdict = KG_UNGATED;
        say(r, "no expectation");
        return;
    }
    bool same_code = !strcmp(r->now->code_hash, r->expected->code_hash);
    if (!same_code && strcmp(r->now->compiler, r->expected->compiler)) {
        r->verdict = KG_UNGATED;
        r->other_compiler = true;
        say(r, "blessed with nvcc %s, this is nvcc %s", r->expected->compiler, r->now->compiler);
        return;
    }
    judge_figures(r);
    judge_occupancy(r);
    judge_tensor(r);
    judge_notes(r);
    if (!same_code)
        say(r, KG_RESOURCE_CODE_CHANGED);
}

bool kg_resource_same(const kg_kernel *a, const kg_kernel *b)
{
    return !strcmp(a->code_hash, b->code_hash) && !strcmp(a->compiler, b->compiler) && !strcmp(a->notes, b->notes) &&
           a->registers == b->registers && a->stack_bytes == b->stack_bytes &&
           a->spill_store_bytes == b->spill_store_bytes && a->spill_load_bytes == b->spill_load_bytes &&
           a->shared_bytes == b->shared_bytes && a->barriers == b->barriers && a->block_threads == b->block_threads &&
           !memcmp(a->tensor, b->tensor, sizeof a->tensor) && a->tensor_sass == b->tensor_sass;
}
